"""Time on the local chain: simulated, so that the same acts give the same chain, or the real one.

Only `WallClock` reads a clock, and only `Ticker` waits.
"""

from threading import Event, Thread
from time import time as wall_time
from typing import TYPE_CHECKING, Final, Protocol, Self

if TYPE_CHECKING:
    from refold.metaid.devnet.net import Devnet

BLOCK_SECONDS: Final = 600
"""Seconds from block to block: 6 blocks an hour, as on the real chain."""

_KNOWN_HEIGHT, _KNOWN_TIME = 191_702, 1_790_213_000  # a height and time that belong together


class Clock(Protocol):
    """What time it is, in Unix seconds; never before the time of the last block."""

    def block(self, before: int) -> int:
        """Give the time of a new block; `before` is the time of the one before it."""
        ...

    def arrival(self, before: int, waiting: int) -> int:
        """Give the time at which something comes into the mempool, as the `waiting`-th."""
        ...


class SimulatedClock:
    """Blocks are 600 s apart; what comes between them comes a second apart."""

    def block(self, before: int) -> int:
        """Give the time one block on."""
        return before + BLOCK_SECONDS

    def arrival(self, before: int, waiting: int) -> int:
        """Give a time between two blocks."""
        return before + min(waiting, BLOCK_SECONDS - 1)


class WallClock:
    """The time of the machine."""

    def block(self, before: int) -> int:
        """Give the time now, at least a second after the block before."""
        return max(int(wall_time()), before + 1)

    def arrival(self, before: int, waiting: int) -> int:
        """Give the time now."""
        del waiting
        return max(int(wall_time()), before)


def simulated_start(height: int) -> int:
    """Give the time that a block of this height may have had on the real chain, at least 0."""
    return max(0, _KNOWN_TIME + (height - _KNOWN_HEIGHT) * BLOCK_SECONDS)


class Ticker:
    """Mines a block every so many seconds (above 0) while it is open, as a context manager."""

    def __init__(self, net: "Devnet", seconds: float) -> None:
        self._net = net
        self._seconds = seconds
        self._stop = Event()
        self._thread = Thread(target=self._run, name="refold devnet ticker", daemon=True)

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            self._net.mine()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
