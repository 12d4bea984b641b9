"""Coverage receipts: how many records of 1 KB the validator checks a second on one core.

Then how many rows a second a verification walks: `coverage_rows.py`, which runs alone too.
The baseline decodes the same bytes with `json.loads` in the same run and checks nothing. All times
are CPU seconds of the process.
"""

import json
import time
from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

from coverage_rows import row_figures
from harness import Figure, arguments, median
from refold.coverage.checks import validate
from refold.coverage.hashes import query_hash, set_hash
from refold.kernel.canon import digest

NOW = "2030-01-03T00:00:00Z"
KINDS = 200
RECORDS, QUICK = 20_000, 2_000
SIZE = 1_024
ROUNDS = 5
GOAL = 5_000


def receipt(number: int) -> bytes:
    """Give a valid receipt of 1 KB, each with other texts and hashes."""
    canon = {"caseFold": True, "match": {"field": "name", "op": "contains", "value": f"r{number}"}}
    ids = [f"acme/repository-{number}-{row}" for row in range(3)]
    record: dict[str, Any] = {
        "v": "1.2.1",
        "claim": "ABSENT",
        "question": f"Does any repository in list {number} have this name?",
        "query": {"canon": canon, "queryHash": query_hash(canon)},
        "corpus": {
            "kind": "repo-list",
            "asOf": "2030-01-02T03:04:05Z",
            "units": [
                {
                    "id": f"list-{number}",
                    "replay": {
                        "kind": "HTTP_JSON",
                        "url": f"https://api.example.test/lists/{number}",
                        "arrayPath": "items",
                    },
                    "boundary": {
                        "termination": "CURSOR_END",
                        "observed": len(ids),
                        "endMarkerKind": "SET_HASH",
                        "endMarker": set_hash(ids),
                    },
                }
            ],
        },
        "result": {"matchCount": 0, "matches": [], "resultHash": digest([])},
        "justification": "no_match_in_full_coverage",
        "validUntil": "2030-01-09T03:04:05Z",
        "blindspots": [],
    }
    record["note"] = ""
    record["note"] = "n" * (SIZE - len(json.dumps(record, separators=(",", ":"))))
    return json.dumps(record, separators=(",", ":")).encode()


def seconds(records: list[bytes], read: Callable[[bytes], object]) -> float:
    """Give the CPU seconds that reading the records takes."""
    before = time.process_time()
    for record in records:
        read(record)
    return time.process_time() - before


def check(record: bytes) -> None:
    """Validate a record, which must be valid: errors would be another work."""
    if validate(record, NOW).errors:
        raise SystemExit("the benchmark's receipt is not valid")


def main() -> None:
    """Print the figures."""
    options = arguments(__doc__ or "")
    count = QUICK if options.quick else RECORDS
    made = [receipt(number) for number in range(KINDS)]
    records = list(islice(cycle(made), count))
    seconds(records[:KINDS], check)
    checked = median(ROUNDS, seconds, records, check)
    decoded = median(ROUNDS, seconds, records, json.loads)
    per_second = Figure(
        "coverage.validate_per_s",
        count / checked,
        "receipts/s",
        f"json.loads of the same bytes: {count / decoded:,.0f}/s",
        f">= {GOAL:,}",
    )
    per_second.print(as_json=options.json)
    ratio = Figure("coverage.validate_ratio", checked / decoded, "", "json.loads of the same bytes")
    ratio.print(as_json=options.json)
    for figure in row_figures(quick=options.quick):
        figure.print(as_json=options.json)


if __name__ == "__main__":
    main()
