"""Cursors and anchors in the tables of a database: `interface.Marks`."""

from collections.abc import Collection, Iterable

import msgspec
from sqlalchemy import Connection, delete, select

from refold.db import put
from refold.metaid.store.model import Anchor, Cursor, places_digest
from refold.metaid.store.tables import anchors, cursors, pins

_CURSOR = tuple(cursors.c[name] for name in Cursor.__struct_fields__)
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
