"""Edges of rulings that no vector pins: windows, quorum, freezes, absence, sanctions, param votes.

From the spec's text (§§1, 4, 6), under `prd` unless both profiles are named.
"""

from __future__ import annotations

from typing import Any

import pytest

from agentpedia.scenario import DAY, FOUNDERS, PANEL, Scenario, drawn
from refold.agentpedia.rules import DEPLOYED, PRD, Rules

BOTH = pytest.mark.parametrize("rules", [DEPLOYED, PRD], ids=lambda rules: rules.name)


def opened(outcome: str = "dismiss", **params: Any) -> tuple[Scenario, str, str]:
    """Tell an entry, a challenge on it and a proposal; gives its target and the proposal."""
    world = Scenario()
    target = world.create("E1", "a")
    proposal = world.propose("E3", world.challenge("E2", target), outcome, **params)
    return world, target, proposal


# --- order of checks (§6) -----------------------------------------------------------------


@BOTH
def test_a_challenge_is_checked_for_its_target_then_its_sender_then_its_author(
    rules: Rules,
) -> None:
    world = Scenario()
    target = world.create("E1", "a")
    stray = world.challenge("N9", "none")
    stranger = world.challenge("N9", target)
    own = world.challenge("E1", target)
    good = world.challenge("E2", target)
    seen = world.seen(rules)
    assert seen.reasons([stray, stranger]) == ["challenge-target-unresolvable", "unregistered"]
    assert seen.reasons([own, good]) == ["self-challenge", None]
    assert (seen.entry()["disputed"], seen.entry()["head"]) == ([target], target)


@BOTH
def test_a_proposal_meets_its_checks_in_the_order_of_the_spec(rules: Rules) -> None:
    world = Scenario()
    challenge = world.challenge("E2", world.create("E1", "a"))
    base: dict[str, Any] = {
        "action": "proposal",
        "challengePin": "none",
        "seed": "other",
        "outcome": "revert-to",
        "baselineRev": "something",
        "params": None,
    }
    told = {
        "unregistered": world.tell("ruling", "N9", **base),
        "ruling-challenge-missing": world.tell("ruling", "E3", **base),
    }
    base["challengePin"] = challenge
    told["ruling-seed-mismatch"] = world.tell("ruling", "E3", **base)
    base["seed"] = challenge
    told["baseline-rev-not-null"] = world.tell("ruling", "E3", **base)
    base["baselineRev"] = None
    told["ruling-params-missing"] = world.tell("ruling", "E3", **base)
    assert world.seen(rules).reasons(told.values()) == list(told)
    assert world.seen(rules).full.get("proposal", {}) == {}


@BOTH
@pytest.mark.parametrize(
    ("outcome", "params", "complete"),
    [
        ("revert-to", {}, False),
        ("revert-to", {"revertTo": "none"}, False),
        ("revert-to", {"revertTo": "other entry"}, False),
        ("revert-to", {"revertTo": "this entry"}, True),
        ("protect", {}, False),
        ("protect", {"protected": "yes"}, False),
        ("protect", {"protected": False}, True),  # its value is not read
        ("unprotect", {}, False),
        ("unprotect", {"protected": True}, True),
        ("transfer-slug", {"fromEntry": "en:a"}, False),
        ("transfer-slug", {"toEntry": "en:c"}, False),
        ("transfer-slug", {"fromEntry": "en:a", "toEntry": "en:c"}, True),
        ("warn-editor", {}, False),
        ("ban-editor", {"editor": "E1"}, True),
        ("confirm-goodfaith", {"editor": None}, False),
        ("dismiss", {}, True),
        ("unfreeze", {}, True),
    ],
)
def test_each_outcome_asks_for_its_own_params(
    outcome: str, params: dict[str, Any], complete: bool, rules: Rules
) -> None:
    world = Scenario()
    target, other = world.create("E1", "a"), world.create("E1", "b")
    names = {"this entry": target, "other entry": other}
    params = {name: names.get(str(value), value) for name, value in params.items()}
    proposal = world.propose("E3", world.challenge("E2", target), outcome, **params)
    assert world.seen(rules).reason(proposal) == (None if complete else "ruling-params-missing")


