"""What a database has to offer to stand behind `refold.db.Database`."""

from contextlib import AbstractContextManager
from typing import Literal, Protocol

from sqlalchemy import Connection, Engine

__all__ = ["READERS", "Backend", "Durability", "Hold"]

READERS = 16
"""Connections for reading that one process opens at most: twice the threads that are of use."""

Durability = Literal["full", "normal"]
"""What a power failure may cost: `full` nothing that was committed, `normal` the last commits.

Neither leaves anything half, and neither loses anything when only the process dies.
"""


class Hold(Protocol):
    """A name that this process holds, at most as long as it lives."""

    def check(self) -> None:
        """Return if it is still held; raises SourceError `database-hold-lost`."""

    def release(self) -> None:
        """Let it go."""


class Backend(Protocol):
    """One database of one kind. Nothing is opened before it is asked for."""

    @property
    def shown(self) -> str:
        """The URL as it may be shown."""

    def writer(self) -> Engine:
        """Give the engine whose one connection writes; a transaction waits for other writers."""

    def reader(self) -> Engine:
        """Give the engine whose connections cannot write; a transaction sees one state."""

    def limit(self, connection: Connection, seconds: float) -> AbstractContextManager[None]:
        """Let no question that is asked inside take longer."""

    def hold(self, name: str) -> Hold:
        """Take a name that one process may hold; raises SourceError `database-held`."""
