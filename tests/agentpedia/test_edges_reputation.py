"""Edges of reputation, display and quality that no vector pins (spec §§6, 8, 9), under `prd`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpedia.scenario import DAY, FOUNDERS, Scenario
from refold.agentpedia.event import position
from refold.agentpedia.fold import Fold
from refold.agentpedia.rules import DEPLOYED, PRD, Rules
from refold.agentpedia.state import Options

if TYPE_CHECKING:
    from agentpedia.scenario import Json

WEEK = 7 * DAY


# --- credit and overturning (§8) ----------------------------------------------------------


def test_a_rev_earns_its_tenth_when_its_week_is_over_and_not_a_block_sooner() -> None:
    world = Scenario()
    world.create("E1", "a")
    world.edit("E2", "a")
    due = world.height + WEEK
    for name in ("E1", "E2"):
        assert world.seen(tip=due - 1).tenths(name) == 0
        assert world.seen(tip=due).tenths(name) == 1
        assert world.seen(tip=due + 10 * WEEK).tenths(name) == 1  # once


@pytest.mark.parametrize(("age", "tenths"), [(1, -2), (WEEK - 1, -2), (WEEK, 1), (WEEK + 1, 1)])
def test_overturned_inside_the_week_costs_two_and_from_seven_days_on_nothing(
    age: int, tenths: int
) -> None:
    for by_ruling in (False, True):
        world = Scenario(voteWindowHours=168)
        first = world.create("E1", "a")
        edit = world.edit("E2", "a")
        challenge = world.challenge("E4", edit)
        if by_ruling:
            # opened in time: what counts is the height at which it takes effect
            world.wait(max(0, age - 5))
            ruling = world.propose("E5", challenge, "revert-to", revertTo=first)
            world.wait(min(5, age))
            world.carry(ruling)
        else:
            world.wait(age).revert("E3", first)
        seen = world.seen(tip=world.height + 2 * WEEK)
        assert seen.tenths("E2") == tenths, by_ruling
        assert seen.tenths("E1") == 1  # the version returned to stands


def test_a_revert_takes_away_every_later_rev_of_others_and_none_of_ones_own() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    for name in ("E2", "E3", "E2", "E4"):
        world.edit(name, "a")
    world.revert("E4", first)
    seen = world.seen(tip=world.height + WEEK)
    assert [seen.tenths(name) for name in ("E1", "E2", "E3", "E4")] == [1, -4, -2, 1]


def test_nothing_is_taken_away_twice_and_restoring_refunds_nothing() -> None:
    world = Scenario(revertWarThreshold=10)
    first = world.create("E1", "a")
    second = world.edit("E2", "a")
    world.revert("E3", first)
    world.revert("E4", first)
    world.revert("E2", second)
    seen = world.seen(tip=world.height + WEEK)
    assert [seen.tenths(name) for name in ("E1", "E2", "E3", "E4")] == [1, -2, 0, 0]


def test_reverts_are_neither_credited_nor_overturned() -> None:
    world = Scenario(revertWarThreshold=10)
    first = world.create("E1", "a")
    world.revert("E2", first)
    world.revert("E3", first)
    seen = world.seen(tip=world.height + WEEK)
    assert [seen.tenths(name) for name in ("E1", "E2", "E3")] == [1, 0, 0]


def test_a_redirect_earns_nothing() -> None:
    world = Scenario()
    world.create("E1", "a")
    world.create("E1", "b")
    world.redirect("E2", "b", "a")
    assert world.seen(tip=world.height + WEEK).tenths("E2") == 0


def test_an_expiry_that_goes_back_to_the_baseline_overturns_nobody() -> None:
    world = Scenario(options={"frozenArbiterOverrides": {"en:a": ["E3"]}})
    frozen, baseline, _ = world.war()
    written = world.edit("E3", "a")
    world.propose("E5", world.challenge("E4", frozen), "dismiss", baseline=baseline)
    seen = world.seen(tip=world.height + WEEK)
    assert seen.entry()["history"][-1] == written
    assert seen.entry()["head"] == baseline
    assert seen.tenths("E3") == 1


def test_what_is_due_settles_before_the_first_event_of_its_height() -> None:
    world = Scenario(thetaProtect=1)
    world.options["editorsRep"] = {"E1": 1, "E2": 1}
    entry = world.create("E3", "p")
    world.rule(entry, "protect", protected=True)
    first = world.create("E3", "a")
    world.edit("E1", "a")
    world.revert("E4", first)  # E1 stands at 8 tenths
    for number in range(2):
        world.create("E1", f"b{number}")
    due = world.height + WEEK
    before = world.at(due - 1).edit("E1", "p")
    on_time = world.at(due).edit("E1", "p")
    seen = world.seen()
    assert seen.reasons([before, on_time]) == ["protected-unauthorized", None]
    assert seen.tenths("E1") == 10


# --- halves (§8) --------------------------------------------------------------------------


def newcomer(**params: int) -> tuple[Scenario, str]:
    """Tell N1 at T0+, without a rev yet; gives a version of E1."""
    world = Scenario(t1MinValidRevs=params.get("t1MinValidRevs", 50), t2MinValidRevs=60)
    first = world.create("E1", "a")
    world.admit("N1", first)
    world.wait(world.blocks("t0DurationHours"))
    return world, first


def test_two_revs_written_at_t0_plus_make_one_tenth() -> None:
    for revs, tenths, half in ((1, 0, 1), (2, 1, 0), (3, 1, 1)):
        world, _ = newcomer()
        for _ in range(revs):
            world.edit("N1", "a")
        seen = world.seen(tip=world.height + WEEK)
        assert (seen.tenths("N1"), seen.editor("N1")["halfSignals"]) == (tenths, half)


def test_the_tier_at_the_rev_decides_and_not_the_tier_when_it_settles() -> None:
    world, _ = newcomer(t1MinValidRevs=1)
    world.edit("N1", "a")  # at T0+; from now on T1
    world.edit("N1", "a")
    seen = world.seen(tip=world.height + WEEK)
    assert seen.tier("N1") == "T1"
    assert (seen.tenths("N1"), seen.editor("N1")["halfSignals"]) == (1, 1)


def test_an_overturned_rev_of_t0_plus_costs_half_as_well() -> None:
    world, first = newcomer()
    world.edit("N1", "a")
    world.revert("E2", first)
    assert world.seen(tip=world.height + WEEK).tenths("N1") == -1


def test_rulings_are_never_halved_and_know_no_floor() -> None:
    world, first = newcomer()
    for _ in range(3):
        world.rule(first, "slash-stake-full", editor="N1")
    assert world.seen().tenths("N1") == -150
    world.rule(first, "confirm-goodfaith", editor="N1")
    assert world.seen().tenths("N1") == -140


def test_two_reviews_at_t0_make_half_a_tenth() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    targets = [world.create("E2", f"b{number}") for number in range(4)]
    world.admit("N1", first)  # his proof was made before he was registered
    for count, (tenths, half) in enumerate([(0, 0), (0, 1), (0, 1), (1, 0)]):
        world.review("N1", targets[count])
        seen = world.seen()
        assert seen.tier("N1") == "T0"
        assert (seen.tenths("N1"), seen.editor("N1")["halfSignals"]) == (tenths, half)
        assert seen.editor("N1")["validReviews"] == count + 1


# --- reviews (§8) -------------------------------------------------------------------------


def test_every_second_review_earns_and_one_per_version_counts() -> None:
    world = Scenario()
    versions = [world.create("E1", "a"), *(world.edit("E1", "a") for _ in range(3))]
    earned = []
    for version in versions:
        world.review("E2", version)
        world.review("E2", version, score=1)
        earned.append(world.seen().tenths("E2"))
    assert earned == [0, 1, 1, 2]


def test_reviews_by_strangers_authors_and_clusters_earn_nothing() -> None:
    world = Scenario(options={"clusterAliases": {"E3": "E1"}})
    versions = [world.create("E1", "a"), world.edit("E1", "a")]
    own = [world.review("E1", version) for version in versions]
    cluster = [world.review("E3", version) for version in versions]
    stranger = [world.review("N9", version) for version in versions]
    seen = world.seen()
    assert seen.reasons(own) == ["self-review"] * 2
    assert seen.reasons([*cluster, *stranger]) == [None] * 4
    assert seen.tenths("E3") == 0
    assert seen.editor("E3")["validReviews"] == 0
    assert "N9" not in seen.full["editor"]
    assert {seen.full["review"][pin]["byT2"] for pin in cluster + stranger} == {False}


# --- settlement and views (§11) -----------------------------------------------------------


def busy_story() -> Scenario:
    """Tell revs, overturns, reviews, a freeze, rulings and expiries over three weeks."""
    world = Scenario()
    frozen, baseline, first = world.war()
    world.propose("E5", world.challenge("E4", frozen), "unfreeze", baseline=baseline)
    world.wait(world.blocks("voteWindowHours") + 1)
    for name in ("E1", "E2", "E3"):
        edit = world.edit(name, "a")
        world.wait(DAY).review("E4", edit)
    world.revert("E5", first)
    amendment = world.amend("E1", rulingQuorum=3)
    for name in FOUNDERS[:4]:
        world.wait(1).amend_vote(name, amendment)
    world.wait(WEEK - 2 * DAY).create("E3", "b")
    world.propose("E4", world.challenge("E5", world.edit("E2", "b")), "dismiss")
    world.wait(WEEK).edit("E1", "b")
    return world


STORY = busy_story()
EVENTS = sorted(STORY.events, key=position)


MOMENTS = st.dictionaries(st.integers(0, len(EVENTS) - 1), st.integers(0, 3 * WEEK), max_size=8)


@given(moments=MOMENTS)
@pytest.mark.parametrize("rules", [DEPLOYED, PRD], ids=lambda rules: rules.name)
def test_views_taken_at_any_moment_change_nothing(moments: dict[int, int], rules: Rules) -> None:
    expected = STORY.seen(rules, tip=STORY.height + WEEK)
    fold = Fold(rules, msgspec.convert(STORY.options, Options))
    for index, event in enumerate(EVENTS):
        fold.apply(event)
        if index in moments:
            view = fold.view(event.height + moments[index])
            assert view.digest() == fold.view(event.height + moments[index]).digest()
    assert fold.view(STORY.height + WEEK).digest() == expected.view.digest()
    if rules is PRD:
        reputations = {name: expected.tenths(name) for name in ("E2", "E3", "E4", "J1")}
        assert all(reputations.values()), reputations


@given(height=st.integers(0, 3 * WEEK))
def test_a_view_at_a_tip_is_what_an_event_at_that_height_finds(height: int) -> None:
    """Closings at the tip happen in a view just as they do before an event."""
    early = STORY.seen(tip=STORY.height + height)
    world = busy_story()
    stray = world.wait(height).tell("unknown", "E1")
    late = world.seen(tip=world.height)
    assert late.reason(stray) == "unknown-path"
    graves: Json = early.full.get("grave", {})
    for section in ("entry", "editor", "proposal", "param-proposal", "challenge"):
        assert late.full[section] == early.full[section]
    assert {pin for pin in late.full["grave"] if pin not in graves} == {stray}


# --- display (§6) -------------------------------------------------------------------------


def reviewed_entry(**params: int) -> tuple[Scenario, str]:
    """Tell a protected entry in review mode; gives its head at that moment."""
    world = Scenario(thetaProtect=params.get("thetaProtect", 0))
    head = world.create("E1", "a")
    world.rule(head, "protect", protected=True, displayMode="reviewed")
    return world, head


def shown(world: Scenario) -> tuple[str, list[str]]:
    """What readers see of the entry, and what waits for review."""
    entry = world.seen().entry()
    return entry["displayHead"], entry["awaitingReview"]


def test_the_head_when_reviewed_was_set_is_shown_and_what_comes_later_waits() -> None:
    world, head = reviewed_entry()
    assert shown(world) == (head, [])
    one, two = world.edit("E2", "a"), world.edit("E3", "a")
    assert shown(world) == (head, [one, two])
    assert world.seen().entry()["head"] == two  # the head moves all the same
    world.review("E4", one)
    assert shown(world) == (one, [two])
    world.review("E4", two)
    assert shown(world) == (two, [])


def test_passing_out_of_order_shows_the_last_that_passed() -> None:
    world, _ = reviewed_entry()
    one, two, three = (world.edit(name, "a") for name in ("E2", "E3", "E2"))
    world.review("E4", two)
    assert shown(world) == (two, [three])
    world.review("E4", one)
    assert shown(world) == (two, [three])


def test_a_review_passes_from_four_points_by_an_independent_t2() -> None:
    world, head = reviewed_entry()
    world.admit("N1", head)  # T0
    world.options["clusterAliases"] = {"E5": "E2"}
    edit = world.edit("E2", "a")
    world.review("E3", edit, score=3)
    world.review("N1", edit, score=5)
    world.review("E5", edit, score=5)
    world.review("N9", edit, score=5)
    assert shown(world) == (head, [edit])
    world.review("E4", edit, score=4)
    assert shown(world) == (edit, [])


@pytest.mark.parametrize(
    ("outcome", "passes"),
    [
        ("dismiss", True),
        ("confirm-goodfaith", True),
        ("warn-editor", False),
        ("slash-stake-half", False),
        ("protect", False),
    ],
)
def test_a_challenged_version_passes_when_it_was_dismissed_or_confirmed(
    outcome: str, passes: bool
) -> None:
    world, head = reviewed_entry()
    edit = world.edit("E2", "a")
    world.review("E4", edit)
    challenge = world.challenge("E3", edit)
    assert shown(world) == (head, [edit])
    proposal = world.propose("E5", challenge, outcome, editor="E2", protected=True)
    world.carry(proposal)
    assert shown(world) == ((edit, []) if passes else (head, [edit]))


def test_unprotect_ends_review_mode_and_protect_alone_does_not_begin_it() -> None:
    world, _ = reviewed_entry()
    edit = world.edit("E2", "a")
    ruling = world.rule(edit, "unprotect", protected=False)
    seen = world.seen()
    assert seen.proposal(ruling)["state"] == "effective"
    assert (seen.entry()["displayMode"], seen.entry()["status"]) == ("lww", "normal")
    assert shown(world) == (edit, [])
    world.rule(edit, "protect", protected=True)
    assert world.seen().entry()["displayMode"] == "lww"


def test_protect_with_lww_ends_review_mode_and_with_reviewed_moves_its_beginning() -> None:
    world, head = reviewed_entry()
    one = world.edit("E2", "a")
    world.rule(head, "protect", protected=True, displayMode="reviewed")
    two = world.edit("E2", "a")
    assert shown(world) == (one, [two])
    world.rule(head, "protect", protected=True, displayMode="lww")
    assert shown(world) == (two, [])


def test_a_revert_in_review_mode_waits_like_any_version_and_a_redirect_is_not_listed() -> None:
    world, head = reviewed_entry()
    world.create("E5", "b")
    back = world.revert("E2", head)
    world.redirect("E3", "a", "b")
    assert shown(world) == (head, [f"{back}::eq"])
    world.review("E4", back)
    assert shown(world)[0] == f"{back}::eq"


def test_a_frozen_entry_shows_its_baseline_and_a_normal_one_its_head() -> None:
    world = Scenario()
    frozen, baseline, _ = world.war()
    assert shown(world) == (baseline, [])
    assert world.seen().entry()["head"] == f"{frozen}::eq"
    world.rule(frozen, "unfreeze", baseline=baseline)
    assert shown(world) == (f"{frozen}::eq", [])


# --- quality (§9) -------------------------------------------------------------------------


def article(**options: Json) -> tuple[Scenario, str]:
    """Tell a long text and two reviews that just make it featured; gives its version."""
    world = Scenario(thetaFeatured=3, featuredMinReviews=2, options=options)
    world.options.setdefault("editorsRep", {"E2": 2, "E3": 1, "E4": -5})
    version = world.create("E1", "a", content="x" * 512)
    for name in ("E2", "E3"):
        world.review(name, version, score=4)
    return world, version


def quality(world: Scenario) -> str:
    level: str = world.seen().entry()["quality"]
    return level


def test_featured_is_reached_at_exactly_its_reviews_and_its_sum_of_reputations() -> None:
    world, _ = article()
    assert quality(world) == "featured"
    for reputations in ({"E2": 2, "E3": 0}, {"E2": 3, "E3": -1}, {"E2": 5}):
        enough = sum(max(value, 0) for value in reputations.values()) >= 3
        world, _ = article(editorsRep=reputations)
        assert quality(world) == ("featured" if enough else "normal"), reputations
    world = Scenario(thetaFeatured=3, featuredMinReviews=2, options={"editorsRep": {"E2": 9}})
    world.review("E2", world.create("E1", "a", content="x" * 512))
    assert quality(world) == "normal"  # one review too few


def test_featured_hears_the_latest_review_of_each_t2_editor_of_another_cluster() -> None:
    world, version = article()
    world.review("E3", version, score=3)
    assert quality(world) == "normal"
    world.review("E3", version, score=5)
    assert quality(world) == "featured"
    world.review("E2", version, score=5)
    world.review("E4", version, score=5)  # counts as 0, not as -5
    assert quality(world) == "featured"

    world, _ = article(clusterAliases={"E3": "E1"})
    assert quality(world) == "normal"
    world = Scenario(thetaFeatured=0, featuredMinReviews=1)
    version = world.create("E1", "a", content="x" * 512)
    world.admit("N1", version)
    world.review("N1", version)
    assert quality(world) == "normal"


def test_an_undecided_challenge_or_a_new_head_takes_the_star_away() -> None:
    world, version = article()
    challenge = world.challenge("E5", version)
    assert quality(world) == "normal"
    world.carry(world.propose("E5", challenge, "dismiss"))
    assert quality(world) == "featured"
    world.edit("E2", "a", content="y" * 600)
    assert quality(world) == "normal"


def test_protected_goes_before_featured_and_a_short_text_is_a_stub() -> None:
    world, version = article()
    world.rule(version, "protect", protected=True)
    assert quality(world) == "protected"

    for text, level in (("x" * 511, "stub"), ("x" * 512, "normal"), ("é" * 256, "normal")):
        world = Scenario()
        world.create("E1", "a", content=text)
        assert quality(world) == level
    world = Scenario()
    world.create("E1", "a", contentRef="metafile://elsewhere")
    assert quality(world) == "normal"


def test_composition_counts_the_versions_of_each_author() -> None:
    world = Scenario()
    first = world.create("E2", "a")
    world.edit("E1", "a")
    world.revert("E2", first)
    world.rule(first, "revert-to", revertTo=first)  # by the proposer, E5
    assert world.seen().entry()["authors"] == [
        {"editor": "E1", "versions": 1},
        {"editor": "E2", "versions": 2},
        {"editor": "E5", "versions": 1},
    ]
