"""AC-B: one stream, one view (PRD §9.2). AC-B2 is tested where the network's vectors are."""

from __future__ import annotations

import gzip
from itertools import islice, permutations
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentpedia.scenario import DAY, HOUR, Scenario
from reference.naive import fold as naive_fold
from reference.naive_full import full_view as naive_full_view
from refold.agentpedia.fold import Fold
from refold.agentpedia.intake import read_document
from refold.agentpedia.rules import DEPLOYED, PRD

if TYPE_CHECKING:
    from agentpedia.scenario import Json
    from refold.agentpedia.intake import Stream
    from refold.agentpedia.rules import Rules


def war_story() -> Scenario:
    """A revert war, its freeze, an expiry, and a second freeze that a ruling ends."""
    world = Scenario()
    frozen, baseline, first = world.war()
    world.edit("E5", "a")
    challenge = world.challenge("E3", f"{frozen}::eq")
    world.propose("E4", challenge, "unfreeze", baseline=baseline, arbiters=None)
    world.wait(world.blocks("voteWindowHours"))
    world.edit("E5", "a", basedOn=first)
    reverts = [world.revert(name, first, "a") for name in ("E1", "E2", "E3")]
    last, baseline = f"{reverts[2]}::eq", f"{reverts[1]}::eq"
    world.rule(last, "revert-to", baseline=baseline, revertTo=first)
    world.wait(8 * DAY)
    return world


def court_story() -> Scenario:
    """Rulings on editors and on display, reviews, a transfer, and a suspension."""
    world = Scenario(options={"editorsRep": {"E1": 3, "E2": 1}})
    first = world.create("E1", "a")
    world.create("E3", "b")
    world.rule(first, "protect", protected=True, displayMode="reviewed")
    later = world.edit("E1", "a")
    world.review("E2", later)
    waiting = world.edit("E2", "a", basedOn=first)
    world.redirect("E3", "b", "a")
    warned = world.rule(waiting, "slash-stake-half", editor="E2")
    world.rule(later, "confirm-goodfaith", editor="E1")
    world.suspend("J1", "E2", warned)
    world.suspend("E4", "E3", warned)
    world.wait(8 * DAY).rule(waiting, "transfer-slug", fromEntry="en:a", toEntry="en:c")
    world.edit("E1", "c", parentRev=later)
    return world


def registry_story() -> Scenario:
    """Two applicants, one in time and one late, and an edit at every tier."""
    world = Scenario()
    first = world.create("E1", "a")
    world.admit("N1", first)
    case = world.ask("E1", "N2")
    world.wait(HOUR + 1)
    world.answer("N2", case, world.review("N2", first))
    for _ in range(world.params["t2MinValidRevs"]):
        world.edit("N1", "a")
    world.wait(DAY).edit("N1", "a")
    world.endorse("N1", "N2", case)
    return world


def governance_story() -> Scenario:
    """A change of the constitution, and what it changes."""
    world = Scenario(founders=("E1", "E2", "E3", "E4", "E5"))
    amendment = world.amend("E2", ratePerSlugDaily=1)
    for name in ("E1", "E2", "E3", "E4", "N9"):
        world.amend_vote(name, amendment)
    world.revise(amendment, ratePerSlugDaily=1)
    world.create("E1", "a")
    world.edit("E1", "a")
    world.amend("E3", thetaProtect=9)
    world.wait(world.blocks("challengeWindowHours"))
    return world


STORIES = (war_story, court_story, registry_story, governance_story)
GOLDEN = Path(__file__).parent.parent / "vectors" / "agentpedia" / "golden-streams.jsonl.gz"
GOLDEN_TAKEN = 6


def golden_streams() -> list[Stream]:
    """Give some of the network's random streams, about 150 events each."""
    with gzip.open(GOLDEN) as lines:
        return [read_document(line) for line in islice(lines, GOLDEN_TAKEN)]


def both_folds_agree(stream: Stream, rules: Rules) -> Json:
    """Assert that the engine, run twice, and the naive fold give one view; give its sections."""
    views = []
    for _ in range(2):
        fold = Fold(rules, stream.options)
        fold.apply_many(stream.events)
        views.append(fold.view())
    full: Json = views[0].full()
    common: Json = views[0].common()
    assert views[1].full() == full

    events: list[Json] = msgspec.to_builtins(stream.events)
    options: Json = msgspec.to_builtins(stream.options)
    naive = naive_full_view(events, options, rules.name)
    for key, entry in naive["entry"].items():
        mine = full["entry"][key]
        for member in ("head", "status", "displayMode"):
            assert mine[member] == entry[member], (key, member)
    naive_common = naive_fold(events, options, rules.name)
    assert {name: e["reputation"] for name, e in common["editors"].items()} == {
        name: e["reputation"] for name, e in naive_common["editors"].items()
    }
    for section, records in naive.items():
        assert full.get(section, {}) == records, section
    return full


def test_ac_b1_two_independent_folds_agree_in_every_field_and_so_do_two_runs() -> None:
    reached: set[object] = set()
    stories = [read_document(story().document()) for story in STORIES]
    for stream in [*stories, *golden_streams()]:
        for rules in (PRD, DEPLOYED):
            full = both_folds_agree(stream, rules)
            for entry in full.get("entry", {}).values():
                reached |= {entry["status"], entry["displayMode"]}
            for editor in full["editor"].values():
                reached |= {editor["tier"], (editor["reputation"] > 0) - (editor["reputation"] < 0)}
    assert reached >= {"normal", "frozen", "protected", "lww", "reviewed", "T2", -1, 0, 1}


def test_ac_b3_rivals_leave_one_head_in_chain_order_and_a_stale_base_is_a_contest() -> None:
    world = Scenario()
    base = world.create("E1", "a")
    world.wait(1)
    rivals = [world.edit(name, "a", parentRev=base, basedOn=base) for name in ("E1", "E2", "E3")]
    unbased = world.edit("E4", "a", parentRev=base)
    seen = world.seen()
    entry = seen.entry()
    assert entry["head"] == unbased
    assert entry["history"] == [base, *rivals, unbased]
    assert entry["contests"] == [
        {"pin": rivals[1], "expected": rivals[0], "declared": base},
        {"pin": rivals[2], "expected": rivals[1], "declared": base},
    ]
    assert seen.reasons([*rivals, unbased]) == [None] * 4

    last_three = world.events[-3:]
    for order in permutations(last_three):
        document = {"events": [*order, *world.events[:-3]], "options": world.options}
        stream = read_document(msgspec.json.encode(document))
        fold = Fold(PRD, stream.options)
        fold.apply_many(stream.events)
        assert fold.view().digest() == seen.view.digest()


def test_ac_b4_a_second_create_is_an_orphan_outside_the_view_that_can_be_found_and_redirected() -> (
    None
):
    world = Scenario()
    first = world.create("E1", "a")
    before = world.seen().entry()
    orphan = world.create("E2", "a", title="Another A")
    review = world.review("E3", orphan)
    seen = world.seen()
    assert seen.entry() == before
    assert seen.grave(orphan) == {
        "pin": orphan,
        "reason": "duplicate-create",
        "entryKey": "en:a",
        "title": "Another A",
    }
    assert seen.reason(review) == "review-target-unresolvable"
    assert seen.editor("E2")["validRevs"] == 0

    second = world.create("E2", "a_too", title="Another A")
    pointer = world.redirect("E2", "a_too", "a")
    seen = world.seen()
    assert seen.entry("en:a_too")["history"] == [second, pointer]
    assert seen.entry("en:a_too")["redirect"] == "a"
    assert seen.entry("en:a")["head"] == first
