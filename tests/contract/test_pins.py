"""The contract of `refold.metaid.store.Pins`, on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.databases import wipe
from contract.samples import REV, REVIEW, A, B, pin, pin_id
from refold.db import Database
from refold.kernel.canon import MAX_INTEGER
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store import (
    NOWHERE,
    Anchor,
    Cursor,
    Held,
    Moved,
    Position,
    Store,
    open_store,
    reading,
)


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """Give a store in one transaction."""
    with database.write() as connection:
        yield open_store(connection)


@contextmanager
def opened(database: Database) -> Iterator[Store]:
    with database.write() as connection:
        yield open_store(connection)


def outcomes(store: Store, *pins: Pin, source: str = A) -> list[str]:
    return [written.outcome for written in store.pins.write(pins, source)]


def place_of(store: Store, number: int) -> Place | None:
    return store.pins.place(pin_id(number))


def with_(pin: Pin, member: str, value: object) -> Pin:
    return msgspec.structs.replace(pin, **{member: value})


class TestWriting:
    def test_a_pin_comes_back_as_it_was_given(self, store: Store) -> None:
        given = pin(
            1,
            7,
            3,
            status=-1,
            history=(pin_id(1), pin_id(2)),
            target=pin_id(3),
            host="somewhere",
            body=bytes(range(256)),
        )
        assert outcomes(store, given) == ["new"]
        assert list(store.pins.confirmed()) == [given]
        held = store.pins.read(given.id)
        assert held
        assert (held.pin, held.source, held.state, held.size) == (given, A, "confirmed", 256)
        assert store.pins.body(held.sha256) == given.body

    def test_writing_again_changes_nothing(self, store: Store) -> None:
        pins = [pin(1, 7), pin(2, None), pin(3, 8, body=b"")]
        assert outcomes(store, *pins) == ["new"] * 3
        assert outcomes(store, *pins) == ["same"] * 3
        assert outcomes(store, *pins, *pins, source=B) == ["same"] * 6
        assert store.pins.moves(pin_id(1)) == []
        assert store.pins.conflicts() == []

    def test_the_first_source_stays(self, store: Store) -> None:
        outcomes(store, pin(1))
        outcomes(store, pin(1), source=B)
        held = store.pins.read(pin_id(1))
        assert held
        assert held.source == A

    def test_a_pin_that_was_mined_again_stands_where_the_later_word_says(
        self, store: Store
    ) -> None:
        store.pins.write([pin(1, 7, 1)], A)
        (written,) = store.pins.write([pin(1, 8, 2)], B)
        assert (written.outcome, written.before, written.after) == ("moved", (7, 1), (8, 2))
        assert list(store.pins.confirmed()) == [pin(1, 8, 2)]
        outcomes(store, pin(1, 8, 3))
        assert store.pins.moves(pin_id(1)) == [
            Moved(Place(7, 1), Place(8, 2), B),
            Moved(Place(8, 2), Place(8, 3), A),
        ]

    def test_two_pins_may_swap_their_places_in_one_batch(self, store: Store) -> None:
        outcomes(store, pin(1, 7, 1), pin(2, 7, 2))
        assert outcomes(store, pin(1, 7, 2), pin(2, 7, 1)) == ["moved", "moved"]
        assert [(p.id, p.tx_index) for p in store.pins.confirmed()] == [
            (pin_id(2), 1),
            (pin_id(1), 2),
        ]

    def test_a_pin_may_come_twice_in_one_batch(self, store: Store) -> None:
        written = store.pins.write([pin(1, None), pin(1, 7), pin(1, 8), pin(1, 8)], A)
        assert [w.outcome for w in written] == ["new", "moved", "moved", "same"]
        assert list(store.pins.confirmed()) == [pin(1, 8)]
        assert list(store.pins.pending()) == []
        assert store.pins.moves(pin_id(1)) == [Moved(Place(7, 0), Place(8, 0), A)]

    @pytest.mark.parametrize(
        ("member", "value"),
        [
            ("path", REVIEW),
            ("sender", "idq1" + "z" * 38),
            ("body", b"another"),
            ("operation", "revoke"),
            ("encryption", "1"),
            ("version", "2.0"),
            ("content_type", "text/plain"),
            ("target", pin_id(9)),
            ("host", "elsewhere"),
            ("chain", "btc"),
        ],
    )
    def test_a_copy_that_differs_in_what_never_changes_is_a_conflict(
        self, store: Store, member: str, value: object
    ) -> None:
        """The first copy stays, and both sources are named."""
        first = pin(1, 7, target=pin_id(8), host="somewhere")
        other = with_(first, member, value)
        store.pins.write([first], A)
        (written,) = store.pins.write([other], B)
        assert (written.outcome, written.differs) == ("conflict", (member,))
        assert list(store.pins.confirmed()) == [first]
        (conflict,) = store.pins.conflicts(first.id)
        assert (conflict.kept_source, conflict.source, conflict.differs) == (A, B, (member,))
        body = store.pins.body(conflict.sha256)
        assert (conflict.copy, body) == (with_(other, "body", b""), other.body)

    def test_a_conflict_is_noted_once_for_each_source(self, store: Store) -> None:
        store.pins.write([pin(1, 7)], A)
        for source in (A, B, B):
            for height in (7, 8):
                (written,) = store.pins.write([pin(1, height, body=b"x")], source)
                assert written.outcome == "conflict"
        assert [met.source for met in store.pins.conflicts()] == [A, B]

    def test_the_place_of_a_conflicting_copy_counts(self, store: Store) -> None:
        """Or indexers that disagree on an author would leave a pin where no block has it."""
        store.pins.write([pin(1, 7)], A)
        (written,) = store.pins.write([pin(1, 8, body=b"x")], B)
        assert (written.outcome, written.before, written.after) == ("conflict", (7, 0), (8, 0))
        (kept,) = store.pins.confirmed()
        assert (kept.height, kept.body) == (8, pin(1).body)

    def test_what_was_not_said_is_filled_in_and_never_lost(self, store: Store) -> None:
        bare = pin(1, content_type=None, version="", address="", chain="")
        assert outcomes(store, bare, pin(1), bare) == ["new", "amended", "same"]
        assert list(store.pins.confirmed()) == [pin(1)]

    def test_what_may_change_is_amended(self, store: Store) -> None:
        changed = pin(1, status=1, timestamp=5, address="another", history=(pin_id(1), pin_id(2)))
        assert outcomes(store, pin(1), changed) == ["new", "amended"]
        assert list(store.pins.confirmed()) == [changed]
        assert store.pins.moves(pin_id(1)) == []

    @pytest.mark.parametrize(
        ("wrong", "differs"),
        [
            (pin(1, id="no id"), ("id",)),
            (pin(1, MAX_INTEGER + 1), ("height",)),
            (pin(1, -1), ("height",)),
            (pin(1, 1, 10**30), ("tx_index",)),
            (pin(1, 1, -1), ("tx_index",)),
            (pin(1, timestamp=10**30, status=-(10**30)), ("timestamp", "status")),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
    )
    def test_a_pin_that_no_store_could_keep_costs_no_other(
        self, store: Store, wrong: Pin, differs: tuple[str, ...]
    ) -> None:
        written = store.pins.write([pin(2), wrong, pin(3)], A)
        assert [w.outcome for w in written] == ["new", "refused", "new"]
        assert written[1].differs == differs
        assert len(list(store.pins.confirmed())) == 2

    def test_numbers_at_the_bounds_are_kept(self, store: Store) -> None:
        last = pin(1, MAX_INTEGER, MAX_INTEGER, timestamp=-MAX_INTEGER, status=MAX_INTEGER)
        assert outcomes(store, last) == ["new"]
        assert list(store.pins.confirmed()) == [last]

    def test_more_pins_than_one_statement_takes(self, store: Store) -> None:
        pins = [pin(number, number // 7, number % 7) for number in range(reading.BATCH * 2 + 1)]
        assert set(outcomes(store, *pins)) == {"new"}
        assert set(outcomes(store, *pins)) == {"same"}
        assert list(store.pins.confirmed()) == pins

    def test_equal_bodies_are_kept_once(self, store: Store) -> None:
        outcomes(store, pin(1, body=b"x"), pin(2, body=b"x"), pin(3, None, body=b"x"))
        counts = store.pins.counts()
        assert (counts.bodies, counts.body_bytes) == (1, 1)
        assert [p.body for p in store.pins.confirmed()] == [b"x", b"x"]


class TestMempool:
    def test_pins_of_the_mempool_wait_apart(self, store: Store) -> None:
        assert outcomes(store, pin(1, None, 5)) == ["new"]
        assert list(store.pins.confirmed()) == []
        assert list(store.pins.pending()) == [pin(1, None)]
        assert place_of(store, 1) == NOWHERE
        assert store.pins.among([pin_id(1)]) == set()

    def test_a_copy_out_of_a_block_takes_their_place_whatever_they_said(self, store: Store) -> None:
        store.pins.write([pin(1, None, body=b"before", sender="idq1x")], A)
        (written,) = store.pins.write([pin(1, 7)], B)
        assert (written.outcome, written.before, written.after) == ("moved", NOWHERE, (7, 0))
        assert list(store.pins.pending()) == []
        assert list(store.pins.confirmed()) == [pin(1, 7)]
        assert store.pins.conflicts() == []
        held = store.pins.read(pin_id(1))
        assert held
        assert (held.source, held.state) == (B, "confirmed")

    def test_they_unseat_no_confirmed_pin(self, store: Store) -> None:
        """Indexers go on listing them for a while."""
        assert outcomes(store, pin(1, 7), pin(1, None, timestamp=1, status=1)) == ["new", "same"]
        assert list(store.pins.confirmed()) == [pin(1, 7)]
        assert list(store.pins.pending()) == []

    def test_two_copies_of_the_mempool_may_conflict_too(self, store: Store) -> None:
        store.pins.write([pin(1, None)], A)
        (written,) = store.pins.write([pin(1, None, sender="idq1x")], B)
        assert (written.outcome, written.differs) == ("conflict", ("sender",))
        assert list(store.pins.pending()) == [pin(1, None)]
        assert len(store.pins.conflicts()) == 1

    def test_their_copy_is_amended_and_keeps_its_body(self, store: Store) -> None:
        given = pin(1, None, body=b"a body", version="")
        assert outcomes(store, given) == ["new"]
        assert outcomes(store, pin(1, None, body=b"a body")) == ["amended"]
        held = store.pins.read(pin_id(1))
        assert held
        assert held.pin == pin(1, None, body=b"a body")
        assert (held.size, held.source) == (6, A)

    def test_when_it_was_first_seen_is_not_amended(self, store: Store) -> None:
        """Each indexer says another time."""
        first, later = pin(1, None, timestamp=5), pin(1, None, timestamp=6)
        assert outcomes(store, first, later) == ["new", "same"]
        assert outcomes(store, msgspec.structs.replace(later, status=1)) == ["amended"]
        assert [found.timestamp for found in store.pins.pending()] == [5]

    def test_no_move_confirms_what_was_not_read_out_of_a_block(self, store: Store) -> None:
        outcomes(store, pin(1, None))
        written = store.pins.move([(pin_id(1), Place(7, 0)), (pin_id(2), Place(7, 1))], A)
        assert [(w.outcome, w.before) for w in written] == [("unread", NOWHERE), ("unread", None)]
        assert list(store.pins.confirmed()) == []

    def test_they_go_when_nobody_knows_them_any_more(self, store: Store) -> None:
        outcomes(store, pin(1, None))
        (written,) = store.pins.vanish([pin_id(1)], A)
        assert (written.outcome, written.before, written.after) == ("moved", NOWHERE, None)
        assert place_of(store, 1) is None
        assert outcomes(store, pin(1, None)) == ["new"]


class TestLeavingBlocks:
    def test_a_roll_back_takes_pins_out_of_their_blocks_and_keeps_them(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, 6), pin(3, 7, 1), pin(4, 7, 0), pin(5, None))
        assert store.pins.roll_back(5, A) == 3
        assert list(store.pins.confirmed()) == [pin(1, 5)]
        pending = {p.id for p in store.pins.pending()}
        assert pending == {pin_id(n) for n in (2, 3, 4, 5)}
        assert store.pins.moves(pin_id(3)) == [Moved(Place(7, 1), NOWHERE, A)]
        assert store.pins.roll_back(5, A) == 0
        assert store.pins.roll_back(-1, A) == 1

    def test_they_come_back_where_they_are_read_next(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, 6))
        store.pins.roll_back(4, A)
        written = store.pins.write([pin(1, 5), pin(2, 8)], A)
        assert [(w.outcome, w.before, w.after) for w in written] == [
            ("moved", NOWHERE, (5, 0)),
            ("moved", NOWHERE, (8, 0)),
        ]
        assert list(store.pins.confirmed()) == [pin(1, 5), pin(2, 8)]
        assert list(store.pins.pending()) == []

    def test_a_pin_out_of_a_block_is_still_compared(self, store: Store) -> None:
        """Its copy was read out of a block once, unlike one of the mempool."""
        outcomes(store, pin(1, 5))
        store.pins.roll_back(4, A)
        assert outcomes(store, pin(1, 6, body=b"x"), source=B) == ["conflict"]
        assert [(p.height, p.body) for p in store.pins.confirmed()] == [(6, pin(1).body)]

    def test_a_roll_back_forgets_what_was_noted_above(self, store: Store) -> None:
        for height in (5, 6, 7):
            store.marks.put_anchors([Anchor(A, height, "block", f"hash {height}")])
        store.marks.put_cursor(Cursor(A, REV, "next", 7, is_complete=True))
        store.marks.put_cursor(Cursor(B, REV, "next", 4))
        store.pins.roll_back(5, A)
        assert [anchor.height for anchor in store.marks.anchors(A)] == [5]
        assert store.marks.cursors() == [
            Cursor(A, REV, "next", 5, is_complete=True),
            Cursor(B, REV, "next", 4),
        ]

    def test_a_move_without_a_copy(self, store: Store) -> None:
        outcomes(store, pin(1, 5, 1), pin(2, 5, 2))
        written = store.pins.move(
            [(pin_id(1), Place(6, 0)), (pin_id(2), NOWHERE), (pin_id(1), Place(6, 0))], B
        )
        assert [w.outcome for w in written] == ["moved", "moved", "same"]
        (moved,) = store.pins.confirmed()
        assert (moved.id, moved.height, moved.tx_index) == (pin_id(1), 6, 0)
        assert [p.id for p in store.pins.pending()] == [pin_id(2)]
        (refused,) = store.pins.move([(pin_id(1), Place(10**30, 0))], B)
        assert (refused.outcome, refused.differs) == ("refused", ("height",))
        assert place_of(store, 1) == (6, 0)

    def test_a_vanished_pin_is_kept_and_waits_for_nobody(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, 5, 1))
        written = store.pins.vanish([pin_id(1), pin_id(3), pin_id(1)], A)
        assert [w.outcome for w in written] == ["moved", "unread", "same"]
        assert [p.id for p in store.pins.confirmed()] == [pin_id(2)]
        assert list(store.pins.pending()) == []
        held = store.pins.read(pin_id(1))
        assert held
        assert (held.state, held.pin.height, held.pin.body) == ("vanished", None, pin(1).body)
        assert store.pins.counts().vanished == 1

    def test_a_vanished_pin_may_come_back(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, 5, 1))
        store.pins.vanish([pin_id(1), pin_id(2)], A)
        assert outcomes(store, pin(1, 6), pin(2, None)) == ["moved", "amended"]
        assert [p.id for p in store.pins.confirmed()] == [pin_id(1)]
        assert [p.id for p in store.pins.pending()] == [pin_id(2)]


class TestReading:
    def test_an_empty_store(self, store: Store) -> None:
        assert list(store.pins.confirmed()) == []
        assert list(store.pins.pending()) == []
        assert store.pins.heights() is None
        assert store.pins.read(pin_id(1)) is None
        assert place_of(store, 1) is None
        assert store.pins.body("00" * 32) is None
        assert store.pins.counts().confirmed == {}

    @pytest.mark.parametrize("rows", [1, 2, 3, 1000])
    def test_the_order_is_height_index_and_id_as_text(
        self, store: Store, rows: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In chunks of any size, from behind any position."""
        monkeypatch.setattr(reading, "CHUNK_ROWS", rows)
        pins = [pin(number, number % 3 * 10, number % 2) for number in range(12)]
        outcomes(store, *pins)
        order = sorted(pins, key=lambda p: (p.height, p.tx_index, p.id))
        assert list(store.pins.confirmed()) == order
        for number, last in enumerate(order):
            after = Position(last.height or 0, last.tx_index, last.id)
            assert list(store.pins.confirmed(after)) == order[number + 1 :]
        assert list(store.pins.confirmed(Position(10, 0, ""))) == order[4:]
        assert list(store.pins.confirmed(until=10)) == order[:8]
        assert list(store.pins.confirmed(Position(10, 0, ""), until=10)) == order[4:8]

    def test_chunks_end_where_bodies_become_too_many(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "CHUNK_BYTES", 100)
        sizes: list[int] = []
        fetch = reading.bodies_of

        def watched(*arguments: object) -> dict[str, bytes]:
            found: dict[str, bytes] = fetch(*arguments)  # type: ignore[arg-type]  # passed on
            sizes.append(sum(map(len, found.values())))
            return found

        monkeypatch.setattr(reading, "bodies_of", watched)
        bodies = [bytes([number]) * size for number, size in enumerate((60, 30, 60, 500, 1, 99, 1))]
        pins = [pin(number, number, body=body) for number, body in enumerate(bodies)]
        outcomes(store, *pins)
        assert list(store.pins.confirmed()) == pins
        assert sizes == [90, 60, 500, 100, 1]

    def test_paths_are_chosen(self, store: Store) -> None:
        outcomes(store, pin(1, 1), pin(2, 2, path=REVIEW), pin(3, None), pin(4, None, path=REVIEW))
        assert [p.id for p in store.pins.confirmed(paths=[REVIEW])] == [pin_id(2)]
        assert [p.id for p in store.pins.pending(paths=[REVIEW])] == [pin_id(4)]
        assert len(list(store.pins.confirmed(paths=[REV, REVIEW]))) == 2
        assert store.pins.counts().confirmed == {REV: 1, REVIEW: 1}

    def test_what_is_written_ahead_is_seen(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "CHUNK_ROWS", 2)
        outcomes(store, *(pin(number, number) for number in range(4)))
        seen = []
        for found in store.pins.confirmed():
            seen.append(found.height)
            if found.height == 1:
                outcomes(store, pin(9, 9))
        assert seen == [0, 1, 2, 3, 9]

    def test_places_in_a_window_and_in_no_block(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, 6, 3), pin(3, 7), pin(4, None), pin(5, 7, path=REVIEW))
        outcomes(store, pin(6, None, path=REVIEW), pin(7, 9), pin(8, 9, 1))
        store.pins.move([(pin_id(7), NOWHERE)], A)
        store.pins.vanish([pin_id(8)], A)
        assert dict(store.pins.places_from(6, REV)) == {
            pin_id(2): (6, 3),
            pin_id(3): (7, 0),
            pin_id(4): NOWHERE,
            pin_id(7): NOWHERE,
        }
        assert [place_of(store, number) for number in (2, 4, 7, 8, 9)] == [
            (6, 3),
            NOWHERE,
            NOWHERE,
            NOWHERE,
            None,
        ]

    def test_counts_and_heights(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, 9), pin(3, 7), pin(4, None), pin(5, 30), pin(6, 31))
        store.pins.move([(pin_id(5), NOWHERE)], A)
        store.pins.vanish([pin_id(6)], A)
        outcomes(store, pin(1, 5, body=b"x"), source=B)
        counts = store.pins.counts()
        assert (counts.unconfirmed, counts.vanished, counts.mempool) == (1, 1, 1)
        assert (counts.confirmed, counts.bodies, counts.conflicts) == ({REV: 3}, 7, 1)
        assert store.pins.heights() == (5, 9)

    def test_copies_out_of_blocks_are_known_among_ids(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, None), pin(3, 6))
        store.pins.vanish([pin_id(3)], A)
        asked = [pin_id(number) for number in range(reading.BATCH + 1)]
        assert store.pins.among(asked) == {pin_id(1), pin_id(3)}


