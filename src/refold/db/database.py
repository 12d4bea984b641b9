"""One database, opened: transactions that write, transactions that read.

    with Database.open("sqlite:///refold.db") as database:
        with database.write() as connection:
            ...
        with database.read(seconds=0.2) as connection:
            ...

A transaction is a block: all of it is there afterwards, or nothing. One writes at a time, whatever
the number of threads and processes; those that read see the last state that was whole. What the
database cannot do is an error of `refold.db.errors`; no other error leaves it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

import sqlalchemy.exc
from sqlalchemy import Connection, Engine

from refold.db.backend import Backend, Durability, Hold
from refold.db.migrate import is_latest, upgrade
from refold.db.postgres import PostgresBackend
from refold.db.sqlite import SqliteBackend
from refold.db.url import SqliteUrl, parse_database_url
from refold.kernel.errors import SourceError, UsageError

__all__ = ["WAIT_SECONDS", "Database"]

WAIT_SECONDS = 5.0
"""How long a write waits for the one before it: longer than any transaction of ours may take."""


class Database:
    """See the module. Threads may share it; a process that forks opens its own."""

    def __init__(self, backend: Backend, *, readonly: bool = False) -> None:
        self.shown = backend.shown
        self._backend = backend
        self._holds: list[Hold] = []
        self._is_open = True
        self._reader = backend.reader()
        self._writer = None if readonly else backend.writer()
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            self._bring_up()
            on_failure.pop_all()

    @classmethod
    def open(
        cls,
        url: str,
        *,
        password: str = "",
        durability: Durability = "full",
        readonly: bool = False,
        wait: float = WAIT_SECONDS,
    ) -> Self:
        """Open a database, which is made if it is a file and not there, and bring its tables up.

        `url` and `password` as `parse_database_url` takes them. `durability` is what a power
        failure may cost: "full" for what nobody else has, such as signed posts; "normal" for what
        can be had or folded again, and then writes are quicker. Each part opens its own. `wait` is
        how many seconds a write waits for others. `readonly` changes nothing, tables included.

        Raises UsageError `database-url`, `database-driver`; SourceError `database-sqlite-old`,
        `database-no-wal`, `database-encoding`, `database-missing`, `database-older`,
        `database-newer`, `database-foreign`, and those of `refold.db.errors`.
        """
        parsed = parse_database_url(url, password)
        if isinstance(parsed, SqliteUrl):
            backend: Backend = SqliteBackend(parsed.path, durability=durability, wait=wait)
        else:
            backend = PostgresBackend(parsed, durability=durability, wait=wait)
        return cls(backend, readonly=readonly)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection whose changes are committed at the end, and undone by any error.

        Raises UsageError `database-readonly`, `database-closed`; SourceError `database-busy` when
        another writer does not end in time, `database-hold-lost`.
        """
        if self._writer is None:
            raise UsageError(
                "database-readonly", f"{self.shown}: opened for reading", "open it for writing"
            )
        self._require_open()
        for hold in self._holds:
            hold.check()
        with self._begin(self._writer) as connection:
            yield connection

    @contextmanager
    def read(self, *, seconds: float | None = None) -> Iterator[Connection]:
        """Give a connection that cannot write, and from its first question on sees one state.

        With `seconds` a question that takes longer is broken off (`database-time-limit`): on
        PostgreSQL each one, on SQLite all together, from the beginning of the block.
        """
        self._require_open()
        with self._begin(self._reader) as connection:
            if seconds is None:
                yield connection
            else:
                with self._backend.limit(connection, seconds):
                    yield connection

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Be the one process for `name`: lower-case letters.

        For a process that keeps in memory what the tables say. Others can still write, but not
        hold the same name. Raises SourceError `database-held`; UsageError `database-hold`.
        """
        self._require_open()
        if not (name.isascii() and name.isalpha() and name.islower()):
            raise UsageError("database-hold", f"{name!r} is no name to hold", "use letters a to z")
        hold = self._backend.hold(name)
        self._holds.append(hold)
        try:
            yield
        finally:
            self._holds.remove(hold)
            hold.release()

    def close(self) -> None:
        """Close all connections. A transaction that is still open is undone."""
        self._is_open = False
        # The writer last: SQLite empties the log when the last one goes, if that one may write.
        for engine in (self._reader, self._writer):
            if engine is not None:
                engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Database({self.shown})"

    def _bring_up(self) -> None:
        """See to it that the tables are those of this refold, without waiting for a writer."""
        try:
            with self._begin(self._reader) as connection:
                if is_latest(connection, self.shown):
                    return
        except SourceError as error:
            if self._writer is None or error.code != "database-missing":
                raise
        if self._writer is None:
            raise SourceError(
                "database-older",
                f"{self.shown}: its tables are those of an older refold",
                "open it for writing once: that brings them up to date",
            )
        with self._begin(self._writer) as connection:
            upgrade(connection, self.shown)

    @contextmanager
    def _begin(self, engine: Engine) -> Iterator[Connection]:
        try:
            with engine.begin() as connection:
                yield connection
        except sqlalchemy.exc.TimeoutError as error:
            raise SourceError(
                "database-busy",
                f"{self.shown}: all connections of this process are in use",
                "end a transaction before the next one begins",
            ) from error

    def _require_open(self) -> None:
        if not self._is_open:
            raise UsageError("database-closed", f"{self.shown}: closed", "open it again")
