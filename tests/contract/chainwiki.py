"""A wiki on a local chain, or on twins of one, that bots write at random, yet with some sense.

Each pin is built on what the chain holds when it is written, so edits meet their heads, reverts
freeze entries, proposals are voted on by those who were drawn. Blocks that are replaced later make
some of it senseless, as on any chain.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from agentpedia.scenario import PARAMS
from refold.agentpedia.demo.onchain import stream_on
from refold.agentpedia.event import CHALLENGE, CONSTITUTION, EDITOR, PATHS, REV, REVIEW, RULING
from refold.agentpedia.fold import Fold
from refold.agentpedia.intake import check_payloads
from refold.agentpedia.rules import ALGO_VERSIONS, PRD
from refold.agentpedia.state import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from refold.agentpedia.state import State, Version
    from refold.metaid.devnet.net import Devnet
    from refold.metaid.wallet import Key

Json = dict[str, Any]
SLUGS = ("tide", "reef", "pilot", "buoy")
LATE = b"a text that is pinned long after the rev that names it"


def hash_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def folded(net: Devnet, options: Options, tip: int | None = None) -> Fold:
    """Fold a chain from its raw transactions, past every indexer and store."""
    stream = stream_on(net)
    check_payloads(stream)
    fold = Fold(PRD, options)
    if tip is None:
        tip = net.height + 1
    fold.apply_many((event for event in stream.events if event.height < tip), stream.faults)
    fold.advance(tip)
    return fold


class Bots:
    """The bots of a wiki. `nets` are chains made by the same steps, so they hold the same pins."""

    def __init__(self, nets: Sequence[Devnet], random: Random) -> None:
        self.nets = nets
        self.random = random
        self.net = nets[0]
        self.count = 0
        names = ("alice", "bob", "dora", "emil", "fay", "gus", "carol")
        self.keys = [self.net.key(name) for name in names]
        *self.founders, self.carol = self.keys
        self.wrong: set[str] = set()
        """Revs whose text is another than they claim."""
        founders = [key.globalmetaid for key in self.founders]
        body = {
            "v": 1,
            "revision": 0,
            "prevConstitution": None,
            "proposalPin": None,
            "params": PARAMS,
            "algoVersions": dict(ALGO_VERSIONS),
            "founders": founders,
        }
        self.genesis = self.pin(self.founders[0], CONSTITUTION, body)
        self.good = self._each(lambda net: net.file(self.carol, LATE, chunk_bytes=20))
        self.mine(10)

    def _each(self, do: Callable[[Devnet], str]) -> str:
        made = {do(net) for net in self.nets}
        assert len(made) == 1
        return made.pop()

    def pin(self, by: Key, path: str, payload: Json | bytes, **envelope: str) -> str:
        return self._each(lambda net: net.pin(by, path, payload, **envelope))  # type: ignore[arg-type]  # strings as they are

    def mine(self, count: int = 1) -> None:
        for net in self.nets:
            net.mine(count, order="shuffled")

    def options(self) -> Options:
        """Give what a node knows of this wiki when it has found out all there is."""
        mismatches = dict.fromkeys(self.wrong, "mismatch")
        return Options(genesis_pin=self.genesis, content_facts=mismatches)  # type: ignore[arg-type]  # one of the three states

    def write(self, pins: int = 1) -> None:
        """Pin something that makes sense now, into the mempool."""
        state = folded(self.net, self.options()).state
        for _ in range(pins):
            self.count += 1
            self._act(state)

    def _act(self, state: State) -> None:
        acts: list[Callable[[State], None]] = [self._create]
        if state.records:
            acts += [self._edit] * 6 + [self._revert] * 4 + [self._review] * 3
            acts += [self._challenge] * 2 + [self._redirect, self._by_file]
        if state.challenges:
            acts += [self._propose] * 3
        if any(proposal.state == "open" for proposal in state.proposals.values()):
            acts += [self._vote] * 6
        acts += [self._apply, self._nonsense]
        self.random.choice(acts)(state)

    def _bot(self) -> Key:
        return self.random.choice(self.keys)

    def _rev(self, kind: str, slug: str, by: Key | None = None, **members: Any) -> str:
        named = {"v": 1, "lang": "en", "slug": slug, "title": slug.title(), "type": kind}
        return self.pin(by or self._bot(), REV, named | members)

    def _text(self) -> Json:
        text = f"revision {self.count} of [[{self.random.choice(SLUGS)}]]"
        return {"content": text, "contentHash": hash_of(text.encode())}

    def _entry(self, state: State) -> tuple[str, Version, list[Version]]:
        """Choose an entry: its slug, its last version, and all of them."""
        key = self.random.choice(sorted(state.keys))
        history = state.records[state.keys[key]].history
        versions = [state.versions[name] for name in history if name in state.versions]
        return key.partition(":")[2], versions[-1], versions

    def _create(self, _state: State) -> None:
        self._rev("create", self.random.choice(SLUGS), **self._text())

    def _edit(self, state: State) -> None:
        slug, head, versions = self._entry(state)
        base = self.random.choice([head, self.random.choice(versions)])
        parent, based_on = named(head.id), named(base.id)
        self._rev("edit", slug, parentRev=parent, basedOn=based_on, **self._text())

    def _revert(self, state: State) -> None:
        slug, head, versions = self._entry(state)
        target = self.random.choice(versions)
        members: Json = {"revertTo": named(target.id), "contentHash": target.content_hash}
        self._rev("revert", slug, parentRev=named(head.id), **members)

    def _redirect(self, state: State) -> None:
        slug, head, _ = self._entry(state)
        self._rev("redirect", slug, parentRev=named(head.id), redirectTo=self.random.choice(SLUGS))

    def _by_file(self, state: State) -> None:
        """Edit with a text in chunks, which is what the rev says, or not."""
        slug, head, _ = self._entry(state)
        is_good = self.random.choice([True, False])
        claimed = hash_of(LATE if is_good else b"another text")
        members: Json = {"contentRef": f"metafile://{self.good}", "contentHash": claimed}
        pin = self._rev("edit", slug, self.founders[0], parentRev=named(head.id), **members)
        if not is_good:
            self.wrong.add(pin)

    def _review(self, state: State) -> None:
        score = self.random.randint(1, 5)
        marks = dict.fromkeys(("accuracy", "citation", "neutrality"), score)
        target = named(self.random.choice(self._entry(state)[2]).id)
        payload = {"v": 1, "targetRev": target, "score": score, "dimensions": marks}
        self.pin(self._bot(), REVIEW, payload)

    def _challenge(self, state: State) -> None:
        target = named(self._entry(state)[1].id)
        said = {"reason": "factual", "detail": "the tide comes late"}
        self.pin(self._bot(), CHALLENGE, {"v": 1, "targetRev": target, **said})

    def _propose(self, state: State) -> None:
        challenge = self.random.choice(list(state.challenges.values()))
        version = state.versions[challenge.target]
        entry = state.records[version.record]
        outcome = self.random.choice(["dismiss", "revert-to", "protect", "unfreeze", "warn-editor"])
        params: dict[str, Json] = {
            "revert-to": {"revertTo": named(version.id)},
            "protect": {"protected": True, "displayMode": "reviewed"},
            "warn-editor": {"editor": self._bot().globalmetaid},
        }
        baseline = entry.baseline_rev if entry.status == "frozen" else None
        payload = {
            "v": 1,
            "action": "proposal",
            "challengePin": challenge.pin,
            "seed": challenge.pin,
            "outcome": outcome,
            "params": params.get(outcome),
            "baselineRev": None if baseline is None else named(baseline),
        }
        self.pin(self._bot(), RULING, payload)

    def _vote(self, state: State) -> None:
        proposals = [one for one in state.proposals.values() if one.state == "open"]
        proposal = self.random.choice(proposals)
        drawn = [key for key in self.keys if key.globalmetaid in proposal.arbiters]
        by = self.random.choice(drawn or self.keys)
        payload = {"v": 1, "action": "vote", "proposalPin": proposal.pin, "approve": True}
        self.pin(by, RULING, payload)

    def _apply(self, state: State) -> None:
        """Take a step of carol's registration."""
        carol, (alice, *others) = self.carol, self.founders
        named_editor = {"v": 1, "editor": carol.globalmetaid}
        if not state.cases:
            nonce = hash_of(b"%d" % self.count)[:16]
            self.pin(alice, EDITOR, {**named_editor, "action": "challenge", "nonce": nonce})
        elif not state.registers:
            reviews = [
                one.pin for one in state.reviews.values() if one.sender == carol.globalmetaid
            ]
            answer = {"challengePin": [*state.cases][-1], "responsePin": (reviews or ["?"])[-1]}
            action = self.random.choice(["poc-response", "register"])
            stake = {"stake": {"txid": hash_of(b"s"), "amountSat": 1_000}}
            answer |= stake if action == "register" else {}  # type: ignore[arg-type]  # a member of another kind
            self.pin(carol, EDITOR, {**named_editor, "action": action, **answer})
        else:
            members = {"action": "endorse", "registerPin": next(iter(state.registers))}
            self.pin(self.random.choice(others), EDITOR, {**named_editor, **members})

    def _nonsense(self, _state: State) -> None:
        path = self.random.choice(PATHS)
        body = self.random.choice([b"{", b"[]", b'{"v":2}', b"\xff", json.dumps({"v": 1}).encode()])
        self.pin(self._bot(), path, body + b" " * (self.count % 50))


def named(version: str) -> str:
    """Give the pin that names a version on the chain."""
    return version.partition("::")[0]
