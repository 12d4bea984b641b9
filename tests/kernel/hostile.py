"""Servers that behave as the test says, clocks that it moves, and a record of who was dialled."""

import contextlib
import select
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from refold.kernel.dial import connect_socket

PUBLIC = "93.184.216.34"  # an address that no rule forbids; nobody dials it here
TLS = Path(__file__).parents[1] / "vectors" / "tls"


class Peer:
    """One connection, as the server sees it."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._pending = b""

    def request(self) -> bytes:
        """Read one request, head and body; b"" when the client has closed."""
        while b"\r\n\r\n" not in self._pending:
            if not self._receive():
                return b""
        head, _, rest = self._pending.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line[:15] == b"Content-Length:"), 0
        )
        self._pending = rest
        while len(self._pending) < length:
            if not self._receive():
                return b""
        body, self._pending = self._pending[:length], self._pending[length:]
        return head + b"\r\n\r\n" + body

    def _receive(self) -> bool:
        data = self.sock.recv(65536)
        self._pending += data
        return bool(data)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def wait_for_close(self) -> None:
        while self.sock.recv(65536):
            pass

    def reset(self) -> None:
        """Close with a reset in place of an orderly end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


Script = Callable[[Peer], None]


class Hostile:
    """A server on loopback that runs `script` for each connection, in a thread."""

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.connections = 0
        self._tls = tls
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._peers: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._socket.accept()
                self.connections += 1
                self._peers.append(sock)
                thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.callback(sock.close)
            if self._tls:
                sock = self._tls.wrap_socket(sock, server_side=True)
                stack.callback(sock.close)
            self.script(Peer(sock))

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for sock in self._peers:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)


def http(
    body: bytes = b"", status: str = "200 OK", *headers: str, length: int | None = None
) -> bytes:
    """Give an answer with a Content-Length, a true one unless `length` is given."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """Give an answer in chunks."""
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed + end


class Answers:
    """A script that gives one answer after the other, over all connections, and then the last."""

    def __init__(self, *answers: bytes, close: bool = False) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self._close = close
        self._lock = threading.Lock()

    def __call__(self, peer: Peer) -> None:
        while request := peer.request():
            with self._lock:
                answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
                self.requests.append(request)
            peer.send(answer)
            if self._close:
                return


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Dialled:
    """A connect function that records, and dials a local port instead if it has one."""

    def __init__(self, port: int | None = None) -> None:
        self.port = port
        self.calls: list[tuple[str, int]] = []

    @property
    def addresses(self) -> list[str]:
        return [address for address, _ in self.calls]

    def __call__(self, address: str, port: int, seconds: float) -> socket.socket:
        self.calls.append((address, port))
        if self.port is None:
            return connect_socket(address, port, seconds)
        return connect_socket("127.0.0.1", self.port, seconds)


class Names:
    """A resolver that gives its answers in turn, and then the last; of any name."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = answers
        self.calls: list[tuple[str, int]] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        answer = self.answers[min(len(self.calls), len(self.answers) - 1)]
        self.calls.append((host, port))
        return answer


class Trap:
    """Sockets that listen on one port of every address here, and should hear nothing."""

    def __init__(self) -> None:
        self.sockets = [socket.create_server(("0.0.0.0", 0))]  # noqa: S104 -- all must be heard
        self.port: int = self.sockets[0].getsockname()[1]
        with contextlib.suppress(OSError):  # a machine without IPv6
            self.sockets.append(socket.create_server(("::", self.port), family=socket.AF_INET6))

    @property
    def touched(self) -> bool:
        return bool(select.select(self.sockets, [], [], 0)[0])

    def close(self) -> None:
        for sock in self.sockets:
            sock.close()


@contextlib.contextmanager
def serving(script: Script, tls: ssl.SSLContext | None = None) -> Iterator[Hostile]:
    server = Hostile(script, tls)
    try:
        yield server
    finally:
        server.close()
