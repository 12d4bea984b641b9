"""Random writing and ruling: revs, wars, reviews, challenges, proposals, votes, transfers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reference.naive_state import OUTCOMES, PERSONAL, Json, deciding

if TYPE_CHECKING:
    from reference.streams import Maker

SOURCE = "pin://" + "a" * 64 + "i0"
FILE = "metafile://" + "b" * 64 + "i0"
TEXTS = ("short", "long " * 120, "", f"see {SOURCE} and {FILE} and {SOURCE} again", "长" * 171)


# --- revs --------------------------------------------------------------------------------------


def rev_payload(key: str, kind: str) -> Json:
    lang, _, slug = key.partition(":")
    return {"lang": lang, "slug": slug, "title": slug.upper(), "type": kind}


def body(maker: "Maker") -> Json:
    """Gives a hash and a text, or a reference that has a content fact."""
    payload: Json = {"contentHash": f"h{len(maker.events)}"}
    if maker.chance(0.15):
        return {**payload, "content": None, "contentRef": "metafile://f0"}
    if maker.chance(0.7):
        payload["content"] = maker.rng.choice(TEXTS)
    return payload


def write(maker: "Maker", sender: str, payload: Json) -> None:
    """Emits a rev; a content fact belongs to one with a reference."""
    if payload.get("contentRef") is not None and maker.chance(0.8):
        pin = maker.next_pin()
        facts = maker.options["contentFacts"]
        facts[pin] = maker.rng.choice(["verified", "mismatch", "unavailable"])
        maker.append(pin, "/protocols/agentpedia/rev", sender, {"v": 1, **payload})
    else:
        maker.emit("rev", sender, payload)


def create(maker: "Maker") -> None:
    free = [s for s in maker.slugs if f"en:{s}" not in maker.world.keys]
    if free and not maker.slip():
        key = "en:" + maker.rng.choice(free)
    elif maker.chance(0.5):
        return
    else:
        key = maker.key() if maker.chance(0.8) else "zh:a"
    write(maker, maker.member(), {**rev_payload(key, "create"), **body(maker)})


def edit(maker: "Maker") -> None:
    key = maker.key()
    record = maker.world.keys.get(key)
    if record is None and not maker.slip():
        create(maker)
        return
    head = record["head"] if record else None
    based_on = head
    if record and maker.chance(0.2):
        based_on = maker.rng.choice([None, "none", *record["history"]])
    payload = {"parentRev": maker.short(head), "basedOn": maker.short(based_on), **body(maker)}
    write(maker, writer(maker, key), {**rev_payload(key, "edit"), **payload})


def writer(maker: "Maker", key: str) -> str:
    """Picks who writes on a key; on a frozen one often one of the drawn."""
    record = maker.world.keys.get(key)
    if record and record["status"] == "frozen" and record["writers"] and maker.chance(0.7):
        return str(maker.rng.choice(record["writers"]))
    return maker.member()


def revert(maker: "Maker", key: str | None = None) -> None:
    key = key or maker.key()
    record = maker.world.keys.get(key)
    if record is None and not maker.slip():
        create(maker)
        return
    versions = list(record["versions"]) if record else []
    everything = maker.versions()
    if maker.slip() and everything:
        target = maker.rng.choice([*everything, "none"])
    else:
        target = maker.rng.choice(versions) if versions else "none"
    found = [r["versions"][target] for r in maker.world.records if target in r["versions"]]
    payload = {
        "parentRev": record["head"] if record else None,
        "revertTo": maker.short(target),
        "contentHash": found[0]["contentHash"] if found and not maker.slip() else "bad",
    }
    if maker.chance(0.3):
        payload["claim"] = {"changeType": "vandalism-fix", "refs": 0}
    maker.emit("rev", writer(maker, key), {**rev_payload(key, "revert"), **payload})


def war(maker: "Maker") -> None:
    """Reverts an entry until it freezes."""
    ready = [k for k, r in sorted(maker.world.keys.items()) if len(r["versions"]) > 1]
    if not ready:
        edit(maker)
        return
    key = maker.rng.choice(ready)
    for _ in range(maker.model_params()["revertWarThreshold"] + maker.rng.choice([0, 0, 1])):
        revert(maker, key)
        maker.tick(maker.rng.choice([0, 1, 1, 2]))


def redirect(maker: "Maker") -> None:
    key, target = maker.key(), maker.key()
    slug = target.partition(":")[2]
    if key not in maker.world.keys and not maker.slip():
        return
    if maker.slip():
        slug = maker.rng.choice(["nowhere", key.partition(":")[2]])
    elif target == key:
        return
    payload = {**rev_payload(key, "redirect"), "redirectTo": slug}
    maker.emit("rev", writer(maker, key), payload)


# --- reviews, challenges -----------------------------------------------------------------------


def target_version(maker: "Maker") -> str:
    """Picks a version, often a head."""
    names = maker.versions()
    if not names or maker.slip():
        return "none"
    heads = [r["head"] for r in maker.world.records if r["head"] in r["versions"]]
    name = maker.rng.choice(heads) if heads and maker.chance(0.6) else maker.rng.choice(names)
    return maker.short(name) or name


def review(maker: "Maker", by: str | None = None) -> None:
    if not maker.world.records and not maker.slip():
        return
    sender = by or maker.member("T0", "T0+", "T1", "T2", "T2")
    score = maker.rng.choice([0, 6, 2.5, "4"] if maker.slip() else [1, 3, 4, 5, 5])
    payload = {
        "targetRev": target_version(maker),
        "score": score,
        "dimensions": {"accuracy": score, "citation": 3, "neutrality": 3},
    }
    maker.emit("review", sender, payload)


def praise(maker: "Maker") -> None:
    """Lets several T2 editors review one head, or one editor review several versions."""
    if maker.chance(0.5):
        who = maker.member("T0", "T0+", "T1", "T2")
        for _ in range(3):
            review(maker, who)
        return
    target = target_version(maker)
    for who in maker.tiers("T2")[:4]:
        payload = {"targetRev": target, "score": 5, "dimensions": {"accuracy": 5}}
        maker.emit("review", who, payload)


def challenge(maker: "Maker", target: str | None = None) -> str | None:
    if not maker.world.records and not maker.slip():
        return None
    target = target or target_version(maker)
    authors = [
        r["versions"][target]["author"] for r in maker.world.records if target in r["versions"]
    ]
    others = [who for who in maker.tiers("T0+", "T1", "T2") if who not in authors]
    stray = not others or maker.slip()
    sender = (
        maker.rng.choice([*maker.founders, "X1", *maker.tiers("T0"), *authors])
        if stray
        else maker.rng.choice(others)
    )
    payload = {"targetRev": target, "reason": "factual", "detail": "a random dispute"}
    return maker.emit("challenge", sender, payload)


# --- proposals ---------------------------------------------------------------------------------


def record_of(maker: "Maker", target: str) -> Json | None:
    """Gives the record that holds a version."""
    return next((r for r in maker.world.records if target in r["versions"]), None)


def outcome_params(maker: "Maker", outcome: str, record: Json | None) -> Json | None:
    """Gives the params an outcome needs, at times not all of them."""
    rng = maker.rng
    if maker.slip():
        return rng.choice([None, {}, {"editor": 5}, {"protected": "yes"}])
    versions = list(record["versions"]) if record else []
    if outcome == "revert-to":
        wanted = (
            rng.choice(maker.versions() or ["none"])
            if maker.slip()
            else rng.choice(versions or ["none"])
        )
        return {"revertTo": maker.short(wanted)}
    if outcome in ("protect", "unprotect", "unfreeze"):
        return {"protected": outcome == "protect", "displayMode": display_mode(maker, outcome)}
    if outcome in PERSONAL:
        return {"editor": maker.anybody()}
    if outcome == "transfer-slug":
        return transfer_params(maker)
    return {"displayMode": "lww"} if maker.slip() else None


def display_mode(maker: "Maker", outcome: str) -> str | None:
    """Gives a display mode that the outcome may set."""
    if maker.slip():
        return maker.rng.choice(["lww", "reviewed", "normal"])
    if outcome == "protect":
        return maker.rng.choice([None, "lww", "reviewed", "reviewed"])
    return maker.rng.choice([None, "lww"])


def transfer_params(maker: "Maker") -> Json:
    """Gives two keys."""
    source = maker.key()
    target = (
        maker.key() if maker.chance(0.5) else "en:" + maker.rng.choice(["z", "y", *maker.slugs])
    )
    if maker.slip():
        target = maker.rng.choice(["zh:z", source])
    return {"fromEntry": source, "toEntry": target}


def pick_challenge(maker: "Maker") -> Json | None:
    """Picks a challenge, mostly one that may be ruled on."""
    world = maker.world
    if maker.slip():
        return maker.rng.choice(world.challenges) if world.challenges else None
    busy = [p["challengePin"] for p in world.proposals if p["state"] == "open"]
    free = [c for c in world.challenges if deciding(world, c) is None and c["pin"] not in busy]
    return maker.rng.choice(free) if free else None


def propose(maker: "Maker", outcome: str | None = None, on: Json | None = None) -> str | None:
    """Opens a proposal; gives its pin when the model took it."""
    case = on or pick_challenge(maker)
    if case is None and not maker.chance(maker.slips / 2):
        challenge(maker)
        return None
    record = record_of(maker, case["target"]) if case else None
    frozen = record is not None and record["status"] == "frozen"
    choices = [*OUTCOMES, *(["unfreeze", "revert-to", "protect"] * 3 if frozen else [])]
    outcome = outcome or maker.rng.choice(choices)
    baseline = record["baselineRev"] if frozen and record else None
    if maker.slip():
        baseline = maker.rng.choice([None, "none", *maker.versions()])
    pin = case["pin"] if case else "none"
    payload = {
        "action": "proposal",
        "challengePin": pin,
        "seed": "none" if maker.chance(maker.slips / 3) else pin,
        "outcome": outcome,
        "params": outcome_params(maker, outcome, record),
        "baselineRev": maker.short(baseline),
    }
    sender = maker.member("T0", "T0+", "T1", "T2") if maker.slip() else maker.member()
    if not maker.chance(0.05):
        made = maker.emit("ruling", sender, payload)
    else:
        made = maker.next_pin()
        maker.options["arbiterOverrides"][made] = maker.rng.sample(maker.founders, 3)
        maker.append(made, "/protocols/agentpedia/ruling", sender, {"v": 1, **payload})
    return made if any(p["pin"] == made for p in maker.world.proposals) else None


def cast(maker: "Maker", sender: str, pin: str, approve: Any = True) -> None:
    maker.emit("ruling", sender, {"action": "vote", "proposalPin": pin, "approve": approve})


def vote(maker: "Maker") -> None:
    """Casts a vote on an open proposal, mostly by an arbiter who has not voted."""
    world = maker.world
    opened = [p for p in world.proposals if p["state"] == "open"]
    if not opened or maker.chance(maker.slips / 2):
        pin = maker.rng.choice([p["pin"] for p in world.proposals] or ["none"])
        if maker.slip():
            cast(maker, maker.anybody(), pin)
        return
    proposal = maker.rng.choice(opened)
    voted = [v["by"] for v in proposal["votes"]]
    waiting = [who for who in proposal["arbiters"] if who not in voted]
    if not waiting or maker.slip():
        cast(
            maker, maker.rng.choice([*maker.founders, *maker.tiers("T0"), *voted]), proposal["pin"]
        )
    else:
        cast(maker, maker.rng.choice(waiting), proposal["pin"], maker.chance(0.8))


def carry(maker: "Maker", pin: str) -> None:
    """Lets the arbiters approve a proposal until it is effective."""
    proposal = next(p for p in maker.world.proposals if p["pin"] == pin)
    for who in proposal["arbiters"]:
        if proposal["state"] == "open":
            cast(maker, who, pin)


def pass_one(maker: "Maker", outcome: str | None = None) -> None:
    """Opens a proposal and carries it."""
    pin = propose(maker, outcome)
    if pin is not None:
        maker.step()
        carry(maker, pin)


def transfer(maker: "Maker") -> None:
    pass_one(maker, "transfer-slug")


def court(maker: "Maker") -> None:
    """Has a case from challenge to ruling: rulings on a freeze, stale ones too, or repeats."""
    world = maker.world
    frozen = [r for r in world.records if r["status"] == "frozen" and r["head"] in r["versions"]]
    if frozen and maker.chance(0.7):
        case_pin = challenge(maker, maker.rng.choice(frozen)["head"])
        case = next((c for c in world.challenges if c["pin"] == case_pin), None)
        choice = ["unfreeze", "revert-to", "protect", "unprotect", "dismiss"]
        pin = propose(maker, maker.rng.choice(choice), case) if case else None
        if pin is not None and maker.chance(0.6):
            carry(maker, pin)
        return
    ready = [k for k, r in sorted(world.keys.items()) if r["status"] == "normal"]
    if ready and maker.chance(0.3):  # a proposal opened before the freeze
        key = maker.rng.choice(ready)
        case_pin = challenge(maker, next(iter(world.keys[key]["versions"])))
        case = next((c for c in world.challenges if c["pin"] == case_pin), None)
        choice = ["unfreeze", "revert-to", "protect", "unprotect"]
        pin = propose(maker, maker.rng.choice(choice), case) if case else None
        for _ in range(4):
            revert(maker, key)
        if pin is not None:
            carry(maker, pin)
        return
    pass_one(maker)


ACTIONS: dict[str, Callable[["Maker"], Any]] = {
    "create": create,
    "edit": edit,
    "revert": revert,
    "war": war,
    "redirect": redirect,
    "review": lambda maker: praise(maker) if maker.chance(0.25) else review(maker),
    "challenge": challenge,
    "propose": propose,
    "vote": vote,
    "pass": court,
    "transfer": transfer,
}
