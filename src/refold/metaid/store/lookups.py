"""Questions about many pins at once that are asked for every page of a list, made only once.

To put such a statement together takes the library longer than the database takes to answer it.
"""

import json
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    CompoundSelect,
    Connection,
    Select,
    any_,
    bindparam,
    cast,
    func,
    literal,
    null,
    select,
    union_all,
)

from refold.db import INT64, NAME, AnyText
from refold.metaid.store.rows import columns_of
from refold.metaid.store.tables import mempool, pins

_COPY = ("source", "path", "sender", "size", "sha256")


def standing_rows(connection: Connection, pin_ids: Collection[str]) -> Sequence[Any]:
    """Give id, height, index, state and who placed it, and then what is `_COPY`, of pins."""
    return _asked(connection, _standing(connection.dialect.name), pin_ids)


def held_rows(connection: Connection, pin_ids: Collection[str]) -> Sequence[Any]:
    """Give `columns_of` of copies out of blocks, then height, index, state and who placed it."""
    return _asked(connection, _held(connection.dialect.name), pin_ids)


def waiting_rows(connection: Connection, pin_ids: Collection[str]) -> Sequence[Any]:
    """Give `columns_of` of copies of the mempool."""
    return _asked(connection, _waiting(connection.dialect.name), pin_ids)


def _asked(
    connection: Connection, question: Select[Any] | CompoundSelect[Any], pin_ids: Collection[str]
) -> Sequence[Any]:
    ids = list(pin_ids)
    value = json.dumps(ids) if connection.dialect.name == "sqlite" else ids
    return connection.execute(question, {"ids": value}).all()


@cache
def _standing(dialect: str) -> CompoundSelect[Any]:
    in_blocks = select(
        *(pins.c[name] for name in ("pin", "height", "tx_index", "state", "placed_by")),
        *(pins.c[name] for name in _COPY),
    )
    unplaced = (
        cast(null(), INT64),
        cast(null(), INT64),
        cast(literal("mempool"), NAME),
        cast(null(), AnyText),
    )
    waiting = select(mempool.c.pin, *unplaced, *(mempool.c[name] for name in _COPY))
    return union_all(
        in_blocks.where(_is_named(dialect, pins.c.pin)),
        waiting.where(_is_named(dialect, mempool.c.pin)),
    )


@cache
def _held(dialect: str) -> Select[Any]:
    more = (pins.c.height, pins.c.tx_index, pins.c.state, pins.c.placed_by)
    return select(*columns_of(pins), *more).where(_is_named(dialect, pins.c.pin))


@cache
def _waiting(dialect: str) -> Select[Any]:
    return select(*columns_of(mempool)).where(_is_named(dialect, mempool.c.pin))


def _is_named(dialect: str, column: Column[Any]) -> ColumnElement[bool]:
    """Ask whether a column has one of the values in the parameter `ids`."""
    if dialect == "sqlite":
        array = func.json_each(bindparam("ids", type_=NAME)).table_valued("value")
        return column.in_(select(array.c.value))
    return column == any_(bindparam("ids", type_=ARRAY(column.type)))
