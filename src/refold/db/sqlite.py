"""SQLite: one file, a log written ahead of it (WAL), one writer, readers that cannot write."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event

from refold.db.backend import READERS, Durability
from refold.db.errors import ErrorMap, error_of
from refold.kernel.errors import SourceError, UsageError

__all__ = ["LEAST_SQLITE", "SqliteBackend"]

LEAST_SQLITE = (3, 40, 0)
"""Older ones are not tested; Debian 12 has 3.40."""
PAGE_BYTES = 16_384
"""Of a new file. Rows with a body of 2 KB fill such pages to 91 %, the usual ones of 4 KiB to 52 %:
a file 37 % smaller, and a third more pins a second (decision 0007)."""
LIMIT_STEPS = 1_000
"""Steps of SQLite's machine between two looks at the clock: some 20 µs."""
CACHE_KIB = 65_536
"""Pages that the writer keeps: the indexes of a million pins, into which ids fall at random."""
MAPPED_BYTES = 2_147_418_112
"""Of the file that readers map into memory, where the system keeps it once for all: the most that
SQLite maps. Else what 20 entries of 100,000 take is read anew each time, which takes 0.5 ms."""
LOG_BYTES = 64 * 1024 * 1024
"""What is kept of a log that grew while a long reading did not let it be emptied."""


class SqliteBackend:
    """One file. `wait` is how many seconds a write waits for another process."""

    def __init__(self, path: Path, *, durability: Durability, wait: float) -> None:
        self.shown = f"sqlite:///{path}"
        self._path = path
        self._durability = durability
        self._wait = wait
        if sqlite3.sqlite_version_info < LEAST_SQLITE:
            least = ".".join(map(str, LEAST_SQLITE))
            raise SourceError(
                "database-sqlite-old",
                f"this Python has SQLite {sqlite3.sqlite_version}, refold needs {least} or later",
                "take another Python, or PostgreSQL",
            )

    def writer(self) -> Engine:
        """Give the engine for writing; it makes the file if there is none."""
        engine = self._engine(self._connect_writer, 1)
        # IMMEDIATE waits for another writer at once; a transaction that first read could not.
        event.listen(engine, "begin", lambda connection: _begin(connection, "BEGIN IMMEDIATE"))
        return engine

    def reader(self) -> Engine:
        """Give the engine for reading; connections raise SourceError `database-missing`."""
        engine = self._engine(self._connect_reader, READERS)
        event.listen(engine, "begin", lambda connection: _begin(connection, "BEGIN"))
        return engine

    @contextmanager
    def limit(self, connection: Connection, seconds: float) -> Iterator[None]:
        """Let all questions together that are asked inside take no longer."""
        driver = connection.connection.driver_connection
        if not isinstance(driver, sqlite3.Connection):
            raise UsageError("database-limit", "no connection of SQLite", "give one of its own")
        deadline = time.monotonic() + seconds
        driver.set_progress_handler(lambda: time.monotonic() > deadline, LIMIT_STEPS)
        try:
            yield
        finally:
            driver.set_progress_handler(None, 0)

    def hold(self, name: str) -> "SqliteHold":
        """Take a name: the lock on a file of its own, which the system frees when we die."""
        path = self._path.with_name(f"{self._path.name}.{name}.lock")
        return SqliteHold(path, name, self.shown)

    def _engine(self, connect: Callable[[], sqlite3.Connection], connections: int) -> Engine:
        engine = create_engine(
            "sqlite://",
            creator=connect,
            poolclass=QueuePool,
            pool_size=connections,
            max_overflow=0,
            pool_timeout=self._wait,
            hide_parameters=True,
        )
        event.listen(engine, "handle_error", ErrorMap(self.shown))
        return engine

    def _connect_writer(self) -> sqlite3.Connection:
        connection = _connect(self._path, "rwc", self._wait)
        try:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            self._use_wal(connection)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA synchronous = {self._durability}")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_reader(self) -> sqlite3.Connection:
        if not self._path.is_file():
            raise SourceError(
                "database-missing",
                f"{self.shown}: there is no such file",
                "check the path, or write to it first",
            )
        connection = _connect(self._path, "ro", self._wait)
        # mode=ro covers this file, query_only whatever else a question could attach.
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
        return connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise SourceError(
                "database-no-wal",
                f"{self.shown}: the file system takes no write-ahead log",
                "put the file on a local disk",
            )


class SqliteHold:
    """A file that one process has locked; it stays empty."""

    def __init__(self, path: Path, name: str, shown: str) -> None:
        self._connection = _connect(path, "rwc", 0)
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            self._connection.close()
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise error_of(error, f"sqlite:///{path}") from error
            raise SourceError(
                "database-held",
                f"{shown}: another process is the one for {name}",
                "let it work, or stop it first",
            ) from error

    def check(self) -> None:
        """Return: the system takes no lock away from a process that lives."""

    def release(self) -> None:
        """Let it go. The file stays: to delete it would free the name for two."""
        self._connection.close()


def _connect(path: Path, mode: str, wait: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=wait,
        isolation_level=None,  # transactions begin where `_begin` says so
        check_same_thread=False,  # the pool lends a connection to one thread at a time
    )


def _begin(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement)
