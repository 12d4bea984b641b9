"""One connection: what is sent too slowly, or is too large before its body, is refused."""

from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from refold.kernel.errors import Problem
from refold.serving.answers import json_bytes
from refold.serving.codes import SERVING_CODES
from refold.serving.headers import API_HEADERS
from refold.serving.limits import MAX_CONNECTIONS, MAX_HEAD_BYTES, REQUEST_SECONDS
from refold.serving.problem import PROBLEM_TYPE, Fault

__all__ = ["Connection"]

_ROWS = {row.id: row for row in SERVING_CODES}


class _HeadTooLargeError(Exception):
    """Address and headers are above the limit; the parser hands it on as an error of its own."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection with limits.

    A request has so much time from the connection, or its first byte, to the last byte of its body.
    """

    headers: list[tuple[bytes, bytes]] | None  # type: ignore[assignment]  # None before the first
    cycle: RequestResponseCycle | None  # type: ignore[assignment]  # as above
    _timer: TimerHandle | None = None
    _is_in_head = False
    _is_too_large = False
    _pending = 0

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 (as there)
        """Begin the time of the first request, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.close()
        else:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the time."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes. Those of a head that does not end are counted; a single piece is small."""
        was_in_head = self._is_in_head
        super().data_received(data)
        if was_in_head and self._is_in_head:
            self._pending += len(data)
            if self._pending > MAX_HEAD_BYTES:
                self._refuse("head-large")

    def on_message_begin(self) -> None:
        """Begin the time of a request."""
        super().on_message_begin()
        self._is_in_head = True
        self._pending = 0
        self._start_timer()

    def on_headers_complete(self) -> None:
        """Look how large the head is."""
        self._is_in_head = False
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers or ())
        if size > MAX_HEAD_BYTES:
            self._is_too_large = True
            raise _HeadTooLargeError
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End the time: the rest is ours."""
        self._stop_timer()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser does not take."""
        del msg
        self._refuse("head-large" if self._is_too_large else "request-malformed")

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(REQUEST_SECONDS, self._too_slow)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        if self.headers is None:  # nothing was ever asked: there is nobody to answer
            self.transport.close()
        else:
            self._refuse("request-slow")

    def _refuse(self, code: str) -> None:
        """Say what is wrong, unless an answer is under way, and close."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            row = _ROWS[code]
            fault = Fault(row, (Problem(row.id, row.meaning),))
            body = json_bytes(fault.details(""))
            headers = (
                (b"content-type", PROBLEM_TYPE.encode()),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
                *API_HEADERS,
            )
            lines = (name + b": " + value for name, value in headers)
            head = f"HTTP/1.1 {row.status} {row.title}".encode()
            self.transport.write(b"\r\n".join((head, *lines, b"", body)))
        self.transport.close()
