"""What a key has to do, read from the indexes: each question is a range of one."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Connection, Integer, bindparam, select

from refold.trials.store import indextables as tables
from refold.trials.store.model import Message
from refold.trials.store.reading import Messages
from refold.trials.tables import Outcome

__all__ = ["AwaitingRow", "ClosingRow", "HomeReader", "OwedRow"]

_T, _R, _P, _A = tables.trials.c, tables.runs.c, tables.posts.c, tables.replies.c
_KEY: BindParameter[Any] = bindparam("key")
_LIMIT = bindparam("limit", type_=Integer)
_OWED = (
    select(_R.id, _R.trial, _R.disposition, _T.closes, _P.said)
    .select_from(
        tables.runs.join(tables.trials, _T.id == _R.trial).join(
            tables.posts, _P.id == _R.disposition
        )
    )
    .where(_R.owed_by == _KEY, _T.closes > bindparam("now"))
    .order_by(_R.trial, _R.id)
    .limit(_LIMIT)
)
_AWAITING = (
    select(_R.id, _R.trial, _R.public_key, _R.outcome, _P.said)
    .select_from(tables.runs.join(tables.posts, _P.id == _R.id))
    .where(_R.awaits == _KEY)
    .order_by(_R.id)
    .limit(_LIMIT)
)
_CLOSING = (
    select(_T.id, _T.closes, _P.said)
    .select_from(tables.trials.join(tables.posts, _P.id == _T.id))
    .where(_T.public_key == _KEY, _T.closes > bindparam("now"), _T.closes <= bindparam("until"))
    .order_by(_T.closes, _T.id)
    .limit(_LIMIT)
)
_REPLIES = select(_A.id).where(_A.public_key == _KEY).order_by(_A.id.desc()).limit(_LIMIT)


class OwedRow(msgspec.Struct, frozen=True):
    """A recheck that is owed; `said` is what the disposition says."""

    run: int
    trial: int
    disposition: int
    closes: int
    said: bytes | None


class AwaitingRow(msgspec.Struct, frozen=True):
    """A run without a disposition."""

    run: int
    trial: int
    public_key: str
    outcome: Outcome
    said: bytes | None


class ClosingRow(msgspec.Struct, frozen=True):
    """A trial that closes soon."""

    trial: int
    closes: int
    said: bytes | None


class HomeReader:
    """Reads through one connection what a key has to do at `now` (Unix seconds)."""

    def __init__(self, connection: Connection, public_key: str, now: int, limit: int) -> None:
        self._connection = connection
        self._asked = {"key": public_key, "now": now, "limit": limit}

    def owed(self) -> list[OwedRow]:
        """Give the rechecks that the key owes on trials that are open, the oldest trial first."""
        return [OwedRow(*row) for row in self._connection.execute(_OWED, self._asked)]

    def awaiting(self) -> list[AwaitingRow]:
        """Give the runs on its trials that have no answer, the oldest first."""
        return [AwaitingRow(*row) for row in self._connection.execute(_AWAITING, self._asked)]

    def closing(self, until: int) -> list[ClosingRow]:
        """Give its trials that close until a moment."""
        rows = self._connection.execute(_CLOSING, {**self._asked, "until": until})
        return [ClosingRow(*row) for row in rows]

    def replies(self) -> Sequence[Message]:
        """Give what others answered to its messages, the newest first."""
        ids = list(self._connection.scalars(_REPLIES, self._asked))
        found = Messages(self._connection).of_ids(ids) if ids else {}
        return [found[id_] for id_ in ids]
