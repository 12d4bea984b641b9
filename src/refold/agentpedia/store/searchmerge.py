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

from refold.agentpedia.store.searchblocks import (
    MAX_BLOCK,
    NUMBER_BITS,
    POSTING_BYTES,
    decode,
    encode,
    last_of,
    posting,
)
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
        self._heads: dict[str, bytes] = {}
        self._behind: dict[str, int] = {}  # postings of a term that stand in blocks
        self._blocks: list[_Row] = []

    def run(self, changes: Mapping[str, Change]) -> None:
        """Merge."""
        counts: dict[str, int] = {}
        for term, count, head in self._sql.terms(changes):
            counts[term] = count
            self._heads[term] = head
            self._behind[term] = count - len(head) // POSTING_BYTES
        into_heads = self._into_blocks(changes)
        rows: list[_Row] = []
        gone: list[str] = []
        for term, change in changes.items():
            count = counts.get(term, 0) + len(change.added) - len(change.removed)
            if count:
                head = self._heads.get(term, b"")
                if term in into_heads:
                    head = self._merged(term, head, into_heads[term], MAX_BLOCK // 2)
                rows.append((term, count, head))
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
                merged = self._merged(term, block, into_blocks[term, first], _FILLED)
                if merged:
                    self._blocks.append((term, first, merged))
                else:
                    emptied.append((term, first))
        self._sql.drop_blocks(emptied)
        return into_heads

    def _placed(self, changes: Mapping[str, Change]) -> dict[tuple[str, int | None], Change]:
        """Give the changes by the blocks into which they fall; None stands for the head."""
        placed: dict[tuple[str, int | None], Change] = {}
        sought: list[_Term] = []
        for term, change in changes.items():
            behind = self._behind.get(term, 0)
            head = self._heads.get(term)
            last = last_of(head) if head and behind else -1
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

    def _merged(self, term: str, block: bytes, change: Change, kept: int) -> bytes:
        """Give a block after a change; what it cannot hold goes into new ones, but so many."""
        added, removed = change
        merged = decode(block)
        if len(added) < _FEW and not removed:
            for item in added:
                insort(merged, item)
        else:
            postings = [item for item in merged if item not in removed] if removed else merged
            merged = array("Q", sorted((*postings, *added)))
        if len(merged) <= MAX_BLOCK:
            return encode(merged)
        for start in range(kept, len(merged), _FILLED):
            part = merged[start : start + _FILLED]
            self._blocks.append((term, part[0], encode(part)))
        return encode(merged[:kept])


def _place(
    placed: dict[tuple[str, int | None], Change],
    term: str,
    change: Change,
    where: Mapping[int, int],
) -> None:
    """Sort the postings of a change by the block that each falls into."""
    for at, items in enumerate(change):
        for item in items:
            block = term, where.get(item)
            into = placed.get(block)
            if into is None:
                into = placed[block] = Change([], set())
            if at:
                into.removed.add(item)
            else:
                into.added.append(item)
