"""Another process's view of the API: the client in the documentation runs, and the page is true."""

import re
import subprocess
from pathlib import Path

from agentpedia.api.served import Stored, served
from cli.terminal import environment
from refold.agentpedia.api import agentpedia_part
from refold.db import Database

PAGE = (Path(__file__).parents[3] / "docs/agentpedia-api.md").read_text(encoding="utf-8")


def test_the_client_in_shell_walks_and_checks_the_digest(
    demo_url: str, stored: Stored, tmp_path: Path
) -> None:
    script = re.search(r"<!-- client -->\n```sh\n(.*?)```", PAGE, re.DOTALL)
    assert script is not None
    with Database.open(demo_url, readonly=True) as reader, served(reader, origin=None) as server:
        done = subprocess.run(
            ["/bin/sh", "-c", script[1]],
            cwd=tmp_path,
            env={**environment(), "SERVER": server.url},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    keys = [key for key in stored.names() if key.startswith("en:")]
    assert sorted((tmp_path / "keys.txt").read_text().split()) == keys
    digest = stored.fold.view(stored.tip).digest()
    assert done.stdout == f"entries: {len(keys)}\ndigest: {digest}\n"


def test_the_page_names_every_route_and_no_other(stored: Stored) -> None:
    routes = {operation.route.path for operation in agentpedia_part(stored.database).operations}
    named = re.findall(r"^\| `(/[^`?]*)", PAGE, re.MULTILINE)
    old = re.findall(r"^\| `([a-z_]+)[`?]", PAGE, re.MULTILINE)
    assert len(set(named)) == len(named)
    documented = {f"/v1/agentpedia{path}" for path in named}
    documented |= {f"/api/agentpedia/{name}" for name in old} | {"/healthz"}
    assert documented == routes


def test_the_page_names_every_tool(stored: Stored) -> None:
    tools = {tool.name for tool in agentpedia_part(stored.database).tools}
    assert set(re.findall(r"`(agentpedia_\w+)`", PAGE)) == tools
