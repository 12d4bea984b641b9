"""Connections that are kept, each lent to one request at a time.

httpcore2 has a pool of its own, for HTTP/2, proxies and hundreds of requests at once. It goes over
all connections and requests before and after each request, which takes as long as h11 takes to
write a request and to read an answer.
"""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpcore2

__all__ = ["Connections"]


class Connections:
    """At most `at_most` connections, kept for `idle_seconds` after each use. Threads share it."""

    def __init__(
        self,
        backend: httpcore2.NetworkBackend,
        tls: ssl.SSLContext,
        *,
        at_most: int,
        idle_seconds: float,
    ) -> None:
        self._backend = backend
        self._tls = tls
        self._at_most = at_most
        self._idle_seconds = idle_seconds
        self._slots = threading.Semaphore(at_most)
        self._lock = threading.Lock()
        self._idle: list[httpcore2.HTTPConnection] = []  # the one that was used last is the last
        self._lent: set[httpcore2.HTTPConnection] = set()

    @contextmanager
    def lend(self, origin: httpcore2.Origin, seconds: float) -> Iterator[httpcore2.HTTPConnection]:
        """Give a connection for one request and its answer, which is to be closed inside.

        Raises `httpcore2.PoolTimeout` if all are in use for so many seconds. It dials when the
        request is sent, unless it was kept.
        """
        if not self._slots.acquire(timeout=seconds):
            raise httpcore2.PoolTimeout
        try:
            connection = self._take(origin)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._slots.release()

    def close(self) -> None:
        """Close all, those in use too."""
        with self._lock:
            closing = [*self._idle, *self._lent]
            self._idle = []
            self._lent = set()
        for connection in closing:
            connection.close()

    def _take(self, origin: httpcore2.Origin) -> httpcore2.HTTPConnection:
        with self._lock:
            kept: list[httpcore2.HTTPConnection] = []
            closing: list[httpcore2.HTTPConnection] = []
            for connection in self._idle:
                # Expired is also one that the server closed, or sent something on: see `Wire`.
                (closing if connection.has_expired() else kept).append(connection)
            found = next((one for one in reversed(kept) if one.can_handle_request(origin)), None)
            if found is not None:
                kept.remove(found)
            else:
                found = httpcore2.HTTPConnection(
                    origin,
                    ssl_context=self._tls,
                    keepalive_expiry=self._idle_seconds,
                    network_backend=self._backend,
                )
                while kept and len(kept) + len(self._lent) >= self._at_most:
                    closing.append(kept.pop(0))
            self._idle = kept
            self._lent.add(found)
        for connection in closing:
            connection.close()
        return found

    def _give_back(self, connection: httpcore2.HTTPConnection) -> None:
        with self._lock:
            is_kept = connection in self._lent and connection.is_available()
            self._lent.discard(connection)
            if is_kept:
                self._idle.append(connection)
        if not is_kept:
            connection.close()
