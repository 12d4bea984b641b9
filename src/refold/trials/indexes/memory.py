"""Rows of the indexes in memory: what a log comes to, folded from scratch."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from refold.trials.indexes.rows import (
    Cell,
    Entry,
    PostRow,
    ReviewRow,
    Row,
    RunRow,
    ServiceRow,
    TrialRow,
)

__all__ = ["MemoryState"]


class MemoryState:
    """A `State`. Whoever folds tells every message to `heard` first, ordinary ones too.

    `cells` holds (ranked scope or None, posts, keys) by the id of a cell, `marks` posts by cell and
    key.
    """

    def __init__(self) -> None:
        self.posts: dict[int, PostRow] = {}
        self.trials: dict[int, TrialRow] = {}
        self.runs: dict[int, RunRow] = {}
        self.standing: dict[int, ReviewRow] = {}
        self.services: dict[str, ServiceRow] = {}
        self.replies: set[tuple[str, int]] = set()
        self.cells: dict[str, tuple[str | None, int, int]] = {}
        self.marks: dict[tuple[str, str], int] = {}
        self._keys: dict[int, str] = {}
        self._runs_on: dict[int, list[int]] = defaultdict(list)
        self._runs_of: dict[tuple[int, str], list[int]] = defaultdict(list)
        self._answers: dict[int, list[int]] = defaultdict(list)
        self._reviews: dict[tuple[str, str], list[int]] = defaultdict(list)

    def heard(self, entry: Entry) -> None:
        """Remember whose message it is."""
        self._keys[entry.id] = entry.public_key

    def key_of(self, message: int) -> str:
        """Give the key of a message, "" if there is none."""
        return self._keys.get(message, "")

    def post(self, id_: int) -> PostRow | None:
        """Give a format post."""
        return self.posts.get(id_)

    def trial(self, id_: int) -> TrialRow | None:
        """Give a trial."""
        return self.trials.get(id_)

    def run(self, id_: int) -> RunRow | None:
        """Give a run."""
        return self.runs.get(id_)

    def next_run(self, trial: int, public_key: str, after: int) -> RunRow | None:
        """Give the first run of a key on a trial whose id is larger than one."""
        ids = self._runs_of.get((trial, public_key), [])
        place = bisect_right(ids, after)
        return self.runs[ids[place]] if place < len(ids) else None

    def owing(self, trial: int, public_key: str) -> list[RunRow]:
        """Give the runs of a key on a trial whose recheck is owed."""
        return [run for run in self._of(trial, public_key) if run.owes]

    def rechecked_by(self, run: RunRow) -> list[RunRow]:
        """Give the runs whose recheck a run completed."""
        return [each for each in self._of(run.trial, run.public_key) if each.recheck == run.id]

    def runs_on(self, trial: int) -> list[RunRow]:
        """Give all runs on a trial."""
        return [self.runs[each] for each in self._runs_on.get(trial, ())]

    def last_disposition(self, run: int) -> PostRow | None:
        """Give the latest disposition of a run that stands."""
        rows = (self.posts[each] for each in reversed(self._answers.get(run, [])))
        return next((row for row in rows if row.said is not None), None)

    def last_review(self, public_key: str, tool: str) -> ReviewRow | None:
        """Give the latest review of a tool by a key that stands."""
        ids = self._reviews.get((public_key, tool))
        return self.standing[ids[-1]] if ids else None

    def review(self, id_: int) -> ReviewRow | None:
        """Give a review that stands."""
        return self.standing.get(id_)

    def put(self, row: Row) -> None:
        """Keep a row, in place of the one that has its id."""
        if isinstance(row, PostRow):
            if row.run and row.id not in self.posts:
                self._answers[row.run].append(row.id)
            self.posts[row.id] = row
        elif isinstance(row, TrialRow):
            self.trials[row.id] = row
        elif isinstance(row, RunRow):
            if row.id not in self.runs:
                self._runs_on[row.trial].append(row.id)
                self._runs_of[row.trial, row.public_key].append(row.id)
            self.runs[row.id] = row
        else:
            self._reviews[row.public_key, row.tool].append(row.id)
            self.standing[row.id] = row

    def drop_review(self, id_: int) -> None:
        """Forget a review."""
        row = self.standing.pop(id_)
        self._reviews[row.public_key, row.tool].remove(id_)

    def shift_service(self, service: str, trials: int, proven: int) -> None:
        """Add to the numbers of a service; one without trials is none."""
        row = self.services.pop(service, ServiceRow(service, 0, 0))
        row = ServiceRow(service, row.trials + trials, row.proven + proven)
        if row.trials:
            self.services[service] = row

    def put_reply(self, public_key: str, message: int) -> None:
        """Keep that a message answers one of a key."""
        self.replies.add((public_key, message))

    def drop_reply(self, public_key: str, message: int) -> None:
        """Forget that."""
        self.replies.discard((public_key, message))

    def count(self, cells: Sequence[Cell], public_key: str, by: int) -> None:
        """Count a post of a key in some cells, once more (1) or no more (-1)."""
        for cell in cells:
            mark = (cell.id, public_key)
            before = self.marks.pop(mark, 0)
            if before + by:
                self.marks[mark] = before + by
            ranked, posts, keys = self.cells.pop(cell.id, (None, 0, 0))
            ranked = cell.scope if cell.ranks else None
            keys += bool(before + by) - bool(before)
            if posts + by:
                self.cells[cell.id] = (ranked, posts + by, keys)

    def _of(self, trial: int, public_key: str) -> list[RunRow]:
        return [self.runs[each] for each in self._runs_of.get((trial, public_key), ())]
