"""Messages of other nodes, kept under (origin, foreign id): no local id, no key, no index.

As long-lived as the transaction of its connection. Source: cold trials spec §3.
"""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, bindparam, delete, select, update

from refold.db import put
from refold.kernel.errors import SourceError
from refold.metaid.store.bulk import insert_rows
from refold.trials.store import foreigntables as tables

__all__ = ["Foreign", "ForeignMessage", "OriginRow", "require_restored"]

_ROW = tables.foreign.c
_ORIGIN = tables.origins.c
_DROP_TEXT = (
    update(tables.foreign)
    .where(_ROW.origin == bindparam("of_origin"), _ROW.id == bindparam("of_id"))
    .values(content=None)
)


class OriginRow(msgspec.Struct, frozen=True):
    """How far a node's archive was imported: `size` of `target` messages, at Unix seconds.

    `verifier` is the key, given from outside, that the last archive was trusted by; `checkpoint` is
    the note over the target.
    """

    origin: str
    verifier: str
    size: int
    target: int
    checkpoint: str
    imported_at: int


class ForeignMessage(msgspec.Struct, frozen=True, gc=False):
    """A message of another node, as it was there; `content` is None if its text was removed."""

    origin: str
    id: int
    accepted_at: int
    digest: str
    room: str
    reply_to: int | None
    public_key: str
    signature: str
    content: str | None


class Foreign:
    """See the module."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def origin(self, origin: str) -> OriginRow | None:
        """Give how far a node's archive was imported, None if not at all."""
        asked = select(*_ORIGIN).where(_ORIGIN.origin == origin)
        row = self._connection.execute(asked).one_or_none()
        return None if row is None else OriginRow(*row)

    def origins(self, after: str, limit: int) -> list[OriginRow]:
        """Give a page of all origins by name, behind one."""
        asked = select(*_ORIGIN).where(_ORIGIN.origin > after).order_by(_ORIGIN.origin)
        return [OriginRow(*row) for row in self._connection.execute(asked.limit(limit))]

    def put_origin(self, row: OriginRow) -> None:
        """Keep how far a node's archive was imported."""
        put(self._connection, tables.origins, [msgspec.structs.asdict(row)])

    def drop_origin(self, origin: str) -> None:
        """Forget that of an origin: its log is this node's own, and whole again."""
        self._connection.execute(delete(tables.origins).where(_ORIGIN.origin == origin))

    def insert(self, messages: Sequence[ForeignMessage]) -> None:
        """Add messages, none of which may be there."""
        rows = [msgspec.structs.asdict(each) for each in messages]
        insert_rows(self._connection, tables.foreign, rows)

    def page(self, origin: str, after: int, limit: int) -> list[ForeignMessage]:
        """Give messages of a node in the order of their ids, behind one."""
        asked = (
            select(*_ROW)
            .where(_ROW.origin == origin, _ROW.id > after)
            .order_by(_ROW.id)
            .limit(limit)
        )
        return [ForeignMessage(*row) for row in self._connection.execute(asked)]

    def get(self, origin: str, message: int) -> ForeignMessage | None:
        """Give one message, None if it is not here."""
        asked = select(*_ROW).where(_ROW.origin == origin, _ROW.id == message)
        row = self._connection.execute(asked).one_or_none()
        return None if row is None else ForeignMessage(*row)

    def drop_texts(self, origin: str, messages: Sequence[int]) -> None:
        """Take the texts of some messages away for good."""
        rows = [{"of_origin": origin, "of_id": each} for each in messages]
        if rows:
            self._connection.execute(_DROP_TEXT, rows)


def require_restored(connection: Connection, origin: str) -> None:
    """Return unless the log of this node is being restored.

    Posts would take the ids of messages that are still to come. Raises SourceError `log-restoring`.
    """
    row = Foreign(connection).origin(origin)
    if row is not None:
        raise SourceError(
            "log-restoring",
            f"the log of {origin} is restored to {row.size} of {row.target} messages",
            "finish it with refold trials import",
        )
