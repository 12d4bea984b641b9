"""The naive fold: one small world for each rule of `prd`, and for each reading that was decided."""

from typing import Any

import pytest

from reference.naive import fold
from reference.naive_full import full_view
from reference.naive_state import ALGORITHMS, PREFIX, World, root_of

FOUNDERS = [f"E{i}" for i in range(1, 8)]
DAY, WEEK = 144, 7 * 144
PARAMS = {
    "challengeWindowHours": 72,
    "revertWarWindowHours": 6,
    "revertWarThreshold": 2,
    "arbiterPoolK": 21,
    "arbiterDrawN": 7,
    "rulingQuorum": 2,
    "voteWindowHours": 48,
    "stakeAmountSat": 100,
    "coldStartDays": 14,
    "ratePerSlugDaily": 50,
    "rateGlobalDaily": 50,
    "thetaProtect": 0,
    "thetaFeatured": 1,
    "featuredMinReviews": 2,
    "inlineContentMaxBytes": 16384,
    "t0DurationHours": 72,
    "t1MinValidRevs": 10,
    "t2MinDays": 14,
    "t2MinValidRevs": 100,
    "bootstrapWindowDays": 365,
    "arbiterSuspensionDays": 30,
}


class Story:
    """Events in the order told, each one block after the other."""

    def __init__(self, **params: int) -> None:
        self.events: list[dict[str, Any]] = []
        self.options: dict[str, Any] = {"editorsRep": {}}
        self.height = 0
        genesis = {"revision": 0, "founders": FOUNDERS, "params": {**PARAMS, **params}}
        self.tell("constitution", "E1", **genesis)

    def tell(self, path: str, sender: str, /, **payload: Any) -> str:
        self.height += 1
        pin = f"p{len(self.events):03d}"
        event = {"pin": pin, "path": PREFIX + path, "sender": sender, "height": self.height}
        self.events.append({**event, "txIndex": len(self.events), "payload": payload})
        return pin

    def rev(self, sender: str, kind: str, slug: str = "a", **more: Any) -> str:
        more = {"contentHash": f"h{len(self.events)}", **more}
        return self.tell("rev", sender, type=kind, lang="en", slug=slug, **more)

    def back(self, sender: str, to: str, digest: str, **more: Any) -> str:
        return self.rev(sender, "revert", revertTo=to, contentHash=digest, **more)

    def challenge(self, sender: str, target: str) -> str:
        return self.tell("challenge", sender, targetRev=target)

    def propose(self, case: str, outcome: str, baseline: str | None = None, **params: Any) -> str:
        more = {"outcome": outcome, "baselineRev": baseline, "params": params}
        return self.tell("ruling", "E1", action="proposal", challengePin=case, seed=case, **more)

    def carry(self, proposal: str) -> None:
        for who in ("E2", "E3"):
            self.tell("ruling", who, action="vote", proposalPin=proposal, approve=True)

    def rule(self, target: str, outcome: str, baseline: str | None = None, **params: Any) -> str:
        proposal = self.propose(self.challenge("E6", target), outcome, baseline, **params)
        self.carry(proposal)
        return proposal

    def freeze(self) -> tuple[str, str]:
        """Tells an edit war on `en:a`; gives the pin of the freeze and its baseline."""
        first = self.rev("E1", "create", contentHash="one")
        second = self.rev("E2", "edit", contentHash="two")
        self.back("E3", first, "one")
        last = self.back("E4", second, "two")
        return last, f"p{len(self.events) - 2:03d}::eq"

    def view(self, tip: int | None = None, profile: str = "prd") -> dict[str, Any]:
        return fold(self.events, self.options, profile, tip)

    def full(self, tip: int | None = None, profile: str = "prd") -> dict[str, Any]:
        return full_view(self.events, self.options, profile, tip)

    def reason(self, pin: str, profile: str = "prd") -> str | None:
        graveyard = self.view(profile=profile)["graveyard"]
        found = [line["reason"] for line in graveyard if line["pin"] == pin]
        return found[0] if found else None


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


def apply_for(story: Story, who: str, txid: str, target: str, endorsers: list[str]) -> str:
    case = story.tell("editor", "E1", action="challenge", editor=who)
    answer = story.tell("review", who, targetRev=target, score=4)
    named = {"editor": who, "challengePin": case, "responsePin": answer}
    story.tell("editor", who, action="poc-response", **named)
    stake = {"txid": txid, "amountSat": 100}
    register = story.tell("editor", who, action="register", stake=stake, **named)
    for endorser in endorsers:
        story.tell("editor", endorser, action="endorse", editor=who, registerPin=register)
    return register


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


