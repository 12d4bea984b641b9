"""The store of coverage: what it can do, whatever stands behind it.

    with database.write() as connection:
        stored = open_store(connection).receipts.put(data, now, Origin("posted"))

It lives as long as the transaction it was made in. Times are RFC 3339, UTC, Z; a receipt's name is
its receiptHash. Errors are those of `refold.db.errors`, and those that are named.
"""

from collections.abc import Mapping
from typing import Protocol

from refold.coverage.checks import Validation
from refold.coverage.report import Report
from refold.coverage.store.model import (
    Equivocal,
    Hidden,
    Job,
    Judged,
    Link,
    NewJob,
    Origin,
    PinOf,
    Stored,
    StoredReceipt,
    Totals,
    Wanted,
)

__all__ = ["Hiding", "Jobs", "Receipts", "Store"]


class Receipts(Protocol):
    """Receipts that are kept, their judgements, and what stands between them."""

    def put(self, data: bytes, now: str, origin: Origin) -> Stored:
        """Store the bytes of a record, checked whole; the same record again changes nothing.

        A pin that brings a record that is here is added to it; one that moved gets its new height.
        Raises InputError with all errors of the record (`E_…`), `store-full` where no more is kept.
        """

    def put_valid(self, valid: Validation, data: bytes, now: str, origin: Origin) -> Stored:
        """Store what was checked already, as `put` does: checking takes longer than storing."""

    def get(self, name: str) -> StoredReceipt | None:
        """Give a receipt without its record."""

    def record(self, name: str) -> bytes | None:
        """Give the bytes of a record as they came first."""

    def report(self, name: str) -> bytes | None:
        """Give the report of the last check, as JSON; None before the first."""

    def page(
        self, limit: int, before: int | None = None, wanted: Wanted | None = None
    ) -> list[StoredReceipt]:
        """Give receipts, the last stored first, with a number below `before`.

        What is hidden is left out.
        """

    def judgements(self, name: str, limit: int, before: int | None = None) -> list[Judged]:
        """Give the changes of judgement of a receipt, the last first, numbers below `before`."""

    def pins(self, name: str, limit: int) -> list[PinOf]:
        """Give the pins that brought a receipt, by height and id; those of the mempool last."""

    def superseded(self, name: str, limit: int) -> list[Link]:
        """Give what a receipt supersedes, what that one does, and so on."""

    def superseding(self, name: str, limit: int) -> list[Link]:
        """Give the receipts that name one of this receipt's pins, by number."""

    def equivocations(self, name: str, limit: int) -> list[Equivocal]:
        """Give the receipts that contradict this one, unless others are known to have written them.

        Those of one known writer come first, then the pairs in which it is the later one.
        """

    def judged(self, name: str, report: Report, due_at: str | None, *, away: bool) -> Judged | None:
        """Keep what a check of a stored receipt gave at `report.now`, and when the next is due.

        Give the change if it changed the judgement. `away` tells that a source could not be read.
        A receipt that is not stored is passed over.
        """

    def due(self, now: str, limit: int) -> list[StoredReceipt]:
        """Give receipts whose check is due and that no job is about, the longest due first."""

    def next_due(self) -> str | None:
        """Give the moment of the next check."""

    def check_again(self, checked_after: str, now: str) -> int:
        """Let receipts be due `now` that were checked after a moment: the clock was ahead then.

        Give how many.
        """

    def postpone(self, name: str, due_at: str | None) -> None:
        """Set the moment of the next check."""

    def totals(self) -> Totals:
        """Give how much is stored."""


class Jobs(Protocol):
    """Verifications that wait, run or have ended."""

    def ask(self, new: NewJob, data: bytes, now: str) -> Job:
        """Give the job about a receipt that has not ended, else a new one; `data` is the record.

        One that waits reads the sources too if this one is to; one that runs goes on as it is.
        """

    def get(self, job: str) -> Job | None:
        """Give a job."""

    def report(self, job: str) -> bytes | None:
        """Give the report of a job that is done, as JSON."""

    def fresh(self, name: str, since: str, now: str, *, sources: bool) -> Job | None:
        """Give the last job about a receipt that was done from `since` to `now`."""

    def count(self, *, asker: str | None = None) -> int:
        """Count the jobs that have not ended, of all or of one asker."""

    def is_about(self, name: str) -> bool:
        """Tell whether a job about a receipt has not ended."""

    def waits(self) -> bool:
        """Tell whether a job waits."""

    def claim(self, now: str, *, due: bool = False) -> Job | None:
        """Take the job that waits longest, those that were asked for first; it is running then.

        Whoever asked for one that runs has to wait: slow sources of one client leave workers to
        the others. With `due` only a job of the schedule is taken.
        """

    def recover(self, now: str, most: int) -> list[str]:
        """Let jobs that ran when their process died wait again.

        One that began `most` times is failed, `gave-up`; give the receipts of these.
        """

    def progress(self, job: str, unit: str, counts: Mapping[str, int]) -> bool:
        """Keep how far a job is (pages, rows, requests of its unit); tell whether it is to end."""

    def release(self, job: str) -> None:
        """Let a running job wait again, as the process ends."""

    def done(self, job: str, now: str, report: bytes) -> None:
        """End a job with its report."""

    def ended(self, job: str, now: str, *, failed: str = "") -> None:
        """End a job without a report: failed with a code, or cancelled."""

    def cancel(self, job: str, now: str) -> Job | None:
        """End a job that waits, tell one that runs to end; give it as it is now."""

    def prune(self, before: str, keep: int) -> int:
        """Delete jobs that ended before, and but the last `keep`; give how many went."""


class Hiding(Protocol):
    """What the operator withholds from answers."""

    def hide(self, name: str, reason: str, now: str) -> bool:
        """Hide a receipt; tell whether it was shown before. Raises InputError `hidden-…`."""

    def unhide(self, name: str) -> bool:
        """Show it again; tell whether it was hidden."""

    def of(self, name: str) -> Hidden | None:
        """Give why a receipt is hidden, None for one that is not."""

    def page(self, limit: int, after: str | None = None) -> list[Hidden]:
        """Give what is hidden, by hash."""


class Store(Protocol):
    """All of it, in one transaction."""

    @property
    def receipts(self) -> Receipts:
        """What is stored."""

    @property
    def jobs(self) -> Jobs:
        """Verifications."""

    @property
    def hiding(self) -> Hiding:
        """What the operator hides."""
