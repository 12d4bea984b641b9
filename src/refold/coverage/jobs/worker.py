"""The worker: takes jobs and receipts that are due, one after the other, and keeps what came of it.

    worker = Worker(database, Walker())
    worker.recover()
    while worker.step():
        ...

Whatever happens, a job stands in the tables: one that ran when its process died waits again. See
`refold.coverage.jobs.crew` for several at once.
"""

import logging
import secrets
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event
from typing import TypeVar

import msgspec

from refold.coverage.jobs.bounds import bounded
from refold.coverage.jobs.keeping import judge_stored
from refold.coverage.jobs.limits import (
    AHEAD_SECONDS,
    CHECK_EACH,
    GIVEN_UP_SECONDS,
    KEEP_JOBS,
    KEEP_SECONDS,
    MAX_ATTEMPTS,
    PROGRESS_SECONDS,
    STANDBY_SECONDS,
)
from refold.coverage.jobs.walker import Walk
from refold.coverage.report import Report
from refold.coverage.store import Store, open_store
from refold.coverage.store.model import Job, NewJob
from refold.coverage.walk.budget import Spent
from refold.db import Database
from refold.kernel import utc
from refold.kernel.errors import SourceError, one_line

__all__ = ["BROKEN", "SCHEDULE", "Worker", "new_job"]

BROKEN = "verify-broken"
"""The code of a job that a defect of ours ended."""
SCHEDULE = "schedule"
"""Who asks for the checks of stored receipts."""

_COUNTS = ("pages", "rows", "requests")
_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class _CancelledError(Exception):
    """Somebody wants the job to end."""


class _LeftError(Exception):
    """The job was left to another process while it was walked."""


class _StoppedError(Exception):
    """The process ends, or is no longer the one that verifies."""


def new_job() -> str:
    """Give an id for a job that nobody can guess: who has it may cancel the job."""
    return secrets.token_hex(16)


