"""A sync that goes on: when it looks, when it takes a round, and how it ends. Time is made up."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from metaid.syncs import PATH, Node, opened, source, truth_of
from metaid.worlds import OTHER, World, populate, world
from refold.kernel.errors import SourceError
from refold.metaid.devnet.store import put_meta
from refold.metaid.sync import Done, Failed, Happening, Looked, Loop, Pace, Waits
from refold.metaid.sync.pace import DAY

PACE = Pace(seconds=60, max_seconds=600, max_error_seconds=1_800)


class Life:
    """A loop in a world whose time goes on only while it waits; `acts` happen at their times."""

    def __init__(self, node: Node, pace: Pace = PACE) -> None:
        self.now = float(node.now)
        self.begin = self.now
        self.told: list[tuple[float, Happening]] = []
        self.acts: list[tuple[float, Callable[[], object]]] = []
        self.stop = Event()
        self.loop = Loop(
            node.sync,
            tell=self.tell,
            stop=self.stop,
            pace=pace,
            clock=lambda: self.now,
            wait=self.wait,
        )

    def tell(self, what: Happening) -> None:
        self.told.append((self.now - self.begin, what))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        while self.acts and self.acts[0][0] <= self.now - self.begin:
            self.acts.pop(0)[1]()

    def run(self, seconds: float) -> None:
        self.acts.append((self.now - self.begin + seconds, self.stop.set))
        self.acts.sort(key=lambda act: act[0])
        self.loop.run()
        self.stop.clear()

    def rounds(self) -> list[Any]:
        return [what.report for _, what in self.told if isinstance(what, Done)]

    def reasons(self) -> list[str]:
        return [what.why for _, what in self.told if isinstance(what, Looked) and what.why]

    def pauses(self) -> list[float]:
        return [what.seconds for _, what in self.told if isinstance(what, Waits)]


@pytest.fixture
def here() -> Iterator[World]:
    with world() as made:
        made.net.quirks("man-p2p", ignores_reorgs=False)
        made.ids = populate(made, blocks=3)
        made.net.mine()
        yield made


@pytest.fixture
def node(here: World, tmp_path: Path) -> Iterator[Node]:
    with opened(tmp_path) as database:
        yield Node(database, [source(here)], (PATH, OTHER), size=100, window=1)


def test_an_idle_day_is_polls_and_one_look(node: Node, here: World) -> None:
    """AC-E3: single digits of list requests; here two paths, one look at the end of the day."""
    life = Life(node)
    life.run(600)
    life.told.clear()
    for number in range(144):
        life.acts.append((number * 600.0 + 1_200, here.net.mine))
    life.run(DAY)
    assert life.reasons() == ["daily"]
    assert sum(report.traffic.lists for report in life.rounds()) <= 2 * len(node.paths)
    assert max(life.pauses()) == 600


def test_what_is_written_is_taken_up_soon(node: Node, here: World) -> None:
    life = Life(node)

    def write() -> None:
        here.write(3, start=700)
        here.net.mine()

    life.acts.append((3_000.0, write))
    life.run(4_000)
    assert life.reasons() == ["first", "count"]
    assert node.confirmed() == truth_of(here, node.paths)
    assert life.loop.last == life.rounds()[-1]


def test_waiting_pins_are_looked_for_at_each_block(node: Node, here: World) -> None:
    here.write(3, start=700)
    life = Life(node)
    life.run(100)
    here.net.mine()
    life.run(700)
    assert "waiting" in life.reasons() or "count" in life.reasons()
    assert node.pending() == []


def test_a_height_that_falls_is_looked_at(node: Node, here: World) -> None:
    life = Life(node)
    life.run(100)
    here.net.quirks(stuck=True)
    with here.net.transaction() as connection:
        put_meta(connection, "index_height", "1001")
    life.run(200)
    assert life.reasons() == ["first", "height-fell"]


def test_pauses_grow_while_nothing_comes_and_shrink_when_something_does(
    node: Node, here: World
) -> None:
    life = Life(node)
    life.run(5_000)
    pauses = life.pauses()
    assert pauses[:5] == [60, 120, 240, 480, 600]
    life.told.clear()
    here.write(1, start=700)
    here.net.mine()
    life.run(700)
    assert 60 in life.pauses()


def test_errors_are_told_and_waited_out_with_growing_pauses(node: Node, here: World) -> None:
    here.net.faults(drop=1.0)
    life = Life(node)
    life.run(4_000)
    assert life.pauses()[:5] == [120, 240, 480, 960, 1_800]
    assert all(not report.is_covered for report in life.rounds())
    here.net.faults()
    life.told.clear()
    life.run(2_000)
    assert life.rounds()[0].is_covered
    assert life.reasons()[0] in {"answers-again", "unfinished"}
    assert life.pauses()[0] == 60
    assert node.confirmed() == truth_of(here, node.paths)


def test_a_database_that_fails_once_does_not_end_it(
    node: Node, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = node.sync.round
    calls = 0

    def fail_first(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise SourceError("database-busy", "another one writes", "wait")
        return taken(*args, **options)

    monkeypatch.setattr(node.sync, "round", fail_first)
    life = Life(node)
    life.run(1_000)
    assert [what.code for _, what in life.told if isinstance(what, Failed)] == ["database-busy"]
    assert node.confirmed() == truth_of(here, node.paths)


def test_a_budget_of_list_requests_is_kept_and_given_again_the_next_day(
    node: Node, here: World
) -> None:
    pace = Pace(seconds=3_600, max_seconds=3_600, lists_a_day=20)
    life = Life(node, pace)
    for number in range(48):

        def write(start: int = 2_000 + number) -> None:
            here.write(1, start=start)
            here.net.mine()

        life.acts.append((number * 3_600.0, write))
    life.run(2 * DAY)
    over = [what for _, what in life.told if isinstance(what, Looked) and what.is_over_budget]
    assert over
    lists = [(at, what.report.traffic.lists) for at, what in life.told if isinstance(what, Done)]
    for start, _ in lists:
        within = [count for at, count in lists if start <= at < start + DAY]
        assert sum(within[:-1]) < 20
    assert lists[-1][0] >= DAY


def test_it_stops_between_pages_when_it_is_told_to(here: World, tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], (PATH,), size=3)
        life = Life(node)
        pages = 0

        def count(progress: Any) -> None:
            nonlocal pages
            pages += progress.pages > 0
            if pages == 2:
                life.stop.set()

        node.sync._tell = count
        life.loop.run()
        assert pages == 2
        assert not life.rounds()[0].is_covered
        assert life.pauses() == []
