"""The naive rules of ruling: proposals, votes, expiry, outcomes, and what falls due."""

from reference.naive_editing import (
    add_version,
    boolean,
    object_or_empty,
    overturn,
    refuse_stranger,
    refuse_t0,
    text,
)
from reference.naive_state import (
    DEFAULT_SUSPENSION_DAYS,
    OPTIONAL_PARAM,
    OUTCOMES,
    OVERTURN_DAYS,
    PERSONAL,
    POINT,
    TENTH,
    Json,
    Refused,
    World,
    alias,
    change_reputation,
    deciding,
    draw,
    end_freeze,
    find_version,
    out_of_pool,
    tier,
)

ABSENCE_TENTHS = 10
STATUS_OUTCOMES = ("protect", "unprotect", "unfreeze")


def ruling(world: World, event: Json) -> None:
    """Opens a proposal or records a vote (S 6)."""
    action = event["payload"].get("action")
    if action == "proposal":
        propose(world, event)
    elif action == "vote":
        vote(world, event)
    else:
        raise Refused("ruling-action-unknown")


# --- proposal ----------------------------------------------------------------------------------


def propose(world: World, event: Json) -> None:
    """Opens a proposal on a challenge (S 6, proposal; R 5 for the order of the checks)."""
    payload, who, height = event["payload"], event["sender"], event["height"]
    refuse_t0(world, refuse_stranger(world, who, height))
    challenge, record, key = find_challenge(world, payload)
    if payload.get("seed") != challenge["pin"]:
        raise Refused("ruling-seed-mismatch")
    if world.prd:
        refuse_decided_or_open(world, challenge)
    baseline = check_baseline(world, record, payload)
    params = object_or_empty(payload, "params")
    outcome = payload.get("outcome")
    if not isinstance(outcome, str) or outcome not in OUTCOMES:
        raise Refused("schema-invalid")
    if world.prd:
        check_display_mode(outcome, params)
    revert_to = check_params(world, record, outcome, params)
    overrides = world.options.get("arbiterOverrides") or {}
    pin = event["pin"]
    arbiters = overrides[pin] if pin in overrides else draw(world, challenge["pin"], height)
    world.proposals.append(
        {
            "pin": pin,
            "by": who,
            "height": height,
            "position": world.position,
            "expiry": height + world.params["voteWindowHours"] * world.blocks_per_hour,
            "challengePin": challenge["pin"],
            "outcome": outcome,
            "params": params,
            "revertTo": revert_to,
            "editor": params["editor"] if outcome in PERSONAL else None,
            "record": record,
            "entryKey": key,
            "baselineRev": baseline,
            "freeze": record["frozenAt"] if record["status"] == "frozen" else None,
            "arbiters": list(arbiters),
            "votes": [],
            "state": "open",
            "closedAt": None,
            "withoutEffect": None,  # why an effective ruling changed nothing
        }
    )


def find_challenge(world: World, payload: Json) -> tuple[Json, Json, str]:
    """Finds the challenge that is ruled on, the record of its target and the key of that."""
    pin = text(payload, "challengePin")
    for challenge in world.challenges:
        place = find_version(world, challenge["target"])
        if challenge["pin"] == pin and place is not None:  # R 18: deployed may have dropped it
            return challenge, place[0], place[2]
    raise Refused("ruling-challenge-missing")


def refuse_decided_or_open(world: World, challenge: Json) -> None:
    """One decision and one open proposal per challenge (F, fault 9; S 1, proposals)."""
    if deciding(world, challenge) is not None:
        raise Refused("challenge-decided")
    for proposal in world.proposals:
        if proposal["challengePin"] == challenge["pin"] and proposal["state"] == "open":
            raise Refused("proposal-open")


def check_baseline(world: World, record: Json, payload: Json) -> str | None:
    """Gives the baseline of a proposal: the entry's when it is frozen, else null (S 6)."""
    baseline = payload.get("baselineRev")
    if record["status"] != "frozen":
        if baseline is not None:
            raise Refused("baseline-rev-not-null")
        return None
    if not isinstance(baseline, str) or alias(world, baseline) != record["baselineRev"]:
        raise Refused("baseline-rev-mismatch")
    return alias(world, baseline)


def check_display_mode(outcome: str, params: Json) -> None:
    """Lets only rulings on a status set the display mode, only protect `reviewed` (S 6)."""
    mode = params.get("displayMode")
    if mode is None:
        return
    if mode not in ("lww", "reviewed"):
        raise Refused("schema-invalid")
    if outcome not in STATUS_OUTCOMES or (mode == "reviewed" and outcome != "protect"):
        raise Refused("display-mode-not-allowed")


