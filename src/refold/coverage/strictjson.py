"""The strict JSON reader: bytes that every parser reads alike, or a fault (spec §5.4, Reading).

UTF-8 first, without BOM; depth counted before parsing; numbers exact (int, or Decimal for those
with a fraction or an exponent, never float); duplicate names, NaN and Infinity, lone surrogates and
numbers beyond all bounds are faults. The answer depends on the bytes alone: not on the call stack,
nor on the interpreter's limit for digits. Time and memory grow with the bytes: at most some 12
times their number.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NoReturn

from refold.kernel.errors import json_pointer
from refold.kernel.guards import json_depth

__all__ = ["MAX_DEPTH", "MAX_DIGITS", "StrictJsonError", "read_page", "read_record", "strip_bom"]

MAX_DEPTH = 64
"""Arrays and objects inside each other."""
MAX_DIGITS = 4_300
"""Digits of an integer: what Python reads by default, its time growing with their square."""

_BOM = b"\xef\xbb\xbf"
_DIGITS = b"0123456789"
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class StrictJsonError(ValueError):
    """The bytes are not such as all parsers read alike; `str()` says why in one line.

    `reason` is the replay reason: `not_json`, or `json_ambiguous` for what some parsers take.
    `code` is the error of a record: `E_JSON` or `E_ENCODING`.
    """

    def __init__(
        self,
        reason: Literal["not_json", "json_ambiguous"],
        why: str,
        code: Literal["E_JSON", "E_ENCODING"] = "E_JSON",
    ) -> None:
        super().__init__(why)
        self.reason: Literal["not_json", "json_ambiguous"] = reason
        self.code: Literal["E_JSON", "E_ENCODING"] = code


def strip_bom(data: bytes) -> tuple[bytes, bool]:
    """Give `data` without one leading UTF-8 BOM, and whether it had one (responses only)."""
    return (data[len(_BOM) :], True) if data.startswith(_BOM) else (data, False)


def read_page(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Give the JSON value of a response's body; its BOM is the caller's to strip (`strip_bom`).

    Raises StrictJsonError.
    """
    text = _text_of(data)
    _check_depth(data)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_members,
            parse_float=_decimal,
            parse_int=_short_integer if _has_long_number(data) else None,
            parse_constant=_refuse_constant,
        )
    except StrictJsonError:
        raise
    except (ValueError, RecursionError) as error:
        raise StrictJsonError("not_json", str(error)) from None
    # Only an escape can bring in a lone surrogate: the bytes are UTF-8.
    if _ESCAPED_SURROGATE.search(data) is not None and _has_surrogate(value):
        raise StrictJsonError("json_ambiguous", "a text holds a lone surrogate")
    return value


def read_record(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """Give the JSON value of a record, and the pointers of members that repeat a name.

    Unlike `read_page` it goes on where all faults can be told by their places: of a repeated name
    the last value counts, and numbers without an exact form are floats, which no canonical form
    takes. Raises StrictJsonError for bytes that are no JSON text in UTF-8 or are nested too deep.
    """
    text = _text_of(data)
    _check_depth(data)
    long = _has_long_number(data)
    try:
        if not long:
            return _QUICK.decode(text), ()
    except StrictJsonError:
        pass  # a name is repeated
    except (ValueError, RecursionError) as error:
        raise StrictJsonError("not_json", str(error)) from None
    read_integer = _bounded_integer if long else None
    try:
        value = json.loads(text, object_pairs_hook=_all_members, parse_int=read_integer)
    except (ValueError, RecursionError) as error:
        raise StrictJsonError("not_json", str(error)) from None
    holder = [value]
    pointers = tuple(_settle(holder))
    return holder[0], pointers


def _text_of(data: bytes) -> str:
    if data.startswith(_BOM):
        raise StrictJsonError("json_ambiguous", "it starts with a byte order mark", "E_ENCODING")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(
            "not_json", f"byte {error.start} is not UTF-8", "E_ENCODING"
        ) from None


def _check_depth(data: bytes) -> None:
    # Few brackets cannot nest deep: counting them is the quick way.
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and json_depth(data) > MAX_DEPTH:
        raise StrictJsonError("json_ambiguous", f"it is nested deeper than {MAX_DEPTH}")


def _has_long_number(data: bytes) -> bool:
    """Tell whether there are more than `MAX_DIGITS` digits in a row, in a text or not.

    A run of that length covers one of every `MAX_DIGITS` + 1 bytes, so only those are looked at.
    """
    step = MAX_DIGITS + 1
    for place in range(MAX_DIGITS, len(data), step):
        if data[place] in _DIGITS:
            before = data[place - MAX_DIGITS : place]
            after = data[place : place + step]
            digits = len(before) - len(before.rstrip(_DIGITS))
            digits += len(after) - len(after.lstrip(_DIGITS))
            if digits > MAX_DIGITS:
                return True
    return False


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise StrictJsonError("json_ambiguous", "an object has one member name twice")
    return found


class _Repeating(dict[str, Any]):
    """An object in which names stand twice, with these names."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        counted = Counter(name for name, _ in pairs)
        self.names = tuple(name for name, count in counted.items() if count > 1)


def _all_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeating(pairs)


# Set up once: that takes longer than a record.
_QUICK = json.JSONDecoder(object_pairs_hook=_members)


def _decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:
        raise StrictJsonError("json_ambiguous", "an exponent is beyond all bounds") from None


def _refuse_constant(name: str) -> NoReturn:
    raise StrictJsonError("json_ambiguous", f"{name} is no JSON")


def _short_integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise StrictJsonError("json_ambiguous", f"an integer has more than {MAX_DIGITS} digits")
    return int(digits)


def _bounded_integer(digits: str) -> int | float:
    return int(digits) if len(digits.lstrip("-")) <= MAX_DIGITS else float("inf")


def _has_surrogate(value: object) -> bool:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            if _SURROGATE.search(part):
                return True
        elif isinstance(part, dict):
            pending += part
            pending += part.values()
        elif isinstance(part, list):
            pending += part
    return False


def _settle(holder: list[Any]) -> Iterator[str]:
    """Make every repeating object of the held value a plain one; give the repeated pointers."""
    pending: list[tuple[Any, tuple[str | int, ...]]] = [(holder, ())]
    while pending:
        container, path = pending.pop()
        names = container if isinstance(container, dict) else range(len(container))
        for name in names:
            member = container[name]
            # The outermost list only holds the value, so its index is no step.
            place = path if container is holder else (*path, name)
            if isinstance(member, _Repeating):
                yield from (json_pointer((*place, again)) for again in member.names)
                member = container[name] = dict(member)
            if isinstance(member, (dict, list)):
                pending.append((member, place))
