"""Canonical JSON and digests: one value, one byte string, one hash.

The form is JSON with sorted member names, no spaces and raw UTF-8. The domain is cut so that this
is RFC 8785 too, byte for byte (coverage spec §5.4):

* null, booleans, text without lone surrogates, arrays, objects;
* integers n with |n| ≤ 2⁵³-1, and no floats;
* member names without code points above U+D7FF: beyond, UTF-16 order and code point order differ;
* at most `MAX_DEPTH` arrays and objects inside each other.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from refold.kernel.errors import InputError, Problem, json_pointer

__all__ = ["MAX_DEPTH", "MAX_INTEGER", "MAX_PROBLEMS", "canonical", "digest", "sha256_hex"]

# The largest integer that every JSON reader keeps exactly (RFC 7493 §2.2).
MAX_INTEGER = 2**53 - 1
# Arrays and objects inside each other: the strict reader of coverage spec §5.4 takes no more.
MAX_DEPTH = 64
# Problems reported of one value: enough to mend it by, and a bound on what a hostile one costs.
MAX_PROBLEMS = 100

_LAST_NAME_CHAR = "\ud7ff"

# Message and hint of each way out of the domain.
_Fault = tuple[str, str]
_FLOAT: _Fault = ("a float has no canonical form", "give an integer, or the number as text")
_INTEGER: _Fault = (f"an integer is beyond ±{MAX_INTEGER}", "give it as text")
_SURROGATE: _Fault = ("text holds a lone surrogate, which UTF-8 cannot", "replace it")
_NAME_RANGE: _Fault = ("a member name goes above U+D7FF", "put data into values, not into names")
_NAME_TYPE: _Fault = ("a member name is not text", "make every name text")
_NOT_JSON: _Fault = (
    "a value is of no JSON type",
    "make it null, boolean, integer, text, list, dict",
)
_TOO_DEEP: _Fault = (f"nesting goes deeper than {MAX_DEPTH}", "flatten it")

# Where a value stands: its container's place, and its name or index in there.
_Place = tuple["_Place | None", Any]

# msgspec sorts names by their UTF-8 bytes and escapes exactly what RFC 8785 escapes.
_encode = msgspec.json.Encoder(order="sorted").encode


def canonical(value: object) -> bytes:
    """Give the canonical bytes of a JSON value (dict, list or tuple, str, int, bool, None).

    Raises InputError `E_CANON_DOMAIN` with every part of `value` that is outside the domain, by
    pointer, `MAX_PROBLEMS` at most.
    """
    problems = list(islice(_offences(value), MAX_PROBLEMS))
    if problems:
        raise InputError.of(
            sorted(problems, key=lambda problem: (problem.pointer, problem.message))
        )
    return _encode(value)


def digest(value: object) -> str:
    """Give the SHA-256 of the canonical bytes of `value` in lower-case hex; errors as there."""
    return sha256_hex(canonical(value))


def sha256_hex(data: bytes) -> str:
    """Give the SHA-256 of `data` in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def _offences(value: object) -> Iterator[Problem]:
    """Walk `value` and give what is outside the domain.

    The walk keeps its own stack, so deep nesting is an answer and not a RecursionError. Walk and
    encoder together take at most three quarters of the time of `json.dumps`, which checks nothing;
    a first walk that keeps no places would save another quarter and state every rule twice.
    """
    # The outermost list is no part of the value: it gives the value a place like any other.
    pending: list[tuple[Any, _Place | None, int]] = [([value], None, 0)]
    while pending:
        container, place, depth = pending.pop()
        members: Iterable[tuple[Any, Any]]
        if type(container) is dict:
            members = container.items()
            for name in container:
                if type(name) is not str:
                    yield _problem(_NAME_TYPE, place)
                    members = ()  # what stands below such a name has no pointer
                elif not name.isascii() and max(name) > _LAST_NAME_CHAR:
                    yield _problem(_NAME_RANGE, (place, name))
        else:
            members = enumerate(container)
        for name, member in members:
            kind = type(member)
            if kind is str:
                if member.isascii() or _is_unicode(member):
                    continue
                fault = _SURROGATE
            elif kind is dict or kind is list or kind is tuple:
                if depth < MAX_DEPTH:
                    pending.append((member, (place, name), depth + 1))
                    continue
                fault = _TOO_DEEP
            elif kind is int:
                if -MAX_INTEGER <= member <= MAX_INTEGER:
                    continue
                fault = _INTEGER
            elif kind is bool or member is None:
                continue
            else:
                fault = _FLOAT if kind is float else _NOT_JSON
            yield _problem(fault, (place, name))


def _is_unicode(text: str) -> bool:
    """Tell whether `text` has no lone surrogate."""
    try:
        text.encode()  # twice as fast as a search by regular expression
    except UnicodeEncodeError:
        return False
    return True


def _problem(fault: _Fault, place: _Place | None) -> Problem:
    """Give the problem at `place`; its last step is the outermost list, which has no name."""
    names = []
    while place is not None:
        place, name = place
        names.append(name)
    message, hint = fault
    return Problem("E_CANON_DOMAIN", message, hint, json_pointer(reversed(names[:-1])))
