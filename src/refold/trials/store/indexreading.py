"""The indexes read: pages of trials, runs, services, what a key posted; with their counts.

`IndexReader` lives as long as the transaction of its connection. Every question is a point or a
range of an index.
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from sqlalchemy import (
    Connection,
    Integer,
    Select,
    bindparam,
    func,
    select,
    tuple_,
)

from refold.trials.indexes.rows import PostRow, RunRow, ServiceRow, TrialRow
from refold.trials.relations import KeyState
from refold.trials.store import indextables as tables
from refold.trials.store.indexcounts import Counts
from refold.trials.store.indexstate import RUN_COLUMNS, listed, names
from refold.trials.store.keytables import blocks, keys
from refold.trials.store.tables import messages, texts
from refold.trials.tables import Kind

__all__ = ["IndexReader", "KeyPost", "RunFound", "TrialFound", "TrialPlace"]

MAX_DISPOSITIONS = 10
"""Answers to a run that are read, the latest ones: more than any publisher means."""

_DIALECTS = ("sqlite", "postgresql")
_T, _R, _P, _C, _M = (
    tables.trials.c,
    tables.runs.c,
    tables.posts.c,
    tables.cells.c,
    tables.marks.c,
)
_TRIALS = select(
    _T.id,
    _T.public_key,
    _T.service,
    _T.closes,
    _T.proven,
    messages.c.accepted_at,
    _P.said,
    keys.c.name,
    keys.c.revoked_by,
    blocks.c.public_key.label("blocked"),
).select_from(
    tables.trials.join(tables.posts, _P.id == _T.id)
    .join(messages, messages.c.id == _T.id)
    .outerjoin(keys, keys.c.public_key == _T.public_key)
    .outerjoin(blocks, blocks.c.public_key == _T.public_key)
)
_LIMIT = bindparam("limit", type_=Integer)
_AT = tuple_(_T.closes, _T.id)
_PLACE = tuple_(bindparam("closes", type_=_T.closes.type), bindparam("id", type_=_T.id.type))
_OF_PROVEN = _TRIALS.where(_T.proven == bindparam("proven"))
_OPEN = (
    _OF_PROVEN.where(_T.closes > bindparam("now"), _AT > _PLACE)
    .order_by(_T.closes, _T.id)
    .limit(_LIMIT)
)
_CLOSED = (
    _OF_PROVEN.where(_T.closes <= bindparam("now"), _T.closes > 0, _AT < _PLACE)
    .order_by(_T.closes.desc(), _T.id.desc())
    .limit(_LIMIT)
)
_TRIAL = _TRIALS.where(_T.id == bindparam("id"))
_TRIALS_OF_SERVICE = (
    _TRIALS.where(_T.service == bindparam("service")).order_by(_T.id.desc()).limit(_LIMIT)
)
_ROWS_OF_SERVICE = (
    select(*tables.trials.c)
    .where(_T.service == bindparam("service"))
    .order_by(_T.id.desc())
    .limit(_LIMIT)
)
_NEWEST_TRIALS = _TRIALS.where(_T.closes > 0).order_by(_T.id.desc()).limit(_LIMIT)
_RUNS = select(
    *RUN_COLUMNS,
    _P.said,
    _T.closes,
    keys.c.name,
    keys.c.revoked_by,
    blocks.c.public_key.label("blocked"),
).select_from(
    tables.runs.join(tables.posts, _P.id == _R.id)
    .join(tables.trials, _T.id == _R.trial)
    .outerjoin(keys, keys.c.public_key == _R.public_key)
    .outerjoin(blocks, blocks.c.public_key == _R.public_key)
)
_RUNS_OF_TRIAL = (
    _RUNS.where(_R.trial == bindparam("trial"), _R.id > bindparam("after"))
    .order_by(_R.id)
    .limit(_LIMIT)
)
_RUNS_OF_SERVICE = (
    _RUNS.where(_R.service == bindparam("service"), _R.id < bindparam("before"))
    .order_by(_R.id.desc())
    .limit(_LIMIT)
)
_RANK = func.row_number().over(partition_by=_P.run, order_by=_P.id.desc()).label("rank")


def _dispositions(dialect: str) -> Select[Any]:
    """Ask for the latest dispositions of each of some runs."""
    ranked = select(*tables.posts.c, _RANK).where(listed(_P.run, dialect, "ids")).subquery()
    columns = [ranked.c[name] for name in PostRow.__struct_fields__]
    return select(*columns).where(ranked.c.rank <= MAX_DISPOSITIONS).order_by(ranked.c.id)


_DISPOSITIONS = {dialect: _dispositions(dialect) for dialect in _DIALECTS}
_S = tables.services.c
_SERVICES = (
    select(_S.service, _S.trials, _S.proven)
    .where(_S.unproven == bindparam("unproven"), _S.service > bindparam("after"))
    .order_by(_S.service)
    .limit(_LIMIT)
)
_SERVICE = select(_S.service, _S.trials, _S.proven).where(_S.service == bindparam("service"))
_KEY_POSTS = select(
    messages.c.id,
    messages.c.kind,
    messages.c.accepted_at,
    messages.c.digest,
    messages.c.room,
    messages.c.reply_to,
    messages.c.signature,
    texts.c.content,
).select_from(
    tables.posts.join(messages, messages.c.id == _P.id).outerjoin(texts, texts.c.id == _P.id)
)
_OF_KEY = _KEY_POSTS.where(_P.public_key == bindparam("key"))
_KEY_AFTER = _OF_KEY.where(_P.id > bindparam("after")).order_by(_P.id).limit(_LIMIT)
_KEY_NEWEST = _OF_KEY.order_by(_P.id.desc()).limit(_LIMIT)
_KEY_ABOUT = (
    select(keys.c.name, keys.c.revoked_by, blocks.c.public_key)
    .select_from(keys.outerjoin(blocks, blocks.c.public_key == keys.c.public_key))
    .where(keys.c.public_key == bindparam("key"))
)
_WIDTH = len(RUN_COLUMNS)


class TrialFound(msgspec.Struct, frozen=True):
    """A trial with what stands beside it; `said` is JSON, None once the text was removed."""

    id: int
    public_key: str
    service: str
    closes: int
    proven: bool
    accepted_at: int
    said: bytes | None
    name: str | None
    revoked_by: int | None
    blocked: str | None


class RunFound(msgspec.Struct, frozen=True):
    """A run, what it says as JSON, when its trial closes, and what became of its key."""

    row: RunRow
    said: bytes | None
    closes: int
    name: str | None
    revoked_by: int | None
    blocked: str | None


class KeyPost(msgspec.Struct, frozen=True):
    """A format post of a key as it stands in the log."""

    id: int
    kind: Kind
    accepted_at: int
    digest: str
    room: str
    reply_to: int | None
    signature: str
    content: str | None


class TrialPlace(msgspec.Struct, frozen=True, array_like=True):
    """Where a list of trials goes on: as of when, and behind which trial of which group."""

    now: int
    proven: bool
    open: bool
    closes: int
    id: int


class IndexReader:
    """See the module. `now` is the moment that decides what is open and who is young."""

    def __init__(self, connection: Connection, now: int) -> None:
        self._connection = connection
        self._now = now
        self._dialect = connection.dialect.name
        self.counts = Counts(connection, now)

    def trials(
        self, place: TrialPlace | None, limit: int, state: Literal["open", "closed"] | None
    ) -> list[tuple[TrialPlace, TrialFound]]:
        """Give trials: proven before unproven, open before closed.

        Of open ones, the one that closes first comes first; of closed ones, the last one.
        """
        now = self._now if place is None else place.now
        found: list[tuple[TrialPlace, TrialFound]] = []
        for proven in (True, False):
            for is_open in (True, False):
                if state not in {None, "open" if is_open else "closed"}:
                    continue
                group = (not proven, not is_open)
                begun = place is not None and (not place.proven, not place.open) >= group
                if place is not None and begun:
                    if (not place.proven, not place.open) > group:
                        continue
                    at = (place.closes, place.id)
                else:
                    at = (0, 0) if is_open else (2**62, 0)
                values = {"proven": proven, "now": now, "closes": at[0], "id": at[1]}
                asked = _OPEN if is_open else _CLOSED
                rows = self._trials(asked, **values, limit=limit - len(found))
                found += [
                    (TrialPlace(now, proven, is_open, row.closes, row.id), row) for row in rows
                ]
                if len(found) >= limit:
                    return found
        return found

    def trial(self, id_: int) -> TrialFound | None:
        """Give a trial."""
        return next(iter(self._trials(_TRIAL, id=id_)), None)

    def trials_of(self, service: str, limit: int) -> list[TrialRow]:
        """Give the trials of a service, the newest first."""
        values = {"service": service, "limit": limit}
        return [TrialRow(*row) for row in self._connection.execute(_ROWS_OF_SERVICE, values)]

    def trials_found(self, service: str, limit: int) -> list[TrialFound]:
        """Give the same with all that stands beside them."""
        return self._trials(_TRIALS_OF_SERVICE, service=service, limit=limit)

    def newest_trials(self, limit: int) -> list[TrialFound]:
        """Give the newest trials whose texts stand."""
        return self._trials(_NEWEST_TRIALS, limit=limit)

    def runs_on(self, trial: int, after: int, limit: int) -> list[RunFound]:
        """Give runs of a trial after an id, in order."""
        return self._runs(_RUNS_OF_TRIAL, trial=trial, after=after, limit=limit)

    def runs_of(self, service: str, before: int, limit: int) -> list[RunFound]:
        """Give runs of a service below an id, the newest first."""
        return self._runs(_RUNS_OF_SERVICE, service=service, before=before, limit=limit)

    def dispositions(self, runs: Iterable[int]) -> dict[int, list[PostRow]]:
        """Give the latest answers to some runs, in order; at most MAX_DISPOSITIONS for each."""
        found: dict[int, list[PostRow]] = {run: [] for run in runs}
        values = {"ids": names(self._connection, list(found))}
        for row in self._connection.execute(_DISPOSITIONS[self._dialect], values):
            found[row.run].append(PostRow(*row))
        return found

    def services(self, unproven: bool, after: str, limit: int) -> list[ServiceRow]:
        """Give services by name: proven ones, or those that are not."""
        values = {"unproven": unproven, "after": after, "limit": limit}
        return [ServiceRow(*row) for row in self._connection.execute(_SERVICES, values)]

    def service(self, service: str) -> ServiceRow | None:
        """Give a service that has trials."""
        row = self._connection.execute(_SERVICE, {"service": service}).one_or_none()
        return None if row is None else ServiceRow(*row)

    def key(self, public_key: str) -> tuple[str | None, KeyState]:
        """Give name and state of a key."""
        row = self._connection.execute(_KEY_ABOUT, {"key": public_key}).one_or_none()
        if row is None:
            return None, KeyState()
        name, revoked_by, blocked = row
        state = KeyState(admitted=True, revoked=revoked_by is not None, blocked=blocked is not None)
        return name, state

    def posts_of(self, public_key: str, after: int, limit: int) -> list[KeyPost]:
        """Give format posts of a key after an id, in order."""
        values = {"key": public_key, "after": after, "limit": limit}
        return [KeyPost(*row) for row in self._connection.execute(_KEY_AFTER, values)]

    def newest_of(self, public_key: str, limit: int) -> list[KeyPost]:
        """Give the newest format posts of a key, the newest first."""
        values = {"key": public_key, "limit": limit}
        return [KeyPost(*row) for row in self._connection.execute(_KEY_NEWEST, values)]

    def _trials(self, asked: Select[Any], **values: object) -> list[TrialFound]:
        return [TrialFound(*row) for row in self._connection.execute(asked, values)]

    def _runs(self, asked: Select[Any], **values: object) -> list[RunFound]:
        return [
            RunFound(RunRow(*row[:_WIDTH]), *row[_WIDTH:])
            for row in self._connection.execute(asked, values)
        ]
