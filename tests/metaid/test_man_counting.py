"""What the client tells of itself and of the indexer's counts, for those that save requests."""

from collections.abc import Sequence

import pytest

from metaid.mans import HTML, NO_ROUTE, PATH, Indexer, client, pin_id, row, transport_of
from refold.kernel.dial import TransientError
from refold.kernel.errors import SourceError
from refold.metaid.man.overlap import Overlap, Place
from refold.metaid.man.rows import ListPage
from refold.metaid.man.walk import Walk
from refold.metaid.pin import Row


def test_requests_are_counted_by_kind() -> None:
    man = client(Indexer([[row(1, 9)], [row(2, 8)]], {pin_id(1): row(1, 9)}))
    assert (man.lists, man.polls) == (0, 0)
    man.page(PATH)
    man.heights()
    man.pin(pin_id(9))
    assert (man.lists, man.polls, transport_of(man).requests) == (1, 1, 3)
    list(Walk(man, PATH, heights=False))
    assert man.lists == 1 + 4  # two pages, and the end asked for twice


def test_requests_that_fail_are_counted_too() -> None:
    man = client(lambda _path, _query: (500, HTML), attempts=3)
    with pytest.raises(SourceError):
        man.page(PATH)
    with pytest.raises(SourceError):
        man.heights()
    assert (man.lists, man.polls) == (3, 3)


def test_counts_are_read() -> None:
    man = client(lambda _path, _query: {"pin": 7, "block": 3, "metaId": 2, "app": 0})
    assert man.counts() == {"pin": 7, "block": 3, "metaId": 2, "app": 0}
    assert client(lambda _path, _query: NO_ROUTE).counts() is None


@pytest.mark.parametrize("answer", [{}, {"pin": "many"}, [], (200, b""), (200, HTML), (502, HTML)])
def test_counts_of_another_shape_are_an_error(answer: object) -> None:
    with pytest.raises(TransientError):
        client(lambda _path, _query: answer).counts()


def test_each_page_is_shown_before_its_rows_are_asked_about() -> None:
    man = client(Indexer([[row(1, 9), row(2, 8)], [row(3, 7)]]))
    shown: list[str] = []

    def look(page: ListPage) -> None:
        shown.extend(entry.id for entry in page.rows)

    def holds(entry: Row) -> bool:
        assert entry.id in shown
        return False

    list(Walk(man, PATH, ahead=look, holds=holds, heights=False))
    assert shown == [pin_id(number) for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("heights", "reach", "ends"),
    [
        ([99, 80, 70], 0, True),  # all below the window
        ([105, 80, 70], 0, False),
        ([105, 80, 70], 71, True),  # comes well below it
        ([105, 80, 71], 71, False),
        ([70, 80, 105], 90, False),  # runs up
    ],
)
def test_a_page_that_reaches_far_below_the_window_ends_a_walk(
    heights: Sequence[int], reach: int, ends: bool
) -> None:
    places = {pin_id(number): Place(height, 0) for number, height in enumerate(heights)}
    overlap = Overlap(places.get, 100, reach=reach)
    rows = [Row(name, PATH, place.height or 0, 0) for name, place in places.items()]
    assert overlap.page(rows) == ends
