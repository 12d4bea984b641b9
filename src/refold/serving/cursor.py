"""Cursors: where a list goes on, as an opaque text.

A cursor holds the keyset of the last item that was given (integers, strings, bytes), bound to its
list and its filters. It is not secret and not signed: whoever makes one up could only start a
public list at another place. But a checksum makes sure that what is no cursor of this list is
refused and never misread. Source: architecture.md, Conventions (lists).
"""

import base64
import binascii
from collections.abc import Sequence
from hashlib import blake2b
from typing import Annotated, TypeVar

import msgspec

from refold.kernel.errors import InputError

__all__ = ["MAX_CURSOR_LENGTH", "Cursor", "read_cursor", "write_cursor"]

MAX_CURSOR_LENGTH = 2_048
"""Characters: a keyset holds one text of the protocols' longest id or title, and a rest."""
_VERSION = b"1"
_CHECK_BYTES = 8
_HEAD_BYTES = len(_VERSION) + _CHECK_BYTES

Cursor = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9_-]*$",
        max_length=MAX_CURSOR_LENGTH,
        description="Where to go on: nextCursor of the page before; empty for the first page.",
    ),
]
"""The type of the member `cursor` of a query."""
_K = TypeVar("_K")


def write_cursor(scope: bytes, keyset: Sequence[object]) -> str:
    """Give the cursor for a place of the list and filters that `scope` stands for."""
    payload = msgspec.msgpack.encode(tuple(keyset))
    return _encoded(_VERSION + _check(scope, payload) + payload)


def read_cursor(text: str, scope: bytes, keyset: type[_K]) -> _K:
    """Give the keyset of a cursor, in the type of that list (a tuple type).

    Raises InputError `cursor-unknown` for anything that `write_cursor` did not give for this scope.
    """
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        head, payload = raw[:_HEAD_BYTES], raw[_HEAD_BYTES:]
        if head == _VERSION + _check(scope, payload) and text == _encoded(raw):
            return msgspec.msgpack.decode(payload, type=keyset)
    except (binascii.Error, ValueError, msgspec.MsgspecError, RecursionError):
        pass
    raise InputError(
        "cursor-unknown",
        "this cursor is none that this list gave with these filters",
        "walk the list from its beginning, without a cursor",
        "/cursor",
    )


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _check(scope: bytes, payload: bytes) -> bytes:
    return blake2b(
        b"%d:%s%s" % (len(scope), scope, payload), digest_size=_CHECK_BYTES, person=b"refold cursor"
    ).digest()
