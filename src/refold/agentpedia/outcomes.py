"""What an effective ruling does, and what an expired one leaves behind (spec §6)."""

from refold.agentpedia.editors import editor_named
from refold.agentpedia.entries import end_freeze, entry_at, resolve, restore_version
from refold.agentpedia.event import later
from refold.agentpedia.reputation import ABSENCE_TENTHS, overturn
from refold.agentpedia.rules import RULING_DELTAS
from refold.agentpedia.state import Entry, Params, Proposal, State

CLEARING = ("dismiss", "confirm-goodfaith")
"""Outcomes that speak for the challenged version (spec §6)."""


def take_effect(state: State, proposal: Proposal, height: int) -> None:
    """Make a proposal effective: decide its challenge, then do what its outcome says."""
    proposal.state = "effective"
    _decide(state, proposal)
    outcome = proposal.outcome
    if outcome in RULING_DELTAS:
        _judge_editor(state, proposal)
    elif outcome == "transfer-slug":
        _transfer(state, proposal.params)
    elif outcome == "revert-to":
        _revert_to(state, proposal, height)
    elif outcome in {"protect", "unprotect", "unfreeze"}:
        _set_status(state, proposal)


def _decide(state: State, proposal: Proposal) -> None:
    """Settle the dispute: `deployed` only by dismiss and whatever else names the rev (fault 9)."""
    challenge = state.challenges[proposal.challenge_pin]
    version = state.versions[challenge.target]
    disputed = state.records[version.record].disputed
    state.touch("challenges", challenge.pin)
    state.touch("records", version.record)
    if state.rules.decided_challenges:
        challenge.outcome = proposal.outcome
        challenge.open_proposal = None
        if proposal.outcome not in CLEARING:
            state.keep("versions", version.id)
            version.condemned = True
        disputed[version.id] -= 1
        if not disputed[version.id]:
            del disputed[version.id]
    elif proposal.outcome == "dismiss":
        disputed.pop(version.id, None)


def _judge_editor(state: State, proposal: Proposal) -> None:
    """Personal rulings: reputation, and for a ban the registry. Slashing is honorary (PRD §8)."""
    editor = editor_named(state, proposal.params.editor or "")
    state.touch("editors", editor.id)
    editor.reputation += RULING_DELTAS[proposal.outcome]
    if proposal.outcome == "ban-editor":
        editor.banned = True


def _entry_of(state: State, proposal: Proposal) -> Entry:
    """Give the record a proposal acts on: under `deployed` whatever its key holds by now."""
    index = proposal.record
    if not state.rules.checked_transfers:
        index = state.keys[proposal.entry_key]
    state.touch("records", index)
    return state.records[index]


def _may_touch_freeze(state: State, entry: Entry, proposal: Proposal) -> bool:
    """Tell whether a proposal may end the freeze its entry is in (fault 16)."""
    return not state.rules.bound_freezes or proposal.during_freeze == entry.frozen_at


def _set_status(state: State, proposal: Proposal) -> None:
    entry = _entry_of(state, proposal)
    if entry.status == "frozen" and not _may_touch_freeze(state, entry, proposal):
        return
    outcome = proposal.outcome
    if outcome == "protect":
        end_freeze(state, entry, "protected")
    elif outcome == "unprotect" or entry.status == "frozen":
        end_freeze(state, entry, "normal")
    mode = proposal.params.display_mode
    if outcome == "protect" and mode == "reviewed":
        entry.display_mode = "reviewed"
        entry.passed = entry.head  # what stands at this moment counts as passed (spec §6)
    elif outcome == "unprotect" or mode == "lww":
        entry.display_mode = "lww"
        entry.passed = None


def _revert_to(state: State, proposal: Proposal, height: int) -> None:
    entry = _entry_of(state, proposal)
    named = proposal.params.revert_to
    target = None if named is None else resolve(state, named)
    if target is None or state.records[target.record] is not entry:
        return
    if state.rules.settled_signals:
        overturn(state, target, proposal.sender)
    restore_version(
        state,
        entry,
        target,
        version_id=f"{proposal.pin}::rev",
        made_by=proposal.pin,
        key=proposal.entry_key,
        author=proposal.sender,
        height=height,
    )
    if (
        entry.status == "frozen"
        and state.rules.bound_freezes
        and _may_touch_freeze(state, entry, proposal)
    ):
        end_freeze(state, entry, "normal")


def transfer_fault(state: State, params: Params) -> str:
    """Give the reason why a transfer can't be, "" when it can (spec §1)."""
    source, target = params.from_entry or "", params.to_entry or ""
    if source not in state.keys:
        return "transfer-source-missing"
    if source == target:
        return "transfer-self"
    if source.partition(":")[0] != target.partition(":")[0]:
        return "transfer-cross-lang"
    return ""


def _transfer(state: State, params: Params) -> None:
    """Let a second key name the source's record; what held that key is displaced (fault 15)."""
    source, target = params.from_entry or "", params.to_entry or ""
    if state.rules.checked_transfers and transfer_fault(state, params):
        return
    record, displaced = entry_at(state, source), entry_at(state, target)
    if record is None or source == target:
        return
    state.touch("records", state.keys[source])
    if displaced is not record:
        if displaced is not None:
            state.touch("records", state.keys[target])
            displaced.keys.remove(target)
        state.keep("keys", target)
        state.keys[target] = state.keys[source]
        record.keys.append(target)
    state.plates.pop(target, None)
    state.plates[source] = target.partition(":")[2]


def close_by_expiry(state: State, proposal: Proposal) -> None:
    """Void a proposal that ran out of time; a frozen entry goes back to its baseline (V14, V23)."""
    state.touch("proposals", proposal.pin)
    state.keep("challenges", proposal.challenge_pin)
    proposal.state = "voided"
    challenge = state.challenges[proposal.challenge_pin]
    challenge.open_proposal = None
    entry = _entry_of(state, proposal)
    if entry.status == "frozen" and _may_touch_freeze(state, entry, proposal):
        if proposal.baseline_rev is not None:
            entry.head = proposal.baseline_rev
        end_freeze(state, entry, "normal")
    if state.rules.absence_duty:
        _charge_absent(state, proposal)


def _charge_absent(state: State, proposal: Proposal) -> None:
    """Charge each drawn arbiter who cast no vote, once a suspension (PRD §6, fault 17)."""
    now = proposal.expires_at
    for name in proposal.arbiters:
        editor = state.editors.get(name)
        if editor is None or name in proposal.votes:  # None: injected, and nobody's id
            continue
        if now >= editor.pool_suspended_until:
            state.touch("editors", name)
            editor.reputation += ABSENCE_TENTHS
            editor.pool_suspended_until = later(now, state.limits.suspension)
