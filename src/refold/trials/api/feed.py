"""The live feed: each message is told as soon as it is in the log, to whoever listens.

One look at the database serves all listeners: after each post here, and every two seconds for
those of other processes. A listener that does not take its messages in time is let go; it comes
back with the id of the last one it has. Source: cold trials spec §4.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress

from sqlalchemy import Connection

from refold.db import Database
from refold.kernel.errors import SourceError
from refold.serving.answers import json_bytes
from refold.serving.events import event
from refold.serving.reading import read_inline
from refold.trials.store.model import Message
from refold.trials.store.reading import Messages

__all__ = ["MAX_OF_NETWORK", "Hub"]

LOOK_SECONDS = 2.0
"""How often the log is looked at for messages that another process appended."""
PAGE = 100
"""Messages that are read at once."""
MAX_QUEUED = 2_000
"""Messages that wait for one listener: as many as a busy second brings."""

MAX_OF_NETWORK = 10
"""Listeners of one network: some agents behind one address, and room for nine other networks."""

Shown = Callable[[Connection, Sequence[Message]], Sequence[object]]
"""Gives messages as they are shown."""


class _Listener:
    """Whoever listens: what waits, by id and room, as bytes of events."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[tuple[int, str, bytes]] = asyncio.Queue(MAX_QUEUED)
        self.is_late = False


class Hub:
    """All listeners of one node. For one event loop."""

    def __init__(self, database: Database, shown: Shown) -> None:
        self._database = database
        self._shown = shown
        self._listeners: set[_Listener] = set()
        self._of_networks: Counter[str] = Counter()
        self._last = 0
        self._news = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    def tell(self) -> None:
        """Say that there is something new."""
        self._news.set()

    def require_room(self, network: str) -> None:
        """Return if a network may have one more listener; raises SourceError `busy`."""
        if self._of_networks[network] >= MAX_OF_NETWORK:
            raise SourceError(
                "busy", f"your network has {MAX_OF_NETWORK} live feeds, which is all", "end one"
            )

    async def listen(
        self, after: int | None, room: str | None, network: str
    ) -> AsyncGenerator[bytes, None]:
        """Give the messages after an id, a mark `stored`, then new ones as they come.

        Without an id, or with one that is not there yet, it begins with the mark. `room` leaves out
        other rooms. A network that has all its listeners already is told nothing.
        """
        if self._of_networks[network] >= MAX_OF_NETWORK:  # several came in at once
            return
        listener = _Listener()
        stored = read_inline(self._database, lambda found: Messages(found).latest_id())
        if not self._listeners:
            self._last = stored
        self._listeners.add(listener)
        self._of_networks[network] += 1
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._work())
        try:
            sent = stored if after is None else min(after, stored)
            while sent < stored:
                page = read_inline(self._database, self._read, sent, room)
                for number, _, piece in page:
                    sent = number
                    yield piece
                if len(page) < PAGE:
                    break
            sent = max(sent, stored)
            yield event(json_bytes({"latest": sent}), name="stored", id_=str(sent))
            while not listener.is_late:
                number, of, piece = await listener.queue.get()
                if number > sent and (room is None or of == room):
                    yield piece
        finally:
            self._listeners.discard(listener)
            self._of_networks[network] -= 1
            if not self._of_networks[network]:
                del self._of_networks[network]

    def _read(
        self, connection: Connection, after: int, room: str | None = None
    ) -> list[tuple[int, str, bytes]]:
        """Give the next messages, of one room or all, as events with their ids and rooms."""
        place = Messages(connection)
        messages = place.since(after, PAGE) if room is None else place.room(room, after, PAGE)
        return [
            (
                message.id,
                message.room,
                event(json_bytes(shown), name="message", id_=str(message.id)),
            )
            for message, shown in zip(messages, self._shown(connection, messages), strict=True)
        ]

    async def _work(self) -> None:
        """Read what is new and hand it out, as long as anybody listens."""
        while self._listeners:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), LOOK_SECONDS)
            self._news.clear()
            with suppress(SourceError):  # busy: the next look finds the same
                while page := read_inline(self._database, self._read, self._last):
                    for piece in page:
                        self._last = piece[0]
                        self._hand_out(piece)
                    await asyncio.sleep(0)

    def _hand_out(self, piece: tuple[int, str, bytes]) -> None:
        for listener in list(self._listeners):
            try:
                listener.queue.put_nowait(piece)
            except asyncio.QueueFull:
                listener.is_late = True
                self._listeners.discard(listener)
