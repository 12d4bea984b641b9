"""Receipts that claim ABSENT for a case, with each kind of evidence that a careless writer has."""

from collections.abc import Iterator, Sequence
from typing import Any

from cases.scripts import Case
from cases.walking import http
from refold.coverage.hashes import EMPTY_SET, query_hash
from refold.coverage.unit import Traversal
from refold.coverage.walk.walked import Walked

AS_OF = "2030-01-02T03:04:05Z"
NOW = "2030-01-03T03:04:05Z"
UNTIL = "2030-01-09T03:04:05Z"

EVIDENCE = (
    *(("EXHAUSTED", "SET_HASH"), ("CURSOR_END", "SET_HASH"), ("SINGLE_PAGE", "SET_HASH")),
    *(("CURSOR_END", "CURSOR"), ("SINGLE_PAGE", "ITEM_ID"), ("COUNT_MATCHED", "TOTAL_COUNT")),
)


def marker(kind: str, seen: Traversal) -> str:
    """Give what a walk over the case showed, or what a writer would have put in its place."""
    if kind == "SET_HASH":
        return seen.set_hash or EMPTY_SET
    if kind == "CURSOR":
        return "link:next="
    if kind == "ITEM_ID":
        return seen.last_id or "1"
    return seen.totals[0] if seen.totals else f"total={seen.distinct}"


def absent_receipts(case: Case, walked: Sequence[Walked]) -> Iterator[dict[str, Any]]:
    """Give one receipt for each kind of evidence."""
    recipes = [case.pins] if case.pins else [http(url, case.array) for url in case.urls]
    for termination, kind in EVIDENCE:
        units = [
            {
                "id": unit.traversal.unit,
                "replay": recipe,
                "boundary": {
                    "termination": termination,
                    "observed": unit.traversal.rows,
                    "endMarkerKind": kind,
                    "endMarker": marker(kind, unit.traversal),
                },
            }
            for recipe, unit in zip(recipes, walked, strict=True)
        ]
        yield {
            "v": "1.2.1",
            "claim": "ABSENT",
            "question": "Is there a needle?",
            "query": {"canon": case.canon, "queryHash": query_hash(case.canon)},
            "corpus": {"kind": "test", "asOf": AS_OF, "units": units},
            "result": {"matchCount": 0, "matches": [], "resultHash": EMPTY_SET},
            "justification": "no_match_in_full_coverage",
            "validUntil": UNTIL,
            "blindspots": [],
        }
