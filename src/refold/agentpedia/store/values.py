"""Values read back, with their histories: `interface.Values`."""

from collections.abc import Iterable, Iterator
from hashlib import sha256

from sqlalchemy import ColumnElement, Connection, Table, and_, select

from refold.agentpedia.common import Json
from refold.agentpedia.digest import Line
from refold.agentpedia.members import version_member
from refold.agentpedia.store import tables
from refold.agentpedia.store.model import StoredValue
from refold.agentpedia.store.rows import (
    SECTIONS,
    STEP,
    decode,
    encode,
    indexed,
    lookup,
    step_at,
)

CHUNK_ROWS = 5_000
"""Lines that a reading holds at a time."""


class SqlValues:
    """See `interface.Values`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lines(self) -> Iterator[Line]:
        """Give what stands for each value in the digest."""
        for section, section_of in SECTIONS.items():
            yield from self._lines_of(section, section_of.table)

    def value(self, section: str, key: str) -> Json | None:
        """Give a whole value."""
        stored = self.stored(section, key)
        return None if stored is None else self._whole(stored)

    def stored(self, section: str, key: str) -> StoredValue | None:
        """Give a value as it is stored."""
        table = SECTIONS[section].table
        asked = select(table.c.sha256, table.c.value, *_record_in(table))
        row = self._connection.execute(asked.where(_is_at(table, section, key))).first()
        if row is None:
            return None
        return StoredValue(section, key, row[0], decode(row[1]), *row[2:])

    def wrong(self) -> Iterator[Line]:
        """Give the lines whose value is not what was hashed."""
        for line in self.lines():
            value = self.value(line.section, line.key)
            if sha256(encode(value)).hexdigest() != line.sha256:
                yield line

    def _lines_of(self, section: str, table: Table) -> Iterator[Line]:
        columns = (table.c.key, table.c.long_key, table.c.sha256, *_record_in(table))
        asked = select(*columns).order_by(table.c.key).limit(CHUNK_ROWS)
        if table is tables.others:
            asked = asked.where(table.c.section == section)
        rows = self._connection.execute(asked).all()  # a key may be empty: nothing stands before it
        while rows:
            for key, long_key, hashed, *record in rows:
                yield Line(section, long_key or key, hashed, *record)
            rows = self._connection.execute(asked.where(table.c.key > rows[-1][0])).all()

    def _whole(self, stored: StoredValue) -> Json:
        if stored.record is None:
            return stored.value
        history = tables.history
        asked = select(*STEP).where(history.c.record == stored.record).order_by(history.c.place)
        steps = [step_at(row) for row in self._connection.execute(asked)]
        return {
            **stored.value,
            "history": [step.name for step in steps],
            "versions": [
                version_member(step.version) for step in steps if step.version is not None
            ],
        }


def _record_in(table: Table) -> Iterable[ColumnElement[int]]:
    return [table.c.record] if "record" in table.c else []


def _is_at(table: Table, section: str, key: str) -> ColumnElement[bool]:
    is_key = table.c.key == indexed(lookup(key))
    return and_(table.c.section == section, is_key) if table is tables.others else is_key
