"""Statements that are asked at every request: put together and compiled once.

To build and run a statement takes the library longer than the database takes to answer it, so these
are handed to the driver as text (as `store.bulk` does for writing).
"""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Select
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect

__all__ = ["Question"]

Row = Sequence[Any]


class Question:
    """A statement whose values are `bindparam`s, all of plain columns (no `AnyText`)."""

    def __init__(self, make: Callable[[], Select[Any]]) -> None:
        self._make = make
        self._texts: dict[str, tuple[str, dict[str, Any]]] = {}

    def first(self, connection: Connection, **values: object) -> Row | None:
        """Give the first row of the answer, None for none."""
        text, given = self._text(connection.dialect.name)
        return connection.exec_driver_sql(text, {**given, **values}).first()

    def rows(self, connection: Connection, **values: object) -> Sequence[Row]:
        """Give all rows."""
        text, given = self._text(connection.dialect.name)
        return connection.exec_driver_sql(text, {**given, **values}).all()

    def _text(self, kind: str) -> tuple[str, dict[str, Any]]:
        known = self._texts.get(kind)
        if known is None:
            words: Dialect = sqlite.dialect(paramstyle="named")
            if kind != "sqlite":
                words = PGDialect_psycopg(paramstyle="pyformat")  # type: ignore[no-untyped-call] # it has none
            compiled = self._make().compile(dialect=words)
            known = self._texts[kind] = (str(compiled), dict(compiled.params))
        return known