class TestAuthorsAndBodies:
    def test_verdicts_on_authors_are_kept_through_all_that_happens(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, 6), pin(3, 7))
        assert store.pins.without_author(2) == [
            Position(5, 0, pin_id(1)),
            Position(6, 0, pin_id(2)),
        ]
        store.pins.put_authors({pin_id(1): "proven", pin_id(2): "unproven"})
        store.pins.put_authors({})
        outcomes(store, pin(1, 8, status=1))
        assert store.pins.without_author(9) == [Position(7, 0, pin_id(3))]
        assert store.pins.without_author(9, Position(7, 0, pin_id(3))) == []
        every = [pin_id(number) for number in range(4)]
        assert store.pins.authors(every) == {pin_id(1): "proven", pin_id(2): "unproven"}
        held = store.pins.read(pin_id(1))
        assert isinstance(held, Held)
        assert (held.author, held.pin.height) == ("proven", 8)

    def test_bodies_that_nothing_names_are_pruned_and_no_other(self, store: Store) -> None:
        outcomes(store, pin(1, 5), pin(2, None), pin(3, None))
        outcomes(store, pin(1, 5, body=b"a conflict"), source=B)
        text = store.pins.put_body(b"a text that no fact names yet")
        assert store.pins.put_body(b"a text that no fact names yet") == text
        store.pins.vanish([pin_id(3)], A)
        assert store.pins.prune_bodies() == 2
        assert store.pins.body(text) is None
        assert store.pins.counts().bodies == 3
        assert [p.body for p in store.pins.confirmed()] == [pin(1).body]
        assert store.pins.prune_bodies() == 0


