"""The full view of the naive fold and its digest, as docs/agentpedia-view.md defines them (`D`)."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from reference.naive import replay
from reference.naive_editing import rev_key
from reference.naive_registry import valid_changes
from reference.naive_rulings import approve_count
from reference.naive_state import (
    HIGHEST,
    Json,
    World,
    deciding,
    disputed,
    editors,
    halves,
    status,
    suspended_until,
    tenths,
    tier,
    valid_revs,
)
from reference.naive_view import by_t2, composition, display, plate, quality, text_size

REFERENCE = re.compile(r"(?:pin|metafile)://[0-9A-Za-z._-]+")
SECTIONS = (
    "fold",
    "constitution",
    "entry",
    "displaced",
    "editor",
    "proposal",
    "param-proposal",
    "challenge",
    "review",
    "case",
    "register",
    "grave",
)
View = dict[str, dict[str, Any]]  # section -> key -> value


def full_view(events: Sequence[Json], options: Json, profile: str, tip: int | None = None) -> View:
    """Folds events, in any order, into the full view: section, key, value."""
    world, _, tip = replay(events, options, profile, tip)
    return full_view_of(world, tip)


def digest(events: Sequence[Json], options: Json, profile: str, tip: int | None = None) -> str:
    """Folds events, in any order, into the view digest."""
    return digest_of(full_view(events, options, profile, tip))


def digest_of(view: View) -> str:
    """Gives the digest of a full view."""
    return sha256(b"".join(line + b"\n" for line in sorted(lines(view)))).hexdigest()


def lines(view: View) -> list[bytes]:
    """Gives the lines of the digest, not sorted."""
    return [
        f"{section}\t{key}\t{sha256(canonical(value)).hexdigest()}".encode()
        for section, values in view.items()
        for key, value in values.items()
    ]


def canonical(value: Any) -> bytes:
    """Writes canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def full_view_of(world: World, tip: int) -> View:
    """Gives the full view of a world."""
    records = [
        (record["history"][0], record_view(world, record, None))
        for record in world.records
        if not any(record is held for held in world.keys.values())
    ]
    return {
        "fold": {"fold": fold_view(world)},
        "constitution": {item["pin"]: item for item in world.constitutions},
        "entry": {key: record_view(world, held, key) for key, held in world.keys.items()},
        "displaced": dict(records),
        "editor": {who: editor_view(world, who, tip) for who in editors(world)},
        "proposal": {item["pin"]: proposal_view(item) for item in world.proposals},
        "param-proposal": {
            item["pin"]: param_proposal_view(world, item) for item in world.param_proposals
        },
        "challenge": {item["pin"]: challenge_view(world, item) for item in world.challenges},
        "review": {item["pin"]: review_view(item) for item in world.reviews},
        "case": {item["pin"]: case_view(world, item) for item in world.cases},
        "register": {item["pin"]: register_view(world, item) for item in world.registers},
        "grave": {item["pin"]: grave_view(item) for item in world.graveyard},
    }


def fold_view(world: World) -> Json:
    return {
        "rules": "prd" if world.prd else "deployed",
        "genesis": world.genesis["pin"] if world.genesis else None,
        "notAuthoritativeFrom": world.not_authoritative,
        "founders": world.founders,
    }


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


# --- entries -----------------------------------------------------------------------------------


def record_view(world: World, record: Json, key: str | None) -> Json:
    shown = plate(world, key, record) if key is not None else None
    head, awaiting = display(world, record)
    return {
        "head": record["head"],
        "displayHead": head,
        "displayMode": record["displayMode"],
        "status": record["status"],
        "quality": quality(world, record),
        "history": record["history"],
        "disputed": disputed(world, record),
        "contests": record["contests"],
        "redirect": shown["to"] if shown else None,
        "frozenAt": record["frozenAt"],
        "baselineRev": record["baselineRev"],
        "writers": record["writers"],
        "awaitingReview": awaiting,
        "authors": [
            {"editor": who, "versions": number} for who, number in composition(record).items()
        ],
        "versions": [version_view(name, item) for name, item in record["versions"].items()],
    }


def version_view(name: str, version: Json) -> Json:
    inline = text_or_none(version["content"])
    return {
        "id": name,
        "author": version["author"],
        "height": version["height"],
        "contentHash": version["contentHash"],
        "parentRev": version["parentRev"],
        "entryKey": version["entryKey"],
        "equivalentOf": version["equivalentOf"],
        "title": text_or_none(version["title"]) or "",
        "size": text_size(version),
        "refsFound": None if inline is None else len(set(REFERENCE.findall(inline))),
    }


