"""Walks of coverage receipts: rows a second over loopback, and where the time goes.

A server of its own process answers with 100 pages of 100 rows, joined by links. All of `verify` is
measured: the checks of the record, the walk with the second reading of its first page, the hashes
and the judgement. The baseline reads the same bytes with `json.loads` and does nothing else. Times
are CPU seconds of the verifier's process, so the server's work does not count.
"""

import json
import multiprocessing
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from harness import Figure, arguments, median
from refold.coverage.hashes import EMPTY_SET, query_hash, set_hash
from refold.coverage.match import compile_criterion
from refold.coverage.transport.live import Live, policy_of
from refold.coverage.verify import verify
from refold.coverage.walk.asking import Ask, Basis, Batch
from refold.coverage.walk.budget import Budgets
from refold.coverage.walk.page import Page
from refold.kernel.fetch import GuardedClient

BASE = "https://api.example.test"
NOW = "2030-01-03T00:00:00Z"
PAGES, ROWS = 100, 100
QUICK_PAGES = 30
ROUNDS = 5
GOAL = "≥ 50,000 on one core"
CANON = {"caseFold": True, "match": {"field": "name", "op": "contains", "value": "receipt"}}


def row(number: int) -> dict[str, Any]:
    """Give a row as lists of repositories have them, shortened."""
    return {
        "id": number,
        "name": f"harbour-{number}",
        "description": "Times of high and low water, and who wrote them down.",
        "archived": False,
        "stars": number % 97,
        "owner": {"login": "acme", "id": 7},
    }


def page(number: int) -> bytes:
    """Give the body of page n, counted from 1."""
    first = (number - 1) * ROWS
    return json.dumps({"items": [row(first + n) for n in range(ROWS)]}).encode()


def serve(ready: Connection, pages: int) -> None:
    """Answer pages for ever, one connection after the other."""
    answers = {}
    for number in range(1, pages + 1):
        body = page(number)
        link = f'Link: </items?page={number + 1}>; rel="next"\r\n' if number < pages else ""
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{link}"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        answers[b"/items?page=%d" % number] = head.encode() + body
    listener = socket.create_server(("127.0.0.1", 0))
    ready.send(listener.getsockname()[1])
    while True:
        peer, _ = listener.accept()
        with peer:
            pending = b""
            while received := peer.recv(65_536):
                pending += received
                while b"\r\n\r\n" in pending:
                    request, _, pending = pending.partition(b"\r\n\r\n")
                    peer.sendall(answers[request.split(b" ", 2)[1]])


@contextmanager
def serving(pages: int) -> Iterator[str]:
    """Give the origin of a server of its own process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, pages), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


def receipt(pages: int) -> bytes:
    """Give the record that says what is so."""
    ids = map(str, range(pages * ROWS))
    boundary = {"termination": "CURSOR_END", "observed": pages * ROWS, "endMarkerKind": "SET_HASH"}
    replay = {"kind": "HTTP_JSON", "url": f"{BASE}/items?page=1", "arrayPath": "items"}
    unit = {
        "id": "list",
        "replay": replay,
        "boundary": {**boundary, "endMarker": set_hash(ids)},
    }
    record = {
        "v": "1.2.1",
        "claim": "ABSENT",
        "question": "Does any of them mention receipts?",
        "query": {"canon": CANON, "queryHash": query_hash(CANON)},
        "corpus": {"kind": "list", "asOf": "2030-01-02T00:00:00Z", "units": [unit]},
        "result": {"matchCount": 0, "matches": [], "resultHash": EMPTY_SET},
        "justification": "no_match_in_full_coverage",
        "validUntil": "2030-01-09T00:00:00Z",
        "blindspots": [],
    }
    return json.dumps(record).encode()


class Timed:
    """A transport that counts the CPU seconds spent in another."""

    basis: Basis = "LIVE"

    def __init__(self, transport: Live) -> None:
        self.seconds = 0.0
        self._transport = transport

    def ask(self, asks: Sequence[Ask]) -> Batch:
        """Give what the other gives."""
        start = time.process_time()
        batch = self._transport.ask(asks)
        self.seconds += time.process_time() - start
        return batch


def measured(client: GuardedClient, record: bytes) -> tuple[float, float]:
    """Verify a record; give the CPU seconds of all and of the network."""
    start = time.process_time()
    transport = Timed(Live(client))
    report = verify(record, transport, NOW)
    seconds = time.process_time() - start
    if report.judgement != "VERIFIED":
        raise SystemExit(f"the record of this benchmark is {report}")
    return seconds, transport.seconds


def parse(bodies: Sequence[bytes]) -> float:
    """Give the CPU seconds of reading all items strictly."""
    start = time.process_time()
    for body in bodies:
        for _ in Page(body, "items").items():
            pass
    return time.process_time() - start


def match(bodies: Sequence[bytes]) -> float:
    """Give the CPU seconds of matching all items."""
    items = [item for body in bodies for item in Page(body, "items").items()]
    scan = compile_criterion(CANON).scan()
    start = time.process_time()
    for item in items:
        scan.matches(item)
    return time.process_time() - start


def loads(bodies: Sequence[bytes]) -> float:
    """Give the CPU seconds of `json.loads`."""
    start = time.process_time()
    for body in bodies:
        json.loads(body)
    return time.process_time() - start


def row_figures(*, quick: bool) -> Iterator[Figure]:
    """Measure a verification, and its parts apart."""
    pages = QUICK_PAGES if quick else PAGES
    rows = pages * ROWS
    bodies, record = [page(number) for number in range(1, pages + 1)], receipt(pages)
    with (
        serving(pages) as origin,
        GuardedClient(policy_of(Budgets(), origin_map={BASE: origin})) as client,
    ):
        measured(client, record)  # reads the certificate authorities once
        runs = sorted(measured(client, record) for _ in range(ROUNDS))
    seconds, network = runs[len(runs) // 2]
    bare = median(ROUNDS, loads, bodies)
    baseline = f"json.loads alone, {rows / bare:,.0f} rows/s"
    yield Figure("coverage.rows_per_s", rows / seconds, "rows/s", baseline, GOAL)
    yield Figure("coverage.loads_ratio", seconds / bare, "×", "json.loads of the same bytes")
    parts = {
        "network": network,
        "parse": median(ROUNDS, parse, bodies),
        "match": median(ROUNDS, match, bodies),
    }
    parts["rest"] = seconds - sum(parts.values())
    for name, part in parts.items():
        yield Figure(f"coverage.share_{name}", 100 * part / seconds, "%", "a verification")


def main() -> None:
    """Print every figure."""
    options = arguments("Walks of coverage receipts, over loopback.")
    for figure in row_figures(quick=options.quick):
        figure.print(as_json=options.json)


if __name__ == "__main__":
    main()
