"""The naive fold under `prd`: one small world for each rule that the deployed engines lack."""

from typing import Any

import pytest

from reference.story import DAY, PARAMS, WEEK, Story, amend, apply_for


@pytest.fixture
def story() -> Story:
    return Story()


# --- challenges and proposals ------------------------------------------------------------------


def test_one_open_proposal_per_challenge_and_none_after_the_decision(story: Story) -> None:
    case = story.challenge("E2", story.rev("E1", "create"))
    first = story.propose(case, "dismiss")
    second = story.propose(case, "dismiss")
    story.carry(first)
    third = story.propose(case, "dismiss")
    assert story.reason(second) == "proposal-open"
    assert story.reason(third) == "challenge-decided"
    assert story.view()["entries"]["en:a"]["disputed"] == []


def test_a_version_is_disputed_while_any_challenge_on_it_is_undecided(story: Story) -> None:
    target = story.rev("E1", "create")
    story.challenge("E2", target)
    story.rule(target, "dismiss")
    assert story.view()["entries"]["en:a"]["disputed"] == [target]


def test_only_a_proposal_of_this_freeze_ends_it(story: Story) -> None:
    base = story.rev("E1", "create", slug="a", contentHash="zero")
    early = story.propose(story.challenge("E6", base), "unfreeze")
    story.back("E3", base, "zero")
    story.back("E4", base, "zero")
    story.carry(early)
    entry = story.view()["entries"]["en:a"]
    assert story.view()["proposals"][early]["state"] == "effective"
    assert entry["status"] == "frozen"
    story.rule(entry["head"], "unfreeze", entry["baselineRev"])
    entry = story.view()["entries"]["en:a"]
    assert (entry["status"], entry["frozenAt"], entry["baselineRev"]) == ("normal", None, None)


def test_weights_are_forgotten_when_a_freeze_ends(story: Story) -> None:
    frozen, baseline = story.freeze()
    story.rule(frozen, "unfreeze", baseline)
    story.back("E3", "p001", "one")
    assert story.view()["entries"]["en:a"]["status"] == "normal"


def test_revert_to_ends_a_freeze_and_dismiss_does_not(story: Story) -> None:
    frozen, baseline = story.freeze()
    story.rule(frozen, "dismiss", baseline)
    assert story.view()["entries"]["en:a"]["status"] == "frozen"
    ruled = story.rule(frozen, "revert-to", baseline, revertTo="p001")
    entry = story.view()["entries"]["en:a"]
    assert (entry["status"], entry["head"]) == ("normal", f"{ruled}::rev")


def test_pins_of_reverts_and_rulings_name_their_versions(story: Story) -> None:
    first = story.rev("E1", "create", contentHash="one")
    reverted = story.back("E2", first, "one")
    edited = story.rev("E3", "edit", parentRev=reverted, basedOn=reverted)
    entry = story.view()["entries"]["en:a"]
    assert entry["contests"] == []
    assert entry["versions"][edited]["parentRev"] == f"{reverted}::eq"
    ruled = story.rule(reverted, "revert-to", revertTo=reverted)
    assert story.view()["entries"]["en:a"]["head"] == f"{ruled}::rev"
    last = story.rev("E3", "edit", basedOn=first)
    contest = {"pin": last, "expected": f"{ruled}::rev", "declared": first}
    assert story.view()["entries"]["en:a"]["contests"] == [contest]


def test_display_mode_belongs_to_rulings_on_a_status(story: Story) -> None:
    case = story.challenge("E2", story.rev("E1", "create"))
    wrong = story.propose(case, "dismiss", displayMode="lww")
    also = story.propose(case, "unprotect", protected=False, displayMode="reviewed")
    assert {story.reason(wrong), story.reason(also)} == {"display-mode-not-allowed"}


# --- arbiters ----------------------------------------------------------------------------------


def test_the_pool_holds_the_best_by_reputation_then_by_id() -> None:
    story = Story(arbiterPoolK=3, arbiterDrawN=7)
    story.options["editorsRep"] = {"E7": 2}
    proposal = story.propose(story.challenge("E2", story.rev("E1", "create")), "dismiss")
    assert sorted(story.view()["proposals"][proposal]["arbiters"]) == ["E1", "E2", "E7"]


def test_an_absent_arbiter_is_charged_once_per_suspension(story: Story) -> None:
    target = story.rev("E1", "create")
    cases = [story.challenge(who, target) for who in ("E2", "E3")]
    for case in cases:
        proposal = story.propose(case, "dismiss")
        story.tell("ruling", "E4", action="vote", proposalPin=proposal, approve=False)
    editors = story.view(story.height + 48 * 6)["editors"]
    assert editors["E4"]["reputation"] == 0
    assert editors["E5"]["reputation"] == -1
    later = story.challenge("E4", target)
    story.height += 48 * 6
    third = story.propose(later, "dismiss")
    assert story.view()["proposals"][third]["arbiters"] == ["E4"]


# --- reputation --------------------------------------------------------------------------------