# --- the window of votes, and quorum (§6) -------------------------------------------------


@BOTH
def test_a_vote_counts_in_the_last_block_of_the_window_and_not_in_the_next(rules: Rules) -> None:
    for late, state in ((0, "effective"), (1, "voided")):
        world, _, proposal = opened()
        last = world.height + world.blocks("voteWindowHours") - 1
        world.vote("J1", proposal)
        vote = world.at(last + late).vote("J2", proposal)
        seen = world.seen(rules, tip=last + 100)
        assert seen.proposal(proposal)["state"] == state
        assert seen.reason(vote) == ("vote-on-closed-proposal" if late else None)


@BOTH
def test_a_quorum_reached_in_the_last_block_is_in_force_and_its_expiry_undoes_nothing(
    rules: Rules,
) -> None:
    world = Scenario()
    frozen, baseline, _ = world.war()
    challenge = world.challenge("E3", f"{frozen}::eq")
    proposal = world.propose("E4", challenge, "unfreeze", baseline=baseline)
    world.wait(world.blocks("voteWindowHours") - 1)
    world.carry(proposal)
    written = world.edit("E5", "a")
    entry = world.seen(rules, tip=world.height + 100).entry()
    assert (entry["status"], entry["head"]) == ("normal", written)


@BOTH
def test_a_ruling_is_in_force_at_once_within_its_block(rules: Rules) -> None:
    world, _, proposal = opened("protect", protected=True)
    before = world.edit("E4", "a")
    world.carry(proposal)
    after = world.edit("E4", "a")
    more = world.vote("J3", proposal)
    seen = world.seen(rules)
    assert seen.reasons([before, after]) == [None, "protected-unauthorized"]
    assert seen.reason(more) == "vote-on-closed-proposal"
    assert seen.proposal(proposal)["approveCount"] == world.params["rulingQuorum"]


@BOTH
def test_only_first_approvals_by_snapshot_arbiters_count(rules: Rules) -> None:
    world, _, proposal = opened()
    world.vote("J1", proposal, approve=False)
    changed_mind = world.vote("J1", proposal)
    world.vote("E5", proposal)
    world.vote("N9", proposal)
    world.vote("J2", proposal)
    seen = world.seen(rules)
    assert seen.reason(changed_mind) == "duplicate-vote"
    assert (seen.proposal(proposal)["state"], seen.proposal(proposal)["approveCount"]) == (
        "open",
        1,
    )
    assert seen.proposal(proposal)["votes"] == [
        {"editor": "J1", "approve": False},
        {"editor": "E5", "approve": True},
        {"editor": "N9", "approve": True},
        {"editor": "J2", "approve": True},
    ]


@BOTH
def test_arbiters_are_those_of_the_proposals_moment_whatever_becomes_of_them(
    rules: Rules,
) -> None:
    world = Scenario(bootstrapWindowDays=1, arbiterPoolK=len(FOUNDERS))
    target = world.create("E1", "a")
    world.height = world.bootstrap_end - 1
    challenge = world.challenge("E2", target)
    proposal = world.propose("E3", challenge, "dismiss", arbiters=None)
    arbiters = drawn(challenge, FOUNDERS, world.params["arbiterDrawN"])
    world.rule(target, "ban-editor", editor=arbiters[0])
    world.wait(1)  # the window is over: nobody is T2 any more
    for name in arbiters[: world.params["rulingQuorum"]]:
        world.vote(name, proposal)
    seen = world.seen(rules)
    assert seen.proposal(proposal)["arbiters"] == arbiters
    assert {seen.tier(name) for name in arbiters} == {None, "T0+"}
    assert seen.proposal(proposal)["state"] == "effective"


# --- two proposals around one freeze (§1, §6) ---------------------------------------------


