"""The driver: walks run over a transport, one unit after the other, within the budgets of a record.

    with GuardedClient(policy_of(budgets)) as client:
        for walked in walk_corpus(map(listed, receipt.corpus.units), criterion, Live(client)):
            print(walked.traversal)

What the bytes mean is decided in the walks, which see no network; here is only the passing on.
Source: coverage spec §5.5 R-1.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from refold.coverage.match import Criterion
from refold.coverage.record import HttpJson, Manual, MvcPins
from refold.coverage.unit import Traversal
from refold.coverage.walk.asking import Steps, Transport
from refold.coverage.walk.budget import Budgets, Purse, Spent
from refold.coverage.walk.http_json import http_list, http_series
from refold.coverage.walk.mvc_pins import mvc_pins
from refold.coverage.walk.series import series_of
from refold.coverage.walk.walked import Listed, Walked

__all__ = ["Progress", "steps_of", "walk_corpus", "walk_source"]

T = TypeVar("T")
Progress = Callable[[str, Spent], object]
"""Told after each answer: the unit's id, and what its walk has taken so far."""


def walk_source(
    source: Listed,
    criterion: Criterion,
    transport: Transport,
    purse: Purse | None = None,
    progress: Progress | None = None,
) -> Walked:
    """Walk one source to its end. What goes wrong is in the outcome; nothing of it is raised."""
    steps = steps_of(source, criterion, purse := purse or Purse())
    return _driven(steps, transport, purse, source.id, progress)


def walk_corpus(
    sources: Iterable[Listed],
    criterion: Criterion,
    transport: Transport,
    *,
    budgets: Budgets | None = None,
    purse: Purse | None = None,
    progress: Progress | None = None,
) -> Iterator[Walked]:
    """Walk the sources of one record in their order, pages of one list as one; give each outcome.

    The outcomes of a series come together, when its last page was read. `purse` is for walks that
    have to share the budgets of one record with others.
    """
    purse = purse or Purse(budgets)
    for series in series_of(tuple(sources)):
        first = series.sources[0]
        if len(series.sources) == 1:
            yield walk_source(first, criterion, transport, purse, progress)
        else:
            steps = http_series(series, criterion, purse)
            yield from _driven(steps, transport, purse, first.id, progress)


def steps_of(source: Listed, criterion: Criterion, purse: Purse) -> Steps[Walked]:
    """Give the walk over one source, as steps to feed with answers."""
    match source.replay:
        case HttpJson():
            return http_list(source, criterion, purse)
        case MvcPins():
            return mvc_pins(source, criterion, purse)
        case Manual():
            return _manual(source, purse)


def _manual(source: Listed, purse: Purse) -> Steps[Walked]:
    """Ask for nothing: only a person can look (R-8)."""
    purse.begin_unit()
    yield from ()
    return Walked(Traversal(unit=source.id), {}, ())


def _driven(
    steps: Steps[T],
    transport: Transport,
    purse: Purse,
    unit: str,
    progress: Progress | None,
) -> T:
    """Run steps to their end over a transport."""
    tell = progress or (lambda _unit, _spent: None)
    try:
        asks = next(steps)
        while True:
            # Not kept in a name: a batch may be as large as a page.
            asks = steps.send(transport.ask(asks))
            tell(unit, purse.spent)
    except StopIteration as ended:
        tell(unit, purse.spent)
        outcome: T = ended.value
        return outcome
