"""The pins in the tables of a database: `interface.Pins` on SQLAlchemy Core."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Table,
    bindparam,
    delete,
    except_,
    func,
    insert,
    literal,
    null,
    select,
    tuple_,
    union_all,
    update,
)

from refold.db import AnyText, insert_missing, one_of
from refold.metaid.author import Verdict
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store.flush import body_row, flush
from refold.metaid.store.lookups import held_rows, standing_rows, waiting_rows
from refold.metaid.store.merge import Batch
from refold.metaid.store.model import (
    NO_RIVALS,
    Conflict,
    Counts,
    Held,
    Moved,
    Position,
    Rivals,
    Standing,
    Written,
)
from refold.metaid.store.readers import note_changes
from refold.metaid.store.reading import batches, bodies_of, read_confirmed, read_pending
from refold.metaid.store.rows import columns_of, held_of, place_at
from refold.metaid.store.tables import (
    anchors,
    bodies,
    conflicts,
    content_facts,
    cursors,
    mempool,
    moves,
    pins,
)

_BEGINNING = Position(-1, 0, "")
_OF: BindParameter[str] = bindparam("of")
_PLACE_OF = union_all(
    select(pins.c.height, pins.c.tx_index).where(pins.c.pin == _OF),
    select(null(), null()).select_from(mempool).where(mempool.c.pin == _OF),
)
"""Made once: it is asked for every row of a list."""


class SqlPins:
    """See `interface.Pins`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def write(self, pins: Iterable[Pin], source: str, rivals: Rivals = NO_RIVALS) -> list[Written]:
        """Take copies."""
        written: list[Written] = []
        for copies in batches((pin, hashlib.sha256(pin.body).hexdigest()) for pin in pins):
            batch = self._batch([pin.id for pin, _ in copies], source, rivals)
            written += [batch.take(pin, hashed) for pin, hashed in copies]
            flush(self._connection, batch, copies)
        return written

    def move(
        self, moves: Iterable[tuple[str, Place]], source: str, rivals: Rivals = NO_RIVALS
    ) -> list[Written]:
        """Take the word that pins stand elsewhere."""
        written: list[Written] = []
        for words in batches(moves):
            batch = self._batch([pin_id for pin_id, _ in words], source, rivals)
            written += [batch.move(pin_id, place) for pin_id, place in words]
            flush(self._connection, batch)
        return written

    def vanish(
        self, pin_ids: Iterable[str], source: str, rivals: Rivals = NO_RIVALS
    ) -> list[Written]:
        """Take the word that nobody knows pins any more."""
        written: list[Written] = []
        for words in batches(pin_ids):
            batch = self._batch(words, source, rivals)
            written += map(batch.vanish, words)
            flush(self._connection, batch)
        return written

    def roll_back(self, height: int, source: str) -> int:
        """Take all pins above a height out of their blocks."""
        above = pins.c.height > height
        paths = list(self._connection.scalars(select(pins.c.path).where(above).distinct()))
        note_changes(self._connection, dict.fromkeys(paths, height + 1))
        before = select(pins.c.pin, pins.c.height, pins.c.tx_index, literal(source, AnyText))
        self._connection.execute(
            insert(moves).from_select(
                ["pin", "before_height", "before_tx_index", "source"],
                before.where(above).order_by(pins.c.height, pins.c.tx_index, pins.c.pin),
            )
        )
        out = update(pins).where(above).values(state="unconfirmed", height=None, tx_index=None)
        count = self._connection.execute(out).rowcount
        self._connection.execute(delete(anchors).where(anchors.c.height > height))
        self._connection.execute(
            update(cursors).where(cursors.c.height > height).values(height=height)
        )
        return count

    def place(self, pin_id: str) -> Place | None:
        """Give where a pin stands."""
        row = self._connection.execute(_PLACE_OF, {"of": pin_id}).first()
        return None if row is None else place_at(row[0], row[1])

    def places_from(self, floor: int, path: str) -> list[tuple[str, Place]]:
        """Give the pins of a path in a window, and those in no block."""
        columns = (pins.c.pin, pins.c.height, pins.c.tx_index)
        # Three questions, so that each goes through an index.
        asked = union_all(
            select(*columns).where(pins.c.height >= floor, pins.c.path == path),
            select(*columns).where(
                pins.c.height.is_(None), pins.c.state == "unconfirmed", pins.c.path == path
            ),
            select(mempool.c.pin, null(), null()).where(mempool.c.path == path),
        )
        rows = self._connection.execute(asked).all()  # read before the caller goes on to write
        return [(pin_id, place_at(height, tx_index)) for pin_id, height, tx_index in rows]

    def standing(self, pin_ids: Collection[str]) -> dict[str, Standing]:
        """Give how pins stand, those that anybody gave."""
        found: dict[str, Standing] = {}
        for batch in batches(pin_ids):
            for row in standing_rows(self._connection, batch):
                pin_id, height, tx_index, state, placed_by, source, *copy = row
                place = place_at(height, tx_index)
                found[pin_id] = Standing(place, state, placed_by or source, source, *copy)
        return found

    def read(self, pin_id: str) -> Held | None:
        """Give a pin with all that is known of it."""
        more = (pins.c.height, pins.c.tx_index, pins.c.state, pins.c.placed_by, pins.c.author)
        in_block = select(*columns_of(pins), *more).where(pins.c.pin == pin_id)
        row = self._connection.execute(in_block).first()
        if row is not None:
            held = msgspec.structs.replace(_in_block(row[:-1]), author=row[-1])
        else:
            row = self._connection.execute(
                select(*columns_of(mempool)).where(mempool.c.pin == pin_id)
            ).first()
            if row is None:
                return None
            held = held_of(row, "mempool")
        body = bodies_of(self._connection, [held.sha256])[held.sha256]
        return msgspec.structs.replace(held, pin=msgspec.structs.replace(held.pin, body=body))

    def first_bodies(self, pin_ids: Collection[str]) -> dict[str, bytes]:
        """Give the bodies of pins that were read out of a block."""
        found: dict[str, bytes] = {}
        both = pins.join(bodies, bodies.c.sha256 == pins.c.sha256)
        for batch in batches(pin_ids):
            asked = select(pins.c.pin, bodies.c.body).select_from(both)
            found.update(self._connection.execute(asked.where(self._is_one(pins, batch))).all())
        return found

    def among(self, pin_ids: Collection[str]) -> set[str]:
        """Give those of the ids of which a copy out of a block is held."""
        found: set[str] = set()
        for batch in batches(pin_ids):
            found.update(
                self._connection.scalars(select(pins.c.pin).where(self._is_one(pins, batch)))
            )
        return found

    def confirmed(
        self,
        after: Position | None = None,
        *,
        until: int | None = None,
        paths: Collection[str] = (),
    ) -> Iterator[Pin]:
        """Give the pins in blocks, in the total order."""
        return read_confirmed(self._connection, after or _BEGINNING, until, paths)

    def pending(self, *, paths: Collection[str] = ()) -> Iterator[Pin]:
        """Give the pins in no block, without the vanished."""
        return read_pending(self._connection, paths)

    def moves(self, pin_id: str) -> list[Moved]:
        """Give the way of a pin through blocks."""
        asked = select(
            moves.c.before_height,
            moves.c.before_tx_index,
            moves.c.after_height,
            moves.c.after_tx_index,
            moves.c.source,
        )
        rows = self._connection.execute(asked.where(moves.c.pin == pin_id).order_by(moves.c.id))
        return [Moved(place_at(a, b), place_at(c, d), source) for a, b, c, d, source in rows]

    def conflicts(self, pin_id: str | None = None) -> list[Conflict]:
        """Give the copies that were not taken."""
        more = (
            conflicts.c.height,
            conflicts.c.tx_index,
            conflicts.c.kept_source,
            conflicts.c.differs,
        )
        asked = select(*columns_of(conflicts), *more).order_by(conflicts.c.id)
        if pin_id is not None:
            asked = asked.where(conflicts.c.pin == pin_id)
        found = []
        for row in self._connection.execute(asked):
            height, tx_index, kept_source, differs = row[-4:]
            copy = held_of(row, "confirmed", place_at(height, tx_index))
            found.append(
                Conflict(copy.pin, copy.sha256, copy.source, kept_source, tuple(differs.split()))
            )
        return found

    def counts(self) -> Counts:
        """Count all that is held."""
        asked = select(pins.c.state, pins.c.path, func.count()).group_by(pins.c.state, pins.c.path)
        confirmed: dict[str, int] = {}
        others: Counter[str] = Counter()
        for state, path, count in self._connection.execute(asked):
            if state == "confirmed":
                confirmed[path] = count
            else:
                others[state] += count
        kept = select(func.count(), func.coalesce(func.sum(bodies.c.size), 0))
        number, size = self._connection.execute(kept.select_from(bodies)).one()
        return Counts(
            confirmed=dict(sorted(confirmed.items())),
            unconfirmed=others["unconfirmed"],
            vanished=others["vanished"],
            mempool=self._count(mempool),
            bodies=number,
            body_bytes=int(size),
            conflicts=self._count(conflicts),
        )

    def heights(self) -> tuple[int, int] | None:
        """Give the lowest and the highest height of a pin."""
        lowest = self._connection.scalar(select(func.min(pins.c.height)))
        highest = self._connection.scalar(select(func.max(pins.c.height)))
        return None if lowest is None or highest is None else (lowest, highest)

    def put_authors(self, verdicts: Mapping[str, Verdict]) -> None:
        """Note what was found about the authors of pins."""
        noted = [{"of": pin_id, "author": verdict} for pin_id, verdict in verdicts.items()]
        if noted:
            self._connection.execute(update(pins).where(pins.c.pin == _OF), noted)

    def authors(self, pin_ids: Collection[str]) -> dict[str, Verdict]:
        """Give the verdicts on the authors of pins."""
        found: dict[str, Verdict] = {}
        for batch in batches(pin_ids):
            asked = select(pins.c.pin, pins.c.author)
            where = asked.where(self._is_one(pins, batch), pins.c.author.is_not(None))
            found.update((pin_id, author) for pin_id, author in self._connection.execute(where))
        return found

    def without_author(self, limit: int, after: Position | None = None) -> list[Position]:
        """Give confirmed pins whose author nobody checked."""
        order = (pins.c.height, pins.c.tx_index, pins.c.pin)
        behind = tuple_(*order) > tuple_(*(literal(value) for value in after or _BEGINNING))
        asked = select(*order).where(behind, pins.c.author.is_(None))
        rows = self._connection.execute(asked.order_by(*order).limit(limit))
        return [Position(*row) for row in rows]

    def body(self, sha256: str) -> bytes | None:
        """Give the bytes with this hash."""
        return bodies_of(self._connection, [sha256]).get(sha256)

    def put_body(self, body: bytes) -> str:
        """Keep bytes that a fact names."""
        hashed = hashlib.sha256(body).hexdigest()
        insert_missing(self._connection, bodies, [body_row(body, hashed)])
        return hashed

    def prune_bodies(self) -> int:
        """Delete the bodies that nothing names."""
        named = (select(table.c.sha256) for table in (pins, mempool, conflicts, content_facts))
        orphans = except_(select(bodies.c.sha256), *named)
        return self._connection.execute(delete(bodies).where(bodies.c.sha256.in_(orphans))).rowcount

    def _batch(self, pin_ids: Collection[str], source: str, rivals: Rivals) -> Batch:
        """Begin a batch with what is held of its pins."""
        held = {row[0]: _in_block(row) for row in held_rows(self._connection, pin_ids)}
        waiting = {
            row[0]: held_of(row, "mempool") for row in waiting_rows(self._connection, pin_ids)
        }
        return Batch(held, waiting, source, rivals)

    def _is_one(self, table: Table, pin_ids: Collection[str]) -> ColumnElement[bool]:
        return one_of(self._connection, table.c.pin, pin_ids)

    def _count(self, table: Table) -> int:
        return self._connection.scalar(select(func.count()).select_from(table)) or 0


def _in_block(row: Sequence[Any]) -> Held:
    """Read a row of `columns_of`, and then height, index, state and who placed it."""
    height, tx_index, state, placed_by = row[-4:]
    held = held_of(row, state, place_at(height, tx_index))
    return msgspec.structs.replace(held, placed_by=placed_by or held.source)
