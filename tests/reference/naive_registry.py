"""The naive rules of the registry and of the constitution."""

import json
from typing import Any

from reference.naive_editing import (
    boolean,
    is_integer,
    object_or_empty,
    refuse_stranger,
    refuse_t0,
    text,
    text_or_null,
)
from reference.naive_state import (
    ALGORITHMS,
    DEFAULT_SUSPENSION_DAYS,
    OPTIONAL_PARAM,
    PARAMS,
    POINT,
    Json,
    Refused,
    World,
    change_reputation,
    in_bootstrap_window,
    pool,
    tier,
)

STAKE_OUTCOMES = ("ban-editor", "slash-stake-full", "slash-stake-half")


def same(one: Any, other: Any) -> bool:
    """Compares two JSON values; 1 and true differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


# --- editor ------------------------------------------------------------------------------------


def editor(world: World, event: Json) -> None:
    """Applies an editor pin; it names an editor whatever the action is (S 4; R 51)."""
    actions = {
        "challenge": open_case,
        "poc-response": respond,
        "register": register,
        "endorse": endorse,
        "suspend": suspend,
        "revoke": revoke,
    }
    action = event["payload"].get("action")
    if not isinstance(action, str) or action not in actions:
        raise Refused("editor-action-unknown")
    text(event["payload"], "editor")
    actions[action](world, event)


def open_case(world: World, event: Json) -> None:
    """Opens a proof-of-capability case for `payload.editor` (S 4, registration)."""
    found = refuse_stranger(world, event["sender"], event["height"])
    refuse_t0(world, found)  # R 8
    world.cases.append(
        {
            "pin": event["pin"],
            "editor": text(event["payload"], "editor"),
            "by": event["sender"],
            "height": event["height"],
            "position": world.position,
        }
    )


def respond(world: World, event: Json) -> None:
    """Accepts the answer to a case (S 4, registration; S 1, PoC review)."""
    payload, who = event["payload"], event["sender"]
    applicant, pin = text(payload, "editor"), text(payload, "challengePin")
    cases = [c for c in world.cases if c["pin"] == pin and c["editor"] == applicant]
    if not cases or applicant != who:
        raise Refused("poc-challenge-mismatch")
    if event["height"] > cases[0]["height"] + world.blocks_per_hour:
        raise Refused("poc-window-exceeded")
    answer = text(payload, "responsePin")
    reviews = [r for r in world.reviews if r["pin"] == answer and r["by"] == applicant]
    if not reviews:
        raise Refused("poc-response-missing")
    if world.prd and reviews[0]["position"] < cases[0]["position"]:
        raise Refused("poc-review-too-early")
    world.responses.append(
        {"pin": event["pin"], "case": pin, "editor": applicant, "review": answer}
    )


def register(world: World, event: Json) -> None:
    """Records a staked register after an accepted response (S 4, registration)."""
    payload, who = event["payload"], event["sender"]
    applicant, pin = text(payload, "editor"), text(payload, "challengePin")
    accepted = [
        r["review"] for r in world.responses if r["case"] == pin and r["editor"] == applicant
    ]
    if not accepted or applicant != who:
        raise Refused("register-invalid")
    if world.prd and text(payload, "responsePin") not in accepted:  # S 1, register; R 34
        raise Refused("register-invalid")
    stake = payload.get("stake")
    if not isinstance(stake, dict) or not is_integer(stake.get("amountSat")):
        raise Refused("schema-invalid")
    if stake["amountSat"] < world.params["stakeAmountSat"]:
        raise Refused("stake-insufficient")
    if stake_state(world, event["pin"]) == "mismatch":
        raise Refused("stake-mismatch")
    if world.prd:
        txid = text(stake, "txid")
        taken = [r for r in world.registers if r["txid"] == txid and r["editor"] != applicant]
        if any(stake_state(world, r["pin"]) == "verified" for r in taken):  # R 58
            raise Refused("stake-reused")  # F, fault 12
    world.registers.append(
        {
            "pin": event["pin"],
            "editor": applicant,
            "height": event["height"],
            "position": world.position,
            "txid": stake.get("txid"),
            "review": payload.get("responsePin"),
            "amountSat": stake["amountSat"],
        }
    )


def stake_state(world: World, pin: str) -> str:
    """Tells what is known of a register's stake; as declared where nobody looks (S 4; R 58)."""
    facts = world.options.get("stakeFacts")
    if facts is None or not world.prd:
        return "verified"
    return str(facts.get(pin, "unavailable"))