def test_of_two_proposals_in_one_freeze_the_first_to_end_it_leaves_the_other_nothing() -> None:
    world = Scenario()
    frozen, baseline, first = world.war()
    one, two = (world.challenge(name, f"{frozen}::eq") for name in ("E3", "E4"))
    voids = world.propose("E5", one, "unfreeze", baseline=baseline)
    world.wait(3)
    later = world.propose("E5", two, "revert-to", baseline=baseline, revertTo=first)
    expiry = world.seen().proposal(voids)["expiresAt"]
    world.at(expiry)
    entry = world.seen().entry()
    assert (entry["status"], entry["head"]) == ("normal", baseline)
    written = world.edit("E1", "a")
    seen = world.seen(tip=expiry + 10)
    assert seen.proposal(later)["state"] == "voided"
    assert (seen.entry()["status"], seen.entry()["head"]) == ("normal", written)


def test_a_proposal_from_before_and_one_from_during_a_freeze_only_the_second_ends_it() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    before = world.propose("E5", world.challenge("E3", first), "unfreeze")
    reverts = [world.revert(name, first) for name in ("E1", "E2", "E1")]
    baseline = f"{reverts[1]}::eq"
    during = world.propose("E5", world.challenge("E4", reverts[2]), "unfreeze", baseline=baseline)
    world.carry(before)
    seen = world.seen()
    assert seen.proposal(before)["duringFreeze"] is None
    assert seen.proposal(during)["duringFreeze"] == reverts[2]
    assert (seen.entry()["status"], seen.entry()["frozenAt"]) == ("frozen", reverts[2])
    world.carry(during)
    assert world.seen().entry()["status"] == "normal"


def test_an_expired_proposal_of_an_earlier_freeze_leaves_the_present_one_alone() -> None:
    world = Scenario()
    frozen, baseline, first = world.war()
    left_over = world.propose("E5", world.challenge("E3", frozen), "unfreeze", baseline=baseline)
    world.rule(frozen, "unfreeze", baseline=baseline)
    reverts = [world.revert(name, first) for name in ("E1", "E2", "E1")]
    own = world.propose(
        "E5", world.challenge("E4", reverts[2]), "unfreeze", baseline=f"{reverts[1]}::eq"
    )
    world.carry(left_over)
    seen = world.seen()
    assert seen.proposal(left_over)["state"] == "effective"
    assert (seen.entry()["status"], seen.entry()["frozenAt"]) == ("frozen", reverts[2])
    expired = world.seen(tip=world.height + world.blocks("voteWindowHours"))
    assert expired.proposal(own)["state"] == "voided"
    assert (expired.entry()["status"], expired.entry()["head"]) == (
        "normal",
        f"{reverts[1]}::eq",
    )


def test_protect_in_a_freeze_ends_it_and_protects() -> None:
    world = Scenario()
    frozen, baseline, _ = world.war()
    world.rule(frozen, "protect", baseline=baseline, protected=True)
    entry = world.seen().entry()
    assert (entry["status"], entry["frozenAt"], entry["baselineRev"]) == ("protected", None, None)


@BOTH
def test_proposals_that_expire_in_one_step_close_by_expiry(rules: Rules) -> None:
    """A shorter window, come into force in between, lets the later proposal expire first."""
    world = Scenario(voteWindowHours=4)
    target = world.create("E1", "a")
    other = world.create("E1", "b")
    amendment = world.amend("E1", voteWindowHours=1)
    for name in FOUNDERS[:5]:
        world.amend_vote(name, amendment)
    long = world.propose("E3", world.challenge("E2", target), "dismiss")
    world.revise(amendment, voteWindowHours=1)
    short = world.wait(1).propose("E3", world.challenge("E2", other), "dismiss")
    seen = world.seen(rules, tip=world.height + DAY)
    ends = [seen.proposal(pin)["expiresAt"] for pin in (long, short)]
    assert ends == [world.height - 1 + 24, world.height + 6]
    assert [seen.proposal(pin)["state"] for pin in (long, short)] == ["voided"] * 2
    if rules is PRD:  # the one charge is the one of the first expiry
        until = min(ends) + world.blocks("arbiterSuspensionDays")
        assert {seen.editor(name)["poolSuspendedUntil"] for name in PANEL} == {until}
        assert {seen.tenths(name) for name in PANEL} == {-10}


# --- absence (§1) -------------------------------------------------------------------------


