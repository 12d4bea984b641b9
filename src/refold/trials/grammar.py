"""The lines of a content: marker, header, free text. What fields mean, `refold.trials.fields` says.

Lines end with LF and nothing else: `str.splitlines` also cuts at U+2028, NEL and more, so two
readers of one signed text would see other fields. A content whose first line is no marker, nor
nearly one, is an ordinary message. Reading goes on after a fault, so that one answer names all.
Source: cold trials spec §1, Grammar.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from refold.trials.codes import Fault, fault
from refold.trials.tables import (
    END,
    FORMATS,
    MAX_CONTENT,
    MAX_HEADERS,
    MAX_STEPS,
    Format,
    known_fields,
)

__all__ = ["OUTER_WHITESPACE", "Line", "Sheet", "read_sheet"]

OUTER_WHITESPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u200b\ufeff"
)
"""White_Space of Unicode, and two without width that `str.strip` keeps."""

_CONTENT = tuple(
    (code, re.compile(characters))
    for code, characters in (
        ("surrogate", "[\ud800-\udfff]"),
        ("crlf", "\r"),
        ("nul", "\0"),
        ("control", "[\x01-\x08\x0b\x0c\x0e-\x1f]"),
        ("delete", "\x7f"),
        ("c1_control", "[\x80-\x9f]"),
        ("bom", "\ufeff"),
    )
)
_ANY_CONTENT = re.compile("|".join(characters.pattern for _, characters in _CONTENT))
_HEADER = tuple(
    (code, re.compile(characters))
    for code, characters in (
        ("bidi_control", "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
        # Variation selectors pass: they choose the look of the character before them.
        (
            "zero_width",
            "[\xad\u034f\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\U000e0000-\U000e007f]",
        ),
        ("unicode_break", "[\u2028\u2029]"),
    )
)
_UNSEEN = re.compile("|".join(characters.pattern for _, characters in _HEADER))
_NEARLY = re.compile("(trial|run|disposition|review|withdraw|revoke)-v[0-9]+")
_NAMED = re.compile("([A-Za-z][A-Za-z0-9-]*):(.*)", re.DOTALL)
_SPACED = re.compile("[A-Za-z][A-Za-z0-9_-]*[ \t]+:.*", re.DOTALL)
_FULLWIDTH = re.compile("[ \t]*[A-Za-z][A-Za-z0-9_-]*[ \t]*：.*", re.DOTALL)
_MEANT = re.compile("[ \t]*([A-Za-z][A-Za-z0-9_-]*)[ \t]*[:：](.*)", re.DOTALL)
_DASHES = re.compile("[ \t]*[-‐-―−－]{1,8}[ \t]*")
_MAX_SHOWN = 40


class Line(msgspec.Struct, frozen=True):
    """A header line: its number in the content from 1, the name in lower case, the value."""

    number: int
    name: str
    value: str


class Sheet(msgspec.Struct, frozen=True):
    """What a content is made of. An ordinary message has no format, no lines, and all as text."""

    format: Format | None
    lines: tuple[Line, ...]
    text: str


def read_sheet(content: bytes | str) -> tuple[Sheet, tuple[Fault, ...]]:
    """Give the parts of `content`, and all that is wrong with its characters and lines.

    Text may hold lone surrogates, as JSON can. Nothing is raised, whatever is given.
    """
    text = content if isinstance(content, str) else _decoded(content)
    if text is None:
        return Sheet(None, (), ""), (fault("not_utf8"),)
    faults = list(_content_faults(text))
    # What follows is read as its writer meant it; the content is refused for these all the same.
    text = text.replace("\r\n", "\n")
    first, *rest = text.split("\n")
    form = FORMATS.get(first)
    if form is None:
        # What cannot be seen in a header makes no other line of it either.
        seen = first if first.isascii() else _UNSEEN.sub("", first)
        trimmed = seen.strip(OUTER_WHITESPACE).casefold()
        if _NEARLY.fullmatch(trimmed) is None:
            return Sheet(None, (), text), tuple(faults)
        form = FORMATS.get(trimmed)
        if form is None:
            detail = f"There is no format {trimmed[:_MAX_SHOWN]}."
            hint = f"Use one of {', '.join(FORMATS)}."
            faults.append(fault("marker_unknown", detail, hint, line=1))
            return Sheet(None, (), text), tuple(faults)
        hint = f"Write {form.marker} alone on the first line."
        faults.append(fault("marker_spelling", hint=hint, line=1))
    end = rest.index(END) if END in rest else len(rest)
    lines, header_faults = _read_header(form, rest[:end])
    return Sheet(form, lines, "\n".join(rest[end + 1 :])), (*faults, *header_faults)


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return content.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return None


def _content_faults(text: str) -> Iterator[Fault]:
    """Give what no content may have; each code once, at its first place."""
    if not text:
        yield fault("empty")
        return
    if len(text) > MAX_CONTENT:
        yield fault("too_long", f"The content has {len(text)} of {MAX_CONTENT} code points.")
    before = len(text) - len(text.lstrip(OUTER_WHITESPACE))
    outer = text[:before] + text[len(text.rstrip(OUTER_WHITESPACE)) :]
    if outer.strip("\ufeff"):  # which has a code of its own
        yield fault("outer_whitespace", line=1 if text[0] in OUTER_WHITESPACE else None)
    for code, characters in _CONTENT if _ANY_CONTENT.search(text) else ():
        found = characters.search(text)
        if found:
            number = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            count = sum(1 for _ in characters.finditer(text))
            detail = f"U+{ord(found[0]):04X} stands in line {number}, column {column}"
            more = f", and {count - 1} more follow" if count > 1 else ""
            yield fault(code, f"{detail}{more}.", line=number)


def _read_header(form: Format, header: list[str]) -> tuple[tuple[Line, ...], list[Fault]]:
    """Give the named lines of a header, and what is wrong with the others."""
    lines: list[Line] = []
    faults: list[Fault] = []
    repeated = {field.name for field in form.fields if field.repeats}
    counts = {"header_lines": 0, "steps": 0}
    limits = {"header_lines": MAX_HEADERS, "steps": MAX_STEPS}
    broken = 0  # the line where a run of lines without colon has begun
    for number, raw in enumerate(header, 2):
        named = _NAMED.fullmatch(raw)
        name = named[1].lower() if named else ""
        counted = "steps" if name in repeated else "header_lines"
        counts[counted] += 1
        if counts[counted] > limits[counted]:
            if counts[counted] == limits[counted] + 1:
                there = f"There are more than {limits[counted]}."
                faults.append(fault(counted, there, line=number))
            continue
        faults += _character_faults(raw, number, name)
        if named:
            value = named[2].strip(" \t")
            if "\t" in value:
                faults.append(fault("tab", line=number, field=name))
            lines.append(Line(number, name, value))
            broken = 0
        elif not broken or ":" in raw or "：" in raw:
            faults.append(_unnamed(form, raw, number))
            broken = 0 if ":" in raw or "：" in raw else number
            meant = _MEANT.fullmatch(raw)
            if meant:  # so that its field is not called missing as well
                name = meant[1].lower().replace("_", "-")
                lines += [Line(number, name, meant[2].strip(" \t"))] if form.field(name) else []
    return tuple(lines), faults


def _character_faults(raw: str, number: int, name: str) -> Iterator[Fault]:
    for code, characters in _HEADER:
        found = characters.search(raw)
        if found:
            detail = f"U+{ord(found[0]):04X} stands in column {found.start() + 1}."
            yield fault(code, detail, line=number, field=name)


def _unnamed(form: Format, raw: str, number: int) -> Fault:
    """Say what is wrong with a line of the header that is not `name: value`."""
    if not raw.strip(OUTER_WHITESPACE):
        return fault(
            "blank_line", f"Line {number} is blank, and no line --- came yet.", line=number
        )
    if _FULLWIDTH.fullmatch(raw):
        return fault("fullwidth_colon", line=number)
    if ":" not in raw:
        detail = f"Line {number} has no colon, and no line --- came yet."
        if _DASHES.fullmatch(raw):
            return fault("no_colon", detail, "Write exactly three hyphens: ---.", line=number)
        return fault("no_colon", detail, line=number)
    if raw[0] in " \t":
        return fault("header_indent", line=number)
    if _SPACED.fullmatch(raw):
        return fault("header_space", line=number)
    name = raw.partition(":")[0]
    meant = near(name.replace("_", "-"), tuple(field.name for field in known_fields(form)))
    hint = f"Did you mean {meant}?" if meant else ""
    shown = name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"
    return fault("header_name", f"{shown!a} is no field name.", hint, line=number)


def near(word: str, known: tuple[str, ...]) -> str:
    """Give the first known word that `word` is, in any case, or is one edit away from; "" for none.

    An edit is a letter more, less, other, or two neighbours swapped.
    """
    folded = word.casefold()
    return next((each for each in known if _within_one(folded, each)), "")


def _within_one(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1:
        return False
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    swapped = one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    return (
        one[at + 1 :] == other[at + 1 :]
        or one[at:] == other[at + 1 :]
        or one[at + 1 :] == other[at:]
        or (len(one) == len(other) and swapped)
    )
