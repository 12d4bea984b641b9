"""The pin: what an indexer's row says of one record on the chain (facts: metaid §3.5)."""

from base64 import b64decode
from binascii import Error as Base64Error

import msgspec

from refold.kernel.errors import InputError


class Pin(msgspec.Struct, frozen=True):
    """One pin with its envelope.

    `height` is None in the mempool. `sender` is the author's globalMetaId. `body` is what was
    pinned first, even when somebody modified the pin since; `content_type` is None for a modified
    pin, since the row shows the modifier's. `timestamp` is the indexer's, in Unix seconds.
    """

    id: str
    path: str
    height: int | None
    tx_index: int
    sender: str
    operation: str
    encryption: str
    version: str
    content_type: str | None
    timestamp: int
    body: bytes


class Row(msgspec.Struct, frozen=True, rename="camel"):
    """A row of `/api/pin/path/list`, or the answer of `/api/pin/<id>`, as far as it is used."""

    id: str
    path: str
    genesis_height: int
    tx_index: int
    global_meta_id: str = ""
    operation: str = ""
    encryption: str = "0"
    version: str = ""
    content_type: str = ""
    timestamp: int = 0
    content_body: str | None = None
    content_length: int = 0
    content_summary: str = ""
    original_content_body: str | None = None


_MEMPOOL_HEIGHT = -1


def pin_of_row(row: Row) -> Pin:
    """Read a row. Raises `InputError`: `sender-missing`, `body-cut`, `body-unreadable`.

    A list row may hold only the beginning of the body: one whose length is not `contentLength`
    is refused, never taken for the whole (facts: metaid §3.6).
    """
    if not row.global_meta_id:
        raise InputError(
            "sender-missing",
            f"the row of pin {row.id} names no globalMetaId",
            "take the row from a v2 indexer",
        )
    body, modified = _body(row)
    return Pin(
        id=row.id,
        path=row.path,
        height=None if row.genesis_height <= _MEMPOOL_HEIGHT else row.genesis_height,
        tx_index=row.tx_index,
        sender=row.global_meta_id,
        operation=row.operation,
        encryption=row.encryption,
        version=row.version,
        content_type=None if modified else row.content_type,
        timestamp=row.timestamp,
        body=body,
    )


def _body(row: Row) -> tuple[bytes, bool]:
    """Give the first body, and whether the pin was modified since."""
    if row.original_content_body:
        return _decoded(row, row.original_content_body), True
    body = _decoded(row, row.content_body) if row.content_body else row.content_summary.encode()
    if len(body) != row.content_length:
        raise InputError(
            "body-cut",
            f"the row of pin {row.id} holds {len(body)} of {row.content_length} bytes",
            "put the pin's detail (/api/pin/<id>) in place of the row",
        )
    return body, False


def _decoded(row: Row, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError) as error:
        raise InputError(
            "body-unreadable", f"the body of pin {row.id} is no base64", "fetch the pin again"
        ) from error
