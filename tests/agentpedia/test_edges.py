"""Edges that no vector pins: order of gates, tiers, registration, rates, wars, the genesis.

From the spec's text (§§2–5), under `prd` unless both profiles are named. Rulings and reputation
have files of their own.
"""

from __future__ import annotations

from typing import Any

import pytest

from agentpedia.scenario import DAY, FOUNDERS, GENESIS_HEIGHT, PANEL, Scenario, drawn
from refold.agentpedia.rules import DEPLOYED, PRD, Rules

BOTH = pytest.mark.parametrize("rules", [DEPLOYED, PRD], ids=lambda rules: rules.name)


# --- genesis (§3) -------------------------------------------------------------------------


@BOTH
def test_before_the_genesis_anything_but_a_genesis_is_no_genesis(rules: Rules) -> None:
    world = Scenario()
    world.height = GENESIS_HEIGHT - 1
    early = [
        world.create("E1", "a"),
        world.review("E1", "a"),
        world.ask("E1", "N1"),
        world.amend("E1", rulingQuorum=3),
        world.revise("none"),
    ]
    seen = world.seen(rules)
    assert seen.reasons(early) == ["no-genesis"] * len(early)
    assert seen.reason(world.genesis) is None
    assert seen.editor("N1")["status"] == "none"  # named in an editor pin, so listed


@BOTH
def test_a_second_genesis_changes_nothing(rules: Rules) -> None:
    world = Scenario()
    before = world.seen(rules).full
    second = world.constitution(
        "E1", revision=0, prevConstitution=None, founders=["X1", "X2"], params=world.params
    )
    seen = world.seen(rules)
    assert seen.reason(second) == "duplicate-genesis"
    for section in ("fold", "constitution", "editor"):
        assert seen.full[section] == before[section]


@BOTH
def test_with_a_genesis_pin_nothing_counts_before_that_very_pin(rules: Rules) -> None:
    world = Scenario()
    payload = world.events[0].payload
    second = world.tell("constitution", "E2", **payload)
    third = world.tell("constitution", "E3", **payload)
    rev = world.create("E1", "a")
    world.options["genesisPin"] = second
    seen = world.seen(rules)
    assert seen.reasons([world.genesis, second]) == ["no-genesis", None]
    assert seen.reasons([third, rev]) == ["duplicate-genesis", None]
    assert seen.full["fold"]["fold"]["genesis"] == second


@BOTH
def test_an_unknown_algorithm_is_refused_and_marks_the_view_from_there_on(rules: Rules) -> None:
    world = Scenario(founders=FOUNDERS[:5])
    amendment = world.amend("E1", rulingQuorum=3)
    for name in world.founders:
        world.amend_vote(name, amendment)
    newer = {"adoption": "adoption-algo-v2"}
    stray = world.constitution("E9", revision=1, prevConstitution="other", algoVersions=newer)
    assert world.seen(rules).full["fold"]["fold"]["notAuthoritativeFrom"] is None
    unknown = world.constitution(
        "E1",
        revision=1,
        prevConstitution=world.genesis,
        proposalPin=amendment,
        params=world.params | {"rulingQuorum": 3},
        algoVersions=newer,
    )
    seen = world.seen(rules)
    assert seen.reason(stray) != "algo-unknown"
    assert seen.reason(unknown) == "algo-unknown"
    assert seen.full["fold"]["fold"]["notAuthoritativeFrom"] == unknown
    assert seen.params() == world.params


# --- tiers (§4) ---------------------------------------------------------------------------


def climber(revs: int, **params: Any) -> tuple[Scenario, int]:
    """Tell the registration of N1 and his revs as soon as he may; gives his registered height."""
    world = Scenario(**params)
    first = world.create("E1", "a")
    registered = world.height
    world.admit("N1", first)
    world.at(registered + world.blocks("t0DurationHours"))
    for _ in range(revs):
        world.edit("N1", "a")
    return world, registered


