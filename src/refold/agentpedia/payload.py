"""Payloads as the engines read JSON: from bytes to one object, or a reason why there is none.

The last of duplicate members counts; numbers too large for a double are infinite and so no
integer; NUL and lone surrogates in any text, nesting beyond `MAX_DEPTH`, a BOM, bytes that are not
UTF-8 and anything but an object make the payload `malformed-json` (spec §2, §3).

msgspec reads nearly everything, at a million payloads a second or two. What it refuses is read
again by the standard library, which is slower and more forgiving, so that the answer depends on the
payload alone: not on the call stack, nor on the payload's neighbours in a document.
"""

import json
import re
from collections.abc import Mapping

import msgspec

from refold.kernel.guards import json_depth, prune_json

MAX_DEPTH = 64
"""Arrays and objects inside each other, the payload's own included; the schemas need three."""
MAX_DIGITS = 4300
"""Digits of an integer that Python reads in linear time; longer ones are infinite here."""

_Scalar = None | bool | int | float | str
_Inner = _Scalar | list[_Scalar] | dict[str, _Scalar]
_Value = _Scalar | list[_Inner] | dict[str, _Inner]
Shallow = dict[str, _Value]
"""A payload nested as deep as the protocol's own: what the fast way reads."""

_decode = msgspec.json.Decoder(Shallow).decode
_ESCAPED_NUL = b"\\u0000"
_PRUNED = b'"\\ud800"'
_UNFIT = re.compile("[\x00\ud800-\udfff]")


class UnreadableError(ValueError):
    """The bytes are no JSON, or not such as any reader takes; says why."""


def decode_payload(body: bytes) -> dict[str, object] | None:
    """Give the payload of a pin's body, None when it is malformed."""
    try:
        if may_be_read_fast(body):
            return _decode(body)  # type: ignore[return-value]
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        value = decode_slowly(body)
    except UnreadableError:
        return None
    return fit_payload(value)


def may_be_read_fast(data: bytes) -> bool:
    """Tell whether no text in the data can hold a NUL, which msgspec lets pass."""
    return _ESCAPED_NUL not in data


def decode_slowly(data: bytes, *, prune_below: int = 0) -> object:
    """Read any JSON text nested up to `MAX_DEPTH`; NUL and lone surrogates stay in.

    With `prune_below` what lies deeper than that becomes a lone surrogate, which makes the payload
    around it malformed and leaves its neighbours alone. Raises `UnreadableError`.
    """
    if json_depth(data) > (prune_below or MAX_DEPTH):
        if not prune_below:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH}")
        data = prune_json(data, prune_below, _PRUNED)
    try:
        return json.loads(data.decode(), parse_int=_integer, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(str(error)) from error


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def fit_text(text: str) -> bool:
    """Tell whether a text can be stored and hashed: no NUL, no lone surrogate (spec §2)."""
    return _UNFIT.search(text) is None


def fit_payload(value: object) -> dict[str, object] | None:
    """Give the value when it can be a payload: an object, not too deep, every text fit to store."""
    if not isinstance(value, dict) or not _is_fit(value):
        return None
    return value


def _is_fit(value: Mapping[str, object]) -> bool:
    pending: list[tuple[object, int]] = [(value, 1)]
    while pending:
        container, depth = pending.pop()
        if depth > MAX_DEPTH:
            return False
        if isinstance(container, dict):
            if not all(map(fit_text, container)):
                return False
            members = list(container.values())
        else:
            members = container  # type: ignore[assignment]
        for member in members:
            if isinstance(member, str):
                if not fit_text(member):
                    return False
            elif isinstance(member, (dict, list)):
                pending.append((member, depth + 1))
    return True
