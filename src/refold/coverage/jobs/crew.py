"""Several workers of one process, as a task beside a server: the one process that verifies.

It holds the name `coverage` of the database, so that no receipt is walked twice at once and the
pace that is published is that of all processes together; another process stands by, and takes over
when this one dies.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime
from threading import Event, Thread

from refold.coverage.jobs.limits import (
    LEAVE_SECONDS,
    POLL_SECONDS,
    PRUNE_SECONDS,
    STANDBY_SECONDS,
    WORKERS,
)
from refold.coverage.jobs.walker import THREADS, Walk
from refold.coverage.jobs.worker import Worker
from refold.db import Database
from refold.kernel import utc
from refold.kernel.errors import SourceError, one_line

__all__ = ["HOLD", "Crew"]

HOLD = "coverage"
"""The name that the process holds which verifies."""

_log = logging.getLogger(__name__)


class Crew:
    """See the module. `now` is the clock of the judgements; `standby`, `leave` are for tests."""

    def __init__(
        self,
        database: Database,
        walk: Walk,
        *,
        workers: int = WORKERS,
        now: Callable[[], datetime] = utc.now,
        standby: float = STANDBY_SECONDS,
        leave: float = LEAVE_SECONDS,
    ) -> None:
        self._database = database
        self._walk = walk
        self._workers = workers
        self._now = now
        self._standby = standby
        self._leave = leave
        self._wake = Event()

    def wake(self) -> None:
        """Tell of new work."""
        self._wake.set()

    def run(self, stop: Event) -> None:
        """Verify, or stand by, until `stop` is set."""
        said = ""
        while not stop.is_set():
            try:
                with self._database.hold(HOLD):
                    said = ""
                    self._work(stop)
            except SourceError as error:
                if error.code not in {said, "database-held"}:
                    _log.warning("verifications stand still: %s", one_line(error.message))
                said = error.code
            stop.wait(self._standby)

    def _work(self, stop: Event) -> None:
        """Run all workers until one of them fails or `stop` is set; raises what ended them."""
        ended = Event()
        worker = Worker(self._database, self._walk, now=self._now, stop=ended)
        worker.recover()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                while not ended.is_set():
                    if not worker.step() and self._wake.wait(POLL_SECONDS) and not ended.is_set():
                        self._wake.clear()
            except BaseException as error:  # noqa: BLE001 (raised again where all of them end)
                failures.append(error)
                ended.set()

        threads = [
            Thread(target=work, name=f"{THREADS} {number}", daemon=True)
            for number in range(self._workers)
        ]
        for thread in threads:
            thread.start()
        try:
            self._watch(worker, stop, ended)
        finally:
            ended.set()
            self._wake.set()
            until = time.monotonic() + self._leave
            for thread in threads:
                thread.join(max(0.0, until - time.monotonic()))
            if any(thread.is_alive() for thread in threads):  # they wait for answers
                worker.leave()
        if failures:
            raise failures[0]

    def _watch(self, worker: Worker, stop: Event, ended: Event) -> None:
        pruned = 0.0
        while not stop.is_set() and not ended.is_set():
            if not pruned or time.monotonic() - pruned >= PRUNE_SECONDS:
                worker.prune()
                pruned = time.monotonic()
            stop.wait(POLL_SECONDS / 4)
