"""The document describes what the API does: schemathesis, as anybody would run it, agrees."""

from pathlib import Path

from coverage.api.served import served
from coverage.receipts import VALID
from serving.conformance import assert_conforms

# A body of these is any bytes, and a schema cannot say which are a record whose hashes fit.
CONFIG = """
[[operations]]
include-path-regex = "/v1/coverage/(receipts|canon)"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "422", "429"]
"""


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """With the tool's own defaults, over some stored receipts; examples bound it."""
    with served(f"sqlite:///{tmp_path / 'refold.db'}", origin="") as server:
        for make in VALID.values():
            assert server.post("/receipts", make()).status_code == 201
        only = ("--max-examples", "2", "--include-path-regex", "/v1/coverage")
        assert_conforms(server.url, tmp_path, *only, config=CONFIG)
