"""`refold serve` is killed in the middle of a verification: the next one ends it."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import httpx2

from cases.servers import BASE, expanded
from cli.serving import running, stopped
from cli.terminal import MINUTE
from coverage.receipts import example
from kernel.hostile import Peer, serving
from refold.coverage import query_hash, set_hash

V1 = "/v1/coverage"
PAGES = 3


class Slow:
    """A list of three pages whose second one waits until it is let go."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.reached = Event()
        self.go = Event()

    def __call__(self, peer: Peer) -> None:
        while request := peer.request():
            target = request.split(b" ", 2)[1].decode()
            self.asked.append(target)
            number = int(target.partition("c=")[2] or 1)
            if number == 2:
                self.reached.set()
                self.go.wait(MINUTE)
            link = f'Link: <{BASE}/items?c={number + 1}>; rel="next"\r\n' if number < PAGES else ""
            rows = expanded(f"range({number * 3 - 2},{number * 3})", BASE)
            body = json.dumps({"items": rows}).encode()
            head = f"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n{link}"
            peer.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)


def absent() -> dict[str, Any]:
    """Give a receipt that says truly that the list has no needle, walked a while ago."""
    record = example()
    canon = {"match": {"field": "name", "op": "eq", "value": "needle"}}
    record["query"] = {"canon": canon, "queryHash": query_hash(canon)}
    boundary = record["corpus"]["units"][0]["boundary"]
    boundary |= {"observed": 9, "endMarker": set_hash(map(str, range(1, 10)))}
    record["corpus"]["asOf"] = "2020-01-02T03:04:05Z"
    record["validUntil"] = "2999-01-02T03:04:05Z"
    return record


@contextmanager
def slow_source() -> Iterator[tuple[Slow, str]]:
    slow = Slow()
    with serving(slow) as server:
        try:
            yield slow, f"{BASE}={server.origin}"
        finally:
            slow.go.set()


def ended(http: httpx2.Client, job: str) -> dict[str, Any]:
    deadline = time.monotonic() + MINUTE
    while True:
        shown: dict[str, Any] = http.get(f"{V1}/jobs/{job}").json()
        if shown["endedAt"] is not None:
            return shown
        assert time.monotonic() < deadline, shown
        time.sleep(0.05)


def test_a_job_is_done_after_its_server_was_killed(database_url: str) -> None:
    database = ("--database", database_url)
    record = json.dumps(absent()).encode()
    with slow_source() as (slow, mapped):
        with running(*database, REFOLD_COVERAGE_ORIGINS=mapped) as (http, process):
            stored = http.post(f"{V1}/receipts", content=record)
            assert stored.status_code == 201
            name = stored.json()["id"]
            assert slow.reached.wait(MINUTE)
            answer = http.post(f"{V1}/verify?wait=0", content=record)
            assert answer.status_code == 202
            assert answer.headers["location"].endswith(f"{V1}/jobs/{answer.json()['job']['id']}")
            process.kill()
            process.wait(MINUTE)
        assert slow.asked == ["/items", "/items?c=2"]
        slow.go.set()
        with running(*database, REFOLD_COVERAGE_ORIGINS=mapped) as (http, process):
            job = ended(http, answer.json()["job"]["id"])
            assert (job["state"], job["report"]["judgement"]) == ("done", "VERIFIED")
            shown = http.get(f"{V1}/receipts/{name}").json()
            assert [one["judgement"] for one in shown["judgements"]] == ["VERIFIED"]
            assert http.get("/ready").json()["ready"]
            log = stopped(process)
    assert [line["event"] for line in log if line["level"] in {"warning", "error"}] == []