def test_farming_absences_on_one_challenge_costs_one_draw_of_arbiters_and_no_more() -> None:
    world = Scenario()
    challenge = world.challenge("E2", world.create("E1", "a"))
    told = [world.propose("E3", challenge, "dismiss", arbiters=None) for _ in range(20)]
    seen = world.seen(tip=world.height + world.blocks("voteWindowHours"))
    assert seen.reasons(told) == [None] + ["proposal-open"] * 19
    out = {name for name in FOUNDERS if seen.editor(name)["poolSuspendedUntil"]}
    assert out == set(seen.proposal(told[0])["arbiters"])
    assert len(out) == world.params["arbiterDrawN"] < len(FOUNDERS)


def test_an_arbiter_is_charged_again_when_his_suspension_is_over_and_not_one_block_before() -> None:
    for early, charges in ((1, 1), (0, 2)):
        world, _, first = opened()
        expiry = world.seen().proposal(first)["expiresAt"]
        until = expiry + world.blocks("arbiterSuspensionDays")
        target = world.create("E4", "b")
        challenge = world.challenge("E2", target)
        world.at(until - early - world.blocks("voteWindowHours"))
        second = world.propose("E3", challenge, "dismiss")
        seen = world.seen(tip=until)
        assert seen.proposal(second)["expiresAt"] == until - early
        assert {seen.tenths(name) for name in PANEL} == {-10 * charges}
        again = until + world.blocks("arbiterSuspensionDays")
        wanted = until if early else again
        assert {seen.editor(name)["poolSuspendedUntil"] for name in PANEL} == {wanted}


def test_a_suspended_arbiter_is_drawn_again_from_the_first_block_after_it() -> None:
    for early, back in ((1, False), (0, True)):
        world = Scenario(arbiterPoolK=len(FOUNDERS), arbiterDrawN=len(FOUNDERS))
        target = world.create("E1", "a")
        first = world.propose("E3", world.challenge("E2", target), "dismiss")
        until = world.seen().proposal(first)["expiresAt"] + world.blocks("arbiterSuspensionDays")
        other = world.challenge("E4", target)
        world.at(until - early)
        second = world.propose("E5", other, "dismiss", arbiters=None)
        assert (set(PANEL) <= set(world.seen().proposal(second)["arbiters"])) == back


def test_a_rejection_is_no_absence_and_a_ruling_in_force_charges_nobody() -> None:
    world, _, proposal = opened()
    for name in PANEL:
        world.vote(name, proposal, approve=False)
    other, _, carried = opened()
    other.carry(carried)
    for story in (world, other):
        seen = story.seen(tip=story.height + DAY)
        assert {seen.tenths(name) for name in PANEL} == {0}


def test_an_expiry_costs_the_parties_nothing() -> None:
    world, target, _ = opened("warn-editor", editor="E1")
    seen = world.seen(tip=world.height + DAY)
    assert {seen.tenths(name) for name in ("E1", "E2", "E3")} == {0}
    assert seen.entry()["disputed"] == [target]  # nobody decided it


# --- suspension and revocation (§4) -------------------------------------------------------


@BOTH
def test_a_suspension_begins_with_its_pin_and_ends_with_its_last_block(rules: Rules) -> None:
    world = Scenario()
    target = world.create("E1", "a")
    ruling = world.rule(target, "slash-stake-half", editor="E1")
    before = world.edit("E1", "a")
    world.suspend("J1", "E1", ruling)
    at_once = world.edit("E1", "a")
    back = world.height + world.blocks("arbiterSuspensionDays")
    last = world.at(back - 1).edit("E1", "a")
    first = world.at(back).edit("E1", "a")
    seen = world.seen(rules)
    assert seen.reasons([before, at_once, last, first]) == [
        None,
        "unregistered",
        "unregistered",
        None,
    ]
    assert world.seen(rules).editor("E1")["suspendedUntil"] == back
    assert seen.editor("E1")["status"] == "active"
    assert seen.tier("E1") == "T2"


