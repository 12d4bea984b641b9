"""Live feeds (server-sent events): what happens is told as it happens, until somebody leaves.

A handler gives `Events`. Each listener costs one request under way, so there is a bound on them.
Who reads too slowly is cut and may come back with `Last-Event-ID`. Source: HTML Standard §9.2.
"""

import asyncio
import time

from litestar.types import Receive, Scope, Send

from refold.kernel.errors import SourceError
from refold.serving.answers import EVENTS_TYPE, Events
from refold.serving.headers import API_HEADERS
from refold.serving.limits import (
    HEARTBEAT_SECONDS,
    LISTEN_SECONDS,
    MAX_LISTENERS,
    SLOW_SECONDS,
)
from refold.serving.site import Site
from refold.serving.stream import IS_HEAD, watch

__all__ = ["EventStream", "event"]

LOOK_SECONDS = 0.5
"""How often a listener to whom nothing is told looks whether the server stops."""
HEARTBEAT = b":\n\n"
_HEADERS = [
    (b"content-type", EVENTS_TYPE.encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would keep events until its buffer is full
    *API_HEADERS,
]


def event(data: bytes, *, id_: str = "", name: str = "") -> bytes:
    """Give one event; `data`, `id_` and `name` are one line each, as JSON is."""
    head = (f"event: {name}\n" if name else "") + (f"id: {id_}\n" if id_ else "")
    return b"%sdata: %s\n\n" % (head.encode(), data)


class EventStream:
    """The answer. Raises SourceError `busy` when too many listen."""

    def __init__(self, events: Events, site: Site) -> None:
        self._events = events
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell what happens until the listener leaves, the server stops, or the time is over."""
        if scope["state"].get(IS_HEAD):
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        if self._site.listeners.count >= MAX_LISTENERS:
            raise SourceError("busy", "all live feeds that may run at once are running", "wait")
        self._site.listeners.count += 1  # before anything is waited for: others come meanwhile
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._tell(receive, send)
        finally:
            self._site.listeners.count -= 1
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell(self, receive: Receive, send: Send) -> None:
        left = asyncio.Event()
        watcher = asyncio.create_task(watch(receive, left))
        over = time.monotonic() + LISTEN_SECONDS
        beat = time.monotonic() + HEARTBEAT_SECONDS
        chunks = self._events.chunks()
        coming: asyncio.Future[bytes] | None = None
        try:
            while not (left.is_set() or self._site.stop.is_set() or time.monotonic() > over):
                coming = coming or asyncio.ensure_future(anext(chunks))
                await asyncio.wait((coming,), timeout=LOOK_SECONDS)
                if coming.done():
                    piece, coming = coming.result(), None
                elif time.monotonic() < beat:
                    continue
                else:
                    piece = HEARTBEAT
                # Sending waits as long as the listener's buffers are full.
                body = {"type": "http.response.body", "body": piece, "more_body": True}
                await asyncio.wait_for(send(body), SLOW_SECONDS)  # type: ignore[arg-type]
                beat = time.monotonic() + HEARTBEAT_SECONDS
        except StopAsyncIteration:
            return
        finally:
            watcher.cancel()
            if coming is not None:  # what is still running cannot be closed
                coming.cancel()
                await asyncio.wait((coming,))
            await chunks.aclose()
