"""A receipt as Markdown to paste into an issue, a review or a chat: short, and without a trap.

Words of strangers stand in code spans and nowhere else: there no Markdown turns them into HTML,
links, images, mentions or headings, and escaping alone would not stop bare addresses and @names.
Source: coverage spec §6; CommonMark §6.1.
"""

import re
from collections.abc import Iterator
from typing import Final

from refold.coverage.checks import Validation
from refold.coverage.record import HttpJson, Manual, Receipt, Unit
from refold.coverage.report import Report
from refold.coverage.statement import check_report
from refold.kernel.canon import canonical
from refold.kernel.errors import InputError, one_line

__all__ = ["MAX_LISTED", "code_span", "markdown"]

MAX_LISTED: Final = 10
"""Units, and matches, that are told; the others are counted."""

_TICKS: Final = re.compile("`+")


def markdown(validation: Validation, report: Report | None = None) -> str:
    """Give a valid record as Markdown, lines ended by newlines; with a `report`, its verdict too.

    Raises InputError with the errors of a record that is not valid; `report-of-another`.
    """
    receipt = validation.receipt
    if receipt is None:
        raise InputError.of(validation.errors)
    if report is not None:
        check_report(validation, report)
    return "".join(f"{line}\n" for line in _lines(receipt, validation.receipt_hash, report))


def code_span(text: str) -> str:
    """Give a text as a code span of Markdown, on one line, escaped and shortened as errors are."""
    shown = one_line(text)
    if not shown.strip(" "):
        return "(empty)" if not shown else f"({len(shown)} spaces)"
    ticks = "`" * (1 + max(map(len, _TICKS.findall(shown)), default=0))
    pad = " " if "`" in (shown[0], shown[-1]) or " " in (shown[0], shown[-1]) else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _lines(receipt: Receipt, receipt_hash: str, report: Report | None) -> Iterator[str]:
    corpus, result = receipt.corpus, receipt.result
    yield f"**Coverage receipt: {receipt.claim}** at {corpus.as_of}, until {receipt.valid_until}"
    yield ""
    yield f"- question: {code_span(receipt.question)}"
    yield f"- criterion: {code_span(canonical(receipt.query.canon).decode())}"
    if receipt.justification and receipt.claim != "PRESENT":
        yield f"- justification: `{receipt.justification}`"
    yield from _verdict(report)
    for unit in corpus.units[:MAX_LISTED]:
        yield f"- source {code_span(unit.id)}: {_source(unit)}"
        yield f"  - {_end(unit)}"
    yield from _more("source", len(corpus.units))
    yield f"- matches: {result.match_count:,}"
    for match in result.matches[:MAX_LISTED]:
        yield f"  - {code_span(match.id)}"
    yield from _more("match", len(result.matches), "  ")
    if not receipt.blindspots:
        yield "- blindspots: none, says the writer"
    for spot in receipt.blindspots:
        yield f"- blindspot {code_span(spot.what)}: {code_span(spot.why)}"
    yield f"- receiptHash `{receipt_hash}`"
    yield f"- queryHash `{receipt.query.query_hash}`"
    yield f"- resultHash `{result.result_hash}`"
    yield ""
    yield (
        "To check it: with the record in `receipt.json`, `refold coverage hash receipt.json` "
        "computes these hashes, `refold coverage verify receipt.json` walks the sources again."
    )


def _verdict(report: Report | None) -> Iterator[str]:
    if report is None:
        yield "- judgement: the reader's to compute; a writer may not state one"
        return
    coverage = f", coverage {report.coverage}" if report.coverage else ""
    reasons = f" ({', '.join(map(code_span, report.reasons))})" if report.reasons else ""
    basis = "" if report.basis == "LIVE" else f", from pages that are {report.basis}"
    # A report may come from anybody's file.
    yield f"- judged {report.judgement}{coverage}{reasons} at {code_span(report.now)}{basis}"


def _source(unit: Unit) -> str:
    replay = unit.replay
    if isinstance(replay, Manual):
        told = f": {code_span(replay.instructions)}" if replay.instructions else ""
        return f"only a person can look there{told}"
    if isinstance(replay, HttpJson):
        where = f", items at {code_span(replay.array_path)}" if replay.array_path else ""
        return f"{code_span(replay.url)}{where}"
    return f"pins at {code_span(replay.path)} of {code_span(replay.endpoint)}"


def _end(unit: Unit) -> str:
    boundary = unit.boundary
    rows = f"{boundary.observed:,} row{'' if boundary.observed == 1 else 's'}"
    marker = f" {code_span(boundary.end_marker)}" if boundary.end_marker else ""
    return f"{rows}, {boundary.termination} by {boundary.end_marker_kind}{marker}"


def _more(what: str, count: int, indent: str = "") -> Iterator[str]:
    if count > MAX_LISTED:
        yield f"{indent}- and {count - MAX_LISTED:,} more {what}{'es' if what == 'match' else 's'}"
