"""The engine agrees with the naive fold: common view, full view and digest, on random streams.

The two share no line. A failure names seed, mode, profile and the first path that differs with
both values; `stream(seed, mode)` or `hostile(seed, mode)` makes that stream again.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from reference.naive import replay
from reference.naive_full import SECTIONS, digest_of, full_view_of
from reference.naive_state import Json
from reference.naive_view import common_view
from reference.reached import count, expected, table
from reference.stream_hostile import hostile
from reference.streams import MODES, stream
from refold.agentpedia import PROFILES, Fold, read_document

CHUNK = 100  # streams of one test, so that several workers share the run
STREAMS = 2000
HOSTILE_STREAMS = 500
COUNTED = 350  # streams that have to reach everything; about 200 do
ABSENT = "(absent)"

Make = Callable[[int, str], tuple[list[Json], Json]]
Difference = tuple[str, Any, Any]  # path, value of the naive fold, value of the engine


def by_naive(events: list[Json], options: Json, profile: str, later: int = 0) -> Json:
    """Gives the views of the naive fold, some blocks later than the last event + 1."""
    world, pending, tip = replay(events, options, profile)
    if later:
        world, pending, tip = replay(events, options, profile, tip + later)
    full = full_view_of(world, tip)
    return views(tip, common_view(world, pending, tip), full, digest_of(full))


def by_engine(events: list[Json], options: Json, profile: str, later: int = 0) -> Json:
    """Gives the views of the engine, some blocks later than the last event + 1."""
    read = read_document(json.dumps({"events": events, "options": options}).encode())
    fold = Fold(PROFILES[profile], read.options)
    fold.apply_many(read.events, read.faults)
    view = fold.view(fold.tip + later, pending=read.pending)
    full = {name: values for name, values in view.full().items() if name in SECTIONS}
    return views(view.tip, view.common(), full, view.digest())


def views(tip: int, common: Any, full: Any, digest: str) -> Json:
    """Gives all views as plain JSON, the digest last; sections without a value are left out."""
    full = {section: values for section, values in full.items() if values}
    plain: Json = json.loads(
        json.dumps({"tip": tip, "common": common, "full": full, "digest": digest})
    )
    for entry in plain["common"]["entries"].values():
        entry["disputed"].sort()
    return plain


def first_difference(naive: Any, engine: Any, path: str = "") -> Difference | None:
    """Gives the first difference of two JSON values; 1, 1.0 and true are three values."""
    if isinstance(naive, dict) and isinstance(engine, dict):
        steps = [
            (name, naive.get(name, ABSENT), engine.get(name, ABSENT))
            for name in dict.fromkeys([*naive, *engine])
        ]
    elif isinstance(naive, list) and isinstance(engine, list) and len(naive) == len(engine):
        steps = [(str(place), *pair) for place, pair in enumerate(zip(naive, engine, strict=True))]
    else:
        same = type(naive) is type(engine) and naive == engine
        return None if same else (path, naive, engine)
    found = (first_difference(one, other, f"{path}/{name}") for name, one, other in steps)
    return next((difference for difference in found if difference is not None), None)


def differences(make: Make, first: int, number: int, later: int = 0) -> list[str]:
    """Compares both folds on the streams of some seeds; tells each difference in three lines."""
    told = []
    for seed in range(first, first + number):
        mode = MODES[seed % len(MODES)]
        events, options = make(seed, mode)
        for profile in PROFILES:
            naive = by_naive(events, options, profile, later)
            engine = by_engine(events, options, profile, later)
            found = first_difference(naive, engine)
            if found is not None:
                path, one, other = found
                told.append(
                    f"{make.__name__}({seed}, {mode!r}) under {profile}: {path}\n"
                    f"    naive fold: {json.dumps(one)}\n    engine:     {json.dumps(other)}"
                )
    return told


@pytest.mark.parametrize("first", range(0, STREAMS, CHUNK))
def test_engine_and_naive_fold_give_the_same_views(first: int) -> None:
    told = differences(stream, first, CHUNK)
    assert not told, "\n".join(told)


@pytest.mark.parametrize("first", range(0, HOSTILE_STREAMS, CHUNK))
def test_engine_and_naive_fold_agree_on_tampered_streams(first: int) -> None:
    told = differences(hostile, first, CHUNK)
    assert not told, "\n".join(told)


@pytest.mark.parametrize("later", [1, 30, 300, 5000])
def test_engine_and_naive_fold_agree_at_later_tips(later: int) -> None:
    told = differences(stream, 0, 70, later)
    assert not told, "\n".join(told)


def test_a_difference_is_found_and_its_path_is_told() -> None:
    one: Json = {"a": [{"b": 1}], "c": 1}
    assert first_difference(one, json.loads(json.dumps(one))) is None
    assert first_difference(one, {"a": [{"b": True}], "c": 1}) == ("/a/0/b", 1, True)
    assert first_difference(one, {"a": [{"b": 1.0}], "c": 1}) == ("/a/0/b", 1, 1.0)
    assert first_difference(one, {"a": [], "c": 1}) == ("/a", [{"b": 1}], [])
    assert first_difference(one, {"a": [{"b": 1}]}) == ("/c", 1, ABSENT)
    assert first_difference({}, {"d": None}) == ("/d", ABSENT, None)


def test_the_streams_reach_every_reason_outcome_state_and_tier(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = count(range(COUNTED))
    with capsys.disabled():
        sys.stderr.write(f"\nreached by {COUNTED} streams\n{table(counts)}\n")
    never = {
        profile: [n for n in expected(profile) if not counts[profile][n]] for profile in counts
    }
    assert never == {"deployed": [], "prd": []}
