"""Counts of the indexes read: cells, the runtimes with the most posts, what young keys posted.

`Counts` lives as long as the transaction of its connection. Every question is a point or a range of
an index; but those about more runtimes than are named look at all posts of the others.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, bindparam, func, select

from refold.trials.indexes.counting import DAY_SECONDS, NAMED
from refold.trials.indexes.rows import Cell, ReviewRow, RunRow
from refold.trials.indexes.tallies import Counted, Young
from refold.trials.store import indextables as tables
from refold.trials.store.indexstate import RUN_COLUMNS, listed, names
from refold.trials.store.keytables import keys

__all__ = ["Counts"]

_DIALECTS = ("sqlite", "postgresql")
_R, _C, _M = tables.runs.c, tables.cells.c, tables.marks.c
_CUTOFF: BindParameter[Any] = bindparam("cutoff")
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
    dialect: select(_C.cell, _C.posts, _C["keys"]).where(listed(_C.cell, dialect))
    for dialect in _DIALECTS
}
_RANKED = (
    select(_C.cell)
    .where(_C.ranked == bindparam("scope"))
    .order_by(_C.posts.desc(), _C.cell.desc())
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
_CELLS_BETWEEN = select(_C.cell, _C.posts, _C["keys"]).where(
    _C.cell > bindparam("begin"), _C.cell < bindparam("end")
)
_LAST = "\U0010ffff"


class Counts:
    """See the module. `now` is the moment that decides who is young."""

    def __init__(self, connection: Connection, now: int) -> None:
        self._connection = connection
        self._cutoff = now - DAY_SECONDS
        self._dialect = connection.dialect.name

    def counted(self, cells: Iterable[Cell]) -> Counted:
        """Give posts and keys of those of some cells that have any."""
        values = {"names": names(self._connection, [cell.id for cell in cells])}
        rows = self._connection.execute(_CELLS[self._dialect], values)
        return {cell: (posts, count) for cell, posts, count in rows}

    def counted_in(self, scope: str) -> Counted:
        """Give all that is counted in a scope, and in those whose names go on after a TAB."""
        values = {"begin": f"{scope}\t", "end": f"{scope}\t{_LAST}"}
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
            "names": names(self._connection, [Cell(scope, what, runtime).id for runtime in named]),
        }
        return self._connection.scalar(_TAIL_KEYS[self._dialect], values) or 0

    def day_before(self, day: str) -> str | None:
        """Give the last day before one on which a blocker was counted."""
        values = {"begin": "blocker\t", "end": f"blocker\t{day}"}
        cell = self._connection.scalar(_DAY, values)
        return None if cell is None else str(cell).split("\t")[1]

    def young_of_services(self, services: Iterable[str]) -> Young:
        """Give what young keys reported of some services."""
        return self._young("service", _YOUNG_OF_SERVICE, services)

    def young_of_trials(self, trials: Iterable[int]) -> Young:
        """Give what young keys reported on some trials."""
        return self._young("trial", _YOUNG_OF_TRIAL, trials)

    def young_of_all(self) -> Young:
        """Give all that young keys reported and reviewed."""
        if not self._has_young():
            return Young()
        values = {"cutoff": self._cutoff}
        reviews = [ReviewRow(*row) for row in self._connection.execute(_YOUNG_REVIEWS, values)]
        return Young(self._young_runs(_YOUNG_OF_ALL), reviews)

    def _has_young(self) -> bool:
        return (self._connection.scalar(_YOUNGEST) or 0) > self._cutoff

    def _young(self, name: str, asked: Select[Any], values: Iterable[object]) -> Young:
        """Give what young keys reported where `name` is one of some values."""
        if not self._has_young():
            return Young()
        return Young(row for value in values for row in self._young_runs(asked, **{name: value}))

    def _young_runs(self, asked: Select[Any], **values: object) -> list[RunRow]:
        rows = self._connection.execute(asked, {**values, "cutoff": self._cutoff})
        return [RunRow(*row) for row in rows]
