"""Connections that go where they were judged to go, and give up in time.

Two parts under httpcore2's connections: `PinnedBackend` turns a host into judged addresses,
once, and connects to nothing else; `Wire` is such a connection, which charges every wait and every
byte to the `Allowance` of the request that it works for. TLS still asks for the host's name.
Source: coverage spec §5.5 R-2, R-3.
"""

import selectors
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Self

import httpcore2

from refold.kernel.addresses import Address, Network, forbidden_kind, parse_address
from refold.kernel.errors import InputError, SourceError, UsageError

__all__ = [
    "MAX_DIALLED",
    "Allowance",
    "Clock",
    "Connect",
    "Lookup",
    "PinnedBackend",
    "Resolver",
    "TransientError",
    "Wire",
    "connect_socket",
    "fixed_lookup",
    "judged_lookup",
    "resolve_system",
]

# Addresses of one name that are tried: more than any sane name needs to find one that answers.
MAX_DIALLED = 4

# One system call, where the default selector takes four; Windows has no poll.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)

Clock = Callable[[], float]
"""Gives seconds that never go back."""
Resolver = Callable[[str, int], Sequence[str]]
"""Gives the addresses of a host and port as text; raises OSError."""
Connect = Callable[[str, int, float], socket.socket]
"""Gives a socket connected to an address and port within some seconds; raises OSError."""


class TransientError(SourceError):
    """A failure that may pass. `retry_after` are the seconds to wait before, if that is known."""

    def __init__(
        self, code: str, message: str, hint: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(code, message, hint)
        self.retry_after = retry_after


class Allowance(float):
    """What one request may still take: the seconds of one wait, and all seconds and bytes.

    It is the `timeout` that httpcore2 hands down unread to backend and stream, so it is a float:
    the seconds that a server may be silent. What happened: `sent` (some of the request), `received`
    (bytes), `ended` (the server closed), `reused` (not the first request on its connection).
    """

    max_connect: float
    deadline: float
    clock: Clock
    byte_limit: int
    shown: str
    in_head: bool
    received: int
    sent: bool
    ended: bool
    reused: bool

    def __new__(
        cls,
        max_silent: float,
        *,
        max_connect: float,
        deadline: float,
        clock: Clock,
        byte_limit: int,
        shown: str,
    ) -> Self:
        """Make one for a request to `shown`, of which no byte has come yet."""
        self = super().__new__(cls, max_silent)
        self.max_connect = max_connect
        self.deadline = deadline
        self.clock = clock
        self.byte_limit = byte_limit
        self.shown = shown
        self.in_head = True
        self.received = 0
        self.sent = self.ended = self.reused = False
        return self

    @classmethod
    def of(cls, timeout: float | None) -> "Allowance":
        """Give the allowance that `timeout` is: nothing is dialled or read without one."""
        if not isinstance(timeout, cls):
            raise UsageError("fetch-unguarded", "a request without an allowance", "use the client")
        return timeout

    def left(self, at_most: float) -> float:
        """Give the seconds of the next wait; raises SourceError `too-slow` if none are left."""
        left = min(at_most, self.deadline - self.clock())
        if left <= 0:
            raise SourceError("too-slow", f"{self.shown}: the time for it is over", "ask for less")
        return left

    def timed_out(self) -> SourceError:
        """Give the error for a read or write that came to its end without a byte."""
        try:
            self.left(self)
        except SourceError as error:
            return error
        return TransientError("source-silent", f"{self.shown}: silent for {self:g} s")

    def lost(self, code: str, why: str) -> TransientError:
        """Give the error for an answer that did not come, or not to its end.

        Without a head, on a connection used before, what went wrong was probably before this
        request: then there is nothing to wait for.
        """
        wait = 0.0 if self.reused and self.in_head else None
        return TransientError(code, f"{self.shown}: {why}", retry_after=wait)

    def begin_body(self, byte_limit: int) -> None:
        """Allow `byte_limit` more bytes: the head is complete."""
        self.in_head = False
        self.byte_limit = self.received + byte_limit

    def charge(self, received: int) -> None:
        """Count bytes as they come; raises SourceError when there are more than allowed."""
        self.received += received
        self.ended = self.ended or not received
        if self.received > self.byte_limit:
            code = "head-too-large" if self.in_head else "body-too-large"
            raise SourceError(code, f"{self.shown}: over {self.byte_limit} bytes came")


class Wire(httpcore2.NetworkStream):
    """A socket, plain or TLS, connected to `address`."""

    def __init__(self, sock: socket.socket, address: str) -> None:
        self._sock = sock
        self._address = address
        self._serves: Allowance | None = None
        self._selector = _Selector()
        self._selector.register(sock, selectors.EVENT_READ)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Give what came, at most `max_bytes`; b"" at the end."""
        allowance = Allowance.of(timeout)
        try:
            self._sock.settimeout(allowance.left(allowance))
            data = self._sock.recv(max_bytes)
        except TimeoutError as error:
            raise allowance.timed_out() from error
        except OSError as error:
            raise allowance.lost("connection-lost", "the connection broke") from error
        allowance.charge(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of `buffer`. httpcore2 reads on after a WriteError: the server may say why."""
        allowance = Allowance.of(timeout)
        if self._serves is not allowance:
            allowance.reused = self._serves is not None
            self._serves = allowance
        allowance.sent = True
        view = memoryview(buffer)
        while view:
            try:
                self._sock.settimeout(allowance.left(allowance))
                view = view[self._sock.send(view) :]
            except TimeoutError as error:
                raise allowance.timed_out() from error
            except OSError as error:
                raise httpcore2.WriteError from error

    def close(self) -> None:
        """Close the socket."""
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Give the stream inside TLS, its certificate checked for `server_hostname`."""
        allowance = Allowance.of(timeout)
        try:
            self._sock.settimeout(allowance.left(allowance.max_connect))
            tls = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname)
            return Wire(tls, self._address)
        except ssl.SSLError as error:
            why = getattr(error, "verify_message", "") or error.reason or "no handshake"
            raise SourceError("tls-failed", f"{allowance.shown}: TLS failed: {why}") from error
        except OSError as error:
            raise _not_connected(allowance, error) from error
        finally:
            self._sock.close()  # does nothing after success: the TLS socket has taken it over

    def has_more(self) -> bool:
        """Tell whether another byte has come already. Does not wait; it takes that byte."""
        if not self._is_readable():
            return False
        try:
            self._sock.settimeout(0)
            return bool(self._sock.recv(1))
        except OSError:  # nothing yet, or the connection broke
            return False

    def get_extra_info(self, info: str) -> object:
        """Give what httpcore2 asks for, and the address for the client; None for the rest."""
        match info:
            case "ssl_object":
                return self._sock if isinstance(self._sock, ssl.SSLSocket) else None
            case "address":
                return self._address
            case "is_readable":
                return self._is_readable()
        return None

    def _is_readable(self) -> bool:
        """Tell whether an idle connection has bytes or its end to read: then it is of no use."""
        if self._sock.fileno() < 0:
            return True
        return bool(self._selector.select(0))


Lookup = Callable[[str, int, Allowance], Sequence[str]]
"""Gives the addresses that may be dialled for a host and port."""


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to the addresses that `lookup` gives for a host, asking it once a connection."""

    def __init__(self, lookup: Lookup, connect: Connect) -> None:
        self._lookup = lookup
        self._connect = connect

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[object] | None = None,
    ) -> httpcore2.NetworkStream:
        """Give a wire to the first address that answers; raises what `lookup` raises.

        Raises TransientError `connect-failed` if none does. The last two arguments are not used.
        """
        del local_address, socket_options
        allowance = Allowance.of(timeout)
        failure = OSError("no address")
        for address in self._lookup(host, port, allowance)[:MAX_DIALLED]:
            try:
                sock = self._connect(address, port, allowance.left(allowance.max_connect))
                return Wire(sock, address)
            except OSError as error:
                failure = error
        raise _not_connected(allowance, failure) from failure


