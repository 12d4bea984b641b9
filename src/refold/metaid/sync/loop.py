"""A sync that goes on until it is stopped: look, decide, take a round, tell, wait.

loop = Loop(sync, tell=show, stop=stop)
loop.run()
"""

import time
from collections.abc import Callable
from threading import Event

import msgspec

from refold.kernel.errors import SourceError
from refold.metaid.sync.pace import Budget, Pace, Why, has_news, pause_after, why_round
from refold.metaid.sync.report import Report
from refold.metaid.sync.round import Sync
from refold.metaid.sync.sources import Polled


class Looked(msgspec.Struct, frozen=True):
    """What indexers said by name, and why a round is needed; None when it is not.

    `is_over_budget`: one is needed, and the limit of requests for lists does not allow it yet.
    """

    polled: dict[str, Polled]
    why: Why | None
    is_over_budget: bool = False


class Done(msgspec.Struct, frozen=True):
    """A round was taken."""

    report: Report


class Failed(msgspec.Struct, frozen=True):
    """A round could not be taken, as the database did not do its part; it is tried again."""

    code: str
    message: str


class Waits(msgspec.Struct, frozen=True):
    """The seconds until the next look."""

    seconds: float


Happening = Looked | Done | Failed | Waits


class Loop:
    """See the module. `tell` is told what happens, in the thread of `run`; what it raises ends it.

    `clock` gives Unix seconds. `wait` waits so many seconds, or until `stop` is set.
    """

    def __init__(
        self,
        sync: Sync,
        *,
        tell: Callable[[Happening], object],
        stop: Event,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.time,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self.last: Report | None = None
        self._sync = sync
        self._tell = tell
        self._stop = stop
        self._pace = pace or Pace()
        self._clock = clock
        self._wait = wait or stop.wait
        self._budget = Budget(self._pace.lists_a_day)
        self._quiet = self._failed = 0

    def run(self) -> None:
        """Go on until stopped."""
        while not self._stop.is_set():
            self.look()
            if self._stop.is_set():
                return
            seconds = pause_after(self._pace, self._quiet, self._failed)
            self._tell(Waits(seconds))
            self._wait(seconds)

    def look(self) -> None:
        """Look once, and take a round if one is needed."""
        now = int(self._clock())
        polled = self._sync.poll()
        why = why_round(self.last, polled, now, self._pace)
        is_over_budget = why is not None and not self._budget.is_left(now)
        self._tell(Looked(polled, why, is_over_budget))
        if why is None or is_over_budget:
            self._failed = 0 if _answers(polled) else self._failed + 1
            self._quiet += 1
            return
        try:
            report = self._sync.round(now, polled=polled, stop=self._stop)
        except SourceError as error:
            self._failed += 1
            self._tell(Failed(error.code, error.message))
            return
        self.last = report
        self._budget.spend(report.traffic.lists, now)
        self._failed = 0 if report.is_covered else self._failed + 1
        self._quiet = 0 if has_news(report) else self._quiet + 1
        self._tell(Done(report))


def _answers(polled: dict[str, Polled]) -> bool:
    return any(one.error is None for one in polled.values())
