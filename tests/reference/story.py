"""Small worlds told event by event, for the tests of the naive fold."""

from typing import Any

from reference.naive import fold
from reference.naive_full import full_view
from reference.naive_state import PREFIX

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
