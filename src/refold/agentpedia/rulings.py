"""Rulings: proposals with their arbiters, votes, outcomes, expiry (spec §6, PRD §4.5)."""

from collections.abc import Mapping
from heapq import heappush

from refold.agentpedia.editors import draw, tier_at
from refold.agentpedia.entries import key_of, resolve
from refold.agentpedia.event import Event, later
from refold.agentpedia.outcomes import close_by_expiry, take_effect, transfer_fault
from refold.agentpedia.reasons import Refusal, need, refuse
from refold.agentpedia.rules import OUTCOMES, RULING_DELTAS
from refold.agentpedia.state import Challenge, Due, Entry, Params, Proposal, State

DISPLAY_MODES = ("lww", "reviewed")


def apply_ruling(state: State, event: Event) -> Refusal | None:
    """Fold one ruling pin: a proposal or a vote."""
    action = event.payload.get("action")
    if action == "proposal":
        return _propose(state, event)
    if action == "vote":
        return _vote(state, event)
    return refuse("ruling-action-unknown", action=action)


def _propose(state: State, event: Event) -> Refusal | None:
    payload = event.payload
    tier = tier_at(state, event.sender, event.height)
    if tier is None:
        return refuse("unregistered", sender=event.sender)
    if tier == "T0" and state.rules.t0_reviews_only:
        return refuse("t0-review-only", tier=tier)
    named = payload.get("challengePin")
    if type(named) is not str:
        return need("challengePin", "a pin id")
    challenge = state.challenges.get(named)
    if challenge is None or resolve(state, challenge.target) is None:
        return refuse("ruling-challenge-missing", challengePin=named)
    if payload.get("seed") != named:
        return refuse("ruling-seed-mismatch", seed=payload.get("seed"), challengePin=named)
    version = state.versions[challenge.target]
    entry = state.records[version.record]
    baseline = payload.get("baselineRev")
    refusal = _judge_challenge(state, challenge) or _judge_baseline(state, entry, baseline)
    if refusal is not None:
        return refusal
    raw, outcome = payload.get("params"), payload.get("outcome")
    if raw is not None and not isinstance(raw, dict):
        return need("params", "an object or null")
    if type(outcome) is not str or outcome not in OUTCOMES:
        return need("outcome", "one of the eleven outcomes")
    params = _read_params(raw or {})
    refusal = _judge_display_mode(state, outcome, raw or {}) or _judge_params(
        state, outcome, params, version.record
    )
    if refusal is not None:
        return refusal
    _open(state, event, challenge, outcome, params)
    return None


def _judge_baseline(state: State, entry: Entry, baseline: object) -> Refusal | None:
    """Judge baselineRev: the head before the freeze on a frozen entry, else null (PRD §4.5)."""
    if entry.status != "frozen":
        if baseline is None:
            return None
        return refuse("baseline-rev-not-null", baselineRev=baseline, status=entry.status)
    version = resolve(state, baseline) if type(baseline) is str else None
    if (baseline if version is None else version.id) == entry.baseline_rev:
        return None
    return refuse("baseline-rev-mismatch", baselineRev=baseline, expected=entry.baseline_rev)


def _judge_challenge(state: State, challenge: Challenge) -> Refusal | None:
    if not state.rules.decided_challenges:
        return None
    if challenge.outcome is not None:
        return refuse("challenge-decided", outcome=challenge.outcome)
    if challenge.open_proposal is not None:
        return refuse("proposal-open", proposal=challenge.open_proposal)
    return None


def _read_params(raw: Mapping[str, object]) -> Params:
    """Read what has the right type; what has not counts as missing."""

    def text(member: str) -> str | None:
        value = raw.get(member)
        return value if type(value) is str else None

    protected = raw.get("protected")
    return Params(
        revert_to=text("revertTo"),
        from_entry=text("fromEntry"),
        to_entry=text("toEntry"),
        editor=text("editor"),
        protected=protected if type(protected) is bool else None,
        display_mode=text("displayMode"),
    )


