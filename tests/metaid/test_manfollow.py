"""Incremental walks against the local chain: what is new, what moved, what vanished."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaid.mans import HTML, Answer, Indexer, client, one, pin_id, row, transport_of, whole
from metaid.worlds import PATH, World, place, populate, seen, settled, world
from refold.metaid.devnet.quirks import PROFILE_NAMES
from refold.metaid.man import follow as manfollow
from refold.metaid.man.follow import Follow, Followed
from refold.metaid.man.overlap import Place
from refold.metaid.man.walk import Limits, Walk
from refold.metaid.pin import Pin

WINDOW = 4


class Reader:
    """A store of one path, kept up to date by walks as a sync would."""

    def __init__(self, here: World) -> None:
        self.here = here
        self.pins: dict[str, Pin] = {}
        self.places: dict[str, Place] = {}

    @property
    def floor(self) -> int:
        return self.here.net.height - WINDOW

    def add(self, pins: tuple[Pin, ...]) -> None:
        for pin in pins:
            self.pins[pin.id] = pin
            self.places[pin.id] = place(pin)

    def whole(self, size: int = 7) -> None:
        for page in Walk(self.here.man(), PATH, size=size):
            self.add(page.pins)

    def follow(self, **options: Any) -> Followed:
        held = [
            (name, p)
            for name, p in self.places.items()
            if p.height is None or p.height >= self.floor
        ]
        going = Follow(self.here.man(), PATH, self.places.get, self.floor, **options)
        for page in going:
            self.add(page.pins)
        done = going.settle(held)
        for move in (*done.changes.confirmed, *done.changes.moved, *done.moved):
            self.places[move.id] = move.after
        for name in done.vanished:
            del self.places[name], self.pins[name]
        return done

    def matches(self) -> bool:
        truth = self.here.truth()
        bodies = {name: pin.body for name, pin in self.pins.items()}
        return self.places == {name: Place(h, i) for name, (h, i, _) in truth.items()} and (
            bodies == {name: body for name, (_, _, body) in truth.items()}
        )


@pytest.fixture(params=["man-v2", "man-p2p"])
def reader(request: pytest.FixtureRequest) -> Iterator[Reader]:
    with world() as here:
        here.net.quirks(request.param, ignores_reorgs=False)
        here.ids = populate(here)
        made = Reader(here)
        made.whole()
        assert made.matches()
        yield made


def test_an_idle_day_takes_single_digit_requests(reader: Reader) -> None:
    """AC-E3; also with cut bodies on the page, for the caller holds them."""
    reader.here.net.mine(WINDOW + 2)
    reader.follow()
    done = reader.follow()
    assert done.is_covered
    assert not any((done.changes.new, done.changes.moved, done.vanished, done.unchecked))
    assert done.report.requests < 10
    assert done.report.pages <= 2
    assert reader.matches()


def test_new_and_confirmed_pins_are_told_apart(reader: Reader) -> None:
    here = reader.here
    waiting = {pin.id for pin in here.net.waiting(PATH)}
    here.net.mine()
    fresh = here.write(3, start=500)
    done = reader.follow()
    assert set(done.changes.new) == set(fresh)
    assert {move.id for move in done.changes.confirmed} == waiting
    assert done.changes.moved == ()
    assert reader.matches()


def test_a_block_in_another_order_is_seen_by_its_places(reader: Reader) -> None:
    """No height changes, and yet the fold would differ (agentpedia spec §12)."""
    here = reader.here
    before = dict(reader.places)
    here.net.mine()
    reader.follow()
    here.net.reorg(2, order="reversed")
    done = reader.follow()
    assert done.changes.moved
    assert reader.matches()
    assert reader.places != before


def test_what_a_reorganisation_drops_vanishes_or_waits_again(reader: Reader) -> None:
    here = reader.here
    here.net.mine()
    reader.follow()

    def top() -> list[str]:
        return [name for name, p in reader.places.items() if p.height == here.net.height]

    back = top()[-1]
    here.net.reorg(1, drop=[back])
    done = reader.follow()
    assert back in {move.id for move in done.changes.moved}
    assert reader.matches()
    here.net.mine()
    reader.follow()
    gone = top()[-1]
    here.net.reorg(1, drop=[gone], fate="gone")
    done = reader.follow()
    assert gone in done.vanished
    assert reader.matches()


def test_pins_listed_behind_known_ones_are_found_by_a_whole_walk(reader: Reader) -> None:
    """A record that could not be loaded before, deep in the list (agentpedia spec §12)."""
    late = next(name for name, p in reader.places.items() if p.height == 1_002)
    del reader.pins[late], reader.places[late]
    reader.here.net.mine(WINDOW + 2)
    reader.follow(size=5)
    assert late not in reader.places
    reader.whole()
    assert reader.matches()


def test_an_indexer_that_lists_nothing_takes_nothing_away(reader: Reader) -> None:
    """Success and an empty list are no proof of absence: each pin is asked for."""
    here = reader.here
    here.net.quirks(lost_rows=100)
    done = reader.follow()
    assert (done.vanished, done.moved) == ((), ())
    assert done.changes.unlisted
    assert reader.matches()


def test_an_oldest_first_list_is_walked_to_its_end() -> None:
    with world() as here:
        here.ids = populate(here)
        here.net.mine()
        made = Reader(here)
        made.whole()
        fresh = here.write(2, start=900)
        here.net.mine()
        done = made.follow()
        assert set(done.changes.new) == set(fresh)
        assert made.matches()


@settings(max_examples=10)
@given(st.data())
def test_a_reader_keeps_up_with_a_chain_that_moves_under_it(data: st.DataObject) -> None:
    """Whatever happens between pages and between walks: once it is quiet, the reader has it all."""
    with world() as here:
        profile = data.draw(st.sampled_from(PROFILE_NAMES))
        here.net.quirks(profile, ignores_reorgs=False, modify="never")
        here.ids = populate(here, blocks=4)
        made = Reader(here)
        events = st.sampled_from(["write", "mine", "reorg", "swap", "none"])

        def happen() -> None:
            event = data.draw(events)
            if event == "write":
                here.write(2, start=data.draw(st.integers(100, 10**6)))
            elif event == "mine":
                here.net.mine(order="shuffled")
            elif event == "reorg":
                here.net.reorg(1 + data.draw(st.integers(0, 2)), order="txid")
            elif event == "swap":
                here.net.reorg(1, order="reversed", blocks=2)

        for page in Walk(here.man(), PATH, size=5):
            made.add(page.pins)
            happen()
        for _ in range(3):
            happen()
            made.follow()
        made.follow()
        truth = here.truth() if profile in {"man-v2", "man-p2p"} else settled(here.truth())
        deep = {n: e for n, e in truth.items() if e[0] is None or e[0] > 1_000}
        assert {n: made.places[n] for n in deep} == {
            n: Place(h, i) for n, (h, i, _) in deep.items()
        }
        assert {n: seen(made.pins)[n][2] for n in truth} == {n: e[2] for n, e in truth.items()}
        assert set(made.places) - set(here.truth()) == set()


# --- what the details say, and do not ------------------------------------------------------------


def followed(details: dict[str, Answer], held: dict[str, Place], **options: Any) -> Followed:
    man = client(Indexer([[row(1, 120), row(2, 90), row(3, 80)]], details))
    places = {pin_id(2): Place(90, 0), pin_id(3): Place(80, 0)} | held
    going = Follow(man, PATH, places.get, 100, heights=False, **options)
    list(going)
    return going.settle(held.items())


def test_unlisted_pins_are_asked_for_one_by_one() -> None:
    held = {pin_id(n): Place(110 + n, 1) for n in range(4, 8)} | {pin_id(9): Place(None, 0)}
    details: dict[str, Answer] = {
        pin_id(4): one(whole(row(4, 114, 1))),
        pin_id(5): one(whole(row(5, 130, 2))),
        pin_id(6): (500, HTML),
        pin_id(9): one(whole(row(9, 131, 3))),
    }
    done = followed(details, held)
    assert set(done.changes.unlisted) == set(held)
    assert done.vanished == (pin_id(7),)
    assert {move.id: move.after for move in done.moved} == {
        pin_id(5): Place(130, 2),
        pin_id(9): Place(131, 3),
    }
    assert [(entry.id, entry.height, entry.code) for entry in done.unchecked] == [
        (pin_id(6), 116, "man-status")
    ]


def test_no_more_details_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manfollow, "MAX_CHECKS", 2)
    held = {pin_id(n): Place(110, n) for n in range(4, 8)}
    done = followed({}, held)
    assert len(done.vanished) == 2
    assert [entry.code for entry in done.unchecked] == ["check-limit"] * 2


def test_a_walk_that_did_not_cover_its_window_says_nothing_of_what_it_did_not_list() -> None:
    held = {pin_id(4): Place(110, 1)}
    done = followed({}, held, limits=Limits(pages=0))
    assert not done.is_covered
    assert (done.vanished, done.report.requests) == ((), 0)


def test_an_unreadable_entry_may_be_news() -> None:
    broken = row(4, 85) | {"contentBody": {}}
    man = client(Indexer([[row(1, 90), broken, row(2, 80)]], {pin_id(4): one(whole(row(4, 85)))}))
    places = {pin_id(n): Place(100 - 10 * n, 0) for n in range(1, 3)}
    going = Follow(man, PATH, places.get, 95, heights=False)
    assert {pin.id for page in going for pin in page.pins} == {pin_id(4)}
    assert going.settle([]).report.end.reason == "exhausted"


def test_a_walk_that_stops_asks_for_no_further_page() -> None:
    pages = [[row(1, 90), row(2, 80)], [row(3, 70)]]
    man = client(Indexer(pages))
    places = {pin_id(n): Place(100 - 10 * n, 0) for n in range(1, 4)}
    going = Follow(man, PATH, places.get, 95, heights=False)
    assert len(list(going)) == 1
    done = going.settle([])
    assert (done.is_covered, done.report.end.reason) == (True, "stopped")
    assert transport_of(man).requests == 1
