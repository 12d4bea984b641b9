"""The store of the chain side: what it can do, whatever stands behind it.

    with database.write() as connection:
        store = open_store(connection)
        written = store.pins.write(page.pins, indexer)
        store.marks.put_cursor(cursor)

A store lives as long as the transaction it was made in: pins, marks, facts and whatever a protocol
stores for them are committed together. Errors are those of `refold.db.errors`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from refold.metaid.author import Verdict
from refold.metaid.man.bodies import Missing
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store.model import (
    NO_RIVALS,
    Anchor,
    Conflict,
    ContentFact,
    Counts,
    Cursor,
    FactState,
    Gap,
    Held,
    Indexed,
    Moved,
    Position,
    Rivals,
    StakeFact,
    Standing,
    Written,
)


class Pins(Protocol):
    """Copies of pins, where they stand, and their bodies. No pin that was in a block is deleted."""

    def write(self, pins: Iterable[Pin], source: str, rivals: Rivals = NO_RIVALS) -> list[Written]:
        """Take copies that an indexer gave, in their order; say of each what became of it.

        To write the same again changes nothing. What counts against what is held, `merge` says;
        `rivals` are the other indexers that have a say.
        """

    def move(
        self, moves: Iterable[tuple[str, Place]], source: str, rivals: Rivals = NO_RIVALS
    ) -> list[Written]:
        """Take the word that pins stand elsewhere, or in no block, without a copy of them."""

    def vanish(
        self, pin_ids: Iterable[str], source: str, rivals: Rivals = NO_RIVALS
    ) -> list[Written]:
        """Take the word that an indexer does not know pins any more.

        Those that were in a block are kept, and pending no more; those of the mempool go.
        """

    def roll_back(self, height: int, source: str) -> int:
        """Take all pins above a height out of their blocks; give how many.

        They are kept, and pending. Anchors above are forgotten, cursors' heights lowered to it.
        """

    def place(self, pin_id: str) -> Place | None:
        """Give where a pin stands; None for a pin that nobody ever gave."""

    def places_from(self, floor: int, path: str) -> list[tuple[str, Place]]:
        """Give the pins of a path at `floor` and above, and those in no block but the vanished."""

    def standing(self, pin_ids: Collection[str]) -> dict[str, Standing]:
        """Give how pins stand, those that anybody gave: what the rows of a page are compared with.

        One question for many pins, and no body is read.
        """

    def read(self, pin_id: str) -> Held | None:
        """Give a pin with its body and all that is known of it."""

    def first_bodies(self, pin_ids: Collection[str]) -> dict[str, bytes]:
        """Give the bodies of pins that were read out of a block, by id."""

    def among(self, pin_ids: Collection[str]) -> set[str]:
        """Give those of the ids of which a copy out of a block is held."""

    def confirmed(
        self,
        after: Position | None = None,
        *,
        until: int | None = None,
        paths: Collection[str] = (),
    ) -> Iterator[Pin]:
        """Give the pins in blocks with their bodies, in the total order, from behind a position.

        `until` is the last height, `paths` the only ones; all if not given. Only a chunk is kept in
        memory, however many there are. The transaction may write meanwhile: what it writes ahead of
        the position that was reached is seen.
        """

    def pending(self, *, paths: Collection[str] = ()) -> Iterator[Pin]:
        """Give the pins in no block, without the vanished, with their bodies, by id."""

    def moves(self, pin_id: str) -> list[Moved]:
        """Give the way of a pin through blocks; none if it stands where it first stood."""

    def conflicts(self, pin_id: str | None = None) -> list[Conflict]:
        """Give the copies that were not taken, of one pin or of all, the first that came first."""

    def counts(self) -> Counts:
        """Count. Reads an entry of every pin: half a second for a million."""

    def heights(self) -> tuple[int, int] | None:
        """Give the lowest and the highest height of a pin; None when there is none."""

    def put_authors(self, verdicts: Mapping[str, Verdict]) -> None:
        """Note what was found about the authors of pins."""

    def authors(self, pin_ids: Collection[str]) -> dict[str, Verdict]:
        """Give the verdicts on the authors of pins, where there are any."""

    def without_author(self, limit: int, after: Position | None = None) -> list[Position]:
        """Give confirmed pins whose author nobody checked, at most so many, in the total order."""

    def body(self, sha256: str) -> bytes | None:
        """Give the bytes with this hash (hex)."""

    def put_body(self, body: bytes) -> str:
        """Keep bytes that a fact names, such as the text of a file; give their hash (hex)."""

    def prune_bodies(self) -> int:
        """Delete the bodies that no pin, conflict or fact names; give how many."""


class Marks(Protocol):
    """How far walks came, what they lack, how blocks are recognised, and who has seen what."""

    def cursor(self, indexer: str, path: str) -> Cursor | None:
        """Give how far the walk over a path came."""

    def cursors(self) -> list[Cursor]:
        """Give all of them, by indexer and path."""

    def put_cursor(self, cursor: Cursor) -> None:
        """Note how far a walk came."""

    def indexers(self) -> list[Indexed]:
        """Give what is known of all indexers, by name."""

    def put_indexer(self, indexed: Indexed) -> None:
        """Note what is known of an indexer, in place of what was."""

    def gaps(self, indexer: str | None = None) -> list[Gap]:
        """Give the pins that an indexer (None: any) lists and that nobody could read, oldest first.

        A pin is none any more as soon as a copy of it is written: one out of a block, where the
        list has it in a block.
        """

    def put_gaps(self, indexer: str, path: str, missing: Iterable[Missing], now: int) -> None:
        """Note pins that could not be read at a time (Unix seconds), or once more could not.

        Those of which a copy out of a block is held are passed over.
        """

    def close_gaps(self, indexer: str, pin_ids: Iterable[str]) -> None:
        """Forget pins that could not be read: the indexer itself does not know them any more."""

    def anchors(self, source: str, *, since: int = 0) -> list[Anchor]:
        """Give what is noted of blocks from a height on, the lowest first."""

    def put_anchors(self, anchors: Iterable[Anchor]) -> None:
        """Note how blocks are recognised, in place of what was noted of them before."""

    def drop_anchors(self, below: int) -> int:
        """Forget blocks below a height, which nothing will replace any more; give how many."""

    def places_digest(self, height: int, paths: Collection[str] = ()) -> str:
        """Give `model.places_digest` of the pins held at a height, of all paths or of some."""

    def read_by(self, reader: str, paths: Collection[str] = ()) -> None:
        """Say that a reader keeps a view of the pins of some paths, all if none are given.

        To say the same again changes nothing; with other paths everything is new to the reader.
        """

    def changed_from(self, reader: str) -> int | None:
        """Give the lowest height at which a reader would read something else than it did.

        That is since it settled: a pin that came into a block, stands at another place or in no
        block any more; another sender, path, operation, encryption, version or content type of one;
        a text that turned out to be another one than claimed, or a stake that turned out at all.
        0 for a reader that never settled, None when nothing changed. What anybody can set (status,
        history, times, address) changes nothing.
        """

    def settle(self, reader: str) -> None:
        """Note that a reader has seen all that there is now.

        To be called in the transaction that stores what it made of it. A reader that reads up to a
        height only goes on from there by itself; it is told of what changed, not of what it left.
        """


class Facts(Protocol):
    """What was found out about pins with the help of others: texts, stakes.

    A fact only becomes better: `verified` is never replaced by another state, nor `mismatch` by
    `unavailable`.
    """

    def put_content(self, facts: Iterable[ContentFact]) -> list[str]:
        """Note facts; give the pins whose state is another than before."""

    def content(self, pin_id: str) -> ContentFact | None:
        """Give what is known of the text of a pin."""

    def content_states(self) -> dict[str, FactState]:
        """Give the state of every pin of which there is a fact."""

    def due_content(self, now: int, limit: int) -> list[ContentFact]:
        """Give the facts to be tried again at a time (Unix seconds), the longest due first."""

    def put_stakes(self, facts: Iterable[StakeFact]) -> list[str]:
        """Note facts; give the pins whose state is another than before."""

    def stake(self, pin_id: str) -> StakeFact | None:
        """Give what is known of the stake of a pin."""

    def stake_states(self) -> dict[str, FactState]:
        """Give the state of every pin of which there is a fact."""

    def due_stakes(self, now: int, limit: int) -> list[StakeFact]:
        """Give the facts to be tried again at a time (Unix seconds), the longest due first."""


class Store(Protocol):
    """All of it, in one transaction."""

    @property
    def pins(self) -> Pins:
        """The pins."""

    @property
    def marks(self) -> Marks:
        """Cursors and anchors."""

    @property
    def facts(self) -> Facts:
        """What was found out."""