class Worker:
    """See the module. `now` is the clock that receipts are judged by; threads may share a worker.

    A job is left, and waits again, soon after `stop` is set.
    """

    def __init__(
        self,
        database: Database,
        walk: Walk,
        *,
        now: Callable[[], datetime] = utc.now,
        stop: Event | None = None,
    ) -> None:
        self._database = database
        self._walk = walk
        self._now = now
        self._stop = stop or Event()
        self._begun = 0
        self._running: set[str] = set()
        self._has_left = False

    def recover(self) -> None:
        """Let jobs that ran when their process died wait again. Only before anything runs here.

        A stored receipt whose job was given up is left alone for long.
        """

        def recover(store: Store) -> None:
            for name in store.jobs.recover(self._moment(), MAX_ATTEMPTS):
                self._leave_alone(store, name)

        self._write(recover)

    def leave(self) -> None:
        """Let the jobs that run here wait again, and keep nothing more of them: the process ends.

        For walks that wait for an answer while others are to stop; these have released theirs.
        """

        def leave(store: Store) -> None:
            self._has_left = True
            for name in sorted(self._running):
                store.jobs.release(name)

        self._write(leave)

    def step(self) -> bool:
        """Do one job, or check one receipt that is due; tell whether there was any."""
        job = self._next()
        if job is None:
            return False
        with self._database.read() as connection:
            data = open_store(connection).receipts.record(job.receipt)
        try:
            self._run(job, data)
        except _LeftError:
            pass
        finally:
            self._running.discard(job.id)
        return True

    def prune(self) -> None:
        """Delete jobs that ended long ago; let count no check of a clock that was ahead."""
        now = self._now()
        ahead = utc.format_utc(now + timedelta(seconds=AHEAD_SECONDS))
        self._write(lambda store: store.receipts.check_again(ahead, utc.format_utc(now)))
        before = utc.format_utc(now - timedelta(seconds=KEEP_SECONDS))
        while self._write(lambda store: store.jobs.prune(before, KEEP_JOBS)):
            pass

    def _next(self) -> Job | None:
        """Take a job; none writes to the database as long as there is nothing to do."""
        moment = self._moment()
        with self._database.read() as connection:
            store = open_store(connection)
            if not store.jobs.waits() and not store.receipts.due(moment, 1):
                return None

        self._begun += 1
        is_turn = self._begun % CHECK_EACH == 0

        def take(store: Store) -> Job | None:
            job = None if is_turn else store.jobs.claim(moment)
            if job is None:
                for receipt in store.receipts.due(moment, 1):
                    new = NewJob(new_job(), receipt.hash, SCHEDULE, scheduled=True)
                    store.jobs.ask(new, store.receipts.record(receipt.hash) or b"", moment)
                job = store.jobs.claim(moment, due=True) or store.jobs.claim(moment)
            if job is not None:
                self._running.add(job.id)
            return job

        return self._write(take)

    def _run(self, job: Job, data: bytes | None) -> None:
        """Walk a job and keep what comes of it. Raises _LeftError if it was left meanwhile."""
        if data is None:
            self._end(lambda store: self._broken(store, job))
            return
        try:
            report = self._walk(
                data, self._moment(), _Teller(self, job.id).tell, sources=job.sources
            )
        except _CancelledError:
            self._end(lambda store: store.jobs.ended(job.id, self._moment()))
        except _StoppedError:
            self._end(lambda store: store.jobs.release(job.id))
        except SourceError:  # of the database: what is told of the walk does not raise
            raise
        except Exception as error:  # noqa: BLE001 (one receipt may not end the work on all others)
            _log.error("a verification broke: %s at %s", type(error).__name__, _place(error))
            self._end(lambda store: self._broken(store, job))
        else:
            kept = bounded(report)
            self._end(lambda store: self._keep(store, job, kept))

    def _keep(self, store: Store, job: Job, report: Report) -> None:
        """Keep the report of a job, and what it says of a stored receipt."""
        for unit in report.units[-1:]:
            counts = (unit.pages, unit.observed_replayed, unit.requests)
            store.jobs.progress(job.id, unit.id, dict(zip(_COUNTS, counts, strict=True)))
        store.jobs.done(job.id, self._moment(), msgspec.json.encode(report))
        took = (self._now() - utc.parse_utc(report.now)).total_seconds()
        judge_stored(store.receipts, job.receipt, report, max(0, int(took)))

    def _broken(self, store: Store, job: Job) -> None:
        """Give up a job that met a defect; its receipt is left alone for long."""
        store.jobs.ended(job.id, self._moment(), failed=BROKEN)
        self._leave_alone(store, job.receipt)

    def _leave_alone(self, store: Store, name: str) -> None:
        due = self._now() + timedelta(seconds=GIVEN_UP_SECONDS)
        store.receipts.postpone(name, utc.format_utc(due))

    def _end(self, change: Callable[[Store], object]) -> None:
        """Change the tables at the end of a job that is still ours."""

        def end(store: Store) -> None:
            if self._has_left:
                raise _LeftError
            change(store)

        self._write(end)

    def told(self, job: str, unit: str, spent: Spent) -> None:
        """Keep how far a job is; raises where it is to end."""
        if self._stop.is_set():
            raise _StoppedError
        counts = dict(zip(_COUNTS, (spent.pages, spent.rows, spent.requests), strict=True))
        try:
            with self._database.write() as connection:
                is_cancelled = open_store(connection).jobs.progress(job, unit, counts)
        except SourceError as error:
            if error.code != "database-busy":
                raise _StoppedError from error
            return
        if is_cancelled:
            raise _CancelledError

    def must_stop(self) -> bool:
        """Tell whether work is to be left."""
        return self._stop.is_set()

    def _write(self, change: Callable[[Store], _T]) -> _T:
        """Change the tables; what is in the way for a while is waited for, as long as we may."""
        while True:
            try:
                with self._database.write() as connection:
                    return change(open_store(connection))
            except SourceError as error:
                if error.code != "database-busy" or self._stop.wait(STANDBY_SECONDS):
                    raise
                _log.warning("verifications wait: %s", one_line(error.message))

    def _moment(self) -> str:
        return utc.format_utc(self._now())


class _Teller:
    """Hears of each answer of a walk; writes of it once a second."""

    def __init__(self, worker: Worker, job: str) -> None:
        self._worker = worker
        self._job = job
        self._told_at = time.monotonic()

    def tell(self, unit: str, spent: Spent) -> None:
        now = time.monotonic()
        if now - self._told_at >= PROGRESS_SECONDS or self._worker.must_stop():
            self._told_at = now
            self._worker.told(self._job, unit, spent)


def _place(error: BaseException) -> str:
    """Give where an error was raised; its text may quote what strangers sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
