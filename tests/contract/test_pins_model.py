"""Whatever is done in whatever order, the store holds what the slow and obvious model holds."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from contract.databases import wipe
from contract.model import NOWHERE, Model
from contract.samples import REV, REVIEW, A, B, pin, pin_id
from refold.db import Database
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store import (
    NO_RIVALS,
    Moved,
    Position,
    Rivals,
    Store,
    Written,
    open_store,
    reading,
)

IDS = [pin_id(number) for number in range(4)]
"""Few pins and few places, so that they meet."""


@dataclass(frozen=True)
class Write:
    """Copies written; with `fails` the transaction is undone afterwards."""

    copies: list[Pin]
    source: str
    rivals: Rivals
    fails: bool


@dataclass(frozen=True)
class Move:
    """Words on places."""

    words: list[tuple[str, Place]]
    source: str
    rivals: Rivals


@dataclass(frozen=True)
class Vanish:
    """Pins that nobody knows any more."""

    ids: list[str]
    source: str
    rivals: Rivals


@dataclass(frozen=True)
class RollBack:
    """All above a height out of their blocks."""

    height: int
    source: str


@dataclass(frozen=True)
class Reopen:
    """The database closed and opened."""


@dataclass(frozen=True)
class Settle:
    """A reader that has seen everything, or that reads other paths."""

    reader: str
    paths: tuple[str, ...] | None


Step = Write | Move | Vanish | RollBack | Reopen | Settle

ids = st.sampled_from(IDS)
sources = st.sampled_from([A, A, B])
C = "https://c.example.test"
rivals = st.sampled_from(
    [
        *(NO_RIVALS, NO_RIVALS, Rivals(above=frozenset([A, C])), Rivals(below=frozenset([A, C]))),
        *(Rivals(frozenset([A]), frozenset([B])), Rivals(frozenset([C]), frozenset([A, B]))),
    ]
)
READERS = ("all", "some", "none")
settles = st.builds(
    Settle,
    st.sampled_from(READERS),
    st.sampled_from([None, None, (), (REV,), (REVIEW,), (REV, REVIEW)]),
)
heights = st.integers(0, 4)
places = st.builds(Place, heights, st.integers(0, 2)) | st.just(NOWHERE)

RARE: list[tuple[str, object]] = [
    ("path", REVIEW),
    ("sender", "idq1x"),
    ("body", b"another"),
    ("version", ""),
    ("content_type", None),
    ("address", ""),
    ("status", 1),
    ("timestamp", 1),
    ("history", (IDS[0], IDS[1])),
    ("target", IDS[3]),
]
"""What a copy may have instead of what all others have."""


@st.composite
def copies(draw: st.DrawFn) -> Pin:
    """Give a copy of one of the pins, perhaps poorer than others, or with something else in it."""
    place = draw(places)
    rare = dict(draw(st.lists(st.sampled_from(RARE), max_size=2) | st.just([])))
    plain = pin(draw(st.sampled_from(range(len(IDS)))), place.height, place.tx_index)
    return msgspec.structs.replace(plain, **rare)


steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(Write, st.lists(copies(), max_size=6), sources, rivals, st.just(value=False)),
    st.builds(Write, st.lists(copies(), max_size=6), sources, rivals, st.booleans()),
    st.builds(Move, st.lists(st.tuples(ids, places), max_size=3), sources, rivals),
    st.builds(Vanish, st.lists(ids, max_size=2), sources, rivals),
    st.builds(RollBack, heights, sources),
    st.builds(Reopen),
    settles,
)


class UndoneError(Exception):
    """What undoes a transaction."""


def take(database: Database, model: Model, step: Step) -> Model:
    """Do one thing to both; give the model as it is then."""
    before = model.copied()
    fails = isinstance(step, Write) and step.fails
    with suppress(UndoneError), database.write() as connection:
        written = apply_to_store(open_store(connection), step)
        apply_to_model(model, step)
        check_words(written, before, model)
        if fails:
            raise UndoneError
    return before if fails else model


def apply_to_store(store: Store, step: Step) -> list[Written]:
    match step:
        case Write():
            return store.pins.write(step.copies, step.source, step.rivals)
        case Move():
            return store.pins.move(step.words, step.source, step.rivals)
        case Vanish():
            return store.pins.vanish(step.ids, step.source, step.rivals)
        case Settle() if step.paths is None:
            store.marks.settle(step.reader)
        case Settle():
            store.marks.read_by(step.reader, step.paths or ())
        case RollBack():
            above = sum(1 for found in store.pins.confirmed() if (found.height or 0) > step.height)
            assert store.pins.roll_back(step.height, step.source) == above
    return []


def apply_to_model(model: Model, step: Step) -> None:
    match step:
        case Write():
            for copy in step.copies:
                model.write(copy, step.source, step.rivals)
        case Move():
            for pin_id_, place in step.words:
                model.move(pin_id_, place, step.source, step.rivals)
        case Vanish():
            for pin_id_ in step.ids:
                model.vanish(pin_id_, step.source, step.rivals)
        case Settle() if step.paths is None:
            model.settle(step.reader)
        case Settle():
            model.read_by(step.reader, *(step.paths or ()))
        case RollBack():
            model.roll_back(step.height, step.source)


def check_words(written: Sequence[Written], before: Model, after: Model) -> None:
    """What is said of a pin begins and ends where it stood and stands."""
    for pin_id_ in IDS:
        words = [word for word in written if word.id == pin_id_]
        if words:
            assert words[0].before == before.place(pin_id_)
            assert words[-1].after == after.place(pin_id_)
        for word, following in pairwise(words):
            assert word.after == following.before
    for word in written:
        event(word.outcome)


def compare(store: Store, model: Model) -> None:
    """Compare all that can be read."""
    confirmed = model.confirmed()
    assert list(store.pins.confirmed()) == confirmed
    for number, last in enumerate(confirmed):
        after = Position(last.height or 0, last.tx_index, last.id)
        assert list(store.pins.confirmed(after)) == confirmed[number + 1 :]
    assert list(store.pins.pending()) == model.pending()
    assert store.pins.among(IDS) == set(model.blocks)
    for pin_id_ in IDS:
        assert store.pins.place(pin_id_) == model.place(pin_id_)
        moves = model.moves.get(pin_id_, [])
        assert store.pins.moves(pin_id_) == [Moved(*step) for step in moves]
        copy = model.blocks.get(pin_id_) or model.mempool.get(pin_id_)
        held = store.pins.read(pin_id_)
        assert (held and (held.pin, held.source)) == (copy and (copy.pin, copy.source))
    standings = store.pins.standing(IDS)
    assert set(standings) == {pin_id_ for pin_id_ in IDS if model.place(pin_id_) is not None}
    for pin_id_, standing in standings.items():
        assert standing.place == model.place(pin_id_)
        held_copy = model.blocks.get(pin_id_) or model.mempool[pin_id_]
        owner = held_copy.owner or held_copy.source
        assert (standing.placed_by, standing.source) == (owner, held_copy.source)
        assert standing.size == len(held_copy.pin.body)
    for reader in READERS:
        assert store.marks.changed_from(reader) == model.readers.get(reader, ((), 0))[1]
    conflicts = [(met.copy.id, met.source, met.kept_source) for met in store.pins.conflicts()]
    assert conflicts == [(told[0], told[1], kept) for told, kept, _ in model.conflicts]
    differs = [frozenset(met.differs) for met in store.pins.conflicts()]
    assert differs == [frozenset(names) for _, _, names in model.conflicts]
    counts = store.pins.counts()
    assert sum(counts.confirmed.values()) == len(confirmed)
    assert counts.mempool == len(model.mempool)
    assert counts.vanished == sum(copy.vanished for copy in model.blocks.values())
    assert counts.unconfirmed + counts.mempool == len(model.pending())


# One database for all examples: each begins by emptying it. A third of the usual number of them,
# as each opens it several times.
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings().max_examples // 3,
)
@given(taken=st.lists(steps, max_size=12))
def test_the_store_is_the_model(database_url: str, taken: list[Step]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reading, "CHUNK_ROWS", 2)
        patched.setattr(reading, "BATCH", 3)
        model = Model()
        database = Database.open(database_url, durability="normal")
        try:
            wipe(database)
            for step in taken:
                if isinstance(step, Reopen):
                    database.close()
                    database = Database.open(database_url, durability="normal")
                else:
                    model = take(database, model, step)
            with database.write() as connection:
                store = open_store(connection)
                compare(store, model)
                store.pins.prune_bodies()
                compare(store, model)
        finally:
            database.close()
