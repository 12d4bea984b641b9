"""Incremental walks: what they may skip, and that they miss nothing in front of it."""

from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from metaid.mans import cut, pin_id, row
from refold.metaid.man.overlap import Overlap, Place
from refold.metaid.pin import Row

FLOOR = 100


def row_of(number: int, height: int | None, tx_index: int = 0) -> Row:
    return msgspec.convert(row(number, -1 if height is None else height, tx_index), Row)


def overlap(known: dict[int, Place], floor: int = FLOOR) -> Overlap:
    places = {pin_id(number): place for number, place in known.items()}
    return Overlap(places.get, floor)


DEEP = {number: Place(50 - number, 0) for number in range(5)}
DEEP_ROWS = [row_of(number, 50 - number) for number in range(5)]


def test_a_page_of_what_is_known_and_deep_ends_the_walk() -> None:
    assert overlap(DEEP).page(DEEP_ROWS)


def test_any_other_page_does_not() -> None:
    known = DEEP | {9: Place(None, 0), 10: Place(150, 1)}
    for listed in (
        [],
        [*DEEP_ROWS, row_of(8, 20)],  # not known
        [*DEEP_ROWS, row_of(9, None)],  # in the mempool, though known
        [row_of(10, 150, 1), *DEEP_ROWS],  # known, in the window
        [row_of(0, 50, 1), *DEEP_ROWS[1:]],  # at another place
        [row_of(0, None), *DEEP_ROWS[1:]],  # in the mempool again
        DEEP_ROWS[:1],  # one height does not show that the list runs down
        DEEP_ROWS[::-1],  # a list that runs up: what is new stands at its end
    ):
        assert not overlap(known).page(listed)


def test_pages_show_together_that_a_list_runs_down() -> None:
    walked = overlap(DEEP)
    assert not walked.page(DEEP_ROWS[:1])
    assert walked.page(DEEP_ROWS[1:2])
    upwards = overlap(DEEP)
    assert not upwards.page(DEEP_ROWS[1:2])
    assert not upwards.page(DEEP_ROWS[:1])


def test_changes_are_told_apart() -> None:
    known = DEEP | {
        5: Place(None, 0),
        6: Place(120, 1),
        7: Place(120, 2),
        8: Place(110, 0),
        9: Place(None, 0),
        10: Place(99, 0),
    }
    walked = overlap(known)
    walked.page([row_of(20, None), row_of(21, 130), row_of(5, 125), row_of(6, 121, 1)])
    walked.page([row_of(7, None), *DEEP_ROWS])
    held = [(pin_id(number), place) for number, place in known.items()]
    changes = walked.changes(held)
    assert changes.new == (pin_id(20), pin_id(21))
    assert [(m.id, m.before, m.after) for m in changes.confirmed] == [
        (pin_id(5), Place(None, 0), Place(125, 0))
    ]
    assert [(m.id, m.after) for m in changes.moved] == [
        (pin_id(6), Place(121, 1)),
        (pin_id(7), Place(None, 0)),
    ]
    # 8 stands in the window, 9 in the mempool; 10 is below the window, and of it nothing is said.
    assert changes.unlisted == tuple(sorted((pin_id(8), pin_id(9))))


def test_a_mempool_copy_on_a_later_page_changes_nothing() -> None:
    walked = overlap({1: Place(120, 1)})
    walked.page([row_of(1, 120, 1)])
    walked.page([row_of(1, None)])
    assert walked.changes() == overlap({}).changes()


def test_what_was_known_is_asked_before_the_page_is_taken_over() -> None:
    places: dict[str, Place] = {}
    walked = Overlap(places.get, FLOOR)
    walked.page([row_of(1, 120)])
    places[pin_id(1)] = Place(120, 0)
    walked.page([row_of(1, 120)])
    assert walked.changes().new == (pin_id(1),)


heights = st.one_of(st.none(), st.integers(0, 30))


def places_of(rows: Sequence[Row]) -> dict[str, Place]:
    return {
        r.id: Place(None, 0) if r.genesis_height < 0 else Place(r.genesis_height, r.tx_index)
        for r in rows
    }


@given(
    st.dictionaries(st.integers(0, 40), heights, max_size=40),
    st.dictionaries(st.integers(0, 60), heights, max_size=60),
    st.integers(0, 20),
    st.integers(1, 10),
)
def test_a_walk_to_the_end_of_the_window_tells_all_changes_in_it(
    before: dict[int, int | None], changed: dict[int, int | None], floor: int, size: int
) -> None:
    """Against a list that runs down and a chain of which only the window changed."""
    deep = {n: h for n, h in before.items() if h is not None and h < floor}
    fresh = {n: h for n, h in changed.items() if n not in deep and (h is None or h >= floor)}
    now = deep | fresh
    chain = sorted(
        (row_of(n, h) for n, h in now.items()),
        key=lambda r: (r.genesis_height < 0, r.genesis_height, r.id),
        reverse=True,
    )
    known = places_of([row_of(n, h) for n, h in before.items()])
    walked = Overlap(known.get, floor)
    for rows in cut(chain, size):
        if walked.page(rows):
            break
    changes = walked.changes(known.items())
    truth = places_of(chain)
    assert set(changes.new) == set(truth) - set(known)
    moves = {move.id: move.after for move in (*changes.moved, *changes.confirmed)}
    assert moves == {n: p for n, p in truth.items() if n in known and known[n] != p}
    assert set(changes.unlisted) == set(known) - set(truth)
