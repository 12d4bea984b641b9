"""When a stored receipt is checked again. Pure: what is known of it goes in, a moment comes out."""

from typing import Final

from refold.coverage.report import Report
from refold.kernel.errors import InputError
from refold.kernel.utc import later, parse_utc

__all__ = [
    "EXPIRED_SECONDS",
    "LONGEST_SECONDS",
    "REST",
    "RETRY_SECONDS",
    "SHARE",
    "SHORTEST_SECONDS",
    "is_away",
    "is_early",
    "next_check",
]

SHARE: Final = 4
"""Checks while a receipt is valid: what holds for an hour is asked more often than what holds for a
year, and a change shows before three quarters of the time are over."""
SHORTEST_SECONDS: Final = 6 * 3_600
"""No source is walked more often than this for one receipt, however short it holds."""
LONGEST_SECONDS: Final = 7 * 86_400
"""A conclusion that is called valid is looked at once a week at least."""
EXPIRED_SECONDS: Final = 30 * 86_400
"""After validUntil, and once it is refuted: nobody relies on it, but it may still be refuted, or a
refutation turn out to be the source's fault."""
RETRY_SECONDS: Final = 3_600
"""The first look at a source that was away; then twice as long each time, up to the wait for one
that expired: most are back within hours, and one that is gone need not be asked every day."""
REST: Final = 100
"""How many times longer than a check takes the wait for the next one is at least: sources that drip
would keep the workers from all others."""
_MOST_DOUBLINGS: Final = 20

_AWAY: Final = frozenset({"source_unreachable"})


def is_away(report: Report) -> bool:
    """Tell whether a check did not get to read a source at all: it waits longer each time."""
    if all(unit.kind == "MANUAL" for unit in report.units):
        return False
    reasons = {reason for unit in report.units for reason in unit.reasons}
    return report.coverage == "BROKEN" or bool(reasons & _AWAY)


def is_early(report: Report) -> bool:
    """Tell whether a check came before asOf, and says nothing else of the record.

    A record of a pin is taken by the time of its block, and clocks are set back.
    """
    return bool(report.errors) and all(one.code == "E_ASOF_FUTURE" for one in report.errors)


def next_check(report: Report, failures: int, took: int = 0) -> str | None:
    """Give the moment of the next check after one that gave `report`; None for never.

    `failures` are the checks in a row, this one included, at which a source was away, `took` the
    seconds of this one. A record that cannot be walked (of a version that is only validated) is
    never checked again.
    """
    if report.basis == "NONE":
        return None
    now, until = report.now, report.valid_until
    is_over = now > until or report.judgement == "REFUTED"
    seconds = EXPIRED_SECONDS if is_over else _share(report.as_of, until)
    if failures:
        wait = RETRY_SECONDS * 2 ** min(failures - 1, _MOST_DOUBLINGS)
        seconds = max(seconds, wait) if is_over else wait
    seconds = min(max(seconds, REST * took), EXPIRED_SECONDS)
    due = _later(now, seconds)
    over = _later(until, 1)
    if now <= until and over is not None and (due is None or over < due):
        return over
    return due


def _share(begin: str, end: str) -> int:
    valid = int((parse_utc(end) - parse_utc(begin)).total_seconds())
    return max(SHORTEST_SECONDS, min(LONGEST_SECONDS, valid // SHARE))


def _later(text: str, seconds: int) -> str | None:
    try:
        return later(text, seconds)
    except InputError:  # the calendar ends with the year 9999
        return None
