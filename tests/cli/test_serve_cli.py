"""`refold serve --sync`: one process that follows a chain and answers, and ends in order."""

import json
import time
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from cli.serving import running, stopped
from cli.terminal import MINUTE, refold
from contract.chainwiki import Bots
from metaid.worlds import World, world
from refold.kernel.errors import Exit

NOWHERE = "http://127.0.0.1:9"


def until_height(http: httpx2.Client, height: int) -> dict[str, Any]:
    """Wait until the view is at a height; give the status."""
    deadline = time.monotonic() + MINUTE
    while True:
        status: dict[str, Any] = http.get("/v1/agentpedia/status").json()
        if status["height"] == height:
            return status
        assert time.monotonic() < deadline, status
        time.sleep(0.1)


def wiki_on(here: World) -> Bots:
    here.net.quirks("man-p2p", ignores_reorgs=False)
    bots = Bots([here.net], Random(5))
    bots.write(5)
    bots.mine()
    return bots


def test_a_server_that_follows_answers_with_what_is_mined(tmp_path: Path) -> None:
    database = ("--database", f"sqlite:///{tmp_path / 'refold.db'}")
    with world() as here:
        bots = wiki_on(here)
        follow = ("--sync", here.url, "--allow", "127.0.0.0/8", "--genesis", bots.genesis)
        with running(*follow, *database) as (http, process):
            status = until_height(http, here.net.height)
            assert status["lag"] == 0
            assert status["genesis"] == bots.genesis
            held = refold("agentpedia", "sync", "--indexer", here.url, *database)
            assert (held.code, "database-held" in held.err) == (Exit.SOURCE, True)
            assert http.get("/ready").json()["ready"]
            log = stopped(process)
        events = [line["event"] for line in log]
        assert "synced" in events
        assert events[-1] == "stopped"
        assert not any("genesis" in json.dumps(line) for line in log)
    checked = refold("agentpedia", "check", "--genesis", bots.genesis, *database)
    assert checked.code == 0, checked.out


def test_an_indexer_that_is_away_is_logged_and_the_server_answers(tmp_path: Path) -> None:
    database = ("--database", f"sqlite:///{tmp_path / 'refold.db'}")
    with running("--sync", NOWHERE, "--allow", "127.0.0.0/8", *database) as (http, process):
        assert http.get("/v1/agentpedia/entries").json() == {"items": [], "nextCursor": None}
        assert http.get("/v1/agentpedia/status").json()["height"] is None
        assert http.get("/ready").status_code == 200
        stopped(process)


def test_a_part_that_does_not_run_cannot_follow(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'refold.db'}"
    done = refold("serve", "--parts", "nothing", "--sync", NOWHERE, "--database", database)
    assert done.code == Exit.USAGE
    assert "server-parts" in done.err
