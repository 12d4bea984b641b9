"""Counts as they are shown: posts and distinct keys of a cell, those of young keys apart.

A key is young for a day after it was admitted. That is decided at each reading, from the posts that
young keys made, all of which are of the last day. Source: cold trials spec §4.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from refold.trials.indexes.counting import NAMED, OTHER, cells_of_review, cells_of_run
from refold.trials.indexes.rows import Cell, ReviewRow, RunRow

__all__ = ["Counted", "Tally", "Young", "named_of", "other_tally", "tally"]

Counted = Mapping[str, tuple[int, int]]
"""Posts and distinct keys by the id of a cell; cells without posts may be missing."""


class Tally(msgspec.Struct, frozen=True, rename="camel"):
    """Posts and distinct keys, and apart those of keys that were admitted less than a day ago."""

    posts: int
    keys: int
    young_posts: int
    young_keys: int


class Young:
    """What young keys posted, by scope and word, then by runtime: posts, and the keys."""

    def __init__(self, runs: Iterable[RunRow] = (), reviews: Iterable[ReviewRow] = ()) -> None:
        self._of: dict[tuple[str, str], dict[str, tuple[int, set[str]]]] = {}
        for run in runs:
            self._count(cells_of_run(run), run.public_key)
        latest = {(row.public_key, row.tool): row for row in sorted(reviews, key=lambda it: it.id)}
        for review in latest.values():
            self._count(cells_of_review(review), review.public_key)

    def of(self, cell: Cell) -> tuple[int, int]:
        """Give posts and keys in a cell."""
        if not self._of:
            return 0, 0
        posts, keys = self._of.get((cell.scope, cell.what), {}).get(cell.runtime, (0, ()))
        return posts, len(keys)

    def besides(self, scope: str, what: str, named: Sequence[str]) -> tuple[int, int]:
        """Give posts and keys of all runtimes but some."""
        rest = [
            found
            for runtime, found in self._of.get((scope, what), {}).items()
            if runtime and runtime not in named
        ]
        return sum(posts for posts, _ in rest), len(set[str]().union(*(keys for _, keys in rest)))

    def _count(self, cells: Iterable[Cell], public_key: str) -> None:
        for cell in cells:
            of = self._of.setdefault((cell.scope, cell.what), {})
            posts, keys = of.get(cell.runtime, (0, set()))
            keys.add(public_key)
            of[cell.runtime] = (posts + 1, keys)


def named_of(ranked: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Give the runtimes that are named, and whether there are others.

    `ranked` are the runtimes with the most posts, NAMED + 1 of them if there are so many.
    """
    named = tuple(each for each in ranked if each != OTHER)[:NAMED]
    return named, len(named) < len(ranked)


def tally(counted: Counted, young: Young, cell: Cell) -> Tally:
    """Give what a cell comes to."""
    return _apart(counted.get(cell.id, (0, 0)), young.of(cell))


def other_tally(
    counted: Counted, young: Young, total: Cell, named: Sequence[str], keys: int
) -> Tally:
    """Give what all runtimes but the named ones come to; `keys` are their distinct keys."""
    posts = counted.get(total.id, (0, 0))[0]
    for runtime in named:
        posts -= counted.get(Cell(total.scope, total.what, runtime).id, (0, 0))[0]
    return _apart((posts, keys), young.besides(total.scope, total.what, named))


def _apart(all_: tuple[int, int], young: tuple[int, int]) -> Tally:
    return Tally(all_[0] - young[0], all_[1] - young[1], *young)
