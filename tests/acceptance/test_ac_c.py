"""AC-C: the three kinds of attack, and what must not happen to anyone by a signal (PRD §9.3)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentpedia.scenario import DAY, FOUNDERS, PANEL, Scenario
from refold.agentpedia.rules import RULING_DELTAS


def three_versions(**params: Any) -> tuple[Scenario, str]:
    """Tell an entry of three versions; gives its first."""
    world = Scenario(**params)
    first = world.create("E1", "a")
    world.edit("E2", "a")
    world.edit("E3", "a")
    world.wait(1)
    return world, first


def test_ac_c1_a_revert_war_freezes_the_entry_and_then_only_its_arbiters_write() -> None:
    world, first = three_versions()
    threshold = world.params["revertWarThreshold"]
    reverts = [world.revert("E1", first, "a") for _ in range(threshold)]
    assert world.seen().entry()["status"] == "frozen"
    entry = world.seen().entry()
    assert (entry["frozenAt"], entry["baselineRev"]) == (reverts[-1], f"{reverts[-2]}::eq")
    assert len(entry["writers"]) == world.params["arbiterDrawN"]
    assert set(entry["writers"]) < set(FOUNDERS)

    outsiders = [name for name in FOUNDERS if name not in entry["writers"]]
    refused = [world.edit(name, "a") for name in outsiders]
    refused.append(world.revert(outsiders[0], first, "a"))
    refused.append(world.redirect(outsiders[0], "a", "a"))
    allowed = [world.edit(name, "a") for name in entry["writers"]]
    seen = world.seen()
    assert seen.reasons(refused) == ["frozen-unauthorized"] * len(refused)
    assert seen.reasons(allowed) == [None] * len(allowed)

    peace, first = three_versions()
    for _ in range(threshold - 1):
        peace.revert("E1", first, "a")
    assert peace.seen().entry()["status"] == "normal"


def war_of(plain: int, fixes: int, **params: int) -> str:
    """Fold a war of plain reverts and of vandalism-fixes, each fix by another editor."""
    world, first = three_versions(**params)
    for _ in range(plain):
        world.revert("E1", first, "a")
    for name in FOUNDERS[1 : 1 + fixes]:
        world.revert(name, first, "a", fix=True)
    status: str = world.seen().entry()["status"]
    return status


def test_ac_c2_a_vandalism_fix_weighs_half_and_repeating_it_weighs_whole() -> None:
    threshold = Scenario().params["revertWarThreshold"]
    assert threshold == 3
    assert war_of(plain=2, fixes=1) == "normal"  # 2.5
    assert war_of(plain=2, fixes=2) == "frozen"  # 3.0
    assert war_of(plain=1, fixes=2) == "normal"  # 2.0: fixes don't add up to an escape
    assert war_of(plain=0, fixes=5) == "normal"  # 2.5
    assert war_of(plain=0, fixes=6) == "frozen"  # 3.0

    for limit in range(2, 6):
        assert war_of(limit - 1, 1, revertWarThreshold=limit) == "normal"
        assert war_of(limit - 1, 2, revertWarThreshold=limit) == "frozen"

    world, first = three_versions()
    world.revert("E1", first, "a")
    for status in ("normal", "normal", "frozen"):  # 1.0 + 0.5, + 1.0, + 1.0
        world.revert("E2", first, "a", fix=True)
        assert world.seen().entry()["status"] == status


ONE_HAND = {"clusterAliases": {"E3": "E2", "E4": "E2"}}
"""E2, E3 and E4 are one controller."""


def test_ac_c3_a_cluster_counts_as_one_towards_a_freeze_and_is_not_banned_for_it() -> None:
    def story(options: dict[str, Any]) -> Scenario:
        world, first = three_versions(options=options)
        world.revert("E1", first, "a")
        for name in ("E2", "E3"):
            world.revert(name, first, "a", fix=True)
        world.revert("E5", first, "a", fix=True)
        return world

    apart, merged = story({}).seen(), story(ONE_HAND).seen()
    assert apart.entry()["status"] == "normal"  # 1.0 + 0.5 + 0.5 + 0.5
    assert merged.entry()["status"] == "frozen"  # 1.0 + 0.5 + 1.0 + 0.5
    for name in FOUNDERS:
        assert merged.editor(name) == apart.editor(name)
        assert merged.tier(name) == "T2"


def test_ac_c4_a_proposal_without_quorum_ends_void_and_the_baseline_returns_by_itself() -> None:
    world = Scenario(rulingQuorum=5, arbiterDrawN=7)
    frozen, baseline, first = world.war()
    writer = world.seen().entry()["writers"][0]
    world.edit(writer, "a")
    challenge = world.challenge("E3", frozen)
    panel = ("E1", "E2", "E3", "E4", *PANEL)
    assert len(panel) == world.params["arbiterDrawN"]
    proposal = world.propose("E4", challenge, "unfreeze", baseline=baseline, arbiters=panel)
    for name in panel[: world.params["rulingQuorum"] - 1]:
        world.vote(name, proposal)
    for name in panel[world.params["rulingQuorum"] - 1 :]:
        world.vote(name, proposal, approve=False)
    end = world.height + world.blocks("voteWindowHours")
    told = len(world.events)

    before, after = world.seen(tip=end - 1), world.seen(tip=end)
    assert before.entry()["status"] == "frozen"
    assert before.proposal(proposal)["state"] == "open"
    assert after.proposal(proposal)["state"] == "voided"
    assert after.proposal(proposal)["approveCount"] == world.params["rulingQuorum"] - 1
    assert (after.entry()["status"], after.entry()["head"]) == ("normal", baseline)
    assert len(world.events) == told  # no pin was needed

    late = world.at(end).vote("E5", proposal)
    follow_up = world.edit("E5", "a")
    seen = world.seen()
    assert seen.reason(late) == "vote-on-closed-proposal"
    assert seen.entry()["head"] == follow_up
    assert seen.proposal(proposal)["expiresAt"] == end
    assert first in seen.entry()["history"]


def test_ac_c5_only_a_ruling_with_the_baseline_unfreezes_and_meanwhile_that_is_shown() -> None:
    world = Scenario()
    frozen, baseline, _ = world.war()
    writer = world.seen().entry()["writers"][0]
    written = world.edit(writer, "a")
    world.review("E3", written)
    challenge = world.challenge("E3", frozen)
    for wrong in (None, frozen, written, "none"):
        refused = world.propose("E4", challenge, "unfreeze", baseline=wrong)
        assert world.seen().reason(refused) == "baseline-rev-mismatch"
    later = world.seen(tip=world.height + 60 * DAY).entry()
    assert (later["status"], later["head"], later["displayHead"]) == ("frozen", written, baseline)

    proposal = world.propose("E4", challenge, "unfreeze", baseline=baseline)
    world.vote("J1", proposal)
    before = world.seen()
    assert before.entry()["status"] == "frozen"
    world.vote("J2", proposal)
    entry = world.seen().entry()
    assert (entry["status"], entry["head"], entry["displayHead"]) == ("normal", written, written)
    assert world.seen().full["editor"] == before.full["editor"]  # neutral: no reward, no penalty


def test_ac_c6_vandalism_is_reverted_and_ruled_on_up_to_a_ban() -> None:
    world = Scenario()
    good = world.create("E1", "a")
    register = world.admit("N1", good)
    world.wait(world.blocks("t0DurationHours"))
    for _ in range(world.params["t1MinValidRevs"]):
        world.create("N1", f"n{len(world.events)}")
    assert world.seen().tier("N1") == "T1"
    vandalism = world.edit("E2", "a", content="")
    back = world.revert("N1", vandalism, "a")
    assert world.seen().entry()["head"] == f"{back}::eq"
    back = world.revert("N1", good, "a", fix=True)
    seen = world.seen()
    assert seen.entry()["head"] == f"{back}::eq"
    assert seen.version(f"{back}::eq")["contentHash"] == seen.version(good)["contentHash"]

    kept, lost = seen.tenths("N1"), seen.tenths("E2")
    world.rule(back, "confirm-goodfaith", editor="N1")
    assert world.seen().tenths("N1") == kept + RULING_DELTAS["confirm-goodfaith"] > kept
    for outcome in ("warn-editor", "slash-stake-half", "slash-stake-full"):
        world.rule(vandalism, outcome, editor="E2")
        assert world.seen().tenths("E2") == lost + RULING_DELTAS[outcome] < lost
        lost = world.seen().tenths("E2")
        assert world.seen().tier("E2") == "T2"
    world.rule(vandalism, "ban-editor", editor="E2")
    again = world.edit("E2", "a")
    seen = world.seen()
    assert seen.tenths("E2") == lost + RULING_DELTAS["ban-editor"]
    assert (seen.editor("E2")["banned"], seen.tier("E2")) == (True, None)
    assert seen.reason(again) == "unregistered"
    assert seen.entry()["head"] == f"{back}::eq"
    assert seen.full["register"][register]["txid"]  # slashing is a record; the stake stays as told


def test_ac_c7_writing_unregistered_or_too_fast_as_a_cluster_ends_in_the_graveyard() -> None:
    for param, reason in (("rateGlobalDaily", "rate-global"), ("ratePerSlugDaily", "rate-slug")):
        limits: dict[str, Any] = {param: 4}
        for options, refusals in (({}, [None, None]), (ONE_HAND, [None, reason])):
            world = Scenario(options=options, **limits)
            stranger = world.create("N1", "a")
            world.create("E1", "a")
            for turn in range(world.params[param] - 1):
                world.edit(("E2", "E3")[turn % 2], "a")
            last = [world.edit("E4", "a"), world.edit("E4", "a")]
            seen = world.seen()
            assert seen.reason(stranger) == "unregistered"
            assert seen.reasons(last) == refusals, (param, options)


def test_ac_c8_a_stake_below_the_minimum_stays_out_of_the_registry() -> None:
    for below, reason in ((1, "stake-insufficient"), (0, None)):
        world = Scenario(stakeAmountSat=5000)
        target = world.create("E1", "a")
        case = world.ask("E1", "N1")
        review = world.review("N1", target)
        world.answer("N1", case, review)
        amount = world.params["stakeAmountSat"] - below
        register = world.register("N1", case, review, amount=amount)
        endorsements = [world.endorse(name, "N1", register) for name in FOUNDERS[:4]]
        seen = world.seen()
        assert seen.reason(register) == reason
        assert ("N1" in seen.active()) == (reason is None)
        if reason:
            assert seen.editor("N1")["status"] == "none"
            assert seen.reasons(endorsements) == ["endorse-no-register"] * 4


def suspicious_story(options: dict[str, Any]) -> Scenario:
    """Tell all that a signal can see: one stake, an endorsement ring, ping-pong edits, blanking."""
    world = Scenario(options=options)
    target = world.create("E1", "a")
    registers = []
    for name in ("N1", "N2"):
        case = world.ask("E1", name)
        review = world.review(name, target)
        world.answer(name, case, review)
        registers.append(world.register(name, case, review, txid="one stake for all"))
    for name, register in zip(("N1", "N2"), registers, strict=True):
        for founder in FOUNDERS[:4]:
            world.endorse(founder, name, register)
    world.wait(world.blocks("t0DurationHours"))
    for name in ("N1", "N2", "E2", "E3") * 3:
        world.edit(name, "a", content="" if name == "N1" else "x" * 3000)
        world.review("E4", target)
    for name in ("N1", "E2", "E3", "E4"):
        world.revert(name, target, "a", fix=True)
    for name in ("E3", "E4", "E5"):
        world.challenge(name, target)
    return world


ALIASES = st.dictionaries(
    st.sampled_from([*FOUNDERS, "N1", "N2"]), st.sampled_from([*FOUNDERS, "N1", "N2", "hand"])
)


@given(ALIASES)
def test_ac_c9_no_signal_bans_suspends_or_revokes_anyone(aliases: dict[str, str]) -> None:
    seen = suspicious_story({"clusterAliases": aliases}).seen()
    for name in seen.full["editor"]:
        editor = seen.editor(name)
        taken = (editor["banned"], editor["revoked"], editor["suspendedUntil"])
        assert taken == (False, False, 0)
        assert editor["poolSuspendedUntil"] == 0
        assert (editor["tier"] is not None) == (editor["status"] == "active")
    plain = suspicious_story({}).seen()
    assert seen.active() == plain.active() == {*FOUNDERS, "N1"}
    for name in FOUNDERS:
        assert seen.tier(name) == "T2"
