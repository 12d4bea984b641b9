"""Many rows written with one statement, past the library's work on each row.

The library takes a row apart and checks it again before the driver does, which takes as long as the
database takes to write it. So this is for columns whose values go to the driver as they are.
"""

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect

Row = tuple[object, ...]
"""The values of a row in the order of its table's columns."""

STATEMENTS = 64
"""Statements that are kept: there are a dozen for each kind of database."""


def put_rows(connection: Connection, table: Table, rows: Sequence[Row], *, by: str = "") -> None:
    """Insert rows, each in place of the one with the same key: the primary one, or the column `by`.

    No two of the rows have the same key.
    """
    if rows:
        connection.exec_driver_sql(_put(connection.dialect.name, table, by), list(rows))


@lru_cache(STATEMENTS)
def _put(kind: str, table: Table, by: str) -> str:
    """Give the statement in the words of a driver, its values by their place."""
    keys = [by] if by else [column.name for column in table.primary_key]
    insert = (sqlite if kind == "sqlite" else postgresql).insert(table)
    names = [column.name for column in table.columns]
    values = {name: insert.excluded[name] for name in names if name not in keys}
    put = insert.on_conflict_do_update(index_elements=keys, set_=values)
    words: Dialect = sqlite.dialect()
    if kind != "sqlite":
        words = PGDialect_psycopg(paramstyle="format")  # type: ignore[no-untyped-call] # it has none
    return str(put.compile(dialect=words, column_keys=names))