ANY = st.text(st.characters(codec=None) | st.sampled_from("\\\0\ud800"), max_size=5)


# One database for all examples: each begins by emptying it.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    texts=st.lists(ANY, min_size=9, max_size=9),
    content_type=st.none() | ANY,
    history=st.lists(ANY, max_size=2).map(tuple),
    height=st.none() | st.integers(0, MAX_INTEGER),
    body=st.binary(max_size=20),
)
def test_whatever_strangers_write_into_a_pin_comes_back(
    *,
    database: Database,
    texts: list[str],
    content_type: str | None,
    history: tuple[str, ...],
    height: int | None,
    body: bytes,
) -> None:
    path, sender, operation, encryption, version, target, host, address, chain = texts
    stranger = Pin(
        id=pin_id(1),
        path=path,
        height=height,
        tx_index=0,
        sender=sender,
        operation=operation,
        encryption=encryption,
        version=version,
        content_type=content_type,
        timestamp=5,
        body=body,
        history=history,
        target=target,
        host=host,
        address=address,
        chain=chain,
    )
    wipe(database)
    with opened(database) as store:
        (written,) = store.pins.write([stranger], texts[0])
        assert written.outcome == "new"
    with opened(database) as store:
        held = store.pins.read(pin_id(1))
        assert held
        assert (held.pin, held.source) == (stranger, texts[0])
        found = store.pins.pending if height is None else store.pins.confirmed
        assert list(found(paths=[texts[0]])) == [stranger]
        assert {w.outcome for w in store.pins.write([stranger], A)} == {"same"}
