"""Statements that are asked at every request: put together and compiled once.

To build a statement, run it and describe its answer takes the library longer than the database
takes for all of it, so these go to the driver itself, past the library, in the transaction that the
library began. What the driver raises becomes an error of `refold.db` as anywhere else.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Select,
    any_,
    bindparam,
    func,
    select,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect

from refold.db import NAME
from refold.db.errors import error_of

__all__ = ["Question", "named_in"]

Row = Sequence[Any]


def named_in(kind: str, column: Column[Any], name: str) -> ColumnElement[bool]:
    """Ask whether a column of names has one of those in the list that is given as `name`."""
    if kind == "sqlite":
        array = func.json_each(bindparam(name, type_=NAME)).table_valued("value")
        return column.in_(select(array.c.value))
    return column == any_(bindparam(name, type_=ARRAY(column.type)))


class Question:
    """A statement whose values are `bindparam`s, all of plain columns (no `AnyText`).

    `make` gives it for a kind of database ("sqlite" or "postgresql").
    """

    def __init__(self, make: Callable[[str], Select[Any]]) -> None:
        self._make = make
        self._texts: dict[str, tuple[str, dict[str, Any]]] = {}

    def first(self, connection: Connection, **values: object) -> Row | None:
        """Give the first row of the answer, None for none."""
        row: Row | None = self._ask(connection, values, "fetchone")
        return row

    def rows(self, connection: Connection, **values: object) -> Sequence[Row]:
        """Give all rows."""
        rows: Sequence[Row] = self._ask(connection, values, "fetchall")
        return rows

    def _ask(self, connection: Connection, values: dict[str, object], fetch: str) -> Any:  # noqa: ANN401 (rows of either driver)
        dialect = connection.dialect
        text, given = self._text(dialect.name)
        if dialect.name == "sqlite":
            lists = {name: value for name, value in values.items() if isinstance(value, list)}
            values |= {name: json.dumps(value) for name, value in lists.items()}
        driver: Any = connection.connection.driver_connection
        try:
            # SQLite works while rows are fetched, so that may fail as well.
            return getattr(driver.execute(text, {**given, **values}), fetch)()
        except dialect.loaded_dbapi.Error as error:
            raise error_of(error, dialect.name) from error

    def _text(self, kind: str) -> tuple[str, dict[str, Any]]:
        known = self._texts.get(kind)
        if known is None:
            words: Dialect = sqlite.dialect(paramstyle="named")
            if kind != "sqlite":
                words = PGDialect_psycopg(paramstyle="pyformat")  # type: ignore[no-untyped-call] # it has none
            compiled = self._make(kind).compile(dialect=words)
            known = self._texts[kind] = (str(compiled), dict(compiled.params))
        return known