def pass_params(story: Story, param: str = "thetaProtect", value: int = 3) -> str:
    changes = [{"param": param, "value": value}]
    opened = {"kind": "proposal", "targetConstitution": "p000", "changes": changes}
    proposal = story.tell("param-proposal", "E1", **opened)
    for who in FOUNDERS[:5]:
        story.tell("param-proposal", who, kind="vote", proposalPin=proposal, approve=True)
    return proposal


def amend(story: Story, sender: str, **more: Any) -> str:
    proposal = pass_params(story)
    params = {**PARAMS, "thetaProtect": 3}
    body = {"revision": 1, "prevConstitution": "p000", "proposalPin": proposal, "params": params}
    return story.tell("constitution", sender, **{**body, **more})


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


# --- readings that were decided ----------------------------------------------------------------


@pytest.mark.parametrize("score", [None, "4", 4.5, True, 2**53])
def test_a_score_that_is_no_integer_refuses_a_review_under_prd_only(score: Any) -> None:
    story = Story()
    target = story.rev("E1", "create")
    own = story.tell("review", "E1", targetRev=target, score=score)
    other = story.tell("review", "E2", targetRev=target, score=score)
    assert (story.reason(own), story.reason(other)) == ("self-review", "schema-invalid")
    assert story.reason(other, "deployed") is None
    assert story.full(profile="deployed")["review"][other]["score"] is None


@pytest.mark.parametrize("profile", ["deployed", "prd"])
@pytest.mark.parametrize("score", [0, 99])
def test_a_score_out_of_range_is_kept(story: Story, score: int, profile: str) -> None:
    review = story.tell("review", "E2", targetRev=story.rev("E1", "create"), score=score)
    assert story.full(profile=profile)["review"][review]["score"] == score


def test_a_register_may_name_any_accepted_review(story: Story) -> None:
    target = story.rev("E1", "create")
    case = story.tell("editor", "E1", action="challenge", editor="X")
    answers = [story.tell("review", "X", targetRev=target, score=3) for _ in range(3)]
    named = {"editor": "X", "challengePin": case}
    for answer in (answers[0], answers[1], answers[0]):
        story.tell("editor", "X", action="poc-response", responsePin=answer, **named)
    stake = {"txid": "t1", "amountSat": 100}
    reasons = [
        story.reason(
            story.tell("editor", "X", action="register", stake=stake, responsePin=answer, **named)
        )
        for answer in answers
    ]
    assert story.full()["case"][case]["responsePins"] == answers[:2]
    assert reasons == [None, None, "register-invalid"]


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_an_editor_pin_names_an_editor_whatever_its_action_is(story: Story, profile: str) -> None:
    unknown = story.tell("editor", "E1", action="praise", editor="X")
    nameless = story.tell("editor", "X", action="endorse")
    assert story.reason(unknown, profile) == "editor-action-unknown"
    assert story.reason(nameless, profile) == "schema-invalid"
    assert "X" in story.view(profile=profile)["editors"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, "algo-unknown"),
        ({"revision": 2}, "constitution-mismatch"),
        ({"params": PARAMS}, "constitution-params-mismatch"),
    ],
)
def test_an_unknown_algorithm_counts_only_where_all_else_is_right(
    story: Story, more: dict[str, Any], reason: str
) -> None:
    strange = {**ALGORITHMS, "reputation": "reputation-algo-v2"}
    pin = amend(story, "E1", algoVersions=strange, **more)
    marked = pin if reason == "algo-unknown" else None
    assert story.reason(pin) == reason
    assert story.full()["fold"]["fold"]["notAuthoritativeFrom"] == marked


@pytest.mark.parametrize("version", [5, True, ["adoption-algo-v1"], {}])
def test_an_algorithm_version_that_is_no_text_is_no_unknown_algorithm(version: Any) -> None:
    story = Story()
    story.events[0]["payload"]["algoVersions"] = {**ALGORITHMS, "adoption": version}
    assert story.reason("p000") == "schema-invalid"
    assert story.full()["fold"]["fold"]["notAuthoritativeFrom"] is None


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_only_known_params_are_kept(profile: str) -> None:
    story = Story(unknown=1, arbiterPoolK=5)
    assert "unknown" not in story.view(profile=profile)["params"]
    params = {**PARAMS, "arbiterPoolK": 5, "thetaProtect": 3, "unknown": 2}
    assert story.reason(amend(story, "E1", params=params)) == "constitution-params-mismatch"
    assert story.view(profile="deployed")["params"]["thetaProtect"] == 3
    assert "unknown" not in story.view(profile=profile)["params"]


