"""AC-D: who is in the registry, and by what (PRD §9.4)."""

from __future__ import annotations

from itertools import product

import pytest

from agentpedia.scenario import FOUNDERS, GENESIS_HEIGHT, HOUR, Scenario
from refold.agentpedia.rules import ENDORSEMENTS, ENDORSEMENTS_BOOTSTRAP, POC_WINDOW_MINUTES

POC_WINDOW = POC_WINDOW_MINUTES * HOUR // 60
ENDORSERS = FOUNDERS[:ENDORSEMENTS_BOOTSTRAP]
STEPS = ("ask", "review", "answer", "register", *ENDORSERS)


def registration(*, without: str = "") -> Scenario:
    """Tell a registration in the bootstrap window, with one step left out."""
    world = Scenario(valid=True)
    target = world.create("E1", "a")
    case = world.genesis if without == "ask" else world.ask("E1", "N1")
    review = target if without == "review" else world.review("N1", target)
    if without != "answer":
        world.answer("N1", case, review)
    register = case if without == "register" else world.register("N1", case, review)
    for name in ENDORSERS:
        if name != without:
            world.endorse(name, "N1", register)
    return world


def test_ac_d1_the_four_elements_together_make_an_active_editor_and_three_do_not() -> None:
    whole = registration().checked()
    assert whole.full.get("grave", {}) == {}
    applicant = whole.editor("N1")
    assert (applicant["status"], applicant["tier"]) == ("active", "T0")
    register = whole.full["register"][applicant["registers"][0]]
    assert applicant["registeredAt"] == register["height"]
    assert register["txid"]
    assert len(register["endorsers"]) == ENDORSEMENTS_BOOTSTRAP

    for step in STEPS:
        seen = registration(without=step).checked()
        assert seen.editor("N1")["status"] in {"none", "pending"}, step
        assert seen.tier("N1") is None


def test_ac_d2_an_answer_that_does_not_match_or_comes_too_late_registers_nobody() -> None:
    for waited, answerer, own_case in product((POC_WINDOW, POC_WINDOW + 1), ("N1", "N2"), (1, 0)):
        world = Scenario()
        target = world.create("E1", "a")
        case = world.ask("E1", "N1")
        other = world.ask("E1", "N2")
        world.wait(waited)
        review = world.review("N1", target)
        answered = case if own_case else other
        answer = world.answer("N1", answered, review, by=answerer)
        register = world.register("N1", answered, review)
        for name in ENDORSERS:
            world.endorse(name, "N1", register)
        matches = answerer == "N1" and bool(own_case)
        expected = None if matches else "poc-challenge-mismatch"
        if matches and waited > POC_WINDOW:
            expected = "poc-window-exceeded"
        seen = world.seen()
        assert seen.reason(answer) == expected
        assert seen.reason(register) == (expected and "register-invalid")
        assert ("N1" in seen.active()) == (expected is None)


def ladder_world() -> Scenario:
    """Tell a world in which E1 to E3 climb to T2 by the ladder, and N1 stays at T1."""
    world = Scenario()
    first = world.create("E1", "a")
    world.admit("N1", first)
    world.wait(world.blocks("t0DurationHours"))
    for name in ("E1", "E2", "E3"):
        for _ in range(world.params["t2MinValidRevs"]):
            world.edit(name, "a")
    for _ in range(world.params["t1MinValidRevs"]):
        world.edit("N1", "a")
    return world


@pytest.mark.parametrize("in_window", [True, False])
def test_ac_d3_too_few_endorsements_or_endorsers_below_t2_are_refused_and_liability_is_kept(
    in_window: bool,
) -> None:
    world = ladder_world()
    world.options["editorsRep"] = {"E2": -9}  # T2 alone counts: no line of reputation here
    if not in_window:
        world.at(world.bootstrap_end)
    needed = ENDORSEMENTS_BOOTSTRAP if in_window else ENDORSEMENTS
    register = world.apply_for("N2", "001-create")
    below_t2 = ["N1", "N9"] if in_window else ["N1", "N9", "E4"]
    refused = [world.endorse(name, "N2", register) for name in below_t2]
    own = world.endorse("N2", "N2", register)
    endorsers = ["E3", "E2", "E1", "E4"][:needed]
    for count, name in enumerate(endorsers, start=1):
        assert world.seen().editor("N2")["status"] == "pending"
        world.endorse(name, "N2", register)
        twice = world.endorse(name, "N2", register)
        assert world.seen().reason(twice) == "duplicate-endorse"
        assert world.seen().full["register"][register]["endorsers"] == endorsers[:count]
    seen = world.seen()
    assert seen.editor("N2")["status"] == "active"
    assert seen.editor("N2")["endorsedBy"] == endorsers
    assert seen.reasons(refused) == ["endorser-not-t2"] * len(refused)
    assert seen.reason(own) == "endorser-not-t2"


def test_ac_d4_a_declaration_of_being_a_bot_puts_nobody_into_the_registry() -> None:
    world = Scenario(valid=True)
    born = world.tell("birth", "N1", role="bot", name="N1")
    claims = [
        world.create("N1", "a", content="role=bot"),
        world.tell("editor", "N1", action="register", editor=world.who("N1"), role="bot"),
        world.ask("N1", "N1"),
        world.endorse("N1", "N1", world.genesis),
        world.tell("editor", "E1", action="declare", editor=world.who("N1"), role="bot"),
    ]
    seen = world.checked()
    assert seen.reason(born) == "unknown-path"
    assert None not in seen.reasons(claims)
    assert seen.active() == {world.who(name) for name in FOUNDERS}
    assert (seen.editor("N1")["status"], seen.tier("N1")) == ("none", None)


def test_ac_d5_founders_write_from_the_first_block_and_are_t2_only_inside_the_window() -> None:
    world = Scenario()
    founders_only = Scenario(founders=("E1", "E2")).seen()
    assert founders_only.active() == {"E1", "E2"}

    world.height = GENESIS_HEIGHT  # in the genesis block itself, after the genesis
    written = world.create("E1", "a")
    protect = world.rule(written, "protect", protected=True)
    register = world.apply_for("N1", written)
    for name in ENDORSERS[:-1]:
        world.endorse(name, "N1", register)
    seen = world.seen()
    assert seen.reason(written) is None
    assert seen.proposal(protect)["state"] == "effective"
    assert {seen.tier(name) for name in FOUNDERS} == {"T2"}
    assert {seen.editor(name)["registeredAt"] for name in FOUNDERS} == {GENESIS_HEIGHT}
    assert {seen.editor(name)["registers"] == [] for name in FOUNDERS} == {True}
    assert seen.editor("N1")["status"] == "pending"  # others need twice as many endorsements now
    world.endorse(ENDORSERS[-1], "N1", register)
    assert "N1" in world.seen().active()

    end = world.bootstrap_end
    assert world.seen(tip=end - 1).tier("E1") == "T2"
    assert world.seen(tip=end).tier("E1") == "T0+"
    refused = world.at(end).endorse("E1", "N2", register)
    assert world.seen().reason(refused) == "endorser-not-t2"
    for _ in range(world.params["t2MinValidRevs"]):
        world.create("E1", f"b{len(world.events)}")
    assert world.seen().tier("E1") == "T2"  # by the ladder, like anyone
