"""What follows a round of the sync: facts are looked up, and the view is brought up to date."""

from threading import Event

import msgspec

from refold.agentpedia import facts
from refold.agentpedia.facts import FactFinder
from refold.agentpedia.indexer.indexer import CaughtUp, Indexer, Progress
from refold.metaid.sync import Looked, Report


class Turn(msgspec.Struct, frozen=True, rename="camel"):
    """A round and what followed: the view as it stands, and what was looked up, if anybody asked.

    `view` is None when nothing was folded, as the lists were not read to their ends yet.
    """

    report: Report
    view: CaughtUp | None
    facts: facts.Report | None

    @property
    def chain_height(self) -> int | None:
        """The highest height that an indexer has come to; None when none says one."""
        said = (one.height for one in self.report.indexers)
        return max((height for height in said if height is not None), default=None)

    @property
    def lag(self) -> int | None:
        """The blocks between the chain's height and the view; None when either is not known."""
        if self.chain_height is None or self.view is None or self.view.height is None:
            return None
        return max(0, self.chain_height - self.view.height + 1)


class Follower:
    """Brings the view up to date after rounds; `finder` looks facts up, None where nobody does."""

    def __init__(self, indexer: Indexer, finder: FactFinder | None = None) -> None:
        self._indexer = indexer
        self._finder = finder
        self._covered: int | None = None

    def look(self, looked: Looked) -> CaughtUp | None:
        """Let blocks without pins pass, where a look found that no round is needed.

        Proposals expire and signals settle by height alone, and no list has to be read for that.
        None when nothing is done: not all indexers say a height, or the view is there already.
        """
        heights = [polled.height for polled in looked.polled.values()]
        known = [height for height in heights if height is not None]
        if looked.why is not None or self._covered is None or len(known) < len(heights):
            return None
        if min(known) <= self._covered:
            return None
        self._covered = min(known)
        return self._indexer.catch_up(self._covered)

    def follow(
        self,
        report: Report,
        now: int,
        *,
        progress: Progress | None = None,
        stop: Event | None = None,
    ) -> Turn:
        """Fold up to the height that a round is sure of; look facts up, fold what they change.

        `now` is in Unix seconds. Facts come second: a view without them stands, and says so.
        """
        self._covered = report.height if report.is_covered else None
        if report.height is None and not report.is_covered:
            return Turn(report, None, None)
        view = self._indexer.catch_up(report.height, progress)
        if self._finder is None:
            return Turn(report, view, None)
        found = self._finder.run(now, stop=stop)
        again = self._indexer.catch_up(report.height, progress)
        return Turn(report, _both(view, again), found)


def _both(first: CaughtUp, then: CaughtUp) -> CaughtUp:
    back = [one for one in (first.rolled_back_to, then.rolled_back_to) if one is not None]
    return msgspec.structs.replace(
        then,
        events=first.events + then.events,
        rows=first.rows + then.rows,
        rolled_back_to=min(back, default=None),
    )
