"""Which units are the pages of one list, and which rows between pages nobody asked for."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.sources import source
from refold.coverage.record import Manual, MvcPins
from refold.coverage.walk.series import gap_in, series_of
from refold.coverage.walk.walked import Listed


def sizes(*urls: str) -> list[int]:
    units = [source(url, name=str(number)) for number, url in enumerate(urls)]
    series = series_of(units)
    assert [unit for one in series for unit in one.sources] == units
    return [len(one.sources) for one in series]


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        (("/a?page=1", "/a?page=2", "/a?page=3"), [3]),
        (("/a?page=0", "/a?page=1"), [2]),
        (("/a?q=x&page=1&size=9", "/a?q=x&page=2&size=9"), [2]),
        (("/a?PAGE=1", "/a?PAGE=2"), [2]),
        (("/a?offset=0&limit=20", "/a?offset=20&limit=20", "/a?offset=40&limit=20"), [3]),
        (("/a?start=1", "/a?start=11"), [2]),
        (("/a?skip=0", "/a?skip=5", "/a?skip=10"), [3]),
        # not one list, or not from its beginning, or with a page left out
        (("/a?page=2", "/a?page=3"), [1, 1]),
        (("/a?page=1", "/a?page=3"), [1, 1]),
        (("/a?page=1", "/a?page=2", "/a?page=4"), [2, 1]),
        (("/a?offset=0", "/a?offset=20", "/a?offset=30"), [2, 1]),
        (("/a?page=2", "/a?page=1"), [1, 1]),
        (("/a?page=1", "/a?page=1"), [1, 1]),
        (("/a?page=1", "/b?page=2"), [1, 1]),
        (("/a?page=1&q=x", "/a?page=2&q=y"), [1, 1]),
        (("/a?page=1", "/a?Page=2"), [1, 1]),
        (("/a?page=1", "/a?offset=2"), [1, 1]),
        (("/a?page=01", "/a?page=2"), [1, 1]),
        (("/a?page=x", "/a?page=y"), [1, 1]),
        (("/a?id=1", "/a?id=2"), [1, 1]),
        (("/a?homepage=1", "/a?homepage=2"), [1, 1]),
        (("/a", "/a?page=2"), [1, 1]),
        (("/x", "/a?page=1", "/a?page=2", "/a?page=1", "/a?page=2"), [1, 2, 2]),
    ],
)
def test_units_that_are_one_list(urls: tuple[str, ...], expected: list[int]) -> None:
    assert sizes(*urls) == expected


def test_units_of_other_arrays_and_kinds_are_no_series() -> None:
    units = [source("/a?page=1", "items"), source("/a?page=2", "rows")]
    assert [len(series.sources) for series in series_of(units)] == [1, 1]
    others = [
        Listed("m", Manual()),
        Listed("p", MvcPins("https://man.example.test", "/protocols/x", 9, "LIST_ONLY")),
    ]
    assert [len(series.sources) for series in series_of(others)] == [1, 1]


@given(
    st.lists(
        st.builds(
            "/{}?{}={}".format,
            st.sampled_from("ab"),
            st.sampled_from(["page", "offset", "id"]),
            st.integers(0, 4),
        ),
        max_size=8,
    )
)
def test_no_unit_is_lost_and_a_series_has_equal_steps(urls: list[str]) -> None:
    units = [source(url) for url in urls]
    series = series_of(units)
    assert [unit for one in series for unit in one.sources] == units
    for one in series:
        numbers = [int(unit.replay.url.partition("=")[2]) for unit in one.sources]  # type: ignore[union-attr]
        if len(numbers) > 1:
            assert numbers[0] in {0, 1}
            assert {after - before for before, after in pairwise(numbers)} == {one.step}


def gap(rows: list[int], *urls: str) -> bool:
    (series,) = series_of([source(url) for url in urls])
    return bool(gap_in(series, rows))


OFFSETS = ("/a?offset=0", "/a?offset=20", "/a?offset=40", "/a?offset=60")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([20, 20, 20, 0], False),
        ([20, 20, 3, 0], False),
        ([20, 3, 0, 0], False),
        ([3, 0, 0, 0], False),
        ([0, 0, 0, 0], False),
        ([20, 19, 20, 0], True),
        ([20, 0, 20, 0], True),
        ([10, 10, 10, 0], True),
        ([25, 20, 20, 0], False),  # rows that come twice are seen by their ids
    ],
)
def test_rows_that_an_offset_jumps_over(rows: list[int], expected: bool) -> None:
    assert gap(rows, *OFFSETS) is expected


def test_a_page_size_below_the_step_leaves_gaps() -> None:
    assert gap([10, 0], "/a?offset=0&limit=10", "/a?offset=20&limit=10")
    assert not gap([10, 0], "/a?offset=0&limit=20", "/a?offset=20&limit=20")
    assert not gap([10, 0], "/a?page=1&size=1", "/a?page=2&size=1")
