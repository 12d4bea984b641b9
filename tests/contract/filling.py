"""Made-up rows for every table there is, whatever parts add: hostile wherever a column takes it."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Integer, LargeBinary, Table, select

from refold.db import AnyText

Row = tuple[Any, ...]

TEXTS = (
    *("", "plain", "潮汐表", "\\u0000", "a\nb\r\n\t", "'; DROP TABLE x; --", "\x7f\u2028\ufeff"),
    *('{"a": [1]}', "\U0001f41d" * 40, "x" * 3_000),
)
HOSTILE = ("\0", "\ud800", "a\0b\udfffc\\")
"""What `AnyText` takes and no database does."""
BODIES = (
    b"",
    b"\0",
    b"\xff\xfe\x00",
    b'{"n":1}',
    "潮".encode(),
    b'"\\u0000"\n[',
    bytes(range(256)),
)
NUMBERS = (0, 1, -1, 2**31, 2**53, -(2**53), 2**63 - 1, -(2**63))
PLACES: Mapping[str, Sequence[Mapping[str, object]]] = {
    "metaid_pins": (
        {"state": "confirmed", "height": 7, "tx_index": 2**53 - 1},
        {"state": "vanished", "height": None, "tx_index": None},
    )
}
"""What a table's own rule allows, a row one of these."""
ROWS = 12


def fill(connection: Connection, tables: Sequence[Table], seed: int = 1) -> None:
    """Write rows into every table; those that others refer to come first."""
    random = Random(seed)
    for table in tables:
        rows = [_row(connection, table, number, random) for number in range(ROWS)]
        connection.execute(table.insert(), rows)


def rows_of(connection: Connection, tables: Sequence[Table]) -> dict[str, list[Row]]:
    """Give all rows of tables, in an order that does not depend on the database."""
    found = {}
    for table in tables:
        rows = connection.execute(select(*table.c).order_by(*table.primary_key))
        found[table.name] = [tuple(row) for row in rows]
    return found


def _row(connection: Connection, table: Table, number: int, random: Random) -> dict[str, object]:
    row = {column.name: _cell(connection, column, number, random) for column in table.c}
    return row | dict(random.choice(PLACES.get(table.name, ({},))))


def _cell(connection: Connection, column: Column[Any], number: int, random: Random) -> object:
    for key in column.foreign_keys:
        there = connection.scalars(select(key.column).order_by(key.column)).all()
        is_whole_key = [*column.table.primary_key] == [column]
        return there[number] if is_whole_key else random.choice(there)
    if column.nullable and random.random() < 0.3:
        return None
    # A number in keys and in what has to be different, so that no two rows are in each other's way.
    if isinstance(column.type, Integer):
        return number + 1 if _is_counted(column) else random.choice(NUMBERS)
    if isinstance(column.type, Boolean):
        return random.random() < 0.5
    if isinstance(column.type, LargeBinary):
        return random.choice((*BODIES, random.randbytes(2_000)))
    text = random.choice(TEXTS + (HOSTILE if isinstance(column.type, AnyText) else ()))
    return f"{number}{text}" if _is_counted(column) else text


def _is_counted(column: Column[Any]) -> bool:
    unique = (index.columns for index in column.table.indexes if index.unique)
    ruled = (getattr(rule, "columns", ()) for rule in column.table.constraints)
    checks = any(column in set(columns) for columns in (*unique, *ruled))
    return bool(column.primary_key or column.unique or checks)