def test_a_rev_that_stands_seven_days_earns_a_tenth(story: Story) -> None:
    story.rev("E1", "create")
    due = story.height + WEEK
    assert story.view(due - 1)["editors"]["E1"]["reputation"] == 0
    assert story.view(due)["editors"]["E1"]["reputation"] == 0.1


@pytest.mark.parametrize(("late", "left"), [(-1, -0.2), (0, 0.1)])
def test_a_rev_overturned_inside_seven_days_costs_two_tenths(late: int, left: float) -> None:
    story = Story()
    first = story.rev("E1", "create", contentHash="one")
    story.rev("E2", "edit")
    due = story.height + WEEK
    story.height = due + late - 1
    story.back("E3", first, "one")
    assert story.view(due + 1)["editors"]["E2"]["reputation"] == left


def test_own_reverts_and_expiry_overturn_nothing(story: Story) -> None:
    first = story.rev("E1", "create", contentHash="one")
    story.rev("E1", "edit")
    story.back("E1", first, "one")
    assert story.view(story.height + WEEK)["editors"]["E1"]["reputation"] == 0.2


def test_every_second_review_of_another_version_earns_a_tenth(story: Story) -> None:
    targets = [story.rev("E1", "create", slug=slug) for slug in "abc"]
    for target in (targets[0], targets[0], targets[1], targets[2]):
        story.tell("review", "E2", targetRev=target, score=3)
    assert story.view()["editors"]["E2"]["reputation"] == 0.1


def test_signals_at_t0_plus_count_half() -> None:
    story = Story(bootstrapWindowDays=0, t0DurationHours=0)
    for slug in "abc":
        story.rev("E1", "create", slug=slug)
    assert story.view(story.height + WEEK)["editors"]["E1"]["reputation"] == 0.1


# --- editors -----------------------------------------------------------------------------------


def test_endorsements_count_per_register_and_age_from_it(story: Story) -> None:
    target = story.rev("E1", "create")
    apply_for(story, "X", "t1", target, ["E1", "E2"])
    apply_for(story, "X", "t2", target, ["E3", "E4"])
    assert story.view()["editors"]["X"]["status"] == "pending"
    apply_for(story, "X", "t3", target, ["E1", "E2", "E3", "E4"])
    assert story.view()["editors"]["X"]["registeredAt"] == story.height - 4


def test_a_stake_serves_one_applicant(story: Story) -> None:
    target = story.rev("E1", "create")
    apply_for(story, "X", "t1", target, [])
    assert story.reason(apply_for(story, "Y", "t1", target, [])) == "stake-reused"
    assert story.reason(apply_for(story, "X", "t1", target, [])) is None


def test_the_review_of_a_case_lies_after_its_challenge(story: Story) -> None:
    target = story.rev("E1", "create")
    answer = story.tell("review", "X", targetRev=target, score=4)
    case = story.tell("editor", "E1", action="challenge", editor="X")
    named = {"editor": "X", "challengePin": case, "responsePin": answer}
    response = story.tell("editor", "X", action="poc-response", **named)
    assert story.reason(response) == "poc-review-too-early"


def test_a_register_names_the_accepted_review(story: Story) -> None:
    apply_for(story, "X", "t1", story.rev("E1", "create"), [])
    named = {"editor": "X", "challengePin": story.events[2]["pin"], "responsePin": "other"}
    stake = {"txid": "t1", "amountSat": 100}
    register = story.tell("editor", "X", action="register", stake=stake, **named)
    assert story.reason(register) == "register-invalid"


def test_t0_reads_and_reviews_only(story: Story) -> None:
    target = story.rev("E1", "create")
    apply_for(story, "X", "t1", target, ["E1", "E2", "E3", "E4"])
    case = story.challenge("X", target)
    proposal = story.propose(story.challenge("E2", target), "dismiss")
    vote = story.tell("ruling", "X", action="vote", proposalPin=proposal, approve=True)
    opened = story.tell("editor", "X", action="challenge", editor="Y")
    review = story.tell("review", "X", targetRev=target, score=2)
    refused = [story.reason(pin) for pin in (case, vote, opened, review)]
    assert refused == ["t0-review-only", "t0-review-only", "t0-review-only", None]


def test_suspension_is_bound_to_the_ruling_its_editor_and_its_arbiters() -> None:
    story = Story(arbiterDrawN=3)
    target = story.rev("E1", "create")
    story.options["arbiterOverrides"] = {"p003": ["E2", "E3"]}
    ruling = story.rule(target, "slash-stake-half", editor="E7")
    by_stranger = story.tell("editor", "E4", action="suspend", editor="E7", rulingPin=ruling)
    of_another = story.tell("editor", "E2", action="revoke", editor="E6", rulingPin=ruling)
    assert story.reason(by_stranger) == "suspend-unauthorized"
    assert story.reason(of_another) == "revoke-unauthorized"
    story.tell("editor", "E2", action="suspend", editor="E7", rulingPin=ruling)
    assert story.view()["editors"]["E7"]["tier"] is None
    assert story.view(story.height + 30 * DAY)["editors"]["E7"]["tier"] == "T2"


