"""Who keeps a view made from the pins, and from which height on it is out of date.

Every change is noted in its own transaction for every reader whose paths it is about, so a reader
that was killed finds what it has not seen.
"""

import json
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, bindparam, select, update

from refold.db import one_of, put
from refold.metaid.store.tables import pins, readers

BEGINNING = 0
"""From where on everything is new to a reader that never settled."""

_LOWER = (
    update(readers)
    .where(readers.c.reader == bindparam("of"))
    .values(changed_from=bindparam("lowest"))
)


def note_changes(connection: Connection, changes: Mapping[str, int]) -> None:
    """Note for all readers the lowest height of each path at which something changed."""
    if not changes:
        return
    lowered = []
    for reader, paths, before in connection.execute(select(readers)).all():
        mine = changes.values() if not paths else _of(changes, json.loads(paths))
        lowest = min(mine, default=None)
        if lowest is not None and (before is None or lowest < before):
            lowered.append({"of": reader, "lowest": lowest})
    if lowered:
        connection.execute(_LOWER, lowered)


def note_pins(connection: Connection, pin_ids: Collection[str]) -> None:
    """Note that something changed about pins, as far as they stand in blocks."""
    changes: dict[str, int] = {}
    if pin_ids:
        asked = select(pins.c.path, pins.c.height).where(
            one_of(connection, pins.c.pin, pin_ids), pins.c.height.is_not(None)
        )
        for path, height in connection.execute(asked):
            changes[path] = min(height, changes.get(path, height))
    note_changes(connection, changes)


def changed_from(connection: Connection, reader: str) -> int | None:
    """Give the height from which on a reader is out of date."""
    asked = select(readers.c.changed_from).where(readers.c.reader == reader)
    row = connection.execute(asked).first()
    return BEGINNING if row is None else row[0]


def settle(connection: Connection, reader: str) -> None:
    """Note that a reader has seen everything."""
    _write(connection, reader, _paths_of(connection, reader) or "", None)


def read_by(connection: Connection, reader: str, paths: Collection[str]) -> None:
    """Note what a reader reads."""
    told = json.dumps(sorted(set(paths))) if paths else ""
    if _paths_of(connection, reader) != told:
        _write(connection, reader, told, BEGINNING)


def _paths_of(connection: Connection, reader: str) -> str | None:
    found = connection.scalar(select(readers.c.paths).where(readers.c.reader == reader))
    return None if found is None else str(found)


def _write(connection: Connection, reader: str, paths: str, changed: int | None) -> None:
    put(connection, readers, [{"reader": reader, "paths": paths, "changed_from": changed}])


def _of(changes: Mapping[str, int], paths: Collection[str]) -> list[int]:
    return [height for path, height in changes.items() if path in paths]
