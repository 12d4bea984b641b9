"""The two rules profiles side by side: every row of spec §1's table, one stream under both.

The faults of the public engines, which are a row of their own, stand in `test_profiles_faults.py`.
At the end: where the public engines differ from each other, and the reading `deployed` takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentpedia.scenario import DAY, FOUNDERS, Scenario, both, drawn, reasons
from refold.agentpedia.rules import DEPLOYED

if TYPE_CHECKING:
    from collections.abc import Callable

WEEK = 7 * DAY


# --- arbiter pool -------------------------------------------------------------------------


def test_arbiters_come_from_the_reputed_top_under_prd_and_from_all_t2_under_deployed() -> None:
    world = Scenario(arbiterPoolK=7, arbiterDrawN=3)
    world.options["editorsRep"] = {"J3": 5, "J2": 4, "J1": 1, "E1": 1, "E5": -1}
    challenge = world.challenge("E2", world.create("E1", "a"))
    proposal = world.propose("E3", challenge, "dismiss", arbiters=None)
    deployed, prd = (seen.proposal(proposal)["arbiters"] for seen in both(world))
    top = ["J3", "J2", "E1", "J1", "E2", "E3", "E4"]  # by reputation, ties by id; E5 is the eighth
    assert prd == drawn(challenge, top, 3)
    assert deployed == drawn(challenge, FOUNDERS, 3)
    assert "E5" in deployed, "a draw that tells the profiles apart"
    assert "E5" not in prd

    order = FOUNDERS[::-1]  # eight equals: the last id stays out, whatever order they came in
    world = Scenario(founders=order, arbiterPoolK=7, arbiterDrawN=7)
    challenge = world.challenge("E2", world.create("E1", "a"))
    proposal = world.propose("E3", challenge, "dismiss", arbiters=None)
    deployed, prd = (seen.proposal(proposal)["arbiters"] for seen in both(world))
    assert set(prd) == set(FOUNDERS) - {"J3"}
    assert deployed == drawn(challenge, FOUNDERS, 7)


# --- absence duty -------------------------------------------------------------------------


def test_absent_arbiters_pay_and_leave_the_pool_under_prd_and_nothing_happens_under_deployed() -> (
    None
):
    world = Scenario()
    challenge = world.challenge("E2", world.create("E1", "a"))
    proposal = world.propose("E3", challenge, "dismiss")
    world.vote("J1", proposal, approve=False)
    expiry = world.height + world.blocks("voteWindowHours")
    suspended = expiry + world.blocks("arbiterSuspensionDays")
    world.at(expiry)
    again = world.propose("E3", challenge, "dismiss", arbiters=None)
    deployed, prd = both(world)
    for name, paid in (("J1", False), ("J2", True), ("J3", True)):
        assert deployed.tenths(name) == 0
        assert deployed.editor(name)["poolSuspendedUntil"] == 0
        assert prd.tenths(name) == (-10 if paid else 0)
        assert prd.editor(name)["poolSuspendedUntil"] == (suspended if paid else 0)
        assert prd.tier(name) == "T2"  # out of the pool, not out of the registry
    pool = [name for name in FOUNDERS if name not in {"J2", "J3"}]
    assert prd.proposal(again)["arbiters"] == drawn(challenge, pool, 3)
    assert deployed.proposal(again)["arbiters"] == drawn(challenge, FOUNDERS, 3)


# --- proposals ----------------------------------------------------------------------------


def test_a_challenge_has_one_open_proposal_under_prd_and_any_number_under_deployed() -> None:
    world = Scenario()
    challenge = world.challenge("E2", world.create("E1", "a"))
    world.propose("E3", challenge, "dismiss")
    second = world.propose("E3", challenge, "dismiss")
    assert reasons(world, second) == (None, "proposal-open")


def test_any_expiry_resets_a_frozen_entry_under_deployed_and_only_this_freeze_s_own_under_prd() -> (
    None
):
    world = Scenario()
    first = world.create("E1", "a")
    challenge = world.challenge("E3", first)
    world.propose("E4", challenge, "dismiss")  # opened before the freeze
    expiry = world.height + world.blocks("voteWindowHours")
    reverts = [world.wait(1).revert(name, first) for name in ("E1", "E2", "E1")]
    deployed, prd = both(world, tip=expiry)
    assert (deployed.entry()["status"], prd.entry()["status"]) == ("normal", "frozen")
    # its baselineRev is null, so the head stays even where the freeze ends
    assert deployed.entry()["head"] == prd.entry()["head"] == f"{reverts[-1]}::eq"


# --- T0 -----------------------------------------------------------------------------------


def newcomer() -> tuple[Scenario, str]:
    """Tell N1's registration; gives a version to talk about. N1 is T0."""
    world = Scenario()
    first = world.create("E1", "a")
    world.admit("N1", first)
    return world, first


