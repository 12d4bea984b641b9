"""The contracts of readers, gaps, indexers and of who places a pin, on both databases.

The rules in all combinations are `test_pins_model`'s; here each stands by itself.
"""

from collections.abc import Callable, Iterator

import msgspec
import pytest

from contract.samples import REV, REVIEW, A, B, pin, pin_id
from refold.db import Database
from refold.metaid.man.bodies import Missing
from refold.metaid.man.overlap import Place
from refold.metaid.store import (
    NOWHERE,
    ContentFact,
    Gap,
    Indexed,
    Rivals,
    StakeFact,
    Store,
    open_store,
)

WIKI = "agentpedia"


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """Give a store in one transaction, with some pins that `WIKI` has seen."""
    with database.write() as connection:
        made = open_store(connection)
        made.pins.write([pin(number, 10 + number, 1) for number in range(1, 6)], A)
        made.pins.write([pin(9, None)], A)
        made.marks.settle(WIKI)
        yield made


def copy(number: int, **changes: object) -> Callable[[Store], object]:
    made = pin(number, 10 + number, 1)
    return lambda store: store.pins.write([msgspec.structs.replace(made, **changes)], A)


def poor(number: int, **left_out: object) -> Callable[[Store], object]:
    """Write a copy that lacks something, let the reader settle, and write the whole one."""

    def do(store: Store) -> None:
        store.pins.write([pin(number, 20, 1, **left_out)], A)
        store.marks.settle(WIKI)
        store.pins.write([pin(number, 20, 1)], B)

    return do


def content(number: int, state: object) -> Callable[[Store], object]:
    fact = ContentFact(pin=pin_id(number), uri="", expected="", state="unavailable")
    return lambda store: store.facts.put_content([msgspec.structs.replace(fact, state=state)])


