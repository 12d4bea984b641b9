"""Rounds of a sync against the local chain: the store has what the chain has, for few requests."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from metaid.syncs import OTHER, PATH, Node, opened, source, truth_of
from metaid.worlds import World, populate, world
from refold.kernel.errors import InputError, UsageError
from refold.metaid.devnet.faults import KINDS
from refold.metaid.devnet.quirks import PROFILE_NAMES
from refold.metaid.store import Cursor, open_store
from refold.metaid.sync import Progress, Settings, Sync, walker


@pytest.fixture
def here() -> Iterator[World]:
    with world() as made:
        made.net.quirks("man-p2p", ignores_reorgs=False)
        made.ids = populate(made, blocks=5)
        yield made


@pytest.fixture
def node(here: World, tmp_path: Path) -> Iterator[Node]:
    with opened(tmp_path) as database:
        yield Node(database, [source(here)], (PATH, OTHER))


def matches(node: Node, here: World) -> bool:
    waiting = {pin.id for path in node.paths for pin in here.net.waiting(path)}
    return node.confirmed() == truth_of(here, node.paths) and waiting == {
        pin.id for pin in node.pending()
    }


@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_a_first_round_gives_the_chain(here: World, tmp_path: Path, profile: Any) -> None:
    here.net.quirks(profile)
    with opened(tmp_path, profile) as database:
        node = Node(database, [source(here, txs=True)], (PATH, OTHER))
        report = node.round()
        assert report.is_covered
        assert report.height == here.net.height
        truth = truth_of(here, node.paths)
        assert node.confirmed() == truth
        assert report.pins.new == len(truth)
        assert report.gaps == ()
        assert node.changed_from() == 0
        again = node.round()
        assert (again.pins.new, again.pins.moved, again.reorganised_from) == (0, 0, None)
        assert node.changed_from() is None


def test_new_pins_and_those_of_the_mempool_are_taken_up(node: Node, here: World) -> None:
    node.round()
    node.changed_from()
    waiting = [pin.id for pin in here.net.waiting(PATH)]
    assert {pin.id for pin in node.pending()} == set(waiting)
    here.net.mine()
    fresh = here.write(3, start=500)
    report = node.round()
    assert (report.pins.confirmed, report.pins.waiting_new) == (len(waiting), len(fresh))
    assert report.waiting == len(fresh)
    assert matches(node, here)
    assert node.changed_from() == here.net.height


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_a_replaced_block_is_taken_over_and_its_height_is_told(
    node: Node, here: World, order: str
) -> None:
    """No height shows it when the pins only change places (agentpedia spec §12)."""
    here.net.mine()
    node.round()
    node.changed_from()
    top = here.net.height
    done = here.net.reorg(2, order=order, blocks=3)  # type: ignore[arg-type]
    report = node.round()
    assert matches(node, here)
    assert report.reorganised_from is not None
    assert done.fork < report.reorganised_from <= top
    (one,) = report.indexers
    assert one.differs_from is not None
    assert done.fork < one.differs_from <= report.reorganised_from
    assert node.changed_from() == report.reorganised_from


def test_what_a_reorganisation_drops_waits_or_is_gone(node: Node, here: World) -> None:
    here.net.mine()
    node.round()
    top = here.net.height
    back, gone = [pin.id for pin in here.net.pins(PATH) if pin.height == top][-2:]
    here.net.reorg(1, drop=[back], fate="mempool")
    node.round()
    assert matches(node, here)
    here.net.reorg(2, drop=[gone], fate="gone")
    report = node.round()
    assert report.pins.waiting >= 1
    assert gone not in node.confirmed()
    assert matches(node, here)
    here.net.mine()
    node.round()
    assert matches(node, here)


def test_a_reorganisation_deeper_than_the_window_is_followed_as_far_as_it_goes(
    here: World, tmp_path: Path
) -> None:
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], window=2)
        here.net.mine()
        node.round()
        done = here.net.reorg(5, order="reversed")
        report = node.round()
        assert node.confirmed() == truth_of(here)
        assert report.reorganised_from is not None
        assert done.fork < report.reorganised_from < here.net.height - 3


def test_an_idle_day_costs_one_list_request_a_path(node: Node, here: World) -> None:
    """AC-E3: single digits for the seven paths of agentpedia; polls are counted apart."""
    here.net.mine()
    node.settings = Settings(size=100)
    node.restart()
    node.round()
    here.net.mine(144)
    node.round()
    here.net.mine(144)
    report = node.round()
    assert report.traffic.lists == len(node.paths)
    assert (report.traffic.details, report.traffic.polls) == (0, 2)
    assert report.height == here.net.height


def test_pins_listed_late_are_found_by_a_full_walk(tmp_path: Path) -> None:
    """Behind known pins no window shows them (agentpedia spec §12)."""
    with world() as here, opened(tmp_path) as database:
        populate(here)
        here.net.mine()
        here.net.quirks("man-p2p", lost_rows=30)
        node = Node(database, [source(here)], full_seconds=86_400, window=2)
        node.round()
        here.net.mine(30)
        lacking = set(truth_of(here)) - set(node.confirmed())
        assert lacking
        here.net.quirks(lost_rows=0)
        node.round()
        node.round(seconds=80_000)
        assert set(truth_of(here)) - set(node.confirmed())
        node.round(seconds=10_000)
        assert node.confirmed() == truth_of(here)


def test_a_full_walk_is_taken_when_it_is_asked_for(here: World, tmp_path: Path) -> None:
    here.net.mine()
    here.net.quirks(lost_rows=30)
    with opened(tmp_path) as database:
        node = Node(database, [source(here)])
        node.round()
        here.net.mine(30)
        here.net.quirks(lost_rows=0)
        node.round(full=True)
        assert node.confirmed() == truth_of(here)


@pytest.mark.parametrize("kind", KINDS)
def test_a_round_goes_on_where_a_page_failed(here: World, tmp_path: Path, kind: str) -> None:
    """And the front is looked at again, for there were new pins meanwhile."""
    with opened(tmp_path) as database:
        node = Node(database, [source(here)])
        seen = 0

        def fail_later(progress: Progress) -> None:
            nonlocal seen
            seen += progress.phase == "walk" and progress.pages > 0
            if seen == 4:
                here.net.faults(**{kind: 1.0}, only="/api/pin/path/list")

        node.sync = Sync(
            database, node.sources, node.paths, settings=node.settings, tell=fail_later
        )
        report = node.round()
        (one,) = report.indexers
        assert not one.is_covered
        assert one.paths[0].walks[-1].end.code
        assert report.height is None
        assert 0 < len(node.confirmed()) < len(truth_of(here))
        here.net.faults()
        here.net.mine()
        here.write(3, start=600)
        here.net.mine()
        node.restart()
        report = node.round()
        assert report.is_covered
        assert node.confirmed() == truth_of(here)
        walks = report.indexers[0].paths[0].walks
        assert len(walks) == 2
        assert walks[0].pages < len(truth_of(here)) / 7


def test_a_cursor_that_the_indexer_forgot_sends_back_to_the_front(node: Node, here: World) -> None:
    here.net.quirks("clean")
    with node.database.write() as connection:
        open_store(connection).marks.put_cursor(Cursor(here.url, PATH, "no cursor of ours"))
    report = node.round()
    assert report.is_covered
    assert node.confirmed() == truth_of(here, node.paths)


def test_a_stopped_round_goes_on_later(node: Node, here: World) -> None:
    stop = Event()

    def stop_soon(progress: Progress) -> None:
        if progress.pages == 2:
            stop.set()

    node.sync = Sync(
        node.database, node.sources, node.paths, settings=node.settings, tell=stop_soon
    )
    report = node.round(stop=stop)
    assert not report.is_covered
    assert report.height is None
    assert 0 < len(node.confirmed()) < len(truth_of(here))
    node.restart()
    assert node.round().is_covered
    assert node.confirmed() == truth_of(here, node.paths)


def test_a_round_that_was_stopped_between_two_paths_is_not_complete(
    node: Node, here: World
) -> None:
    """It says how far each path came, so nobody takes the one that was read for all of them."""
    stop = Event()

    def stop_behind_the_first(progress: Progress) -> None:
        if progress.phase == "checks":
            stop.set()

    node.paths = (PATH, OTHER)
    node.sync = Sync(
        node.database, node.sources, node.paths, settings=node.settings, tell=stop_behind_the_first
    )
    report = node.round(stop=stop)
    read, unread = report.indexers[0].paths
    assert (read.path, read.is_covered, read.height) == (PATH, True, here.net.height)
    assert (unread.path, unread.is_covered, unread.height) == (OTHER, False, None)
    assert not report.is_covered
    assert report.height is None
    node.restart()
    before = here.net.height
    assert node.round().height == before
    here.net.mine()
    stop.clear()
    node.sync = Sync(
        node.database, node.sources, node.paths, settings=node.settings, tell=stop_behind_the_first
    )
    assert node.round(stop=stop).height == before


def test_progress_is_told_page_by_page(node: Node, here: World) -> None:
    report = node.round()
    told: list[Progress] = node.told
    pages = [one for one in told if one.phase == "walk" and one.pages]
    walks = [walk for path in report.indexers[0].paths for walk in path.walks]
    assert len(pages) == sum(walk.pages for walk in walks)
    ends = {path: [one for one in pages if one.path == path][-1] for path in node.paths}
    assert {path: one.rows for path, one in ends.items()} == {w.path: w.rows for w in walks}
    assert ends[PATH].pins == len(here.truth())
    assert ends[PATH].total is not None
    requests = [one.requests for one in told]
    assert requests == sorted(requests)
    assert report.traffic.requests >= requests[-1]
    assert told[0].phase == "poll"


def test_requests_are_counted_by_kind(here: World, tmp_path: Path) -> None:
    before = here.transport.requests
    with opened(tmp_path) as database:
        node = Node(database, [source(here)])
        report = node.round()
    traffic = report.traffic
    assert traffic.requests == here.transport.requests - before
    assert traffic.lists == report.indexers[0].paths[0].walks[0].pages
    assert traffic.polls == 2
    assert traffic.details > 10
    assert traffic.bytes > 100_000


def test_pages_are_stored_together_and_every_pin_once(
    node: Node, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored does not depend on how many pages a transaction takes."""
    monkeypatch.setattr(walker, "STORED_PAGES", 1)
    node.round()
    assert matches(node, here)


