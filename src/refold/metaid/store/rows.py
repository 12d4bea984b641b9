"""Pins as rows of the tables, and back."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Table

from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store.model import NOWHERE, Held, State
from refold.metaid.store.tables import mempool

Values = dict[str, object]

_ENVELOPE = tuple(column.name for column in mempool.c)


def columns_of(table: Table) -> list[Column[Any]]:
    """Give the columns that `held_of` reads, in its order; whatever follows them it passes over."""
    return [table.c[name] for name in _ENVELOPE]


def held_of(row: Sequence[Any], state: State, place: Place = NOWHERE, body: bytes = b"") -> Held:
    """Read a row of `columns_of`."""
    sha256, size, source = row[14:17]
    return Held(pin_of(row, place, body), sha256, size, source, state)


def pin_of(row: Sequence[Any], place: Place = NOWHERE, body: bytes = b"") -> Pin:
    """Read the pin in a row of `columns_of`."""
    pin, path, sender, operation, encryption, version, content_type, timestamp = row[:8]
    status, history, target, host, address, chain = row[8:14]
    return Pin(
        pin,
        path,
        place.height,
        place.tx_index,
        sender,
        operation,
        encryption,
        version,
        content_type,
        timestamp,
        body,
        status,
        tuple(json.loads(history)) if history else (),
        target,
        host,
        address,
        chain,
    )


def envelope_of(pin: Pin) -> Values:
    """Give what of a copy may be written again: all but its id, its place, and its body's."""
    return {
        "path": pin.path,
        "sender": pin.sender,
        "operation": pin.operation,
        "encryption": pin.encryption,
        "version": pin.version,
        "content_type": pin.content_type,
        "timestamp": pin.timestamp,
        "status": pin.status,
        # Pure ASCII, whatever strangers call a pin.
        "history": json.dumps(pin.history) if pin.history else "",
        "target": pin.target,
        "host": pin.host,
        "address": pin.address,
        "chain": pin.chain,
    }


def copy_of(held: Held) -> Values:
    """Give the row of a copy, without its place."""
    row = envelope_of(held.pin)
    row["pin"] = held.pin.id
    row["sha256"] = held.sha256
    row["size"] = held.size
    row["source"] = held.source
    return row


def place_of(place: Place) -> Values:
    """Give the columns of a place; in no block both are null."""
    if place.height is None:
        return {"height": None, "tx_index": None}
    return {"height": place.height, "tx_index": place.tx_index}


def place_at(height: int | None, tx_index: int | None) -> Place:
    """Give the place in two columns."""
    return NOWHERE if height is None or tx_index is None else Place(height, tx_index)
