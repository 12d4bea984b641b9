"""Rows of the indexes in the database: what a fold asks and writes, in one transaction.

The log is asked for the keys of messages only, by a connection that may be another one. Statements
are built once: the library takes longer to build one than the database to run it.
"""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    any_,
    bindparam,
    delete,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from refold.db import insert_missing
from refold.trials.indexes.rows import Cell, PostRow, ReviewRow, Row, RunRow, ServiceRow, TrialRow
from refold.trials.store import indextables as tables
from refold.trials.store.tables import messages

__all__ = ["RUN_COLUMNS", "SqlState", "listed", "names"]

_T = TypeVar("_T", bound=msgspec.Struct)
_R = tables.runs.c
RUN_COLUMNS = tuple(_R[name] for name in RunRow.__struct_fields__)
"""The columns of a `RunRow`, in its order."""

_KEY_OF = select(messages.c.public_key).where(messages.c.id == bindparam("id"))
_POST = select(*tables.posts.c).where(tables.posts.c.id == bindparam("id"))
_TRIAL = select(*tables.trials.c).where(tables.trials.c.id == bindparam("id"))
_RUN = select(*RUN_COLUMNS).where(_R.id == bindparam("id"))
_OF_KEY = select(*RUN_COLUMNS).where(
    _R.trial == bindparam("trial"), _R.public_key == bindparam("key")
)
_NEXT_RUN = _OF_KEY.where(_R.id > bindparam("after")).order_by(_R.id).limit(1)
_OWING = (
    select(*RUN_COLUMNS)
    .where(_R.owed_by == bindparam("key"), _R.trial == bindparam("trial"))
    .order_by(_R.id)
)
_RECHECKED_BY = _OF_KEY.where(_R.recheck == bindparam("run")).order_by(_R.id)
_RUNS_ON = select(*RUN_COLUMNS).where(_R.trial == bindparam("trial")).order_by(_R.id)
_LAST_DISPOSITION = (
    select(*tables.posts.c)
    .where(tables.posts.c.run == bindparam("run"), tables.posts.c.said.is_not(None))
    .order_by(tables.posts.c.id.desc())
    .limit(1)
)
_REVIEW = select(*tables.reviews.c).where(tables.reviews.c.id == bindparam("id"))
_LAST_REVIEW = (
    select(*tables.reviews.c)
    .where(tables.reviews.c.public_key == bindparam("key"))
    .where(tables.reviews.c.tool == bindparam("tool"))
    .order_by(tables.reviews.c.id.desc())
    .limit(1)
)
_SERVICE = select(tables.services.c.trials, tables.services.c.proven).where(
    tables.services.c.service == bindparam("service")
)
_DROP_REVIEW = delete(tables.reviews).where(tables.reviews.c.id == bindparam("of_id"))
_DROP_SERVICE = delete(tables.services).where(tables.services.c.service == bindparam("of_service"))
_DROP_REPLY = delete(tables.replies).where(
    tables.replies.c.public_key == bindparam("of_key"), tables.replies.c.id == bindparam("of_id")
)


def names(connection: Connection, values: Sequence[str] | Sequence[int]) -> object:
    """Give some values as the one value of a parameter of `listed`."""
    return json.dumps(values) if connection.dialect.name == "sqlite" else list(values)


def listed(column: Column[Any], dialect: str, parameter: str = "names") -> ColumnElement[bool]:
    """Ask whether a column has one of the values of a parameter, which is made by `names`."""
    if dialect == "sqlite":
        array = func.json_each(bindparam(parameter)).table_valued("value")
        return column.in_(select(array.c.value))
    return column == any_(bindparam(parameter, type_=ARRAY(column.type)))


def _upserts(table: Table, *added: str) -> dict[str, Any]:
    """Give, for each dialect, what writes rows; columns of `added` are added to what is there."""
    found = {}
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert)):
        statement = insert(table)
        keys = [column.name for column in table.primary_key]
        values = {
            column.name: table.c[column.name] + statement.excluded[column.name]
            if column.name in added
            else statement.excluded[column.name]
            for column in table.c
            if column.name not in keys
        }
        found[dialect] = statement.on_conflict_do_update(index_elements=keys, set_=values)
    return found


_PUT = {
    table.name: _upserts(table)
    for table in (tables.posts, tables.trials, tables.runs, tables.reviews, tables.services)
}
_ADD_CELLS = _upserts(tables.cells, "posts", "keys")
_ADD_MARKS = _upserts(tables.marks, "posts")
_M, _C = tables.marks.c, tables.cells.c
_MARKED = {
    dialect: select(_M.cell, _M.posts).where(
        _M.public_key == bindparam("key"), listed(_M.cell, dialect)
    )
    for dialect in ("sqlite", "postgresql")
}
_NO_MARKS = {
    dialect: delete(tables.marks).where(
        _M.public_key == bindparam("key"), _M.posts == 0, listed(_M.cell, dialect)
    )
    for dialect in ("sqlite", "postgresql")
}
_NO_CELLS = {
    dialect: delete(tables.cells).where(_C.posts == 0, listed(_C.cell, dialect))
    for dialect in ("sqlite", "postgresql")
}


