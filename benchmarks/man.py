"""The client of MAN indexers: pins a second over loopback, requests and bytes of 100,000 pins.

A server of its own process answers with pages of 100 rows with bodies of 2 KB, as the indexers of
April 2026 list them. The baseline reads the same pages with httpx2 and decodes their JSON, and does
nothing else: no address is judged, no envelope checked, no pin merged, no body compared. All times
are CPU seconds of the reader's process, so the server's work does not count.
"""

import json
import multiprocessing
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import httpx2

from harness import Figure, arguments, median
from refold.kernel.fetch import GuardedClient
from refold.kernel.policy import FetchPolicy
from refold.metaid.man.client import MAX_SIZE, ManClient
from refold.metaid.man.report import WalkReport
from refold.metaid.man.walk import Walk

SAMPLE = Path(__file__).parents[1] / "tests/vectors/metaid/pin_detail.json"
PATH = "/protocols/agentpedia/rev"
BODY = 2048
PINS = 100_000
TIMED = 20_000
QUICK = 10_000
ROUNDS = 5
MAX_REQUESTS, MAX_MEGABYTES = 1_200, 720


def row() -> bytes:
    """Give a row as it was listed in April 2026, with a revision of 2 KB for its body."""
    listed = json.loads(SAMPLE.read_text(encoding="utf-8"))["data"]
    content = "A **tide table** lists the times of high water. See [[harbour_pilot]].\n" * 40
    payload = {"v": 1, "slug": "tide_table", "lang": "en", "type": "edit", "content": content}
    body = json.dumps(payload)[: BODY - 2] + '"}'
    whole = {"contentBody": "", "contentSummary": body, "contentLength": len(body)}
    return json.dumps(listed | whole | {"preview": "", "path": PATH}).encode()


def page_maker(pins: int) -> Callable[[int], bytes]:
    """Give a function that makes the HTTP answer with page n, the newest pins first."""
    sample = row()
    txid, height = json.loads(sample)["genesisTransaction"], json.loads(sample)["genesisHeight"]
    *before, after = sample.split(txid.encode())
    told = b'"genesisHeight": %d'

    def make(number: int) -> bytes:
        start, end = number * MAX_SIZE, min(pins, (number + 1) * MAX_SIZE)
        rows = []
        for pin in range(start, end):
            name = b"%064x" % pin
            text = name.join([*before, after])
            rows.append(text.replace(told % height, told % (height - pin // 50)))
        listed = b"[" + b",".join(rows) + b"]" if rows else b"null"
        cursor = b"%d&mvc" % (number + 1) if rows else b""
        body = b'{"code":1,"message":"ok","data":{"list":%b,"nextCursor":"%b","total":%d}}'
        body %= (listed, cursor, pins)
        return (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (
                len(body),
                body,
            )
        )

    return make


def serve(ready: Connection, pins: int) -> None:
    """Answer lists for ever, one connection after the other."""
    make = page_maker(pins)
    listener = socket.create_server(("127.0.0.1", 0))
    ready.send(listener.getsockname()[1])
    while True:
        peer, _ = listener.accept()
        with peer:
            answer(peer, make)


def answer(peer: socket.socket, make: Callable[[int], bytes]) -> None:
    """Answer the requests of one connection until it closes."""
    pending = b""
    while True:
        head, ended, rest = pending.partition(b"\r\n\r\n")
        if ended:
            target = head.split(b" ", 2)[1]
            cursor = target.partition(b"cursor=")[2].partition(b"%26")[0]
            peer.sendall(make(int(cursor or 0)))
            pending = rest
            continue
        received = peer.recv(65_536)
        if not received:
            return
        pending += received


@contextmanager
def serving(pins: int) -> Iterator[str]:
    """Give the URL of a server of its own process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, pins), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


def walk(url: str) -> WalkReport:
    """Walk to the end of the list, and drop every page when it is read."""
    with GuardedClient(FetchPolicy(allowed_networks=("127.0.0.0/8",))) as transport:
        going = Walk(ManClient(transport, url), PATH, heights=False)
        for _ in going:
            pass
        return going.report()


def read_bare(url: str) -> int:
    """Read the same pages with httpx2 and decode them; give the rows."""
    rows = 0
    cursor = ""
    with httpx2.Client() as client:
        while True:
            query = {"path": PATH, "size": str(MAX_SIZE)} | ({"cursor": cursor} if cursor else {})
            data = client.get(f"{url}/api/pin/path/list", params=query).json()["data"]
            cursor = data["nextCursor"]
            if not cursor:
                return rows
            rows += len(data["list"])


def seconds(read: Callable[[str], object], url: str) -> float:
    """Give the CPU seconds that a reader takes."""
    start = time.process_time()
    read(url)
    return time.process_time() - start


def figures(*, quick: bool) -> Iterator[Figure]:
    """Measure speed on some pins, and count on all."""
    timed = QUICK if quick else TIMED
    with serving(timed) as url:
        walk(url)  # reads the certificate authorities once
        bare = median(ROUNDS, seconds, read_bare, url)
        ours = median(ROUNDS, seconds, walk, url)
    baseline = f"httpx2 and json alone, {timed / bare:,.0f} pins/s"
    yield Figure("man.pins_per_s", timed / ours, "pins/s", baseline)
    yield Figure("man.ratio", bare / ours, "×", "httpx2 and json alone", "≥ 0.8")
    pins = QUICK if quick else PINS
    name = "10k" if quick else "100k"
    with serving(pins) as url:
        report = walk(url)
    if not report.is_complete or report.pins != pins:
        raise SystemExit(f"the walk got {report.pins} of {pins} pins: {report.end}")
    yield Figure(f"man.requests.{name}", report.requests, "requests", goal=f"≤ {MAX_REQUESTS:,}")
    megabytes = report.bytes / 1_000_000
    yield Figure(f"man.megabytes.{name}", megabytes, "MB", goal=f"≤ {MAX_MEGABYTES}")


def main() -> None:
    """Print every figure."""
    options = arguments("The client of MAN indexers, over loopback.")
    for figure in figures(quick=options.quick):
        figure.print(as_json=options.json)


if __name__ == "__main__":
    main()
