"""Keeping what a check of a receipt gave: its verdict, and when the next one is due."""

from refold.coverage.jobs.bounds import bounded
from refold.coverage.jobs.schedule import is_away, is_early, next_check
from refold.coverage.report import Report
from refold.coverage.store import Origin, Stored, open_store
from refold.coverage.store.interface import Receipts
from refold.db import Database

__all__ = ["judge_stored", "keep"]


def judge_stored(receipts: Receipts, name: str, report: Report, took: int = 0) -> None:
    """Keep what a check gave of a stored receipt; one that is not stored is passed over.

    `took` are the seconds of the check. One whose asOf lies in the future now, as a clock that was
    set back has it, is checked then.
    """
    known = receipts.get(name)
    if known is None:
        return
    if is_early(report):
        receipts.postpone(name, known.as_of)
    else:
        away = is_away(report)
        due = next_check(report, known.failures + 1 if away else 0, took)
        receipts.judged(name, report, due, away=away)


def keep(database: Database, data: bytes, report: Report, origin: Origin) -> Stored:
    """Store the bytes of a record and what a replay outside of a job gave, in one transaction.

    Raises InputError with all errors of a record that is not valid; `store-full`.
    """
    with database.write() as connection:
        receipts = open_store(connection).receipts
        stored = receipts.put(data, report.now, origin)
        judge_stored(receipts, stored.hash, bounded(report))
    return stored
