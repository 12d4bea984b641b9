"""Editors: tiers, the pool of arbiters, registration, suspension (spec §4)."""

from hashlib import sha256

from refold.agentpedia.event import Event, integer, later
from refold.agentpedia.reasons import Refusal, need, refuse
from refold.agentpedia.rules import ENDORSEMENTS, ENDORSEMENTS_BOOTSTRAP, TENTHS
from refold.agentpedia.state import Case, Editor, Limits, Register, StakeState, State, Tier


def tier_of(editor: Editor, limits: Limits, height: int) -> Tier | None:
    """Give the tier of an editor at a height, None for one who is not registered then (spec §4)."""
    registered = editor.registered_at
    if registered is None or editor.revoked or editor.banned or height < editor.suspended_until:
        return None
    if editor.founder and height < limits.bootstrap_end:
        return "T2"
    age = height - registered
    if age >= limits.t2_blocks and editor.valid_revs >= limits.t2_revs:
        return "T2"
    if age < limits.t0_blocks:
        return "T0"
    return "T1" if editor.valid_revs >= limits.t1_revs else "T0+"


def tier_at(state: State, name: str, height: int) -> Tier | None:
    """Give the tier of whoever bears this id, None for a stranger."""
    editor = state.editors.get(name)
    return None if editor is None else tier_of(editor, state.limits, height)


def editor_named(state: State, name: str) -> Editor:
    """Give the editor of this id, listing it when it is new."""
    editor = state.editors.get(name)
    if editor is None:
        scenario = state.options.editors_rep if state.constitutions else {}
        editor = state.editors[name] = Editor(name, scenario.get(name, 0) * TENTHS)
        state.touched.editors.add(name)  # added, and so not to be copied
    return editor


def root_of(state: State, name: str) -> str:
    """Give the cluster root that counters go to; the id itself without an alias (spec §4)."""
    return state.roots.get(name, name)


def same_cluster(state: State, one: str, other: str) -> bool:
    """Tell whether two ids are one controller for counters and independence."""
    return one == other or root_of(state, one) == root_of(state, other)


def arbiter_pool(state: State, height: int) -> list[str]:
    """Give those who may be drawn as arbiters at a height (spec §1).

    `deployed`: every T2 editor. `prd`: T2 editors not suspended from the pool, the first
    `arbiterPoolK` by reputation, ties by id.
    """
    limits = state.limits
    members = [e for e in state.editors.values() if tier_of(e, limits, height) == "T2"]
    if state.rules.top_pool:
        members = [e for e in members if height >= e.pool_suspended_until]
        members.sort(key=lambda e: (-e.reputation, e.id))
        del members[max(limits.pool_k, 0) :]
    return [e.id for e in members]


def draw(state: State, seed: str, height: int) -> list[str]:
    """Draw arbiters from the pool, in draw order: arbiter-draw-v1 (spec §6).

    The key of an editor is the first eight bytes of sha256(seed + id); the lowest keys join.
    """
    pool = arbiter_pool(state, height)
    pool.sort(key=lambda name: (sha256((seed + name).encode()).digest()[:8], name))
    return pool[: max(state.limits.draw_n, 0)]


def stake_of(state: State, register: str) -> StakeState:
    """Give what is known of a register's stake; `declared` where nobody looks it up (spec §4)."""
    facts = state.options.stake_facts if state.rules.stake_facts else None
    return "declared" if facts is None else facts.get(register, "unavailable")


def stake_counts(state: State, register: str) -> bool:
    """Tell whether a register's stake is verified, or as good as that (spec §4)."""
    return stake_of(state, register) in {"verified", "declared"}


def apply_editor(state: State, event: Event) -> Refusal | None:
    """Fold one editor pin; its `editor` is listed even when the pin is refused (spec §3)."""
    name = event.payload.get("editor")
    editor = editor_named(state, name) if type(name) is str else None
    action = event.payload.get("action")
    rule = _ACTIONS.get(action) if type(action) is str else None
    if rule is None:
        return refuse("editor-action-unknown", action=action)
    if editor is None:
        return need("editor", "an editor id")
    return rule(state, event, editor)


def _challenge(state: State, event: Event, editor: Editor) -> Refusal | None:
    tier = tier_at(state, event.sender, event.height)
    if tier is None:
        return refuse("unregistered", sender=event.sender)
    if tier == "T0" and state.rules.t0_reviews_only:
        return refuse("t0-review-only", tier=tier)
    state.touch("cases", event.pin)
    state.cases[event.pin] = Case(event.pin, editor.id, event.sender, event.height, state.seq)
    return None