def _judge_params(state: State, outcome: str, params: Params, record: int) -> Refusal | None:
    """Judge that the outcome has what it needs (spec §6)."""
    missing = ""
    if outcome == "revert-to":
        target = None if params.revert_to is None else resolve(state, params.revert_to)
        if target is None or target.record != record:
            missing = "revertTo"
    elif outcome in {"protect", "unprotect"}:
        missing = "protected" if params.protected is None else ""
    elif outcome == "transfer-slug":
        if not params.from_entry or not params.to_entry:
            missing = "fromEntry, toEntry"
    elif outcome in RULING_DELTAS and not params.editor:
        missing = "editor"
    if missing:
        return refuse("ruling-params-missing", outcome=outcome, missing=missing)
    if state.rules.checked_transfers and outcome == "transfer-slug":
        fault = transfer_fault(state, params)
        if fault:
            return refuse(fault, fromEntry=params.from_entry, toEntry=params.to_entry)
    return None


def _judge_display_mode(state: State, outcome: str, raw: Mapping[str, object]) -> Refusal | None:
    """Judge displayMode: with a ruling on status alone, `reviewed` only with protect (PRD §4.5)."""
    mode = raw.get("displayMode")
    if mode is None or not state.rules.display_modes:
        return None
    if mode not in DISPLAY_MODES:
        return need("params/displayMode", "lww, reviewed or null")
    if outcome == "protect" or (mode == "lww" and outcome in {"unprotect", "unfreeze"}):
        return None
    return refuse("display-mode-not-allowed", outcome=outcome, displayMode=mode)


def _open(state: State, event: Event, challenge: Challenge, outcome: str, params: Params) -> None:
    """Open a proposal: arbiters and voters' rights are those of this position (PRD §4.5)."""
    version = state.versions[challenge.target]
    entry = state.records[version.record]
    drawn = state.options.arbiter_overrides.get(event.pin)
    if drawn is None:
        drawn = draw(state, challenge.pin, event.height)
    expires_at = later(event.height, state.limits.vote_window)
    state.proposals[event.pin] = Proposal(
        pin=event.pin,
        sender=event.sender,
        challenge_pin=challenge.pin,
        outcome=outcome,
        params=params,
        record=version.record,
        entry_key=key_of(state, version),
        baseline_rev=entry.baseline_rev if entry.status == "frozen" else None,
        during_freeze=entry.frozen_at if entry.status == "frozen" else None,
        opened_at=event.height,
        expires_at=expires_at,
        arbiters=list(drawn),
    )
    state.touch("proposals", event.pin)
    state.keep("challenges", challenge.pin)
    challenge.open_proposal = event.pin
    heappush(state.due, Due(expires_at, state.seq, "proposal", event.pin))


def _vote(state: State, event: Event) -> Refusal | None:
    named = event.payload.get("proposalPin")
    if type(named) is not str:
        return need("proposalPin", "a pin id")
    proposal = state.proposals.get(named)
    if proposal is None or proposal.state != "open":
        return refuse(
            "vote-on-closed-proposal",
            proposalPin=named,
            state=None if proposal is None else proposal.state,
        )
    sender = event.sender
    drawn = sender in proposal.arbiters
    tier = None if drawn else tier_at(state, sender, event.height)
    if tier == "T0" and state.rules.t0_reviews_only:
        return refuse("t0-review-only", tier=tier)
    if sender in proposal.votes:
        return refuse("duplicate-vote", proposalPin=named)
    approve = event.payload.get("approve")
    if type(approve) is not bool:
        return need("approve", "true or false")
    state.touch("proposals", proposal.pin)
    proposal.votes[sender] = approve
    if approve and drawn:
        proposal.approve_count += 1
        if proposal.approve_count >= state.limits.quorum:
            take_effect(state, proposal, event.height)
    return None


def expire(state: State, due: Due) -> None:
    """Close a proposal whose window is over, unless it took effect in time."""
    proposal = state.proposals[due.ref]
    if proposal.state == "open":
        close_by_expiry(state, proposal)
