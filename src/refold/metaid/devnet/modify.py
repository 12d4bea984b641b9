"""What modify and revoke pins do to the row of their target (facts: metaid §3.7)."""

from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy import Connection, select

from refold.metaid.devnet.found import Found, found_of
from refold.metaid.devnet.quirks import Quirks
from refold.metaid.devnet.tables import PINS
from refold.metaid.pin import MODIFIED, PLAIN, REVOKED


class Shown(msgspec.Struct, frozen=True):
    """What the row of a pin shows.

    `first_body` is the pin's own where another stands in its place, else None. `history` is the
    original's id and those of the modify pins, None when there are none.
    """

    body: bytes
    content_type: str
    status: int = PLAIN
    first_body: bytes | None = None
    history: tuple[str, ...] | None = None


def shown(connection: Connection, pins: Sequence[Found], quirks: Quirks) -> dict[str, Shown]:
    """Give what the rows of some pins show, by pin id."""
    if quirks.modify == "never":
        return {pin.record.id: _plain(pin) for pin in pins}
    roots = {pin.record.id for pin in pins} | {pin.root for pin in pins if pin.root}
    originals = _with_ids(connection, roots)
    changes = _changes(connection, roots, originals, quirks)
    return {pin.record.id: _after(pin, changes) for pin in pins}


def _plain(pin: Found) -> Shown:
    return Shown(pin.record.body, pin.record.content_type)


def _with_ids(connection: Connection, ids: set[str]) -> dict[str, Found]:
    rows = connection.execute(select(PINS).where(PINS.c.id.in_(ids)))
    return {row.id: found_of(row) for row in rows}


def _changes(
    connection: Connection, roots: set[str], originals: Mapping[str, Found], quirks: Quirks
) -> dict[str, list[Found]]:
    """Give the modify and revoke pins that count, for each root in the order of the chain."""
    chosen = select(PINS).where(PINS.c.root.in_(roots)).order_by(PINS.c.place)
    if not quirks.modify_from_mempool:
        chosen = chosen.where(PINS.c.height >= 0)
    changes: dict[str, list[Found]] = {}
    for row in connection.execute(chosen):
        change, original = found_of(row), originals.get(row.root)
        if original is None:
            continue
        if quirks.modify == "anyone" or change.record.owner == original.record.owner:
            changes.setdefault(row.root, []).append(change)
    return changes


def _after(pin: Found, changes: Mapping[str, Sequence[Found]]) -> Shown:
    """Show a pin after all that changed it; a modify pin has the history up to itself."""
    result = _plain(pin)
    history = [pin.record.id]
    for change in changes.get(pin.record.id, ()):
        record = change.record
        if record.operation == "revoke":
            result = msgspec.structs.replace(result, status=REVOKED)
            continue
        history.append(record.id)
        first = pin.record.body if result.first_body is None else result.first_body
        result = Shown(record.body, record.content_type, MODIFIED, first, tuple(history))
    if pin.root is not None and pin.record.operation == "modify":
        result = msgspec.structs.replace(result, history=_history_up_to(pin, changes))
    return result


def _history_up_to(pin: Found, changes: Mapping[str, Sequence[Found]]) -> tuple[str, ...] | None:
    ids = [
        change.record.id
        for change in changes.get(pin.root or "", ())
        if change.record.operation == "modify"
    ]
    if pin.record.id not in ids or pin.root is None:
        return None
    return (pin.root, *ids[: ids.index(pin.record.id) + 1])
