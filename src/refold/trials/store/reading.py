"""Messages read from the log: single ones, pages of rooms and threads, what came since an id."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Select,
    any_,
    bindparam,
    func,
    select,
)

from refold.trials.store import tables
from refold.trials.store.model import Message

__all__ = ["Messages"]

_ROW = tables.messages.c
_MESSAGES: Select[Any] = select(
    _ROW.id,
    _ROW.accepted_at,
    _ROW.digest,
    _ROW.kind,
    _ROW.room,
    _ROW.reply_to,
    _ROW.thread,
    tables.texts.c.content,
    _ROW.public_key,
    _ROW.signature,
).select_from(tables.messages.outerjoin(tables.texts, tables.texts.c.id == _ROW.id))
# Asked in every transaction of the log, so built once. The digests go as one value, an array.
_DIGESTS = func.json_each(bindparam("digests")).table_valued("value")
_OF_DIGESTS_SQLITE = _MESSAGES.where(_ROW.digest.in_(select(_DIGESTS.c.value)))
_OF_DIGESTS_POSTGRES = _MESSAGES.where(
    _ROW.digest == any_(bindparam("digests", type_=ARRAY(_ROW.digest.type)))
)
_LATEST = select(_ROW.id).order_by(_ROW.id.desc()).limit(1)


class Messages:
    """Reads through one connection. Pages come in the order of ids, oldest first.

    A page has at most `limit` messages after the id `after`; with `before` it has the newest ones
    below that id, newest first.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, message: int) -> Message | None:
        """Give the message with an id, None if there is none."""
        return next(iter(self._read(_MESSAGES.where(_ROW.id == message))), None)

    def of_ids(self, ids: Sequence[int]) -> dict[int, Message]:
        """Give those of some ids that are there; hundreds at most."""
        return {each.id: each for each in self._read(_MESSAGES.where(_ROW.id.in_(ids)))}

    def of_digests(self, digests: Sequence[str]) -> dict[str, Message]:
        """Give those of some content addresses that are there; hundreds at most."""
        if self._connection.dialect.name == "sqlite":
            found = self._read(_OF_DIGESTS_SQLITE, {"digests": json.dumps(digests)})
        else:
            found = self._read(_OF_DIGESTS_POSTGRES, {"digests": list(digests)})
        return {each.digest: each for each in found}

    def latest_id(self) -> int:
        """Give the id of the newest message, 0 if there is none."""
        return self._connection.scalar(_LATEST) or 0

    def since(self, after: int, limit: int, *, before: int | None = None) -> list[Message]:
        """Give a page of all messages."""
        return self._page(None, after, before, limit)

    def room(
        self, room: str, after: int, limit: int, *, before: int | None = None
    ) -> list[Message]:
        """Give a page of a room."""
        return self._page(_ROW.room == room, after, before, limit)

    def thread(
        self, top: int, after: int, limit: int, *, before: int | None = None
    ) -> list[Message]:
        """Give a page of a thread, by the id of the message at its top, which is one of them."""
        return self._page(_ROW.thread == top, after, before, limit)

    def by_key(
        self, public_key: str, after: int, limit: int, *, before: int | None = None
    ) -> list[Message]:
        """Give a page of what a key posted."""
        return self._page(_ROW.public_key == public_key, after, before, limit)

    def _page(
        self, where: ColumnElement[bool] | None, after: int, before: int | None, limit: int
    ) -> list[Message]:
        asked = _MESSAGES if where is None else _MESSAGES.where(where)
        if before is None:
            asked = asked.where(_ROW.id > after).order_by(_ROW.id)
        else:
            asked = asked.where(_ROW.id > after, _ROW.id < before).order_by(_ROW.id.desc())
        return self._read(asked.limit(limit))

    def _read(
        self, asked: Select[Any], parameters: Mapping[str, object] | None = None
    ) -> list[Message]:
        return [Message(*row) for row in self._connection.execute(asked, parameters)]
