"""Edit wars: the weight of reverts, and the freeze when their sum is reached (PRD §4.8, §5.2)."""

from refold.agentpedia.editors import draw, root_of
from refold.agentpedia.event import Event
from refold.agentpedia.rules import WEIGHT_FIX, WEIGHT_PLAIN
from refold.agentpedia.state import Entry, State, Weight


def weigh_revert(state: State, entry: Entry, event: Event, key: str, head_before: str) -> None:
    """Count an applied revert in its entry's window; the sum alone freezes a normal entry (V25)."""
    limits = state.limits
    oldest = event.height - limits.war_window
    root = root_of(state, event.sender)
    claim = event.payload.get("claim")
    fix = isinstance(claim, dict) and claim.get("changeType") == "vandalism-fix"
    weights = entry.weights
    if state.rules.window_now:
        weights = [w for w in weights if w.height > oldest]
    repeated = fix and any(w.fix and w.root == root for w in weights)
    tenths = WEIGHT_FIX if fix and not repeated else WEIGHT_PLAIN
    weights = [w for w in weights if w.height > oldest]
    weights.append(Weight(event.height, tenths, root, fix))
    entry.weights = weights
    if entry.status == "normal" and sum(w.tenths for w in weights) >= limits.war_threshold:
        _freeze(state, entry, event, key, head_before)


def _freeze(state: State, entry: Entry, event: Event, key: str, head_before: str) -> None:
    entry.status = "frozen"
    entry.frozen_at = event.pin
    entry.baseline_rev = head_before
    overrides = state.options.frozen_arbiter_overrides.get(key)
    entry.writers = draw(state, event.pin, event.height) if overrides is None else list(overrides)
