"""What became of pins, added up; and who disagrees. Pure."""

from collections.abc import Iterable, Mapping

from refold.metaid.man.overlap import Place
from refold.metaid.store import NOWHERE, Standing, Written
from refold.metaid.sync.report import MAX_NAMED, Disagreement, Tally


def count(tally: Tally, written: Iterable[Written]) -> None:
    """Add what became of pins."""
    for word in written:
        if word.outcome == "refused":
            tally.refused += 1
        elif word.outcome == "amended":
            tally.amended += 1
        elif word.before != word.after:
            _count_move(tally, word.before, word.after)


def _count_move(tally: Tally, before: Place | None, after: Place | None) -> None:
    if before is None:
        if after == NOWHERE:
            tally.waiting_new += 1
        else:
            tally.new += 1
        return
    if after is None:
        tally.vanished += 1
    elif before.height is None:
        tally.confirmed += 1
    elif after.height is None:
        tally.waiting += 1
    else:
        tally.moved += 1
    if before.height is not None:
        heights = [place.height for place in (before, after) if place and place.height is not None]
        lowest = min(heights)
        tally.lowest = lowest if tally.lowest is None else min(tally.lowest, lowest)


class Disagreements:
    """Collects what indexers say that is not done, each once."""

    def __init__(self) -> None:
        self._met: dict[tuple[str, str], Disagreement] = {}
        self._more = 0

    def __len__(self) -> int:
        return len(self._met) + self._more

    def listed(self) -> tuple[Disagreement, ...]:
        """Give the first `MAX_NAMED`, by pin and indexer."""
        return tuple(self._met[key] for key in sorted(self._met))

    def note(
        self,
        indexer: str,
        pin_id: str,
        standing: Standing,
        *,
        path: str,
        about: tuple[str, ...],
        said: Place | None,
    ) -> None:
        """Note one."""
        known = self._met.get((pin_id, indexer))
        if known is None and len(self._met) >= MAX_NAMED:
            self._more += 1
            return
        told = dict.fromkeys((*(known.about if known else ()), *about))
        against = standing.placed_by if "place" in told or "unlisted" in told else standing.source
        self._met[pin_id, indexer] = Disagreement(
            pin_id, path, indexer, against, tuple(told), said, standing.place
        )

    def words(
        self,
        indexer: str,
        path: str,
        written: Iterable[Written],
        said: Mapping[str, Place],
        standings: Mapping[str, Standing],
    ) -> None:
        """Note those among what became of copies and of words on places.

        `standings` are as they were before, or after.
        """
        for word in written:
            standing = standings.get(word.id)
            place = said.get(word.id)
            about = word.differs if word.outcome == "conflict" else ()
            if place is not None and place.height is not None and word.after != place:
                about = ("place", *about)
            if about and standing is not None:
                self.note(indexer, word.id, standing, path=path, about=about, said=place)
