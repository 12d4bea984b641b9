"""The known faults of the network's own puller, each absent (facts: agentpedia engines, metaid §6).

Named after what goes wrong there. Pitfalls of lists and bodies have their own tests with the client
(`test_man_pitfalls.py`); here they are read by whole rounds, into a store, again and again.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from metaid.mans import HTML, NO_PIN, ZERO_PIN, Answer, Indexer, one, page, pin_id, row, whole
from metaid.syncs import PATH, Node, opened, scripted, source, truth_of
from metaid.worlds import World, populate, world
from refold.metaid.man.overlap import Place
from refold.metaid.store import Cursor, open_store


@pytest.fixture
def here() -> Iterator[World]:
    with world() as made:
        made.net.quirks("man-p2p", ignores_reorgs=False)
        made.ids = populate(made, blocks=5)
        made.net.mine()
        yield made


@pytest.fixture
def node(here: World, tmp_path: Path) -> Iterator[Node]:
    with opened(tmp_path) as database:
        yield Node(database, [source(here)])


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Any]:
    """Give a function that makes a node of a scripted indexer."""
    with opened(tmp_path) as database:
        yield lambda script, **options: Node(database, [scripted(script)], **options)


# --- the network's own reading service -----------------------------------------------------------


def test_a_list_before_the_first_sync_takes_nothing_down(node: Node) -> None:
    assert node.confirmed() == {}
    assert node.pending() == []
    assert node.changed_from() == 0
    with node.store() as store:
        assert store.marks.cursors() == []
        assert store.pins.heights() is None


def test_a_cursor_past_the_end_crashes_nothing(told: Any) -> None:
    script = Indexer([[row(1, 90), row(2, 80)]])
    node = told(script)
    node.round()
    with node.database.write() as connection:
        open_store(connection).marks.put_cursor(
            Cursor("https://a.example.test", PATH, "9999&mvc&0", 400, is_complete=True, began=400)
        )
    script.pages = [[row(3, 450)], [row(1, 90), row(2, 80)]]
    report = node.round()
    assert report.is_covered
    assert set(node.confirmed()) == {pin_id(1), pin_id(2), pin_id(3)}


def test_a_pin_seen_in_the_mempool_is_taken_up_once_it_is_confirmed(
    node: Node, here: World
) -> None:
    """Pitfall 6."""
    node.round()
    fresh = here.write(6, start=800)
    node.round()
    assert {pin.id for pin in node.pending()} == set(fresh)
    here.net.mine()
    report = node.round()
    assert report.pins.confirmed == len(fresh)
    assert node.pending() == []
    assert node.confirmed() == truth_of(here)


def test_a_failed_page_leaves_no_gap(told: Any) -> None:
    pages = [[row(10 * n + k, 400 - 10 * n - k) for k in range(3)] for n in range(6)]
    script = Indexer(pages)
    node = told(script)

    def broken(_path: str, query: Mapping[str, str]) -> Answer | None:
        return (500, HTML) if query.get("cursor", "").startswith("3&") else None

    script.override = broken
    report = node.round()
    assert not report.is_covered
    assert len(node.confirmed()) == 9
    script.pages.insert(0, [row(99, 450)])  # the front goes on meanwhile
    script.override = lambda _path, _query: None
    report = node.round()
    assert report.is_covered
    assert len(node.confirmed()) == 19


def test_a_failed_body_leaves_no_gap_however_deep_it_is(told: Any) -> None:
    """Below every window, and although no list shows the pin again."""
    deep = row(5, 50, contentLength=2_000)
    script = Indexer([[row(n, 400 - n) for n in range(1, 4)], [deep]])
    node = told(script)
    report = node.round()
    (gap,) = report.gaps
    assert (gap.pin, gap.height, gap.tries) == (pin_id(5), 50, 1)
    script.pages = [[row(n, 400 - n) for n in range(1, 4)], []]
    assert [gap.tries for gap in node.round().gaps] == [2]
    script.details[pin_id(5)] = one(whole(deep, b"x" * 2_000))
    report = node.round()
    assert (report.gaps, report.pins.new) == ((), 1)
    assert node.confirmed()[pin_id(5)] == (50, 0, b"x" * 2_000)


def test_a_body_that_never_comes_is_asked_for_ever_less_often(told: Any) -> None:
    script = Indexer([[row(5, 400, contentLength=2_000), row(6, 399)]])
    node = told(script)
    asked = [node.round().traffic.details for _ in range(60)]
    assert asked[:3] == [1, 1, 1]
    assert sum(asked) < 20
    assert len(node.round().gaps) == 1
    assert node.round(seconds=86_400).traffic.details == 1


def test_a_saved_cursor_does_not_hide_new_pins(node: Node, here: World) -> None:
    """Pitfall 5: it leads towards older pins."""
    node.round()
    fresh = here.write(3, start=900)
    here.net.mine()
    node.restart()
    node.round()
    assert set(fresh) <= set(node.confirmed())


def test_equal_times_shuffle_nothing(node: Node, here: World) -> None:
    """The order is that of the chain, whatever the rows of a page are sorted by."""
    orders = []
    for sort in ("none", "seenTime", "timestamp"):
        here.net.quirks(inner_sort=sort)
        node.round(full=True)
        with node.store() as store:
            orders.append([pin.id for pin in store.pins.confirmed()])
    assert orders[0] == orders[1] == orders[2]
    assert orders[0] == [pin.id for pin in here.net.pins(PATH)]


# --- pitfalls 1 to 13, 24, 27, 28 of the facts ----------------------------------------------------


def test_01_pages_are_asked_for_by_the_hundred(here: World, tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], size=100)
        report = node.round()
    assert report.indexers[0].paths[0].walks[0].size == 100


def test_02_03_a_last_page_with_a_cursor_and_a_null_list_are_read_to_the_end(told: Any) -> None:
    node = told(Indexer([[row(1, 90)], None, [row(2, 80)]]))
    assert node.round().is_covered
    assert len(node.confirmed()) == 2


def test_04_a_stale_total_ends_nothing(told: Any) -> None:
    script = Indexer([[row(1, 90)], [row(2, 80)]])
    script.override = lambda path, query: (
        page([row(1, 90)], "1&mvc&0", total=1) if "list" in path and "cursor" not in query else None
    )
    node = told(script)
    node.round()
    assert len(node.confirmed()) == 2


def test_07_one_pin_under_two_keys_is_one(told: Any) -> None:
    script = Indexer([[row(1), row(2, 90)], [row(1, 91), row(3, 80)]])
    node = told(script)
    node.round()
    assert node.place(pin_id(1)) == Place(91, 0)
    assert node.pending() == []
    for _ in range(2):
        report = node.round()
        assert report.reorganised_from is None
        assert node.place(pin_id(1)) == Place(91, 0)


def test_08_equal_places_are_ordered_by_id(told: Any) -> None:
    node = told(Indexer([[row(1, 90, 3), row(2, 90, 3), row(3, 90, 3)]]))
    node.round()
    with node.store() as store:
        assert [pin.id for pin in store.pins.confirmed()] == sorted(map(pin_id, (1, 2, 3)))


def test_09_10_11_13_whole_bodies_whatever_lists_show(here: World, tmp_path: Path) -> None:
    for form in ("base64", "summary", "preview", "v1"):
        here.net.quirks("man-p2p", ignores_reorgs=False, list_body=form, cut_letters=True)
        with opened(tmp_path, form) as database:
            node = Node(database, [source(here)])
            assert node.round().gaps == ()
            assert node.confirmed() == truth_of(here)


def test_12_a_poorer_answer_replaces_no_body(node: Node, here: World) -> None:
    node.round()
    here.net.quirks(metadata_only=100, list_body="preview")
    node.round(full=True)
    assert node.confirmed() == truth_of(here)
    assert node.changed_from() == 0


@pytest.mark.parametrize("unknown", [ZERO_PIN, NO_PIN, (404, b'{"code":100,"message":"no"}')])
def test_24_all_answers_for_an_unknown_pin_say_that_it_is_gone(told: Any, unknown: Any) -> None:
    script = Indexer([[row(1, 495), row(2, 494)]])
    node = told(script)
    node.round()
    script.pages = [[row(2, 494)]]
    script.details[pin_id(1)] = unknown
    node.round()
    assert node.place(pin_id(1)) == Place(None, 0)
    assert set(node.confirmed()) == {pin_id(2)}
    script.pages = [[row(1, 496), row(2, 494)]]
    node.round()
    assert node.place(pin_id(1)) == Place(496, 0)


def test_27_an_indexer_that_lost_everything_takes_nothing_with_it(told: Any) -> None:
    """Empty lists, unknown details, its old height: it has lost its index, and not the chain."""
    script = Indexer([[row(1, 495), row(2, 494)]])
    node = told(script)
    node.round()
    script.pages = []
    report = node.round()
    assert set(node.confirmed()) == {pin_id(1), pin_id(2)}
    (one_path,) = report.indexers[0].paths
    assert {entry.code for entry in one_path.unchecked} == {"indexer-empty"}


def test_27_an_indexer_that_rescans_takes_nothing_with_it(told: Any) -> None:
    script = Indexer([[row(1, 495), row(2, 494), row(3, 100)]])
    node = told(script)
    node.round()
    node.changed_from()
    script.pages = [[row(3, 100)]]
    script.override = lambda path, _query: (
        {"mvc_sync_height": 120} if path == "/debug/sync" else None
    )
    report = node.round()
    assert report.indexers[0].fell_from == 500
    assert report.height == 120
    assert set(node.confirmed()) == {pin_id(1), pin_id(2), pin_id(3)}
    assert node.changed_from() is None
    script.pages = [[row(4, 498), row(1, 495), row(2, 494), row(3, 100)]]
    script.override = lambda _path, _query: None
    assert node.round().height == 500
    assert len(node.confirmed()) == 4


def test_27_an_indexer_that_answers_502_loses_nothing(node: Node, here: World) -> None:
    node.round()
    here.net.faults(error_502=1.0)
    report = node.round()
    assert (report.height, report.is_covered) == (None, False)
    assert node.confirmed() == truth_of(here)
    here.net.faults()
    assert node.round().is_covered


def test_28_blocks_that_were_skipped_come_when_it_reads_them(here: World, tmp_path: Path) -> None:
    here.net.quirks(skip_every=3)
    here.net.rescan()
    with opened(tmp_path) as database:
        node = Node(database, [source(here)])
        node.round()
        assert len(node.confirmed()) < len(truth_of(here))
        here.net.quirks(skip_every=0)
        here.net.rescan()
        node.round(full=True)
        assert node.confirmed() == truth_of(here)


def test_28_a_reorganisation_that_was_ignored_is_taken_over_after_a_rescan(
    node: Node, here: World
) -> None:
    here.net.quirks(ignores_reorgs=True)
    node.round()
    here.net.reorg(3, order="reversed")
    node.round()
    here.net.rescan()
    report = node.round()
    assert report.reorganised_from is not None
    assert node.confirmed() == truth_of(here)


# --- what is odd in rows --------------------------------------------------------------------------


def test_a_pin_that_no_store_could_keep_is_named_and_costs_no_other(told: Any) -> None:
    odd = row(1, 400) | {"txIndex": -5}
    node = told(Indexer([[odd, row(2, 399)]]))
    for code in ("pin-refused", "pin-unknown"):
        report = node.round()
        assert [(gap.pin, gap.code) for gap in report.gaps] == [(pin_id(1), code)]
        assert set(node.confirmed()) == {pin_id(2)}


def test_an_unreadable_entry_is_read_by_its_detail(told: Any) -> None:
    broken = row(1, 400) | {"contentBody": {}}
    node = told(Indexer([[broken, row(2, 399)]], {pin_id(1): one(whole(row(1, 400)))}))
    assert node.round().gaps == ()
    assert len(node.confirmed()) == 2


def test_doubtful_first_bodies_are_named(here: World, tmp_path: Path) -> None:
    """What was empty at first and modified twice may have been anything (`man.bodies`)."""
    net, (alice, bob, _) = here.net, here.keys
    empty = net.pin(alice, PATH, b"")
    net.mine()
    for text in (b"later", b"later"):
        net.pin(bob, f"@{empty}", text, "modify")
        net.mine()
    with opened(tmp_path) as database:
        report = Node(database, [source(here)]).round()
        assert empty in report.doubtful or empty in {gap.pin for gap in report.gaps}
    with opened(tmp_path, "proven") as database:
        node = Node(database, [source(here, txs=True)])
        report = node.round()
        assert (report.doubtful, report.gaps) == ((), ())
        assert node.confirmed()[empty][2] == b""
