"""Texts behind a contentRef: who waits for one, and what readings make of it. All of it pure."""

from __future__ import annotations

from hashlib import sha256
from itertools import permutations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpedia.scenario import Scenario
from refold.agentpedia.content import (
    FIRST_PAUSE,
    LAST_PAUSE,
    REASONS,
    Reading,
    WantedText,
    judge,
    next_try,
    wanted_text,
)

PIN = f"{'ab' * 32}i0"
RIGHT, WRONG, OTHER = (sha256(name).hexdigest() for name in (b"right", b"wrong", b"other"))


def rev(**changes: Any) -> dict[str, Any]:
    """A legal create whose text stands in a metafile."""
    world = Scenario(valid=True)
    world.create("E1", contentRef=f"metafile://{PIN}", contentHash=RIGHT)
    return world.events[-1].payload | changes


# --- who waits ---------------------------------------------------------------------------------


def test_a_rev_with_a_reference_waits_for_the_text_of_its_hash() -> None:
    assert wanted_text(rev()) == WantedText(f"metafile://{PIN}", RIGHT)
    edit = rev(type="edit", parentRev=PIN)
    assert wanted_text(edit) == WantedText(f"metafile://{PIN}", RIGHT)


@pytest.mark.parametrize(
    "changes",
    [
        {"contentRef": None, "content": "inline"},
        {"contentRef": None},
        {"contentRef": 5},
        {"contentRef": ["metafile://"]},
        {"contentRef": PIN},
        {"contentRef": f"metafile://{PIN}.md"},
        {"contentRef": f"metafile://{PIN}\n"},
        {"contentRef": f"metafile://{PIN.upper()}"},
        {"contentRef": f"https://e.org/{PIN}"},
        {"contentHash": None},
        {"contentHash": RIGHT.upper()},
        {"contentHash": RIGHT[1:]},
        {"content": "both"},
        {"type": "redirect"},
        {"v": 2},
        {"extra": None},
    ],
)
def test_whatever_the_schema_refuses_waits_for_nothing(changes: dict[str, Any]) -> None:
    assert wanted_text(rev(**changes)) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
)


MEMBERS = sorted(rev())
LEGAL = rev()


@given(st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=3))
def test_no_payload_breaks_the_look(changes: dict[str, Any]) -> None:
    wanted = wanted_text(LEGAL | changes)
    assert wanted is None or wanted.uri.startswith("metafile://")


# --- what readings make ------------------------------------------------------------------------


def reading(
    state: str, source: str = "a", actual: str | None = None, *, chain: bool = False
) -> Reading:
    said = {"verified": "", "mismatch": "hash-differs", "unavailable": "pin-unknown"}
    return msgspec.convert(
        {
            "source": source,
            "origin": f"https://{source}.test:443",
            "by_chain": chain,
            "state": state,
            "reason": said[state],
            "actual": RIGHT if state == "verified" else actual,
        },
        Reading,
    )


readings = st.builds(
    reading,
    st.sampled_from(["verified", "mismatch", "unavailable"]),
    st.sampled_from("abc"),
    st.sampled_from([None, WRONG, OTHER]),
    chain=st.booleans(),
)
claims = st.builds(
    reading,
    st.sampled_from(["mismatch", "unavailable"]),
    st.sampled_from("abc"),
    st.sampled_from([None, WRONG, OTHER]),
)


@given(st.lists(readings, max_size=6), st.randoms())
def test_the_order_of_readings_plays_no_part(said: list[Reading], random: Any) -> None:
    shuffled = list(said)
    random.shuffle(shuffled)
    assert judge(shuffled) == judge(said)


@given(st.lists(readings, max_size=6))
def test_right_bytes_settle_it_whoever_gave_them(said: list[Reading]) -> None:
    finding = judge([*said, reading("verified")])
    assert (finding.state, finding.actual, finding.is_settled) == ("verified", RIGHT, True)


@given(st.lists(claims, max_size=6), st.sampled_from([None, WRONG]))
def test_a_transaction_settles_that_the_bytes_are_others(
    said: list[Reading], actual: str | None
) -> None:
    finding = judge([*said, reading("mismatch", "t", actual, chain=True)])
    assert (finding.state, finding.source, finding.is_settled) == ("mismatch", "t", True)


@given(st.lists(claims, max_size=6).map(lambda said: [r for r in said if r.source == "a"]))
def test_one_server_alone_never_buries_a_rev(said: list[Reading]) -> None:
    """Whatever it says, how often, and under however many names at one origin."""
    named = [msgspec.structs.replace(r, source=f"a/{n}") for n, r in enumerate(said)]
    finding = judge(named)
    assert (finding.state, finding.is_settled) == ("unavailable", False)


@given(st.lists(claims, max_size=6))
def test_two_servers_bury_it_by_the_same_whole_bytes_and_not_for_good(said: list[Reading]) -> None:
    whole = {(r.origin, r.actual) for r in said if r.state == "mismatch" and r.actual}
    agreeing = any(a[0] != b[0] and a[1] == b[1] for a in whole for b in whole)
    finding = judge(said)
    assert finding.state == ("mismatch" if agreeing else "unavailable")
    assert not finding.is_settled
    assert judge([*said, reading("verified", "d")]).state == "verified"


def test_what_is_said_of_a_doubt() -> None:
    lone = judge([reading("mismatch", "a", WRONG), reading("unavailable", "b")])
    assert (lone.state, lone.reason, lone.source) == ("unavailable", "unproven", "a")
    assert WRONG in lone.detail
    both = judge([reading("mismatch", "a", WRONG), reading("mismatch", "b", WRONG)])
    assert (both.state, both.source, both.actual) == ("mismatch", "a and b", WRONG)
    differing = judge([reading("mismatch", "a", WRONG), reading("mismatch", "b", OTHER)])
    assert (differing.state, differing.reason) == ("unavailable", "unproven")
    assert judge([]).reason == "no-source"
    assert judge([reading("unavailable")]).reason == "pin-unknown"


def test_every_order_of_the_three_kinds_ends_alike() -> None:
    said = [
        reading("mismatch", "a", WRONG),
        reading("unavailable", "b"),
        reading("mismatch", "c", WRONG, chain=True),
    ]
    assert {judge(order) for order in permutations(said)} == {judge(said)}


def test_every_reason_has_its_meaning() -> None:
    assert all(REASONS.values())


# --- when to try again -------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(0, 2**40))
def test_pauses_grow_to_their_limit_and_never_stop(tries: int, now: int) -> None:
    pause, longer = next_try(tries, now) - now, next_try(tries + 1, now) - now
    assert FIRST_PAUSE <= pause <= longer <= LAST_PAUSE
    assert longer in {pause, min(2 * pause, LAST_PAUSE)}
    assert next_try(tries, now) == next_try(tries, now)


def test_nothing_is_found_later_than_twice_its_own_delay_or_a_day() -> None:
    now, tries = 0, 1
    while now < 30 * LAST_PAUSE:
        following = next_try(tries, now)
        assert following - now <= max(FIRST_PAUSE, min(now + FIRST_PAUSE, LAST_PAUSE))
        now, tries = following, tries + 1
    assert next_try(tries, now) - now == LAST_PAUSE