def test_t0_ends_when_its_hours_have_passed() -> None:
    world, registered = climber(0)
    t0 = world.blocks("t0DurationHours")
    world = Scenario()
    world.admit("N1", world.create("E1", "a"))
    early = world.at(registered + t0 - 1).edit("N1", "a")
    on_time = world.wait(1).edit("N1", "a")
    seen = world.seen()
    assert seen.reasons([early, on_time]) == ["t0-no-rev", None]
    assert world.seen(tip=registered + t0).tier("N1") == "T0+"  # may edit with no rev to his name


def test_t1_begins_with_its_valid_revs_and_not_before_t0_is_over() -> None:
    for revs, tier in ((1, "T0+"), (2, "T1")):
        world, _ = climber(revs, t1MinValidRevs=2, t2MinValidRevs=50)
        assert world.seen().tier("N1") == tier
        assert world.seen().editor("N1")["validRevs"] == revs


def test_t2_needs_both_its_days_and_its_revs() -> None:
    for revs, late_tier in ((2, "T1"), (3, "T2")):
        world, registered = climber(revs, t2MinValidRevs=3, t2MinDays=2)
        begins = registered + world.blocks("t2MinDays")
        assert world.seen(tip=begins - 1).tier("N1") == "T1"
        assert world.seen(tip=begins).tier("N1") == late_tier


def test_a_founder_is_t2_to_the_last_block_of_the_bootstrap_window() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    world.at(world.bootstrap_end - 1)
    before = world.endorse("E2", "N1", "none")
    after = world.wait(1).endorse("E2", "N1", "none")
    seen = world.seen()
    assert seen.reasons([before, after]) == ["endorse-no-register", "endorser-not-t2"]
    assert (seen.tier("E1"), seen.tier("E2")) == ("T0+", "T0+")  # by the ladder, like anyone
    assert seen.reason(first) is None
    no_window = Scenario(bootstrapWindowDays=0)
    assert no_window.seen(tip=GENESIS_HEIGHT + 1).tier("E1") == "T0"


def test_valid_revs_count_revs_of_every_type_but_no_refused_one() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    world.edit("E2", "a")
    world.create("E1", "b")
    world.edit("E1", "a")
    world.revert("E1", first)
    world.redirect("E1", "b", "a")
    world.create("E1", "a")
    world.edit("E1", "none")
    assert world.seen().editor("E1")["validRevs"] == 5


@pytest.mark.parametrize(("needed", "joins"), [(3, True), (4, False)])
def test_the_rev_that_freezes_counts_before_its_arbiters_are_drawn(
    needed: int, joins: bool
) -> None:
    world = Scenario(bootstrapWindowDays=1, t2MinDays=2, t2MinValidRevs=needed)
    first = world.create("E1", "a")
    for number in range(needed):
        world.create("E2", f"b{number}")
    world.at(GENESIS_HEIGHT + world.blocks("t2MinDays"))
    world.revert("E2", first)
    world.revert("E1", first)
    world.revert("E1", first)  # E1's third rev, and the one that freezes
    entry = world.seen().entry()
    assert entry["status"] == "frozen"
    assert set(entry["writers"]) == ({"E1", "E2"} if joins else {"E2"})


# --- registration (§4) --------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("per_hour", [1, 6, 10])
def test_an_answer_is_in_time_up_to_an_hours_blocks(per_hour: int, rules: Rules) -> None:
    for waited, reason in ((per_hour, None), (per_hour + 1, "poc-window-exceeded")):
        world = Scenario(options={"blocksPerHour": per_hour})
        target = world.create("E1", "a")
        case = world.ask("E1", "N1")
        answer = world.wait(waited).answer("N1", case, world.review("N1", target))
        assert world.seen(rules).reason(answer) == reason


@BOTH
def test_six_blocks_are_in_time_and_seven_are_not(rules: Rules) -> None:
    for waited, reason in ((6, None), (7, "poc-window-exceeded")):
        world = Scenario()
        target = world.create("E1", "a")
        case = world.ask("E1", "N1")
        review = world.review("N1", target)
        answer = world.wait(waited).answer("N1", case, review)
        register = world.register("N1", case, review)
        assert world.seen(rules).reason(answer) == reason
        assert world.seen(rules).reason(register) == (reason and "register-invalid")