def _poc_response(state: State, event: Event, editor: Editor) -> Refusal | None:
    payload = event.payload
    named = payload.get("challengePin")
    if type(named) is not str:
        return need("challengePin", "a pin id")
    case = state.cases.get(named)
    if case is None or case.editor != editor.id or event.sender != editor.id:
        return refuse(
            "poc-challenge-mismatch",
            sender=event.sender,
            editor=editor.id,
            challenged=None if case is None else case.editor,
        )
    waited = event.height - case.height
    if waited > state.limits.poc_window:
        return refuse("poc-window-exceeded", blocks=waited, window=state.limits.poc_window)
    response = payload.get("responsePin")
    if type(response) is not str:
        return need("responsePin", "a pin id")
    review = state.reviews.get(response)
    if review is None or review.sender != editor.id:
        return refuse("poc-response-missing", responsePin=response)
    if state.rules.bound_registration and review.seq < case.seq:
        return refuse("poc-review-too-early", review=review.pin, challenge=case.pin)
    state.touch("cases", case.pin)
    case.response_pins[response] = None
    return None


def _register(state: State, event: Event, editor: Editor) -> Refusal | None:
    payload = event.payload
    named = payload.get("challengePin")
    if type(named) is not str:
        return need("challengePin", "a pin id")
    case = state.cases.get(named)
    own = case is not None and case.editor == editor.id == event.sender
    accepted = case is not None and own and bool(case.response_pins)
    response = payload.get("responsePin")
    if case is not None and accepted and state.rules.bound_registration:
        if type(response) is not str:
            return need("responsePin", "a pin id")
        accepted = response in case.response_pins
    if not accepted:
        return refuse(
            "register-invalid",
            sender=event.sender,
            editor=editor.id,
            responsePin=response,
            accepted=[] if case is None else list(case.response_pins),
        )
    stake = payload.get("stake")
    amount = integer(stake.get("amountSat")) if isinstance(stake, dict) else None
    if not isinstance(stake, dict) or amount is None:
        return need("stake", "an object with a whole amountSat")
    if amount < state.limits.stake_sat:
        return refuse("stake-insufficient", amountSat=amount, stakeAmountSat=state.limits.stake_sat)
    txid = stake.get("txid")
    if stake_of(state, event.pin) == "mismatch":
        return refuse("stake-mismatch", txid=txid, amountSat=amount)
    if state.rules.bound_registration:
        if type(txid) is not str:
            return need("stake", "an object with a txid")
        owner = state.stakes.get(txid, editor.id)
        if owner != editor.id:
            return refuse("stake-reused", txid=txid, owner=owner)
        if stake_counts(state, event.pin):  # else whoever names it first could block its owner
            state.stakes[txid] = owner
    txid = txid if type(txid) is str else None
    state.registers[event.pin] = Register(event.pin, editor.id, event.height, txid, amount)
    state.touch("registers", event.pin)
    state.touch("editors", editor.id)
    editor.registers.append(event.pin)
    return None


def _endorse(state: State, event: Event, editor: Editor) -> Refusal | None:
    payload = event.payload
    sender = event.sender
    if tier_at(state, sender, event.height) != "T2":
        return refuse("endorser-not-t2", tier=tier_at(state, sender, event.height))
    named = payload.get("registerPin")
    register = state.registers.get(named) if type(named) is str else None
    if register is None or register.editor != editor.id:
        if not editor.registers:
            return refuse("endorse-no-register", registerPin=named)
        register = state.registers[editor.registers[0]]
    if sender == editor.id:
        return refuse("self-endorse", editor=editor.id)
    heard = register.endorsers if state.rules.bound_registration else editor.endorsed_by
    if sender in heard:
        return refuse("duplicate-endorse", register=register.pin)
    state.touch("registers", register.pin)
    state.touch("editors", editor.id)
    register.endorsers.append(sender)
    editor.endorsed_by.append(sender)
    limits = state.limits
    needed = ENDORSEMENTS_BOOTSTRAP if event.height < limits.bootstrap_end else ENDORSEMENTS
    enough = len(heard) >= needed and stake_counts(state, register.pin)
    if enough and editor.registered_at is None:
        editor.registered_at = register.height
    return None


def _suspend(state: State, event: Event, editor: Editor) -> Refusal | None:
    if not _sanctioned(state, event, editor):
        return refuse("suspend-unauthorized", rulingPin=event.payload.get("rulingPin"))
    state.touch("editors", editor.id)
    editor.suspended_until = later(event.height, state.limits.suspension)
    return None


def _revoke(state: State, event: Event, editor: Editor) -> Refusal | None:
    if not _sanctioned(state, event, editor):
        return refuse("revoke-unauthorized", rulingPin=event.payload.get("rulingPin"))
    state.touch("editors", editor.id)
    editor.revoked = True
    return None


def _sanctioned(state: State, event: Event, editor: Editor) -> bool:
    named = event.payload.get("rulingPin")
    proposal = state.proposals.get(named) if type(named) is str else None
    if proposal is None or proposal.state != "effective":
        return False
    if state.rules.bound_sanctions:
        return (
            event.sender in proposal.arbiters
            and proposal.outcome in {"ban-editor", "slash-stake-full", "slash-stake-half"}
            and proposal.params.editor == editor.id
        )
    return tier_at(state, event.sender, event.height) == "T2"


_ACTIONS = {
    "challenge": _challenge,
    "poc-response": _poc_response,
    "register": _register,
    "endorse": _endorse,
    "suspend": _suspend,
    "revoke": _revoke,
}
