"""Many rows inserted at once, past most of the library, which would take longer than the database.

The statement is the library's own, and so is what becomes of text (`AnyText`); numbers, bytes and
names go to the driver as they are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, cast

from sqlalchemy import Connection, Table, insert
from sqlalchemy.dialects import postgresql, sqlite

from refold.db import AnyText

Row = Mapping[str, object]
_MADE: dict[tuple[str, str, bool], "_Insert"] = {}


def insert_rows(
    connection: Connection, table: Table, rows: Sequence[Row], *, only_missing: bool = False
) -> None:
    """Insert rows, each with a value for every column; `only_missing` leaves those that are there.

    For tables whose columns are `AnyText`, `NAME`, `INT64` and `BYTES`.
    """
    if rows:
        made = _insert_into(connection, table, only_missing=only_missing)
        values: Any = [made.values(row) for row in rows]
        connection.exec_driver_sql(made.statement, values)


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
        self._is_by_place: bool = compiled.positional
        self._in_order = itemgetter(*(compiled.positiontup or table.c.keys()))
        self._escape = AnyText().bind_processor(connection.dialect)
        self._names = [column.name for column in table.c if isinstance(column.type, AnyText)]
        self._texts: Callable[[Row], Iterable[str | None]] = (
            itemgetter(*self._names) if self._names else _no_texts
        )

    def values(self, row: Row) -> object:
        """Give the parameters for a row, by place or by name as the driver takes them."""
        texts = "".join(filter(None, self._texts(row)))
        # All texts of a row at once: of nearly every one `AnyText` would leave each as it is.
        if not texts.isascii() or "\\" in texts or "\0" in texts:
            told = cast("Mapping[str, str | None]", row)
            row = {**row, **{name: self._escape(told[name]) for name in self._names}}
        return self._in_order(row) if self._is_by_place else row


def _no_texts(_row: Row) -> Iterable[str | None]:
    return ()


def _insert_into(connection: Connection, table: Table, *, only_missing: bool) -> _Insert:
    key = (table.name, connection.dialect.name, only_missing)
    if key not in _MADE:
        _MADE[key] = _Insert(connection, table, only_missing=only_missing)
    return _MADE[key]
