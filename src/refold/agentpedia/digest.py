"""The view digest kept up with a growing fold: a block costs what it changed (spec §10).

The fold marks what each event touches; here only those records are encoded again. Two things
change without being touched, and are watched here: a tier that comes with time alone, and a
quality level that comes with the reputation of those who reviewed a head.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from heapq import heapify, heappop, heappush

from refold.agentpedia.fold import Fold
from refold.agentpedia.full import (
    Record,
    digest_line,
    digest_of_lines,
    fold_record,
    graves,
    quality_of,
    records,
    touched_records,
)
from refold.agentpedia.state import Editor, Limits, State, Touched


class LiveDigest:
    """The digest of a fold that goes on; it takes the fold's marks, so keep one for each fold."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._line_of: dict[tuple[str, str], bytes] = {}
        self._lines: list[bytes] = []
        self._buried = 0
        self._praised: dict[str, set[int]] = defaultdict(set)
        self._quality: dict[int, str] = {}
        self._ripening: list[tuple[int, str]] = []
        fold.state.touched = Touched()

    def at(self, tip: int) -> str:
        """Close what is due at `tip` and give the digest there: no event below it will come.

        Equal to `fold.view(tip).digest()`. Raises `UsageError` as `Fold.view` does.
        """
        self._fold.advance(tip)
        state = self._fold.view(tip).state
        touched, state.touched = state.touched, Touched(everything=False)
        if touched.everything:
            self._rebuild(state, tip)
        else:
            self._update(state, tip, touched)
        return digest_of_lines(self._lines)

    @property
    def line_count(self) -> int:
        """The number of lines, one a record of the full view."""
        return len(self._lines)

    def _rebuild(self, state: State, tip: int) -> None:
        self._line_of = {
            (record[0], record[1]): digest_line(record) for record in records(state, tip)
        }
        self._lines = sorted(self._line_of.values())
        self._buried = len(state.graveyard)
        self._praised.clear()
        for pin in state.reviews:
            self._note_praise(state, pin)
        self._quality = {
            index: quality_of(state, entry) for index, entry in enumerate(state.records)
        }
        self._ripening = [
            (height, editor.id)
            for editor in state.editors.values()
            if (height := ripens(editor, state.limits, tip)) is not None
        ]
        heapify(self._ripening)

    def _update(self, state: State, tip: int, touched: Touched) -> None:
        for pin in touched.reviews:
            self._note_praise(state, pin)
        while self._ripening and self._ripening[0][0] <= tip:
            touched.editors.add(heappop(self._ripening)[1])
        for name in touched.editors:
            height = ripens(state.editors[name], state.limits, tip)
            if height is not None:
                heappush(self._ripening, (height, name))
            for index in self._praised.get(name, ()):
                if quality_of(state, state.records[index]) != self._quality.get(index):
                    touched.records.add(index)
        for index in touched.records:
            self._quality[index] = quality_of(state, state.records[index])
        self._put(fold_record(state))
        for record in touched_records(state, tip, touched):
            self._put(record)
        for record in graves(state, self._buried):
            self._put(record)
        self._buried = len(state.graveyard)

    def _put(self, record: Record) -> None:
        """Put the line of a record in its place, and take out the one it had."""
        name, line = (record[0], record[1]), digest_line(record)
        old = self._line_of.get(name)
        if old == line:
            return
        if old is not None:
            del self._lines[bisect_left(self._lines, old)]
        insort(self._lines, line)
        self._line_of[name] = line

    def _note_praise(self, state: State, pin: str) -> None:
        """Remember whose reputation counts for the quality of which record."""
        review = state.reviews[pin]
        if review.by_t2:
            self._praised[review.sender].add(state.versions[review.target].record)


def ripens(editor: Editor, limits: Limits, height: int) -> int | None:
    """Give the next height above this one at which an editor's tier may change by itself."""
    registered = editor.registered_at
    if registered is None:
        return None
    moments = (
        editor.suspended_until,
        limits.bootstrap_end,
        registered + limits.t0_blocks,
        registered + limits.t2_blocks,
    )
    return min((moment for moment in moments if moment > height), default=None)