# --- constitution ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sender", "more", "reason"),
    [
        ("E1", {}, None),
        ("E2", {}, "constitution-not-issuer"),
        ("E1", {"revision": 2}, "constitution-mismatch"),
        ("E1", {"prevConstitution": "none"}, "constitution-mismatch"),
        ("E1", {"proposalPin": "none"}, "constitution-without-effective-proposal"),
        ("E1", {"params": PARAMS}, "constitution-params-mismatch"),
    ],
)
def test_a_revision_is_bound_to_its_proposal(
    sender: str, more: dict[str, Any], reason: str | None
) -> None:
    story = Story()
    assert story.reason(amend(story, sender, **more)) == reason
    assert story.view()["params"]["thetaProtect"] == (3 if reason is None else 0)


def test_a_param_proposal_serves_once_and_only_its_constitution(story: Story) -> None:
    first = amend(story, "E1")
    stale = amend(story, "E1", revision=2, prevConstitution=first)
    again = {"revision": 2, "prevConstitution": first, "proposalPin": "p001", "params": PARAMS}
    used = story.tell("constitution", "E1", **again)
    assert story.reason(stale) == "param-target-stale"
    assert story.reason(used) == "param-proposal-used"


# --- entries -----------------------------------------------------------------------------------


def test_a_plate_shows_while_its_pin_is_the_head(story: Story) -> None:
    for slug in "ab":
        story.rev("E1", "create", slug=slug)
    pin = story.rev("E1", "redirect", redirectTo="b")
    assert story.view()["entries"]["en:a"]["redirect"] == {"to": "b"}
    assert story.full()["entry"]["en:a"]["displayHead"] == pin
    story.rev("E1", "edit")
    assert story.view()["entries"]["en:a"]["redirect"] is None
    assert story.reason(story.rev("E1", "redirect", redirectTo="a")) == "redirect-self"


def test_a_displaced_record_is_listed_and_stays_resolvable(story: Story) -> None:
    kept = story.rev("E1", "create", slug="a", contentHash="one")
    lost = story.rev("E1", "create", slug="b")
    story.rule(kept, "transfer-slug", fromEntry="en:a", toEntry="en:b")
    view = story.view()
    assert view["entries"]["en:b"]["head"] == kept
    assert view["entries"]["en:a"]["redirect"] == {"to": "b"}
    assert list(story.full()["displaced"]) == [lost]
    assert story.reason(story.tell("review", "E2", targetRev=lost, score=3)) is None
    assert story.reason(story.back("E2", kept, "one", slug="b")) is None


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("en:x", "en:y", "transfer-source-missing"),
        ("en:a", "en:a", "transfer-self"),
        ("en:a", "zh:a", "transfer-cross-lang"),
    ],
)
def test_impossible_transfers_are_refused(source: str, target: str, reason: str) -> None:
    story = Story()
    case = story.challenge("E2", story.rev("E1", "create"))
    pin = story.propose(case, "transfer-slug", fromEntry=source, toEntry=target)
    assert story.reason(pin) == reason


def test_reviewed_mode_shows_the_last_version_that_passed(story: Story) -> None:
    first = story.rev("E1", "create")
    story.rule(first, "protect", protected=True, displayMode="reviewed")
    second, third = story.rev("E1", "edit"), story.rev("E1", "edit")
    entry = story.full()["entry"]["en:a"]
    assert (entry["displayHead"], entry["awaitingReview"]) == (first, [second, third])
    story.tell("review", "E2", targetRev=second, score=4)
    entry = story.full()["entry"]["en:a"]
    assert (entry["displayHead"], entry["awaitingReview"]) == (second, [third])
    case = story.challenge("E6", second)
    assert story.full()["entry"]["en:a"]["displayHead"] == first
    story.carry(story.propose(case, "confirm-goodfaith", editor="E1"))
    assert story.full()["entry"]["en:a"]["displayHead"] == second


def test_featured_needs_reviews_whose_reputations_sum_up(story: Story) -> None:
    head = story.rev("E1", "create", content="text")
    assert story.full()["entry"]["en:a"]["quality"] == "stub"
    story.options["editorsRep"] = {"E2": 1, "E3": -5}
    for who in ("E2", "E3"):
        story.tell("review", who, targetRev=head, score=5)
    assert story.full()["entry"]["en:a"]["quality"] == "featured"
    story.tell("review", "E3", targetRev=head, score=2)
    assert story.full()["entry"]["en:a"]["quality"] == "stub"


def test_a_content_fact_can_refuse_a_rev(story: Story) -> None:
    story.options["contentFacts"] = {"p001": "mismatch", "p002": "unavailable"}
    refused, taken = story.rev("E1", "create"), story.rev("E1", "create")
    assert (story.reason(refused), story.reason(taken)) == ("content-hash-mismatch", None)
