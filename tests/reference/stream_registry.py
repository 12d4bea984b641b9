"""Random registrations, endorsements, punishments and constitution revisions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reference.naive_state import ALGORITHMS, Json

if TYPE_CHECKING:
    from reference.streams import Maker

# changes that keep a small world running, with values in range
CHANGES: tuple[Json, ...] = (
    {"param": "thetaProtect", "value": 0},
    {"param": "thetaProtect", "value": 2},
    {"param": "rulingQuorum", "value": 2},
    {"param": "voteWindowHours", "value": 8},
    {"param": "t0DurationHours", "value": 1},
    {"param": "t0DurationHours", "value": 200},
    {"param": "t2MinValidRevs", "value": 2},
    {"param": "ratePerSlugDaily", "value": 6},
    {"param": "arbiterSuspensionDays", "value": 1},
    {"param": "stakeAmountSat", "value": 150},
    {"param": "revertWarThreshold", "value": 2},
)
BAD_CHANGES: tuple[Any, ...] = (
    None,
    [],
    {},
    ["thetaProtect"],
    [{"param": "thetaProtect", "value": -1}],
    [{"param": "thetaProtect", "value": True}],
    [{"param": "unknown", "value": 1}],
    [{"param": "arbiterPoolK", "value": 102}],
    [{"param": "thetaProtect", "value": 1}, {"param": "thetaProtect", "value": 2}],
)


# --- registration ------------------------------------------------------------------------------


def join(maker: "Maker") -> None:
    """Walks an applicant through the registration, at times with a slip on the way."""
    applicant = maker.rng.choice(maker.strangers)
    if maker.chance(0.1):
        applicant = maker.rng.choice(maker.founders)
    early = review_by(maker, applicant) if maker.slip() else None
    maker.tick(maker.rng.choice([0, 1]))
    opener = maker.member("T0", "T0+", "T1", "T2") if maker.slip() else maker.member()
    payload: Json = {"action": "challenge", "editor": applicant, "nonce": "0123456789abcdef"}
    case = maker.emit("editor", opener, payload)
    answer = early or review_by(maker, applicant)
    late = maker.world.blocks_per_hour + 1 if maker.slip() else maker.rng.choice([0, 0, 1])
    maker.tick(late)
    if maker.slip():
        case = maker.rng.choice(["none", *[c["pin"] for c in maker.world.cases]])
    named = "none" if maker.slip() else answer
    response = {"action": "poc-response", "editor": applicant}
    maker.emit("editor", applicant, {**response, "challengePin": case, "responsePin": named})
    if maker.chance(0.2):  # a second answer to the same case, perhaps with the same review
        other = maker.rng.choice([answer, review_by(maker, applicant)])
        maker.emit("editor", applicant, {**response, "challengePin": case, "responsePin": other})
        answer = maker.rng.choice([answer, other])
    register(maker, applicant, case, answer)
    for _ in range(maker.rng.choice([1, 2, 4, 4, 4, 5])):
        endorse(maker, applicant)


def review_by(maker: "Maker", who: str) -> str:
    """Makes a review by an applicant."""
    target = maker.rng.choice(maker.versions() or ["none"])
    payload = {"targetRev": target, "score": 4, "dimensions": {"accuracy": 4}}
    return maker.emit("review", who, payload)


def register(maker: "Maker", applicant: str, case: str, answer: str) -> None:
    """Makes a register with a stake."""
    amount = maker.rng.choice([99, 50, 0]) if maker.slip() else 200
    txid = f"t{len(maker.events)}"
    used = [r["txid"] for r in maker.world.registers]
    if used and maker.chance(0.1):
        txid = maker.rng.choice(used)
    payload: Json = {
        "action": "register",
        "editor": applicant,
        "challengePin": "none" if maker.slip() else case,
        "responsePin": "none" if maker.slip() else answer,
        "stake": {"txid": txid, "amountSat": amount},
    }
    facts = maker.options.get("stakeFacts")
    if facts is None or maker.chance(0.1):
        maker.emit("editor", applicant, payload)
        return
    pin = maker.next_pin()
    facts[pin] = maker.rng.choice(["verified", "verified", "verified", "mismatch", "unavailable"])
    maker.append(pin, "/protocols/agentpedia/editor", applicant, {"v": 1, **payload})


def endorse(maker: "Maker", applicant: str | None = None) -> None:
    """Makes an endorsement, mostly by a T2 editor who has not given his."""
    registers = maker.world.registers
    if not registers and not maker.slip():
        return
    if applicant is None:
        applicant = maker.rng.choice([r["editor"] for r in registers] or maker.strangers)
    own = [r["pin"] for r in registers if r["editor"] == applicant]
    pin = own[-1] if own else "none"
    if maker.slip():
        pin = maker.rng.choice([*own, *[r["pin"] for r in registers], "none"])
    given = [e["by"] for e in maker.world.endorsements if e["register"] == pin]
    fresh = [who for who in maker.tiers("T2") if who not in given and who != applicant]
    stray = not fresh or maker.slip()
    sender = maker.rng.choice([applicant, maker.anybody()] if stray else fresh)
    maker.emit("editor", sender, {"action": "endorse", "editor": applicant, "registerPin": pin})


# --- punishment --------------------------------------------------------------------------------


def punish(maker: "Maker") -> None:
    """Suspends or revokes, mostly on a ruling that allows it."""
    stakes = ("ban-editor", "slash-stake-full", "slash-stake-half")
    effective = [p for p in maker.world.proposals if p["state"] == "effective"]
    allowed = [p for p in effective if p["outcome"] in stakes]
    ruling = maker.rng.choice(allowed if allowed and not maker.slip() else effective or [None])
    if ruling is None and not maker.slip():
        return
    editor, sender = maker.anybody(), maker.anybody()
    if ruling is not None and ruling["editor"] and not maker.slip():
        editor = ruling["editor"]
    if ruling is not None and ruling["arbiters"] and not maker.slip():
        sender = maker.rng.choice(ruling["arbiters"])
    cited = {"editor": editor, "rulingPin": ruling["pin"] if ruling else "none", "reason": "so"}
    for action in maker.rng.choice([["suspend"], ["suspend", "suspend"], ["revoke"]]):
        maker.emit("editor", sender, {"action": action, **cited})
        maker.step()


# --- constitution ------------------------------------------------------------------------------


def amend(maker: "Maker") -> None:
    """Opens a param-proposal, at times two at once, and lets its voters carry it."""
    for _ in range(maker.rng.choice([1, 1, 2])):
        changes: Any = [maker.rng.choice(CHANGES)]
        if maker.slip():
            changes = maker.rng.choice(BAD_CHANGES)
        constitutions = [c["pin"] for c in maker.world.constitutions]
        payload = {
            "kind": "proposal",
            "targetConstitution": constitutions[0 if maker.slip() else -1],
            "changes": changes,
            "rationale": "r",
        }
        sender = maker.member("T0", "T0+", "T1", "T2") if maker.slip() else maker.member()
        pin = maker.emit("param-proposal", sender, payload)
        if maker.chance(0.6):
            carry_params(maker, pin)


def carry_params(maker: "Maker", pin: str) -> None:
    """Lets the voters of a param-proposal approve it until it is effective."""
    for proposal in maker.world.param_proposals:
        if proposal["pin"] != pin:
            continue
        voters = proposal["voters"] if maker.world.prd else maker.tiers("T2")
        for who in voters:
            if proposal["state"] == "open":
                cast_params(maker, who, pin)


def cast_params(maker: "Maker", sender: str, pin: str) -> None:
    payload = {
        "kind": "vote",
        "targetConstitution": maker.world.constitutions[-1]["pin"],
        "proposalPin": pin,
        "approve": maker.chance(0.95),
    }
    maker.emit("param-proposal", sender, payload)


def vote_params(maker: "Maker") -> None:
    """Votes on a param-proposal."""
    proposals = maker.world.param_proposals
    opened = [p for p in proposals if p["state"] == "open"]
    if opened and not maker.chance(maker.slips / 2):
        proposal = maker.rng.choice(opened)
        voted = [v["by"] for v in proposal["votes"]]
        waiting = [who for who in proposal["voters"] if who not in voted]
        stray = not waiting or maker.slip()
        everybody = [*maker.founders, "X1", *maker.tiers("T0")]
        cast_params(maker, maker.rng.choice(everybody if stray else waiting), proposal["pin"])
    elif maker.slip():
        cast_params(
            maker, maker.anybody(), maker.rng.choice([p["pin"] for p in proposals] or ["none"])
        )


def revise(maker: "Maker") -> None:
    """Makes a revision of the constitution."""
    world, rng = maker.world, maker.rng
    current = world.constitutions[-1]
    used = [c["proposalPin"] for c in world.constitutions]
    effective = [p for p in world.param_proposals if p["state"] == "effective"]
    ready = [p for p in effective if p["pin"] not in used]
    if maker.slip() and world.param_proposals:
        proposal = rng.choice(world.param_proposals)
    elif ready:
        proposal = rng.choice(ready)
    elif maker.slip():
        proposal = {"pin": "none", "changes": []}
    else:
        return
    changes = proposal["changes"] if isinstance(proposal["changes"], list) else []
    changed = {c["param"]: c["value"] for c in changes if isinstance(c, dict) and "param" in c}
    payload: Json = {
        "revision": current["revision"] + (rng.choice([0, 2]) if maker.slip() else 1),
        "prevConstitution": "none" if maker.slip() else current["pin"],
        "proposalPin": proposal["pin"],
        "founders": None,
        "params": {**world.params, **changed},
        "algoVersions": dict(ALGORITHMS),
    }
    if maker.slip():
        other = {**payload["params"], "unknownParam": 8}
        payload["params"] = rng.choice([{"thetaProtect": 1}, {"arbiterPoolK": 3}, other])
    if maker.slip():
        strange = {**ALGORITHMS, "reputation": "reputation-algo-v2"}
        payload["algoVersions"] = rng.choice([strange, {}, None, {"adoption": None}])
    maker.emit("constitution", maker.anybody() if maker.slip() else "E1", payload)


ACTIONS: dict[str, Callable[["Maker"], None]] = {
    "join": join,
    "endorse": endorse,
    "punish": punish,
    "amend": amend,
    "vote_params": vote_params,
    "revise": revise,
}
