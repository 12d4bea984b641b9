"""How a dispute is ruled on: challenge, proposal, votes. Parts of scenes, for the scenes."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import msgspec

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import DEMO_NAMES
from refold.agentpedia.demo.remarks import AGAINST, FOR

if TYPE_CHECKING:
    from refold.agentpedia.demo.world import Payload, Scene, World
    from refold.agentpedia.state import Version

StepsToPin = Generator[int, None, str]


class Matter(msgspec.Struct, frozen=True):
    """What a dispute is about: who raises it and why, what is proposed to settle it."""

    challenger: str
    reason: str
    detail: str
    proposer: str
    outcome: str
    rationale: str
    params: Payload | None = None
    lang: str = "en"


def ruling(
    world: World, version: Version, matter: Matter, *, approvals: int = 5, rejections: int = 0
) -> StepsToPin:
    """Take a matter from its challenge to its vote; give the proposal's pin."""
    disputed = moves.challenge(world, matter.challenger, version, matter.reason, matter.detail)
    yield world.after(6, 30)
    proposal = proposed(world, version, matter, disputed)
    yield from ballot(world, proposal, approvals=approvals, rejections=rejections, lang=matter.lang)
    return proposal


def proposed(world: World, version: Version, matter: Matter, disputed: str) -> str:
    """Make the proposal of a matter, with the baseline that a frozen entry asks for."""
    entry = world.entry(version.entry_key)
    return moves.propose(
        world,
        matter.proposer,
        disputed,
        matter.outcome,
        matter.rationale,
        params=matter.params,
        baseline=entry.baseline_rev if entry.status == "frozen" else None,
    )


def ballot(
    world: World, proposal_pin: str, *, approvals: int, rejections: int = 0, lang: str = "en"
) -> Scene:
    """Let so many of the drawn arbiters approve and reject, the rest stay away."""
    proposal = world.proposal(proposal_pin)
    voters = world.dice.shuffled([DEMO_NAMES[editor] for editor in proposal.arbiters])
    votes = world.dice.shuffled([True] * approvals + [False] * rejections)
    for name, approve in zip(voters, votes, strict=False):
        yield world.after(4, 20)
        if proposal.state != "open":
            return
        comment = world.dice.pick((FOR if approve else AGAINST)[lang])
        moves.vote(world, name, proposal_pin, approve, comment)


def settled(world: World, proposal_pin: str) -> Scene:
    """Wait until a proposal has expired, and half a day more."""
    yield world.proposal(proposal_pin).expires_at + 72
