"""HTTP load from raw sockets, for benchmarks of servers.

A client library would measure itself, so requests are bytes made beforehand, connections are kept
alive, and of an answer only its status and its length are read. A round sends each request once, by
some connections at a time; the figure is the median of five rounds. Load and server are processes
of their own, and the CPU time of the server is counted beside the clock: on a machine that others
use as well only that means something.
"""

import os
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it ships no types

ROUNDS = 5
CONNECTIONS = 8
"""Requests under way at once: enough that the server never waits for the client."""
LONGEST = 60.0
"""Seconds without an answer after which a server is given up."""
_LENGTH = b"content-length: "


@dataclass(frozen=True)
class Load:
    """What a load came to: answers a second by the clock, and CPU µs of the server an answer."""

    rps: float
    cpu_us: float
    bytes: int


@dataclass(frozen=True)
class Target:
    """A server with the requests for it."""

    port: int
    server: subprocess.Popen[bytes]
    requests: Sequence[bytes]


@dataclass
class _Line:
    """A connection with the answer that comes in on it."""

    socket: socket.socket
    held: bytearray = field(default_factory=bytearray)
    whole: int = 0


def request(path: str, host: str = "127.0.0.1") -> bytes:
    """Give the bytes of a GET."""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n".encode()


def json_request(path: str, body: bytes, host: str = "127.0.0.1") -> bytes:
    """Give the bytes of a POST of JSON."""
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n"
    rest = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + rest).encode() + body


@contextmanager
def node(*options: str, **settings: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run one worker of `refold serve` with options and settings; give its port and process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("refold")), "serve", "--port", str(port)]
    environment = os.environ | {"REFOLD_LOG_REQUESTS": "false"}
    environment |= {f"REFOLD_{name.upper()}": value for name, value in settings.items()}
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as server:
        if server.stdout is None or b"serving" not in server.stdout.readline():
            raise RuntimeError("the server did not start")
        try:
            yield port, server
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def load(
    targets: Sequence[Target],
    *,
    rounds: int = ROUNDS,
    connections: int = CONNECTIONS,
    warm_up: bool = True,
) -> list[Load]:
    """Send the requests of each target, so many rounds; give the medians.

    Targets take turns, so that what goes on beside them weighs on all alike. Raises ValueError for
    an answer that is neither 200 nor 201.
    """
    rates: list[list[float]] = [[] for _ in targets]
    costs: list[list[float]] = [[] for _ in targets]
    sizes = [0] * len(targets)
    for target in targets if warm_up else ():  # what is made once is made now
        _round(target.port, target.requests[: len(target.requests) // 10 + 1], connections)
    for _ in range(rounds):
        for number, target in enumerate(targets):
            one = load_once(target, connections=connections)
            rates[number].append(one.rps)
            costs[number].append(one.cpu_us)
            sizes[number] = one.bytes
    return [
        Load(statistics.median(rate), statistics.median(cost), size)
        for rate, cost, size in zip(rates, costs, sizes, strict=True)
    ]


def load_once(target: Target, *, connections: int = CONNECTIONS) -> Load:
    """Send the requests of a target once, for those that cannot be sent again."""
    process, count = psutil.Process(target.server.pid), len(target.requests)
    before, started = _cpu(process), time.perf_counter()
    size = _round(target.port, target.requests, connections)
    seconds = time.perf_counter() - started
    return Load(count / seconds, (_cpu(process) - before) / count * 1e6, size // count)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _round(port: int, requests: Sequence[bytes], connections: int) -> int:
    """Send each request once; give the bytes that came."""
    waiting = iter(requests)
    size = 0
    with selectors.DefaultSelector() as selector:
        open_lines = 0
        for _ in range(min(connections, len(requests))):
            line = _Line(socket.create_connection(("127.0.0.1", port)))
            line.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(line.socket, selectors.EVENT_READ, line)
            open_lines += _send(line, next(waiting, None), selector)
        while open_lines:
            ready = selector.select(LONGEST)
            if not ready:
                raise TimeoutError("the server does not answer")
            for key, _ in ready:
                line = key.data
                if _take(line):
                    size += line.whole
                    open_lines -= 1 - _send(line, next(waiting, None), selector)
    return size


def _send(line: _Line, following: bytes | None, selector: selectors.BaseSelector) -> int:
    """Send the next request, or close; give 1 for sent, 0 for closed."""
    line.held.clear()
    line.whole = 0
    if following is None:
        selector.unregister(line.socket)
        line.socket.close()
        return 0
    line.socket.sendall(following)
    return 1


def _take(line: _Line) -> bool:
    """Take what came; tell whether the answer is all there."""
    piece = line.socket.recv(262_144)
    if not piece:
        raise ConnectionResetError("the server closed a connection")
    line.held += piece
    if not line.whole:
        end = line.held.find(b"\r\n\r\n")
        if end < 0:
            return False
        if not line.held.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
            raise ValueError(bytes(line.held).decode("latin-1"))
        at = line.held.index(_LENGTH) + len(_LENGTH)
        line.whole = end + 4 + int(line.held[at : line.held.index(b"\r\n", at)])
    return len(line.held) >= line.whole
