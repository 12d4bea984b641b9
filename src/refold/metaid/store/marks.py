"""Cursors, gaps, anchors and readers in the tables of a database: `interface.Marks`."""

from collections.abc import Collection, Iterable

import msgspec
from sqlalchemy import Connection, delete, select

from refold.db import one_of, put
from refold.metaid.man.bodies import Missing
from refold.metaid.store import readers
from refold.metaid.store.model import Anchor, Cursor, Gap, Indexed, places_digest
from refold.metaid.store.reading import batches
from refold.metaid.store.tables import anchors, cursors, gaps, indexers, pins

_CURSOR = tuple(cursors.c[name] for name in Cursor.__struct_fields__)
_GAP = tuple(gaps.c[name] for name in Gap.__struct_fields__)
_INDEXED = tuple(indexers.c[name] for name in Indexed.__struct_fields__)
_ANCHOR = tuple(anchors.c[name] for name in Anchor.__struct_fields__)


class SqlMarks:
    """See `interface.Marks`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def cursor(self, indexer: str, path: str) -> Cursor | None:
        """Give how far the walk over a path came."""
        asked = select(*_CURSOR).where(cursors.c.indexer == indexer, cursors.c.path == path)
        row = self._connection.execute(asked).first()
        return None if row is None else Cursor(*row)

    def cursors(self) -> list[Cursor]:
        """Give all of them, by indexer and path."""
        rows = self._connection.execute(select(*_CURSOR))
        return sorted((Cursor(*row) for row in rows), key=lambda c: (c.indexer, c.path))

    def put_cursor(self, cursor: Cursor) -> None:
        """Note how far a walk came."""
        put(self._connection, cursors, [msgspec.structs.asdict(cursor)])

    def indexers(self) -> list[Indexed]:
        """Give what is known of all indexers."""
        rows = self._connection.execute(select(*_INDEXED))
        return sorted((Indexed(*row) for row in rows), key=lambda known: known.indexer)

    def put_indexer(self, indexed: Indexed) -> None:
        """Note what is known of an indexer."""
        put(self._connection, indexers, [msgspec.structs.asdict(indexed)])

    def gaps(self, indexer: str | None = None) -> list[Gap]:
        """Give the pins that could not be read yet."""
        asked = select(*_GAP).order_by(gaps.c.first, gaps.c.pin, gaps.c.indexer)
        if indexer is not None:
            asked = asked.where(gaps.c.indexer == indexer)
        return [Gap(*row) for row in self._connection.execute(asked)]

    def put_gaps(self, indexer: str, path: str, missing: Iterable[Missing], now: int) -> None:
        """Note pins that could not be read."""
        for batch in batches(missing):
            told = {entry.id: entry for entry in batch}
            listed = one_of(self._connection, gaps.c.pin, list(told))
            asked = select(*_GAP).where(gaps.c.indexer == indexer, listed)
            known = {row.pin: Gap(*row) for row in self._connection.execute(asked)}
            held = set(
                self._connection.scalars(
                    select(pins.c.pin).where(one_of(self._connection, pins.c.pin, list(told)))
                )
            )
            found = [
                _gap(indexer, path, entry, known.get(entry.id), now)
                for entry in told.values()
                if entry.id not in held
            ]
            put(self._connection, gaps, [msgspec.structs.asdict(gap) for gap in found])

    def close_gaps(self, indexer: str, pin_ids: Iterable[str]) -> None:
        """Forget pins that could not be read, and that nobody lists any more."""
        for batch in batches(pin_ids):
            listed = one_of(self._connection, gaps.c.pin, batch)
            self._connection.execute(delete(gaps).where(gaps.c.indexer == indexer, listed))

    def anchors(self, source: str, *, since: int = 0) -> list[Anchor]:
        """Give what is noted of blocks from a height on."""
        asked = select(*_ANCHOR).where(anchors.c.source == source, anchors.c.height >= since)
        return [Anchor(*row) for row in self._connection.execute(asked.order_by(anchors.c.height))]

    def put_anchors(self, noted: Iterable[Anchor]) -> None:
        """Note how blocks are recognised."""
        put(self._connection, anchors, [msgspec.structs.asdict(anchor) for anchor in noted])

    def drop_anchors(self, below: int) -> int:
        """Forget blocks below a height."""
        return self._connection.execute(delete(anchors).where(anchors.c.height < below)).rowcount

    def places_digest(self, height: int, paths: Collection[str] = ()) -> str:
        """Give the digest of the pins held at a height."""
        asked = select(pins.c.tx_index, pins.c.pin).where(pins.c.height == height)
        if paths:
            asked = asked.where(pins.c.path.in_(paths))
        return places_digest((index, pin) for index, pin in self._connection.execute(asked))

    def read_by(self, reader: str, paths: Collection[str] = ()) -> None:
        """Say which paths a reader reads."""
        readers.read_by(self._connection, reader, paths)

    def changed_from(self, reader: str) -> int | None:
        """Give the lowest height at which something changed since a reader settled."""
        return readers.changed_from(self._connection, reader)

    def settle(self, reader: str) -> None:
        """Note that a reader has seen all that there is now."""
        readers.settle(self._connection, reader)


def _gap(indexer: str, path: str, entry: Missing, known: Gap | None, now: int) -> Gap:
    return Gap(
        indexer=indexer,
        pin=entry.id,
        path=path,
        height=entry.height,
        code=entry.code,
        message=entry.message,
        tries=known.tries + 1 if known else 1,
        first=known.first if known else now,
        last=now,
    )
