"""Two passes before absence is claimed: what is said of the sources must hold twice.

A walk that finds nothing may have met the one moment when a row was on its way from one page to
another. So nothing is taken for absent that was not absent twice over the same rows. What a second
pass finds is there: then it alone counts. Source: coverage spec §6, `build`.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from refold.coverage.match import Criterion
from refold.coverage.walk.asking import Transport
from refold.coverage.walk.budget import Budgets
from refold.coverage.walk.drive import Progress, walk_corpus
from refold.coverage.walk.walked import Listed, Walked

__all__ = ["agreed", "needs_second_pass", "walk_settled"]


def walk_settled(
    sources: Iterable[Listed],
    criterion: Criterion,
    transport: Transport,
    *,
    settle: Callable[[], object] = lambda: None,
    budgets: Budgets | None = None,
    progress: Progress | None = None,
) -> tuple[Walked, ...]:
    """Walk sources for a receipt: twice, with `settle` called between, when nothing is found.

    Each pass has the budgets of a record. Gives the outcomes to write the receipt from.
    """
    listed = tuple(sources)

    def walked() -> tuple[Walked, ...]:
        corpus = walk_corpus(listed, criterion, transport, budgets=budgets, progress=progress)
        return tuple(corpus)

    first = walked()
    if not needs_second_pass(first):
        return first
    settle()
    return agreed(first, walked())


def needs_second_pass(walked: Sequence[Walked]) -> bool:
    """Tell whether a pass leaves absence to be claimed: something was read, and nothing found."""
    seen = [unit.traversal for unit in walked]
    return any(one.pages for one in seen) and not any(one.matches for one in seen)


def agreed(first: Sequence[Walked], second: Sequence[Walked]) -> tuple[Walked, ...]:
    """Give the second pass over the same sources, lowered by what the first one saw otherwise.

    A unit whose ids or rows changed between the passes is `moved_during_traversal`, and what was
    wrong in the first pass counts too. Not so if the second pass found something: a find needs one
    witness.
    """
    if any(unit.traversal.matches for unit in second):
        return tuple(second)
    return tuple(map(_agreed, first, second))


def _agreed(first: Walked, second: Walked) -> Walked:
    before, after = first.traversal, second.traversal
    why = first.why | second.why
    reasons = dict.fromkeys((*after.reasons, *before.reasons))
    moved = (before.set_hash, before.rows) != (after.set_hash, after.rows)
    if moved and before.ends and after.ends:
        reasons["moved_during_traversal"] = None
        why.setdefault("moved_during_traversal", f"{before.rows} rows, and then {after.rows}")
    lowered = msgspec.structs.replace(after, reasons=tuple(reasons))
    return msgspec.structs.replace(second, traversal=lowered, why=why)