def test_t0_challenges_proposes_and_votes_under_deployed_and_only_reviews_under_prd() -> None:
    world, first = newcomer()
    theirs = world.challenge("E2", first)
    open_proposal = world.propose("E3", world.challenge("E3", first), "dismiss")
    only_deployed = [
        world.challenge("N1", first),
        world.propose("N1", theirs, "dismiss"),
        world.vote("N1", open_proposal),
        world.ask("N1", "N2"),
        world.amend("N1", rulingQuorum=3),
    ]
    reviewed = world.review("N1", first)
    written = world.edit("N1", "a")
    deployed, prd = both(world)
    assert (deployed.tier("N1"), prd.tier("N1")) == ("T0", "T0")
    assert deployed.reasons(only_deployed) == [None] * 5
    assert prd.reasons(only_deployed) == ["t0-review-only"] * 5
    assert (deployed.reason(reviewed), prd.reason(reviewed)) == (None, None)
    assert (deployed.reason(written), prd.reason(written)) == ("t0-no-rev", "t0-no-rev")

    world, first = newcomer()
    world.wait(world.blocks("t0DurationHours"))
    challenged = world.challenge("N1", first)
    deployed, prd = both(world)
    assert (deployed.tier("N1"), prd.tier("N1")) == ("T0+", "T0+")
    assert reasons(world, challenged) == (None, None)


# --- reputation ---------------------------------------------------------------------------


def test_reputation_is_rulings_alone_under_deployed_and_settled_signals_too_under_prd() -> None:
    world = Scenario()
    kept = world.create("E1", "a")
    lost = world.edit("E2", "a")
    world.create("E3", "b")
    world.revert("E4", kept)
    for target in (kept, lost):
        world.review("E5", target)
    world.rule(kept, "confirm-goodfaith", editor="E1")
    world.rule(lost, "warn-editor", editor="E2")
    deployed, prd = both(world, tip=world.height + WEEK)
    names = ("E1", "E2", "E3", "E4", "E5")
    assert [deployed.tenths(name) for name in names] == [10, -10, 0, 0, 0]
    assert [prd.tenths(name) for name in names] == [11, -12, 1, 0, 1]


# --- registration -------------------------------------------------------------------------


def test_the_proof_review_comes_after_its_challenge_under_prd_and_whenever_under_deployed() -> None:
    world = Scenario()
    target = world.create("E1", "a")
    early = world.review("N1", target)
    case = world.ask("E1", "N1")
    answer = world.answer("N1", case, early)
    assert reasons(world, answer) == (None, "poc-review-too-early")

    world = Scenario()
    target = world.create("E1", "a")
    case = world.ask("E1", "N1")
    theirs, own = world.review("E2", target), world.review("N1", target)
    stolen = world.answer("N1", case, theirs)
    good = world.answer("N1", case, own)
    late = world.answer("N1", case, "a review that comes after the answer")
    assert reasons(world, stolen) == ("poc-response-missing",) * 2
    assert reasons(world, late) == ("poc-response-missing",) * 2
    assert reasons(world, good) == (None, None)


def test_a_register_names_the_accepted_answer_under_prd_and_anything_under_deployed() -> None:
    world = Scenario()
    target = world.create("E1", "a")
    case = world.ask("E1", "N1")
    accepted, other = world.review("N1", target), world.review("N1", target)
    world.answer("N1", case, accepted)
    wrong = world.register("N1", case, other)
    right = world.register("N1", case, accepted)
    assert reasons(world, wrong) == (None, "register-invalid")
    assert reasons(world, right) == (None, None)


# --- param-proposals ----------------------------------------------------------------------


