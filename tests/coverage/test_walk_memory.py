"""What a walk takes of memory, measured in a process of its own."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernel.hostile import Peer, http, serving

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is read from /proc"
)

PAGE = 32 << 20
MANY = '[0,1,2],{"a":[0]},' * 20_000
MIB = 1 << 20


def measured(kind: str, place: str) -> Any:
    script = Path(__file__).with_name("walk_memory.py")
    done = subprocess.run(
        [sys.executable, str(script), kind, place], capture_output=True, check=True, timeout=300
    )
    return json.loads(done.stdout)


def page_of(row: Callable[[int], str]) -> bytes:
    """Give a page of just under 32 MiB, made of rows."""
    size = len(row(10**6).encode()) + 1
    rows = ",".join(row(10**6 + n) for n in range((PAGE - 100) // size))
    return f'{{"items":[{rows}]}}'.encode()


@pytest.mark.parametrize(
    ("row", "least"),
    [
        (lambda n: f'{{"id":{n},"name":"{"letters " * 12}{n}"}}', 250_000),
        (lambda n: f'{{"id":{n},"name":"\U0001f600","text":"{"letters " * 40}"}}', 80_000),
        (lambda n: f'{{"id":{n},"many":[{MANY}0]}}', 80),
    ],
    ids=["small rows", "wide letters", "rows of many parts"],
)
def test_a_page_takes_at_most_twelve_times_its_size(
    row: Callable[[int], str], least: int, tmp_path: Path
) -> None:
    body = page_of(row)
    assert PAGE * 0.9 < len(body) <= PAGE
    (tmp_path / "page.json").write_bytes(body)
    report = measured("file", str(tmp_path / "page.json"))
    assert report["rows"] >= least
    assert report["peak"] <= 12 * len(body)


def stream(start: bytes, more: bytes) -> Callable[[Peer], None]:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(start)
        while True:
            peer.send(more)

    return script


def bomb(peer: Peer) -> None:
    """Answer with 1 GiB of zeros behind gzip."""
    packed = gzip.compress(bytes(64 * MIB), 1) * 16
    while peer.request():
        peer.send(
            http(packed, "200 OK", "Content-Type: application/json", "Content-Encoding: gzip")
        )


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "script",
    [
        bomb,
        stream(CHUNKED, b"10000\r\n" + b'{"items":[' + b"1," * 32763 + b"\r\n"),
        stream(CHUNKED, b"1;" + b"x" * 30_000 + b"\r\n1\r\n"),
        stream(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 1000),
    ],
    ids=["gzip", "chunks", "chunk extensions", "headers"],
)
def test_a_hostile_stream_takes_little(script: Callable[[Peer], None]) -> None:
    with serving(script) as server:
        report = measured("url", server.origin)
    assert report["reasons"] == ["budget_exhausted"]
    assert report["peak"] <= 64 * MIB
