"""The one SQLite file of the local chain, or its stand-in in memory, and its transactions.

One process has the file at a time: whoever opens it first keeps it locked until the process ends,
however it ends. So a change is a whole transaction or nothing, also under `kill -9`, and nothing
that is read goes stale under the reader.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Final

from sqlalchemy import Connection, Engine, StaticPool, bindparam, create_engine, event, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import ConnectionPoolEntry

from refold.kernel.errors import UsageError
from refold.metaid.devnet.tables import META, METADATA

FORMAT: Final = "refold devnet 1"
"""What a file says it is. Another format is another chain: there is nothing to migrate."""

_PRAGMAS = (
    "locking_mode=EXCLUSIVE",  # first: a log of an exclusive file needs no shared memory
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "cache_size=-65536",
    "temp_store=MEMORY",
)
_GET_META = select(META.c.value).where(META.c.name == bindparam("wanted"))
_PUT_META = insert(META)
_PUT_META = _PUT_META.on_conflict_do_update(
    index_elements=["name"], set_={"value": _PUT_META.excluded.value}
)


class Store:
    """A file (made when missing), or memory for `path` None; threads take turns.

    Raises `UsageError`: `devnet-in-use`, `devnet-file` (no chain of this format).
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = RLock()
        self._engine = _engine(path)
        try:
            self._connection = self._engine.connect()
            self._prepare()
        except DatabaseError as error:
            self._engine.dispose()
            raise _refusal(path, error) from error
        except UsageError:
            self.close()
            raise

    def _prepare(self) -> None:
        with self.transaction() as connection:
            METADATA.create_all(connection)
            found = get_meta(connection, "format")
            if found is None:
                put_meta(connection, "format", FORMAT)
            elif found != FORMAT:
                raise UsageError(
                    "devnet-file", f"the file holds {found}, not {FORMAT}", "begin another file"
                )

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Give the connection in a transaction, or inside the one that is open.

        Commits at the end of the outermost, rolls back on an exception. Other threads wait. Who
        catches an exception inside must know that nothing was written before it.
        """
        with self._lock:
            if self._connection.in_transaction():
                yield self._connection
            else:
                with self._connection.begin():
                    yield self._connection

    def close(self) -> None:
        """Close the file and let others have it; a second call does nothing."""
        with self._lock:
            self._connection.close()
            self._engine.dispose()


def get_meta(connection: Connection, name: str) -> str | None:
    """Give a value that `put_meta` stored, None for none."""
    value: str | None = connection.scalar(_GET_META, {"wanted": name})
    return value


def put_meta(connection: Connection, name: str, value: str) -> None:
    """Store a value under a name."""
    connection.execute(_PUT_META, {"name": name, "value": value})


def _engine(path: Path | None) -> Engine:
    url = URL.create("sqlite", database=None if path is None else str(path))
    engine = create_engine(
        url, poolclass=StaticPool, connect_args={"check_same_thread": False, "timeout": 0}
    )
    event.listen(engine, "connect", _open)
    event.listen(engine, "begin", _begin)
    return engine


def _open(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    del record
    connection.isolation_level = None  # the driver's own transactions end at odd places
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.execute("BEGIN EXCLUSIVE")
    cursor.execute("COMMIT")
    cursor.close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _refusal(path: Path | None, error: DatabaseError) -> UsageError:
    if "locked" in str(error.orig):
        return UsageError(
            "devnet-in-use",
            f"another process has {path} open",
            "talk to that one over HTTP, or stop it",
        )
    return UsageError(
        "devnet-file", f"{path} is no file of a local chain: {error.orig}", "name another file"
    )
