"""An indexer with many pins that is quick enough to measure others: a server of its own process.

    with serving(100_000) as indexer:
        ...
        indexer.grow(2_000, blocks=144)

It answers as those of October 2026 do: the newest pins first, pages of up to 100 rows, bodies as
text cut at 4,096 bytes, whole in the detail. The pins of seven paths, 2,000 a day of 144 blocks,
each with a body of its own: 2 KB, one in twenty 6 KB. Rows are made as they are asked for; the
local chain of `refold devnet` makes 2,300 rows a second, which is enough for tests.
"""

import asyncio
import base64
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from urllib.parse import parse_qs

SAMPLE = Path(__file__).parents[1] / "tests/vectors/metaid/pin_detail.json"
SHARES = {
    "rev": 60,
    "review": 20,
    "editor": 8,
    "challenge": 5,
    "ruling": 4,
    "param-proposal": 2,
    "constitution": 1,
}
"""Percent of the pins at each path."""
PATHS = tuple(f"/protocols/agentpedia/{name}" for name in SHARES)
BASE_HEIGHT = 180_000
A_DAY, BLOCKS_A_DAY = 2_000, 144
BODY, LONG_BODY, CUT = 2_048, 6_144, 4_096
EVERY = 20
"""One pin in so many has a long body."""


@dataclass
class Wiki:
    """The pins at each path: at which height each stands, from the oldest on."""

    height: int = BASE_HEIGHT
    heights: dict[str, list[int]] = field(default_factory=lambda: {path: [] for path in PATHS})
    numbers: dict[str, tuple[str, int]] = field(default_factory=dict)

    def grow(self, pins: int, blocks: int) -> None:
        """Add pins, spread over so many new blocks."""
        for path, share in zip(PATHS, SHARES.values(), strict=True):
            count = pins * share // 100
            for number in range(count):
                self.numbers[pin_id(path, len(self.heights[path]))] = (
                    path,
                    len(self.heights[path]),
                )
                self.heights[path].append(self.height + 1 + number * blocks // count)
        self.height += blocks


def pin_id(path: str, number: int) -> str:
    """Give the id of a pin."""
    return f"{sha256(f'{path} {number}'.encode()).hexdigest()}i0"


class Maker:
    """Makes answers; a row from a template of bytes, or the server would be what is measured."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki
        sample = json.loads(SAMPLE.read_text(encoding="utf-8"))["data"]
        random = Random(7)
        words = [random.randbytes(random.randrange(2, 6)).hex() for _ in range(2_000)]
        texts = [" ".join(random.choices(words, k=900)).encode() for _ in range(64)]
        self._texts = [(text * 2)[:LONG_BODY] for text in texts]
        stands_in: dict[str, object] = {
            "id": "%(id)bi0",
            "genesisTransaction": "%(id)b",
            "output": "%(id)b:0",
        }
        stands_in |= {"location": "%(id)b:0:0", "genesisHeight": -77, "txIndex": -78}
        stands_in |= {"path": "%(path)b", "contentSummary": "%(text)b", "contentLength": -79}
        stands_in |= {"contentBody": "%(whole)b", "preview": "", "pop": "0" * 170}
        stands_in |= {"content": "https://indexer.example.test/content/%(id)bi0"}
        row = json.dumps(sample | stands_in).encode()
        for mark, name in ((b"-77", b"height"), (b"-78", b"index"), (b"-79", b"length")):
            row = row.replace(mark, b"%(" + name + b")d", 1)
        self._row = row

    def body(self, path: str, number: int) -> bytes:
        """Give the body of a pin; nothing in it but the quotes is escaped in JSON."""
        size = LONG_BODY if number % EVERY == 0 else BODY
        begin = b'{"v":1,"n":%d,"path":"%b","content":"' % (number, path.encode())
        return begin + self._texts[number % len(self._texts)][: size - len(begin) - 2] + b'"}'

    def row(self, path: str, number: int, *, whole: bool) -> bytes:
        """Give a row of a list, or a detail."""
        body = self.body(path, number)
        return self._row % {
            b"id": pin_id(path, number)[:64].encode(),
            b"height": self.wiki.heights[path][number],
            b"index": number % 90,
            b"path": path.encode(),
            b"text": (body if whole else body[:CUT]).replace(b'"', b'\\"'),
            b"length": len(body),
            b"whole": base64.b64encode(body) if whole else b"",
        }

    def page(self, path: str, cursor: str, size: int) -> bytes:
        """Give a page; a cursor is the number of the last row that was given."""
        heights = self.wiki.heights.get(path, [])
        end = int(cursor) if cursor else len(heights)
        start = max(0, end - size)
        rows = [self.row(path, number, whole=False) for number in range(end - 1, start - 1, -1)]
        listed = b"[%b]" % b",".join(rows) if rows else b"null"
        following = str(start).encode() if rows else b""
        data = b'{"list":%b,"nextCursor":"%b","total":%d}' % (listed, following, len(heights))
        return b'{"code":1,"message":"ok","data":%b}' % data

    def answer(self, target: str) -> bytes:
        """Give the JSON that a request is answered with."""
        path, _, query = target.partition("?")
        if path == "/debug/sync":
            return b'{"mvc_sync_height":"%d"}' % self.wiki.height
        if path == "/debug/count":
            return b'{"pin":%d,"block":1,"metaId":1,"app":0}' % len(self.wiki.numbers)
        if path == "/api/pin/path/list":
            asked = {name: values[0] for name, values in parse_qs(query).items()}
            return self.page(asked["path"], asked.get("cursor", ""), int(asked["size"]))
        of, number = self.wiki.numbers[path.rpartition("/")[2]]
        return b'{"code":1,"message":"ok","data":%b}' % self.row(of, number, whole=True)


class Http(asyncio.Protocol):
    """One connection: answers one request after the other."""

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self._pending = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - what a TCP server gives
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer what has come whole."""
        self._pending += data
        while True:
            head, ended, rest = self._pending.partition(b"\r\n\r\n")
            if not ended:
                return
            self._pending = rest
            body = self._maker.answer(head.split(b" ", 2)[1].decode())
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )


def serve(orders: Connection, pins: int) -> None:
    """Answer until the other side closes the pipe; orders come through it."""
    wiki = Wiki()
    if pins:
        wiki.grow(pins, max(1, pins * BLOCKS_A_DAY // A_DAY))
    maker = Maker(wiki)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Http(maker), "127.0.0.1", 0)
        orders.send(server.sockets[0].getsockname()[1])
        while True:
            order = await loop.run_in_executor(None, orders.recv)
            if order is None:
                return
            wiki.grow(*order)
            orders.send(wiki.height)

    asyncio.run(run())


@dataclass
class Indexer:
    """The server, seen from here."""

    url: str
    _orders: Connection

    def grow(self, pins: int, blocks: int) -> None:
        """Let pins come in, spread over so many new blocks."""
        self._orders.send((pins, blocks))
        self._orders.recv()


@contextmanager
def serving(pins: int) -> Iterator[Indexer]:
    """Serve in a process of its own while open."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, pins), daemon=True)
    process.start()
    try:
        yield Indexer(f"http://127.0.0.1:{ours.recv()}", ours)
    finally:
        ours.send(None)
        process.join(5)
        process.terminate()
