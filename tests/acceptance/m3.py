"""M3, governance goes live (PRD §8), told as one stream with the PRD's own parameters.

    PYTHONPATH=tests python -m acceptance.m3      writes m3-governance.json anew

First the constitution: a proposal that its voters carry and the issuer turns into revision 1, and
one that nobody carries within challengeWindowHours. Then the first arbitration, under revision 1:
a challenged edit, a proposal, arbiters drawn by the fold, votes until the ruling takes effect.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from agentpedia.scenario import Json, Scenario

STREAM = Path(__file__).with_name("m3-governance.json")
FOUNDERS = tuple(f"F{number}" for number in range(1, 10))
GENESIS_PARAMS: Json = {
    "challengeWindowHours": 72,
    "revertWarWindowHours": 6,
    "revertWarThreshold": 3,
    "arbiterPoolK": 21,
    "arbiterDrawN": 7,
    "rulingQuorum": 5,
    "voteWindowHours": 48,
    "stakeAmountSat": 100_000,
    "coldStartDays": 14,
    "ratePerSlugDaily": 5,
    "rateGlobalDaily": 20,
    "thetaProtect": 10,
    "thetaFeatured": 20,
    "featuredMinReviews": 3,
    "inlineContentMaxBytes": 16384,
    "t0DurationHours": 72,
    "t1MinValidRevs": 10,
    "t2MinDays": 14,
    "t2MinValidRevs": 100,
    "bootstrapWindowDays": 30,
    "arbiterSuspensionDays": 30,
}
"""The proposed values of PRD §6."""
CHANGES: Json = {"rulingQuorum": 4, "voteWindowHours": 24}


class M3:
    """The story, with the pins that its test asks for."""

    def __init__(self) -> None:
        world = self.world = Scenario(valid=True, founders=FOUNDERS, **GENESIS_PARAMS)
        self._amend(world)
        self._arbitrate(world)

    def _amend(self, world: Scenario) -> None:
        self.amendment = world.amend("F2", **CHANGES)
        self.unloved = world.amend("F3", thetaProtect=0)
        needed = -(-2 * len(FOUNDERS) // 3)
        world.wait(6)
        self.rejection = world.amend_vote("F9", self.amendment, approve=False)
        self.approvals = [world.amend_vote(name, self.amendment) for name in FOUNDERS[:needed]]
        self.few = [world.amend_vote(name, self.unloved) for name in FOUNDERS[: needed - 1]]
        self.revision = world.wait(6).revise(self.amendment, **CHANGES)
        world.wait(world.blocks("challengeWindowHours"))
        self.late = world.amend_vote(FOUNDERS[needed], self.unloved)
        self.refused_revision = world.revise(
            self.unloved, revision=2, previous=self.revision, **CHANGES, thetaProtect=0
        )

    def _arbitrate(self, world: Scenario) -> None:
        self.sound = world.wait(6).create("F1", "tide_table", content="Water rises and falls.")
        self.slip = world.wait(6).edit("F2", "tide_table", content="Water never falls.")
        self.challenge = world.wait(6).challenge("F3", self.slip, reason="factual")
        self.proposal = world.wait(6).propose(
            "F4", self.challenge, "revert-to", arbiters=None, revertTo=self.sound
        )
        drawn: list[str] = world.checked().proposal(self.proposal)["arbiters"]
        self.drawn = drawn
        self.outsiders = [name for name in FOUNDERS if world.who(name) not in drawn]
        for name in self.outsiders:
            world.wait(1).vote(name, self.proposal)
        world.wait(1).vote(drawn[0], self.proposal, approve=False)
        for name in drawn[1 : 1 + CHANGES["rulingQuorum"]]:
            self.last_vote = world.wait(1).vote(name, self.proposal)

    def stream(self) -> bytes:
        """The document, as it stands in the file."""
        return msgspec.json.format(self.world.document(), indent=1) + b"\n"


if __name__ == "__main__":
    STREAM.write_bytes(M3().stream())
