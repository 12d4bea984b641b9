"""Explain and diff: every pin has an explanation, and every difference between profiles a cause."""

import json
from functools import cache

import msgspec
import pytest

from reference.streams import MODES, stream
from refold.agentpedia import DEPLOYED, PRD, PROFILES, Fold, Rules, Stream, read_document
from refold.agentpedia.compare import Comparison, compare
from refold.agentpedia.event import PATHS
from refold.agentpedia.explain import explain
from refold.agentpedia.reasons import APPLIED
from refold.agentpedia.replay import prepare
from refold.agentpedia.rules import FLAGS
from refold.kernel.errors import InputError


def world(seed: int, mode: str) -> Stream:
    events, options = stream(seed, mode)
    return read_document(json.dumps({"events": events, "options": options}).encode())


@pytest.mark.parametrize("rules", list(PROFILES.values()), ids=lambda rules: rules.name)
def test_every_pin_of_a_stream_is_explained(rules: Rules) -> None:
    source = world(5, "court")
    ends = ends_of(source, rules)
    for event in source.events:
        found = explain(source, event.pin, rules)
        assert found.outcome == ends[event.pin]
        assert found.says
        assert found.source
        assert msgspec.json.encode(found)
        if found.outcome == "applied":
            assert not found.values
            assert not found.remedy
        else:
            assert found.remedy
            touched = {change.section for change in found.changes}
            assert touched <= ({"fold"} if found.outcome == "algo-unknown" else {"editor"})
            assert found.standing["grave"]["reason"] == found.outcome
    for pin in source.pending:
        assert explain(source, pin, rules).outcome == "pending"


def ends_of(source: Stream, rules: Rules) -> dict[str, str]:
    fold = Fold(rules, source.options)
    refusals = {e.pin: fold.apply(e, source.faults.get(e.pin)) for e in source.events}
    return {pin: refusal.reason if refusal else "applied" for pin, refusal in refusals.items()}


def test_what_an_applied_pin_changed_is_told() -> None:
    source = world(5, "war")
    applied = [pin for pin, end in ends_of(source, PRD).items() if end == "applied"]
    silent = [pin for pin in applied if not explain(source, pin, PRD).changes]
    assert silent == []


def test_a_version_stands_in_its_entry() -> None:
    source = world(5, "war")
    view = Fold(PRD, source.options)
    view.apply_many(source.events, source.faults)
    for version in view.state.versions.values():
        pin = version.equivalent_of or version.id
        standing = explain(source, pin, PRD).standing
        assert standing["version"]["id"] == version.id
        assert standing["entry"]["isHead"] == (
            view.state.records[version.record].head == version.id
        )


def test_a_pin_that_is_not_there() -> None:
    with pytest.raises(InputError) as caught:
        explain(world(5, "war"), "nowhere", PRD)
    assert caught.value.code == "pin-unknown"


def test_every_path_says_what_applied_pins_did() -> None:
    assert set(APPLIED) == set(PATHS)


@cache
def compared(seed: int) -> Comparison:
    source = world(seed, MODES[seed % len(MODES)])
    return compare(source, source)


@pytest.mark.parametrize("seed", range(14))
def test_a_comparison_names_what_differs(seed: int) -> None:
    """Its values are those of the two views; a pin judged differently is among the outcomes."""
    source = world(seed, MODES[seed % len(MODES)])
    found = compared(seed)
    ends = {name: ends_of(source, rules) for name, rules in PROFILES.items()}
    parted = [pin for pin in ends["prd"] if ends["prd"][pin] != ends["deployed"][pin]]
    assert [outcome.pin for outcome in found.outcomes] == parted
    assert set(found.says) <= set(FLAGS)
    for difference in found.differences:
        assert difference.deployed != difference.prd
        assert set(difference.causes) <= set(found.says)


def test_every_flag_is_the_cause_of_some_difference() -> None:
    """No flag is idle: over some streams each one alone changes a view; gates act at intake."""
    causes = {
        flag
        for seed in range(70)
        for difference in compared(seed).differences
        for flag in difference.causes
    }
    assert set(FLAGS) - causes == {"gates"}


def test_gates_are_a_cause_where_they_differ() -> None:
    events, options = stream(5, "war")
    text = json.dumps({"events": events, "options": options}).encode()
    found = compare(prepare(text, DEPLOYED), prepare(text, PRD))
    assert "gates" in found.says


def test_equal_views_have_no_differences() -> None:
    nothing = read_document(b'{"events": []}')
    empty = compare(nothing, nothing)
    assert (empty.outcomes, empty.differences, empty.says) == ([], [], {})
