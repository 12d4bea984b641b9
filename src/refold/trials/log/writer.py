"""The one way into the log: postings queue up, and one thread appends them, many to a commit.

    with Log(database, signer, folds=[...]) as log:
        appended = log.append(posting, judge).result()      # from threads
        appended = await log.appended(posting, judge)       # from asyncio

A posting is answered after its commit is on the disk. While one commit is under way the next ones
queue up, so the more come, the more share a commit. Several processes may append to one database:
each transaction looks first whether the log is still where this process left it.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import Self

from sqlalchemy import Connection

from refold.db import Database
from refold.kernel.errors import SourceError, UsageError
from refold.trials.checkpoint import Signer
from refold.trials.log.keys import begin_log, known_keys, require_key
from refold.trials.log.state import State, load_state, tip_of
from refold.trials.log.turn import SpoiledError, Turn
from refold.trials.store.model import Appended, Fold, Judge, Posting
from refold.trials.store.tree import Tree

__all__ = ["MAX_BATCH", "MAX_WAITING", "Log"]

MAX_BATCH = 256
"""Postings that share a commit at most: more gain nothing, and the first one waits for the last."""
MAX_WAITING = 4_096
"""Postings that wait for a commit at most: some seconds of work, after which waiting is no use."""

GATHER_SECONDS = 0.004
"""How long others are waited for when posts come in close together: a commit costs as much as ten
posts. A post that comes alone is not held up."""

Outcome = Appended | Exception
_AsyncFuture = asyncio.Future[Appended]
_Place = Future[Appended] | _AsyncFuture
_Waiting = tuple[Posting, Judge, _Place]


class Log:
    """See the module. Threads share it; it is closed before the database is.

    `folds` are called for every message in its transaction. Opening makes the log's first
    checkpoint, and raises SourceError `log-damaged`, `log-key`, `log-name`.
    """

    def __init__(
        self,
        database: Database,
        signer: Signer,
        folds: Sequence[Fold] = (),
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._signer = signer
        self._folds = tuple(folds)
        self._clock = clock
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._lock = Lock()
        self._is_open = True
        with database.write() as connection:
            self._state = begin_log(connection, signer, int(clock()))
        self._thread = Thread(target=self._work, name="trials-log", daemon=True)
        self._thread.start()

    def append(self, posting: Posting, judge: Judge) -> Future[Appended]:
        """Queue a posting; what comes of it is given once it is durable.

        `judge` is called in the transaction that appends, after all earlier postings were appended,
        unless the same (key, room, reply_to, content) is there already. What it raises is raised by
        the future, and so is what the database says. Raises UsageError `log-closed`, SourceError
        `log-busy`.
        """
        future: Future[Appended] = Future()
        self._put((posting, judge, future))
        return future

    async def appended(self, posting: Posting, judge: Judge) -> Appended:
        """Do the same from a coroutine. One that is cancelled may have been appended."""
        future: _AsyncFuture = asyncio.get_running_loop().create_future()
        self._put((posting, judge, future))
        return await future

    def close(self) -> None:
        """Append what is queued, then end."""
        with self._lock:
            was_open, self._is_open = self._is_open, False
            if was_open:
                self._queue.put(None)
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _put(self, waiting: _Waiting) -> None:
        with self._lock:
            if not (self._is_open and self._thread.is_alive()):
                raise UsageError("log-closed", "the log is closed", "open it again")
            if self._queue.qsize() >= MAX_WAITING:
                raise SourceError(
                    "log-busy", f"{MAX_WAITING} posts wait to be written", "post again later"
                )
            self._queue.put(waiting)

    def _work(self) -> None:
        """Take what waits, append it, tell of it; until the end is taken."""
        goes_on, are_many = True, False
        while goes_on:
            batch: list[_Waiting] = []
            taken = self._queue.get()
            if are_many:
                time.sleep(GATHER_SECONDS)
            while taken is not None:
                batch.append(taken)
                if len(batch) == MAX_BATCH:
                    break
                try:
                    taken = self._queue.get_nowait()
                except Empty:
                    break
            goes_on, are_many = taken is not None, len(batch) > 1
            _tell(batch, self._append([(posting, judge) for posting, judge, _ in batch]))

    def _append(self, batch: Sequence[tuple[Posting, Judge]]) -> list[Outcome]:
        """Append postings in one transaction, or each in its own if one of them spoils it."""
        try:
            with self._database.write() as connection:
                state = self._current(connection)
                # One look at the clock, and never back behind the last message.
                now = max(int(self._clock()), state.accepted_at)
                turn = Turn(connection, state, self._signer, self._folds, now)
                outcomes: list[Outcome] = list(turn.run(batch))
        except SourceError as error:
            return [error] * len(batch)
        except SpoiledError as error:
            spoiled: Exception = error.cause
        except Exception as error:  # noqa: BLE001 - whatever it is, the other posts wait
            spoiled = error
        else:
            self._state = turn.state
            return outcomes
        if len(batch) == 1:
            return [spoiled]
        return [outcome for each in batch for outcome in self._append([each])]

    def _current(self, connection: Connection) -> State:
        """Give the log as it is: as this process left it, or read again.

        Raises SourceError `log-damaged` for one that does not begin with what this process signed:
        an older state was put in its place, and another history would be signed over it.
        """
        tip, state = tip_of(connection), self._state
        require_key(tip.key, self._signer)
        if (tip.size, tip.digest) == (state.size, state.digest):
            return state
        tree = Tree(connection)
        found = load_state(connection, known_keys(tree.keys()))
        if found.size < state.size or tree.root(state.size) != state.frontier.root():
            raise SourceError(
                "log-damaged",
                f"the {state.size} messages that were here are not those that are here now",
                "look what was restored; start the node again to go on from there",
            )
        return found


def _tell(batch: Sequence[_Waiting], outcomes: Sequence[Outcome]) -> None:
    """Give each posting's outcome to whoever waits for it; a loop is woken up once for all."""
    of_loops = defaultdict(list)
    for (_, _, place), outcome in zip(batch, outcomes, strict=True):
        if isinstance(place, asyncio.Future):
            of_loops[place.get_loop()].append((place, outcome))
        elif place.set_running_or_notify_cancel():
            _settle([(place, outcome)])
    for loop, told in of_loops.items():
        with suppress(RuntimeError):  # a loop that has ended has nobody who waits
            loop.call_soon_threadsafe(_settle, told)


def _settle(told: Sequence[tuple[_Place, Outcome]]) -> None:
    for place, outcome in told:
        if place.done():  # nobody waits any more
            continue
        if isinstance(outcome, Exception):
            place.set_exception(outcome)
        else:
            place.set_result(outcome)
