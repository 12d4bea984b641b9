"""The application asked in this process, without a socket."""

import asyncio
from collections.abc import MutableMapping
from io import BytesIO
from typing import IO, Any, NamedTuple, NoReturn

from refold.kernel.errors import SourceError
from refold.serving.application import Application
from refold.web.copy.names import Address

__all__ = ["Answered", "Asked"]

TRIES = 5
"""How often an address is asked for again that cannot be answered now: time limits are short, and a
machine that is busy may miss one."""
_WAIT_SECONDS = 0.2
_BUSY = 503
_Message = MutableMapping[str, Any]


class Answered(NamedTuple):
    """An answer; `etag` is "" where it has none."""

    status: int
    etag: str
    body: bytes


class Asked:
    """Asks an application."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def get(self, address: Address, *members: str, into: IO[bytes] | None = None) -> Answered:
        """Ask for an address with further members of its query.

        The body goes into `into` where there is one. Raises SourceError `site-answer` where the
        server cannot answer.
        """
        answered = await self._once(address, members, into)
        for _ in range(TRIES):
            if answered.status != _BUSY:
                break
            await asyncio.sleep(_WAIT_SECONDS)
            answered = await self._once(address, members, into)
        if answered.status >= 500:
            raise SourceError(
                "site-answer",
                f"{address} was answered with {answered.status}",
                "run it again; if it stays, `refold serve` and its log say more",
            )
        return answered

    async def _once(
        self, address: Address, members: tuple[str, ...], into: IO[bytes] | None
    ) -> Answered:
        status = 0
        headers: dict[bytes, bytes] = {}
        body = BytesIO() if into is None else into
        body.seek(0)
        body.truncate()

        async def send(message: _Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status, headers = message["status"], dict(message["headers"])
            else:
                body.write(message["body"])

        query = "&".join([piece for piece in (address.query, *members) if piece])
        await self._app.asgi(_scope(address.path, query), _listen, send)  # type: ignore[arg-type]
        etag = headers.get(b"etag", b"").decode()
        return Answered(status, etag, body.getvalue() if isinstance(body, BytesIO) else b"")


async def _listen() -> NoReturn:
    """Wait: nobody leaves."""
    await asyncio.Event().wait()
    raise AssertionError


def _scope(path: str, query: str) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"accept", b"text/html")],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 0),
        "state": {},
        "extensions": {},
    }
