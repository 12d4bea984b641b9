"""A page read strictly, its items one at a time.

As Python objects a page takes some twenty times its size, as text and one item it does not. So the
objects on the way to the array are read member by member, and each item of a large page is decoded,
given, and forgotten. What the objects say beside the array is complete after the last item.

    page = Page(body, "data.items")
    for item in page.items():
        …
    page.root            # the parsed page, without the array

Strict: UTF-8, no member name twice, no NaN, no number that cannot be held exactly, nesting of 64 at
most, nothing behind the end. Source: coverage spec §5.4 (reading), §5.5 R-3, R-6.
"""

import re
from collections.abc import Callable, Generator, Iterator
from decimal import Decimal, InvalidOperation
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from typing import Any

from refold.kernel.guards import json_depth

__all__ = [
    "AT_ONCE",
    "MAX_ARRAYS",
    "MAX_DEPTH",
    "MAX_NODES",
    "Page",
    "PageError",
    "is_json_type",
]

MAX_DEPTH = 64
"""Arrays and objects inside each other: §5.4."""
MAX_NODES = 500_000
"""Objects and fractions in one item, or in what a page says beside its items: 120 MB as objects."""
MAX_ARRAYS = 4_000_000
"""Arrays in a page: 256 MB, if all were empty and in one item."""
AT_ONCE = 1024 * 1024
"""Code points of a page up to which its items are decoded together, in half the time."""

Json = Any
_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\r\n]*+")
_BEGINNINGS = '{["-0123456789tfn'
_NO_MEMBER = "an object is malformed"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_JSON_TYPE = re.compile(r"(?:application|text)/(?:[!#$&^_.+a-z0-9-]+\+)?json", re.IGNORECASE)


