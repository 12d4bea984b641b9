"""Streams for the fold benchmarks: made, not recorded; the same seed gives the same bytes."""

from collections.abc import Iterator
from hashlib import sha256
from random import Random

PREFIX = "/protocols/agentpedia/"
EDITORS = 60
FOUNDERS = 12
EVENTS_PER_BLOCK = 10
BLOCKS_PER_DAY = 144
MIX = (("edit", 62), ("create", 16), ("revert", 6), ("review", 10), ("challenge", 4), ("ruling", 2))
"""Percent of each kind, as the issue asks."""
PARAMS = {
    "challengeWindowHours": 72,
    "revertWarWindowHours": 6,
    "revertWarThreshold": 3,
    "arbiterPoolK": 21,
    "arbiterDrawN": 7,
    "rulingQuorum": 5,
    "stakeAmountSat": 100_000,
    "coldStartDays": 14,
    "ratePerSlugDaily": 1_000_000,
    "rateGlobalDaily": 1_000_000,
    "thetaProtect": 10,
    "thetaFeatured": 20,
    "featuredMinReviews": 3,
    "inlineContentMaxBytes": 16384,
    "voteWindowHours": 48,
    "t0DurationHours": 0,
    "t1MinValidRevs": 1,
    "t2MinDays": 1,
    "t2MinValidRevs": 10,
    "bootstrapWindowDays": 365,
    "arbiterSuspensionDays": 30,
}


def pin_id(number: int) -> str:
    """Give a pin id of 66 characters."""
    return sha256(b"pin %d" % number).hexdigest() + "i0"


def editor_id(number: int) -> str:
    """Give an id of the form of a globalMetaId (its checksum is not one)."""
    return "idq1" + sha256(b"editor %d" % number).hexdigest()[:38]


