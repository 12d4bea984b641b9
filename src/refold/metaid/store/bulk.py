"""Many rows inserted at once, past most of the library, which would take longer than the database.

The statement is the library's own, and so is what becomes of text (`AnyText`); numbers, bytes and
names go to the driver as they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, Table, insert
from sqlalchemy.dialects import postgresql, sqlite

from refold.db import AnyText

Rows = Sequence[Mapping[str, object]]
_MADE: dict[tuple[str, str, bool], "_Insert"] = {}


def insert_rows(
    connection: Connection, table: Table, rows: Rows, *, only_missing: bool = False
) -> None:
    """Insert rows, each with a value for every column; `only_missing` leaves those that are there.

    For tables whose columns are `AnyText`, `NAME`, `INT64` and `BYTES`.
    """
    if rows:
        made = _insert_into(connection, table, only_missing=only_missing)
        connection.exec_driver_sql(made.statement, [made.values(row) for row in rows])


class _Insert:
    """The statement for one kind of database, and what makes a driver's values of a row."""

    def __init__(self, connection: Connection, table: Table, *, only_missing: bool) -> None:
        is_sqlite = connection.dialect.name == "sqlite"
        asked: Any = insert(table)
        if only_missing:
            kind = sqlite if is_sqlite else postgresql
            asked = kind.insert(table).on_conflict_do_nothing()
        compiled = asked.compile(dialect=connection.dialect)
        self.statement = str(compiled)
        self._names: tuple[str, ...] | None = (
            tuple(compiled.positiontup) if compiled.positional else None
        )
        escape = AnyText().bind_processor(connection.dialect)
        texts = [column.name for column in table.c if isinstance(column.type, AnyText)]
        self._columns = [
            (name, escape if name in texts else None)
            for name in self._names or tuple(column.name for column in table.c)
        ]

    def values(self, row: Mapping[str, object]) -> tuple[object, ...] | dict[str, object]:
        """Give the parameters for a row, by place or by name as the driver takes them."""
        made = [
            row[name] if escape is None else escape(cast("str | None", row[name]))
            for name, escape in self._columns
        ]
        if self._names is not None:
            return tuple(made)
        return dict(zip((name for name, _ in self._columns), made, strict=True))


def _insert_into(connection: Connection, table: Table, *, only_missing: bool) -> _Insert:
    key = (table.name, connection.dialect.name, only_missing)
    if key not in _MADE:
        _MADE[key] = _Insert(connection, table, only_missing=only_missing)
    return _MADE[key]
