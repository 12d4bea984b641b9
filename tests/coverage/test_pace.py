"""The pace: whoever asks and however often, no host is asked more than is published."""

import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.receipts import NOW
from cases.servers import BASE, scripted
from coverage.api.served import walker
from coverage.receipts import EXAMPLE_TEXT
from refold.coverage.jobs.limits import MAX_NAMES
from refold.coverage.jobs.pace import Pace, Rhythm
from refold.coverage.jobs.walker import THREADS

HOSTS = ("a.test", "b.test", "c.test")


class Hand:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def most_within(times: Sequence[float], seconds: float) -> int:
    """Give how many of some times lie in the fullest window of so many seconds."""
    return max(sum(at <= other < at + seconds for other in times) for at in times)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(HOSTS), st.floats(0, 3), st.integers(0, 3)),
        min_size=1,
        max_size=40,
    ),
    burst=st.integers(1, 5),
    window=st.floats(0.1, 5),
)
def test_no_window_has_more_than_burst_and_pace(
    steps: list[tuple[str, float, int]], burst: int, window: float
) -> None:
    hand = Hand()
    host, together = Rhythm(0.5, burst), Rhythm(0.1, 2 * burst)
    pace = Pace(host, together, clock=hand.clock, sleep=hand.sleep)
    asked: list[tuple[float, str]] = []
    for name, pause, _ in steps:
        hand.sleep(pause)
        pace.take(name)
        asked.append((hand.now, name))
    slack = 1e-6
    for name in {name for _, name in asked}:
        times = [at for at, other in asked if other == name]
        assert most_within(times, window) <= burst + window / host.every + 1 + slack
    every = [at for at, _ in asked]
    assert most_within(every, window) <= 2 * burst + window / together.every + 1 + slack


@given(st.integers(1, 30), st.integers(1, 5))
def test_what_went_out_already_is_waited_for(spent: int, burst: int) -> None:
    hand = Hand()
    rhythm = Rhythm(0.5, burst)
    pace = Pace(rhythm, Rhythm(0.0, 1), clock=hand.clock, sleep=hand.sleep)
    pace.spend("a.test", spent)
    pace.take("a.test")
    assert hand.now - 1_000 == max(0, spent - burst + 1) * rhythm.every
    before = hand.now
    pace.take("b.test")
    assert hand.now == before


@given(st.integers(1, 20))
def test_a_place_that_is_not_free_is_not_taken(burst: int) -> None:
    hand = Hand()
    pace = Pace(Rhythm(2.0, burst), clock=hand.clock, sleep=hand.sleep)
    assert [pace.wait_for("anna") for _ in range(burst)] == [0.0] * burst
    assert [pace.wait_for("anna") for _ in range(3)] == [2.0] * 3
    assert pace.wait_for("ben") == 0.0
    hand.sleep(2.0)
    assert pace.wait_for("anna") == 0.0


def test_names_without_end_take_no_memory_without_end() -> None:
    hand = Hand()
    pace = Pace(Rhythm(0.5, 1), Rhythm(0.0, 1), clock=hand.clock, sleep=hand.sleep)
    for number in range(3 * MAX_NAMES):
        hand.sleep(0.01)
        pace.take(f"{number}.test")
    assert len(pace._next) <= MAX_NAMES


def test_threads_take_turns() -> None:
    hand = Hand()
    lock, slept = threading.Lock(), []

    def sleep(seconds: float) -> None:
        with lock:
            slept.append(round(seconds, 6))

    pace = Pace(Rhythm(0.5, 1), Rhythm(0.0, 1), clock=hand.clock, sleep=sleep)
    threads = [threading.Thread(target=pace.take, args=("a.test",)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(slept) == [0.5, 1.0, 1.5, 2.0]


class Counting(Pace):
    """Counts what a host was charged."""

    def __init__(self) -> None:
        super().__init__(Rhythm(0.0, 1), Rhythm(0.0, 1))
        self.charged: list[str] = []

    def take(self, host: str) -> None:
        self.charged.append(host)

    def spend(self, host: str, requests: int) -> None:
        self.charged += [host] * requests


ROUTES = {
    "answers": [{"get": "/items", "json": {"items": "range(1,3)"}}],
    "redirects": [
        {"get": "/items", "status": 301, "headers": {"Location": "/v2"}},
        {"get": "/v2", "json": {"items": "range(1,3)"}},
    ],
    "fails": [{"get": "/items", "status": 503}],
    "fails once": [
        {"get": "/items", "nth": 1, "status": 503},
        {"get": "/items", "json": {"items": "range(1,3)"}},
    ],
}


@pytest.mark.parametrize(("thread", "lines"), [(f"{THREADS} 7", 0), ("another", 3)])
def test_strangers_write_no_lines_into_the_log(
    caplog: pytest.LogCaptureFixture, thread: str, lines: int
) -> None:
    def work(origin: str) -> None:
        walk = walker({BASE: origin})
        walk(EXAMPLE_TEXT.encode(), NOW, lambda _unit, _spent: None, sources=False)

    with scripted({"routes": ROUTES["fails"]}) as (server, _):
        walking = threading.Thread(target=work, args=(server.origin,), name=thread)
        walking.start()
        walking.join()
    assert len(caplog.records) == lines


def test_each_request_is_charged_to_its_host_retries_and_redirects_too() -> None:
    for routes in ROUTES.values():
        counting = Counting()
        with scripted({"routes": routes}) as (server, answers):
            walk = walker({BASE: server.origin}, pace=counting)
            walk(EXAMPLE_TEXT.encode(), NOW, lambda _unit, _spent: None, sources=False)
        host = "api.example.test"
        assert counting.charged.count(host) == len(answers.asked)
        assert set(counting.charged) - {host} == {"[127.0.0.1]"}
        assert counting.charged.count("[127.0.0.1]") == server.connections
