"""What is counted where: the one place that says it.

A post counts in cells. Each cell has the number of its posts and that of distinct keys. The first
run of a key on a trial counts by its outcome; later ones count as `later`. What was removed counts
nowhere. Runs and reviews are never added up. Source: cold trials spec §4.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

from refold.trials.indexes.rows import Cell, ReviewRow, RunRow
from refold.trials.leaf import accepted_text

__all__ = [
    "BLOCKER_WORDS",
    "DAY_SECONDS",
    "NAMED",
    "OTHER",
    "SERVICE_WORDS",
    "TRIAL_WORDS",
    "Recheck",
    "blocker_scope",
    "cells_of_review",
    "cells_of_run",
    "day_of",
    "recheck_state",
    "runtime_group",
    "service_scope",
    "trial_scope",
]

DAY_SECONDS: Final = 86_400
"""A key is young, and counted apart, for so long after it was admitted."""
NAMED: Final = 50
"""Runtime groups of a service, or of a day, that are named; all the others are one."""
OTHER: Final = "other"
"""The group of runtimes that are not named, or have no name."""
MAX_GROUP: Final = 60
"""Code points of the name of a group: enough for a client and what it runs on."""

TRIAL_WORDS: Final = ("run", "completed", "blocked", "abandoned", "later", "verified", "missing")
SERVICE_WORDS: Final = (
    *("run", "completed", "blocked", "abandoned", "later"),
    *("fixed", "confirmed"),
)
BLOCKER_WORDS: Final = ("run", "later", "review")

Recheck = Literal["owed", "lapsed", "passed", "still_blocked", "abandoned", "removed"]

_GROUP_ENDS = re.compile(r"[0-9,/]")
_RECHECKED: Final[dict[str, Recheck]] = {
    "completed": "passed",
    "blocked": "still_blocked",
    "abandoned": "abandoned",
    "removed": "removed",
}


def runtime_group(runtime: str) -> str:
    """Give the group of a runtime: its lower-case text before the first digit, comma or slash."""
    text = _GROUP_ENDS.split(runtime, maxsplit=1)[0].lower()
    return " ".join(text.split())[:MAX_GROUP].strip() or OTHER


def day_of(seconds: int) -> str:
    """Give the UTC day of Unix seconds, as YYYY-MM-DD."""
    return accepted_text(seconds)[:10]


def trial_scope(trial: int) -> str:
    """Give where the runs on a trial are counted."""
    return f"trial\t{trial}"


def service_scope(service: str) -> str:
    """Give where the runs on a service are counted."""
    return f"service\t{service}"


def blocker_scope(day: str, blocker_class: str = "") -> str:
    """Give where a class is counted on a day; without one, where all of the day are ranked."""
    return f"blocker\t{day}\t{blocker_class}" if blocker_class else f"blocker\t{day}"


def cells_of_run(run: RunRow) -> list[Cell]:
    """Give the cells that a run counts in; none once it was removed."""
    if run.removed:
        return []
    how = run.outcome if run.cold else "later"
    scope = trial_scope(run.trial)
    cells = [Cell(scope, word) for word in ("run", how, run.proof)]
    if run.service:
        scope = service_scope(run.service)
        for word in ("run", how, *_mended(run)):
            cells.append(Cell(scope, word))
            cells.append(Cell(scope, word, run.runtime, ranks=word == "run"))
    cells += _cells_of_classes(
        run.classes, run.accepted_at, run.runtime, "run" if run.cold else "later"
    )
    return cells


def cells_of_review(review: ReviewRow) -> list[Cell]:
    """Give the cells that a review counts in, if it is the latest of its key and tool."""
    return list(_cells_of_classes(review.classes, review.accepted_at, review.runtime, "review"))


def recheck_state(run: RunRow, *, is_open: bool) -> Recheck | None:
    """Give the state of the recheck that `fixed` asks for, None if none is asked for.

    `is_open` is whether the trial takes runs: a recheck that is still owed lapses with it.
    """
    if run.status != "fixed":
        return None
    if run.recheck:
        return _RECHECKED[run.rechecked]
    return "owed" if is_open else "lapsed"


def _mended(run: RunRow) -> Iterator[str]:
    if run.status == "fixed":
        yield "fixed"
        if run.rechecked == "completed":
            yield "confirmed"


def _cells_of_classes(classes: str, at: int, runtime: str, what: str) -> Iterator[Cell]:
    day = day_of(at)
    for each in classes.split(",") if classes else ():
        scope = blocker_scope(day, each)
        yield Cell(scope, what)
        yield Cell(scope, what, runtime)
    if classes:
        yield Cell(blocker_scope(day), "post", runtime, ranks=True)
