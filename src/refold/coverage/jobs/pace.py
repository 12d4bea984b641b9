"""How often anybody may be asked: for each name an even pace, with a burst after a rest.

    pace = Pace(every=0.5, burst=8, together=Rhythm(0.05, 40))
    pace.take("api.example.test")     # waits
    pace.spend("api.example.test", 2)  # two more went out; the next ones wait for them

One pace is shared by all jobs and the schedule of a process. Threads may share it.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

import msgspec

from refold.coverage.jobs.limits import (
    ALL_BURST,
    ALL_SECONDS,
    HOST_BURST,
    HOST_SECONDS,
    MAX_NAMES,
)

__all__ = ["Pace", "Rhythm"]

_ALL: Final = ""
"""The name of all hosts together; no host has it."""


class Rhythm(msgspec.Struct, frozen=True):
    """So many seconds from one request to the next on average, and so many at once after a rest."""

    every: float
    burst: int

    @property
    def slack(self) -> float:
        """How far ahead of the even pace requests may be, in seconds."""
        return self.every * (self.burst - 1)


HOST: Final = Rhythm(HOST_SECONDS, HOST_BURST)
ALL: Final = Rhythm(ALL_SECONDS, ALL_BURST)


class Pace:
    """See the module. `clock` and `sleep` are for tests."""

    def __init__(
        self,
        host: Rhythm = HOST,
        together: Rhythm = ALL,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._host = host
        self._together = together
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}
        """By name, the moment at which the next request were due if all came at the even pace."""

    def take(self, host: str) -> None:
        """Return when a host may be asked; whoever came first goes first."""
        with self._lock:
            now = self._clock()
            delay = max(
                self._reserve(host, self._host, 1, now),
                self._reserve(_ALL, self._together, 1, now),
            )
        if delay > 0:
            self._sleep(delay)

    def wait_for(self, name: str) -> float:
        """Take a place if one is free now, and give 0; else the seconds until one is."""
        with self._lock:
            now = self._clock()
            wait = self._next.get(name, now) - now - self._host.slack
            if wait <= 0:
                self._reserve(name, self._host, 1, now)
            return max(0.0, wait)

    def spend(self, host: str, requests: int) -> None:
        """Count requests that went out already."""
        with self._lock:
            now = self._clock()
            self._reserve(host, self._host, requests, now)
            self._reserve(_ALL, self._together, requests, now)

    def _reserve(self, name: str, rhythm: Rhythm, requests: int, now: float) -> float:
        """Take places in the rhythm of a name; give the seconds until the first of them."""
        due = max(self._next.get(name, now), now)
        if len(self._next) >= MAX_NAMES and name not in self._next:
            self._next = {one: due for one, due in self._next.items() if due > now}
        self._next[name] = due + requests * rhythm.every
        return due - now - rhythm.slack
