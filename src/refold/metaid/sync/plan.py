"""Which walks a round takes over one path of one indexer. Pure.

Cursors of the indexers lead to older pins, never to new ones (facts: metaid §3.4). So what is new
is read from the front down, until below a window of heights that is compared again each time; a
walk that was broken off goes on where it was, and then the front is looked at once more.
"""

from typing import NamedTuple

import msgspec

from refold.metaid.store import Cursor, Gap

WINDOW = 12
"""Blocks up to the last known height whose pins are compared again in every round.

Two hours of blocks, twice the deepest reorganisation that we are to stand at once (6). At 2,000
pins a day they are 170 pins. What changed deeper shows as well, for a walk goes on as long as its
pages say something new.
"""
FULL_SECONDS = 7 * 86_400
"""Between two walks over the whole list, which find what was listed late, behind known pins: a
thousand requests a week for 100,000 pins."""
RETRY_SECONDS = 60
MAX_RETRY_SECONDS = 86_400
"""Before a pin that could not be read three times is asked for again, doubled each time, up to a
day: an indexer may not have the body and get it from its peers later."""
QUICK_TRIES = 3


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a round reads: window in blocks, times in seconds, rows a page, the chain of heights.

    `checks` is how many pins that were not listed are asked for one by one, a path and round,
    `authors` how many authors are verified in a round.
    """

    window: int = WINDOW
    full_seconds: int = FULL_SECONDS
    size: int = 100
    parallel: int = 4
    chain: str = "mvc"
    checks: int = 1_000
    authors: int = 500


class Leg(NamedTuple):
    """One walk: from a cursor ("": the front) down to a height (None: the end of the list).

    `began` is the height that the indexer was at when the walk began at the front: what it said,
    or else the highest one on its first page; None as long as that is not known.
    """

    cursor: str
    floor: int | None
    began: int | None

    @property
    def is_from_front(self) -> bool:
        """Whether the walk begins at the front of the list."""
        return not self.cursor


def legs_of(
    mark: Cursor | None, height: int | None, now: int, settings: Settings, *, full: bool
) -> list[Leg]:
    """Give the walks that bring a path up to date, in their order.

    `mark` is how far earlier rounds came, `height` the indexer's height now; `full` asks for the
    whole list.
    """
    if mark is not None and mark.cursor:
        # What is above was walked when it began; the front may have moved on since.
        front = _window(mark.began, height, settings)
        return [Leg(mark.cursor, mark.floor, mark.began), Leg("", front, height)]
    if mark is None or not mark.is_complete or full or _is_full_due(mark, now, settings):
        return [Leg("", None, height)]
    return [Leg("", _window(mark.height, height, settings), height)]


def _window(known: int | None, height: int | None, settings: Settings) -> int:
    """Give the lowest height of the window; an indexer that fell back is compared from there."""
    if known is None:
        return 0
    return max(0, min(known, known if height is None else height) - settings.window + 1)


def _is_full_due(mark: Cursor, now: int, settings: Settings) -> bool:
    return mark.full_at is None or now - mark.full_at >= settings.full_seconds


def under_way(mark: Cursor, leg: Leg, cursor: str) -> Cursor:
    """Give what is noted while a walk is under way: where it goes on."""
    return msgspec.structs.replace(mark, cursor=cursor, began=leg.began, floor=leg.floor)


def ended(mark: Cursor, leg: Leg, now: int) -> Cursor:
    """Give what is noted when a walk came to its end."""
    is_full = leg.floor is None
    return msgspec.structs.replace(
        mark,
        cursor="",
        height=mark.height if leg.began is None else leg.began,
        is_complete=mark.is_complete or is_full,
        began=None,
        floor=None,
        full_at=now if is_full else mark.full_at,
    )


def broken_off(mark: Cursor) -> Cursor:
    """Give what is noted when a walk can't go on where it was: the next one begins at the front."""
    return msgspec.structs.replace(mark, cursor="", began=None, floor=None)


def is_due(gap: Gap, now: int) -> bool:
    """Tell whether a pin that could not be read is to be asked for again."""
    if gap.tries <= QUICK_TRIES:
        return True
    doublings = min(gap.tries - QUICK_TRIES - 1, 20)
    wait: int = min(RETRY_SECONDS * 2**doublings, MAX_RETRY_SECONDS)
    return now - gap.last >= wait