# --- editors and their registration ------------------------------------------------------------


def editor_view(world: World, who: str, tip: int) -> Json:
    def until(suspensions: list[Json]) -> int:
        return min(HIGHEST, suspended_until(suspensions, who))

    return {
        "id": who,
        "status": status(world, who),
        "tier": tier(world, who, tip) if world.genesis else None,
        "reputation": tenths(world, who),
        "validRevs": valid_revs(world, who),
        "registeredAt": world.registered.get(who),
        "founder": who in world.founders,
        "revoked": who in world.revoked,
        "banned": who in world.banned,
        "suspendedUntil": until(world.suspensions),
        "poolSuspendedUntil": until(world.pool_suspensions),
        "registers": [item["pin"] for item in world.registers if item["editor"] == who],
        "endorsedBy": [item["by"] for item in world.endorsements if item["editor"] == who],
        "validReviews": len([r for r in world.reviews if r["by"] == who and r["counts"]])
        if world.prd
        else 0,
        "halfSignals": halves(world, who) % 2,  # R 40
    }


def case_view(world: World, case: Json) -> Json:
    accepted = [item["review"] for item in world.responses if item["case"] == case["pin"]]
    return {
        "pin": case["pin"],
        "editor": case["editor"],
        "sender": case["by"],
        "height": case["height"],
        "responsePins": list(dict.fromkeys(accepted)),
    }


def register_view(world: World, register: Json) -> Json:
    endorsers = [item["by"] for item in world.endorsements if item["register"] == register["pin"]]
    return {
        "pin": register["pin"],
        "editor": register["editor"],
        "height": register["height"],
        "txid": text_or_none(register["txid"]),
        "amountSat": register["amountSat"],
        "endorsers": endorsers,
    }


# --- rulings -----------------------------------------------------------------------------------


def votes_view(proposal: Json) -> list[Json]:
    return [{"editor": vote["by"], "approve": vote["approve"]} for vote in proposal["votes"]]


def proposal_view(proposal: Json) -> Json:
    params = proposal["params"]
    names = ("revertTo", "fromEntry", "toEntry", "editor", "displayMode")
    protected = params.get("protected")
    return {
        "pin": proposal["pin"],
        "sender": proposal["by"],
        "challengePin": proposal["challengePin"],
        "outcome": proposal["outcome"],
        "params": {
            **{name: text_or_none(params.get(name)) for name in names},
            "protected": protected if isinstance(protected, bool) else None,
        },
        "entryKey": proposal["entryKey"],
        "baselineRev": proposal["baselineRev"],
        "duringFreeze": proposal["freeze"],
        "openedAt": proposal["height"],
        "expiresAt": min(HIGHEST, proposal["expiry"]),
        "arbiters": proposal["arbiters"],
        "votes": votes_view(proposal),
        "approveCount": approve_count(proposal),
        "state": proposal["state"],
    }


def param_proposal_view(world: World, proposal: Json) -> Json:
    valid = valid_changes(proposal["changes"])
    changes = (
        [{"param": c["param"], "value": c["value"]} for c in proposal["changes"]] if valid else []
    )
    used = [c["pin"] for c in world.constitutions if c["proposalPin"] == proposal["pin"]]
    return {
        "pin": proposal["pin"],
        "sender": proposal["by"],
        "targetConstitution": text_or_none(proposal["targetConstitution"]),
        "changes": sorted(changes, key=lambda change: str(change["param"])),
        "openedAt": proposal["height"],
        "expiresAt": min(HIGHEST, proposal["expiry"]),
        "needed": proposal["needed"],
        "voters": proposal["voters"] if world.prd else None,
        "votes": votes_view(proposal),
        "approveCount": len([vote for vote in proposal["votes"] if vote["approve"]]),
        "state": proposal["state"],
        "usedBy": used[-1] if used else None,
    }


def challenge_view(world: World, challenge: Json) -> Json:
    verdict = deciding(world, challenge)
    return {
        "pin": challenge["pin"],
        "sender": challenge["by"],
        "target": challenge["target"],
        "outcome": verdict["outcome"] if verdict else None,
    }


def review_view(review: Json) -> Json:
    return {
        "pin": review["pin"],
        "sender": review["by"],
        "target": review["target"],
        "score": review["score"],
        "byT2": by_t2(review),
    }


def grave_view(line: Json) -> Json:
    orphan = line["reason"] == "duplicate-create"
    return {
        "pin": line["pin"],
        "reason": line["reason"],
        "entryKey": rev_key(line["payload"]) if orphan else None,
        "title": (text_or_none(line["payload"].get("title")) or "") if orphan else None,
    }