def _not_connected(allowance: Allowance, failure: OSError) -> TransientError:
    why = "no answer in time" if isinstance(failure, TimeoutError) else failure.strerror
    return TransientError("connect-failed", f"{allowance.shown}: no connection: {why or failure}")


def connect_socket(address: str, port: int, seconds: float) -> socket.socket:
    """Give a TCP connection to an address, made within `seconds`; raises OSError."""
    sock = socket.create_connection((address, port), seconds)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def resolve_system(host: str, port: int) -> tuple[str, ...]:
    """Give the addresses that the system knows for `host`, in its order; raises OSError."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in answers))


def fixed_lookup(address: str) -> Lookup:
    """Give a lookup that says `address` whatever the host is."""
    return lambda _host, _port, _allowance: (address,)


def judged_lookup(resolver: Resolver, allowed: Sequence[Network]) -> Lookup:
    """Give a lookup that refuses a host if one of its addresses is forbidden.

    Skipping only the bad ones would be as safe, but what a name gives would then depend on which of
    its servers are up. Raises InputError `address-forbidden`, which names the kind of address and
    not the address: whoever chose the URL may not know the names of our network. Raises SourceError
    `name-unresolved`.
    """

    def lookup(host: str, port: int, allowance: Allowance) -> Sequence[str]:
        texts = [host] if parse_address(host) else _resolved(resolver, host, port, allowance)
        if not texts:
            raise SourceError("name-unresolved", f"{allowance.shown}: the host has no address")
        return [str(_judged(text, host, allowed, allowance)) for text in texts]

    return lookup


def _judged(text: str, host: str, allowed: Sequence[Network], allowance: Allowance) -> Address:
    """Give the address that `text` is if it may be dialled."""
    address = parse_address(text)
    kind = "malformed or zoned" if address is None else forbidden_kind(address, allowed)
    if address is not None and host == "localhost" and not address.is_loopback:
        kind = "not loopback"  # RFC 6761 §6.3; plain http relies on it
    if address is None or kind:
        raise InputError(
            "address-forbidden",
            f"{allowance.shown}: the host leads to a forbidden address ({kind})",
            "if it is yours, allow its network",
        )
    return address


def _resolved(resolver: Resolver, host: str, port: int, allowance: Allowance) -> Sequence[str]:
    """Ask the resolver, in a thread of its own, as the system's cannot be told when to stop."""
    answer: Future[Sequence[str]] = Future()

    def ask() -> None:
        try:
            answer.set_result(resolver(host, port))
        except Exception as error:  # noqa: BLE001 -- raised again where it is waited for
            answer.set_exception(error)

    threading.Thread(target=ask, name="refold-resolver", daemon=True).start()
    try:
        return answer.result(allowance.left(allowance.max_connect))
    except TimeoutError as error:
        raise TransientError(
            "name-unresolved", f"{allowance.shown}: DNS does not answer in time"
        ) from error
    except socket.gaierror as error:
        kind = TransientError if error.errno == socket.EAI_AGAIN else SourceError
        raise kind("name-unresolved", f"{allowance.shown}: the host has no address") from error
    except (OSError, ValueError) as error:
        raise TransientError("name-unresolved", f"{allowance.shown}: DNS failed") from error
