"""What the routes share: the store, who asks, and what they may have at once."""

import math
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import blake2b
from ipaddress import ip_address, ip_network
from typing import Final, TypeVar

import anyio
import msgspec

from refold.coverage.api.limits import (
    ASKER_JOBS,
    FRESH_SECONDS,
    MAX_JOBS,
    STORE_BURST,
    STORE_SECONDS,
    THREADS,
    VERIFY_BURST,
    VERIFY_SECONDS,
    WAITING_REQUESTS,
)
from refold.coverage.checks import validate
from refold.coverage.jobs.crew import Crew
from refold.coverage.jobs.pace import Pace, Rhythm
from refold.coverage.jobs.worker import new_job
from refold.coverage.store import Store, open_store
from refold.coverage.store.model import ENDED, Job, NewJob, Origin, Stored, StoredReceipt
from refold.db import Database
from refold.kernel import utc
from refold.kernel.errors import InputError, SourceError
from refold.serving.problem import DetailedError
from refold.serving.reading import Threads, read_inline

__all__ = ["Desk", "Share", "shown_receipt", "unknown_job"]

RETRY_SECONDS = 10
"""When somebody whose verifications have not ended may come back."""
FIRST_LOOK, LAST_LOOK = 0.02, 0.25
"""Seconds between two looks at a job that is waited for: short ones end soon."""
_SITE_BITS = 64
"""Of an address of IPv6: who has one of such a network has all of them."""

_T = TypeVar("_T")


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What one client may have.

    jobs: verifications that have not ended. verifying, storing: how often it asks for new ones, and
    stores receipts. fresh: seconds for which a report is given again.
    """

    jobs: int = ASKER_JOBS
    verifying: Rhythm = Rhythm(VERIFY_SECONDS, VERIFY_BURST)
    storing: Rhythm = Rhythm(STORE_SECONDS, STORE_BURST)
    fresh: float = FRESH_SECONDS


USUAL: Final = Share()


class Desk:
    """A database that is read, the same one to be written (None where nothing is), and the crew.

    `now` is the clock of times that are stored.
    """

    def __init__(
        self,
        database: Database,
        writing: Database | None,
        crew: Crew | None,
        *,
        now: Callable[[], datetime] = utc.now,
        share: Share = USUAL,
    ) -> None:
        self.database = database
        self.threads = Threads(THREADS)
        self._writing = writing
        self._crew = crew
        self._now = now
        self._share = share
        self._storing = Pace(share.storing)
        self._verifying = Pace(share.verifying)
        self._key = secrets.token_bytes(16)
        self._waiting = 0

    def moment(self) -> str:
        """Give the time."""
        return utc.format_utc(self._now())

    def inline(self, question: Callable[[Store], _T]) -> _T:
        """Give what a question gives, at once: for a few rows."""
        return read_inline(self.database, lambda connection: question(open_store(connection)))

    def asker(self, client: str) -> str:
        """Give a name for whoever asks from an address: it says nothing to others, or later."""
        try:
            address = ip_address(client)
        except ValueError:
            text = client
        else:
            bits = _SITE_BITS if address.version == 6 else address.max_prefixlen
            text = str(ip_network(f"{address}/{bits}", strict=False))
        return blake2b(text.encode(), key=self._key, digest_size=16).hexdigest()

    def store(self, data: bytes, asker: str) -> Stored:
        """Store a record. Raises InputError with its errors, `store-many`, `store-full`."""
        _see_to(self._storing.wait_for(asker), "store-many", "so many receipts at once")
        now = self.moment()
        valid = validate(data, now)
        with self._write() as store:
            stored = store.receipts.put_valid(valid, data, now, Origin("posted"))
        self._wake()
        return stored

    def verify(self, name: str, data: bytes, asker: str, *, sources: bool) -> Job:
        """Give the job about a record: one that ended just now, one under way, or a new one.

        Raises InputError `verify-many`, `verify-full`.
        """
        now = self.moment()
        fresh, most = self._share.fresh, self._share.jobs
        since = utc.format_utc(self._now() - timedelta(seconds=fresh))
        with self._write() as store:
            jobs = store.jobs
            if fresh and (known := jobs.fresh(name, since, now, sources=sources)) is not None:
                return known
            if not jobs.is_about(name):
                if jobs.count(asker=asker) >= most:
                    text = f"{most} verifications have not ended yet"
                    raise _later("verify-many", text, RETRY_SECONDS)
                if jobs.count() >= MAX_JOBS:
                    raise _later("verify-full", "too many verifications wait", RETRY_SECONDS)
                wait = self._verifying.wait_for(asker)
                _see_to(wait, "verify-many", "so many verifications in so little time")
            job = jobs.ask(NewJob(new_job(), name, asker, sources), data, now)
        self._wake()
        return job

    def cancel(self, name: str) -> Job:
        """Cancel a job. Raises InputError `job-unknown`, `job-ended`, `job-not-yours`."""
        with self._write() as store:
            job = store.jobs.get(name)
            if job is None:
                raise unknown_job()
            if job.state in ENDED:
                raise InputError(
                    "job-ended", f"the job is {job.state}", "verify again for a new one", "/id"
                )
            if job.shared or job.origin != "asked":
                raise InputError("job-not-yours", "others wait for it", "let it end", "/id")
            return store.jobs.cancel(name, self.moment()) or job

    async def ended(self, job: Job, seconds: float) -> Job:
        """Give a job when it has ended, or after so many seconds."""
        if self._waiting >= WAITING_REQUESTS:
            return job
        self._waiting += 1
        try:
            return await self._ended(job, seconds)
        finally:
            self._waiting -= 1

    async def _ended(self, job: Job, seconds: float) -> Job:
        deadline = anyio.current_time() + seconds
        pause = FIRST_LOOK
        while job.state not in ENDED and anyio.current_time() < deadline:
            await anyio.sleep(pause)
            pause = min(pause * 1.5, LAST_LOOK)
            name = job.id
            job = self.inline(lambda store: store.jobs.get(name)) or job  # noqa: B023 - called now
        return job

    def _wake(self) -> None:
        if self._crew is not None:
            self._crew.wake()

    @contextmanager
    def _write(self) -> Iterator[Store]:
        if self._writing is None:
            raise SourceError("coverage-reading", "this process only reads", "ask the server")
        with self._writing.write() as connection:
            yield open_store(connection)


def shown_receipt(store: Store, name: str) -> StoredReceipt:
    """Give a receipt that is shown. Raises InputError `receipt-unknown`, `receipt-withheld`."""
    row = store.receipts.get(name)
    if row is None:
        raise InputError("receipt-unknown", "there is no such receipt", "list them", "/hash")
    hidden = store.hiding.of(name)
    if hidden is not None:
        why = f"the operator hides it: {hidden.reason}"
        hint = "/v1/coverage/hidden lists all that is; ask the operator, or another node"
        raise InputError("receipt-withheld", why, hint, "/hash")
    return row


def unknown_job() -> InputError:
    """Give the error for a job that is not there."""
    return InputError("job-unknown", "there is no such job", "verify again", "/id")


def _see_to(wait: float, code: str, text: str) -> None:
    """Raise `code` if somebody has to wait."""
    if wait:
        raise _later(code, text, math.ceil(wait))


def _later(code: str, text: str, seconds: int) -> DetailedError:
    """Give the error that says when to come back."""
    error = DetailedError(code, text, f"come back in {seconds} s")
    return error.detailed({}, (("retry-after", str(seconds)),))
