"""The client against the local chain: with every profile, quirk and fault, alone and together.

Whatever the indexer does, the pins that a walk ends with are those of the chain (ids, places, first
bodies), or its report names what is missing.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaid.worlds import PATH, World, populate, seen, settled, world
from refold.metaid.devnet.faults import KINDS
from refold.metaid.devnet.found import drawn
from refold.metaid.devnet.quirks import PROFILE_NAMES, Quirks, switches
from refold.metaid.man.report import WalkReport
from refold.metaid.man.walk import Walk
from refold.metaid.pin import Pin

CHANGED = (0, 1, 2, 3)
"""Which of the revisions were modified or revoked."""


@pytest.fixture(scope="module")
def here() -> Iterator[World]:
    with world() as made:
        made.ids = populate(made)
        yield made


@pytest.fixture(autouse=True)
def _calm(here: World) -> Iterator[None]:
    yield
    here.net.faults()
    here.net.quirks("clean")


def hidden_by(here: World, quirks: Quirks) -> set[str]:
    """Give the pins that lists leave out; no client can know (docs/pitfalls.md, 30)."""
    return {name for name in here.truth() if drawn(quirks.lost_rows, "lost row", name)}


def check(here: World, pins: dict[str, Pin], report: WalkReport) -> None:
    """Compare a walk with the chain: what it gives is true, and what it lacks it names."""
    truth = here.truth()
    got = seen(pins)
    assert {name: truth[name] for name in got} == got
    missing = {entry.id for entry in report.missing}
    hidden = hidden_by(here, here.net.quirks())
    lacking = set(settled(truth)) - set(settled(got)) - missing
    if report.is_ended:
        assert lacking <= hidden
        assert report.is_complete == (not missing)
    else:
        assert report.end.code
        assert report.end.message
    assert not missing & set(got)
    assert report.pins == len(got) + len(missing)


def test_the_world_has_what_makes_lists_hard(here: World) -> None:
    truth = here.truth()
    assert len(settled(truth)) > 50
    assert len(truth) - len(settled(truth)) == 5
    assert any(len(body) > 4_096 for _, _, body in truth.values())
    assert any(not body for _, _, body in truth.values())
    places = [entry[:2] for entry in settled(truth).values()]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_every_profile_gives_the_chain(here: World, profile: Any, size: int) -> None:
    here.net.quirks(profile)
    pins, report = here.walk(size=size, txs=True)
    check(here, pins, report)
    assert report.is_complete
    assert settled(seen(pins)) == settled(here.truth())
    assert report.generation == here.net.quirks().generation
    assert report.heights[1] == here.net.height


@pytest.mark.parametrize("profile", ["man-v2", "man-p2p"])
def test_the_mempool_is_kept_apart(here: World, profile: Any) -> None:
    here.net.quirks(profile)
    pins, report = here.walk()
    assert seen(pins) == here.truth()
    assert (report.mempool, report.confirmed) == (5, len(pins) - 5)


def test_without_transactions_the_first_generation_cannot_say_what_was_said_first(
    here: World,
) -> None:
    here.net.quirks("v1", modify="anyone")
    pins, report = here.walk()
    check(here, pins, report)
    changed = {here.ids[n] for n in CHANGED}
    assert {(entry.id, entry.code) for entry in report.missing} == {
        (name, "body-replaced") for name in changed
    }
    pins, report = here.walk(txs=True)
    assert report.is_complete
    assert settled(seen(pins)) == settled(here.truth())


def other_values(kind: str, default: object) -> list[object]:
    """Give values of a switch that are not its default."""
    if kind == "on|off":
        return [not default]
    if ".." in kind:
        most = int(kind.partition("..")[2])
        return [most, min(40, most)]
    return [value for value in kind.split("|") if value != default]


SWITCHED = [
    pytest.param({switch.name: value}, id=f"{switch.name}={value}")
    for switch in switches()
    for value in other_values(switch.values, switch.default)
]


@pytest.mark.parametrize("base", ["clean", "man-p2p"])
@pytest.mark.parametrize("change", SWITCHED)
def test_each_quirk_alone(here: World, base: Any, change: dict[str, object]) -> None:
    here.net.quirks(base, **change)
    pins, report = here.walk(size=17, txs=True)
    check(here, pins, report)
    assert report.is_complete


@pytest.mark.parametrize("kind", [*KINDS, "delay"])
@pytest.mark.parametrize("profile", ["clean", "man-p2p"])
def test_each_fault_alone(here: World, profile: Any, kind: str) -> None:
    """Three times in a row behind each page: a fourth attempt is made."""
    here.net.quirks(profile)
    for number in range(1, 8):
        going = Walk(here.man(), PATH, size=17, parallel=1)
        pins: dict[str, Pin] = {}
        for page in going:
            pins |= {pin.id: pin for pin in page.pins}
            if page.number == number:
                here.net.faults(**{kind: 3}, delay_seconds=0.005)
        check(here, pins, going.report())
        assert going.report().is_complete
        here.net.faults()


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_that_stays_is_named(here: World, kind: str) -> None:
    here.net.faults(**{kind: 1.0})
    pins, report = here.walk()
    assert (pins, report.end.reason, report.pins) == ({}, "failed", 0)
    assert report.end.code
    assert not report.is_complete


@pytest.mark.parametrize("kind", KINDS)
def test_details_that_always_fail_are_named_pin_by_pin(here: World, kind: str) -> None:
    here.net.quirks("man-p2p")
    routes = (f"/api/pin/{digit}" for digit in "048c")
    named = 0
    for route in routes:
        here.net.faults(**{kind: 1.0}, only=route)
        pins, report = here.walk(parallel=1)
        check(here, pins, report)
        assert report.is_ended
        assert all(entry.id[0] == route[-1] for entry in report.missing)
        named += len(report.missing)
    assert named >= 5


def resumed(here: World, times: int = 60) -> tuple[dict[str, Pin], list[WalkReport]]:
    """Walk, and go on where it failed, until the end of the list."""
    pins: dict[str, Pin] = {}
    reports: list[WalkReport] = []
    cursor = ""
    for _ in range(times):
        more, report = here.walk(cursor=cursor)
        pins |= more
        reports.append(report)
        cursor = report.end.cursor
        if report.is_ended:
            break
    return pins, reports


quirk_values = st.fixed_dictionaries(
    {},
    optional={
        switch.name: st.sampled_from([switch.default, *other_values(switch.values, switch.default)])
        for switch in switches()
    },
)
fault_rates = st.dictionaries(
    st.sampled_from([*KINDS, "delay"]), st.sampled_from([0.05, 0.2, 0.4, 2, 5]), max_size=4
)


combinations = st.fixed_dictionaries(
    {
        "profile": st.sampled_from(PROFILE_NAMES),
        "quirks": quirk_values,
        "faults": fault_rates,
        "size": st.sampled_from([5, 20, 100]),
        "txs": st.booleans(),
        "seed": st.integers(0, 10**6),
    }
)


@settings(max_examples=50)
@given(combinations)
def test_quirks_and_faults_in_any_combination(here: World, chosen: dict[str, Any]) -> None:
    here.net.quirks(chosen["profile"], **chosen["quirks"])
    here.net.faults(**chosen["faults"], seed=str(chosen["seed"]), delay_seconds=0.001)
    pins, report = here.walk(
        size=chosen["size"], txs=chosen["txs"], parallel=1 + chosen["seed"] % 4
    )
    check(here, pins, report)


@settings(max_examples=10)
@given(quirk_values, st.integers(0, 10**6))
def test_a_walk_that_failed_goes_on_where_it_failed(
    here: World, quirks: dict[str, object], seed: int
) -> None:
    here.net.quirks("man-p2p", **(quirks | {"metadata_only": 0}))
    here.net.faults(error_500=0.5, wrong_json=0.3, seed=str(seed))
    pins, reports = resumed(here)
    assert reports[-1].is_ended
    truth = settled(here.truth())
    missing = {entry.id for report in reports for entry in report.missing}
    assert set(truth) - set(pins) - hidden_by(here, here.net.quirks()) <= missing
    assert {name: truth[name] for name in settled(seen(pins))} == settled(seen(pins))


def test_reading_one_path_asks_for_no_other(here: World) -> None:
    pins, report = here.walk()
    assert {pin.path for pin in pins.values()} == {PATH}
    assert report.path == PATH
