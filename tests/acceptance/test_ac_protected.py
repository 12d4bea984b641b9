"""The right to edit a protected entry: T2 and reputed, both (PRD §4.9, v0.1.3 §1)."""

from __future__ import annotations

from agentpedia.scenario import Scenario


def protected_world(name: str, *, t2: bool, reputed: bool) -> tuple[Scenario, str]:
    """Tell an edit of a protected entry after the bootstrap window; gives its pin."""
    world = Scenario(thetaProtect=3, bootstrapWindowDays=2)
    theta = world.params["thetaProtect"]
    world.options["editorsRep"] = {"E1": theta if reputed else theta - 1}
    entry = world.create("E2", "a")
    revs = world.params["t2MinValidRevs"] if t2 else world.params["t2MinValidRevs"] - 1
    for turn in range(revs):
        world.create(name, f"b{turn}")
    world.rule(entry, "protect", protected=True)
    world.at(world.bootstrap_end)
    return world, world.edit(name, "a")


def test_ac_protected_t2_with_reputation_edits() -> None:
    world, edit = protected_world("E1", t2=True, reputed=True)
    seen = world.seen()
    assert seen.tier("E1") == "T2"
    assert seen.reason(edit) is None
    assert (seen.entry()["status"], seen.entry()["head"]) == ("protected", edit)


def test_ac_protected_t2_without_reputation_is_refused() -> None:
    world, edit = protected_world("E1", t2=True, reputed=False)
    seen = world.seen()
    assert seen.tier("E1") == "T2"
    assert seen.reason(edit) == "protected-unauthorized"
    assert seen.entry()["head"] != edit


def test_ac_protected_reputation_without_t2_is_refused() -> None:
    world, edit = protected_world("E1", t2=False, reputed=True)
    seen = world.seen()
    assert seen.tier("E1") == "T1"
    assert seen.tenths("E1") == 10 * world.params["thetaProtect"]
    assert seen.reason(edit) == "protected-unauthorized"
    assert seen.entry()["head"] != edit
