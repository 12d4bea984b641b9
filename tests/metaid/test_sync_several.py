"""Several indexers: each is read by itself, disagreements are named, and nothing goes to and fro.

Twins are two chains that are made by the same steps, so that they hold the same transactions in the
same blocks; each has an indexer of its own.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metaid.mans import HTML, Answer, Indexer, page, pin_id, row
from metaid.syncs import HOUR, PATH, Node, opened, scripted, source, truth_of
from metaid.worlds import World, populate, world
from refold.metaid.man.overlap import Place
from refold.metaid.sync import Report
from refold.metaid.sync.report import Disagreement

A, B, C = (f"https://{name}.example.test" for name in "abc")


class Twins:
    """Two worlds of one chain."""

    def __init__(self, first: World, second: World) -> None:
        self.first, self.second = first, second

    def both(self, do: Callable[[World], Any]) -> None:
        do(self.first)
        do(self.second)


@pytest.fixture
def twins() -> Iterator[Twins]:
    with world() as first, world() as second:
        made = Twins(first, second)
        for here in (first, second):
            here.net.quirks("man-p2p", ignores_reorgs=False)
            here.ids = populate(here, blocks=5)
            here.net.mine()
        assert truth_of(first) == truth_of(second)
        yield made


@pytest.fixture
def node(twins: Twins, tmp_path: Path) -> Iterator[Node]:
    with opened(tmp_path) as database:
        yield Node(database, [source(twins.first), source(twins.second)])


def about(report: Report) -> set[tuple[str, tuple[str, ...]]]:
    return {(one.pin, one.about) for one in report.disagreements}


def test_two_that_agree_are_one(node: Node, twins: Twins) -> None:
    report = node.round()
    assert report.height == twins.first.net.height
    assert node.confirmed() == truth_of(twins.first)
    assert report.disagreements == ()
    node.changed_from()
    again = node.round()
    assert (again.disagreements, again.reorganised_from) == ((), None)
    assert node.changed_from() is None


@pytest.mark.parametrize("order", ["late first", "late last"])
def test_one_that_lags_moves_nothing_to_and_fro(twins: Twins, tmp_path: Path, order: str) -> None:
    late, other = twins.second, twins.first
    sources = [source(late), source(other)]
    with opened(tmp_path) as database:
        node = Node(database, sources if order == "late first" else sources[::-1])
        node.round()
        node.changed_from()
        late.net.quirks(stuck=True)
        before = late.net.height
        twins.both(lambda here: here.write(4, start=300))
        twins.both(lambda here: here.net.mine(2))
        report = node.round()
        assert report.height == before
        assert node.confirmed() == truth_of(other)
        assert report.disagreements == ()
        assert node.changed_from() == before + 1
        for _ in range(3):
            again = node.round()
            assert (again.pins.moved, again.pins.waiting, again.pins.confirmed) == (0, 0, 0)
            assert again.disagreements == ()
            assert node.changed_from() is None
        late.net.quirks(stuck=False)
        assert node.round().height == other.net.height
        assert node.changed_from() is None


def test_who_never_hears_of_a_reorganisation_is_outvoted_only_when_he_comes_last(
    twins: Twins, tmp_path: Path
) -> None:
    stubborn, other = twins.second, twins.first
    for name, sources, right in (
        ("last", [source(other), source(stubborn)], True),
        ("first", [source(stubborn), source(other)], False),
    ):
        with opened(tmp_path, name) as database:
            node = Node(database, sources)
            node.round()
            if name == "last":
                stubborn.net.quirks(ignores_reorgs=True)
                twins.both(lambda here: here.net.reorg(2, order="reversed"))
            node.changed_from()
            for number in range(3):
                report = node.round()
                if right:
                    assert node.confirmed() == truth_of(other)
                moved = report.reorganised_from is not None
                assert moved == (right and number == 0)
                assert {one.about for one in report.disagreements} == {("place",)}
                assert {one.indexer for one in report.disagreements} == {node.sources[1].name}
                assert {one.against for one in report.disagreements} == {node.sources[0].name}
                assert (node.changed_from() is None) == (not moved)


def test_one_that_is_down_holds_up_neither_the_others_nor_the_height(
    node: Node, twins: Twins
) -> None:
    node.round()
    twins.first.net.faults(drop=1.0)
    twins.both(lambda here: here.write(3, start=400))
    twins.both(lambda here: here.net.mine())
    report = node.round()
    assert [one.is_answering for one in report.indexers] == [False, True]
    assert report.height == twins.second.net.height
    assert node.confirmed() == truth_of(twins.second)


def test_pins_that_one_left_out_come_from_the_other(twins: Twins, tmp_path: Path) -> None:
    """Pitfalls 28 and 30: no client of one indexer can see what that one left out."""
    here = twins.first
    here.net.quirks(skip_every=3)
    here.net.rescan()
    with opened(tmp_path) as database:
        node = Node(database, [source(here), source(twins.second)])
        report = node.round()
        assert node.confirmed() == truth_of(twins.second)
        assert report.disagreements == ()  # the first was read before anybody could know
        node.changed_from()
        report = node.round(full=True)
        skipped = {name for name, (h, _, _) in truth_of(here).items() if h and h % 3 == 0}
        assert skipped
        assert about(report) == {(name, ("unlisted",)) for name in skipped}
        assert {one.indexer for one in report.disagreements} == {here.url}
        assert node.changed_from() is None
        assert node.confirmed() == truth_of(twins.second)


# --- what liars say ------------------------------------------------------------------------------


def pages(*rows: dict[str, Any]) -> Indexer:
    return Indexer([list(rows)])


def at(height: int) -> Callable[[str, Any], Answer | None]:
    def answer(path: str, _query: object) -> Answer | None:
        return {"mvc_sync_height": height} if path == "/debug/sync" else None

    return answer


def liars(
    tmp_path: Path, *scripts: Indexer, rounds: int = 1, **options: Any
) -> tuple[Node, Report]:
    sources = [scripted(script, name) for script, name in zip(scripts, (A, B, C), strict=False)]
    with opened(tmp_path) as database:
        node = Node(database, sources, **options)
        reports = [node.round() for _ in range(rounds)]
        node.told = [node.confirmed(), node.place(pin_id(1)), node.changed_from()]
        return node, reports[-1]


@pytest.mark.parametrize(
    ("lie", "name"),
    [
        ({"globalMetaId": "idq1" + "q" * 38}, "sender"),
        ({"contentSummary": "body X", "contentLength": 6}, "body"),
        ({"operation": "modify"}, "operation"),
        ({"version": "9.9"}, "version"),
        ({"contentType": "text/html"}, "content_type"),
    ],
)
def test_copies_that_differ_are_named_and_the_first_stays(
    tmp_path: Path, lie: dict[str, Any], name: str
) -> None:
    true = row(1, 480, version="1.0", contentType="application/json")
    node, report = liars(tmp_path, pages(true), pages(true | lie), rounds=2)
    assert report.disagreements == (
        Disagreement(pin_id(1), PATH, B, A, (name,), Place(480, 0), Place(480, 0)),
    )
    assert node.told[0] == {pin_id(1): (480, 0, b"body 1")}


def test_another_place_is_named_and_that_of_the_first_stays(tmp_path: Path) -> None:
    true, false = row(1, 480, 3), row(1, 481, 5)
    node, report = liars(tmp_path, pages(true), pages(false), rounds=3)
    assert report.disagreements == (
        Disagreement(pin_id(1), PATH, B, A, ("place",), Place(481, 5), Place(480, 3)),
    )
    assert node.told[1] == Place(480, 3)
    assert report.pins.moved == 0


def test_a_pin_of_one_alone_is_held_and_named(tmp_path: Path) -> None:
    both = row(2, 490)
    node, report = liars(tmp_path, pages(row(1, 495), both), pages(both), rounds=2)
    assert report.disagreements == (
        Disagreement(pin_id(1), PATH, B, A, ("unlisted",), None, Place(495, 0)),
    )
    assert node.told[1] == Place(495, 0)


def test_who_has_not_come_to_a_block_yet_is_not_said_to_lack_its_pins(tmp_path: Path) -> None:
    low = pages(row(2, 470))
    low.override = at(496)
    _, report = liars(tmp_path, pages(row(1, 498), row(2, 470)), low)
    assert report.disagreements == ()
    assert report.height == 496


def test_the_first_takes_a_pin_over_that_the_second_placed_before(tmp_path: Path) -> None:
    first, second = pages(row(2, 470)), pages(row(1, 481, 5), row(2, 470))
    with opened(tmp_path) as database:
        node = Node(database, [scripted(first, A), scripted(second, B)])
        node.round()
        assert node.place(pin_id(1)) == Place(481, 5)
        first.pages = [[row(1, 480, 3), row(2, 470)]]
        for _ in range(3):
            report = node.round()
            assert node.place(pin_id(1)) == Place(480, 3)
            assert [one.indexer for one in report.disagreements] == [B]
        with node.store() as store:
            assert len(store.pins.moves(pin_id(1))) == 1


def test_what_the_first_takes_back_the_second_keeps_in_its_block(tmp_path: Path) -> None:
    """Once, and not in every round again."""
    first, second = pages(row(1, 480), row(2, 470)), pages(row(1, 480), row(2, 470))
    with opened(tmp_path) as database:
        node = Node(database, [scripted(first, A), scripted(second, B)])
        node.round()
        first.pages = [[row(2, 470)]]
        for _ in range(3):
            node.round()
            assert node.place(pin_id(1)) == Place(480, 0)
        with node.store() as store:
            assert len(store.pins.moves(pin_id(1))) <= 2


def test_the_word_of_one_that_is_gone_for_hours_counts_no_more(tmp_path: Path) -> None:
    first, second = pages(row(1, 480, 3)), pages(row(1, 481, 5))
    with opened(tmp_path) as database:
        node = Node(database, [scripted(first, A), scripted(second, B)])
        node.round()
        first.override = lambda _path, _query: (500, HTML)
        node.round()
        assert node.place(pin_id(1)) == Place(480, 3)
        report = node.round(seconds=3 * HOUR)
        assert node.place(pin_id(1)) == Place(481, 5)
        assert [one.has_say for one in report.indexers] == [False, True]
        first.override = lambda _path, _query: None
        node.round()
        assert node.place(pin_id(1)) == Place(480, 3)


def test_one_far_behind_has_no_say_after_some_hours(tmp_path: Path) -> None:
    first, second = pages(row(1, 480, 3)), pages(row(1, 481, 5))
    with opened(tmp_path) as database:
        node = Node(database, [scripted(first, A), scripted(second, B)])
        node.round()
        second.override = at(600)
        assert node.round().height == 500
        assert node.place(pin_id(1)) == Place(480, 3)
        report = node.round(seconds=3 * HOUR)
        assert node.place(pin_id(1)) == Place(481, 5)
        assert report.height == 600
        before = node.place(pin_id(1))
        for _ in range(3):
            node.round()
            assert node.place(pin_id(1)) == before


def test_what_one_cannot_read_the_other_gives(tmp_path: Path) -> None:
    cut = row(1, 480, contentLength=99)
    node, report = liars(tmp_path, pages(cut), pages(row(1, 480)))
    assert node.told[1] == Place(480, 0)
    assert report.gaps == ()


def test_an_empty_list_of_one_takes_nothing_from_the_other(tmp_path: Path) -> None:
    empty = Indexer([])
    empty.override = lambda path, _query: page(None) if "list" in path else None
    node, report = liars(tmp_path, empty, pages(row(1, 480)), rounds=2)
    assert node.told[1] == Place(480, 0)
    assert report.is_covered
