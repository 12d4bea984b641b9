"""The constitution: genesis, parameters, and the votes that change them (PRD §4.7)."""

from heapq import heappush
from typing import cast

from refold.agentpedia.editors import arbiter_pool, editor_named, tier_at
from refold.agentpedia.event import MAX_INTEGER, Event, integer, later
from refold.agentpedia.reasons import Refusal, need, refuse
from refold.agentpedia.rules import ALGO_VERSIONS, POC_WINDOW_MINUTES, TENTHS
from refold.agentpedia.schemas import schema
from refold.agentpedia.state import Constitution, Due, Limits, Options, ParamProposal, State


def _ranges() -> dict[str, tuple[int, int | None]]:
    """Read the ranges of the params from their one place, the schema."""
    rows = schema("constitution")["properties"]["params"]["properties"]
    return {
        name: (row.get("const", row.get("minimum")), row.get("const", row.get("maximum")))
        for name, row in rows.items()
    }


PARAM_RANGES = _ranges()
"""The constitution's params: the least value of each, and the largest if there is one (spec §3)."""
NOT_NEEDED = {"coldStartDays": 14, "arbiterSuspensionDays": 30}
"""Params a constitution may leave out: the deprecated one and the optional one, with defaults."""


def limits_of(params: dict[str, int], options: Options, genesis_height: int) -> Limits:
    """Work the parameters out in blocks and tenths (PRD §4.1: height is the only clock)."""

    def hours(name: str) -> int:
        return _capped(params[name] * options.blocks_per_hour)

    def days(name: str) -> int:
        return _capped(params.get(name, NOT_NEEDED.get(name, 0)) * options.blocks_per_day)

    return Limits(
        genesis=genesis_height,
        vote_window=hours("voteWindowHours"),
        param_window=hours("challengeWindowHours"),
        war_window=hours("revertWarWindowHours"),
        war_threshold=_capped(params["revertWarThreshold"] * TENTHS),
        pool_k=params["arbiterPoolK"],
        draw_n=params["arbiterDrawN"],
        quorum=params["rulingQuorum"],
        stake_sat=params["stakeAmountSat"],
        slug_daily=params["ratePerSlugDaily"],
        global_daily=params["rateGlobalDaily"],
        protect_tenths=_capped(params["thetaProtect"] * TENTHS),
        featured_tenths=_capped(params["thetaFeatured"] * TENTHS),
        featured_reviews=params["featuredMinReviews"],
        t0_blocks=hours("t0DurationHours"),
        t1_revs=params["t1MinValidRevs"],
        t2_blocks=days("t2MinDays"),
        t2_revs=params["t2MinValidRevs"],
        bootstrap_end=later(genesis_height, days("bootstrapWindowDays")),
        suspension=days("arbiterSuspensionDays"),
        poc_window=POC_WINDOW_MINUTES * options.blocks_per_hour // 60,
    )


def _capped(number: int) -> int:
    """Keep a number within what a view and a snapshot can carry; no chain reaches so far."""
    return max(-MAX_INTEGER, min(number, MAX_INTEGER))


def apply_constitution(state: State, event: Event) -> Refusal | None:
    """Fold one constitution: the genesis, or a revision of what it made."""
    if not state.constitutions and state.options.genesis_pin not in {None, event.pin}:
        return refuse("no-genesis", genesisPin=state.options.genesis_pin)
    revision = integer(event.payload.get("revision"))
    if revision is None:
        return need("revision", "an integer")
    if state.constitutions:
        return refuse("duplicate-genesis") if revision == 0 else _revise(state, event, revision)
    return _genesis(state, event) if revision == 0 else refuse("no-genesis", revision=revision)


def _genesis(state: State, event: Event) -> Refusal | None:
    founders = event.payload.get("founders")
    if not isinstance(founders, list) or not all(type(name) is str for name in founders):
        return need("founders", "an array of ids")
    params = _read_params(event.payload.get("params"))
    lacking = None if params is None else _lacking(params)
    if params is None or lacking:
        return need("params", f"integers for {lacking}" if lacking else "an object of integers")
    refusal = _judge_algorithms(state, event)
    if refusal is not None:
        return refusal
    state.founders = list(founders)
    _enact(state, event, 0, None, params)
    for editor in state.editors.values():  # named before the genesis
        state.keep("editors", editor.id)
        editor.reputation = state.options.editors_rep.get(editor.id, 0) * TENTHS
    for name in founders:
        editor = editor_named(state, name)
        state.keep("editors", name)
        editor.founder = True
        editor.registered_at = event.height
    return None


