"""What the commands of `refold coverage` print: findings, comparisons, what was built."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from refold.cli.output import print_line
from refold.kernel.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from refold.coverage import Built, Comparison, Validation
    from refold.kernel.errors import Problem

FORMATS = ("text", "json", "sarif")


def note(code: str, text: str) -> None:
    """Say one line on standard error, beside the result."""
    line = f"refold: {code}: {one_line(text)}\n"
    sys.stderr.buffer.write(line.encode(errors="backslashreplace"))


def whoever_reads() -> AbstractContextManager[None]:
    """Print to whom it may concern: a reader who leaves, as `head` does, changes no exit code."""
    return suppress(BrokenPipeError)


def read_bounded(name: str) -> bytes:
    """Give a record's bytes, one more than may be at most: whoever checks them refuses more.

    Raises UsageError for a file that cannot be read.
    """
    from pathlib import Path

    from refold.cli.output import standard_input
    from refold.coverage.record import MAX_RECORD_BYTES
    from refold.kernel.errors import UsageError

    if name == "-":
        return standard_input().read(MAX_RECORD_BYTES + 1)
    try:
        with Path(name).open("rb") as file:
            return file.read(MAX_RECORD_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            "file-unreadable", f"{name}: {why}", "give a file, or - for standard input"
        ) from error


def print_validation(name: str, validation: Validation) -> None:
    """Print what the checks say of one file: the verdict, then each finding with its remedy."""
    warned = f", {_counted(len(validation.warnings), 'warning')}" if validation.warnings else ""
    if validation.receipt is not None:
        receipt = validation.receipt
        print_line(f"VALID  {one_line(name)}  {receipt.claim}, version {receipt.v}{warned}")
    else:
        print_line(
            f"INVALID  {one_line(name)}  {_counted(len(validation.errors), 'error')}{warned}"
        )
    if validation.receipt_hash:
        print_line(f"  receiptHash {validation.receipt_hash}")
    print_findings([*validation.errors, *validation.warnings])


def print_findings(problems: Sequence[Problem]) -> None:
    """Print findings: code and place, what is wrong, what to do."""
    for problem in problems:
        print_line(f"  {problem.code} at {one_line(problem.pointer) or 'the record'}")
        print_line(f"    {one_line(problem.message)}")
        print_line(f"    {problem.hint}")


def validation_json(name: str, validation: Validation) -> dict[str, Any]:
    """Give what the checks say of one file as JSON members."""
    told = {
        "errors": [_finding(problem) for problem in validation.errors],
        "warnings": [_finding(problem) for problem in validation.warnings],
    }
    head = {"file": name.encode(errors="backslashreplace").decode(), "valid": validation.is_valid}
    return {**head, "receiptHash": validation.receipt_hash, **told}


def print_comparison(comparison: Comparison, names: tuple[str, str]) -> None:
    """Print what holds between two receipts: the verdict first."""
    first, second = map(one_line, names)
    if comparison.equivocations:
        print_line(f"EQUIVOCATION  {first} and {second} show one source with two digests")
    elif not comparison.is_clean:
        print_line(f"NO SUCCESSION  {second} names {first} in supersedes and may not")
    elif comparison.may_supersede:
        print_line(f"SUCCESSION  {second} supersedes {first}; both stay listed")
    else:
        print_line(f"NO CONFLICT  {first} and {second}")
    print_line(f"  the same question: {_yes(comparison.same_question)}")
    print_line(f"  the second was walked later: {_yes(comparison.later)}")
    if comparison.names_first is not None:
        print_line(f"  the second names the first: {_yes(comparison.names_first)}")
    print_line(f"  one signing window: {_yes(comparison.same_window)}")
    for found in comparison.equivocations:
        print_line(f"  {one_line(found.operator)}, {one_line(found.locator)}, {found.frame}:")
        print_line(f"    {found.digests[0]}, then {found.digests[1]}")
    for what, ids in (
        ("only the second", comparison.added),
        ("only the first", comparison.removed),
    ):
        for name in ids:
            print_line(f"  matched by {what}: {one_line(name)}")


def print_built(built: Built, place: str) -> None:
    """Print what was built: the claim, then each unit and blindspot, then where it is."""
    from refold.coverage import REASONS

    receipt, report = built.receipt, built.report
    label = f"  {receipt.justification}" if receipt.justification else ""
    print_line(f"{receipt.claim}  coverage {report.coverage}{label}")
    print_line(f"  question: {one_line(receipt.question)}")
    print_line(f"  receiptHash {report.receipt_hash}")
    print_line(f"  at {receipt.corpus.as_of}, valid until {receipt.valid_until}")
    for match in receipt.result.matches[:10]:
        print_line(f"  match {one_line(match.id)}")
    if len(receipt.result.matches) > 10:
        print_line(f"  and {len(receipt.result.matches) - 10:,} more matches")
    for unit in report.units:
        print_line(f"  unit {one_line(unit.id)}  {unit.kind}  {unit.coverage}")
        if unit.kind != "MANUAL":
            print_line(
                f"    {_counted(unit.pages, 'page')}, {_counted(unit.observed_replayed, 'row')}, "
                f"{unit.termination_recorded} by {unit.end_marker_kind}, "
                f"{_counted(unit.requests, 'request')}"
            )
        for reason in unit.reasons:
            print_line(f"    {reason}: {one_line(unit.why.get(reason) or REASONS[reason].says)}")
    for spot in receipt.blindspots:
        print_line(f"  blindspot {one_line(spot.what)}: {one_line(spot.why)}")
    print_line(f"  written to {one_line(place)}")


def built_json(built: Built, place: str) -> dict[str, Any]:
    """Give what was built as JSON members."""
    receipt, report = built.receipt, built.report
    return {
        "file": place.encode(errors="backslashreplace").decode(),
        "claim": receipt.claim,
        "justification": receipt.justification,
        "coverage": report.coverage,
        "receiptHash": report.receipt_hash,
        "matchCount": receipt.result.match_count,
        "units": report.units,
    }


def _finding(problem: Problem) -> dict[str, str]:
    return {
        "code": problem.code,
        "pointer": problem.pointer,
        "message": problem.message,
        "remedy": problem.hint,
    }


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