class SqlState:
    """A `refold.trials.indexes.rows.State` in the tables. `log` is where the messages are read."""

    def __init__(self, connection: Connection, log: Connection | None = None) -> None:
        self._connection = connection
        self._log = connection if log is None else log
        self._dialect = connection.dialect.name

    def key_of(self, message: int) -> str:
        """Give the key of a message, "" if there is none."""
        return self._log.scalar(_KEY_OF, {"id": message}) or ""

    def post(self, id_: int) -> PostRow | None:
        """Give a format post."""
        return self._one(PostRow, _POST, id=id_)

    def trial(self, id_: int) -> TrialRow | None:
        """Give a trial."""
        return self._one(TrialRow, _TRIAL, id=id_)

    def run(self, id_: int) -> RunRow | None:
        """Give a run."""
        return self._one(RunRow, _RUN, id=id_)

    def next_run(self, trial: int, public_key: str, after: int) -> RunRow | None:
        """Give the first run of a key on a trial whose id is larger than one."""
        return self._one(RunRow, _NEXT_RUN, trial=trial, key=public_key, after=after)

    def owing(self, trial: int, public_key: str) -> list[RunRow]:
        """Give the runs of a key on a trial whose recheck is owed."""
        return self._all(RunRow, _OWING, trial=trial, key=public_key)

    def rechecked_by(self, run: RunRow) -> list[RunRow]:
        """Give the runs whose recheck a run completed."""
        values = {"trial": run.trial, "key": run.public_key, "run": run.id}
        return self._all(RunRow, _RECHECKED_BY, **values)

    def runs_on(self, trial: int) -> list[RunRow]:
        """Give all runs on a trial."""
        return self._all(RunRow, _RUNS_ON, trial=trial)

    def last_disposition(self, run: int) -> PostRow | None:
        """Give the latest disposition of a run that stands."""
        return self._one(PostRow, _LAST_DISPOSITION, run=run)

    def last_review(self, public_key: str, tool: str) -> ReviewRow | None:
        """Give the latest review of a tool by a key that stands."""
        return self._one(ReviewRow, _LAST_REVIEW, key=public_key, tool=tool)

    def review(self, id_: int) -> ReviewRow | None:
        """Give a review that stands."""
        return self._one(ReviewRow, _REVIEW, id=id_)

    def put(self, row: Row) -> None:
        """Keep a row, in place of the one that has its id."""
        if isinstance(row, RunRow):
            values = run_values(row)
            self._put(tables.runs, values)
        elif isinstance(row, PostRow):
            self._put(tables.posts, msgspec.structs.asdict(row))
        elif isinstance(row, TrialRow):
            self._put(tables.trials, msgspec.structs.asdict(row))
        else:
            self._put(tables.reviews, msgspec.structs.asdict(row))

    def drop_review(self, id_: int) -> None:
        """Forget a review."""
        self._connection.execute(_DROP_REVIEW, {"of_id": id_})

    def shift_service(self, service: str, trials: int, proven: int) -> None:
        """Add to the numbers of a service; one without trials is none."""
        found = self._connection.execute(_SERVICE, {"service": service}).one_or_none() or (0, 0)
        row = ServiceRow(service, found[0] + trials, found[1] + proven)
        if row.trials:
            self._put(tables.services, service_values(row))
        else:
            self._connection.execute(_DROP_SERVICE, {"of_service": service})

    def put_reply(self, public_key: str, message: int) -> None:
        """Keep that a message answers one of a key."""
        row = {"public_key": public_key, "id": message}
        insert_missing(self._connection, tables.replies, [row])

    def drop_reply(self, public_key: str, message: int) -> None:
        """Forget that."""
        self._connection.execute(_DROP_REPLY, {"of_key": public_key, "of_id": message})

    def count(self, cells: Sequence[Cell], public_key: str, by: int) -> None:
        """Count a post of a key in some cells, once more (1) or no more (-1)."""
        if not cells:
            return
        of = {cell.id: cell for cell in cells}
        ids = names(self._connection, list(of))
        asked = {"key": public_key, "names": ids}
        found = self._connection.execute(_MARKED[self._dialect], asked)
        marked: dict[str, int] = {row.cell: row.posts for row in found}
        keys = {id_: bool(marked.get(id_, 0) + by) - bool(marked.get(id_, 0)) for id_ in of}
        self._connection.execute(
            _ADD_MARKS[self._dialect],
            [{"public_key": public_key, "cell": id_, "posts": by} for id_ in of],
        )
        self._connection.execute(
            _ADD_CELLS[self._dialect],
            [
                {
                    "cell": id_,
                    "ranked": cell.scope if cell.ranks else None,
                    "posts": by,
                    "keys": keys[id_],
                }
                for id_, cell in of.items()
            ],
        )
        if by < 0:
            self._connection.execute(_NO_MARKS[self._dialect], asked)
            self._connection.execute(_NO_CELLS[self._dialect], {"names": ids})

    def _put(self, table: Table, values: dict[str, Any]) -> None:
        self._connection.execute(_PUT[table.name][self._dialect], values)

    def _one(self, kind: type[_T], asked: Select[Any], **values: object) -> _T | None:
        row = self._connection.execute(asked, values).one_or_none()
        return None if row is None else kind(*row)

    def _all(self, kind: type[_T], asked: Select[Any], **values: object) -> list[_T]:
        return [kind(*row) for row in self._connection.execute(asked, values)]


def run_values(row: RunRow) -> dict[str, Any]:
    """Give the columns of a run, with who has to do something about it."""
    values = msgspec.structs.asdict(row)
    values["owed_by"] = row.public_key if row.owes else None
    values["awaits"] = None if row.disposition or row.removed else row.publisher
    return values


def service_values(row: ServiceRow) -> dict[str, Any]:
    """Give the columns of a service."""
    return {**msgspec.structs.asdict(row), "unproven": row.proven == 0}
