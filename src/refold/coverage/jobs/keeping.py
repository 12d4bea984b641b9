"""Keeping what a check of a receipt gave: its verdict, and when the next one is due."""

from refold.coverage.jobs.bounds import bounded
from refold.coverage.jobs.schedule import is_away, next_check
from refold.coverage.report import Report
from refold.coverage.store import Origin, Stored, open_store
from refold.coverage.store.interface import Receipts
from refold.db import Database

__all__ = ["judge_stored", "keep"]


def judge_stored(receipts: Receipts, name: str, report: Report) -> None:
    """Keep what a check gave of a stored receipt; one that is not stored is passed over."""
    known = receipts.get(name)
    if known is not None:
        away = is_away(report)
        due = next_check(report, known.failures + 1 if away else 0)
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