def endorsers_by_ladder(world: Scenario) -> str:
    """Make E1 to E5 T2 by the ladder, so that they are T2 after the window too; gives a rev."""
    first = world.create("E1", "a")
    for name in FOUNDERS[:5]:
        for _ in range(world.params["t2MinValidRevs"]):
            world.edit(name, "a")
    return first


@BOTH
def test_two_endorsements_are_enough_from_the_first_block_after_the_window(rules: Rules) -> None:
    for at_end, active_after in ((False, 4), (True, 2)):
        world = Scenario()
        first = endorsers_by_ladder(world)
        world.at(world.bootstrap_end - (0 if at_end else 1))
        register = world.apply_for("N1", first)
        for count, name in enumerate(FOUNDERS[:4], start=1):
            world.endorse(name, "N1", register)
            status = world.seen(rules).editor("N1")["status"]
            assert status == ("active" if count >= active_after else "pending"), count


@BOTH
def test_endorsements_from_inside_the_window_count_after_it_with_the_next_one(
    rules: Rules,
) -> None:
    world = Scenario()
    first = endorsers_by_ladder(world)
    world.at(world.bootstrap_end - 1)
    register = world.apply_for("N1", first)
    for name in FOUNDERS[:3]:
        world.endorse(name, "N1", register)
    world.at(world.bootstrap_end + 50)
    assert world.seen(rules).editor("N1")["status"] == "pending"  # no event, no registration
    world.endorse("E4", "N1", register)
    seen = world.seen(rules)
    assert seen.editor("N1")["status"] == "active"
    assert seen.editor("N1")["registeredAt"] == world.bootstrap_end - 1


@BOTH
def test_age_counts_from_the_register_and_not_from_the_last_endorsement(rules: Rules) -> None:
    world = Scenario()
    first = world.create("E1", "a")
    register = world.apply_for("N1", first)
    registered = world.height
    world.wait(world.blocks("t0DurationHours") + 5)
    for name in FOUNDERS[:4]:
        world.endorse(name, "N1", register)
    at_once = world.edit("N1", "a")
    seen = world.seen(rules)
    assert seen.editor("N1")["registeredAt"] == registered
    assert seen.reason(at_once) is None


@BOTH
def test_an_endorsement_of_an_unknown_register_goes_to_the_earliest(rules: Rules) -> None:
    world = Scenario()
    first = world.create("E1", "a")
    early = world.apply_for("N1", first)
    late = world.wait(1).apply_for("N1", first)
    others = world.apply_for("N2", first)
    for name, named in (("E1", "none"), ("E2", others), ("E3", early), ("E4", late)):
        world.endorse(name, "N1", named)
    registers = world.seen(rules).full["register"]
    assert registers[early]["endorsers"] == ["E1", "E2", "E3"]
    assert registers[late]["endorsers"] == ["E4"]
    assert registers[others]["endorsers"] == []


@BOTH
def test_a_registered_t2_editor_endorses_nobody_twice_and_never_himself(rules: Rules) -> None:
    world = Scenario()
    first = world.create("E1", "a")
    register = world.apply_for("E5", first)  # a founder may apply as well
    itself = world.endorse("E5", "E5", register)
    once = world.endorse("E4", "E5", register)
    twice = world.endorse("E4", "E5", register)
    none = world.endorse("E4", "N9", register)
    seen = world.seen(rules)
    assert seen.reasons([itself, once, twice]) == ["self-endorse", None, "duplicate-endorse"]
    assert seen.reason(none) == "endorse-no-register"
    assert seen.editor("E5")["registeredAt"] == GENESIS_HEIGHT


@BOTH
def test_failed_applicants_stay_visible_and_staked_ones_are_pending(rules: Rules) -> None:
    world = Scenario()
    first = world.create("E1", "a")
    world.ask("E1", "N1")
    world.apply_for("N2", first)
    seen = world.seen(rules)
    assert (seen.editor("N1")["status"], seen.editor("N2")["status"]) == ("none", "pending")
    assert (seen.tier("N1"), seen.tier("N2")) == (None, None)


