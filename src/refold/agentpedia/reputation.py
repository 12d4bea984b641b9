"""Reputation by signals: what earns it, what costs it, when it settles (spec §8). In tenths."""

from heapq import heappush

from refold.agentpedia.event import later
from refold.agentpedia.state import Due, Editor, Entry, State, Tier, Version

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


def await_credit(state: State, entry: Entry, version: Version, tier: Tier) -> None:
    """Open the credit of a create or edit; it settles in a week unless it is overturned."""
    version.credit = weight_of(tier)
    entry.unsettled.append(version.id)
    due = later(version.height, SETTLE_DAYS * state.options.blocks_per_day)
    heappush(state.due, Due(due, version.seq, "signal", version.id))


def weight_of(tier: Tier) -> int:
    """Give the halves that a signal earned at this tier is worth."""
    return HALVES if tier in {"T1", "T2"} else 1


def earn(state: State, editor: Editor, halves: int) -> None:
    """Add a signal; whole ones become reputation."""
    state.touched.editors.add(editor.id)
    editor.half_signals += halves
    while editor.half_signals >= HALVES:
        editor.half_signals -= HALVES
        editor.reputation += SIGNAL_TENTHS


def settle(state: State, version_id: str) -> None:
    """Pay the credit of a rev whose week is over, if nothing took it away."""
    version = state.versions[version_id]
    if not version.credit:
        return
    entry = state.records[version.record]
    entry.settled += 1  # they settle in the order they were opened, so this one is the next
    if entry.settled * 2 > len(entry.unsettled):  # rarely enough to cost a constant a credit
        del entry.unsettled[: entry.settled]
        entry.settled = 0
    earn(state, state.editors[version.author], version.credit)
    version.credit = 0


def overturn(state: State, entry: Entry, target: Version, by: str) -> None:
    """Take away the unsettled revs of others that came after the version returned to.

    What is settled costs nothing any more. The walk removes what it meets but for the reverter's
    own revs of the last week, and those the constitution's rate bounds.
    """
    unsettled, own = entry.unsettled, []
    while len(unsettled) > entry.settled:
        version = state.versions[unsettled[-1]]
        if version.seq <= target.seq:
            break
        unsettled.pop()
        if version.author == by:
            own.append(version.id)
            continue
        cost = version.credit * OVERTURNED_FACTOR * SIGNAL_TENTHS // HALVES
        state.editors[version.author].reputation -= cost
        state.touched.editors.add(version.author)
        version.credit = 0
    unsettled.extend(reversed(own))


def count_review(state: State, editor: Editor, tier: Tier) -> None:
    """Count a valid review; every second one is a signal."""
    state.touched.editors.add(editor.id)
    editor.valid_reviews += 1
    if editor.valid_reviews % REVIEWS_PER_SIGNAL == 0:
        earn(state, editor, weight_of(tier))