def text_of(number: int, size: int) -> str:
    """Give a text of about `size` bytes that differs for every number."""
    line = f"Revision {number} says that the tide of harbour {number % 977} comes late. "
    return (line * (size // len(line) + 1))[:size]


def stream(
    events: int, *, body: int = 0, unknown: float = 0.0, one_entry: bool = False, seed: int = 1
) -> Iterator[dict[str, object]]:
    """Give `events` events in order, the first a genesis with all editors as founders.

    `body`: bytes of inline text in creates and edits. `unknown`: share of reviews and challenges
    that name a rev nobody knows. `one_entry`: whether the second create and all later ones are
    edits of the first entry instead.
    """
    random = Random(seed)
    editors = [editor_id(n) for n in range(EDITORS)]
    # One entry with so many reverts would be frozen at once, and nothing more be folded.
    params = {**PARAMS, "revertWarThreshold": events} if one_entry else PARAMS
    yield _event(0, "constitution", editors[0], 1000, _genesis(editors, params))
    kinds, weights = zip(*MIX, strict=True)
    world = _World(random, editors, body, unknown)
    for number in range(1, events):
        height = 1001 + number // EVENTS_PER_BLOCK
        kind = random.choices(kinds, weights)[0]
        if one_entry and kind == "create":
            kind = "edit"
        path, sender, payload = world.make(kind, number)
        yield _event(number, path, sender, height, payload)


def _event(
    number: int, path: str, sender: str, height: int, payload: dict[str, object]
) -> dict[str, object]:
    return {
        "pin": pin_id(number),
        "path": PREFIX + path,
        "height": height,
        "txIndex": number % EVENTS_PER_BLOCK + 1,
        "sender": sender,
        "payload": payload,
    }


def _genesis(founders: list[str], params: dict[str, int]) -> dict[str, object]:
    return {
        "v": 1,
        "revision": 0,
        "prevConstitution": None,
        "proposalPin": None,
        "founders": founders,
        "params": params,
        "algoVersions": {
            "adoption": "adoption-algo-v1",
            "reputation": "reputation-algo-v1",
            "arbiterDraw": "arbiter-draw-v1",
        },
    }


class _World:
    """What the generator remembers, so that its events mostly make sense."""

    def __init__(self, random: Random, editors: list[str], body: int, unknown: float) -> None:
        self.random = random
        self.editors = editors
        self.body = body
        self.unknown = unknown
        self.versions: list[list[tuple[str, str, str]]] = []  # by entry: (pin, hash, author)
        self.challenges: list[str] = []
        self.proposals: list[str] = []

    def make(self, kind: str, number: int) -> tuple[str, str, dict[str, object]]:
        """Give path, sender and payload of one event."""
        sender = self.random.choice(self.editors)
        if kind == "create" or not self.versions:
            return "rev", sender, self._create(number, sender)
        entry = self.random.randrange(len(self.versions))
        if kind == "edit":
            return "rev", sender, self._edit(number, entry, sender)
        if kind == "revert":
            return "rev", sender, self._revert(entry)
        if kind == "review":
            return "review", sender, self._review(entry)
        if kind == "challenge" or not self.challenges:
            self.challenges.append(pin_id(number))
            return "challenge", sender, self._challenge(entry)
        return "ruling", sender, self._ruling(number)

    def _content(self, number: int) -> dict[str, object]:
        text = text_of(number, self.body) if self.body else None
        digest = sha256((text or str(number)).encode()).hexdigest()
        return {"content": text, "contentHash": digest}

    def _create(self, number: int, sender: str) -> dict[str, object]:
        content = self._content(number)
        self.versions.append([(pin_id(number), str(content["contentHash"]), sender)])
        return {
            "v": 1,
            "slug": f"entry_{len(self.versions)}",
            "lang": "en",
            "title": f"Entry {len(self.versions)}",
            "type": "create",
            **content,
            "summary": "first version",
            "claim": {"changeType": "create", "refs": 0},
        }

    def _edit(self, number: int, entry: int, sender: str) -> dict[str, object]:
        versions = self.versions[entry]
        content = self._content(number)
        last = versions[-1][0]
        versions.append((pin_id(number), str(content["contentHash"]), sender))
        return {
            "v": 1,
            "slug": f"entry_{entry + 1}",
            "lang": "en",
            "title": f"Entry {entry + 1}",
            "type": "edit",
            "parentRev": last,
            "basedOn": last,
            **content,
            "summary": "more of it",
            "claim": {"changeType": "expand", "refs": 0},
        }

    def _revert(self, entry: int) -> dict[str, object]:
        target = self.random.choice(self.versions[entry])
        return {
            "v": 1,
            "slug": f"entry_{entry + 1}",
            "lang": "en",
            "title": f"Entry {entry + 1}",
            "type": "revert",
            "parentRev": self.versions[entry][-1][0],
            "revertTo": target[0],
            "contentHash": target[1],
            "summary": "undo",
            "claim": {"changeType": "revert", "refs": 0},
        }

    def _target(self, entry: int) -> str:
        if self.random.random() < self.unknown:
            return pin_id(-self.random.randrange(1, 10**9))
        return self.random.choice(self.versions[entry])[0]

    def _review(self, entry: int) -> dict[str, object]:
        marks = {"accuracy": 4, "citation": 3, "neutrality": 5}
        return {"v": 1, "targetRev": self._target(entry), "score": 4, "dimensions": marks}

    def _challenge(self, entry: int) -> dict[str, object]:
        detail = "The heights are from another port."
        return {"v": 1, "targetRev": self._target(entry), "reason": "factual", "detail": detail}

    def _ruling(self, number: int) -> dict[str, object]:
        if self.proposals and self.random.random() < 0.75:
            proposal = self.random.choice(self.proposals[-5:])
            return {"v": 1, "action": "vote", "proposalPin": proposal, "approve": True}
        challenge = self.random.choice(self.challenges[-20:])
        self.proposals.append(pin_id(number))
        return {
            "v": 1,
            "action": "proposal",
            "challengePin": challenge,
            "seed": challenge,
            "outcome": "dismiss",
            "params": None,
            "rationale": "The source names this port.",
            "baselineRev": None,
        }