# --- gates of a rev, in their order (§5) ---------------------------------------------------


@BOTH
def test_a_rev_meets_the_gates_in_the_order_of_the_spec(rules: Rules) -> None:
    """Every rev here fails at all later gates as well: the first one names the reason."""
    world = Scenario(ratePerSlugDaily=1, rateGlobalDaily=2, t0DurationHours=10)
    first = world.create("E1", "a")
    world.admit("N1", first)
    frozen = world.create("E2", "f")
    protected = world.create("E2", "p")
    for name in PANEL:
        world.revert(name, frozen, "f")
    world.options["frozenArbiterOverrides"] = {"en:f": ["E3"]}
    world.rule(protected, "protect", protected=True)
    world.edit("E4", "a")
    bad: dict[str, Any] = {"contentHash": 7}
    told = {
        "unregistered": world.rev("N9", "none", "f", **bad),
        "t0-no-rev": world.rev("N1", "none", "f", **bad),
        "frozen-unauthorized": world.rev("E2", "none", "f", **bad),
        "protected-unauthorized": world.rev("E2", "none", "p", **bad),
        "rate-global": world.rev("E2", "none", "a", **bad),
        "rate-slug": world.rev("E4", "none", "a", **bad),
        "rev-type-unknown": world.rev("E3", "none", "f", **bad),
    }
    assert world.seen(rules).reasons(told.values()) == list(told)


def test_the_gate_on_content_stands_between_the_rates_and_the_rule_of_the_type() -> None:
    world = Scenario(rateGlobalDaily=1)
    mismatched = world.edit("E1", "none", contentRef="metafile://one")
    world.create("E1", "a")
    over_rate = world.create("E1", "b", contentRef="metafile://two")
    world.options["contentFacts"] = dict.fromkeys([mismatched, over_rate], "mismatch")
    assert world.seen().reasons([mismatched, over_rate]) == ["content-hash-mismatch", "rate-global"]


# --- rates (§5) ---------------------------------------------------------------------------


@BOTH
def test_the_rate_on_a_slug_counts_applied_revs_of_one_editor_one_entry_and_one_day(
    rules: Rules,
) -> None:
    world = Scenario(ratePerSlugDaily=3)
    day_ends = GENESIS_HEIGHT + 2 * DAY
    world.at(day_ends - DAY)  # the first block of the second day
    first = world.create("E1", "a")
    refused = world.create("E1", "a")  # not applied, so not counted
    full = [world.edit("E1", "a"), world.revert("E1", first)]
    over = [world.edit("E1", "a"), world.at(day_ends - 1).edit("E1", "a")]
    elsewhere = [world.create("E1", "b"), world.edit("E2", "a"), world.create("E1", "a", lang="de")]
    next_day = world.at(day_ends).edit("E1", "a")
    seen = world.seen(rules)
    assert seen.reason(refused) == "duplicate-create"
    assert seen.reasons(full) == [None] * 2
    assert seen.reasons(over) == ["rate-slug"] * 2
    assert seen.reasons([*elsewhere, next_day]) == [None] * 4


@BOTH
def test_the_global_rate_counts_applied_revs_of_one_editor_and_one_day(rules: Rules) -> None:
    world = Scenario(rateGlobalDaily=3, ratePerSlugDaily=3)
    world.at(GENESIS_HEIGHT + DAY - 1)  # the last block of the first day
    refused = world.edit("E1", "none")
    full = [world.create("E1", slug) for slug in "abc"]
    over = world.create("E1", "d")
    other = world.create("E2", "d")
    next_day = [world.wait(1).create("E1", slug) for slug in "efg"]
    over_again = world.create("E1", "h")
    seen = world.seen(rules)
    assert seen.reasons([refused, over]) == ["edit-without-entry", "rate-global"]
    assert seen.reasons([*full, other, *next_day]) == [None] * 7
    assert seen.reason(over_again) == "rate-global"


