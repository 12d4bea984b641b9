"""What changed since the last walk: the decisions of an incremental walk, without any request.

Lists of the known indexers begin with what is new, so a walk may end at a page that says nothing
new. It may not end before it has come below a window of heights: a block that was replaced changes
pins that are known, and no height shows it, only their places (agentpedia spec §12). A list that
runs up is walked to its end. What is known inside the window and was not listed may be gone; only
the pin's own detail can tell, as an empty answer proves nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from refold.metaid.man.rows import is_mempool
from refold.metaid.pin import Row


class Place(NamedTuple):
    """Where a pin stands in the chain; `height` is None in the mempool, where `tx_index` is 0."""

    height: int | None
    tx_index: int


Known = Callable[[str], Place | None]
"""Gives the place that the caller has of a pin id, None for a pin that he does not have."""


class Move(msgspec.Struct, frozen=True, rename="camel"):
    """A pin that stands elsewhere than before: confirmed, mined again, or in the mempool again."""

    id: str
    before: Place
    after: Place


class Changes(msgspec.Struct, frozen=True, rename="camel"):
    """What a walk showed against what was known; each list in the order of the pages.

    `confirmed` came out of the mempool, `moved` stand at another place. `unlisted` is what was
    known in the window and not listed, sorted: perhaps gone.
    """

    new: tuple[str, ...]
    confirmed: tuple[Move, ...]
    moved: tuple[Move, ...]
    unlisted: tuple[str, ...]


class Overlap:
    """Compares pages with what is known, and says when there is no more to find.

    `floor` is the lowest height of the window: what is known below it is not compared. Feed every
    page in order; `changes` may be read at any time.

    A page ends the walk if all of it is below the window, or, with `reach`, if it comes below that
    height: lists run by time and not quite by height, so it should lie well below `floor`.
    """

    def __init__(self, known: Known, floor: int, *, reach: int = 0) -> None:
        self.floor = floor
        self._known = known
        self._reach = reach
        self._before: dict[str, Place | None] = {}
        self._after: dict[str, Place] = {}
        self._highest = -1

    def page(self, rows: Sequence[Row]) -> bool:
        """Take the rows of one page; tell whether the walk may end with it.

        It may when there are rows, each of a pin that is known, confirmed and at the place that is
        known; when they lie below the window; and when they show that the list runs down. What is
        known of a pin is asked when it is first listed, so the caller may take over what a page
        shows before the next one.
        """
        heights: list[int] = []
        settled = True
        for row in rows:
            place = place_of(row)
            if row.id not in self._before:
                self._before[row.id] = self._known(row.id)
                self._after[row.id] = place
            elif place.height is not None:  # a mempool copy never replaces a confirmed one
                self._after[row.id] = place
            settled = settled and place == self._before[row.id]
            heights.append(-1 if place.height is None else place.height)
        if not heights:
            return False
        runs_down = heights[0] > heights[-1] or max(heights) < self._highest
        self._highest = max(*heights, self._highest)
        is_below = max(heights) < self.floor or min(heights) < self._reach
        return settled and runs_down and min(heights) >= 0 and is_below

    def changes(self, held: Iterable[tuple[str, Place]] = ()) -> Changes:
        """Give what changed; `held` is all that was known in the window and in the mempool."""
        new: list[str] = []
        confirmed: list[Move] = []
        moved: list[Move] = []
        for pin_id, after in self._after.items():
            before = self._before[pin_id]
            if before is None:
                new.append(pin_id)
            elif before != after:
                is_confirmed = before.height is None and after.height is not None
                (confirmed if is_confirmed else moved).append(Move(pin_id, before, after))
        unlisted = sorted(
            pin_id
            for pin_id, place in held
            if pin_id not in self._after and (place.height is None or place.height >= self.floor)
        )
        return Changes(tuple(new), tuple(confirmed), tuple(moved), tuple(unlisted))


def place_of(row: Row) -> Place:
    """Give the place that a row names."""
    return Place(None, 0) if is_mempool(row) else Place(row.genesis_height, row.tx_index)
