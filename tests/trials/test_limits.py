"""Limits on how often: buckets under a clock of the test."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.trials import limits
from refold.trials.limits import RATES, Rates, network_of

MINUTE = "posts.minute"


def test_so_many_at_once_then_one_as_the_bucket_fills() -> None:
    rates = Rates({MINUTE: 3})
    assert [rates.take([MINUTE], "a", 0.0) for _ in range(3)] == [None] * 3
    refused = rates.take([MINUTE], "a", 0.0)
    assert refused is not None
    assert rates.excess(MINUTE, "a", 0.0) == refused
    assert rates.excess(MINUTE, "b", 0.0) is None
    assert (refused.rate.id, refused.rate.count, refused.seconds) == (MINUTE, 3, 20)
    assert rates.take([MINUTE], "a", 20.0) is None
    assert rates.take([MINUTE], "a", 20.0) is not None
    assert rates.take([MINUTE], "b", 0.0) is None, "another key has its own"


@given(
    count=st.integers(1, 20),
    tries=st.lists(st.floats(0, 30, allow_nan=False), max_size=60),
)
@settings(max_examples=60)
def test_trying_makes_nobody_wait_longer(count: int, tries: list[float]) -> None:
    """Whoever waits as long as the first refusal says is let in, however often they tried."""
    rates = Rates({MINUTE: count})
    while rates.take([MINUTE], "a", 0.0) is None:
        pass
    first = rates.take([MINUTE], "a", 0.0)
    assert first is not None
    for moment in sorted(min(each, first.seconds * 0.99) for each in tries):
        if moment < 60 / count * 0.99:
            assert rates.take([MINUTE], "a", moment) is not None
    assert rates.take([MINUTE], "a", float(first.seconds)) is None


@given(
    count=st.integers(1, 10),
    steps=st.lists(st.floats(0, 40, allow_nan=False), min_size=1, max_size=80),
)
@settings(max_examples=60)
def test_no_more_get_in_than_the_bucket_holds_and_what_filled_it(
    count: int, steps: list[float]
) -> None:
    rates = Rates({MINUTE: count})
    now, taken = 0.0, 0
    for step in steps:
        now += step
        excess = rates.take([MINUTE], "a", now)
        taken += excess is None
        if excess is not None:
            assert 1 <= excess.seconds <= 60 // count + 1
    assert taken <= count + now * count / 60 + 1e-6


def test_of_several_limits_nothing_is_taken_unless_all_have_room() -> None:
    rates = Rates({MINUTE: 5, "posts.day": 1})
    both = (MINUTE, "posts.day")
    assert rates.take(both, "a", 0.0) is None
    refused = rates.take(both, "a", 0.0)
    assert refused is not None
    assert refused.rate.id == "posts.day"
    assert [rates.take([MINUTE], "a", 0.0) for _ in range(4)] == [None] * 4, "only one was taken"


def test_what_is_given_back_can_be_taken_again() -> None:
    rates = Rates({MINUTE: 1})
    assert rates.take([MINUTE], "a", 0.0) is None
    rates.give_back([MINUTE], "a")
    assert rates.take([MINUTE], "a", 0.0) is None
    assert rates.take([MINUTE], "a", 0.0) is not None


def test_no_limit_is_a_count_of_nought() -> None:
    rates = Rates({MINUTE: 0})
    assert all(rates.take([MINUTE], "a", 0.0) is None for _ in range(1_000))


def test_what_is_kept_in_mind_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_TRACKED", 50)
    rates = Rates({MINUTE: 1})
    for number in range(500):
        assert rates.take([MINUTE], f"key {number}", number * 1e-3) is None
        assert len(rates._full[MINUTE]) <= 50
    assert rates.take([MINUTE], "key 499", 0.5) is not None, "the newest are kept"


def test_limits_have_a_default_and_a_reason() -> None:
    assert len({rate.id for rate in RATES}) == len(RATES)
    for rate in RATES:
        assert rate.count > 0
        assert rate.reason


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::", "2001:db8:1:3::/64"),
        ("not an address", "not an address"),
        ("", ""),
    ],
)
def test_a_network_is_an_address_or_a_64(address: str, network: str) -> None:
    assert network_of(address) == network
