"""Reputation by signals: what earns it, what costs it, when it settles (spec §8). In tenths."""

from heapq import heappush

from refold.agentpedia.event import later
from refold.agentpedia.state import Credit, Due, Editor, State, Tier, Version

SETTLE_DAYS = 7
"""A rev earns its credit when nothing overturned it for a week, longer than any default window."""
SIGNAL_TENTHS = 1
"""A rev that stood, and every second valid review, earn a tenth."""
REVIEWS_PER_SIGNAL = 2
"""Reviews are cheaper to make than revs, so it takes two."""
HALVES = 2
"""A signal earned at T0 or T0+ is one half, later two; two halves make `SIGNAL_TENTHS` (PRD §6)."""
OVERTURNED_FACTOR = 2
"""An overturned rev costs twice what it would have earned."""
ABSENCE_TENTHS = -10
"""An arbiter's absence costs as much as a warning (PRD §6)."""


def await_credit(state: State, version: Version, tier: Tier) -> None:
    """Open the credit of a create or edit; it settles in a week unless it is overturned."""
    record = version.record
    state.keep("credits", record)
    credit = Credit(version.seq, version.author, weight_of(tier))
    state.credits.setdefault(record, {})[version.id] = credit
    due = later(version.height, SETTLE_DAYS * state.options.blocks_per_day)
    heappush(state.due, Due(due, version.seq, "signal", version.id, record))


def weight_of(tier: Tier) -> int:
    """Give the halves that a signal earned at this tier is worth."""
    return HALVES if tier in {"T1", "T2"} else 1


def earn(state: State, editor: Editor, halves: int) -> None:
    """Add a signal; whole ones become reputation."""
    state.touch("editors", editor.id)
    editor.half_signals += halves
    while editor.half_signals >= HALVES:
        editor.half_signals -= HALVES
        editor.reputation += SIGNAL_TENTHS


def settle(state: State, due: Due) -> None:
    """Pay the credit of a rev whose week is over, if nothing took it away."""
    state.keep("credits", due.record)
    unsettled = state.credits.get(due.record, {})
    credit = unsettled.pop(due.ref, None)
    if credit is None:
        return
    if not unsettled:
        del state.credits[due.record]
    earn(state, state.editors[credit.author], credit.halves)


def overturn(state: State, target: Version, by: str) -> None:
    """Take away the unsettled revs of others that came after the version returned to.

    What is settled costs nothing any more. The walk removes what it meets but for the reverter's
    own revs of the last week, and those the constitution's rate bounds.
    """
    state.keep("credits", target.record)
    unsettled = state.credits.get(target.record, {})
    kept: list[tuple[str, Credit]] = []
    while unsettled:
        name, credit = unsettled.popitem()
        if credit.seq <= target.seq:
            kept.append((name, credit))
            break
        if credit.author == by:
            kept.append((name, credit))
            continue
        cost = credit.halves * OVERTURNED_FACTOR * SIGNAL_TENTHS // HALVES
        state.touch("editors", credit.author)
        state.editors[credit.author].reputation -= cost
    unsettled.update(reversed(kept))
    if not unsettled:
        state.credits.pop(target.record, None)


def count_review(state: State, editor: Editor, tier: Tier) -> None:
    """Count a valid review; every second one is a signal."""
    state.touch("editors", editor.id)
    editor.valid_reviews += 1
    if editor.valid_reviews % REVIEWS_PER_SIGNAL == 0:
        earn(state, editor, weight_of(tier))