def test_param_votes_need_two_thirds_of_the_snapshot_under_prd_and_of_k_under_deployed() -> None:
    world = Scenario(founders=("E1", "E2", "E3", "E4", "E5"), arbiterPoolK=7)
    amendment = world.amend("E1", rulingQuorum=3)
    for name in ("E1", "E2", "E3"):
        world.amend_vote(name, amendment)
    assert [s.amendment(amendment)["state"] for s in both(world)] == ["open", "open"]
    world.amend_vote("E4", amendment)  # ⌈2·5/3⌉ = 4, ⌈2·7/3⌉ = 5
    assert [s.amendment(amendment)["state"] for s in both(world)] == ["open", "effective"]
    world.amend_vote("E5", amendment)
    assert [s.amendment(amendment)["state"] for s in both(world)] == ["effective", "effective"]


def test_outsiders_and_repeats_leave_a_line_under_prd_and_are_passed_over_under_deployed() -> None:
    world = Scenario(founders=FOUNDERS, arbiterPoolK=7)
    world.options["editorsRep"] = {"J3": -1}  # the eighth of seven seats
    amendment = world.amend("E1", rulingQuorum=3)
    first = world.amend_vote("E1", amendment)
    repeat = world.amend_vote("E1", amendment, approve=False)
    outsider = world.amend_vote("J3", amendment)
    stranger = world.amend_vote("N9", amendment)
    assert reasons(world, first) == (None, None)
    assert reasons(world, repeat) == (None, "duplicate-param-vote")
    assert reasons(world, outsider) == (None, "param-vote-outsider")
    assert reasons(world, stranger) == (None, "param-vote-outsider")
    # J3 is T2, which is all that `deployed` asks
    assert [s.amendment(amendment)["approveCount"] for s in both(world)] == [2, 1]


# --- constitution -------------------------------------------------------------------------

AMENDERS = ("E1", "E2", "E3", "E4", "E5")


def amended() -> tuple[Scenario, str]:
    """Tell a param-proposal that both profiles find effective."""
    world = Scenario(founders=FOUNDERS[:7], arbiterPoolK=7)
    amendment = world.amend("E2", rulingQuorum=3)
    for name in AMENDERS:
        world.amend_vote(name, amendment)
    return world, amendment


def stale_target(world: Scenario, amendment: str) -> str:
    other = world.amend("E3", voteWindowHours=5)
    for name in AMENDERS:
        world.amend_vote(name, other)
    first = world.revise(amendment, rulingQuorum=3)
    changes = {"rulingQuorum": 3, "voteWindowHours": 5}
    return world.revise(other, sender=None, revision=2, previous=first, **changes)


def used_twice(world: Scenario, amendment: str) -> str:
    first = world.revise(amendment, rulingQuorum=3)
    return world.revise(amendment, revision=2, previous=first, rulingQuorum=3)


WRONG_REVISIONS: dict[str, tuple[str, Callable[[Scenario, str], str]]] = {
    "number": ("constitution-mismatch", lambda w, a: w.revise(a, revision=2, rulingQuorum=3)),
    "chain": ("constitution-mismatch", lambda w, a: w.revise(a, previous="other", rulingQuorum=3)),
    "issuer": ("constitution-not-issuer", lambda w, a: w.revise(a, sender="E2", rulingQuorum=3)),
    "used": ("param-proposal-used", used_twice),
    "stale": ("param-target-stale", stale_target),
    "less": ("constitution-params-mismatch", lambda w, a: w.revise(a)),
    "other": ("constitution-params-mismatch", lambda w, a: w.revise(a, rulingQuorum=4)),
    "more": (
        "constitution-params-mismatch",
        lambda w, a: w.revise(a, rulingQuorum=3, voteWindowHours=9),
    ),
}


@pytest.mark.parametrize("case", WRONG_REVISIONS)
def test_a_revision_is_bound_to_its_proposal_under_prd_and_needs_only_one_under_deployed(
    case: str,
) -> None:
    reason, tell = WRONG_REVISIONS[case]
    world, amendment = amended()
    revision = tell(world, amendment)
    told = world.events[-1].payload["params"]
    deployed, prd = both(world)
    assert (deployed.reason(revision), prd.reason(revision)) == (None, reason)
    assert deployed.params() == told
    assert revision not in prd.full["constitution"]


def test_a_revision_that_follows_its_proposal_takes_effect_under_both() -> None:
    world, amendment = amended()
    unproposed = world.revise(world.genesis, rulingQuorum=3)
    revision = world.revise(amendment, rulingQuorum=3)
    assert reasons(world, unproposed) == ("constitution-without-effective-proposal",) * 2
    assert reasons(world, revision) == (None, None)
    for seen in both(world):
        assert seen.params() == world.params | {"rulingQuorum": 3}
        assert seen.amendment(amendment)["usedBy"] == revision


