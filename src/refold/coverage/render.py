"""A report as text for a person: the verdict first, then each unit, then what would change it.

Plain lines, no colours; texts of strangers are escaped and cut (`kernel.errors.one_line`).
"""

from collections.abc import Iterator
from typing import Final

from refold.coverage.codes import REASONS
from refold.coverage.record import ceiling
from refold.coverage.report import Finding, Report, UnitReport
from refold.kernel.errors import one_line

__all__ = ["render"]

MAX_IDS: Final = 10
"""Ids told of those that came or went; the JSON report has all of them."""

_MEANINGS: Final = {
    "VERIFIED": "walked again, and the claim holds",
    "STALE": "it may have held; it does not describe the source now",
    "REFUTED": "the source shows that it was not so",
    "INCONCLUSIVE": "the walk proves neither it nor its opposite",
    "UNWALKED": "records of this version are only checked; nothing was walked",
    "INVALID": "the record breaks the rules of receipts; nothing was walked",
}


def render(report: Report) -> str:
    """Give the report as lines of text, each ended by a newline."""
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    coverage = f"  coverage {report.coverage}" if report.coverage else ""
    unwalked = report.judgement == "INCONCLUSIVE" and report.basis == "NONE"
    yield f"{report.judgement}{coverage}  {_MEANINGS['UNWALKED' if unwalked else report.judgement]}"
    if report.claim:
        yield f"  {report.claim} at {report.as_of}, valid until {report.valid_until}"
        yield f"  question: {one_line(report.question)}"
    if report.receipt_hash:
        yield f"  receiptHash {report.receipt_hash}"
    for reason in report.reasons:
        yield f"  {reason}: {REASONS[reason].says}"
    yield from _ids("matches now, not recorded", report.added)
    yield from _ids("recorded, not found now", report.removed)
    if report.mode:
        yield f"  consensus {report.mode} (no part of the verdict)"
    for source in report.sources:
        why = f": {one_line(source.why)}" if source.why else ""
        yield f"    {source.recheck} {one_line(source.operator)}, {one_line(source.locator)}{why}"
    for finding in (*report.errors, *report.warnings):
        yield from _finding(finding)
    for unit in report.units:
        yield from _unit(unit)
    yield from _changes(report)
    for origin, asked in report.origins.items():
        yield f"  {one_line(origin)} was asked at {one_line(asked)}"
    if report.basis == "RECORDED":
        yield "  the pages came from stored responses, not from the source"
    yield f"  {report.tool}, Unicode {report.unicode}, at {report.now}"


def _finding(finding: Finding) -> Iterator[str]:
    yield f"  {finding.code} at {one_line(finding.pointer) or 'the record'}"
    yield f"    {one_line(finding.message)}"
    yield f"    {finding.remedy}"


def _unit(unit: UnitReport) -> Iterator[str]:
    yield f"  unit {one_line(unit.id)}  {unit.kind}  {unit.coverage}"
    if unit.kind != "MANUAL":
        ends = ", ".join(unit.termination_replayed) or "no end proved"
        yield (
            f"    {_counted(unit.pages, 'page')}, {_counted(unit.observed_replayed, 'row')} "
            f"(recorded {unit.observed_recorded:,}), {ends} (recorded {unit.termination_recorded}),"
            f" {_counted(unit.bytes, 'byte')}, {_counted(unit.requests, 'request')}"
        )
    if unit.drift:
        yield f"    {unit.drift}: {REASONS[unit.drift].says}"
    if unit.kind != "MANUAL" and _is_capped(unit):
        stated = f"{unit.termination_recorded}, {unit.end_marker_kind}"
        yield f"    the record itself proves no end here ({stated}): PARTIAL at most"
    if unit.weak_evidence and unit.kind != "MANUAL":
        yield f"    weak evidence: {unit.end_marker_kind} cannot show that rows were swapped"
    for reason in unit.reasons:
        yield f"    {reason}: {one_line(unit.why.get(reason) or REASONS[reason].says)}"
        if unit.why.get(reason):
            yield f"      {REASONS[reason].says}"
    for warning in unit.warnings:
        yield f"    warning: {one_line(warning)}"


def _is_capped(unit: UnitReport) -> bool:
    """Tell whether the record alone keeps a unit below FULL (V-8)."""
    return ceiling(unit.kind, unit.termination_recorded, unit.end_marker_kind) != "FULL"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _ids(what: str, ids: tuple[str, ...]) -> Iterator[str]:
    if ids:
        shown = ", ".join(one_line(name) for name in ids[:MAX_IDS])
        more = f" and {len(ids) - MAX_IDS} more" if len(ids) > MAX_IDS else ""
        yield f"  {what}: {shown}{more}"


def _changes(report: Report) -> Iterator[str]:
    """Give what would change the verdict: the remedy of every reason, once."""
    if report.judgement in {"VERIFIED", "INVALID"}:
        return
    reasons = (*report.reasons, *(reason for unit in report.units for reason in unit.reasons))
    remedies = dict.fromkeys(
        REASONS[reason].remedy for reason in reasons if reason != "unit_unchanged"
    )
    if report.judgement == "INCONCLUSIVE":
        remedies |= dict.fromkeys(_left_open(report))
    if remedies:
        yield "  what would change it:"
        for remedy in remedies:
            yield f"    {remedy}"


def _left_open(report: Report) -> Iterator[str]:
    """Give what the record itself would have to say for another verdict."""
    if report.basis == "NONE":
        yield "Walk the sources again and issue a new receipt with version 1.2.1."
    asserts = report.claim != "INCONCLUSIVE"
    if asserts and any(unit.kind != "MANUAL" and _is_capped(unit) for unit in report.units):
        yield "Issue a receipt whose units state a proved end."
    if any(unit.kind == "MANUAL" for unit in report.units):
        yield "Nothing does for a MANUAL unit: only a person can look there."
