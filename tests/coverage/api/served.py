"""Coverage over HTTP for tests: a server whose verifications go to scripted sources on loopback."""

import io
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any

import httpx2

from agentpedia.api.served import ORIGIN
from agentpedia.api.served import Served as Client
from cases.receipts import NOW
from cases.servers import BASE
from cli.terminal import MINUTE
from refold.coverage.api import coverage_part
from refold.coverage.api.desk import Share
from refold.coverage.jobs.pace import Pace, Rhythm
from refold.coverage.jobs.walker import Walker
from refold.db import Database
from refold.kernel.utc import parse_utc
from refold.serving.application import application
from refold.serving.logs import make_log
from refold.serving.server import listen, serving

V1 = "/v1/coverage"
QUICK = Rhythm(0.0, 1)
LARGE = Share(jobs=50, verifying=QUICK, fresh=0)
"""What a test may have: as much as it likes, and nothing twice."""
Record = Mapping[str, Any]


def at(moment: str = NOW) -> Callable[[], datetime]:
    """Give a clock that stands still."""
    return lambda: parse_utc(moment)


def quick_pace() -> Pace:
    """Give a pace at which nothing waits."""
    return Pace(QUICK, QUICK)


def walker(origins: Mapping[str, str], **options: Any) -> Walker:
    """Give a walker without waits; `origins` may change while it is used."""
    given: dict[str, Any] = {"pace": quick_pace(), "retry_wait": 0.0, "now": at()} | options
    return Walker(origins=origins, **given)


class Served(Client):
    """A server, and what its verifications ask: `origins` may be changed."""

    origins: dict[str, str]

    def post(self, path: str, body: Record | bytes, **headers: str) -> httpx2.Response:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(V1 + path, content=data, headers=headers)

    def ended(self, job: str) -> Any:
        """Wait until a job has ended; give it."""
        deadline = time.monotonic() + MINUTE
        while (shown := self.json(f"{V1}/jobs/{job}"))["state"] in {"queued", "running"}:
            assert time.monotonic() < deadline, shown
            time.sleep(0.01)
        return shown

    def verified(self, record: Record | bytes, query: str = "") -> Any:
        """Verify, wait where it takes longer, and give the report."""
        answer = self.post(f"/verify{query}", record)
        assert answer.status_code in {200, 202}, (answer.text, self.log_lines()[-2:])
        told = answer.json()
        assert (told["report"] is None) == (answer.status_code == 202)
        return told["report"] or self.ended(told["job"]["id"])["report"]


@contextmanager
def served(url: str, origins: dict[str, str] | None = None, **options: Any) -> Iterator[Served]:
    """Serve from a database while open; options are those of `coverage_part`."""
    out = io.BytesIO()
    log = make_log(out)
    origins = {BASE: "http://127.0.0.1:9"} if origins is None else origins
    given: dict[str, Any] = {"now": at(), "share": LARGE} | options
    origin = given.pop("origin", ORIGIN)
    walk = given.pop("walk", None) or walker(origins)
    writes = given.pop("writes", True)
    with ExitStack() as stack:
        writing = stack.enter_context(Database.open(url, durability="normal"))
        database = stack.enter_context(Database.open(url, readonly=True))
        part = coverage_part(database, writing if writes else None, walk, **given)
        app = application([part], log=log, origin=origin)
        served_at = stack.enter_context(serving(app, listen("127.0.0.1", 0), log))
        http = httpx2.Client(base_url=served_at, trust_env=False, timeout=20)
        stack.enter_context(http)
        found = Served(served_at, http, out)
        found.origins = origins
        yield found
