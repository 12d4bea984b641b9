"""What facts about stakes do to registrations (spec §4), under both profiles."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpedia.scenario import Scenario, Seen
from refold.agentpedia.rules import DEPLOYED, PRD

STATES = ("verified", "mismatch", "unavailable")


def applied(**facts: str | None) -> tuple[Scenario, str, str]:
    """A registration with all its endorsements; gives the register and the revs after it."""
    world = Scenario(valid=True)
    register = world.admit("N1", world.create("E1"))
    world.wait(world.blocks("t0DurationHours"))
    late = world.edit("N1")
    if facts:
        world.options["stakeFacts"] = {register: facts["state"]} if facts["state"] else {}
    return world, register, late


def at(world: Scenario, **options: Any) -> Seen:
    world.options.update(options)
    return world.seen()


def test_without_a_source_stakes_count_as_declared_and_are_marked_so() -> None:
    world, register, late = applied()
    seen = world.seen()
    assert seen.editor("N1")["status"] == "active"
    assert seen.reason(late) is None
    assert seen.full["unverifiedStakes"] == [register]


def test_a_verified_stake_registers_from_the_register_on() -> None:
    declared = applied()[0].seen()
    world, register, late = applied(state="verified")
    seen = world.seen()
    assert seen.editor("N1")["registeredAt"] == declared.editor("N1")["registeredAt"]
    assert seen.reason(late) is None
    assert seen.full["unverifiedStakes"] == []
    assert seen.view.digest() == declared.view.digest()
    assert seen.full["register"][register]["endorsers"]


@pytest.mark.parametrize("state", ["unavailable", None])
def test_a_register_waits_for_its_stake_with_its_endorsements(state: str | None) -> None:
    world, register, late = applied(state=state)
    seen = world.seen()
    assert (seen.editor("N1")["status"], seen.tier("N1")) == ("pending", None)
    assert seen.reason(register) is None
    assert len(seen.full["register"][register]["endorsers"]) == 4
    assert seen.reason(late) == "unregistered"
    assert seen.full["unverifiedStakes"] == [register]


def test_a_wrong_stake_is_refused_and_endorsements_of_it_find_nothing() -> None:
    world, register, _ = applied(state="mismatch")
    seen = world.seen()
    assert seen.reason(register) == "stake-mismatch"
    assert seen.editor("N1")["status"] == "none"
    graves = {line["reason"] for line in seen.full["grave"].values()}
    assert graves == {"stake-mismatch", "endorse-no-register", "unregistered"}
    again = world.admit("N1", world.events[1].pin)
    world.options["stakeFacts"][again] = "verified"
    assert world.seen().editor("N1")["status"] == "active"


def test_a_small_stake_is_refused_before_anybody_looks() -> None:
    world = Scenario(valid=True)
    first = world.create("E1")
    case = world.ask("E1", "N1")
    review = world.review("N1", first)
    world.answer("N1", case, review)
    register = world.register("N1", case, review, amount=1)
    world.options["stakeFacts"] = {register: "mismatch"}
    assert world.seen().reason(register) == "stake-insufficient"


@pytest.mark.parametrize(
    ("first", "reason"), [("verified", "stake-reused"), ("unavailable", None), ("mismatch", None)]
)
def test_only_a_verified_stake_is_somebodys(first: str, reason: str | None) -> None:
    """Else whoever names a transaction first keeps its owner out with it."""
    world = Scenario(valid=True)
    target = world.create("E1")
    registers = []
    for applicant in ("N1", "N2"):
        case = world.ask("E1", applicant)
        review = world.review(applicant, target)
        world.answer(applicant, case, review)
        registers.append(world.register(applicant, case, review, txid="ab" * 32))
    world.options["stakeFacts"] = {registers[0]: first, registers[1]: "verified"}
    assert world.seen().reason(registers[1]) == reason
    world.options["stakeFacts"] = None
    assert world.seen().reason(registers[1]) == "stake-reused"


@given(st.sampled_from([*STATES, None]))
def test_the_network_s_rules_look_at_no_stake(state: str | None) -> None:
    world, _, _ = applied(state=state)
    blind, _, _ = applied()
    assert world.seen(DEPLOYED).view.digest() == blind.seen(DEPLOYED).view.digest()


def test_a_document_may_bring_the_facts_and_no_others() -> None:
    world, register, _ = applied(state="unavailable")
    assert world.checked(PRD).editor("N1")["status"] == "pending"
    with pytest.raises(msgspec.ValidationError):
        at(world, stakeFacts={register: "declared"})
