"""Whatever happens to the chain and to the indexer: when it is quiet again, the store is the chain.

Random sequences of pins, blocks, reorganisations, faults, quirks, broken-off rounds and restarts.
Then faults stop, and after one full round the confirmed pins up to the report's height are exactly
those of the chain, with their places and bodies; and a reader that read only what it was told of
has the same.
"""

import os
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest

from metaid.syncs import WIKI, Node, source, truth_of
from metaid.worlds import BODIES, OTHER, PATH, World, populate, world
from refold.db import Database
from refold.metaid.devnet.faults import KINDS
from refold.metaid.devnet.reorg import Fate
from refold.metaid.pin import Pin
from refold.metaid.store import open_store
from refold.metaid.sync import Progress, Sync

STEPS = (
    *("write", "write", "mine", "mine", "round", "round", "round", "reorg", "reorg", "drop"),
    *("faults", "calm", "stop", "restart", "hide", "modify", "many"),
)


class Reader:
    """A consumer that reads again from where it is told, and nothing else."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.pins: list[Pin] = []

    def read(self) -> None:
        with self.node.database.write() as connection:
            store = open_store(connection)
            changed = store.marks.changed_from(WIKI)
            if changed is None:
                return
            below = [pin for pin in self.pins if pin.height is not None and pin.height < changed]
            above = [p for p in store.pins.confirmed() if p.height is None or p.height >= changed]
            self.pins = below + above
            store.marks.settle(WIKI)

    def seen(self) -> list[tuple[object, ...]]:
        return [(pin.id, pin.height, pin.tx_index, pin.sender, pin.body) for pin in self.pins]


class Story:
    """Does what is drawn."""

    def __init__(self, here: World, node: Node, random: Random) -> None:
        self.here, self.node, self.random = here, node, random
        self.reader = Reader(node)
        self.count = 1_000

    def step(self, name: str) -> None:
        net = self.here.net
        match name:
            case "write":
                with net.batch():
                    for _ in range(self.random.randint(1, 4)):
                        self.count += 1
                        body = BODIES[self.count % len(BODIES)] + b" %d" % self.count
                        path = OTHER if self.count % 5 == 0 else PATH
                        net.pin(self.here.keys[self.count % 3], path, body)
            case "mine":
                net.mine(order="shuffled")
            case "many":
                net.mine(9)
            case "reorg":
                order: Any = self.random.choice(["reversed", "shuffled", "txid", "arrival"])
                depth, shift = self.random.randint(1, 3), self.random.randint(-1, 1)
                net.reorg(depth, order=order, shift=shift)
            case "drop":
                self.drop()
            case "faults":
                rates = {self.random.choice(KINDS): 0.3}
                only = self.random.choice(["", "/api/pin/path", "/api/pin/", "/debug"])
                net.faults(**rates, only=only, seed=str(self.random.randint(0, 99)))
            case "calm":
                net.faults()
                net.quirks(lost_rows=0, metadata_only=0)
            case "hide":
                net.quirks(
                    lost_rows=self.random.randint(0, 40), metadata_only=self.random.randint(0, 40)
                )
            case "modify":
                pins = net.pins(PATH)
                target = pins[self.random.randint(0, len(pins) - 1)]
                net.pin(self.here.keys[0], f"@{target.id}", b"changed %d" % self.count, "modify")
            case "restart":
                self.node.restart()
            case "stop":
                self.stop()
            case _:
                self.node.round(full=self.random.randint(0, 5) == 0)
                self.reader.read()

    def drop(self) -> None:
        tops = [pin.id for pin in self.here.net.pins(PATH) if pin.height == self.here.net.height]
        fate: Fate = "gone" if self.random.randint(0, 1) else "mempool"
        self.here.net.reorg(1, drop=tops[:1], fate=fate)

    def stop(self) -> None:
        """Take a round that ends after some pages."""
        stop, left = Event(), self.random.randint(1, 6)

        def tell(progress: Progress) -> None:
            nonlocal left
            left -= progress.pages > 0
            if left <= 0:
                stop.set()

        node = self.node
        node.sync = Sync(node.database, node.sources, node.paths, settings=node.settings, tell=tell)
        node.round(stop=stop)
        node.restart()


SEEDS = 60 if os.environ.get("HYPOTHESIS_PROFILE") == "full" else 6


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("profile", ["man-p2p", "clean"])
def test_when_it_is_quiet_the_store_is_the_chain(profile: Any, seed: int, tmp_path: Path) -> None:
    random = Random(f"{profile} {seed}")
    url = f"sqlite:///{tmp_path}/sync.db"
    with world(retries=1) as here, Database.open(url, durability="normal") as database:
        here.net.quirks(profile, ignores_reorgs=False)
        here.ids = populate(here, blocks=3)
        sources = [source(here, txs=True, attempts=2)]
        node = Node(database, sources, (PATH, OTHER), window=3)
        story = Story(here, node, random)
        for _ in range(random.randint(8, 24)):
            story.step(random.choice(STEPS))
        story.step("calm")
        report = node.round(seconds=86_400, full=True)
        story.reader.read()
        assert report.is_covered
        assert report.gaps == ()
        assert report.height == here.net.height
        assert node.confirmed(until=report.height) == truth_of(here, node.paths)
        with node.store() as store:
            held = list(store.pins.confirmed())
        expected = [(p.id, p.height, p.tx_index, p.sender, p.body) for p in held]
        assert story.reader.seen() == expected
        again = node.round()
        assert (again.reorganised_from, again.pins.new) == (None, 0)
