"""Each case of the cases page: what the walk says of it, and that no receipt comes out of it wrong.

The rule for all of them: never a false ABSENT, never VERIFIED.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cases.receipts import NOW, absent_receipts
from cases.scripts import CASES, Case
from cases.walking import coverage_of, sources_of, walk, walking
from refold.coverage.checks import validate
from refold.coverage.judge import Verdict, judge
from refold.coverage.record import Receipt
from refold.coverage.transport.recording import Recorded, Recorder
from refold.coverage.walk.walked import Walked, listed

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@every_case
def test_the_walk_says_what_it_must(case: Case) -> None:
    with walking(case) as (transport, answers):
        walked = walk(case, transport)
    first = walked[0].traversal
    assert coverage_of(walked) == case.coverage, [unit.why for unit in walked]
    if case.reasons or case.coverage == "FULL":
        assert {unit.traversal.reasons for unit in walked} == {case.reasons}
    assert [found.id for unit in walked for found in unit.traversal.matches] == list(case.found)
    if case.ends is not None:
        assert {unit.traversal.ends for unit in walked} == {case.ends}
    if case.requests is not None:
        assert len(answers.asked) == case.requests
        assert sum(unit.traversal.requests for unit in walked) == case.requests
    if case.rows is not None:
        assert sum(unit.traversal.rows for unit in walked) == case.rows
    if case.digest:
        assert [found.digest for found in first.matches] == [case.digest]
    if case.statuses is not None:
        assert first.status_counts == case.statuses
    for unit in walked:
        assert set(unit.why) <= set(unit.traversal.reasons)
        pages = [proof for proof in unit.proofs if proof.role == "page"]
        assert len(pages) >= unit.traversal.pages


def verdicts(case: Case, walked: Sequence[Walked]) -> list[Verdict]:
    """Give the verdicts on all receipts that claim ABSENT of a case and are valid."""
    receipts: list[Receipt] = []
    for record in absent_receipts(case, walked):
        receipt = validate(json.dumps(record).encode(), NOW).receipt
        receipts += [] if receipt is None else [receipt]
    assert receipts
    return [judge(receipt, [unit.traversal for unit in walked], NOW) for receipt in receipts]


@every_case
def test_no_receipt_of_absence_is_verified_unless_it_is_true(case: Case) -> None:
    with walking(case) as (transport, _):
        walked = walk(case, transport)
    for verdict in verdicts(case, walked):
        if case.coverage == "FULL" and not case.found:
            assert verdict.judgement == "VERIFIED"
        elif case.found:
            assert verdict.judgement in {"REFUTED", "STALE"}
        else:
            assert verdict.judgement == "INCONCLUSIVE"
        if not any(unit.traversal.pages for unit in walked):
            assert verdict.coverage == "BROKEN"
        else:
            assert verdict.coverage == case.coverage


@every_case
def test_kept_answers_give_the_same_walk(case: Case, tmp_path: Path) -> None:
    with walking(case) as (transport, _):
        walked = walk(case, Recorder(transport, tmp_path))
    assert walk(case, Recorded(tmp_path)) == walked


@every_case
def test_a_record_is_walked_as_it_says(case: Case) -> None:
    with walking(case) as (transport, _):
        walked = walk(case, transport)
    for record in absent_receipts(case, walked):
        receipt = validate(json.dumps(record).encode(), NOW).receipt
        if receipt is not None:
            recipes = [source.replay for source in map(listed, receipt.corpus.units)]
            assert recipes == [source.replay for source in sources_of(case)]
