"""The stored view is that of the stored pins: after any changes, wherever it was broken off.

The pins of random streams are mined, mined again elsewhere, left out and listed late; texts turn
out to be others; processes end between two transactions and inside one. After each catch-up all
that is stored is compared with a fold from scratch over the pins as they stand.
"""

import dataclasses
import hashlib
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contract.databases import wipe
from reference.streams import MODES, stream
from refold.agentpedia import PRD, Fold, Options, read_document
from refold.agentpedia.event import PATHS
from refold.agentpedia.full import records
from refold.agentpedia.indexer import Indexer, indexing
from refold.agentpedia.indexer import indexer as module
from refold.agentpedia.intake import read_pin
from refold.agentpedia.store import SqlShown, open_views
from refold.agentpedia.store.search import SearchIndex
from refold.db import Database
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store import ContentFact, open_store

UNGATED = dataclasses.replace(PRD, gates=False)
"""The rules of `prd`; the ids of the streams are made up, and no gate would let them in."""


class DyingError(Exception):
    """Stands for the end of a process."""


def pin_id(name: str) -> str:
    """Give a pin id for a made-up name; names sort as their ids do not."""
    return hashlib.sha256(name.encode()).hexdigest() + "i0"


def pins_of(seed: int, mode: str) -> tuple[list[Pin], Options]:
    """Give a random stream as pins out of blocks."""
    events, options = stream(seed, mode)
    source = read_document(json.dumps({"events": events, "options": options}).encode())
    names = {event.pin: pin_id(event.pin) for event in source.events}

    def renamed(value: object) -> object:
        if isinstance(value, str):
            base, mark, rest = value.partition("::")
            return names.get(base, base) + mark + rest
        if isinstance(value, list):
            return [renamed(one) for one in value]
        if isinstance(value, dict):
            return {name: renamed(member) for name, member in value.items()}
        return value

    pins = [
        Pin(
            id=names[event.pin],
            path=event.path,
            height=event.height,
            tx_index=event.tx_index,
            sender=event.sender or "?",
            operation="create",
            encryption="0",
            version="1.0",
            content_type="application/json",
            timestamp=1_700_000_000 + event.height,
            body=msgspec.json.encode(renamed(event.payload)),
        )
        for event in source.events
        if event.path in PATHS
    ]
    plain = {"blocks_per_hour": source.options.blocks_per_hour}
    return pins, Options(**plain)  # type: ignore[arg-type]


def check(database: Database, options: Options, until: int | None) -> None:
    """Compare all that is stored with a fold from scratch."""
    with database.read() as connection:
        store, views = open_store(connection), open_views(connection)
        folded = views.marks.folded()
        if folded is None:
            assert store.pins.heights() is None
            return
        facts = store.facts.content_states()
        fold = Fold(UNGATED, msgspec.structs.replace(options, content_facts=facts))
        for pin in store.pins.confirmed(until=folded.height - 1, paths=PATHS):
            event, fault = read_pin(pin, gates=False)
            fold.apply(event, fault)
        fold.advance(folded.height)
        view = fold.view(folded.height)
        assert folded.digest == view.digest()
        assert folded.last == (fold.state.last if fold.state.seq else (-1, -1, ""))
        told = {(section, key): value for section, key, value in records(view.state, view.tip)}
        lines = {(line.section, line.key) for line in views.values.lines()}
        assert lines == set(told)
        for (section, key), value in told.items():
            assert views.values.value(section, key) == value
        assert not list(views.values.wrong())
        kept = views.marks.digest(folded.height - 1)
        assert kept is not None
        assert (kept.digest, kept.events) == (folded.digest, fold.state.seq)
        if until is not None:
            assert folded.height == until + 1
        assert not SqlShown(connection).is_behind()
        assert SearchIndex(connection).count() == len(view.state.keys)


