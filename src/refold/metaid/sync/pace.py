"""When a sync that goes on for ever takes its next round, and how long it waits. Pure.

A poll is two requests an indexer, for its height and its count of pins; lists are asked for only
when these say that there is something to find, or when the last look is too long ago.
"""

from collections import deque
from collections.abc import Mapping
from typing import Literal

import msgspec

from refold.metaid.sync.plan import is_due
from refold.metaid.sync.report import Report
from refold.metaid.sync.sources import Polled

DAY = 86_400

Why = Literal[
    "first", "unfinished", "answers-again", "height-fell", "count", "height", "waiting", "gaps",
    "authors", "daily",
]  # fmt: skip
"""Why a round is needed. `first`: none was taken yet. `unfinished`: the last one was not covered.
`answers-again`: an indexer does that did not. `height-fell`: an indexer went back. `count`: one
counts other pins than before. `height`: one that does not count has a new block. `waiting`: there
is a new block, and pins wait for one. `gaps`: pins are to be asked for again. `authors`: some are
left to verify. `daily`: the last round is a day ago, and neither heights nor counts show a block
that was replaced by one of the same height.
"""


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How often a sync looks, in seconds.

    It begins with `seconds` and waits twice as long after each look without news, up to
    `max_seconds`. `look_seconds` is the longest time between two rounds, `max_error_seconds` the
    longest wait after errors. `lists_a_day` limits the requests for lists in any 24 hours, None for
    no limit; a round that began is not broken off.
    """

    seconds: float = 30.0
    max_seconds: float = 300.0
    max_error_seconds: float = 1_800.0
    look_seconds: int = DAY
    lists_a_day: int | None = None


def why_round(
    last: Report | None, polled: Mapping[str, Polled], now: int, pace: Pace
) -> Why | None:
    """Tell why a round is needed, None when it is not."""
    if last is None:
        return "first"
    if not all(one.is_covered for one in last.indexers if one.is_answering):
        return "unfinished"
    for before in last.indexers:
        found = polled[before.indexer]
        if found.error is None and (why := _why_read(before.height, before.pins, found)):
            return why if before.is_answering else "answers-again"
        if last.waiting and found.height is not None and (before.height or 0) < found.height:
            return "waiting"
    if any(is_due(gap, now) for gap in last.gaps):
        return "gaps"
    if last.authors is not None and last.authors.left:
        return "authors"
    return "daily" if now - last.now >= pace.look_seconds else None


def _why_read(height: int | None, pins: int | None, found: Polled) -> Why | None:
    if height is not None and found.height is not None and found.height < height:
        return "height-fell"
    if found.pins is not None and pins is not None:
        return "count" if found.pins != pins else None
    # Without heights too, every look is at the list itself.
    return "height" if found.height is None or found.height != height else None


def pause_after(pace: Pace, quiet: int, failed: int) -> float:
    """Give the seconds to wait after so many looks in a row without news, or with errors."""
    if failed:
        return min(pace.seconds * 2.0 ** min(failed, 30), pace.max_error_seconds)
    return min(pace.seconds * 2.0 ** min(quiet, 30), pace.max_seconds)


def has_news(report: Report) -> bool:
    """Tell whether a round found anything: the next look may find more."""
    pins = report.pins
    return any((pins.new, pins.waiting_new, pins.confirmed, pins.moved, pins.waiting))


class Budget:
    """Counts requests for lists over 24 hours against a limit."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._spent: deque[tuple[int, int]] = deque()

    def spend(self, lists: int, now: int) -> None:
        """Count requests."""
        if self._limit is not None:
            self._spent.append((now, lists))

    def is_left(self, now: int) -> bool:
        """Tell whether there is any left."""
        if self._limit is None:
            return True
        while self._spent and now - self._spent[0][0] >= DAY:
            self._spent.popleft()
        return sum(lists for _, lists in self._spent) < self._limit
