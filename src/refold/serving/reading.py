"""Reading a database from handlers: a few rows at once in the event loop, the rest in threads.

A point read in the event loop is five times as fast as one handed to a thread, and all other
requests wait for it: so it has a short limit. Source: architecture.md, Stack (database).
"""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection

from refold.db import Database
from refold.serving.limits import POINT_SECONDS, READ_THREADS, SEARCH_SECONDS

__all__ = ["Threads", "read_in_thread", "read_inline"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def read_inline(
    database: Database,
    question: Callable[Concatenate[Connection, _P], _T],
    *args: _P.args,
    **kwargs: _P.kwargs,
) -> _T:
    """Give what `question(connection, …)` gives, at once, in the thread of the caller.

    For point reads and pages by key. Raises SourceError `database-time-limit` after 0.5 s.
    """
    with database.read(seconds=POINT_SECONDS) as connection:
        return question(connection, *args, **kwargs)


class Threads:
    """Threads for work that takes longer; more than `count` at a time wait for each other."""

    def __init__(self, count: int = READ_THREADS) -> None:
        self._count = count
        self._limiter: anyio.CapacityLimiter | None = None

    def has_room(self) -> bool:
        """Tell whether work would begin at once."""
        return self._limiter is None or self._limiter.available_tokens > 0

    async def run(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Give what `work` gives. A caller that is cancelled leaves it to its own time limit."""
        if self._limiter is None:  # it belongs to an event loop, so not before there is one
            self._limiter = anyio.CapacityLimiter(self._count)
        return await anyio.to_thread.run_sync(
            lambda: work(*args, **kwargs), limiter=self._limiter, abandon_on_cancel=True
        )


async def read_in_thread(
    threads: Threads,
    database: Database,
    question: Callable[Concatenate[Connection, _P], _T],
    *args: _P.args,
    **kwargs: _P.kwargs,
) -> _T:
    """Give what `question(connection, …)` gives, from a thread.

    For searches and whatever counts or scans. Raises SourceError `database-time-limit` after 5 s.
    """

    def ask() -> _T:
        with database.read(seconds=SEARCH_SECONDS) as connection:
            return question(connection, *args, **kwargs)

    return await threads.run(ask)
