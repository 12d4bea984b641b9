"""A receipt as an unsigned in-toto statement: to be signed outside of the record (spec §6, F-36).

Source: in-toto Attestation Framework, Statement v1. The subject is the receipt, by its receiptHash.
"""

from typing import Any, Final

from refold.coverage.checks import Validation
from refold.coverage.codes import CODES, REASONS
from refold.coverage.report import Report
from refold.kernel.errors import InputError

__all__ = ["PREDICATE", "STATEMENT", "check_report", "statement"]

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "urn:refold:coverage-receipt:1.2.1"


def statement(
    validation: Validation, name: str = "receipt", report: Report | None = None
) -> dict[str, Any]:
    """Give the statement about a valid record, a JSON value; `name` is what to call the subject.

    With a `report` the predicate says what its replay gave. Raises InputError: the errors of a
    record that is not valid, which nobody should sign; `report-of-another`.
    """
    receipt = validation.receipt
    if receipt is None:
        raise InputError.of(validation.errors)
    predicate: dict[str, Any] = {
        "claim": receipt.claim,
        "question": receipt.question,
        "asOf": receipt.corpus.as_of,
        "validUntil": receipt.valid_until,
        "queryHash": receipt.query.query_hash,
        "resultHash": receipt.result.result_hash,
        "matchCount": receipt.result.match_count,
    }
    if report is not None:
        check_report(validation, report)
        predicate["replay"] = {
            "judgement": report.judgement,
            "coverage": report.coverage,
            "at": report.now,
            "basis": report.basis,
            "tool": report.tool,
        }
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": validation.receipt_hash}}],
        "predicateType": PREDICATE,
        "predicate": predicate,
    }


def check_report(validation: Validation, report: Report) -> None:
    """See to it that a report is on this record, in words that are known.

    Raises InputError: `report-of-another`, `report-words`.
    """
    if report.receipt_hash != validation.receipt_hash:
        raise InputError(
            "report-of-another",
            f"the report is on {report.receipt_hash or 'no record'}",
            f"give the one on {validation.receipt_hash}",
        )
    words = {*report.reasons, *(reason for unit in report.units for reason in unit.reasons)}
    codes = {finding.code for finding in (*report.errors, *report.warnings)}
    unknown = sorted(words - REASONS.keys()) + sorted(codes - CODES.keys())
    if unknown:
        raise InputError(
            "report-words", f"the report names {unknown[0]}, which is no code", "verify again"
        )
