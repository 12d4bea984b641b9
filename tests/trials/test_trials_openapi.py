"""The description of the routes of cold trials agrees with what they do."""

from pathlib import Path

from refold.trials.limits import RATES
from serving.conformance import assert_conforms
from trials.nodes import running

# No schema says that a signature fits, so what has the right form may be refused.
CONFIG = """
[[operations]]
include-path-regex = "/v1/(messages|preview|admission/answer)$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "422", "429"]
"""


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """Over a node with some posts and without limits; seed and examples bound it."""
    with running(tmp_path, counts=dict.fromkeys((rate.id for rate in RATES), 0)) as node:
        node.admit(1)
        for number in range(3):
            node.take(f"post {number}")
        assert_conforms(
            node.url,
            tmp_path,
            *("--url", node.url, "--max-examples", "3", "--phases", "examples,coverage,fuzzing"),
            *("--include-path-regex", "^/v1/(admission|messages|preview|public)"),
            *("--exclude-path-regex", "^/v1/public/(tile|log|checkpoint|messages/.*/proof)"),
            config=CONFIG,
        )