@pytest.mark.parametrize(
    "changes",
    [
        None,
        [],
        [{"param": "rulingQuorum", "value": 22}],
        [{"param": "rulingQuorum", "value": True}],
        [{"param": "unheardOf", "value": 3}],
        [{"param": "rulingQuorum", "value": 3}, {"param": "rulingQuorum", "value": 4}],
    ],
)
def test_changes_are_known_distinct_and_in_range_under_prd_and_not_read_under_deployed(
    changes: Any,
) -> None:
    world = Scenario()
    amendment = world.tell(
        "param-proposal", "E1", kind="proposal", targetConstitution=world.genesis, changes=changes
    )
    assert reasons(world, amendment) == (None, "param-changes-invalid")


# --- transfers ----------------------------------------------------------------------------


def test_a_transfer_displaces_the_record_it_meets_under_prd_and_drops_it_under_deployed() -> None:
    world = Scenario()
    moved, held = world.create("E1", "a"), world.create("E2", "b")
    world.rule(moved, "transfer-slug", fromEntry="en:a", toEntry="en:b")
    challenge = world.challenge("E3", held)
    review = world.review("E3", held)
    assert reasons(world, challenge) == ("challenge-target-unresolvable", None)
    assert reasons(world, review) == ("review-target-unresolvable", None)
    deployed, prd = both(world)
    for seen in (deployed, prd):
        assert seen.entry("en:a")["history"] == seen.entry("en:b")["history"] == [moved]
    assert prd.full["displaced"][held]["history"] == [held]
    assert prd.full["displaced"][held]["disputed"] == [held]


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("en:none", "en:b", "transfer-source-missing"),
        ("en:a", "en:a", "transfer-self"),
        ("en:a", "zh:b", "transfer-cross-lang"),
    ],
)
def test_a_transfer_that_cannot_be_is_refused_under_prd_and_only_tried_under_deployed(
    source: str, target: str, reason: str
) -> None:
    world = Scenario()
    moved = world.create("E1", "a")
    proposal = world.rule(moved, "transfer-slug", fromEntry=source, toEntry=target)
    assert reasons(world, proposal) == (None, reason)
    deployed, prd = both(world)
    assert set(prd.full["entry"]) == {"en:a"}
    done = {"en:a", "zh:b"} if reason == "transfer-cross-lang" else {"en:a"}
    assert set(deployed.full["entry"]) == done
    assert deployed.proposal(proposal)["state"] == "effective"


def test_a_new_key_reverts_to_any_version_under_prd_and_to_its_own_under_deployed() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    world.edit("E2", "a")
    world.rule(first, "transfer-slug", fromEntry="en:a", toEntry="en:b")
    own = world.edit("E1", "b")
    back = world.revert("E3", first, "b")
    to_own = world.revert("E3", own, "b")
    assert reasons(world, back) == ("revert-entry-mismatch", None)
    assert reasons(world, to_own) == (None, None)
    assert world.seen().version(f"{back}::eq")["entryKey"] == "en:b"


def test_a_record_whose_key_was_taken_is_itself_under_prd_and_a_key_under_deployed() -> None:
    world = Scenario()
    record, other = world.create("E1", "a"), world.create("E2", "x")
    early = world.propose("E3", world.challenge("E3", record), "protect", protected=True)
    world.rule(record, "transfer-slug", fromEntry="en:a", toEntry="en:b")
    world.rule(other, "transfer-slug", fromEntry="en:x", toEntry="en:a")
    late = world.propose("E3", world.challenge("E3", record), "dismiss")
    world.carry(early)
    deployed, prd = both(world)
    for seen in (deployed, prd):
        assert seen.entry("en:a")["history"] == [other]
        assert seen.entry("en:b")["history"] == [record]
    # a proposal acts on what its key holds by now, or on the record it was made about
    status = [(s.entry("en:a")["status"], s.entry("en:b")["status"]) for s in (deployed, prd)]
    assert status == [("protected", "normal"), ("normal", "protected")]
    # and a new one names the smallest key that holds the version, or the one it was written under
    assert [s.proposal(late)["entryKey"] for s in (deployed, prd)] == ["en:b", "en:a"]


# --- display, quality, content ------------------------------------------------------------


