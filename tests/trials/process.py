"""A node of cold trials as a process of its own, to be posted to and to be killed."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from cli.terminal import environment
from refold.db import Database
from refold.trials.signing import SignedMessage
from refold.trials.store.keys import Keys
from trials.logged import key_of

ORIGIN = "http://node.test"
SEED = b"the seed of a node of tests....."


class Posted(msgspec.Struct, frozen=True):
    """What a node answers to a post that it took."""

    id: int
    digest: str
    duplicate: bool


@dataclass
class Answers:
    """What came back: by the index of the request its status and body."""

    found: dict[int, tuple[int, bytes]] = field(default_factory=dict)

    def posted(self) -> dict[int, Posted]:
        """Give what was taken; all that was answered must be."""
        refused = [body for status, body in self.found.values() if status not in {200, 201}]
        assert refused == []
        return {
            index: msgspec.json.decode(body, type=Posted) for index, (_, body) in self.found.items()
        }


@contextmanager
def node_process(url: str, folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a node over a database; give its port and the process."""
    key = folder / "trials.key"
    key.write_text(SEED.hex())
    settings = {
        "REFOLD_DATABASE": url,
        "REFOLD_PARTS": "trials",
        "REFOLD_PUBLIC_ORIGIN": ORIGIN,
        "REFOLD_TRIALS_KEY": str(key),
        "REFOLD_TRIALS_LIMIT_POSTS_MINUTE": "0",
        "REFOLD_TRIALS_LIMIT_POSTS_DAY": "0",
        "REFOLD_LOG_REQUESTS": "false",
    }
    command = [str(Path(sys.executable).with_name("refold")), "serve", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=folder, env=environment() | settings
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline().decode().strip()
            yield int(said.rpartition(":")[2]), process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def admit(url: str, *who: int) -> None:
    """Admit keys as if each had answered its challenge."""
    with Database.open(url) as database, database.write() as connection:
        for each in who:
            Keys(connection).admit(key_of(each), f"agent {each}", 0)


def request_of(message: SignedMessage) -> bytes:
    """Give the bytes of a post over HTTP."""
    body = msgspec.json.encode(message)
    head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + body


def post_all(
    port: int,
    requests: dict[int, bytes],
    *,
    connections: int,
    seen: Callable[[int], None] | None = None,
) -> Answers:
    """Send requests over some connections, each once, until all are answered or nobody answers.

    `seen` is told after every answer how many there are.
    """
    answers = Answers()
    waiting = iter(requests.items())

    async def one() -> None:
        async with connected(port) as (reader, writer):
            for index, request in waiting:
                writer.write(request)
                answers.found[index] = await _answer(reader)
                if seen is not None:
                    seen(len(answers.found))

    async def all_of_them() -> None:
        await asyncio.gather(*(one() for _ in range(connections)))

    asyncio.run(all_of_them())
    return answers


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connect to a node; when it is killed, that is the end of the block and no error."""
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield reader, writer
        finally:
            writer.close()
            await writer.wait_closed()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    return int(head.split(b" ", 2)[1]), await reader.readexactly(int(length))


def get(port: int, path: str) -> bytes:
    """Give the body of an answer."""

    async def ask() -> bytes:
        async with connected(port) as (reader, writer):
            writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            status, body = await _answer(reader)
            assert status == 200, body
            return body
        raise ConnectionError("the node did not answer")

    return asyncio.run(ask())