CHANGES: dict[str, tuple[Callable[[Store], object], int | None]] = {
    "a new pin": (copy(7), 17),
    "a pin mined again below": (copy(4, height=12), 12),
    "a pin mined again above": (copy(2, height=30), 12),
    "another place in the same block": (copy(3, tx_index=8), 13),
    "out of its block": (lambda store: store.pins.move([(pin_id(5), NOWHERE)], A), 15),
    "vanished": (lambda store: store.pins.vanish([pin_id(1)], A), 11),
    "several at once": (
        lambda store: store.pins.move([(pin_id(n), NOWHERE) for n in (5, 3, 4)], A),
        13,
    ),
    "confirmed": (copy(9, height=19), 19),
    "a version that was not said": (poor(7, version=""), 20),
    "a content type that was not said": (poor(7, content_type=None), 20),
    "rolled back": (lambda store: store.pins.roll_back(12, A), 13),
    "rolled back to above everything": (lambda store: store.pins.roll_back(99, A), None),
    "a text that is another one": (content(3, "mismatch"), 13),
    "a text found": (content(3, "verified"), None),
    "a text not found yet": (content(3, "unavailable"), None),
    "the text of a pin in no block": (content(9, "mismatch"), None),
    "a stake found": (
        lambda store: store.facts.put_stakes(
            [StakeFact(pin=pin_id(2), txid="", amount=1, state="verified")]
        ),
        12,
    ),
    "a new pin in the mempool": (copy(8, height=None), None),
    "gone from the mempool": (lambda store: store.pins.vanish([pin_id(9)], A), None),
    "the same again": (copy(3), None),
    "revoked by anybody": (copy(3, status=-1), None),
    "modified by anybody": (copy(3, history=(pin_id(3), pin_id(8))), None),
    "sent to another owner": (copy(3, address="1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH"), None),
    "another time": (copy(3, timestamp=1), None),
    "a copy that differs": (copy(3, sender="idq1" + "p" * 38), None),
    "an author verified": (lambda store: store.pins.put_authors({pin_id(3): "proven"}), None),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_reader_is_told_from_where_on_it_is_out_of_date(store: Store, name: str) -> None:
    change, lowest = CHANGES[name]
    change(store)
    assert store.marks.changed_from(WIKI) == lowest
    store.marks.settle(WIKI)
    assert store.marks.changed_from(WIKI) is None


def test_the_same_fact_again_changes_nothing(store: Store) -> None:
    content(3, "unavailable")(store)
    store.marks.settle(WIKI)
    content(3, "unavailable")(store)
    assert store.marks.changed_from(WIKI) is None


def test_to_who_never_settled_everything_is_new(store: Store) -> None:
    assert store.marks.changed_from("somebody") == 0
    store.marks.read_by("somebody", [REV])
    assert store.marks.changed_from("somebody") == 0


def test_pins_of_other_paths_disturb_no_reader(store: Store) -> None:
    store.marks.read_by(WIKI, [REV])
    assert store.marks.changed_from(WIKI) == 0  # it had settled on all paths
    store.marks.settle(WIKI)
    store.pins.write([pin(20, 3, path=REVIEW)], A)
    assert store.marks.changed_from(WIKI) is None
    store.pins.write([pin(21, 8, path=REVIEW), pin(22, 9)], A)
    assert store.marks.changed_from(WIKI) == 9
    store.marks.settle(WIKI)
    store.pins.roll_back(4, A)
    assert store.marks.changed_from(WIKI) == 5
    store.marks.settle(WIKI)
    store.facts.put_content([ContentFact(pin=pin_id(20), uri="", expected="", state="verified")])
    assert store.marks.changed_from(WIKI) is None


def test_to_say_the_same_paths_again_changes_nothing(store: Store) -> None:
    store.marks.read_by(WIKI, [REV, REVIEW])
    store.marks.settle(WIKI)
    store.marks.read_by(WIKI, [REVIEW, REV, REV])
    assert store.marks.changed_from(WIKI) is None
    store.marks.read_by(WIKI, [REV])
    assert store.marks.changed_from(WIKI) == 0


def undone(database: Database) -> None:
    with database.write() as connection:
        open_store(connection).pins.write([pin(1, 7)], A)
        raise ZeroDivisionError


def test_what_is_undone_is_not_noted(database: Database) -> None:
    with database.write() as connection:
        open_store(connection).marks.settle(WIKI)
    with pytest.raises(ZeroDivisionError):
        undone(database)
    with database.read() as connection:
        assert open_store(connection).marks.changed_from(WIKI) is None


def missing(number: int, height: int | None = 7, code: str = "man-error") -> Missing:
    return Missing(pin_id(number), height, code, "it \0 broke")


class TestGaps:
    def test_what_could_not_be_read_is_kept_until_it_is(self, store: Store) -> None:
        store.marks.put_gaps(A, REV, [missing(20), missing(21, None)], 100)
        store.marks.put_gaps(B, REV, [missing(20)], 110)
        store.marks.put_gaps(A, REV, [missing(20, 8, "body-cut")], 160)
        again = Gap(A, pin_id(20), REV, 8, "body-cut", "it \0 broke", 2, 100, 160)
        assert [gap for gap in store.marks.gaps(A) if gap.pin == pin_id(20)] == [again]
        assert {(gap.indexer, gap.pin) for gap in store.marks.gaps()} == {
            (A, pin_id(20)),
            (A, pin_id(21)),
            (B, pin_id(20)),
        }
        store.pins.write([pin(20, 8)], B)
        assert [gap.pin for gap in store.marks.gaps()] == [pin_id(21)]

    def test_a_copy_of_the_mempool_is_not_that_of_a_block(self, store: Store) -> None:
        store.marks.put_gaps(A, REV, [missing(20, 7), missing(21, None)], 100)
        store.pins.write([pin(20, None), pin(21, None)], A)
        assert [gap.pin for gap in store.marks.gaps()] == [pin_id(20)]

    def test_a_pin_that_is_held_is_no_gap(self, store: Store) -> None:
        store.marks.put_gaps(A, REV, [missing(1), missing(30)], 100)
        assert [gap.pin for gap in store.marks.gaps()] == [pin_id(30)]

    def test_what_nobody_lists_any_more_is_forgotten(self, store: Store) -> None:
        store.marks.put_gaps(A, REV, [missing(20), missing(21)], 100)
        store.marks.put_gaps(B, REV, [missing(20)], 100)
        store.marks.close_gaps(A, [pin_id(20), pin_id(99)])
        assert {(gap.indexer, gap.pin) for gap in store.marks.gaps()} == {
            (A, pin_id(21)),
            (B, pin_id(20)),
        }


def test_what_is_known_of_indexers_is_replaced(store: Store) -> None:
    assert store.marks.indexers() == []
    store.marks.put_indexer(Indexed(B, 7, 100, 100, 12))
    store.marks.put_indexer(Indexed(A))
    store.marks.put_indexer(Indexed(B, None, 200, 100, None))
    assert store.marks.indexers() == [Indexed(A), Indexed(B, None, 200, 100, None)]


class TestRivals:
    """The first that has a say places a pin; the pins stand by A's word at first."""

    ABOVE = Rivals(above=frozenset([A]))
    BELOW = Rivals(below=frozenset([A]))

    def test_who_counts_less_moves_nothing(self, store: Store) -> None:
        for word in (
            store.pins.move([(pin_id(1), Place(30, 2))], B, self.ABOVE),
            store.pins.move([(pin_id(1), NOWHERE)], B, self.ABOVE),
            store.pins.vanish([pin_id(1)], B, self.ABOVE),
            store.pins.write([pin(1, 30, 2)], B, self.ABOVE),
        ):
            assert [one.outcome for one in word] == ["elsewhere"]
        assert store.pins.place(pin_id(1)) == Place(11, 1)
        assert store.pins.moves(pin_id(1)) == []
        assert store.marks.changed_from(WIKI) is None

    def test_who_counts_more_moves_but_takes_nothing_away(self, store: Store) -> None:
        store.pins.vanish([pin_id(1)], B, self.BELOW)
        store.pins.move([(pin_id(1), NOWHERE)], B, self.BELOW)
        assert store.pins.place(pin_id(1)) == Place(11, 1)
        store.pins.move([(pin_id(1), Place(30, 2))], B, self.BELOW)
        assert store.pins.place(pin_id(1)) == Place(30, 2)
        store.pins.move([(pin_id(1), Place(11, 1))], A, Rivals(above=frozenset([B])))
        assert store.pins.place(pin_id(1)) == Place(30, 2)

    def test_who_says_the_same_and_counts_more_takes_over(self, store: Store) -> None:
        store.pins.move([(pin_id(1), Place(11, 1))], B, self.BELOW)
        assert store.pins.standing([pin_id(1)])[pin_id(1)].placed_by == B
        assert store.pins.moves(pin_id(1)) == []
        assert store.marks.changed_from(WIKI) is None

    def test_a_pin_that_nobody_places_is_anybodys(self, store: Store) -> None:
        store.pins.move([(pin_id(1), NOWHERE)], A)
        store.pins.move([(pin_id(1), Place(12, 3))], B, self.ABOVE)
        assert store.pins.place(pin_id(1)) == Place(12, 3)
        store.pins.vanish([pin_id(1)], A, Rivals(below=frozenset([B])))
        assert store.pins.place(pin_id(1)) == Place(12, 3)

    def test_who_has_no_say_any_more_gives_way(self, store: Store) -> None:
        store.pins.move([(pin_id(1), Place(12, 3))], B)
        store.pins.vanish([pin_id(2)], B)
        assert store.pins.place(pin_id(1)) == Place(12, 3)
        assert store.pins.place(pin_id(2)) == NOWHERE

    def test_a_copy_of_the_mempool_places_nothing(self, store: Store) -> None:
        store.pins.write([pin(1, None)], B, self.BELOW)
        assert store.pins.standing([pin_id(1)])[pin_id(1)].placed_by == A
