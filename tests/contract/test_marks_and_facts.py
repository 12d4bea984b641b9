"""The contracts of `refold.metaid.store.Marks` and `Facts`, on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.samples import REV, REVIEW, A, B, pin, pin_id
from refold.db import Database
from refold.metaid.store import (
    Anchor,
    ContentFact,
    Cursor,
    FactState,
    StakeFact,
    Store,
    open_store,
    places_digest,
    reading,
)


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """Give a store in one transaction."""
    with database.write() as connection:
        yield open_store(connection)


class TestCursors:
    def test_a_cursor_is_kept_for_each_indexer_and_path(self, store: Store) -> None:
        cursors = [
            Cursor(A, REV, "next&1", 7, is_complete=True),
            Cursor(A, REVIEW),
            Cursor(B, REV, "\0\\", None, is_complete=False),
        ]
        assert store.marks.cursor(A, REV) is None
        for cursor in reversed(cursors):
            store.marks.put_cursor(cursor)
        assert store.marks.cursors() == sorted(cursors, key=lambda c: (c.indexer, c.path))
        assert store.marks.cursor(B, REV) == cursors[2]
        assert store.marks.cursor(B, REVIEW) is None

    def test_a_later_word_takes_the_place_of_an_earlier_one(self, store: Store) -> None:
        store.marks.put_cursor(Cursor(A, REV, "one", 7))
        store.marks.put_cursor(Cursor(A, REV, "", None, is_complete=True))
        assert store.marks.cursors() == [Cursor(A, REV, "", None, is_complete=True)]


class TestAnchors:
    def test_anchors_are_kept_for_each_source_and_height(self, store: Store) -> None:
        mine = [Anchor(A, height, "block", f"{height:064x}") for height in (5, 6, 9)]
        theirs = Anchor(B, 6, "places", "00" * 32)
        store.marks.put_anchors([*reversed(mine), theirs])
        assert store.marks.anchors(A) == mine
        assert store.marks.anchors(A, since=6) == mine[1:]
        assert store.marks.anchors(B) == [theirs]
        store.marks.put_anchors([msgspec.structs.replace(theirs, hash="11" * 32)])
        assert [anchor.hash for anchor in store.marks.anchors(B)] == ["11" * 32]
        assert store.marks.drop_anchors(6) == 1
        assert store.marks.anchors(A) == mine[1:]
        store.marks.put_anchors([])

    def test_the_digest_of_a_block_changes_with_every_place_in_it(self, store: Store) -> None:
        store.pins.write([pin(1, 7, 1), pin(2, 7, 2), pin(3, 8, 1), pin(4, 7, 3, path=REVIEW)], A)
        before = store.marks.places_digest(7)
        assert before == places_digest([(1, pin_id(1)), (2, pin_id(2)), (3, pin_id(4))])
        assert store.marks.places_digest(7, [REVIEW]) == places_digest([(3, pin_id(4))])
        assert store.marks.places_digest(9) == places_digest([])
        seen = {before}
        for change in (pin(1, 7, 2), pin(2, 7, 1), pin(3, 7, 9), pin(4, 8, 9, path=REVIEW)):
            store.pins.write([change], A)
            seen.add(store.marks.places_digest(7))
        assert len(seen) == 5


PLACES = st.lists(st.tuples(st.integers(0, 9), st.sampled_from([pin_id(n) for n in range(4)])))


@given(PLACES, st.randoms())
def test_the_digest_of_places_depends_on_no_order(
    places: list[tuple[int, str]], random: object
) -> None:
    shuffled = list(places)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis names no type for it
    assert places_digest(shuffled) == places_digest(places)


@given(PLACES, PLACES)
def test_different_places_have_different_digests(
    one: list[tuple[int, str]], other: list[tuple[int, str]]
) -> None:
    assert (places_digest(one) == places_digest(other)) == (sorted(one) == sorted(other))


def test_the_digest_of_places_is_what_its_definition_says() -> None:
    lines = f"2\t{pin_id(2)}\n10\t{pin_id(1)}\n"
    assert places_digest([(10, pin_id(1)), (2, pin_id(2))]) == sha256(lines.encode()).hexdigest()


def content(number: int, state: FactState, **more: object) -> ContentFact:
    made = ContentFact(
        pin=pin_id(number), uri=f"metafile://{pin_id(number)}", expected="00" * 32, state=state
    )
    return msgspec.structs.replace(made, **more)


def stake(number: int, state: FactState, **more: object) -> StakeFact:
    made = StakeFact(pin=pin_id(number), txid="11" * 32, amount=100_000, state=state)
    return msgspec.structs.replace(made, **more)


STATES: tuple[FactState, ...] = ("unavailable", "mismatch", "verified")
"""From the worst to the best."""


class TestFacts:
    def test_facts_come_back_as_they_were_given(self, store: Store) -> None:
        text = content(
            1,
            "mismatch",
            reason="hash-differs",
            detail="\0 what a stranger said",
            sha256="22" * 32,
            length=5,
            source=A,
            tries=3,
            next_try=7,
        )
        paid = stake(2, "verified", found=100_001, source=B)
        assert store.facts.put_content([text]) == [pin_id(1)]
        assert store.facts.put_stakes([paid]) == [pin_id(2)]
        assert store.facts.content(pin_id(1)) == text
        assert store.facts.stake(pin_id(2)) == paid
        assert store.facts.content(pin_id(2)) is None
        assert store.facts.stake(pin_id(1)) is None

    @pytest.mark.parametrize("states", list(permutations(STATES)))
    def test_a_fact_only_becomes_better(self, store: Store, states: tuple[FactState, ...]) -> None:
        """In any order, one by one or all at once; the changes of state are told."""
        best = -1
        for tries, state in enumerate(states, 1):
            changed = store.facts.put_content([content(1, state, tries=tries)])
            is_better = STATES.index(state) > best
            assert changed == ([pin_id(1)] if is_better else [])
            best = max(best, STATES.index(state))
            known = store.facts.content(pin_id(1))
            assert known
            assert known.state == STATES[best]
        assert store.facts.put_stakes([stake(1, state) for state in states]) == [pin_id(1)]
        assert store.facts.stake_states() == {pin_id(1): "verified"}

    def test_another_try_with_the_same_end_is_noted(self, store: Store) -> None:
        store.facts.put_content([content(1, "unavailable", tries=1, next_try=10)])
        assert store.facts.put_content([content(1, "unavailable", tries=2, next_try=30)]) == []
        known = store.facts.content(pin_id(1))
        assert known
        assert (known.tries, known.next_try) == (2, 30)

    def test_those_due_come_first_that_wait_longest(self, store: Store) -> None:
        times = {1: 30, 2: 10, 3: None, 4: 20, 5: 20, 6: 99}
        store.facts.put_content(
            [content(number, "unavailable", next_try=when) for number, when in times.items()]
        )
        store.facts.put_stakes([stake(7, "unavailable", next_try=1)])
        due = [fact.pin for fact in store.facts.due_content(30, 9)]
        assert due == [pin_id(2), *sorted([pin_id(4), pin_id(5)]), pin_id(1)]
        assert [fact.pin for fact in store.facts.due_content(30, 1)] == [pin_id(2)]
        assert store.facts.due_content(9, 9) == []
        assert [fact.pin for fact in store.facts.due_stakes(1, 9)] == [pin_id(7)]

    def test_the_state_of_every_pin_is_given(self, store: Store) -> None:
        numbers = range(reading.BATCH + 1)
        changed = store.facts.put_content([content(number, "verified") for number in numbers])
        assert len(changed) == len(numbers)
        states = store.facts.content_states()
        assert states == dict.fromkeys(map(pin_id, numbers), "verified")

    def test_the_text_that_a_fact_names_is_not_pruned(self, store: Store) -> None:
        hashed = store.pins.put_body(b"a text")
        store.facts.put_content([content(1, "verified", sha256=hashed, length=6)])
        assert store.pins.prune_bodies() == 0
        assert store.pins.body(hashed) == b"a text"
