"""The document describes what the API does: schemathesis, as anybody would run it, agrees."""

import subprocess
import sys
from pathlib import Path

from agentpedia.api.served import served, store_demo
from cli.terminal import environment
from refold.db import Database


def test_schemathesis_finds_nothing(database: Database, tmp_path: Path) -> None:
    """Over the demo wiki, with the tool's own defaults; seed and examples bound it."""
    store_demo(database)
    with served(database, origin="") as server:
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                *("run", f"{server.url}/openapi.json", "--max-examples", "3", "--seed", "1"),
                *("--include-path-regex", "agentpedia|healthz"),
            ],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr
