"""Writes edit-war.json beside it: a short stream that the documentation explains, and replays.

Seven founders; two of them revert each other until the entry freezes; a ruling ends it. Ids stand
for names: a pin is the hash of what it is called here, an editor's id its name filled up.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

Json = dict[str, object]

FOUNDERS = ("ada", "ben", "cai", "dee", "eve", "fay", "gus")
PARAMS = {
    "challengeWindowHours": 72,
    "revertWarWindowHours": 6,
    "revertWarThreshold": 3,
    "arbiterPoolK": 7,
    "arbiterDrawN": 3,
    "rulingQuorum": 2,
    "voteWindowHours": 48,
    "stakeAmountSat": 100000,
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
}
SHORT = "A **tide table** lists the predicted times of high and low water."
LONG = SHORT + " Heights are given above chart datum."
LAST = LONG + " See [[chart_datum]]."


def pin(name: str) -> str:
    """Give the pin id that stands for a name."""
    return sha256(name.encode()).hexdigest() + "i0"


def editor(name: str) -> str:
    """Give the globalMetaId that stands for a name."""
    return "idq1" + name.ljust(38, "0")


def rev(kind: str, text: str | None, **members: object) -> Json:
    """Give the payload of a rev of the entry en:tide_table."""
    hashed = {} if text is None else {"contentHash": sha256(text.encode()).hexdigest()}
    inline = {"content": text} if kind in {"create", "edit"} else {}
    entry = {"v": 1, "slug": "tide_table", "lang": "en", "title": "Tide table", "type": kind}
    return {**entry, **inline, **hashed, **members}


def arbiters(seed: str) -> list[str]:
    """Draw as arbiter-draw-v1 does, from all founders: the lowest hashes of seed and id."""
    names = sorted(FOUNDERS, key=lambda name: sha256((seed + editor(name)).encode()).digest()[:8])
    return names[: PARAMS["arbiterDrawN"]]


def events() -> list[Json]:
    """Give the stream, one pin a block."""
    genesis: Json = {
        "v": 1,
        "revision": 0,
        "prevConstitution": None,
        "founders": [editor(name) for name in FOUNDERS],
        "params": PARAMS,
        "algoVersions": {
            "adoption": "adoption-algo-v1",
            "reputation": "reputation-algo-v1",
            "arbiterDraw": "arbiter-draw-v1",
        },
    }
    review: Json = {
        "v": 1,
        "targetRev": pin("create"),
        "score": 5,
        "dimensions": {"accuracy": 5, "citation": 4, "neutrality": 5},
    }
    back, again = (
        rev("revert", text, parentRev=pin(to), revertTo=pin(to))
        for text, to in ((SHORT, "create"), (LONG, "edit"))
    )
    challenge: Json = {
        "v": 1,
        "targetRev": pin("third revert"),
        "reason": "editwar",
        "detail": "Three reverts in three blocks.",
    }
    proposal: Json = {
        "v": 1,
        "action": "proposal",
        "challengePin": pin("challenge"),
        "seed": pin("challenge"),
        "outcome": "revert-to",
        "params": {"revertTo": pin("edit")},
        "baselineRev": pin("second revert"),
    }
    vote: Json = {"v": 1, "action": "vote", "proposalPin": pin("proposal"), "approve": True}
    first, second, third = arbiters(pin("challenge"))
    outsider = next(n for n in FOUNDERS if n not in {*arbiters(pin("third revert")), "ada", "ben"})
    last: Json = {"parentRev": pin("proposal"), "basedOn": pin("proposal")}
    told: list[tuple[str, str, str, Json]] = [
        ("genesis", "constitution", "ada", genesis),
        ("create", "rev", "ada", rev("create", SHORT)),
        ("review", "review", "cai", review),
        ("edit", "rev", "ben", rev("edit", LONG, parentRev=pin("create"), basedOn=pin("create"))),
        ("first revert", "rev", "ada", back),
        ("second revert", "rev", "ben", again),
        ("third revert", "rev", "ada", back),
        ("edit of a frozen entry", "rev", outsider, rev("edit", LAST, parentRev=pin("edit"))),
        ("challenge", "challenge", "cai", challenge),
        ("proposal", "ruling", "dee", proposal),
        ("vote", "ruling", first, vote),
        ("deciding vote", "ruling", second, vote),
        ("late vote", "ruling", third, vote),
        ("last edit", "rev", outsider, rev("edit", LAST, **last)),
        ("second create", "rev", "gus", rev("create", SHORT)),
        ("edit of a stranger", "rev", "zed", rev("edit", SHORT, **last)),
        ("wrong hash", "rev", "gus", rev("edit", LAST, **last) | {"content": SHORT}),
        ("wrong language", "rev", "gus", rev("create", SHORT) | {"lang": "zh-Hans"}),
    ]
    return [
        {
            "pin": pin(name),
            "path": f"/protocols/agentpedia/{path}",
            "height": 1000 + block,
            "txIndex": 0,
            "sender": editor(sender),
            "payload": payload,
        }
        for block, (name, path, sender, payload) in enumerate(told)
    ]


def main() -> None:
    """Write the document, or to the path given."""
    path = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).with_name("edit-war.json")
    path.write_text(json.dumps({"events": events()}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