def check_params(world: World, record: Json, outcome: str, params: Json) -> str | None:
    """Checks that the params of an outcome are complete (S 6); gives the version to revert to."""
    if outcome == "revert-to":
        wanted = params.get("revertTo")
        place = find_version(world, wanted) if isinstance(wanted, str) else None
        if place is None or place[0] is not record:
            raise Refused("ruling-params-missing")
        return place[1]
    if outcome in ("protect", "unprotect") and not isinstance(params.get("protected"), bool):
        raise Refused("ruling-params-missing")
    if outcome in PERSONAL and not (isinstance(params.get("editor"), str) and params["editor"]):
        raise Refused("ruling-params-missing")
    if outcome == "transfer-slug":
        for name in ("fromEntry", "toEntry"):
            if not (isinstance(params.get(name), str) and params[name]):
                raise Refused("ruling-params-missing")
        fault = transfer_fault(world, params["fromEntry"], params["toEntry"])
        if world.prd and fault is not None:
            raise Refused(fault)
    return None


def transfer_fault(world: World, source: str, target: str) -> str | None:
    """Gives the code of an impossible transfer (S 1, transfer-slug)."""
    if source not in world.keys:
        return "transfer-source-missing"
    if source == target:
        return "transfer-self"
    if source.partition(":")[0] != target.partition(":")[0]:
        return "transfer-cross-lang"
    return None


# --- vote --------------------------------------------------------------------------------------


def vote(world: World, event: Json) -> None:
    """Records the first vote of a sender; the quorum is of approvals by arbiters (S 6, vote)."""
    payload, who, height = event["payload"], event["sender"], event["height"]
    pin = text(payload, "proposalPin")
    found = [p for p in world.proposals if p["pin"] == pin and p["state"] == "open"]
    if not found:
        raise Refused("vote-on-closed-proposal")
    proposal = found[0]
    if who not in proposal["arbiters"]:  # R 7: the rights of the drawn are a snapshot
        refuse_t0(world, tier(world, who, height))
    if any(vote["by"] == who for vote in proposal["votes"]):
        raise Refused("duplicate-vote")
    approve = boolean(payload, "approve")
    proposal["votes"].append({"pin": event["pin"], "by": who, "approve": approve, "height": height})
    counted = approve and who in proposal["arbiters"]
    if counted and approve_count(proposal) >= world.params["rulingQuorum"]:
        take_effect(world, proposal, height)


def approve_count(proposal: Json) -> int:
    """Counts the approvals by arbiters of the snapshot (S 6, vote)."""
    approving = [vote["by"] for vote in proposal["votes"] if vote["approve"]]
    return len([who for who in approving if who in proposal["arbiters"]])


# --- outcomes ----------------------------------------------------------------------------------


def entry_of(world: World, proposal: Json) -> Json:
    """Gives the record a proposal is about: engines look the key up, `prd` keeps the record."""
    record: Json = proposal["record"] if world.prd else world.keys[proposal["entryKey"]]
    return record


def take_effect(world: World, proposal: Json, height: int) -> None:
    """Carries out an effective proposal (S 6, outcomes)."""
    proposal.update(state="effective", closedAt=height)
    record, outcome = entry_of(world, proposal), proposal["outcome"]
    if outcome in PERSONAL:
        amount = PERSONAL[outcome] * POINT
        change_reputation(
            world, proposal["editor"], amount, why=outcome, height=height, of=proposal["pin"]
        )
        if outcome == "ban-editor":
            world.banned.append(proposal["editor"])
    elif outcome == "dismiss":
        dismiss(world, proposal)
    elif outcome == "revert-to":
        revert_by_ruling(world, proposal, record, height)
    elif outcome == "transfer-slug":
        transfer(world, proposal)
    else:
        change_status(world, proposal, record)


def dismiss(world: World, proposal: Json) -> None:
    """Clears the challenged rev, wherever it stands now; read under `deployed` only (R 18)."""
    target = next(c["target"] for c in world.challenges if c["pin"] == proposal["challengePin"])
    for record in world.records:
        if target in record["marked"]:
            record["marked"].remove(target)


def may_release(world: World, proposal: Json, record: Json) -> bool:
    """Tells whether a proposal may end the freeze the record is in (S 1, proposals)."""
    return not world.prd or proposal["freeze"] == record["frozenAt"]


