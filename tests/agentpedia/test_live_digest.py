"""The live digest: kept up block by block, it is the digest of a view from scratch (spec §10)."""

import json
from itertools import groupby
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.streams import MODES, stream
from refold.agentpedia import PRD, PROFILES, Fold, Rules, Stream, read_document
from refold.agentpedia.demo import demo_document
from refold.agentpedia.digest import LiveDigest
from refold.agentpedia.full import digest_line, touched_records


def world(seed: int, mode: str) -> Stream:
    events, options = stream(seed, mode)
    return read_document(json.dumps({"events": events, "options": options}).encode())


@given(
    st.integers(0, 5_000),
    st.sampled_from(MODES),
    st.sampled_from(list(PROFILES.values())),
    st.data(),
)
@settings(max_examples=60)
def test_after_every_block_it_is_the_digest_from_scratch(
    seed: int, mode: str, rules: Rules, data: st.DataObject
) -> None:
    source = world(seed, mode)
    fold, mirror = Fold(rules, source.options), Fold(rules, source.options)
    live = LiveDigest(fold)
    looked_at = data.draw(st.sampled_from([1, 1, 2, 5]))
    for number, (height, block) in enumerate(groupby(source.events, key=lambda e: e.height)):
        for event in block:
            fold.apply(event, source.faults.get(event.pin))
            mirror.apply(event, source.faults.get(event.pin))
        if number % looked_at == 0:
            assert live.at(height + 1) == mirror.view(height + 1).digest()
    far = fold.tip + data.draw(st.integers(0, 4_000))
    assert live.at(far) == mirror.view(far).digest()


def test_it_goes_on_after_a_restore() -> None:
    source = world(11, "governance")
    half = len(source.events) // 2
    while source.events[half].height == source.events[half - 1].height:
        half += 1
    fold = Fold(PRD, source.options)
    fold.apply_many(source.events[:half], source.faults)
    resumed = Fold.restore(fold.snapshot())
    live = LiveDigest(resumed)
    live.at(source.events[half - 1].height + 1)
    resumed.apply_many(source.events[half:], source.faults)
    fold.apply_many(source.events[half:], source.faults)
    assert live.at(resumed.tip) == fold.view().digest()


def test_a_block_costs_what_it_changed() -> None:
    """On the demo wiki a block encodes a few records of thousands."""
    source = read_document(json.dumps(demo_document()).encode())
    fold = Fold(PRD, source.options)
    live = LiveDigest(fold)
    costs = []
    for height, block in groupby(source.events, key=lambda event: event.height):
        events = list(block)
        fold.apply_many(events, source.faults)
        with patch("refold.agentpedia.digest.digest_line", wraps=digest_line) as line:
            live.at(height + 1)
        costs.append((line.call_count, len(events), live.line_count))
    late = costs[len(costs) // 2 :]
    encoded = sum(cost for cost, _, _ in late)
    print(f"lines encoded a block: {encoded / len(late):.1f} of {late[-1][2]:,}")
    assert encoded < sum(8 * events + 12 for _, events, _ in late)
    assert max(cost for cost, _, _ in late if cost < late[-1][2] / 2) < late[-1][2] / 4


def test_nothing_is_encoded_when_nothing_happens() -> None:
    source = world(3, "war")
    fold = Fold(PRD, source.options)
    live = LiveDigest(fold)
    fold.apply_many(source.events, source.faults)
    first = live.at(fold.tip)
    with patch("refold.agentpedia.digest.touched_records", wraps=touched_records) as encoded:
        assert live.at(fold.tip) == first
    [call] = encoded.call_args_list
    assert list(touched_records(*call.args)) == []


@pytest.mark.parametrize("mode", MODES)
def test_taking_it_changes_no_view(mode: str) -> None:
    source = world(9, mode)
    plain, looked = Fold(PRD, source.options), Fold(PRD, source.options)
    live = LiveDigest(looked)
    for height, block in groupby(source.events, key=lambda event: event.height):
        for event in block:
            plain.apply(event, source.faults.get(event.pin))
            looked.apply(event, source.faults.get(event.pin))
        live.at(height)
    assert looked.view().digest() == plain.view().digest()


def test_it_notices_that_the_view_is_not_authoritative_any_more() -> None:
    source = world(32, "governance")
    fold = Fold(PRD, source.options)
    live = LiveDigest(fold)
    live.at(0)
    strange = next(
        event
        for seed in range(200)
        for event in world(seed, "governance").events
        if "adoption-algo-v2" in json.dumps(event.payload.get("algoVersions", ""))
        and event.payload.get("revision") == 0
    )
    fold.apply(strange)
    assert fold.state.not_authoritative_from == strange.pin
    tip = strange.height + 1
    assert live.at(tip) == fold.view(tip).digest()


@pytest.mark.parametrize("mode", MODES)
def test_after_every_event_it_is_the_digest_from_scratch(mode: str) -> None:
    for seed in (1, 2, 32):
        source = world(seed, mode)
        fold = Fold(PRD, source.options)
        live = LiveDigest(fold)
        for event in source.events:
            fold.apply(event, source.faults.get(event.pin))
            assert live.at(event.height) == fold.view(event.height).digest()
