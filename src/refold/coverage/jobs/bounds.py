"""Reports that are kept: a source of a stranger may match without end, and name as it likes.

What is left out is counted in the report, among the warnings of its first unit.
"""

from typing import Final

import msgspec

from refold.coverage.record import MAX_MATCH_ID
from refold.coverage.report import Report

__all__ = ["MAX_IDS", "bounded"]

MAX_IDS: Final = 1_000
"""Ids that match now, and ids that do not any more, in a report that is kept: as many as anybody
looks through; with their length it bounds a report to some megabytes."""


def bounded(report: Report) -> Report:
    """Give a report whose lists of ids have `MAX_IDS` each, in their order, and no longer ids."""
    more = sum(max(0, len(ids) - MAX_IDS) for ids in (report.added, report.removed))
    short = msgspec.structs.replace(
        report,
        added=tuple(map(_shortened, report.added[:MAX_IDS])),
        removed=report.removed[:MAX_IDS],
    )
    if not more or not report.units:
        return short
    first = report.units[0]
    warnings = (*first.warnings, f"{more:,} more added or removed ids are not listed")
    units = (msgspec.structs.replace(first, warnings=warnings), *report.units[1:])
    return msgspec.structs.replace(short, units=units)


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_MATCH_ID else f"{name[:MAX_MATCH_ID]}…"