def test_a_sync_without_indexer_or_path_is_refused(node: Node, here: World) -> None:
    with pytest.raises(UsageError, match="name each indexer once"):
        Sync(node.database, [], [PATH])
    with pytest.raises(UsageError, match="name each indexer once"):
        Sync(node.database, [source(here), source(here)], [PATH])
    with pytest.raises(UsageError, match="no path"):
        Sync(node.database, [source(here)], [])
    with pytest.raises(InputError, match="capital"):
        Sync(node.database, [source(here)], ["/protocols/Agentpedia/rev"])


def test_an_indexer_that_cannot_be_reached_is_reported(node: Node, here: World) -> None:
    here.net.faults(drop=1.0)
    report = node.round()
    (one,) = report.indexers
    assert (one.is_answering, one.code) == (False, "connection-lost")
    assert one.message
    assert (report.height, report.is_covered) == (None, False)
    here.net.faults()
    assert node.round().is_covered
    assert matches(node, here)


def test_an_indexer_that_says_no_height_is_read_all_the_same(here: World, tmp_path: Path) -> None:
    here.net.quirks(sync_height="null")
    here.net.mine()
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], window=2)
        report = node.round()
        assert (report.height, report.is_covered) == (None, True)
        assert node.confirmed() == truth_of(here)
        here.net.mine(20)
        here.write(3, start=700)
        here.net.mine()
        report = node.round()
        assert report.traffic.lists < 8
        assert node.confirmed() == truth_of(here)


def test_reading_is_of_the_asked_paths_alone(here: World, tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], [OTHER])
        node.round()
        assert node.confirmed() == truth_of(here, [OTHER])


def test_a_path_that_is_added_later_is_read_whole(here: World, tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], [OTHER])
        node.round()
        node.paths = (OTHER, PATH)
        node.restart()
        report = node.round()
        assert report.is_covered
        assert node.confirmed() == truth_of(here, node.paths)