def revert_by_ruling(world: World, proposal: Json, record: Json, height: int) -> None:
    """Makes `<proposal>::rev`; under `prd` it also ends a freeze (F, fault 6)."""
    target = proposal["revertTo"]
    if target not in record["versions"]:  # deployed: another record took the key meanwhile
        return
    overturn(world, record, target, by=proposal["by"], height=height, event_pin=proposal["pin"])
    version = {
        **record["versions"][target],
        "author": proposal["by"],
        "parentRev": record["head"],
        "entryKey": proposal["entryKey"],
        "equivalentOf": proposal["pin"],
        "height": height,
    }
    add_version(world, record, proposal["pin"] + "::rev", version)
    if world.prd and record["status"] == "frozen" and may_release(world, proposal, record):
        record["status"] = "normal"
        end_freeze(world, record)


def change_status(world: World, proposal: Json, record: Json) -> None:
    """Protects, unprotects or unfreezes, and sets the display mode (S 6)."""
    outcome, mode = proposal["outcome"], proposal["params"].get("displayMode")
    frozen = record["status"] == "frozen"
    if frozen and not may_release(world, proposal, record):
        proposal["withoutEffect"] = "other-freeze"  # R 6
        return
    if outcome == "protect":
        record["status"] = "protected"
    elif outcome == "unprotect" or frozen:
        record["status"] = "normal"
    if frozen:
        end_freeze(world, record)
    if outcome == "unprotect":
        record["displayMode"] = "lww"
    elif mode == "lww" or (mode == "reviewed" and outcome == "protect"):  # R 38
        record["displayMode"] = mode
        record["passedHead"] = record["head"]


def transfer(world: World, proposal: Json) -> None:
    """Gives a second key to a record (S 1, transfer-slug; F, transfer-slug)."""
    source, target = proposal["params"]["fromEntry"], proposal["params"]["toEntry"]
    fault = transfer_fault(world, source, target)
    if fault in ("transfer-source-missing", "transfer-self") or (world.prd and fault):
        proposal["withoutEffect"] = fault
        return
    old = world.keys.get(target)
    world.keys[target] = world.keys[source]
    world.plates[source] = {"to": target.partition(":")[2]}
    world.plates.pop(target, None)
    if old is not None and not any(record is old for record in world.keys.values()):
        world.displaced.append({"key": target, "by": proposal["pin"], "record": old})


# --- what falls due ----------------------------------------------------------------------------


def close_due(world: World, height: int) -> None:
    """Closes what expired and settles what is due, by (due height, opening position) (S 6, S 8)."""
    if world.genesis is None:
        return
    week = OVERTURN_DAYS * world.blocks_per_day
    due = [(p["expiry"], p["position"], p) for p in world.proposals if p["state"] == "open"]
    due += [(p["expiry"], p["position"], p) for p in world.param_proposals if p["state"] == "open"]
    if world.prd:
        due += [
            (rev["height"] + week, rev["position"], rev)
            for rev in world.applied
            if rev["type"] in ("create", "edit") and not rev["overturned"] and not rev["settled"]
        ]
    for when, _, item in sorted((d for d in due if d[0] <= height), key=lambda d: d[:2]):
        if "outcome" in item:
            void(world, item, when)
        elif "changes" in item:
            item.update(state="voided", closedAt=when)
        else:
            item["settled"] = when
            credit = TENTH // 2 if item["low"] else TENTH
            change_reputation(
                world, item["editor"], credit, why="stood", height=when, of=item["pin"]
            )


def void(world: World, proposal: Json, when: int) -> None:
    """Voids a proposal that ran to expiry, and resets a frozen entry (S 6, expiry)."""
    proposal.update(state="voided", closedAt=when)
    record = entry_of(world, proposal)
    if record["status"] == "frozen" and may_release(world, proposal, record):
        if proposal["baselineRev"] is not None:
            record["head"] = proposal["baselineRev"]
        record["status"] = "normal"
        end_freeze(world, record)
    if world.prd:
        charge_absent(world, proposal, when)


def charge_absent(world: World, proposal: Json, when: int) -> None:
    """Charges each drawn arbiter who cast no vote, once per suspension (S 1, absence duty)."""
    days = world.params.get(OPTIONAL_PARAM, DEFAULT_SUSPENSION_DAYS)
    for who in proposal["arbiters"]:
        voted = any(vote["by"] == who for vote in proposal["votes"])
        if voted or out_of_pool(world, who, when):
            continue
        cost = ABSENCE_TENTHS * TENTH
        change_reputation(world, who, -cost, why="absence", height=when, of=proposal["pin"])
        world.pool_suspensions.append(
            {
                "editor": who,
                "until": when + days * world.blocks_per_day,
                "proposal": proposal["pin"],
            }
        )
