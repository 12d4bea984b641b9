"""Pins as JSON lines: rows as an indexer would list them, if its rows were always whole."""

import json
from base64 import b64encode

import msgspec

from refold.kernel.errors import InputError, one_line
from refold.kernel.guards import json_depth
from refold.metaid.pin import MEMPOOL_HEIGHT, Pin, Row, pin_of_row, was_modified

MAX_DEPTH = 64
"""Arrays and objects inside each other in a line. A pin's own has two; what else it has is passed
over."""

_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(Row).decode


def pin_line(pin: Pin) -> bytes:
    """Give a pin as one line, its newline included: what `pin_of_line` reads back as it was.

    A modified pin has its first body in `originalContentBody`, as indexers give it; and, in a
    member of our own, the type of that body where it is known.
    """
    modified = pin.content_type is None or was_modified(pin.id, pin.status, pin.history)
    body = b64encode(pin.body).decode()
    row: dict[str, object] = {
        "id": pin.id,
        "path": pin.path,
        "genesisHeight": MEMPOOL_HEIGHT if pin.height is None else pin.height,
        "txIndex": pin.tx_index,
        "globalMetaId": pin.sender,
        "address": pin.address,
        "operation": pin.operation,
        "encryption": pin.encryption,
        "version": pin.version,
        "contentType": "" if modified else pin.content_type,
        "timestamp": pin.timestamp,
        "contentBody": "" if modified else body,
        "contentLength": 0 if modified else len(pin.body),
        "originalContentBody": body if modified else None,
        "status": pin.status,
        "originalId": pin.target,
        "modify_history": list(pin.history) or None,
        "host": pin.host,
        "chainName": pin.chain,
    }
    if modified and pin.content_type is not None:
        row["firstContentType"] = pin.content_type
    try:
        return _encode(row) + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which JSON can escape and UTF-8 not hold
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def pin_of_line(line: bytes) -> Pin:
    """Read a pin from a line. Raises `InputError`: `row-invalid`, and what `pin_of_row` raises."""
    try:
        row = _decode(line)
    except (msgspec.MsgspecError, RecursionError) as error:
        row = _decode_slowly(line, one_line(str(error)))
    return pin_of_row(row)


def _decode_slowly(line: bytes, why: str) -> Row:
    """Read what the fast way refuses, for the sake of lone surrogates."""
    if json_depth(line) <= MAX_DEPTH:
        try:
            return msgspec.convert(json.loads(line.decode()), Row)
        except ValueError:  # which all that the two raise is
            pass
    raise InputError("row-invalid", f"not a pin as an indexer lists it: {why}", "get it anew")