class PageError(Exception):
    """A page that cannot be read: the replay reason, and what is wrong in a few words."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(reason, why)
        self.reason = reason
        self.why = why


class _Counted:
    """A strict decoder for one page, which refuses too much in one value. `nodes` counts."""

    def __init__(self) -> None:
        self.nodes = 0
        self.scan = _scanner(self._object, self._fraction)

    def _object(self, pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        self._count()
        return _members(pairs)

    def _fraction(self, text: str) -> Decimal:
        self._count()
        return Decimal(text)

    def _count(self) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise PageError("budget_exhausted", f"over {MAX_NODES} objects or fractions in one")


class Page:
    """The body of a page whose items stand at `array_path` ("" for the root itself).

    `bom` tells whether a byte order mark was stripped. Raises PageError: `not_json`,
    `json_ambiguous`, and of `items` also `array_path_missing` and `budget_exhausted`.
    """

    def __init__(self, body: bytes, array_path: str) -> None:
        self.bom = body.startswith(_BOM)
        self.root: dict[str, Json] = {}
        self._steps = array_path.split(".") if array_path else []
        self._text = _text_of(body)
        self._at_once = len(self._text) <= AT_ONCE
        self._counted = _Counted()
        self._scan = _scan if self._at_once else self._counted.scan

    def items(self) -> Iterator[Json]:
        """Give the items in order. Of a large page some may come before an error."""
        return iter(list(self._items())) if self._at_once else self._items()

    def _items(self) -> Iterator[Json]:
        try:
            end = yield from self._on_the_way(_skip(self._text, 0), self._steps, self.root)
        except (JSONDecodeError, IndexError) as error:
            raise PageError("not_json", "the page is no JSON") from error
        except (ValueError, InvalidOperation, RecursionError) as error:
            raise PageError("json_ambiguous", "a number has too many digits") from error
        if _skip(self._text, end) != len(self._text):
            raise PageError("not_json", "something stands behind the end of the JSON")

    def _on_the_way(
        self, at: int, steps: list[str], members: dict[str, Json]
    ) -> Generator[Json, None, int]:
        """Read what stands at `at`: the array, or an object into `members`; give where it ends."""
        text = self._text
        if not steps:
            return (yield from self._array(at))
        if text[at] != "{":
            raise self._missing(at)
        found = False
        begun, at = at, _skip(text, at + 1)
        if text[at] == "}":
            raise self._missing(begun)
        while True:
            if text[at] != '"':
                raise PageError("not_json", _NO_MEMBER)
            name, at = scanstring(text, at + 1, True)
            at = _skip(text, at)
            if text[at] != ":":
                raise PageError("not_json", _NO_MEMBER)
            at = _skip(text, at + 1)
            if name in members or (found and name == steps[0]):
                raise PageError("json_ambiguous", "a member name stands twice in one object")
            if name == steps[0]:
                found = True
                inner: dict[str, Json] = {}
                at = yield from self._on_the_way(at, steps[1:], inner)
                if steps[1:]:
                    members[name] = inner
            else:
                members[name], at = self._value(at)
            at = _skip(text, at)
            if text[at] == "}":
                break
            if text[at] != ",":
                raise PageError("not_json", _NO_MEMBER)
            at = _skip(text, at + 1)
        if not found:
            raise self._missing(begun)
        return at + 1

    def _array(self, at: int) -> Generator[Json, None, int]:
        text, counted, scan = self._text, self._counted, self._scan
        if text[at] != "[":
            raise self._missing(at)
        if self._at_once:
            items, end = self._value(at)
            yield from items
            return end
        at = _skip(text, at + 1)
        if text[at] == "]":
            return at + 1
        before = counted.nodes
        while True:
            try:
                item, at = scan(text, at)
            except StopIteration as error:
                raise PageError("not_json", "a list is malformed") from error
            yield item
            counted.nodes = before  # it is forgotten
            mark = text[at]
            if mark != ",":
                at = _skip(text, at)
                mark = text[at]
            if mark == "]":
                return at + 1
            if mark != ",":
                raise PageError("not_json", "a list is malformed")
            at += 1
            if text[at] != "{":
                at = _skip(text, at)

    def _value(self, at: int) -> tuple[Json, int]:
        try:
            value, end = self._scan(self._text, at)
        except StopIteration as error:
            raise PageError("not_json", _NO_MEMBER) from error
        return value, end

    def _missing(self, at: int) -> PageError:
        """Give the error for another value than the one that leads to the array."""
        if self._text[at] not in _BEGINNINGS:
            return PageError("not_json", "the page is no JSON")
        return PageError("array_path_missing", "there is no array at arrayPath")


def is_json_type(content_type: str | None) -> bool:
    """Tell whether a Content-Type header says JSON, by name or by the suffix +json (R-3)."""
    return _JSON_TYPE.fullmatch((content_type or "").partition(";")[0].strip()) is not None


def _text_of(body: bytes) -> str:
    """Give the text of a JSON body without its byte order mark, when it may be parsed at all."""
    try:
        text = str(body, "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise PageError("not_json", "it is not UTF-8") from error
    if json_depth(body) > MAX_DEPTH:
        raise PageError("json_ambiguous", f"it is nested deeper than {MAX_DEPTH}")
    if body.count(b"[") > MAX_ARRAYS:
        raise PageError("budget_exhausted", f"over {MAX_ARRAYS} arrays in one page")
    if _SURROGATE.search(text) and _SURROGATE.search(_PAIR.sub("", text.replace("\\\\", ""))):
        raise PageError("json_ambiguous", "a text holds half a surrogate pair")
    return text


def _skip(text: str, at: int) -> int:
    """Give where the white space at `at` ends."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it always matches


def _members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise PageError("json_ambiguous", "a member name stands twice in one object")
    return members


def _refuse_constant(name: str) -> Json:
    raise PageError("json_ambiguous", f"{name} is no JSON number")


def _scanner(
    members: Callable[[list[tuple[str, Json]]], Json], fraction: Callable[[str], Json]
) -> Callable[[str, int], tuple[Json, int]]:
    """Give a function that decodes the value at a place of a text, and tells where it ends."""
    decoder = JSONDecoder(
        object_pairs_hook=members, parse_float=fraction, parse_constant=_refuse_constant
    )
    scan: Callable[[str, int], tuple[Json, int]] = decoder.scan_once  # type: ignore[attr-defined]  # it is there
    return scan


_scan = _scanner(_members, Decimal)
