"""The decisions of the sync that need no request: walks, words, say, anchors, pace."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.mans import client, pin_id, row
from refold.metaid.man.bodies import Bodies
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Row
from refold.metaid.store import NO_RIVALS, NOWHERE, Cursor, Gap, Indexed, Rivals, Standing, Written
from refold.metaid.sync import Pace, Settings, Tally, say
from refold.metaid.sync.anchors import anchors_of, differs_from
from refold.metaid.sync.compare import is_held, is_to_be_asked, unlisted, words_of
from refold.metaid.sync.pace import DAY, Budget, pause_after
from refold.metaid.sync.plan import Leg, broken_off, ended, is_due, legs_of, under_way
from refold.metaid.sync.tally import count

A, B, C = (f"https://{name}.example.test" for name in "abc")
PATH = "/protocols/agentpedia/rev"
SETTINGS = Settings(window=10, full_seconds=1_000)
NOW = 50_000
WHOLE = Leg("", None, 500)
DONE = Cursor(A, PATH, height=480, is_complete=True, full_at=NOW - 999)


@pytest.mark.parametrize(
    ("mark", "height", "full", "legs"),
    [
        (None, 500, False, [WHOLE]),
        (Cursor(A, PATH), 500, False, [WHOLE]),
        (DONE, 500, False, [Leg("", 471, 500)]),
        (DONE, 500, True, [WHOLE]),
        (DONE, 300, False, [Leg("", 291, 300)]),  # it fell back
        (DONE, None, False, [Leg("", 471, None)]),
        (msgspec.structs.replace(DONE, full_at=NOW - 1_000), 500, False, [WHOLE]),
        (msgspec.structs.replace(DONE, full_at=None), 500, False, [WHOLE]),
        (msgspec.structs.replace(DONE, height=3), 500, False, [Leg("", 0, 500)]),
        (
            Cursor(A, PATH, "k", began=490),
            500,
            False,
            [Leg("k", None, 490), Leg("", 481, 500)],
        ),
        (
            msgspec.structs.replace(DONE, cursor="k", began=490, floor=471),
            500,
            True,
            [Leg("k", 471, 490), Leg("", 481, 500)],
        ),
    ],
)
def test_which_walks_bring_a_path_up_to_date(
    mark: Cursor | None, height: int | None, full: bool, legs: list[Leg]
) -> None:
    assert legs_of(mark, height, NOW, SETTINGS, full=full) == legs


def test_a_walk_that_is_broken_off_loses_nothing_of_what_was_known() -> None:
    leg = Leg("", 471, 500)
    on_the_way = under_way(DONE, leg, "k&1")
    assert (on_the_way.height, on_the_way.is_complete) == (480, True)
    resumed, front = legs_of(on_the_way, 505, NOW, SETTINGS, full=False)
    assert resumed == Leg("k&1", 471, 500)
    after = ended(on_the_way, resumed, NOW)
    assert (after.cursor, after.height, after.full_at) == ("", 500, DONE.full_at)
    last = ended(after, front, NOW)
    assert (last.height, last.began, last.floor) == (505, None, None)
    assert ended(DONE, WHOLE, NOW).full_at == NOW
    assert broken_off(on_the_way) == DONE


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_a_gap_is_asked_for_at_once_and_then_less_often_but_at_least_daily(
    tries: int, seconds: int
) -> None:
    gap = Gap(A, pin_id(1), PATH, 7, "man-error", "", tries, 0, NOW)
    due = is_due(gap, NOW + seconds)
    assert due or (tries > 3 and seconds < DAY)
    assert not due or tries <= 3 or seconds >= 60 * 2 ** min(tries - 4, 10)


# --- rows ----------------------------------------------------------------------------------------


def listed(number: int, height: int = 480, tx_index: int = 0, **members: Any) -> Row:
    return msgspec.convert(row(number, height, tx_index, **members), Row)


THERE = Place(480, 0)


def standing(place: Place = THERE, **changes: Any) -> Standing:
    made = Standing(place, "confirmed", A, A, PATH, "idq1a", 6, "00" * 32)
    return made._replace(**changes)


@pytest.mark.parametrize(
    ("entry", "known", "held"),
    [
        (listed(1), None, False),
        (listed(1), standing(), True),
        (listed(1, contentLength=99), standing(size=99), True),
        (listed(1), standing(source=B), False),  # another's whole copy is read for nothing
        (listed(1, contentLength=99), standing(source=B, size=99), True),  # a detail would cost
        (listed(1, contentLength=99), standing(), False),
        (listed(1, contentLength=99, status=1), standing(), True),  # a modify's length
        (listed(1, globalMetaId="idq1b"), standing(), False),
        (listed(1, globalMetaId="idq1a"), standing(), True),
        (listed(1), standing(path="/protocols/other"), False),
        (listed(1, -1), standing(NOWHERE, state="mempool"), True),
        (listed(1, 480), standing(NOWHERE, state="mempool"), False),
        (listed(1, 480), standing(NOWHERE, state="unconfirmed"), True),
    ],
)
def test_which_rows_are_read(entry: Row, known: Standing | None, held: bool) -> None:
    bodies = Bodies(client(lambda _path, _query: None))
    assert is_held(entry, known, A, bodies) == held


@pytest.mark.parametrize(
    ("entry", "known", "rivals", "place"),
    [
        (listed(1), None, NO_RIVALS, None),
        (listed(1), standing(), NO_RIVALS, None),
        (listed(1, 480, 4), standing(), NO_RIVALS, Place(480, 4)),
        (listed(1, 481), standing(), NO_RIVALS, Place(481, 0)),
        (listed(1, -1), standing(), NO_RIVALS, None),
        (listed(1, -1), standing(NOWHERE, state="vanished"), NO_RIVALS, NOWHERE),
        (listed(1, -1), standing(NOWHERE, state="unconfirmed"), NO_RIVALS, None),
        (listed(1, 482), standing(NOWHERE, state="vanished"), NO_RIVALS, Place(482, 0)),
        (listed(1, 482), standing(NOWHERE, state="mempool"), NO_RIVALS, None),
        (listed(1), standing(placed_by=B), NO_RIVALS, None),
        (listed(1), standing(placed_by=B), Rivals(below=frozenset([B])), Place(480, 0)),
        (listed(1), standing(placed_by=B), Rivals(above=frozenset([B])), None),
        (listed(1), standing(placed_by=C), Rivals(above=frozenset([B])), Place(480, 0)),
    ],
)
def test_what_a_row_says_of_a_place(
    entry: Row, known: Standing | None, rivals: Rivals, place: Place | None
) -> None:
    standings = {} if known is None else {entry.id: known}
    assert words_of([entry], standings, A, rivals) == ([] if place is None else [(entry.id, place)])


def test_who_is_asked_whether_a_pin_is_gone() -> None:
    others = Rivals(above=frozenset([B]))
    assert is_to_be_asked(standing(placed_by=A), A, others)
    assert not is_to_be_asked(standing(placed_by=B), A, others)
    assert is_to_be_asked(standing(placed_by=C), A, others)  # C has no say


def test_what_should_have_been_listed() -> None:
    held = [("d", Place(9, 0)), ("c", Place(10, 1)), ("b", NOWHERE), ("a", Place(12, 0))]
    assert unlisted(held, {}, 10) == [("a", Place(12, 0)), ("b", NOWHERE), ("c", Place(10, 1))]
    shown = {"a": -1, "b": -1, "c": 11}
    assert unlisted(held, shown, 10) == [("a", Place(12, 0))]


# --- whose word counts ---------------------------------------------------------------------------


def known(**heights: tuple[int | None, int, int | None]) -> dict[str, Indexed]:
    return {
        name: Indexed(name, height, answered, current)
        for name, (height, answered, current) in heights.items()
    }


def test_the_order_given_is_the_order_of_words() -> None:
    up = known(a=(500, NOW, NOW), b=(500, NOW, NOW), c=(500, NOW, NOW))
    order = ["b", "a", "c"]
    assert say.rivals_of("b", order, up, NOW) == Rivals(frozenset(), frozenset("ac"))
    assert say.rivals_of("a", order, up, NOW) == Rivals(frozenset("b"), frozenset("c"))
    assert say.rivals_of("c", order, up, NOW) == Rivals(frozenset("ab"), frozenset())
    assert say.rivals_of("a", ["a"], up, NOW) == NO_RIVALS


def test_who_is_late_for_long_comes_behind_all() -> None:
    late = known(a=(480, NOW, NOW - say.PATIENCE - 1), b=(500, NOW, NOW))
    assert say.rivals_of("a", ["a", "b"], late, NOW) == Rivals(above=frozenset("b"))
    assert say.rivals_of("b", ["a", "b"], late, NOW) == NO_RIVALS
    patient = known(a=(480, NOW, NOW - say.PATIENCE), b=(500, NOW, NOW))
    assert say.rivals_of("b", ["a", "b"], patient, NOW) == Rivals(above=frozenset("a"))


def test_who_is_up_with_the_highest_is_current() -> None:
    told = known(
        a=(500 - say.LAG, NOW, None), b=(500 - say.LAG - 1, NOW, None), c=(500, NOW, None),
        d=(None, NOW, None), e=(700, NOW - 5, NOW - 5),
    )  # fmt: skip
    found = say.updated(told, NOW)
    assert {name for name, one in found.items() if one.current == NOW} == {"a", "c", "d"}
    assert found["e"] == told["e"]


# --- blocks, sums, pace --------------------------------------------------------------------------


def test_anchors_show_the_lowest_block_that_is_another() -> None:
    before = {"x": Place(10, 1), "y": Place(11, 1), "z": Place(12, 4), "w": NOWHERE}
    noted = anchors_of(A, [before, {}], 9, 13)
    assert [anchor.height for anchor in noted] == [9, 10, 11, 12, 13]
    assert differs_from(noted, noted) is None
    for change, lowest in (
        ({"z": Place(12, 5)}, 12),
        ({"z": Place(11, 5)}, 11),
        ({"y": NOWHERE}, 11),
        ({"new": Place(9, 0)}, 9),
        ({"new": Place(14, 0)}, None),
    ):
        assert differs_from(noted, anchors_of(A, [before | change], 9, 14)) == lowest


def test_sums_tell_from_where_on_the_chain_is_another() -> None:
    def word(before: Place | None, after: Place | None, outcome: Any = "moved") -> Written:
        return Written("x", outcome, before, after)

    tally = Tally()
    count(
        tally,
        [
            word(None, Place(3, 0), "new"),
            word(None, NOWHERE, "new"),
            word(NOWHERE, Place(4, 0)),
            word(NOWHERE, None),
            word(Place(9, 0), Place(9, 0), "amended"),
            word(None, None, "refused"),
        ],
    )
    assert tally == Tally(
        new=1, waiting_new=1, confirmed=1, vanished=1, amended=1, refused=1, lowest=None
    )
    count(tally, [word(Place(9, 0), Place(8, 1)), word(Place(12, 0), NOWHERE)])
    assert (tally.moved, tally.waiting, tally.lowest) == (1, 1, 8)


@given(st.integers(0, 400), st.integers(0, 400))
def test_pauses_stay_within_their_limits(quiet: int, failed: int) -> None:
    pace = Pace(seconds=30, max_seconds=300, max_error_seconds=1_800)
    seconds = pause_after(pace, quiet, failed)
    assert 30 <= seconds <= (1_800 if failed else 300)
    assert pause_after(pace, quiet + 1, failed) >= seconds


def test_a_budget_is_over_24_hours() -> None:
    budget = Budget(10)
    budget.spend(6, 0)
    assert budget.is_left(1)
    budget.spend(6, 100)
    assert not budget.is_left(101)
    assert not budget.is_left(DAY - 1)
    assert budget.is_left(DAY)
    assert Budget(None).is_left(0)