@BOTH
def test_days_count_from_the_genesis_and_not_from_zero(rules: Rules) -> None:
    assert GENESIS_HEIGHT % DAY, "else the two days are the same"
    world = Scenario(rateGlobalDaily=1)
    world.create("E1", "a")
    midnight = (GENESIS_HEIGHT // DAY + 1) * DAY
    same_day = world.at(midnight).create("E1", "b")
    next_day = world.at(GENESIS_HEIGHT + DAY).create("E1", "b")
    assert world.seen(rules).reasons([same_day, next_day]) == ["rate-global", None]


# --- edit wars (§5) -----------------------------------------------------------------------


@BOTH
def test_a_revert_leaves_the_window_when_it_is_exactly_that_old(rules: Rules) -> None:
    window = Scenario().blocks("revertWarWindowHours")
    assert window == 36
    for age, status in ((window - 1, "frozen"), (window, "normal")):
        world = Scenario()
        first = world.create("E1", "a")
        world.revert("E2", first)
        world.wait(age - 10).revert("E3", first)
        world.wait(10).revert("E4", first)
        assert world.seen(rules).entry()["status"] == status


@BOTH
def test_each_entry_has_its_own_war(rules: Rules) -> None:
    world = Scenario()
    one, other = world.create("E1", "a"), world.create("E1", "b")
    for slug, target in (("a", one), ("b", other), ("a", one), ("b", other)):
        world.revert("E2", target, slug)
    world.revert("E3", other, "b")
    seen = world.seen(rules)
    assert (seen.entry("en:a")["status"], seen.entry("en:b")["status"]) == ("normal", "frozen")


@BOTH
def test_refused_reverts_weigh_nothing(rules: Rules) -> None:
    world = Scenario()
    first = world.create("E1", "a")
    for _ in range(2):
        world.revert("E2", first)
    world.revert("N9", first)
    world.revert("E3", first, contentHash="another")
    assert world.seen(rules).entry()["status"] == "normal"


@BOTH
def test_reverts_on_a_protected_entry_weigh_but_never_freeze(rules: Rules) -> None:
    world = Scenario(thetaProtect=0)
    first = world.create("E1", "a")
    world.rule(first, "protect", protected=True)
    for name in ("E1", "E2", "E3", "E4"):
        world.revert(name, first)
    assert world.seen(rules).entry()["status"] == "protected"
    world.rule(first, "unprotect", protected=False)
    assert world.seen(rules).entry()["status"] == "normal"
    world.revert("E5", first)
    assert world.seen(rules).entry()["status"] == "frozen"  # their weight was kept

    world = Scenario(thetaProtect=0)
    first = world.create("E1", "a")
    world.rule(first, "protect", protected=True)
    for name in ("E1", "E2", "E3", "E4"):
        world.revert(name, first)
    world.rule(first, "unprotect", protected=False)
    world.wait(world.blocks("revertWarWindowHours")).revert("E5", first)
    assert world.seen(rules).entry()["status"] == "normal"  # and left with the window


def test_a_freeze_keeps_its_first_baseline_while_arbiters_write_and_revert() -> None:
    world = Scenario()
    frozen, baseline, first = world.war()
    writer = world.seen().entry()["writers"][0]
    world.edit(writer, "a")
    for _ in range(3):
        world.revert(writer, first)
    entry = world.seen().entry()
    assert (entry["frozenAt"], entry["baselineRev"]) == (frozen, baseline)
    assert entry["displayHead"] == baseline


@BOTH
def test_the_write_set_of_a_freeze_is_drawn_by_the_pin_that_froze_it(rules: Rules) -> None:
    for slug in ("a", "bb"):
        world = Scenario(arbiterPoolK=len(FOUNDERS))
        for number in range(len(slug)):
            world.create("E5", f"other_{number}")
        frozen, _, _ = world.war(slug)
        entry = world.seen(rules).entry(f"en:{slug}")
        assert entry["frozenAt"] == frozen
        assert entry["writers"] == drawn(frozen, FOUNDERS, world.params["arbiterDrawN"])