def _read_params(raw: object) -> dict[str, int] | None:
    """Read the known params; None when one of them is no integer."""
    if not isinstance(raw, dict):
        return None
    params: dict[str, int] = {}
    for name in PARAM_RANGES:
        value = raw.get(name)
        if value is None:
            continue
        number = integer(value)
        if number is None:
            return None
        params[name] = number
    return params


def _lacking(params: dict[str, int]) -> str:
    return ", ".join(n for n in PARAM_RANGES if n not in params and n not in NOT_NEEDED)


def _judge_algorithms(state: State, event: Event) -> Refusal | None:
    """Judge that this engine knows the algorithms of a constitution that is right in all else.

    It comes last, so that no stranger's pin can make the view call itself not authoritative.
    """
    versions = event.payload.get("algoVersions")
    if versions is None:
        return None
    if not isinstance(versions, dict):
        return need("algoVersions", "an object")
    for name, known in ALGO_VERSIONS.items():
        given = versions.get(name)
        if given is not None and type(given) is not str:
            return need(f"algoVersions/{name}", "an algorithm's name")
        if given is not None and given != known:
            if state.not_authoritative_from is None:
                state.not_authoritative_from = event.pin
            return refuse("algo-unknown", algorithm=name, unknown=given, known=known)
    return None


def _enact(
    state: State, event: Event, revision: int, proposal: str | None, params: dict[str, int]
) -> None:
    state.constitutions.append(
        Constitution(event.pin, revision, event.sender, event.height, proposal, params)
    )
    state.touched.everything = True
    state.limits = limits_of(params, state.options, state.constitutions[0].height)


def _revise(state: State, event: Event, revision: int) -> Refusal | None:
    payload = event.payload
    bound = state.rules.bound_constitution
    refusal = _judge_succession(state, event, revision) if bound else None
    if refusal is not None:
        return refusal
    named = payload.get("proposalPin")
    proposal = state.param_proposals.get(named) if type(named) is str else None
    if proposal is None or proposal.state != "effective":
        return refuse("constitution-without-effective-proposal", proposalPin=named)
    refusal = _judge_use(state, proposal) if bound else None
    if refusal is not None:
        return refusal
    params = _read_params(payload.get("params"))
    if params is None:
        return need("params", "an object of integers")
    refusal = _judge_changes(state, event, proposal) if bound else None
    refusal = refusal or _judge_algorithms(state, event)
    if refusal is not None:
        return refusal
    state.touch("param_proposals", proposal.pin)
    proposal.used_by = event.pin
    _enact(state, event, revision, proposal.pin, state.constitutions[-1].params | params)
    return None


def _judge_succession(state: State, event: Event, revision: int) -> Refusal | None:
    """Judge that a revision follows the current constitution and is its issuer's (spec §1)."""
    current = state.constitutions[-1]
    previous = event.payload.get("prevConstitution")
    if revision != current.revision + 1 or previous != current.pin:
        return refuse(
            "constitution-mismatch",
            revision=revision,
            prevConstitution=previous,
            current=current.pin,
            currentRevision=current.revision,
        )
    issuer = state.constitutions[0].sender
    if event.sender != issuer:
        return refuse("constitution-not-issuer", sender=event.sender, issuer=issuer)
    return None


def _judge_use(state: State, proposal: ParamProposal) -> Refusal | None:
    """Judge that a revision uses its proposal once, and while it is no older (fault 11)."""
    current = state.constitutions[-1]
    if proposal.used_by is not None:
        return refuse("param-proposal-used", usedBy=proposal.used_by)
    if proposal.target_constitution != current.pin:
        return refuse("param-target-stale", target=proposal.target_constitution, now=current.pin)
    return None


def _judge_changes(state: State, event: Event, proposal: ParamProposal) -> Refusal | None:
    """Judge that the params are the current ones changed exactly as proposed (fault 11)."""
    given = cast("dict[str, object]", event.payload["params"])
    wanted = state.constitutions[-1].params | proposal.changes
    wrong = sorted(n for n in given.keys() | wanted.keys() if given.get(n) != wanted.get(n))
    if wrong:
        return refuse("constitution-params-mismatch", params=wrong)
    return None


