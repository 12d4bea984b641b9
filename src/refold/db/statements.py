"""Statements that SQLite and PostgreSQL spell alike, or should."""

import json
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Table,
    any_,
    func,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

__all__ = ["insert_missing", "one_of", "put"]

Rows = Sequence[Mapping[str, object]]


def insert_missing(connection: Connection, table: Table, rows: Rows) -> None:
    """Insert the rows whose key is not there; leave the others as they are."""
    if rows:
        connection.execute(_insert(connection, table).on_conflict_do_nothing(), list(rows))


def put(connection: Connection, table: Table, rows: Rows) -> None:
    """Insert rows, each in place of the one that has its primary key; all with the same members."""
    if not rows:
        return
    insert = _insert(connection, table)
    keys = [column.name for column in table.primary_key]
    values = {name: insert.excluded[name] for name in rows[0] if name not in keys}
    connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=values), list(rows))


def one_of(
    connection: Connection, column: Column[str], values: Collection[str]
) -> ColumnElement[bool]:
    """Ask whether a column of `NAME` has one of some values.

    They go as one value, an array: with hundreds of their own the library and the drivers would
    spend longer on taking the statement apart than the database on answering it.
    """
    if connection.dialect.name == "sqlite":
        array = func.json_each(json.dumps(list(values))).table_valued("value")
        return column.in_(select(array.c.value))
    return column == any_(literal(list(values), ARRAY(column.type)))


def _insert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)
