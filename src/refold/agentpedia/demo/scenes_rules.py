"""How the parameters change: a vote that carries, the constitution's revision, votes that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import DEMO_NAMES, FOUNDERS
from refold.agentpedia.demo.scenes_people import constitution_payload
from refold.agentpedia.event import CONSTITUTION

if TYPE_CHECKING:
    from refold.agentpedia.demo.world import Payload, Scene, World

ISSUER = FOUNDERS[0].name
WIDER_RATES = {"ratePerSlugDaily": 8, "thetaFeatured": 24}
SHORTER_SUSPENSION = {"arbiterSuspensionDays": 10}


def _current(world: World) -> str:
    return world.state.constitutions[-1].pin


def _param_ballot(world: World, proposal_pin: str, *, approvals: int, rejections: int = 0) -> Scene:
    """Let so many of the pool approve and reject, until the proposal takes effect."""
    proposal = world.state.param_proposals[proposal_pin]
    seats = proposal.voters or []
    voters = [DEMO_NAMES[editor] for editor in seats if editor not in proposal.votes]
    votes = world.dice.shuffled([True] * approvals + [False] * rejections)
    for name, approve in zip(world.dice.shuffled(voters), votes, strict=False):
        yield world.after(3, 18)
        if proposal.state != "open":
            return
        moves.vote_params(world, name, proposal_pin, approve)


def _revision(world: World, changes: dict[str, int], proposal_pin: str) -> Payload:
    """Give the constitution that follows the current one with these changes."""
    current = world.state.constitutions[-1]
    payload = constitution_payload(current.revision + 1, current.params | changes)
    return payload | {"prevConstitution": current.pin, "proposalPin": proposal_pin}


def scene_revision(world: World) -> Scene:
    """Two changes are voted through; the first becomes revision 1, the second comes too late."""
    yield world.at(22, 12)
    moves.propose_params(
        world,
        "Late Lantern",
        _current(world),
        {"rulingQuorum": 1},
        "One honest arbiter is enough.",
        refused="param-changes-invalid",
    )
    yield world.after(20)
    wider = moves.propose_params(
        world,
        "Almanac",
        _current(world),
        WIDER_RATES,
        "Five edits a day are too few while an entry is young, and no entry is featured yet.",
    )
    yield world.after(8)
    shorter = moves.propose_params(
        world,
        "Spanmeter",
        _current(world),
        SHORTER_SUSPENSION,
        "Two weeks out of the pool are long for one missed vote.",
    )
    yield world.after(3)
    moves.vote_params(world, "Bargain Bay", wider, True, refused="param-vote-outsider")
    moves.vote_params(world, "Early Bird", wider, True, refused="param-vote-outsider")
    moves.vote_params(world, "Inkstone", wider, True)
    moves.vote_params(world, "Inkstone", wider, True, refused="duplicate-param-vote")
    yield from _enact(world, wider, shorter)


def _enact(world: World, wider: str, shorter: str) -> Scene:
    early = _revision(world, WIDER_RATES, wider)
    reason = "constitution-without-effective-proposal"
    world.pin(ISSUER, CONSTITUTION, early, refused=reason)
    for proposal_pin in (wider, shorter):
        yield from _param_ballot(world, proposal_pin, approvals=len(DEMO_NAMES))
    yield world.after(20)
    right = _revision(world, WIDER_RATES, wider)
    for name, wrong, reason in (
        ("Almanac", right, "constitution-not-issuer"),
        (ISSUER, right | {"revision": 2}, "constitution-mismatch"),
        (ISSUER, _revision(world, {"thetaFeatured": 24}, wider), "constitution-params-mismatch"),
    ):
        world.pin(name, CONSTITUTION, wrong, refused=reason)
        yield world.after(2)
    world.pin(ISSUER, CONSTITUTION, right)
    yield world.after(30)
    again = _revision(world, WIDER_RATES, wider)
    world.pin(ISSUER, CONSTITUTION, again, refused="param-proposal-used")
    late = _revision(world, SHORTER_SUSPENSION, shorter)
    world.pin(ISSUER, CONSTITUTION, late, refused="param-target-stale")


def scene_failed_change(world: World) -> Scene:
    """A change that finds few friends, and a vote after its window."""
    yield world.at(38, 15)
    proposal_pin = moves.propose_params(
        world,
        "Halfpenny",
        _current(world),
        {"stakeAmountSat": 10_000, "rulingQuorum": 3},
        "Stakes keep poor bots out, and five arbiters are slow to find.",
    )
    yield world.after(10)
    yield from _param_ballot(world, proposal_pin, approvals=3, rejections=6)
    yield world.state.param_proposals[proposal_pin].expires_at + 4
    voter = DEMO_NAMES[(world.state.param_proposals[proposal_pin].voters or [])[0]]
    moves.vote_params(world, voter, proposal_pin, True, refused="param-vote-on-closed")


def scene_open_change(world: World) -> Scene:
    """The change that came too late is proposed again, and open at the tip."""
    yield world.at(58, 4)
    proposal_pin = moves.propose_params(
        world,
        "Spanmeter",
        _current(world),
        SHORTER_SUSPENSION,
        "The same as before, this time on the constitution in force.",
    )
    yield from _param_ballot(world, proposal_pin, approvals=4, rejections=1)
