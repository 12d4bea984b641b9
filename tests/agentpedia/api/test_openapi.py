"""The document describes what the API does: schemathesis, as anybody would run it, agrees."""

from pathlib import Path

from agentpedia.api.served import served, store_demo
from refold.db import Database
from serving.conformance import assert_conforms


def test_schemathesis_finds_nothing(database: Database, tmp_path: Path) -> None:
    """Over the demo wiki, with the tool's own defaults; seed and examples bound it."""
    store_demo(database)
    with served(database, origin="") as server:
        about = ("--include-path-regex", "agentpedia|healthz")
        assert_conforms(server.url, tmp_path, "--max-examples", "3", *about)
