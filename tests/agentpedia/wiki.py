"""A small wiki for tests: written by actions, folded as it grows, its events at hand."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from refold.agentpedia import PRD, Event, Fold, Options
from refold.agentpedia.event import CHALLENGE, CONSTITUTION, EDITOR, PREFIX, REV, REVIEW, RULING
from refold.agentpedia.rules import ALGO_VERSIONS

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from refold.agentpedia import Refusal, Rules, View

FOUNDERS = [f"E{number}" for number in range(1, 7)]
DAY = 144
PARAMS = {
    "challengeWindowHours": 72,
    "revertWarWindowHours": 6,
    "revertWarThreshold": 3,
    "arbiterPoolK": 21,
    "arbiterDrawN": 3,
    "rulingQuorum": 2,
    "voteWindowHours": 48,
    "stakeAmountSat": 100,
    "coldStartDays": 14,
    "ratePerSlugDaily": 10_000,
    "rateGlobalDaily": 10_000,
    "thetaProtect": 0,
    "thetaFeatured": 20,
    "featuredMinReviews": 3,
    "inlineContentMaxBytes": 16384,
    "t0DurationHours": 1,
    "t1MinValidRevs": 10,
    "t2MinDays": 14,
    "t2MinValidRevs": 100,
    "bootstrapWindowDays": 100,
}
NO_WAR = {"revertWarThreshold": 10_000}


class Wiki:
    """Each action appends one event at the present height, and folds it."""

    def __init__(
        self, rules: Rules = PRD, params: dict[str, int] | None = None, pack: str | None = None
    ) -> None:
        self.fold = Fold(rules, Options())
        self.events: list[Event] = []
        self.height = 10
        self.refusal: Refusal | None = None
        payload: dict[str, Any] = {
            "revision": 0,
            "founders": FOUNDERS,
            "params": PARAMS | (params or {}),
            "algoVersions": dict(ALGO_VERSIONS) | ({} if pack is None else {"rulePack": pack}),
        }
        self.genesis = self.pin(CONSTITUTION, "E1", payload)

    def pin(self, path: str, sender: str, payload: dict[str, Any]) -> str:
        name = f"{len(self.events):064x}i0"
        event = Event(name, path, self.height, len(self.events), sender, {"v": 1, **payload})
        self.events.append(event)
        self.refusal = self.fold.apply(event)
        return name

    def wait(self, blocks: int) -> None:
        self.height += blocks

    def head(self, slug: str) -> str | None:
        record = self.fold.state.keys.get(f"en:{slug}")
        return None if record is None else self.fold.state.records[record].head

    def write(
        self, author: str, slug: str, text: str | None, kind: str = "edit", **members: Any
    ) -> str:
        """Pins a create or edit; without a text it refers to one."""
        content: dict[str, Any] = {
            "content": text,
            "contentRef": None if text is not None else "metafile://" + "f" * 64 + "i0",
            "contentHash": sha256((text or "").encode()).hexdigest(),
        }
        head = self.head(slug) if kind == "edit" else None
        payload = {"lang": "en", "slug": slug, "title": slug, "type": kind, **content}
        return self.pin(REV, author, {"parentRev": head, "basedOn": head, **payload, **members})

    def create(self, author: str, slug: str, text: str | None, **members: Any) -> str:
        return self.write(author, slug, text, "create", **members)

    def revert(self, author: str, slug: str, to: str, **members: Any) -> str:
        version = self.fold.state.versions[to]
        payload = {"revertTo": to, "contentHash": version.content_hash}
        return self.pin(
            REV, author, {"lang": "en", "slug": slug, "type": "revert", **payload, **members}
        )

    def redirect(self, author: str, slug: str, to: str) -> str:
        payload: dict[str, Any] = {"lang": "en", "slug": slug, "type": "redirect"}
        return self.pin(REV, author, {**payload, "redirectTo": to})

    def propose(self, target: str, outcome: str, **params: Any) -> str:
        """Challenges a version and opens a proposal."""
        author = self.fold.state.versions[target].author
        by = next(name for name in FOUNDERS if name != author)
        challenge = self.pin(CHALLENGE, by, {"targetRev": target, "reason": "other"})
        record = self.fold.state.records[self.fold.state.versions[target].record]
        payload: dict[str, Any] = {
            "action": "proposal",
            "challengePin": challenge,
            "seed": challenge,
            "outcome": outcome,
            "params": params,
            "baselineRev": record.baseline_rev if record.status == "frozen" else None,
        }
        return self.pin(RULING, by, payload)

    def rule(self, target: str, outcome: str, **params: Any) -> str:
        """Carries a ruling: challenge, proposal, votes up to the quorum."""
        proposal = self.propose(target, outcome, **params)
        arbiters = self.fold.state.proposals[proposal].arbiters
        if len(arbiters) < 2:  # a random story may have sent the whole pool away
            return proposal
        for arbiter in arbiters[:2]:
            vote = {"action": "vote", "proposalPin": proposal, "approve": True}
            self.pin(RULING, arbiter, vote)
        assert self.fold.state.proposals[proposal].state == "effective"
        return proposal

    def register(self, name: str, target: str, txid: str) -> str:
        """Walks an applicant through challenge, proof and register."""
        case = self.pin(EDITOR, "E1", {"action": "challenge", "editor": name, "nonce": "0" * 16})
        review = self.pin(REVIEW, name, {"targetRev": target, "score": 4})
        answer = {"action": "poc-response", "editor": name, "challengePin": case}
        self.pin(EDITOR, name, {**answer, "responsePin": review})
        register = {"action": "register", "editor": name, "challengePin": case}
        stake = {"txid": txid, "amountSat": 100}
        return self.pin(EDITOR, name, {**register, "responsePin": review, "stake": stake})

    def endorse(self, endorser: str, name: str, register: str) -> str:
        payload: dict[str, Any] = {"action": "endorse", "editor": name}
        return self.pin(EDITOR, endorser, {**payload, "registerPin": register})

    def view(self, tip: int | None = None) -> View:
        return self.fold.view(tip)


TEXTS = (
    "",
    "a",
    "spam " * 20,
    "see pin://" + "a" * 64 + "i0",
    "https://example.org/1 " * 3,
    "长" * 40,
)


@st.composite
def wikis(draw: DrawFn, rules: SearchStrategy[Rules]) -> Wiki:
    """Random wikis: revs of all types, wars, rulings, days that pass."""
    params = draw(st.sampled_from([{}, NO_WAR]))
    wiki = Wiki(draw(rules), params)
    author = st.sampled_from(FOUNDERS[:3])
    slug = st.sampled_from(["a", "b"])
    kind = st.sampled_from(["edit", "edit", "revert", "revert", "redirect", "rule", "refuse"])
    wiki.create("E1", "a", "first")
    wiki.create("E2", "b", "first")
    for _ in range(draw(st.integers(0, 25))):
        wiki.wait(draw(st.sampled_from([0, 0, 1, 30, DAY, 3 * DAY, 7 * DAY - 1, 7 * DAY])))
        _act(draw, wiki, draw(kind), draw(author), draw(slug))
    return wiki


def _act(draw: DrawFn, wiki: Wiki, kind: str, author: str, slug: str) -> None:
    state = wiki.fold.state
    record = state.records[state.keys[f"en:{slug}"]]
    versions = [name for name in record.history if name in state.versions]
    if kind == "edit":
        text = draw(st.sampled_from([*TEXTS, None, f"text {len(wiki.events)}"]))
        members: dict[str, Any] = {}
        based_on = draw(st.sampled_from(["head", "head", None, *versions]))
        if based_on != "head":
            members["basedOn"] = based_on
        claim = draw(st.sampled_from([None, "expand", "revert", "vandalism-fix", "ref-format"]))
        if claim is not None:
            members["claim"] = {"changeType": claim, "refs": draw(st.integers(0, 5))}
        wiki.write(author, slug, text, **members)
    elif kind == "revert":
        fix = draw(st.sampled_from([None, {"changeType": "vandalism-fix", "refs": 0}]))
        wiki.revert(author, slug, draw(st.sampled_from(versions)), claim=fix)
    elif kind == "redirect":
        wiki.redirect(author, slug, "b" if slug == "a" else "a")
    elif kind == "refuse":
        wiki.pin(PREFIX + "rumour", author, {})
        wiki.write("X1", slug, "from a stranger")
    elif record.status != "frozen":
        _rule(draw, wiki, draw(st.sampled_from(versions)), versions)


def _rule(draw: DrawFn, wiki: Wiki, target: str, versions: list[str]) -> None:
    outcome = draw(
        st.sampled_from(["dismiss", "revert-to", "protect", "warn-editor", "confirm-goodfaith"])
    )
    editor = draw(st.sampled_from(FOUNDERS[:3]))
    wiki.rule(
        target, outcome, editor=editor, revertTo=draw(st.sampled_from(versions)), protected=True
    )
