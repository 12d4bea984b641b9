"""Long answers: made in a thread, sent as fast as the client reads, cut when something breaks."""

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import closing
from threading import Event
from typing import Any

from litestar.types import Receive, Scope, Send

from refold.kernel.errors import SourceError
from refold.serving.answers import Lines
from refold.serving.headers import Header
from refold.serving.limits import STREAM_SECONDS
from refold.serving.site import Site

__all__ = ["IS_HEAD", "Stream", "watch"]

IS_HEAD = "refold.head"
"""In the state of a request: only the head of the answer is asked for."""
_LOOK_SECONDS = 0.5
"""How often a thread that waits for a slow client looks whether it should go on."""


class StreamCutError(Exception):
    """A stream ended before its end: the connection is cut."""


class Stream:
    """An answer whose end is not known. Raises SourceError `busy` when too many run."""

    def __init__(self, lines: Lines, site: Site, cache: str, headers: tuple[Header, ...]) -> None:
        self._lines = lines
        self._site = site
        self._headers = [
            (b"content-type", lines.media_type.encode()),
            (b"cache-control", cache.encode()),
            *headers,
        ]
        if lines.filename:
            name = f'attachment; filename="{lines.filename}"'
            self._headers.append((b"content-disposition", name.encode()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, until its end, the client's, the server's, or that of its time."""
        if scope["state"].get(IS_HEAD):
            await send({"type": "http.response.start", "status": 200, "headers": self._headers})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        if not self._site.streams.has_room():
            raise SourceError("busy", "all exports that may run at once are running", "try later")
        loop = asyncio.get_running_loop()
        ended = Event()

        def tell(message: dict[str, Any]) -> None:
            """Send from the thread; wait until the client has taken it."""
            sending: Future[None] = asyncio.run_coroutine_threadsafe(
                send(message),  # type: ignore[arg-type]  # an awaitable that is a coroutine
                loop,
            )
            while True:
                try:
                    sending.result(_LOOK_SECONDS)
                except TimeoutError:
                    if self._is_over(ended, deadline):
                        sending.cancel()
                        raise StreamCutError from None
                else:
                    return

        def pump() -> None:
            with closing(self._lines.chunks()) as chunks:
                self._send_all(chunks, tell, lambda: self._is_over(ended, deadline))

        deadline = time.monotonic() + STREAM_SECONDS
        watcher = asyncio.create_task(watch(receive, ended))
        try:
            await self._site.streams.run(pump)
        finally:
            ended.set()
            watcher.cancel()

    def _send_all(
        self,
        chunks: Generator[bytes, None, None],
        tell: Callable[[dict[str, Any]], None],
        is_over: Callable[[], bool],
    ) -> None:
        """Send all chunks; the head goes out with the first, so that a failure before is told."""
        head = {"type": "http.response.start", "status": 200, "headers": self._headers}
        for chunk in chunks:
            if head:
                tell(head)
                head = {}
            if is_over():
                raise StreamCutError
            tell({"type": "http.response.body", "body": chunk, "more_body": True})
        if head:
            tell(head)
        tell({"type": "http.response.body", "body": b"", "more_body": False})

    def _is_over(self, ended: Event, deadline: float) -> bool:
        return ended.is_set() or self._site.stop.is_set() or time.monotonic() > deadline


async def watch(receive: Receive, ended: Event | asyncio.Event) -> None:
    """Wait until the client leaves, and say so by setting `ended`."""
    while (await receive())["type"] != "http.disconnect":
        pass
    ended.set()
