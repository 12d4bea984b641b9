"""A walk reads on while what it read before is stored; what the store does is told as before."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import pytest

from metaid.mans import Indexer, pin_id, row
from metaid.syncs import PATH, Node, opened, scripted
from refold.db import Database
from refold.metaid.store import Cursor, open_store
from refold.metaid.sync import Progress, Report, Sync, walker

PAGES, ROWS = 9, 3
ALL = PAGES * ROWS


@pytest.fixture(autouse=True)
def small_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walker, "STORED_PAGES", 2)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with opened(tmp_path) as database:
        pages = [
            [row(number * ROWS + index, 500 - number, index) for index in range(ROWS)]
            for number in range(PAGES)
        ]
        yield Node(database, [scripted(Indexer(pages))])


def round_telling(
    node: Node, tell: Callable[[Progress], object], *, stop: Event | None = None
) -> Report:
    """Take a round of which `tell` is told every page."""

    def on(progress: Progress) -> None:
        if progress.phase == "walk" and progress.pages:
            tell(progress)

    node.sync = Sync(node.database, node.sources, node.paths, settings=node.settings, tell=on)
    return node.round(stop=stop) if stop else node.round()


def cursor_of(node: Node) -> Cursor:
    with node.store() as store:
        (cursor,) = store.marks.cursors()
    return cursor


def test_pages_are_read_while_another_writer_is_waited_for(node: Node, tmp_path: Path) -> None:
    """The first transaction cannot begin before the third page was read."""
    with ExitStack() as other, opened(tmp_path) as database:

        def hold_and_let_go(progress: Progress) -> None:
            if progress.pages == 1:
                other.enter_context(database.write())
            elif progress.pages == 3:
                other.close()

        report = round_telling(node, hold_and_let_go)
    assert report.is_covered
    assert (report.pins.new, len(node.confirmed())) == (ALL, ALL)


def test_no_cursor_is_ahead_of_its_pins(node: Node) -> None:
    """What is held at any moment is what pages up to the cursor list."""
    seen: list[int] = []

    def compare(_progress: Progress) -> None:
        with node.database.read() as connection:
            store = open_store(connection)
            marks = store.marks.cursors()
            held = {pin.id for pin in store.pins.confirmed(paths=[PATH])}
        pages = int(marks[0].cursor.partition("&")[0]) if marks else 0
        assert held == {pin_id(number) for number in range(pages * ROWS)}
        seen.append(pages)

    assert round_telling(node, compare).pins.new == ALL
    assert len(seen) >= PAGES
    assert len(node.confirmed()) == ALL


def test_a_store_that_fails_ends_the_walk_and_loses_nothing(tmp_path: Path, node: Node) -> None:
    with (
        Database.open(f"sqlite:///{tmp_path / 'sync'}.db", durability="normal", wait=0) as hasty,
        ExitStack() as other,
    ):
        mine, node.database = node.database, hasty

        def hold(progress: Progress) -> None:
            if progress.pages == 3:
                other.enter_context(mine.write())

        report = round_telling(node, hold)
        (one,) = report.indexers
        assert one.code == "database-busy"
        assert not report.is_covered
        other.close()
        before = node.confirmed()
        assert report.pins.new == len(before) < ALL
        node.restart()
        assert node.round().pins.new == ALL - len(before)
        assert len(node.confirmed()) == ALL
        node.database = mine


def test_what_is_stored_counts_when_the_walk_breaks_off(node: Node) -> None:
    """A listener that fails ends the round; what was being stored then is there, and is whole."""

    class BrokenOffError(Exception):
        pass

    def break_off(progress: Progress) -> None:
        if progress.pages == 4:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        round_telling(node, break_off)
    pages = int(cursor_of(node).cursor.partition("&")[0])
    assert pages == 4
    assert set(node.confirmed()) == {pin_id(number) for number in range(pages * ROWS)}
    node.restart()
    assert node.round().pins.new == ALL - pages * ROWS


def test_a_stop_stores_what_was_read(node: Node) -> None:
    stop = Event()

    def stop_at_five(progress: Progress) -> None:
        if progress.pages == 5:
            stop.set()

    report = round_telling(node, stop_at_five, stop=stop)
    assert not report.is_covered
    assert report.pins.new == len(node.confirmed()) == 5 * ROWS
    assert cursor_of(node).cursor.startswith("5")
    node.restart()
    assert node.round().pins.new == ALL - 5 * ROWS
