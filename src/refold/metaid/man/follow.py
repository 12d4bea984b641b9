"""An incremental walk: what is new at a path, and what is no longer as it was known.

    follow = Follow(man, path, store.place_of, floor=store.tip - WINDOW)
    for page in follow:
        store.add(page.pins)
    store.apply(follow.settle(store.places_from(follow.floor)))

The decisions are `overlap`'s. Pins that come late, listed behind known ones, this finds only
within the window; a whole `Walk` from time to time finds the others.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from refold.kernel.errors import RefoldError
from refold.metaid.man.bodies import Bodies, Missing
from refold.metaid.man.client import MAX_SIZE, ManClient
from refold.metaid.man.overlap import Changes, Known, Move, Overlap, Place, place_of
from refold.metaid.man.report import WalkReport
from refold.metaid.man.walk import Limits, Walk, WalkedPage
from refold.metaid.pin import Row

MAX_CHECKS = 1_000
"""Details asked for to learn what became of pins that were not listed; a deeper change than this
is for a whole walk."""


class Followed(msgspec.Struct, frozen=True, rename="camel"):
    """What an incremental walk found.

    `is_covered`: whether the walk came below its window, or to the end of the list; only then
    `changes.unlisted` says anything, and only then the details were asked: of these pins the
    indexer knows no more the `vanished`, has the `moved` at another place, and could not be asked
    about the `unchecked`. The others stand where they stood. A pin that vanished may come back.
    """

    changes: Changes
    is_covered: bool
    vanished: tuple[str, ...]
    moved: tuple[Move, ...]
    unchecked: tuple[Missing, ...]
    report: WalkReport


class Follow:
    """One incremental walk, to be iterated once and then settled.

    `known` gives the place that the caller has of a pin; `floor` is the lowest height whose pins
    are compared. `holds` tells which pins the caller has with their bodies, those known if not
    given.
    """

    def __init__(
        self,
        man: ManClient,
        path: str,
        known: Known,
        floor: int,
        *,
        bodies: Bodies | None = None,
        size: int = MAX_SIZE,
        holds: Callable[[Row], bool] | None = None,
        limits: Limits | None = None,
        heights: bool = True,
    ) -> None:
        self.floor = floor
        self._man = man
        self._known = known
        self._overlap = Overlap(known, floor)
        self._is_covered = False
        self._walk = Walk(
            man,
            path,
            bodies=bodies,
            size=size,
            holds=holds or (lambda row: known(row.id) is not None),
            limits=limits,
            heights=heights,
        )

    def __iter__(self) -> Iterator[WalkedPage]:
        for page in self._walk:
            rows = [row for row in page.answer.rows if row.path == self._walk.path]
            if self._overlap.page(rows) and not page.answer.broken:
                self._is_covered = True
                self._walk.stop()
            yield page

    def settle(self, held: Iterable[tuple[str, Place]]) -> Followed:
        """Say what changed; `held` are all known pins of the path in the window and the mempool.

        Asks for the details of those that were not listed.
        """
        report = self._walk.report()
        places = dict(held)
        changes = self._overlap.changes(places.items())
        vanished: list[str] = []
        moved: list[Move] = []
        unchecked: list[Missing] = []
        is_covered = self._is_covered or report.is_ended
        for number, pin_id in enumerate(changes.unlisted if is_covered else ()):
            before = places[pin_id]
            after = (
                self._checked(pin_id, before)
                if number < MAX_CHECKS
                else _unchecked(
                    pin_id, before, "check-limit", f"more than {MAX_CHECKS} pins were not listed"
                )
            )
            if isinstance(after, Missing):
                unchecked.append(after)
            elif after is None:
                vanished.append(pin_id)
            elif after != before:
                moved.append(Move(pin_id, before, after))
        return Followed(
            changes, is_covered, tuple(vanished), tuple(moved), tuple(unchecked), report
        )

    def _checked(self, pin_id: str, before: Place) -> Place | Missing | None:
        """Give where the indexer has a pin, None when it does not know it."""
        try:
            row = self._man.pin(pin_id)
        except RefoldError as error:
            return _unchecked(pin_id, before, error.code, error.message)
        return None if row is None else place_of(row)


def _unchecked(pin_id: str, before: Place, code: str, message: str) -> Missing:
    return Missing(pin_id, before.height, code, message)
