"""Rows of many pages: each pin once, at its last place, and no copy that differs."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.mans import PATH, pin_id, row
from refold.metaid.man.bodies import Missing
from refold.metaid.man.merge import Merge
from refold.metaid.man.report import Notes
from refold.metaid.pin import Pin, Row, pin_of_row


def row_of(number: int, height: int = -1, tx_index: int = 0, **members: Any) -> Row:
    return msgspec.convert(row(number, height, tx_index, **members), Row)


def read(merge: Merge, *rows: Row) -> list[Pin]:
    """Let a merge take a page of rows that are all whole; give what the caller would get."""
    taken = [merge.pin(pin_of_row(listed)) for listed in merge.rows(rows)]
    return [pin for pin in taken if pin is not None]


def kinds(notes: Notes) -> dict[str, int]:
    return {anomaly.kind: anomaly.count for anomaly in notes.listed()}


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def merge(notes: Notes) -> Merge:
    return Merge(PATH, lambda _row: False, notes)


copies = st.builds(row_of, st.integers(0, 4), st.sampled_from([-1, 7, 8, 9]), st.integers(0, 2))


@given(st.lists(st.lists(copies, max_size=6), max_size=6))
def test_each_pin_ends_at_its_last_place_in_a_block(pages: list[list[Row]]) -> None:
    """A copy of the mempool never replaces a confirmed one."""
    merge = Merge(PATH, lambda _row: False, Notes())
    given_last: dict[str, Pin] = {}
    truth: dict[str, Row] = {}
    for rows in pages:
        given_last |= {pin.id: pin for pin in read(merge, *rows)}
        for listed in rows:
            if listed.genesis_height >= 0 or listed.id not in truth:
                truth[listed.id] = listed
    assert set(given_last) == set(truth)
    assert len(merge) == len(truth)
    for name, listed in truth.items():
        pin = given_last[name]
        assert pin.height == (None if listed.genesis_height < 0 else listed.genesis_height)
        assert pin.height is None or pin.tx_index == listed.tx_index
    assert merge.confirmed == sum(pin.height is not None for pin in given_last.values())
    assert not merge.missing


def test_duplicates_are_given_once(merge: Merge, notes: Notes) -> None:
    assert len(read(merge, row_of(1, 5), row_of(1, 5))) == 1
    assert read(merge, row_of(1, 5)) == []
    assert kinds(notes) == {"duplicate": 2}


def test_a_confirmed_copy_replaces_that_of_the_mempool(merge: Merge, notes: Notes) -> None:
    read(merge, row_of(1))
    (pin,) = read(merge, row_of(1, 5, 2))
    assert (pin.height, pin.tx_index) == (5, 2)
    assert read(merge, row_of(1)) == []  # the stale key of the mempool, on a later page
    assert merge.confirmed == 1
    assert kinds(notes) == {"duplicate": 1, "confirmed-meanwhile": 1}


def test_a_pin_that_was_mined_again_moves(merge: Merge, notes: Notes) -> None:
    read(merge, row_of(1, 5, 2))
    (pin,) = read(merge, row_of(1, 5, 3))
    assert (pin.height, pin.tx_index) == (5, 3)
    assert kinds(notes) == {"moved": 1}


def test_the_place_that_the_detail_says_counts(merge: Merge, notes: Notes) -> None:
    assert merge.rows([row_of(1)])
    assert merge.pin(pin_of_row(row_of(1, 6)))
    assert merge.confirmed == 1
    assert kinds(notes) == {"confirmed-meanwhile": 1}


def test_a_detail_that_lags_behind_does_not_take_the_block_away(merge: Merge) -> None:
    """Two servers behind one name: the list knows the block, the detail not yet."""
    assert merge.rows([row_of(1, 6, 2)])
    pin = merge.pin(pin_of_row(row_of(1)))
    assert pin is not None
    assert (pin.height, pin.tx_index, merge.confirmed) == (6, 2, 1)


def test_rows_of_another_path_are_passed_over(merge: Merge, notes: Notes) -> None:
    assert read(merge, row_of(1, 5, path="/protocols/other")) == []
    assert not merge.pin(pin_of_row(row_of(2, 5, path="/protocols/other")))
    assert (len(merge), kinds(notes)) == (0, {"other-path": 2})


@pytest.mark.parametrize(
    "other",
    [
        {"contentSummary": "lies 1"},
        {"globalMetaId": "idq1another"},
        {"contentSummary": "lies 1", "genesisHeight": 6},
        {"globalMetaId": "idq1another", "txIndex": 3},
    ],
)
def test_copies_that_differ_in_what_never_changes(
    merge: Merge, notes: Notes, other: dict[str, Any]
) -> None:
    (pin,) = read(merge, row_of(1, 5))
    assert read(merge, row_of(1, **{"height": 5} | other)) == []
    assert merge.missing[pin.id].code == "copies-differ"
    assert kinds(notes)["copies-differ"] == 1


def test_a_cut_or_modified_copy_does_not_differ(merge: Merge) -> None:
    read(merge, row_of(1, 5))
    read(merge, row_of(1, 5, contentLength=900), row_of(1, 5, status=1))
    assert not merge.missing


def test_a_missing_pin_gets_another_chance(merge: Merge) -> None:
    missing = Missing(pin_id(1), 5, "man-error", "…")
    assert merge.rows([row_of(1, 5)])
    merge.miss(missing)
    assert (len(merge), list(merge.missing)) == (1, [pin_id(1)])
    assert len(read(merge, row_of(1, 5))) == 1
    assert not merge.missing


def test_an_entry_that_had_no_more_than_an_id_counts(merge: Merge) -> None:
    merge.miss(Missing(pin_id(1), None, "man-error", "…"))
    assert (len(merge), merge.confirmed) == (1, 0)
    assert merge.pin(pin_of_row(row_of(2, 5)))
    assert (len(merge), merge.confirmed) == (2, 1)


def test_pins_that_the_caller_holds_are_not_read_unless_they_move(notes: Notes) -> None:
    merge = Merge(PATH, lambda listed: listed.id == pin_id(1), notes)
    assert [pin.id for pin in read(merge, row_of(1, 5), row_of(2, 5))] == [pin_id(2)]
    assert merge.held == {pin_id(1)}
    assert read(merge, row_of(1, 5)) == []
    assert [pin.id for pin in read(merge, row_of(1, 6))] == [pin_id(1)]


def test_notes_count_and_keep_the_first(notes: Notes) -> None:
    notes.note("moved", "a")
    notes.note("duplicate", "b")
    notes.note("moved", "c", 3)
    assert [(a.kind, a.count, a.first) for a in notes.listed()] == [
        ("duplicate", 1, "b"),
        ("moved", 4, "a"),
    ]
