"""Statements that are asked at every request: put together and compiled once.

To build a statement, run it and describe its answer takes the library longer than the database
takes for all of it, so these go to the driver itself, past the library, in the transaction that the
library began. What the driver raises becomes an error of `refold.db` as anywhere else.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Select
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect

from refold.db.errors import error_of

__all__ = ["Question"]

Row = Sequence[Any]


class Question:
    """A statement whose values are `bindparam`s, all of plain columns (no `AnyText`)."""

    def __init__(self, make: Callable[[], Select[Any]]) -> None:
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
            compiled = self._make().compile(dialect=words)
            known = self._texts[kind] = (str(compiled), dict(compiled.params))
        return known