@BOTH
def test_the_suspended_and_the_banned_have_no_tier_and_sit_in_no_draw(rules: Rules) -> None:
    world = Scenario(arbiterPoolK=len(FOUNDERS), arbiterDrawN=len(FOUNDERS))
    target = world.create("E5", "a")
    world.suspend("J1", "E1", world.rule(target, "slash-stake-half", editor="E1"))
    world.revoke("J1", "E2", world.rule(target, "slash-stake-full", editor="E2"))
    world.rule(target, "ban-editor", editor="E3")
    proposal = world.propose("E5", world.challenge("E4", target), "dismiss", arbiters=None)
    refused = [world.challenge(name, target) for name in ("E1", "E2", "E3")]
    refused += [world.endorse("E1", "N1", "none"), world.ask("E2", "N1")]
    seen = world.seen(rules)
    assert set(seen.proposal(proposal)["arbiters"]) == set(FOUNDERS) - {"E1", "E2", "E3"}
    assert [seen.tier(name) for name in ("E1", "E2", "E3")] == [None] * 3
    assert [seen.editor(name)["status"] for name in ("E1", "E2", "E3")] == ["active"] * 3
    assert seen.reasons(refused) == ["unregistered"] * 3 + ["endorser-not-t2", "unregistered"]
    later = world.seen(rules, tip=world.height + world.blocks("arbiterSuspensionDays"))
    assert [later.tier(name) for name in ("E1", "E2", "E3")] == ["T2", None, None]


# --- votes on parameters (§1) -------------------------------------------------------------


@pytest.mark.parametrize("founders", range(2, 10))
def test_two_thirds_of_the_seats_carry_a_change_and_one_fewer_does_not(founders: int) -> None:
    world = Scenario(founders=[f"F{number}" for number in range(founders)], arbiterPoolK=7)
    amendment = world.amend("F0", rulingQuorum=3)
    seats = min(world.params["arbiterPoolK"], founders)
    needed = next(votes for votes in range(seats + 1) if votes * 3 >= 2 * seats)
    assert world.seen().amendment(amendment)["needed"] == needed
    for count, name in enumerate(world.founders[:needed], start=1):
        world.amend_vote(name, amendment)
        state = world.seen().amendment(amendment)["state"]
        assert state == ("effective" if count == needed else "open")


@BOTH
def test_a_change_carried_in_the_last_block_holds_and_one_block_later_it_is_void(
    rules: Rules,
) -> None:
    for late, state in ((0, "effective"), (1, "voided")):
        world = Scenario(founders=FOUNDERS[:7])
        amendment = world.amend("E1", rulingQuorum=3)
        opening = world.height
        for name in FOUNDERS[:4]:
            world.amend_vote(name, amendment)
        world.at(opening + world.blocks("challengeWindowHours") - 1 + late)
        vote = world.amend_vote(FOUNDERS[4], amendment)
        revision = world.wait(DAY).revise(amendment, rulingQuorum=3)
        seen = world.seen(rules)
        assert seen.amendment(amendment)["state"] == state
        assert seen.reason(vote) == ("param-vote-on-closed" if late else None)
        assert (seen.reason(revision) is None) == (not late)
        assert seen.params()["rulingQuorum"] == (2 if late else 3)


def test_voters_on_parameters_are_the_pool_of_the_opening() -> None:
    world = Scenario(bootstrapWindowDays=1, arbiterPoolK=len(FOUNDERS))
    world.at(world.bootstrap_end - 1 - world.blocks("voteWindowHours"))
    target = world.create("E1", "a")
    world.propose("E3", world.challenge("E2", target), "dismiss")
    world.wait(world.blocks("voteWindowHours"))  # J1 to J3 are out of the pool now
    amendment = world.amend("E1", rulingQuorum=3)
    opening = world.seen().amendment(amendment)
    assert sorted(opening["voters"]) == ["E1", "E2", "E3", "E4", "E5"]
    assert opening["needed"] == 4
    outsider = world.amend_vote("J1", amendment)
    world.rule(target, "ban-editor", editor="E2")
    world.at(world.bootstrap_end)  # now nobody is T2; the right to vote stays
    votes = [world.amend_vote(name, amendment) for name in ("E1", "E2", "E3", "E4")]
    seen = world.seen()
    assert seen.reason(outsider) == "param-vote-outsider"
    assert seen.reasons(votes) == [None] * 4
    assert seen.amendment(amendment)["state"] == "effective"


