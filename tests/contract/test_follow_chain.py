"""A node that follows a chain: whatever happens to either, in the end its view is the chain's.

Random sequences of pins, blocks, reorganisations, faults and lies of one of two indexers, rounds
that are broken off, processes that die at a commit, and restarts. Then it is quiet, and after one
covered round the stored digest is that of a fold from scratch over the raw transactions of the
chain, at the tip and at each height below it whose digest is kept.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from threading import Event
from typing import Any, Self, get_args
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from contract.chainwiki import Bots, folded
from contract.databases import wipe
from contract.factworlds import file_server, man
from metaid.worlds import World, world
from refold.agentpedia.digest import LiveDigest
from refold.agentpedia.event import PATHS
from refold.agentpedia.facts import FactFinder
from refold.agentpedia.indexer import Follower, Turn, check_view, indexing
from refold.agentpedia.indexer import indexer as module
from refold.agentpedia.rules import PRD
from refold.agentpedia.sources import Sources
from refold.agentpedia.state import Options
from refold.agentpedia.store import open_views
from refold.db import Database
from refold.metaid.devnet.faults import KINDS
from refold.metaid.devnet.ordering import Order
from refold.metaid.devnet.quirks import PROFILE_NAMES
from refold.metaid.devnet.reorg import Fate
from refold.metaid.sync import Progress, Settings, Source, Sync

STEPS = (
    *("write",) * 5,
    *("mine",) * 4,
    *("round",) * 5,
    *("reorg",) * 3,
    *("die", "die", "stop", "restart", "faults", "faults", "hide", "lag", "calm", "silence"),
)
WEEK = 7 * 86_400
FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"


class Dying(BaseException):
    """Stands for the end of a process."""


@contextmanager
def dying(commits: int, *, before: bool) -> Iterator[None]:
    """Let the process end at its so-manyeth transaction, just before its commit or just after."""
    real, left = Database.write, commits

    @contextmanager
    def write(self: Database) -> Iterator[Connection]:
        nonlocal left
        left -= 1
        with real(self) as connection:
            yield connection
            if left == 0 and before:
                raise Dying
        if left == 0:
            raise Dying

    with patch.object(Database, "write", write):
        yield


class Node:
    """What a process keeps in memory: a sync of two indexers, a fold, a finder of facts."""

    def __init__(self, database: Database, worlds: list[World], options: Options) -> None:
        self.stack = ExitStack()
        self.database = database
        self.told: list[Progress] = []
        self.stop = Event()
        self.pages_left = 0
        self.sources = [Source(here.man(attempts=2)) for here in worlds]
        self.sync = Sync(
            database,
            self.sources,
            PATHS,
            settings=Settings(size=7, window=3),
            tell=self._tell,
        )
        self.indexer = self.stack.enter_context(indexing(database, PRD, options))
        here = worlds[0]
        sources = Sources(
            here.transport,
            mans=tuple(man(here.transport, one.url) for one in worlds),
            servers=(file_server(here.transport, f"{here.url}/metafile-indexer"),),
            txs=(here.txs(),),
        )
        self.follower = Follower(self.indexer, FactFinder(database, sources))

    def _tell(self, progress: Progress) -> None:
        self.pages_left -= progress.pages > 0
        if self.pages_left == 0:
            self.stop.set()

    def turn(self, now: int, *, full: bool = False, pages: int = -1) -> Turn:
        """Take a round and what follows; with `pages`, break it off after so many."""
        self.stop.clear()
        self.pages_left = pages
        report = self.sync.round(now, full=full, stop=self.stop)
        return self.follower.follow(report, now, stop=self.stop)


class Story:
    """Does what is drawn, and keeps a node."""

    def __init__(self, worlds: list[World], database: Database, random: Random) -> None:
        self.worlds = worlds
        self.nets = [here.net for here in worlds]
        self.database = database
        self.random = random
        self.now = 1_790_000_000
        for net in self.nets:
            net.quirks(random.choice(PROFILE_NAMES), ignores_reorgs=False)
        self.bots = Bots(self.nets, random)
        for _ in range(8):
            self.bots.write(5)
            self.bots.mine()
        self.options = Options(genesis_pin=self.bots.genesis)
        self.node = Node(database, worlds, self.options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.node.stack.close()

    def restart(self) -> None:
        """Begin again; perhaps without the genesis named, which is the first valid one anyway."""
        self.node.stack.close()
        self.options = Options(genesis_pin=self.random.choice([None, *[self.bots.genesis] * 3]))
        self.node = Node(self.database, self.worlds, self.options)

    def turn(self, **options: Any) -> Turn:
        self.now += 600
        return self.node.turn(self.now, **options)

    def step(self, name: str) -> None:
        random = self.random
        one = random.choice(self.nets)
        match name:
            case "write":
                self.bots.write(random.randint(2, 6))
            case "mine":
                self.bots.mine(random.choice([1, 1, 2, 9]))
            case "reorg":
                self.reorganise()
            case "faults":
                only = random.choice(["", "/api/pin/path", "/api/pin/", "/debug", "/open-api-mvc"])
                rates = {random.choice(KINDS): random.choice([0.3, 1.0])}
                one.faults(**rates, only=only, seed=str(random.randint(0, 99)))
            case "hide":
                one.quirks(lost_rows=random.randint(0, 40), metadata_only=random.randint(0, 40))
            case "lag":
                one.quirks(stuck=not one.quirks().stuck)
            case "silence":
                self.now += random.choice([3 * 3_600, WEEK])
            case "calm":
                self.calm()
            case "restart":
                self.restart()
            case "stop":
                self.turn(pages=random.randint(1, 12))
            case "die":
                self.die()
            case _:
                self.turn(full=random.randint(0, 5) == 0)

    def reorganise(self) -> None:
        random, net = self.random, self.nets[0]
        depth = random.randint(1, 8)
        tops = [pin.id for pin in net.pins() if (pin.height or 0) > net.height - depth]
        plan: dict[str, Any] = {
            "order": random.choice([None, *get_args(Order)]),
            "shift": random.randint(-1, 1),
            "drop": random.sample(tops, min(len(tops), random.randint(0, 2))),
            "fate": random.choice(get_args(Fate)),
        }
        for one in self.nets:
            one.reorg(depth, **plan)

    def die(self) -> None:
        """Let the process end in the middle of a round; another one begins."""
        try:
            with dying(self.random.randint(1, 25), before=self.random.choice([True, False])):
                self.turn()
        except Dying:
            pass
        self.restart()

    def calm(self) -> None:
        for net in self.nets:
            net.faults()
            net.quirks(lost_rows=0, metadata_only=0, stuck=False)


def kept_digests(database: Database, top: int) -> dict[int, str]:
    with database.read() as connection:
        marks = open_views(connection).marks
        kept = ((height, marks.digest(height)) for height in range(top - 12, top + 1))
        return {height: one.digest for height, one in kept if one is not None}


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=60 if FULL else 5,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(st.randoms(use_true_random=True), st.integers(12, 30))
def test_the_stored_view_is_that_of_the_chain(
    database: Database, random: Random, steps: int
) -> None:
    wipe(database)
    limits: dict[str, Any] = {
        "BATCH_EVENTS": random.choice([1, 25, 20_000]),
        "SNAPSHOT_EVENTS": random.choice([1, 50, 1_000_000]),
        "SNAPSHOT_BLOCKS": random.choice([1, 20]),
    }
    remembered = random.choice([1, 5, 288])
    with (
        patch.multiple(module, REMEMBERED_BLOCKS=remembered, **limits),
        patch("refold.agentpedia.indexer.standing.REMEMBERED_BLOCKS", remembered),
        world(retries=1) as first,
        world(retries=1) as second,
        Story([first, second], database, random) as story,
    ):
        for _ in range(steps):
            story.step(random.choice(STEPS))
        story.calm()
        story.now += WEEK  # what could not be had is due again
        turn = story.turn(full=True)
        net, options = first.net, story.bots.options()
        assert turn.report.is_covered
        assert turn.report.gaps == ()
        assert turn.view is not None
        assert turn.view.height == turn.report.height + 1 == net.height + 1  # type: ignore[operator]  # it is covered
        fold = folded(net, options)
        assert turn.view.digest == fold.view(net.height + 1).digest()
        assert turn.view.total == fold.state.seq
        kept = kept_digests(database, net.height)
        for height, digest in kept.items():
            assert digest == LiveDigest(folded(net, options, height + 1)).at(height + 1)
        checked = check_view(database, PRD, story.options)
        assert checked is not None
        assert checked.is_right
        assert not checked.is_behind
        again = story.turn()
        assert again.view is not None
        assert (again.view.events, again.view.rows, again.lag) == (0, 0, 0)
