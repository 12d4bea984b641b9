"""Pins as JSON lines: rows as an indexer would list them, if its rows were always whole."""

from base64 import b64encode

import msgspec

from refold.metaid.pin import MEMPOOL_HEIGHT, Pin

_encode = msgspec.json.encode


def pin_line(pin: Pin) -> bytes:
    """Give a pin as one line, its newline included: what `pin_of_row` reads back as it was.

    A modified pin has its first body in `originalContentBody`, as indexers give it.
    """
    modified = pin.content_type is None
    body = b64encode(pin.body).decode()
    row = {
        "id": pin.id,
        "path": pin.path,
        "genesisHeight": MEMPOOL_HEIGHT if pin.height is None else pin.height,
        "txIndex": pin.tx_index,
        "globalMetaId": pin.sender,
        "address": pin.address,
        "operation": pin.operation,
        "encryption": pin.encryption,
        "version": pin.version,
        "contentType": pin.content_type or "",
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
    return _encode(row) + b"\n"
