"""Coverage receipts: what a search found or did not find, with proof of where each traversal ended.

    validation = validate(data, now)                      # every error, pure
    verdict = judge(validation.receipt, traversals, now)  # pure: what a replay says of it
    print(render(report_of(validation, traversals, verdict, now)))

The core decides without network and clock; a walk (`refold.coverage.walk`) gives one `Traversal`
for each unit. Source: the coverage spec.
"""

from refold.coverage.checks import Validation, validate, validate_value
from refold.coverage.codes import CODES, REASONS, Code, Reason, explain
from refold.coverage.consensus import mode_of
from refold.coverage.hashes import query_hash, receipt_hash, result_hash, set_hash
from refold.coverage.judge import Facts, Verdict, judge, rule
from refold.coverage.match import Criterion, compile_criterion
from refold.coverage.record import REPLAYABLE, VERSION, Receipt, receipt_of
from refold.coverage.render import render
from refold.coverage.report import Report, report_of, report_unreplayed
from refold.coverage.sarif import sarif
from refold.coverage.schemas import schema
from refold.coverage.unit import Found, Traversal

__all__ = [
    "CODES",
    "REASONS",
    "REPLAYABLE",
    "VERSION",
    "Code",
    "Criterion",
    "Facts",
    "Found",
    "Reason",
    "Receipt",
    "Report",
    "Traversal",
    "Validation",
    "Verdict",
    "compile_criterion",
    "explain",
    "judge",
    "mode_of",
    "query_hash",
    "receipt_hash",
    "receipt_of",
    "render",
    "report_of",
    "report_unreplayed",
    "result_hash",
    "rule",
    "sarif",
    "schema",
    "set_hash",
    "validate",
    "validate_value",
]