def test_new_limits_hold_from_the_revision_on() -> None:
    world = Scenario(founders=FOUNDERS[:7])
    amendment = world.amend("E1", ratePerSlugDaily=1)
    for name in FOUNDERS[:5]:
        world.amend_vote(name, amendment)
    before = [world.create("E1", "a"), world.edit("E1", "a")]
    world.revise(amendment, ratePerSlugDaily=1)
    after = [world.edit("E1", "a"), world.create("E2", "b"), world.edit("E2", "b")]
    assert world.seen().reasons([*before, *after]) == [None, None, "rate-slug", None, "rate-slug"]


# --- transfers (§1) -----------------------------------------------------------------------


@BOTH
def test_after_a_transfer_two_keys_hold_one_record_and_each_version_keeps_its_own(
    rules: Rules,
) -> None:
    world = Scenario()
    first = world.create("E1", "a")
    world.rule(first, "transfer-slug", fromEntry="en:a", toEntry="en:b")
    under_new, under_old = world.edit("E2", "b"), world.edit("E3", "a")
    taken = world.create("E4", "a")
    seen = world.seen(rules)
    assert seen.entry("en:a")["history"] == seen.entry("en:b")["history"]
    assert seen.entry("en:b")["head"] == under_old
    keys = [seen.version(pin)["entryKey"] for pin in (first, under_new, under_old)]
    assert keys == ["en:a", "en:b", "en:a"]
    assert (seen.entry("en:a")["redirect"], seen.entry("en:b")["redirect"]) == ("b", None)
    assert seen.reason(taken) == "duplicate-create"


@BOTH
def test_a_record_displaced_from_one_of_its_keys_lives_on_under_the_other(rules: Rules) -> None:
    world = Scenario()
    one, two = world.create("E1", "a"), world.create("E2", "x")
    world.rule(one, "transfer-slug", fromEntry="en:a", toEntry="en:b")
    world.rule(two, "transfer-slug", fromEntry="en:x", toEntry="en:b")
    review = world.review("E3", one)
    seen = world.seen(rules)
    assert seen.entry("en:a")["history"] == [one]
    assert seen.entry("en:b")["history"] == seen.entry("en:x")["history"] == [two]
    assert seen.full.get("displaced", {}) == {}
    assert seen.reason(review) is None


def test_a_transfer_need_not_be_of_the_challenged_entry() -> None:
    world = Scenario()
    challenged, moved = world.create("E1", "a"), world.create("E2", "b")
    ruling = world.rule(challenged, "transfer-slug", fromEntry="en:b", toEntry="en:c")
    seen = world.seen()
    assert seen.proposal(ruling)["entryKey"] == "en:a"
    assert seen.entry("en:c")["head"] == moved
    assert seen.entry("en:a")["redirect"] is None


# --- redirects (§5) -----------------------------------------------------------------------


def test_a_later_edit_lifts_a_redirects_plate_under_prd_and_not_under_deployed() -> None:
    world = Scenario()
    world.create("E1", "b")
    world.create("E1", "a")
    pointer = world.redirect("E1", "a", "b")
    for rules in (DEPLOYED, PRD):
        entry = world.seen(rules).entry()
        assert (entry["head"], entry["displayHead"], entry["redirect"]) == (pointer, pointer, "b")
        assert pointer in entry["history"]
        assert pointer not in [version["id"] for version in entry["versions"]]
    later = world.edit("E2", "a", basedOn=pointer)
    assert world.seen(DEPLOYED).entry()["redirect"] == "b"
    entry = world.seen(PRD).entry()
    assert (entry["redirect"], entry["head"], entry["contests"]) == (None, later, [])


@BOTH
def test_a_redirect_pin_is_no_version_to_review_challenge_or_revert_to(rules: Rules) -> None:
    world = Scenario()
    world.create("E1", "b")
    world.create("E1", "a")
    pointer = world.redirect("E1", "a", "b")
    told = [
        world.review("E2", pointer),
        world.challenge("E2", pointer),
        world.revert("E2", pointer),
    ]
    assert world.seen(rules).reasons(told) == [
        "review-target-unresolvable",
        "challenge-target-unresolvable",
        "revert-target-unresolvable",
    ]
