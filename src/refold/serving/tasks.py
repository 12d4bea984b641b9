"""Work beside the answers: a thread for each task, all told to stop when the server is."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from threading import Event, Thread

import anyio.to_thread

from refold.kernel.errors import SourceError
from refold.serving.limits import STOP_SECONDS
from refold.serving.logs import Log, described
from refold.serving.part import Task

__all__ = ["Tasks"]


class Tasks:
    """The tasks of all parts, each with the name of its part."""

    def __init__(self, tasks: Sequence[tuple[str, Task]], stop: Event, log: Log) -> None:
        self._tasks = tasks
        self._stop = stop
        self._log = log
        self._failed: set[str] = set()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._tasks)

    def check(self) -> None:
        """Return when none has failed; raises SourceError `task-failed`."""
        if self._failed:
            names = ", ".join(sorted(self._failed))
            raise SourceError("task-failed", f"ended by an error: {names}", "see the log")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run all of them; at the end tell them to stop, and wait for a while."""
        threads = [
            # Daemons: one that does not stop in time must not keep the process.
            Thread(target=self._run, args=(f"{part}.{task.name}", task), daemon=True)
            for part, task in self._tasks
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            await anyio.to_thread.run_sync(self._wait, threads)

    def _run(self, name: str, task: Task) -> None:
        try:
            task.run(self._stop)
        except Exception as error:  # noqa: BLE001 (the server goes on answering, and says so)
            self._failed.add(name)
            self._log.error("task-failed", task=name, **described(error))

    def _wait(self, threads: Sequence[Thread]) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        late = sum(thread.is_alive() for thread in threads)
        if late:
            self._log.warning("tasks-late", count=late)
