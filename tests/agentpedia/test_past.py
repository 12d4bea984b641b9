"""Blocks undone: the state, the digest and every copy of the view are those of the other chain."""

import json
from itertools import groupby
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agentpedia.copies import Copy
from reference.streams import MODES, stream
from refold.agentpedia import PRD, PROFILES, Event, Fold, Rules, Stream, read_document
from refold.agentpedia.digest import LiveDigest
from refold.agentpedia.full import full_view
from refold.agentpedia.state import State, Touched, Version

WORLDS = given(
    st.integers(0, 5_000),
    st.sampled_from(MODES),
    st.sampled_from(list(PROFILES.values())),
    st.data(),
)


def world(seed: int, mode: str) -> Stream:
    events, options = stream(seed, mode)
    return read_document(json.dumps({"events": events, "options": options}).encode())


def blocks_of(events: list[Event]) -> list[tuple[int, list[Event]]]:
    return [(height, list(block)) for height, block in groupby(events, key=lambda e: e.height)]


def told_of(state: State) -> Any:
    """Give all that a state says, order included where a rule reads it."""
    told = msgspec.to_builtins(state, str_keys=False)
    for name in ("touched", "copies"):
        del told[name]
    told["due"] = sorted(told["due"])
    told["credits"] = {record: list(of.items()) for record, of in state.credits.items()}
    for name, parts in told.items():
        if isinstance(parts, dict) and name not in {"credits", "plates", "options", "rules"}:
            told[name] = list(parts.items())
    return told


def scratch(source: Stream, rules: Rules, events: list[Event], tip: int) -> Fold:
    fold = Fold(rules, source.options)
    fold.apply_many(events, source.faults)
    fold.advance(tip)
    return fold


@WORLDS
@settings(max_examples=150, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_what_is_undone_never_was(seed: int, mode: str, rules: Rules, data: st.DataObject) -> None:
    source = world(seed, mode)
    fold = Fold(rules, source.options)
    fold.remember(1_000)
    chain: list[Event] = []
    for height, block in blocks_of(source.events):
        fold.apply_many(block, source.faults)
        chain += block
        if data.draw(st.booleans()):
            fold.advance(height + 1)
        if not data.draw(st.integers(0, 3)):
            back = max(chain[0].height, height - data.draw(st.integers(0, 400)))
            assert fold.roll_back(back)
            kept = [event for event in chain if event.height <= back]
            fold.advance(back + 1)
            assert told_of(fold.state) == told_of(scratch(source, rules, kept, back + 1).state)
            fold.apply_many((e for e in chain if e.height > back), source.faults)


@WORLDS
@settings(max_examples=150, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_copies_follow_every_replaced_chain(
    seed: int, mode: str, rules: Rules, data: st.DataObject
) -> None:
    """Some blocks are replaced by others that lack some of their pins, and a copy is told."""
    source = world(seed, mode)
    fold = Fold(rules, source.options)
    fold.remember(1_000)
    live, copy = LiveDigest(fold), Copy()
    chain: list[Event] = []
    looked_at = data.draw(st.sampled_from([1, 2, 5]))
    for number, (height, block) in enumerate(blocks_of(source.events)):
        fold.apply_many(block, source.faults)
        chain += block
        if number % looked_at == 0:
            digest = live.at(height + 1, copy)
            assert digest == fold.view(height + 1).digest()
        if not data.draw(st.integers(0, 3)):
            back = max(chain[0].height, height - data.draw(st.integers(0, 300)))
            dropped = data.draw(st.integers(1, 6))
            later = [e for e in chain if e.height > back]
            chain = [e for e in chain if e.height <= back]
            chain += [e for at, e in enumerate(later) if at % dropped]
            assert fold.roll_back(back)
            if data.draw(st.booleans()):
                assert live.at(back + 1, copy) == fold.view(back + 1).digest()
            fold.apply_many((e for e in chain if e.height > back), source.faults)
        nothing_new = fold.tip == live.tip and fold.state.touched == Touched(everything=False)
        if data.draw(st.booleans()) and nothing_new:
            live = LiveDigest.resume(fold, copy.lines(), live.tip)
    tip = fold.tip
    assert live.at(tip, copy) == scratch(source, rules, chain, tip).view(tip).digest()
    assert copy.full() == full_view(fold.state, tip)
    for record, steps in copy.histories.items():
        assert [step.name for step in steps] == fold.state.records[record].history
        for step in steps:
            assert shown(step.version) == shown(fold.state.versions.get(step.name))
    assert set(copy.histories) == set(range(len(fold.state.records)))


def shown(version: Version | None) -> Version | None:
    """Give a version without what no view shows."""
    return version and msgspec.structs.replace(version, approved=False, condemned=False)


def test_what_is_too_long_ago_is_refused_and_nothing_is_done() -> None:
    source = world(4, MODES[0])
    fold = Fold(PRD, source.options)
    fold.remember(5)
    fold.apply_many(source.events, source.faults)
    before = told_of(fold.state)
    heights = sorted({event.height for event in source.events})
    assert not fold.roll_back(heights[0])
    assert told_of(fold.state) == before
    assert fold.roll_back(heights[-2])
    assert not Fold(PRD).roll_back(-2)


@pytest.mark.parametrize("mode", MODES)
def test_a_snapshot_holds_no_past(mode: str) -> None:
    source = world(7, mode)
    plain, past = Fold(PRD, source.options), Fold(PRD, source.options)
    past.remember(50)
    for fold in (plain, past):
        fold.apply_many(source.events, source.faults)
    assert past.snapshot() == plain.snapshot()
    assert Fold.restore(past.snapshot()).state.copies is None
