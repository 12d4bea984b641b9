"""The indexes read: counts, pages of trials, runs, services and days, what a key posted.

`IndexReader` lives as long as the transaction of its connection. Every question is a point or a
range of an index.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Integer,
    Select,
    any_,
    bindparam,
    false,
    func,
    select,
    tuple_,
)

from refold.trials.indexes.counting import DAY_SECONDS, NAMED
from refold.trials.indexes.rows import Cell, PostRow, ReviewRow, RunRow, ServiceRow
from refold.trials.indexes.tallies import Counted, Young
from refold.trials.store import indextables as tables
from refold.trials.store.indexstate import RUN_COLUMNS, listed, names
from refold.trials.store.keytables import blocks, keys
from refold.trials.store.tables import messages, texts

__all__ = ["IndexReader", "KeyPost", "RunFound", "TrialPlace", "TrialFound"]

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
_NEWEST_TRIALS = _TRIALS.where(_T.closes > 0).order_by(_T.id.desc()).limit(_LIMIT)
_RUNS = select(*RUN_COLUMNS, _P.said, _T.closes).select_from(
    tables.runs.join(tables.posts, _P.id == _R.id).join(tables.trials, _T.id == _R.trial)
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
_CUTOFF = bindparam("cutoff")
_YOUNGEST = select(func.max(keys.c.admitted_at))
_FIRST_RUN = (
    select(_R.id)
    .where(_R.accepted_at > _CUTOFF)
    .order_by(_R.accepted_at, _R.id)
    .limit(1)
    .scalar_subquery()
)
_YOUNG_RUNS = (
    select(*RUN_COLUMNS)
    .select_from(tables.runs.join(keys, keys.c.public_key == _R.public_key))
    .where(keys.c.admitted_at + 0 > _CUTOFF)  # not by the index of keys: theirs are all runs
)
_YOUNG_OF_SERVICE = _YOUNG_RUNS.where(_R.service == bindparam("service"), _R.id >= _FIRST_RUN)
_YOUNG_OF_TRIAL = _YOUNG_RUNS.where(_R.trial == bindparam("trial"), _R.id >= _FIRST_RUN)
_YOUNG_OF_ALL = _YOUNG_RUNS.where(_R.accepted_at > _CUTOFF)
_YOUNG_REVIEWS = (
    select(*tables.reviews.c)
    .select_from(tables.reviews.join(keys, keys.c.public_key == tables.reviews.c.public_key))
    .where(keys.c.admitted_at + 0 > _CUTOFF, tables.reviews.c.accepted_at > _CUTOFF)
)
_CELLS = {
    dialect: select(_C.cell, _C.posts, _C.keys).where(listed(_C.cell, dialect))
    for dialect in _DIALECTS
}
_RANKED = (
    select(_C.cell)
    .where(_C.ranked == bindparam("scope"))
    .order_by(_C.posts.desc(), _C.cell)
    .limit(NAMED + 1)
)
_TAIL_KEYS = {
    dialect: select(func.count(_M.public_key.distinct())).where(
        _M.cell > bindparam("begin"), _M.cell < bindparam("end"), ~listed(_M.cell, dialect)
    )
    for dialect in _DIALECTS
}
_DAY = (
    select(_C.cell)
    .where(_C.cell < bindparam("end"), _C.cell > bindparam("begin"))
    .order_by(_C.cell.desc())
    .limit(1)
)
_CELLS_BETWEEN = select(_C.cell, _C.posts, _C.keys).where(
    _C.cell > bindparam("begin"), _C.cell < bindparam("end")
)
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
_LAST = "\U0010ffff"


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
    """A run, what it says as JSON, and when its trial closes."""

    row: RunRow
    said: bytes | None
    closes: int


class KeyPost(msgspec.Struct, frozen=True):
    """A format post of a key as it stands in the log."""

    id: int
    kind: str
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

    def trials_of(self, service: str, limit: int) -> list[TrialFound]:
        """Give the trials of a service, the newest first."""
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
        if not found:
            return found
        ranked = select(*tables.posts.c, _RANK).where(_P.run.in_(list(found))).subquery()
        asked = (
            select(ranked.c.id, ranked.c.kind, ranked.c.public_key, ranked.c.run, ranked.c.said)
            .where(ranked.c.rank <= MAX_DISPOSITIONS)
            .order_by(ranked.c.id)
        )
        for row in self._connection.execute(asked):
            found[row.run].append(PostRow(*row))
        return found

    def services(self, unproven: bool, after: str, limit: int) -> list[ServiceRow]:  # noqa: FBT001
        """Give services by name: proven ones, or those that are not."""
        values = {"unproven": unproven, "after": after, "limit": limit}
        return [ServiceRow(*row) for row in self._connection.execute(_SERVICES, values)]

    def service(self, service: str) -> ServiceRow | None:
        """Give a service that has trials."""
        row = self._connection.execute(_SERVICE, {"service": service}).one_or_none()
        return None if row is None else ServiceRow(*row)

    def counted(self, cells: Iterable[Cell]) -> Counted:
        """Give posts and keys of those of some cells that have any."""
        values = {"names": names(self._connection, [cell.id for cell in cells])}
        rows = self._connection.execute(_CELLS[self._dialect], values)
        return {cell: (posts, count) for cell, posts, count in rows}

    def counted_of_day(self, day: str) -> Counted:
        """Give all that is counted of blockers on a day."""
        values = {"begin": f"blocker\t{day}\t", "end": f"blocker\t{day}\t{_LAST}"}
        rows = self._connection.execute(_CELLS_BETWEEN, values)
        return {cell: (posts, count) for cell, posts, count in rows}

    def ranked(self, scope: str) -> list[str]:
        """Give the runtimes of a scope with the most posts, one more than are named."""
        rows = self._connection.scalars(_RANKED, {"scope": scope})
        return [cell.rpartition("\t")[2] for cell in rows]

    def tail_keys(self, scope: str, what: str, named: Sequence[str]) -> int:
        """Give how many distinct keys are counted for runtimes that are not named.

        Of a scope with more runtimes than are named, it looks at all their posts.
        """
        values = {
            "begin": Cell(scope, what).id,
            "end": Cell(scope, what, _LAST).id,
            "names": names(
                self._connection, [Cell(scope, what, runtime).id for runtime in named]
            ),
        }
        return self._connection.scalar(_TAIL_KEYS[self._dialect], values) or 0

    def day_before(self, day: str) -> str | None:
        """Give the last day before one on which a blocker was counted."""
        values = {"begin": "blocker\t", "end": f"blocker\t{day}"}
        cell = self._connection.scalar(_DAY, values)
        return None if cell is None else str(cell).split("\t")[1]

    def young_of_service(self, service: str) -> Young:
        """Give what young keys reported of a service."""
        return self._young(_YOUNG_OF_SERVICE, service=service)

    def young_of_trials(self, trials: Iterable[int]) -> Young:
        """Give what young keys reported on some trials."""
        if not self._has_young():
            return Young()
        rows = [row for trial in trials for row in self._young_runs(_YOUNG_OF_TRIAL, trial=trial)]
        return Young(rows)

    def young_of_all(self) -> Young:
        """Give all that young keys reported and reviewed."""
        if not self._has_young():
            return Young()
        values = {"cutoff": self._cutoff}
        reviews = [ReviewRow(*row) for row in self._connection.execute(_YOUNG_REVIEWS, values)]
        return Young(self._young_runs(_YOUNG_OF_ALL), reviews)

    def posts_of(self, public_key: str, after: int, limit: int) -> list[KeyPost]:
        """Give format posts of a key after an id, in order."""
        values = {"key": public_key, "after": after, "limit": limit}
        return [KeyPost(*row) for row in self._connection.execute(_KEY_AFTER, values)]

    def newest_of(self, public_key: str, limit: int) -> list[KeyPost]:
        """Give the newest format posts of a key, the newest first."""
        values = {"key": public_key, "limit": limit}
        return [KeyPost(*row) for row in self._connection.execute(_KEY_NEWEST, values)]

    @property
    def _cutoff(self) -> int:
        return self._now - DAY_SECONDS

    def _has_young(self) -> bool:
        return (self._connection.scalar(_YOUNGEST) or 0) > self._cutoff

    def _young(self, asked: Select[Any], **values: object) -> Young:
        return Young(self._young_runs(asked, **values)) if self._has_young() else Young()

    def _young_runs(self, asked: Select[Any], **values: object) -> list[RunRow]:
        rows = self._connection.execute(asked, {**values, "cutoff": self._cutoff})
        return [RunRow(*row) for row in rows]

    def _trials(self, asked: Select[Any], **values: object) -> list[TrialFound]:
        return [TrialFound(*row) for row in self._connection.execute(asked, values)]

    def _runs(self, asked: Select[Any], **values: object) -> list[RunFound]:
        return [
            RunFound(RunRow(*row[:-2]), row[-2], row[-1])
            for row in self._connection.execute(asked, values)
        ]
