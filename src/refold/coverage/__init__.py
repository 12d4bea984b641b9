"""Coverage receipts: what a search found or did not find, with proof of where each traversal ended.

    validation = validate(data, now)                      # every error, pure
    verdict = judge(validation.receipt, traversals, now)  # pure: what a replay says of it
    report = verify(data, transport, now)                 # all of it, with the walks
    built = build(read_plan(plan), transport, now)        # a receipt of what is there
    print(render(report))

The core decides without network and clock; a walk (`refold.coverage.walk`) gives one `Traversal`
for each unit, and asks the world through a `refold.coverage.transport`. Source: the coverage spec.
"""

from refold.coverage.build import Built, build
from refold.coverage.checks import Validation, validate, validate_value
from refold.coverage.codes import CODES, REASONS, Code, Reason, explain
from refold.coverage.compare import Comparison, compare
from refold.coverage.consensus import mode_of
from refold.coverage.hashes import query_hash, receipt_hash, result_hash, set_hash
from refold.coverage.judge import Facts, Verdict, judge, rule
from refold.coverage.match import Criterion, compile_criterion
from refold.coverage.plan import Plan, plan_of, read_plan
from refold.coverage.record import REPLAYABLE, VERSION, Receipt, receipt_of
from refold.coverage.render import render
from refold.coverage.report import Report, report_of, report_unreplayed
from refold.coverage.sarif import sarif
from refold.coverage.schemas import schema
from refold.coverage.unit import Found, Traversal
from refold.coverage.verify import verify
from refold.coverage.walk.budget import Budgets

__all__ = [
    "CODES",
    "REASONS",
    "REPLAYABLE",
    "VERSION",
    "Budgets",
    "Built",
    "Code",
    "Comparison",
    "Criterion",
    "Facts",
    "Found",
    "Plan",
    "Reason",
    "Receipt",
    "Report",
    "Traversal",
    "Validation",
    "Verdict",
    "build",
    "compare",
    "compile_criterion",
    "explain",
    "judge",
    "mode_of",
    "plan_of",
    "query_hash",
    "read_plan",
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
    "verify",
]
