"""The naive fold: one small world for each reading of READINGS.md that the project decided."""

from typing import Any

import pytest

from reference.naive_state import ALGORITHMS, World, root_of
from reference.story import DAY, FOUNDERS, PARAMS, WEEK, Story, amend, pass_params


@pytest.fixture
def story() -> Story:
    return Story()


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