def apply_param_proposal(state: State, event: Event) -> Refusal | None:
    """Fold one param-proposal pin: a proposal or a vote."""
    kind = event.payload.get("kind")
    if kind == "proposal":
        return _propose(state, event)
    if kind == "vote":
        return _vote(state, event)
    return refuse("param-proposal-kind-unknown", kind=kind)


def _propose(state: State, event: Event) -> Refusal | None:
    tier = tier_at(state, event.sender, event.height)
    if tier is None:
        return refuse("unregistered", sender=event.sender)
    if tier == "T0" and state.rules.t0_reviews_only:
        return refuse("t0-review-only", tier=tier)
    changes = _read_changes(event.payload.get("changes"))
    if changes is None:
        if state.rules.bound_constitution:
            return refuse("param-changes-invalid", changes=event.payload.get("changes"))
        changes = {}
    target = event.payload.get("targetConstitution")
    voters = arbiter_pool(state, event.height) if state.rules.param_snapshot else None
    expires_at = later(event.height, state.limits.param_window)
    state.param_proposals[event.pin] = ParamProposal(
        pin=event.pin,
        sender=event.sender,
        target_constitution=target if type(target) is str else None,
        changes=changes,
        opened_at=event.height,
        expires_at=expires_at,
        needed=None if voters is None else _two_thirds(len(voters)),
        voters=voters,
    )
    state.touch("param_proposals", event.pin)
    heappush(state.due, Due(expires_at, state.seq, "param-proposal", event.pin))
    return None


def _two_thirds(seats: int) -> int:
    return -(-2 * seats // 3)


def _read_changes(raw: object) -> dict[str, int] | None:
    """Read distinct known params with values in range; None when it is anything else (spec §3)."""
    if not isinstance(raw, list) or not raw:
        return None
    changes: dict[str, int] = {}
    for item in raw:
        if not isinstance(item, dict) or set(item) != {"param", "value"}:
            return None
        name, value = item["param"], integer(item["value"])
        if type(name) is not str or name not in PARAM_RANGES or name in changes or value is None:
            return None
        low, high = PARAM_RANGES[name]
        if value < low or (high is not None and value > high):
            return None
        changes[name] = value
    return changes


def _vote(state: State, event: Event) -> Refusal | None:
    named = event.payload.get("proposalPin")
    if type(named) is not str:
        return need("proposalPin", "a pin id")
    proposal = state.param_proposals.get(named)
    if proposal is None or proposal.state != "open":
        return refuse(
            "param-vote-on-closed",
            proposalPin=named,
            state=None if proposal is None else proposal.state,
        )
    sender = event.sender
    snapshot = proposal.voters
    if snapshot is None:
        needed = _two_thirds(state.limits.pool_k)
        if tier_at(state, sender, event.height) != "T2" or sender in proposal.votes:
            return None  # the engines pass these over without a line (spec §1)
    else:
        needed = _two_thirds(len(snapshot))
        refusal = _judge_voter(state, event, proposal, snapshot)
        if refusal is not None:
            return refusal
    approve = event.payload.get("approve")
    if type(approve) is not bool:
        return need("approve", "true or false")
    state.touch("param_proposals", proposal.pin)
    proposal.votes[sender] = approve
    if approve:
        proposal.approve_count += 1
        if proposal.approve_count >= needed:
            proposal.state = "effective"
    return None


def _judge_voter(
    state: State, event: Event, proposal: ParamProposal, snapshot: list[str]
) -> Refusal | None:
    sender = event.sender
    if sender not in snapshot:
        if tier_at(state, sender, event.height) == "T0":
            return refuse("t0-review-only", tier="T0")
        return refuse("param-vote-outsider", sender=sender)
    if sender in proposal.votes:
        return refuse("duplicate-param-vote", proposalPin=proposal.pin)
    return None


def expire_params(state: State, due: Due) -> None:
    """Close a param-proposal whose window is over, unless it took effect in time."""
    proposal = state.param_proposals[due.ref]
    if proposal.state == "open":
        state.touch("param_proposals", due.ref)
        proposal.state = "voided"
