"""Pins read in order, a chunk at a time, each chunk with its bodies."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    literal,
    select,
    tuple_,
    union_all,
)

from refold.db import one_of
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store.model import NOWHERE, Position
from refold.metaid.store.rows import columns_of, pin_of
from refold.metaid.store.tables import bodies, mempool, pins

T = TypeVar("T")
_Row = Sequence[Any]

BATCH = 500
"""Ids that one statement names: SQLite takes some 30,000, and more than these gain nothing."""
CHUNK_ROWS = 1_000
CHUNK_BYTES = 8 * 1024 * 1024
"""Rows, and bytes of bodies, that a reading holds at a time; a single body may be larger."""

_SIZE = 15
_SHA256 = 14


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Cut into lists of at most `BATCH`."""
    left = iter(items)
    while batch := list(islice(left, BATCH)):
        yield batch


def read_confirmed(
    connection: Connection, after: Position, until: int | None, paths: Collection[str]
) -> Iterator[Pin]:
    """Give the pins in blocks behind a position, as `interface.Pins.confirmed` has it."""
    order = (pins.c.height, pins.c.tx_index, pins.c.pin)
    question = _within(select(*columns_of(pins), *order), pins, paths)
    if until is not None:
        question = question.where(pins.c.height <= until)
    for rows in _chunks(connection, question, order, after):
        for row, body in _with_bodies(connection, rows):
            yield pin_of(row, Place(row[-3], row[-2]), body)


def read_pending(connection: Connection, paths: Collection[str]) -> Iterator[Pin]:
    """Give the pins in no block, as `interface.Pins.pending` has it."""
    unplaced = select(*columns_of(pins)).where(
        pins.c.height.is_(None), pins.c.state == "unconfirmed"
    )
    waiting = select(*columns_of(mempool))
    both = union_all(_within(unplaced, pins, paths), _within(waiting, mempool, paths)).subquery()
    question = select(*both.c, both.c.pin.label("key"))
    for rows in _chunks(connection, question, (both.c.pin,), ("",)):
        for row, body in _with_bodies(connection, rows):
            yield pin_of(row, NOWHERE, body)


def bodies_of(connection: Connection, hashes: Collection[str]) -> dict[str, bytes]:
    """Give the bodies with these hashes (hex), as far as they are kept."""
    found: dict[str, bytes] = {}
    for batch in batches(sorted(hashes)):
        question = select(bodies.c.sha256, bodies.c.body).where(
            one_of(connection, bodies.c.sha256, batch)
        )
        found.update((hashed, body) for hashed, body in connection.execute(question))
    return found


def _chunks(
    connection: Connection,
    question: Select[Any],
    order: Sequence[ColumnElement[Any]],
    after: Sequence[Any],
) -> Iterator[Sequence[_Row]]:
    """Give the answer in chunks, in the order of `order`, with which each row ends.

    One long question would fill the memory on PostgreSQL, and on SQLite let the log grow.
    """
    ordered = question.order_by(*order).limit(CHUNK_ROWS)
    rows: Sequence[_Row] = ()
    while not rows or len(rows) == CHUNK_ROWS:
        behind = tuple_(*order) > tuple_(*(literal(value) for value in after))
        rows = connection.execute(ordered.where(behind)).all()
        if not rows:
            return
        yield rows
        after = rows[-1][-len(order) :]


def _within(question: Select[Any], table: Table, paths: Collection[str]) -> Select[Any]:
    return question.where(table.c.path.in_(paths)) if paths else question


def _with_bodies(connection: Connection, rows: Sequence[_Row]) -> Iterator[tuple[_Row, bytes]]:
    """Give each row with its body; so many bodies at a time as `CHUNK_BYTES` allows."""
    group: list[_Row] = []
    size = 0
    for row in rows:
        if group and (size + row[_SIZE] > CHUNK_BYTES or len(group) == BATCH):
            yield from _fetched(connection, group)
            group, size = [], 0
        group.append(row)
        size += row[_SIZE]
    yield from _fetched(connection, group)


def _fetched(connection: Connection, rows: Sequence[_Row]) -> Iterator[tuple[_Row, bytes]]:
    hashes = {row[_SHA256] for row in rows}
    found = bodies_of(connection, hashes)
    return ((row, found[row[_SHA256]]) for row in rows)
