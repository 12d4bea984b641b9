"""Changes of the view, collected and written batch by batch: `interface.Writer`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from sqlalchemy import (
    Connection,
    Delete,
    and_,
    bindparam,
    delete,
    func,
    select,
)

from refold.agentpedia.changes import History, Step, Value
from refold.agentpedia.store import tables
from refold.agentpedia.store.bulk import Row, put_rows
from refold.agentpedia.store.model import Written
from refold.agentpedia.store.rows import SECTIONS, indexed, row_of, step_row
from refold.db import one_of

BATCH_ROWS = 4_000
"""Rows that are collected before they are written: more gain nothing, and memory stays small."""
BATCH_BYTES = 8 * 1024 * 1024
"""The same for bytes of values: a single one may be larger."""
KEYS = 500
"""Keys that one statement names."""

_CUT = delete(tables.history).where(
    tables.history.c.record == bindparam("of"), tables.history.c.place >= bindparam("kept")
)


@dataclass
class _Pending:
    """What was told of one history: how much of it is kept, and what comes then."""

    kept: int
    steps: list[Step]


class SqlWriter:
    """See `interface.Writer`; `flush` writes what is left."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._values: dict[str, dict[str, Row | None]] = {name: {} for name in SECTIONS}
        self._histories: dict[int, _Pending] = {}
        self._links: dict[str, tuple[str, list[str]]] = {}
        self._rows = self._bytes = 0
        self._position: int | None = None
        self._counts = dict.fromkeys(Written.__struct_fields__, 0)

    @property
    def written(self) -> Written:
        """Rows written so far."""
        return Written(**self._counts)

    def forget(self) -> None:
        """Delete everything."""
        self._clear()
        self._position = None
        for table in dict.fromkeys(section.table for section in SECTIONS.values()):
            self._delete("values_dropped", delete(table))
        self._delete("steps_cut", delete(tables.history))
        self._delete("links_dropped", delete(tables.links))

    def drop(self, section: str, key: str) -> None:
        """Delete a value, and the links of an entry."""
        self._values[section][key] = None
        if section == "entry":
            self._links[key] = ("", [])
        self._weigh(1)

    def put(self, value: Value) -> None:
        """Insert a value, or replace it."""
        row = row_of(value)
        if value.section == "grave":
            row = (*row[:-1], self._next_position(), row[-1])
        self._values[value.section][value.key] = row
        self._weigh(1, len(cast("bytes", row[-1])))

    def history(self, history: History) -> None:
        """Cut a history and add steps."""
        record, kept, steps = history
        pending = self._histories.get(record)
        if pending is None or kept < pending.kept:
            self._histories[record] = _Pending(kept, list(steps))
        else:
            pending.steps[kept - pending.kept :] = steps
        self._weigh(1 + len(steps))

    def put_links(self, entry_key: str, rev: str, targets: Iterable[str]) -> None:
        """Replace the links of an entry."""
        keys = sorted({indexed(target) for target in targets})
        self._links[entry_key] = (rev, keys)
        self._weigh(1 + len(keys))

    def flush(self) -> None:
        """Write what was collected: what goes first, so that what comes finds its place."""
        for name, rows in self._values.items():
            if rows:
                self._write_values(name, rows)
        if self._histories:
            self._write_histories()
        if self._links:
            self._write_links()
        self._clear()

    def _clear(self) -> None:
        for rows in self._values.values():
            rows.clear()
        self._histories.clear()
        self._links.clear()
        self._rows = self._bytes = 0

    def _weigh(self, rows: int, size: int = 0) -> None:
        self._rows += rows
        self._bytes += size
        if self._rows >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
            self.flush()

    def _next_position(self) -> int:
        if self._position is None:
            last = self._connection.scalar(select(func.max(tables.graves.c.position)))
            self._position = -1 if last is None else last
        self._position += 1
        return self._position

    def _write_values(self, section: str, rows: dict[str, Row | None]) -> None:
        table = SECTIONS[section].table
        gone = [key for key, row in rows.items() if row is None]
        for start in range(0, len(gone), KEYS):
            some = [indexed(key) for key in gone[start : start + KEYS]]
            is_gone = one_of(self._connection, table.c.key, some)
            if table is tables.others:
                is_gone = and_(table.c.section == section, is_gone)
            self._delete("values_dropped", delete(table).where(is_gone))
        come = [row for row in rows.values() if row is not None]
        put_rows(self._connection, table, come)
        self._counts["values_put"] += len(come)

    def _write_histories(self) -> None:
        cuts = [{"of": record, "kept": told.kept} for record, told in self._histories.items()]
        self._counts["steps_cut"] += self._connection.execute(_CUT, cuts).rowcount
        rows = [
            step_row(record, place, step)
            for record, told in self._histories.items()
            for place, step in enumerate(told.steps, told.kept)
        ]
        # By name: a step may come here before the history that it leaves is cut.
        put_rows(self._connection, tables.history, rows, by="name")
        self._counts["steps_put"] += len(rows)

    def _write_links(self) -> None:
        sources = [indexed(key) for key in self._links]
        for start in range(0, len(sources), KEYS):
            some = sources[start : start + KEYS]
            column = tables.links.c.from_entry
            is_from = one_of(self._connection, column, some)
            self._delete("links_dropped", delete(tables.links).where(is_from))
        rows = [
            (indexed(key), target, rev)
            for key, (rev, targets) in self._links.items()
            for target in targets
        ]
        put_rows(self._connection, tables.links, rows)
        self._counts["links_put"] += len(rows)

    def _delete(self, kind: str, question: Delete) -> None:
        self._counts[kind] += self._connection.execute(question).rowcount
