"""What goes wrong between the application and the wire, around every route but the admin's."""

import asyncio
from collections.abc import Callable
from typing import Final, cast

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from refold.metaid.devnet import admin_routes
from refold.metaid.devnet.faults import FaultPlan, Lot

TRANSPORT: Final = "refold.devnet.transport"
"""Name of the extension under which the server hands its transport to the application."""

Headers = list[tuple[bytes, bytes]]

_PAGES = {
    "error_500": (500, b"<html><body><h1>Internal Server Error</h1></body></html>\n"),
    "error_502": (
        502,
        b"<html><head><title>502 Bad Gateway</title></head><body>no answer</body></html>\n",
    ),
}
_WRONG = (
    b"[]",
    b"null",
    b'{"code":1,"message":"ok","data":null}',
    b'{"code":1,"message":"ok","data":{"list":"none","nextCursor":7,"total":"many"}}',
    b'{"code":"1","message":"ok","data":[[]]}',
)
"""Answers that are JSON, and of no shape that anybody sends; a cut answer is one more way."""


class Answer(msgspec.Struct):
    """A whole answer of the application."""

    status: int = 200
    headers: Headers = []
    body: bytes = b""


class Faulty:
    """Wraps an ASGI application; `plan` gives the plan in force."""

    def __init__(self, app: ASGIApp, plan: Callable[[], FaultPlan]) -> None:
        self._app = app
        self._plan = plan

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or not quite."""
        if scope["type"] != ScopeType.HTTP or scope["path"].startswith(f"{admin_routes.PREFIX}/"):
            await self._app(scope, receive, send)
            return
        lot = self._plan().cast(_target(scope))
        if lot.delay:
            await asyncio.sleep(lot.delay)
        if lot.kind is None:
            await self._app(scope, receive, send)
        elif lot.kind == "drop":
            await _hang_up(scope, receive, flush=False)
        elif lot.kind == "truncate":
            answer = await self._answer(scope, receive)
            await _start(send, answer, len(answer.body))
            half = answer.body[: len(answer.body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
            await _hang_up(scope, receive, flush=True)
        else:
            await _send(send, _changed(await self._answer(scope, receive), lot))

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        """Let the application answer, and keep the answer."""
        answer = Answer()

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = [(name, value) for name, value in message["headers"]]
            elif message["type"] == "http.response.body":
                answer.body += message["body"]

        await self._app(scope, receive, keep)
        return answer


def _target(scope: HTTPScope) -> str:
    query = scope["query_string"].decode("latin-1")
    return f"{scope['path']}?{query}" if query else scope["path"]


def _changed(answer: Answer, lot: Lot) -> Answer:
    """Give the answer that comes instead; only JSON is replaced by other JSON."""
    if lot.kind in _PAGES:
        status, page = _PAGES[lot.kind]
        return Answer(status, [(b"content-type", b"text/html")], page)
    if lot.kind == "empty":
        return Answer(200, answer.headers, b"")
    content_type = next((value for name, value in answer.headers if name == b"content-type"), b"")
    if not content_type.startswith(b"application/json"):
        return answer
    wrongs = (answer.body[: len(answer.body) * 2 // 3], *_WRONG)
    return Answer(answer.status, answer.headers, wrongs[lot.number % len(wrongs)])


async def _send(send: Send, answer: Answer) -> None:
    await _start(send, answer, len(answer.body))
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})


async def _start(send: Send, answer: Answer, length: int) -> None:
    headers = [pair for pair in answer.headers if pair[0].lower() != b"content-length"]
    headers.append((b"content-length", str(length).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})


async def _hang_up(scope: HTTPScope, receive: Receive, *, flush: bool) -> None:
    """Close the connection, after what is written or at once, and wait until it is."""
    extensions = scope["extensions"] or {}
    transport = cast("asyncio.Transport", extensions[TRANSPORT]["transport"])
    if flush:
        transport.close()
    else:
        transport.abort()
    while (await receive())["type"] != "http.disconnect":
        pass
