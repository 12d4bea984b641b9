"""What a batch decided, written: bodies first, so that every copy finds its own."""

import json
from collections.abc import Iterable
from hashlib import sha256

from sqlalchemy import Connection, bindparam, delete, insert, update

from refold.db import insert_missing, one_of, put
from refold.metaid.pin import Pin
from refold.metaid.store.bulk import insert_rows
from refold.metaid.store.merge import Batch
from refold.metaid.store.model import Conflict, Held, Moved
from refold.metaid.store.readers import note_changes
from refold.metaid.store.rows import Values, copy_of, envelope_of, place_of
from refold.metaid.store.tables import bodies, conflicts, gaps, mempool, moves, pins

_BY_PIN = update(pins).where(pins.c.pin == bindparam("of"))
_GONE = delete(mempool).where(mempool.c.pin == bindparam("of"))


def flush(connection: Connection, batch: Batch, copies: Iterable[tuple[Pin, str]] = ()) -> None:
    """Write what `batch` collected of `copies`, each with the hash of its body."""
    _write_bodies(connection, batch, copies)
    if batch.added:
        insert_rows(connection, pins, [_pin_row(held) for held in batch.added.values()])
    if batch.changed:
        changed = [_pin_change(held) for held in batch.changed.values()]
        connection.execute(_BY_PIN, changed)
    if batch.moves:
        steps = [_move_row(pin_id, moved) for pin_id, moved in batch.moves]
        connection.execute(insert(moves), steps)
    if batch.waiting_gone:
        connection.execute(_GONE, [{"of": pin_id} for pin_id in sorted(batch.waiting_gone)])
    put(connection, mempool, [copy_of(held) for held in batch.waiting_put.values()])
    insert_missing(connection, conflicts, [_conflict_row(met) for met in batch.conflicts])
    if batch.added:
        connection.execute(delete(gaps).where(one_of(connection, gaps.c.pin, list(batch.added))))
    if batch.waiting_put:
        seen = one_of(connection, gaps.c.pin, list(batch.waiting_put))
        connection.execute(delete(gaps).where(seen, gaps.c.height.is_(None)))
    note_changes(connection, batch.changes)


def _write_bodies(connection: Connection, batch: Batch, copies: Iterable[tuple[Pin, str]]) -> None:
    """Keep each body that a new copy or a conflict names, once."""
    named = {held.sha256 for held in batch.added.values()}
    named.update(held.sha256 for held in batch.waiting_put.values())
    named.update(met.sha256 for met in batch.conflicts)
    found = {hashed: pin.body for pin, hashed in copies if hashed in named}
    rows = [body_row(body, key) for key, body in found.items()]
    insert_rows(connection, bodies, rows, only_missing=True)


def body_row(body: bytes, hashed: str) -> Values:
    """Give the row of a body with its hash (hex)."""
    return {"sha256": hashed, "size": len(body), "body": body}


def _pin_row(held: Held) -> Values:
    row = copy_of(held)
    row |= place_of(held.place)
    row["state"] = held.state
    row["author"] = None
    row["placed_by"] = _placed_by(held)
    return row


def _pin_change(held: Held) -> Values:
    return {
        "of": held.pin.id,
        **envelope_of(held.pin),
        **place_of(held.place),
        "state": held.state,
        "placed_by": _placed_by(held),
    }


def _placed_by(held: Held) -> str | None:
    """Give who placed a pin, None where it is who gave the copy, as nearly everywhere."""
    return held.placed_by if held.placed_by != held.source else None


def _move_row(pin_id: str, moved: Moved) -> Values:
    row: Values = {"pin": pin_id, "source": moved.source}
    for when, place in (("before", moved.before), ("after", moved.after)):
        row |= {f"{when}_{name}": value for name, value in place_of(place).items()}
    return row


def _conflict_row(met: Conflict) -> Values:
    copy = Held(met.copy, met.sha256, len(met.copy.body), met.source, "confirmed")
    return {
        **copy_of(copy),
        **place_of(copy.place),
        "kept_source": met.kept_source,
        "differs": " ".join(met.differs),
        "print": _print(met),
    }


def _print(met: Conflict) -> str:
    """Give what is the same of the same copy from the same source, wherever it stands."""
    told = envelope_of(met.copy)
    lasting = [met.copy.id, met.source, met.sha256]
    lasting += [str(told[name]) for name in sorted(told) if name not in _PASSING]
    return sha256(json.dumps(lasting).encode()).hexdigest()


_PASSING = frozenset({"timestamp", "status", "history", "address"})