def test_the_last_suspension_counts_even_if_it_is_shorter(story: Story) -> None:
    ruling = story.rule(story.rev("E1", "create"), "slash-stake-half", editor="E7")
    suspend = {"action": "suspend", "editor": "E7", "rulingPin": ruling}
    story.tell("editor", "E2", **suspend)
    proposal = pass_params(story, "arbiterSuspensionDays", 1)
    params = {**PARAMS, "arbiterSuspensionDays": 1}
    cited = {"prevConstitution": "p000", "proposalPin": proposal}
    story.tell("constitution", "E1", revision=1, params=params, **cited)
    story.tell("editor", "E2", **suspend)
    ends = story.height + DAY
    assert story.full()["editor"]["E7"]["suspendedUntil"] == ends
    assert story.view(ends - 1)["editors"]["E7"]["tier"] is None
    assert story.view(ends)["editors"]["E7"]["tier"] == "T2"


@pytest.mark.parametrize(
    ("aliases", "root"),
    [
        ({"a": "b", "b": "c"}, "c"),
        ({"a": "a"}, "a"),
        ({"a": "c", "c": "b", "b": "a"}, "a"),
        ({"a": "c", "c": "d", "d": "c"}, "c"),
        ({"a": "d", "c": "d", "d": "c"}, "c"),
    ],
)
def test_the_root_of_a_loop_of_aliases_is_its_smallest_id(
    aliases: dict[str, str], root: str
) -> None:
    assert root_of(World({"clusterAliases": aliases}, "prd"), "a") == root


def test_under_deployed_the_pool_size_counts_at_the_vote() -> None:
    story = Story(arbiterPoolK=3)
    first = pass_params(story)
    changes = [{"param": "thetaProtect", "value": 1}]
    opened = {"kind": "proposal", "targetConstitution": "p000", "changes": changes}
    second = story.tell("param-proposal", "E1", **opened)
    story.tell("constitution", "E1", revision=7, proposalPin=first, params={"arbiterPoolK": 6})
    for who in FOUNDERS[:3]:
        story.tell("param-proposal", who, kind="vote", proposalPin=second, approve=True)
    found = story.full(profile="deployed")["param-proposal"]
    assert (found[first]["state"], found[second]["state"]) == ("effective", "open")
    assert (found[first]["needed"], found[first]["voters"]) == (None, None)
    assert story.full()["param-proposal"][second]["needed"] == 2


def test_under_deployed_a_version_passes_when_it_is_approved_and_not_disputed(
    story: Story,
) -> None:
    first = story.rev("E1", "create")
    story.rule(first, "protect", protected=True, displayMode="reviewed")
    second = story.rev("E1", "edit")
    story.tell("review", "E2", targetRev=second, score=4)
    case = story.challenge("E6", second)
    assert story.full(profile="deployed")["entry"]["en:a"]["displayHead"] == first
    story.carry(story.propose(case, "dismiss"))
    assert story.full(profile="deployed")["entry"]["en:a"]["displayHead"] == second


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_a_transfer_back_moves_the_plate_and_displaces_nothing(story: Story, profile: str) -> None:
    kept = story.rev("E1", "create", slug="y")
    story.rule(kept, "transfer-slug", fromEntry="en:y", toEntry="en:b")
    story.rule(kept, "transfer-slug", fromEntry="en:b", toEntry="en:y")
    view = story.full(profile=profile)
    plates = {key: entry["redirect"] for key, entry in view["entry"].items()}
    assert (plates, view["displaced"]) == ({"en:b": "y", "en:y": None}, {})


def test_half_signals_tell_the_half_that_waits() -> None:
    story = Story(bootstrapWindowDays=0, t0DurationHours=0)
    for slug in "abc":
        story.rev("E1", "create", slug=slug)
    editor = story.full(story.height + WEEK)["editor"]["E1"]
    assert (editor["reputation"], editor["halfSignals"]) == (1, 1)


def test_a_cost_at_t0_plus_is_halved() -> None:
    story = Story(bootstrapWindowDays=0, t0DurationHours=0)
    first = story.rev("E1", "create", contentHash="one")
    story.rev("E2", "edit")
    story.back("E3", first, "one")
    assert story.view()["editors"]["E2"]["reputation"] == -0.1


def test_a_proposal_on_a_person_needs_a_name(story: Story) -> None:
    case = story.challenge("E2", story.rev("E1", "create"))
    assert story.reason(story.propose(case, "warn-editor", editor="")) == "ruling-params-missing"


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_a_transfer_to_the_same_key_changes_nothing(story: Story, profile: str) -> None:
    first = story.rev("E1", "create")
    before = story.full(profile=profile)["entry"]
    proposal = story.propose(
        story.challenge("E6", first), "transfer-slug", fromEntry="en:a", toEntry="en:a"
    )
    story.carry(proposal)
    disputed = {"en:a": {**before["en:a"], "disputed": [first]}}
    assert story.full(profile=profile)["entry"] == disputed
    assert story.reason(proposal, profile) == ("transfer-self" if profile == "prd" else None)
