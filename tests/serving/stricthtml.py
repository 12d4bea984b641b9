"""A reader of HTML that knows only what the whitelist names, in one spelling, and refuses the rest.

It shares no code with what it judges. What it takes is read alike by every parser: each element is
ended in its order, each value is quoted, each `<`, `>` and `&` of a text is escaped.
"""

import re
from collections.abc import Iterator
from typing import Final

from refold.serving.whitelist import Whitelist

VOID: Final = {"br", "hr"}
_PIECE = re.compile(r"<(/?)([a-z][a-z0-9]*)((?: [a-z]+=\"[^\"<>]*\")*)>|([^<>]+)")
_ATTRIBUTE = re.compile(r" ([a-z]+)=\"([^\"]*)\"")
_LOOSE = re.compile(r"&(?!(?:amp|lt|gt|quot|nbsp);)")
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ADDRESS = re.compile(
    r"(?P<scheme>[a-z]+):(?://[^/?#@\\]+(?:[/?#].*)?|[^/?#]+@[^/?#@]+)|/(?![/\\~]).*|#.*",
    re.IGNORECASE,
)


def problems(html: str, whitelist: Whitelist) -> list[str]:
    """Give all in which a text is not the HTML that a whitelist allows."""
    return list(_problems(html, whitelist))


def _problems(html: str, whitelist: Whitelist) -> Iterator[str]:
    at = 0
    opened: list[str] = []
    ids: set[str] = set()
    if _CONTROL.search(html):
        yield "a control or half a character"
    while at < len(html):
        piece = _PIECE.match(html, at)
        if piece is None:
            yield f"not HTML: {html[at : at + 60]!r}"
            return
        at = piece.end()
        is_end, name, attributes, text = piece.groups()
        if _LOOSE.search(piece[0]):
            yield f"a loose &: {piece[0][:60]!r}"
        if text is not None:
            continue
        if name not in whitelist.elements:
            yield f"element {name}"
        elif is_end:
            if attributes or not opened or opened.pop() != name:
                yield f"</{name}> ends nothing"
        else:
            if name == "a" and "a" in opened:
                yield "a link in a link"
            if name not in VOID:
                opened.append(name)
            yield from _of_element(name, _ATTRIBUTE.findall(attributes), whitelist, ids)
    if opened:
        yield f"not ended: {opened}"


def _of_element(
    name: str, attributes: list[tuple[str, str]], whitelist: Whitelist, ids: set[str]
) -> Iterator[str]:
    allowed = whitelist.elements[name]
    if len(dict(attributes)) != len(attributes):
        yield f"{name} has an attribute twice"
    values = dict(attributes)
    for attribute, value in attributes:
        if attribute == "class":
            if not set(value.split()) <= set(allowed.classes):
                yield f"{name} of class {value}"
        elif attribute in allowed.values:
            if value not in allowed.values[attribute]:
                yield f"{name} with {attribute} {value}"
        elif attribute not in allowed.attributes:
            yield f"{name} with {attribute}"
        if attribute == "id":
            if not value.startswith(whitelist.id_prefix) or value in ids or re.search(r"\s", value):
                yield f"id {value}"
            ids.add(value)
    if name == "a":
        yield from _of_link(values, whitelist)
    if name == "ol" and not re.fullmatch("[0-9]{1,9}", values.get("start", "1")):
        yield "a list that begins with no number"


def _of_link(values: dict[str, str], whitelist: Whitelist) -> Iterator[str]:
    match = _ADDRESS.fullmatch(values.get("href", ""))
    if match is None:
        yield f"a link to {values.get('href')}"
        return
    scheme = match["scheme"]
    if scheme and scheme.lower() not in whitelist.schemes:
        yield f"scheme {scheme}"
    rel = set(values.get("rel", "").split())
    is_external = "external" in values.get("class", "").split()
    if scheme and not (is_external and rel == {"nofollow", "noopener", "noreferrer", "ugc"}):
        yield "a link out that is not marked"
    if is_external and not scheme:
        yield "marked as going out, and does not"
