"""Postings that come and go, merged into those that are stored.

A term keeps its heaviest postings in the head, beside the count; what does not fit stands behind it
in blocks. Only blocks are read and written into which a change falls.
"""

from array import array
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, MutableSequence
from functools import partial
from typing import NamedTuple

from refold.agentpedia.store.searchblocks import MAX_BLOCK, NUMBER_BITS, decode, encode, posting
from refold.agentpedia.store.searchsql import SearchSql, batches

__all__ = ["Changes", "merge"]

_TERMS = 2_000
"""Terms that are merged at a time."""
_SOUGHT = 10_000
"""Postings, or blocks, that one statement names."""
_FEW = 8
"""Postings that are put into a block one by one; with more of them sorting is quicker."""
_FILLED = MAX_BLOCK * 3 // 4
"""Postings of a new block: room is left for some more."""
_NONE = array("Q")

_Term = tuple[str, int]
_Row = tuple[str, int, bytes]


class Change(NamedTuple):
    """Postings of one term, or of one block, that come and that go."""

    added: MutableSequence[int]
    removed: set[int]


class Changes:
    """What documents change, term by term. A posting comes or goes once at most."""

    def __init__(self) -> None:
        self.added: defaultdict[str, array[int]] = defaultdict(partial(array, "Q"))
        self.removed: defaultdict[str, set[int]] = defaultdict(set)
        self.count = 0

    def put_in(self, number: int, weights: Iterable[_Term]) -> None:
        """Add postings of a document."""
        base = posting(0, number)
        for term, weight in weights:
            self.added[term].append(base - (weight << NUMBER_BITS))
            self.count += 1

    def take_out(self, number: int, weights: Iterable[_Term]) -> None:
        """Remove some."""
        for term, weight in weights:
            self.removed[term].add(posting(weight, number))
            self.count += 1


def merge(sql: SearchSql, changes: Changes) -> None:
    """Write changes."""
    for part in batches(sorted({*changes.added, *changes.removed}), _TERMS):
        _Merge(sql).run(
            {
                name: Change(changes.added.get(name, _NONE), changes.removed.get(name, set()))
                for name in part
            }
        )


class _Merge:
    """The changes of some terms on their way into the tables."""

    def __init__(self, sql: SearchSql) -> None:
        self._sql = sql
        self._heads: dict[str, array[int]] = {}
        self._behind: dict[str, int] = {}  # postings of a term that stand in blocks
        self._blocks: list[_Row] = []

    def run(self, changes: Mapping[str, Change]) -> None:
        """Merge."""
        counts: dict[str, int] = {}
        for term, count, head in self._sql.terms(changes):
            counts[term] = count
            self._heads[term] = decode(head)
            self._behind[term] = count - len(self._heads[term])
        into_heads = self._into_blocks(changes)
        rows: list[_Row] = []
        gone: list[str] = []
        for term, change in changes.items():
            count = counts.get(term, 0) + len(change.added) - len(change.removed)
            if count:
                head = _merged(self._heads.get(term, _NONE), into_heads.get(term))
                if len(head) > MAX_BLOCK:
                    head = self._split(term, head, MAX_BLOCK // 2)
                rows.append((term, count, encode(head)))
            else:
                gone.append(term)
        self._sql.put_terms(rows)
        self._sql.put_blocks(self._blocks)
        self._sql.drop_terms(gone)

    def _into_blocks(self, changes: Mapping[str, Change]) -> dict[str, Change]:
        """Merge what falls into blocks; give the rest, which belongs into the heads."""
        into_heads: dict[str, Change] = {}
        into_blocks: dict[_Term, Change] = {}
        for (term, first), change in self._placed(changes).items():
            if first is None:
                into_heads[term] = change
            else:
                into_blocks[term, first] = change
        emptied: list[_Term] = []
        for names in batches(into_blocks, _SOUGHT):
            for term, first, block in self._sql.read(names):
                merged = _merged(decode(block), into_blocks[term, first])
                if not merged:
                    emptied.append((term, first))
                    continue
                if len(merged) > MAX_BLOCK:
                    merged = self._split(term, merged, _FILLED)
                self._blocks.append((term, first, encode(merged)))
        self._sql.drop_blocks(emptied)
        return into_heads

    def _placed(self, changes: Mapping[str, Change]) -> dict[tuple[str, int | None], Change]:
        """Give the changes by the blocks into which they fall; None stands for the head."""
        placed: dict[tuple[str, int | None], Change] = {}
        sought: list[_Term] = []
        for term, change in changes.items():
            behind = self._behind.get(term, 0)
            head = self._heads.get(term)
            last = head[-1] if head else -1
            far = [p for p in (*change.added, *change.removed) if p > last] if behind else []
            if len(far) * _FILLED > behind:  # to read where all blocks begin is less
                firsts = self._sql.firsts(term)
                where = {p: firsts[at - 1] for p in far if (at := bisect_right(firsts, p))}
                _place(placed, term, change, where)
            elif far:
                sought += ((term, p) for p in far)
            else:
                placed[term, None] = change
        found: dict[str, dict[int, int]] = {}
        for wanted in batches(sought, _SOUGHT):
            for term, item, first in self._sql.seek(wanted):
                of_term = found.setdefault(term, {})
                if first is not None:
                    of_term[item] = first
        for term, where in found.items():
            _place(placed, term, changes[term], where)
        return placed

    def _split(self, term: str, postings: "array[int]", kept: int) -> "array[int]":
        """Give the first of the postings; make blocks of the others."""
        for start in range(kept, len(postings), _FILLED):
            part = postings[start : start + _FILLED]
            self._blocks.append((term, part[0], encode(part)))
        return postings[:kept]


def _place(
    placed: dict[tuple[str, int | None], Change],
    term: str,
    change: Change,
    where: Mapping[int, int],
) -> None:
    """Sort the postings of a change by the block that each falls into."""
    for item in change.added:
        placed.setdefault((term, where.get(item)), Change([], set())).added.append(item)
    for item in change.removed:
        placed.setdefault((term, where.get(item)), Change([], set())).removed.add(item)


def _merged(postings: "array[int]", change: Change | None) -> "array[int]":
    """Give the postings after a change, in their order."""
    if change is None:
        return postings
    added, removed = change
    if len(added) < _FEW and not removed:
        merged = postings[:]
        for item in added:
            insort(merged, item)
        return merged
    kept = [item for item in postings if item not in removed] if removed else postings
    return array("Q", sorted((*kept, *added)))