class World:
    """A database with pins that come, go and move, and an indexer that may die."""

    def __init__(self, database: Database, seed: int, mode: str, choose: random.Random) -> None:
        self.database = database
        self.choose = choose
        self.pins, self.options = pins_of(seed, mode)
        self.coming = list(self.pins)
        self.stored: list[Pin] = []
        self.late: list[Pin] = []
        self.tip = self.pins[0].height or 0

    def mine(self) -> None:
        """Let some blocks be listed, perhaps without some of their pins."""
        count = self.choose.randint(1, 30)
        block, self.coming = self.coming[:count], self.coming[count:]
        while self.coming and block and self.coming[0].height == block[-1].height:
            block.append(self.coming.pop(0))
        listed = [pin for pin in block if self.choose.random() < 0.95]
        self.late += [pin for pin in block if pin not in listed]
        with self.database.write() as connection:
            open_store(connection).pins.write(listed, "a")
        self.stored += listed
        if block:
            self.tip = max(self.tip, block[-1].height or 0)

    def list_late(self) -> None:
        with self.database.write() as connection:
            open_store(connection).pins.write(self.late, "a")
        self.stored, self.late = self.stored + self.late, []

    def reorganise(self) -> None:
        """Replace the last blocks: pins stand elsewhere in them, or in none."""
        depth = self.choose.choice([1, 3, 6, 40, 400])
        moved = []
        for pin in self.stored:
            height = pin.height or 0
            if height > self.tip - depth and self.choose.random() < 0.5:
                back = self.choose.randint(0, 2)
                place = Place(max(0, height - back), self.choose.randint(0, 40))
                moved.append((pin.id, Place(None, 0) if self.choose.random() < 0.2 else place))
        with self.database.write() as connection:
            open_store(connection).pins.move(moved, "a")

    def learn(self) -> None:
        """Let texts turn out to be what they claim, or not."""
        some = self.choose.sample(self.stored, min(3, len(self.stored)))
        facts = [
            ContentFact(
                pin=pin.id,
                uri="metafile://" + pin.id,
                expected="00",
                state=self.choose.choice(["verified", "mismatch", "unavailable"]),
            )
            for pin in some
        ]
        with self.database.write() as connection:
            open_store(connection).facts.put_content(facts)

    def change(self) -> None:
        self.choose.choice([self.mine] * 5 + [self.list_late, self.reorganise, self.learn])()


@contextmanager
def dying(choose: random.Random) -> Iterator[None]:
    """End the process at the next commit of a view, perhaps."""
    if choose.random() < 0.8:
        yield
        return
    real = module.Indexer._fold

    def fold(self: Indexer, *args: object) -> object:
        real(self, *args)  # type: ignore[arg-type]
        raise DyingError

    with patch.object(module.Indexer, "_fold", fold), suppress(DyingError):
        yield


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings().max_examples // 8,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(st.integers(0, 5_000), st.sampled_from(MODES), st.randoms(use_true_random=False))
def test_the_view_is_that_of_the_pins(
    database: Database, seed: int, mode: str, choose: random.Random
) -> None:
    wipe(database)
    world = World(database, seed, mode, choose)
    limits: dict[str, Any] = {
        "BATCH_EVENTS": choose.choice([1, 25, 20_000]),
        "SNAPSHOT_EVENTS": choose.choice([1, 50, 1_000_000]),
        "SNAPSHOT_BLOCKS": choose.choice([1, 20]),
    }
    remembered = choose.choice([1, 5, 288])
    with (
        patch.multiple(module, **limits),
        patch.object(module, "REMEMBERED_BLOCKS", remembered),
        patch("refold.agentpedia.indexer.standing.REMEMBERED_BLOCKS", remembered),
    ):
        while world.coming:
            with indexing(database, UNGATED, world.options) as indexer:
                for _ in range(choose.randint(1, 4)):
                    for _ in range(choose.randint(1, 3)):
                        world.change()
                    with dying(choose):
                        indexer.catch_up(world.tip)
                        check(database, world.options, world.tip)
        with indexing(database, UNGATED, world.options) as indexer:
            indexer.catch_up(world.tip)
        check(database, world.options, world.tip)
