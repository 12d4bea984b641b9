"""A small language for Agentpedia streams: tell what editors do, then ask what the fold made of it.

    world = Scenario(rulingQuorum=2)
    first = world.create("E1", "a")
    world.wait(3)
    late = world.edit("E9", "a")
    assert world.seen(PRD).reason(late) == "unregistered"

Nothing is folded while a story is told, so one story can be seen under both rules profiles, at any
tip, with or without the schema gates. Every payload is complete; with `valid=True` the ids are
well-formed too, so that it passes the schemas.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import msgspec

from refold.agentpedia.event import PREFIX, Event, position
from refold.agentpedia.fold import Fold
from refold.agentpedia.intake import check_payloads, read_document
from refold.agentpedia.rules import ALGO_VERSIONS, DEPLOYED, PRD, Rules
from refold.agentpedia.state import Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from refold.agentpedia.view import View

Json = dict[str, Any]

HOUR = 6
DAY = 144
"""Blocks, as the protocol counts them (spec §2)."""
GENESIS_HEIGHT = 100
PANEL = ("J1", "J2", "J3")
"""Arbiters that `propose` injects unless it is told to let the fold draw."""
FOUNDERS = ("E1", "E2", "E3", "E4", "E5", *PANEL)
PARAMS = {
    "challengeWindowHours": 3,
    "revertWarWindowHours": 6,
    "revertWarThreshold": 3,
    "arbiterPoolK": 7,
    "arbiterDrawN": 3,
    "rulingQuorum": 2,
    "voteWindowHours": 2,
    "stakeAmountSat": 1000,
    "coldStartDays": 14,
    "ratePerSlugDaily": 50,
    "rateGlobalDaily": 100,
    "thetaProtect": 1,
    "thetaFeatured": 2,
    "featuredMinReviews": 2,
    "inlineContentMaxBytes": 16384,
    "t0DurationHours": 1,
    "t1MinValidRevs": 2,
    "t2MinDays": 1,
    "t2MinValidRevs": 3,
    "bootstrapWindowDays": 30,
    "arbiterSuspensionDays": 2,
}
"""Small enough to reach every edge in a few events, inside the ranges of the schema."""


class Seen:
    """A folded story: the full view (docs/agentpedia-view.md) and short questions to it."""

    def __init__(self, world: Scenario, view: View) -> None:
        self._world = world
        self.view = view

    @cached_property
    def full(self) -> Json:
        """Sections of the full view: section → key → value."""
        return self.view.full()

    @cached_property
    def common(self) -> Json:
        """The view in the shape of the public engines."""
        return self.view.common()

    def entry(self, key: str = "en:a") -> Json:
        entry: Json = self.full["entry"][key]
        return entry

    def version(self, name: str) -> Json:
        """A version of any entry, by its id."""
        versions: Iterable[Json] = (
            v
            for section in ("entry", "displaced")
            for entry in self.full.get(section, {}).values()
            for v in entry["versions"]
        )
        return next(version for version in versions if version["id"] == name)

    def editor(self, name: str) -> Json:
        editor: Json = self.full["editor"][self._world.who(name)]
        return editor

    def tenths(self, name: str) -> int:
        """The reputation of an editor in tenths."""
        reputation: int = self.editor(name)["reputation"]
        return reputation

    def tier(self, name: str) -> str | None:
        tier: str | None = self.editor(name)["tier"]
        return tier

    def proposal(self, pin: str) -> Json:
        proposal: Json = self.full["proposal"][pin]
        return proposal

    def amendment(self, pin: str) -> Json:
        proposal: Json = self.full["param-proposal"][pin]
        return proposal

    def params(self) -> dict[str, int]:
        """The params in force."""
        params: dict[str, int] = self.common["params"]
        return params

    def grave(self, pin: str) -> Json | None:
        """The graveyard's line for a pin, None when it was applied."""
        grave: Json | None = self.full.get("grave", {}).get(pin)
        return grave

    def reason(self, pin: str) -> str | None:
        """Why a pin was refused, None when it was applied."""
        grave = self.grave(pin)
        return None if grave is None else grave["reason"]

    def reasons(self, pins: Iterable[str]) -> list[str | None]:
        return [self.reason(pin) for pin in pins]

    def active(self) -> set[str]:
        """The ids in the registry's active set."""
        return {name for name, e in self.full["editor"].items() if e["status"] == "active"}