def test_display_and_quality_are_computed_under_both_and_in_neither_common_view() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    world.rule(first, "protect", protected=True, displayMode="reviewed")
    for seen in both(world):
        assert seen.entry()["displayMode"] == "reviewed"
        assert seen.entry()["quality"] == "protected"
        common = seen.common["entries"]["en:a"]
        assert set(common) == {
            "head",
            "status",
            "history",
            "disputed",
            "contests",
            "redirect",
            "frozenAt",
            "baselineRev",
            "versions",
        }


@pytest.mark.parametrize(
    ("outcome", "mode", "reason"),
    [
        ("protect", "reviewed", None),
        ("protect", "lww", None),
        ("unprotect", "lww", None),
        ("unfreeze", "lww", None),
        ("unprotect", "reviewed", "display-mode-not-allowed"),
        ("unfreeze", "reviewed", "display-mode-not-allowed"),
        ("dismiss", "lww", "display-mode-not-allowed"),
        ("dismiss", "reviewed", "display-mode-not-allowed"),
        ("warn-editor", "lww", "display-mode-not-allowed"),
        ("protect", "normal", "schema-invalid"),
    ],
)
def test_display_mode_goes_with_a_ruling_on_status_under_prd_and_is_not_judged_under_deployed(
    outcome: str, mode: str, reason: str | None
) -> None:
    world = Scenario()
    first = world.create("E1", "a")
    given: dict[str, Any] = {"protected": True, "editor": "E1", "displayMode": mode}
    proposal = world.propose("E3", world.challenge("E2", first), outcome, **given)
    assert reasons(world, proposal) == (None, reason)


@pytest.mark.parametrize("score", ["5", 4.5, True, None])
def test_a_score_is_a_whole_number_under_prd_and_anything_under_deployed(score: Any) -> None:
    world = Scenario()
    review = world.review("E2", world.create("E1", "a"), score=score)
    assert reasons(world, review) == (None, "schema-invalid")
    assert world.seen(DEPLOYED).full["review"][review]["score"] is None


def test_a_content_fact_refuses_a_rev_under_prd_and_says_nothing_under_deployed() -> None:
    world = Scenario()
    rev = world.create("E1", "a", contentRef="metafile://text")
    world.options["contentFacts"] = {rev: "mismatch"}
    assert reasons(world, rev) == (None, "content-hash-mismatch")


# --- where the public engines differ on well-formed streams (facts page) ------------------


def test_deployed_reading_the_eleventh_rev_of_a_day_on_one_slug_is_over_the_rate() -> None:
    world = Scenario(ratePerSlugDaily=10)
    revs = [world.create("E1", "a"), *(world.edit("E1", "a") for _ in range(10))]
    assert world.seen(DEPLOYED).reasons(revs) == [None] * 10 + ["rate-slug"]


def test_deployed_reading_fourteen_of_twenty_one_carry_a_param_proposal() -> None:
    founders = [f"F{number:02d}" for number in range(21)]
    world = Scenario(founders=founders, arbiterPoolK=21)
    amendment = world.amend("F00", rulingQuorum=3)
    for name in founders[:13]:
        world.amend_vote(name, amendment)
    assert world.seen(DEPLOYED).amendment(amendment)["state"] == "open"
    world.amend_vote(founders[13], amendment)
    assert world.seen(DEPLOYED).amendment(amendment)["state"] == "effective"


def test_deployed_reading_a_param_proposal_closes_after_the_challenge_window() -> None:
    world = Scenario()
    amendment = world.amend("E1", rulingQuorum=3)
    window = world.blocks("challengeWindowHours")
    in_time = world.wait(window - 1).amend_vote("E1", amendment)
    late = world.wait(1).amend_vote("E2", amendment)
    seen = world.seen(DEPLOYED)
    assert seen.reasons([in_time, late]) == [None, "param-vote-on-closed"]
    assert seen.amendment(amendment)["state"] == "voided"


def test_deployed_reading_a_transfer_leaves_its_plate_on_the_old_key_alone() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    world.rule(first, "transfer-slug", fromEntry="en:a", toEntry="en:b")
    entries = world.seen(DEPLOYED).common["entries"]
    assert entries["en:a"]["redirect"] == {"to": "b"}
    assert entries["en:b"]["redirect"] is None
    assert entries["en:a"]["head"] == entries["en:b"]["head"] == first