def endorse(world: World, event: Json) -> None:
    """Adds an endorsement and registers the applicant when there are enough (S 4, E-4)."""
    payload, who, height = event["payload"], event["sender"], event["height"]
    if tier(world, who, height) != "T2":
        raise Refused("endorser-not-t2")
    applicant = text(payload, "editor")
    staked = [r for r in world.registers if r["editor"] == applicant]
    if not staked:
        raise Refused("endorse-no-register")
    named = [r for r in staked if r["pin"] == payload.get("registerPin")]
    target = (named or staked)[0]  # the list is in chain order
    if who == applicant:
        raise Refused("self-endorse")

    def pooled(item: Json) -> bool:  # F, fault 14: `prd` counts per register
        if world.prd:
            return bool(item["register"] == target["pin"])
        return bool(item["editor"] == applicant)

    if any(item["by"] == who for item in world.endorsements if pooled(item)):
        raise Refused("duplicate-endorse")
    world.endorsements.append(
        {
            "pin": event["pin"],
            "register": target["pin"],
            "editor": applicant,
            "by": who,
            "height": height,
        }
    )
    enough = 4 if in_bootstrap_window(world, height) else 2
    counts = stake_state(world, target["pin"]) == "verified"  # S 4: until then it waits
    if counts and len([i for i in world.endorsements if pooled(i)]) >= enough:
        world.registered.setdefault(applicant, target["height"])


def suspend(world: World, event: Json) -> None:
    """Suspends an editor for arbiterSuspensionDays (S 4, suspend)."""
    if not may_punish(world, event):
        raise Refused("suspend-unauthorized")
    days = world.params.get(OPTIONAL_PARAM, DEFAULT_SUSPENSION_DAYS)
    world.suspensions.append(
        {
            "pin": event["pin"],
            "editor": text(event["payload"], "editor"),
            "until": event["height"] + days * world.blocks_per_day,
        }
    )


def revoke(world: World, event: Json) -> None:
    """Takes an editor out of the registry (S 4, revoke)."""
    if not may_punish(world, event):
        raise Refused("revoke-unauthorized")
    world.revoked.append(text(event["payload"], "editor"))


def may_punish(world: World, event: Json) -> bool:
    """Tells whether the sender may suspend or revoke on the ruling he cites (S 4)."""
    payload, who = event["payload"], event["sender"]
    cited = [
        p
        for p in world.proposals
        if p["pin"] == payload.get("rulingPin") and p["state"] == "effective"
    ]
    if not cited:
        return False
    if not world.prd:
        return tier(world, who, event["height"]) == "T2"
    ruling = cited[0]
    bound = ruling["outcome"] in STAKE_OUTCOMES and ruling["editor"] == payload.get("editor")
    return bound and who in ruling["arbiters"]


# --- constitution ------------------------------------------------------------------------------


def constitution(world: World, event: Json) -> None:
    """Applies the genesis or a revision (S 3, genesis; S 1, constitution revision)."""
    payload = event["payload"]
    if not is_integer(payload.get("revision")):
        raise Refused("schema-invalid")
    if payload["revision"] == 0:
        if world.genesis is not None:
            raise Refused("duplicate-genesis")
        genesis(world, event)
    else:
        revise(world, event)


def refuse_algorithms(world: World, event: Json) -> None:
    """Refuses a constitution, right in all else, that names an unknown algorithm (S 3; R 2)."""
    versions = object_or_empty(event["payload"], "algoVersions")
    named = {kind: text_or_null(versions, kind) for kind in ALGORITHMS}
    if any(named[kind] not in {None, known} for kind, known in ALGORITHMS.items()):
        world.not_authoritative = world.not_authoritative or event["pin"]
        raise Refused("algo-unknown")


def genesis(world: World, event: Json) -> None:
    """Registers the founders (S 4, genesis)."""
    payload, height = event["payload"], event["height"]
    founders, params = payload.get("founders"), payload.get("params")
    if not isinstance(founders, list) or not all(isinstance(f, str) for f in founders):
        raise Refused("schema-invalid")
    if not isinstance(params, dict):
        raise Refused("schema-invalid")
    known = known_params(params)
    if any(name not in known for name in PARAMS if name != OPTIONAL_PARAM):
        raise Refused("schema-invalid")
    refuse_algorithms(world, event)
    world.genesis = {"pin": event["pin"], "height": height, "issuer": event["sender"]}
    world.params = known
    world.founders = list(founders)
    enact(world, event, None)
    for founder in founders:
        world.registered[founder] = height
    for who, points in (world.options.get("editorsRep") or {}).items():
        change_reputation(
            world, who, points * POINT, why="scenario", height=height, of=event["pin"]
        )