class Scenario:
    """A story under telling. Keyword arguments in the protocol's spelling change `PARAMS`."""

    def __init__(
        self,
        *,
        founders: Sequence[str] = FOUNDERS,
        valid: bool = False,
        options: Mapping[str, Any] | None = None,
        **params: int,
    ) -> None:
        self.valid = valid
        self.events: list[Event] = []
        self.height = GENESIS_HEIGHT
        self.params = PARAMS | params
        self.options: Json = {"arbiterOverrides": {}, **(options or {})}
        self._panels: dict[str, Sequence[str]] = {}
        self._hashes: dict[str, str] = {}
        self._last: dict[str, str] = {}
        self.founders = list(founders)
        self.issuer = self.founders[0]
        self.genesis = self.constitution(
            self.issuer,
            revision=0,
            prevConstitution=None,
            proposalPin=None,
            founders=[self.who(name) for name in founders],
        )
        self.wait(1)

    # --- clock and units ------------------------------------------------------------------------

    def at(self, height: int) -> Self:
        """Go to a height, which may not be behind."""
        if height < self.height:
            raise ValueError(f"the story is at {self.height} already, not at {height}")
        self.height = height
        return self

    def wait(self, blocks: int) -> Self:
        return self.at(self.height + blocks)

    def blocks(self, param: str) -> int:
        """A parameter in hours or days, in blocks."""
        return self.params[param] * (HOUR if param.endswith("Hours") else DAY)

    @property
    def bootstrap_end(self) -> int:
        """The first height after the bootstrap window."""
        return GENESIS_HEIGHT + self.blocks("bootstrapWindowDays")

    # --- ids ------------------------------------------------------------------------------------

    def who(self, name: str) -> str:
        """The id of an editor; an id stays as it is."""
        if not self.valid or name.startswith("idq1"):
            return name
        return f"idq1{name.lower().rjust(38, '0')}"

    def _new_pin(self, kind: str) -> str:
        name = f"{len(self.events):03d}-{kind}"
        return f"{sha256(name.encode()).hexdigest()}i0" if self.valid else name

    # --- events ---------------------------------------------------------------------------------

    def tell(self, path: str, sender: str, label: str = "", /, **payload: Any) -> str:
        """Tell any event at the present height; gives its pin id, which shows the label."""
        pin = self._new_pin(label or path)
        here = [e.tx_index for e in self.events if e.height == self.height]
        event = Event(
            pin, PREFIX + path, self.height, len(here), self.who(sender), {"v": 1, **payload}
        )
        self.events.append(event)
        return pin

    def rev(
        self, sender: str, kind: str, slug: str = "a", *, lang: str = "en", **payload: Any
    ) -> str:
        """Tell a rev of any type; `parentRev` is the last rev told of the entry."""
        key = f"{lang}:{slug}"
        payload = {"lang": lang, "slug": slug, "title": slug.upper(), "type": kind, **payload}
        if kind != "create":
            payload.setdefault("parentRev", self._last.get(key, self.genesis))
        pin = self.tell("rev", sender, kind, **payload)
        self._last[key] = pin
        if isinstance(payload.get("contentHash"), str):
            self._hashes[pin] = payload["contentHash"]
        return pin

    def _text(self, payload: Json) -> Json:
        if payload.get("contentRef") is not None:
            return {"contentHash": hash_of(payload["contentRef"]), **payload}
        text = payload.setdefault("content", f"text {len(self.events)}")
        return {"contentHash": hash_of(text), **payload}

    def create(self, sender: str, slug: str = "a", **payload: Any) -> str:
        return self.rev(sender, "create", slug, **self._text(payload))

    def edit(self, sender: str, slug: str = "a", **payload: Any) -> str:
        return self.rev(sender, "edit", slug, **self._text(payload))

    def revert(
        self, sender: str, to: str, slug: str = "a", *, fix: bool = False, **payload: Any
    ) -> str:
        """Tell a revert to a version (or to the pin that made it); `fix` claims vandalism-fix."""
        made_by = to.partition("::")[0]
        payload = {"revertTo": to, "contentHash": self._hashes.get(made_by, "unknown"), **payload}
        if fix:
            payload["claim"] = {"changeType": "vandalism-fix", "refs": 0}
        return self.rev(sender, "revert", slug, **payload)

    def redirect(self, sender: str, slug: str, to: str, **payload: Any) -> str:
        return self.rev(sender, "redirect", slug, redirectTo=to, **payload)

    def review(self, sender: str, target: str, score: int = 5, **payload: Any) -> str:
        dimensions = dict.fromkeys(("accuracy", "citation", "neutrality"), score)
        payload = {"targetRev": target, "score": score, "dimensions": dimensions, **payload}
        return self.tell("review", sender, **payload)

    def challenge(self, sender: str, target: str, reason: str = "other") -> str:
        return self.tell(
            "challenge", sender, targetRev=target, reason=reason, detail="a dispute to settle"
        )

    def propose(
        self,
        sender: str,
        challenge: str,
        outcome: str,
        *,
        baseline: str | None = None,
        arbiters: Sequence[str] | None = PANEL,
        **params: Any,
    ) -> str:
        """Tell a proposal; `arbiters` are injected, None lets the fold draw."""
        pin = self.tell(
            "ruling",
            sender,
            "proposal",
            action="proposal",
            challengePin=challenge,
            seed=challenge,
            outcome=outcome,
            baselineRev=baseline,
            params=params or None,
        )
        if arbiters is not None:
            self.options["arbiterOverrides"][pin] = [self.who(name) for name in arbiters]
            self._panels[pin] = arbiters
        return pin

    def vote(self, sender: str, proposal: str, *, approve: bool = True) -> str:
        return self.tell(
            "ruling", sender, "vote", action="vote", proposalPin=proposal, approve=approve
        )

    def carry(self, proposal: str) -> list[str]:
        """Let a quorum of a proposal's injected arbiters approve, no vote more."""
        panel = self._panels[proposal][: self.params["rulingQuorum"]]
        return [self.vote(name, proposal) for name in panel]

    def rule(
        self,
        target: str,
        outcome: str,
        *,
        challenger: str = "E4",
        baseline: str | None = None,
        **params: Any,
    ) -> str:
        """Tell a whole ruling at one height: challenge, proposal by E5, a quorum of approvals."""
        challenge = self.challenge(challenger, target)
        proposal = self.propose("E5", challenge, outcome, baseline=baseline, **params)
        self.carry(proposal)
        return proposal

    # --- registration ---------------------------------------------------------------------------

    def ask(self, sender: str, applicant: str) -> str:
        """Tell the challenge that opens an applicant's case."""
        return self._editor(sender, "challenge", applicant, nonce="0123456789abcdef")

    def answer(
        self, applicant: str, case: str, review: str | None, *, by: str | None = None
    ) -> str:
        return self._editor(
            by or applicant, "poc-response", applicant, challengePin=case, responsePin=review
        )

    def register(
        self,
        applicant: str,
        case: str,
        review: str,
        *,
        amount: int | None = None,
        txid: str | None = None,
        by: str | None = None,
    ) -> str:
        amount = self.params["stakeAmountSat"] if amount is None else amount
        stake = {"txid": txid or hash_of(f"stake of {applicant}"), "amountSat": amount}
        return self._editor(
            by or applicant,
            "register",
            applicant,
            challengePin=case,
            responsePin=review,
            stake=stake,
        )

    def endorse(self, sender: str, applicant: str, register: str) -> str:
        return self._editor(sender, "endorse", applicant, registerPin=register)

    def suspend(self, sender: str, editor: str, ruling: str | None) -> str:
        return self._editor(sender, "suspend", editor, rulingPin=ruling, reason="as ruled")

    def revoke(self, sender: str, editor: str, ruling: str | None) -> str:
        return self._editor(sender, "revoke", editor, rulingPin=ruling, reason="as ruled")

    def _editor(self, sender: str, action: str, editor: str, **payload: Any) -> str:
        return self.tell(
            "editor", sender, action, action=action, editor=self.who(editor), **payload
        )

    def apply_for(self, applicant: str, target: str, *, by: str = "E1") -> str:
        """Tell a registration up to the staked register, at one height; gives the register."""
        case = self.ask(by, applicant)
        review = self.review(applicant, target)
        self.answer(applicant, case, review)
        return self.register(applicant, case, review)

    def admit(self, applicant: str, target: str, endorsers: Iterable[str] = FOUNDERS[:4]) -> str:
        """Tell a whole registration at one height; gives the register."""
        register = self.apply_for(applicant, target)
        for name in endorsers:
            self.endorse(name, applicant, register)
        return register

    # --- constitution ---------------------------------------------------------------------------

    def constitution(self, sender: str, /, **payload: Any) -> str:
        payload = {
            "founders": None,
            "params": self.params,
            "algoVersions": dict(ALGO_VERSIONS),
            **payload,
        }
        return self.tell("constitution", sender, **payload)

    def amend(self, sender: str, *, target: str | None = None, **changes: int) -> str:
        """Tell a param-proposal, on the genesis unless another constitution is named."""
        return self.tell(
            "param-proposal",
            sender,
            kind="proposal",
            targetConstitution=target or self.genesis,
            changes=[{"param": name, "value": value} for name, value in changes.items()],
            rationale="small changes, tried often",
        )

    def amend_vote(self, sender: str, proposal: str, *, approve: bool = True) -> str:
        return self.tell(
            "param-proposal",
            sender,
            kind="vote",
            targetConstitution=self.genesis,
            proposalPin=proposal,
            approve=approve,
        )

    def revise(
        self,
        proposal: str,
        *,
        sender: str | None = None,
        revision: int = 1,
        previous: str | None = None,
        **changes: int,
    ) -> str:
        """Tell a revision by the genesis issuer: the params of the genesis with these changes."""
        return self.constitution(
            sender or self.issuer,
            revision=revision,
            prevConstitution=previous or self.genesis,
            proposalPin=proposal,
            params=self.params | changes,
        )

    # --- entries in a state that many tests begin with -------------------------------------------

    def war(self, slug: str = "a", editors: Sequence[str] = ("E1", "E2")) -> tuple[str, str, str]:
        """Tell a revert war that freezes an entry, one block after the other.

        Gives the pin that froze it, the version that was head before, and the first version.
        """
        one, other = editors
        first = self.create(one, slug)
        second = self.wait(1).edit(other, slug)
        reverts = [
            self.wait(1).revert((one, other)[turn % 2], (first, second)[turn % 2], slug)
            for turn in range(self.params["revertWarThreshold"])
        ]
        return reverts[-1], f"{reverts[-2]}::eq", first

    # --- folding --------------------------------------------------------------------------------

    def fold(self, rules: Rules = PRD) -> Fold:
        """Fold the story so far, without the gates on envelope, schema and content."""
        fold = Fold(rules, msgspec.convert(self.options, Options))
        fold.apply_many(sorted(self.events, key=position))
        return fold

    def seen(self, rules: Rules = PRD, *, tip: int | None = None) -> Seen:
        """Fold the story so far and look at it from a tip, by default from now.

        That is the present height, or one above the last event (the tip of the compared view).
        """
        fold = self.fold(rules)
        return Seen(self, fold.view(max(self.height, fold.tip) if tip is None else tip))

    def checked(self, rules: Rules = PRD) -> Seen:
        """Fold the story as a document, through intake with all its gates."""
        stream = read_document(self.document())
        check_payloads(stream)
        fold = Fold(rules, stream.options)
        fold.apply_many(stream.events, stream.faults)
        return Seen(self, fold.view())

    def document(self) -> bytes:
        """Give the story as the JSON document that intake reads."""
        return msgspec.json.encode({"events": self.events, "options": self.options})

    def plain(self) -> tuple[list[Json], Json]:
        """Give the story as plain JSON values: events and options, for another engine."""
        document: Json = msgspec.json.decode(self.document())
        return document["events"], document["options"]


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def drawn(seed: str, pool: Iterable[str], count: int) -> list[str]:
    """Draw by hand: the lowest first eight bytes of sha256(seed + id), ties by id (spec §6)."""

    def key(name: str) -> tuple[int, str]:
        return int.from_bytes(sha256((seed + name).encode()).digest()[:8], "big"), name

    return sorted(pool, key=key)[:count]


def both(world: Scenario, *, tip: int | None = None) -> tuple[Seen, Seen]:
    """See a story under `deployed` and under `prd`."""
    return world.seen(DEPLOYED, tip=tip), world.seen(PRD, tip=tip)


def reasons(world: Scenario, pin: str) -> tuple[str | None, str | None]:
    """Why each profile refuses a pin: `deployed`, `prd`."""
    deployed, prd = both(world)
    return deployed.reason(pin), prd.reason(pin)