def revise(world: World, event: Json) -> None:
    """Puts a new constitution in the place of the current one (S 1, constitution revision)."""
    payload = event["payload"]
    current = world.constitutions[-1]
    if world.prd:
        follows = payload["revision"] == current["revision"] + 1
        if not follows or payload.get("prevConstitution") != current["pin"]:
            raise Refused("constitution-mismatch")
        assert world.genesis is not None
        if event["sender"] != world.genesis["issuer"]:
            raise Refused("constitution-not-issuer")
    cited = [
        p
        for p in world.param_proposals
        if p["pin"] == payload.get("proposalPin") and p["state"] == "effective"
    ]
    if not cited:
        raise Refused("constitution-without-effective-proposal")
    if world.prd:
        if any(c["proposalPin"] == cited[0]["pin"] for c in world.constitutions):
            raise Refused("param-proposal-used")
        if cited[0]["targetConstitution"] != current["pin"]:
            raise Refused("param-target-stale")
    params = payload.get("params")
    if not isinstance(params, dict):
        raise Refused("schema-invalid")
    known = known_params(params)
    if world.prd:
        changed = {**world.params, **{c["param"]: c["value"] for c in cited[0]["changes"]}}
        stated = {name: value for name, value in params.items() if value is not None}
        if not same(stated, changed):
            raise Refused("constitution-params-mismatch")
    refuse_algorithms(world, event)
    world.params = {**world.params, **known}
    enact(world, event, cited[0]["pin"])


def known_params(params: Json) -> dict[str, int]:
    """Gives the params the protocol knows; null counts as absent (S 3; R 52)."""
    known = {name: params[name] for name in PARAMS if params.get(name) is not None}
    if not all(is_integer(value) for value in known.values()):
        raise Refused("schema-invalid")
    return known


def enact(world: World, event: Json, proposal: str | None) -> None:
    """Notes a constitution that took effect."""
    world.constitutions.append(
        {
            "pin": event["pin"],
            "revision": event["payload"]["revision"],
            "sender": event["sender"],
            "height": event["height"],
            "proposalPin": proposal,
            "params": {name: world.params[name] for name in PARAMS if name in world.params},
        }
    )


# --- param-proposal ----------------------------------------------------------------------------


def param_proposal(world: World, event: Json) -> None:
    """Opens a parameter proposal or records a vote on one (S 1, param-proposal votes)."""
    kind = event["payload"].get("kind")
    if kind == "proposal":
        propose_params(world, event)
    elif kind == "vote":
        vote_params(world, event)
    else:
        raise Refused("param-proposal-kind-unknown")


def propose_params(world: World, event: Json) -> None:
    """Opens a parameter proposal with its voters."""
    payload, height = event["payload"], event["height"]
    refuse_t0(world, refuse_stranger(world, event["sender"], height))
    if world.prd and not valid_changes(payload.get("changes")):
        raise Refused("param-changes-invalid")
    voters = pool(world, height)
    world.param_proposals.append(
        {
            "pin": event["pin"],
            "by": event["sender"],
            "height": height,
            "position": world.position,
            "expiry": height + world.params["challengeWindowHours"] * world.blocks_per_hour,
            "targetConstitution": payload.get("targetConstitution"),
            "changes": payload.get("changes"),
            "voters": voters,  # read under `prd` only
            "needed": two_thirds(len(voters)) if world.prd else None,
            "votes": [],
            "state": "open",
            "closedAt": None,
        }
    )


def two_thirds(number: int) -> int:
    """Gives two thirds, rounded up (S 1, param-proposal votes)."""
    return -(-2 * number // 3)


def valid_changes(changes: Any) -> bool:
    """Tells whether changes are one or more distinct known params, in range (S 3)."""
    if not isinstance(changes, list) or not changes:
        return False
    seen: list[str] = []
    for change in changes:
        if not isinstance(change, dict) or not is_integer(change.get("value")):
            return False
        name = change.get("param")
        if not isinstance(name, str) or name not in PARAMS or name in seen:
            return False
        least, most = PARAMS[name]
        if change["value"] < least or (most is not None and change["value"] > most):
            return False
        seen.append(name)
    return True


def vote_params(world: World, event: Json) -> None:
    """Records a vote on a parameter proposal."""
    payload, who, height = event["payload"], event["sender"], event["height"]
    pin = text(payload, "proposalPin")
    found = [p for p in world.param_proposals if p["pin"] == pin and p["state"] == "open"]
    if not found:
        raise Refused("param-vote-on-closed")
    proposal = found[0]
    repeated = any(vote["by"] == who for vote in proposal["votes"])
    if world.prd:
        if who not in proposal["voters"]:
            refuse_t0(world, tier(world, who, height))
            raise Refused("param-vote-outsider")
        if repeated:
            raise Refused("duplicate-param-vote")
    elif repeated or tier(world, who, height) != "T2":
        return
    approve = boolean(payload, "approve")
    proposal["votes"].append({"pin": event["pin"], "by": who, "approve": approve, "height": height})
    needed = proposal["needed"] if world.prd else two_thirds(world.params["arbiterPoolK"])
    approvals = len([vote for vote in proposal["votes"] if vote["approve"]])
    if approve and approvals >= needed:
        proposal.update(state="effective", closedAt=height)
