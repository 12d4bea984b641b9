"""PostgreSQL through psycopg 3, by the same rules: one writer, readers that cannot write."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection, IsolationLevel
from sqlalchemy.exc import SQLAlchemyError

from refold.db.backend import READERS, Durability
from refold.db.errors import ErrorMap
from refold.db.url import PostgresUrl
from refold.kernel.errors import RefoldError, SourceError, UsageError

__all__ = ["PostgresBackend"]

_SYNCHRONOUS: Mapping[Durability, str] = {"full": "on", "normal": "off"}
_LOCK = text("SELECT pg_advisory_xact_lock(:key, hashtext(current_schema()))")
_TRY_HOLD = text("SELECT pg_try_advisory_lock(:key, hashtext(current_schema()))")
_RELEASE = text("SELECT pg_advisory_unlock(:key, hashtext(current_schema()))")
_SET_LIMIT = text("SELECT set_config('statement_timeout', :milliseconds, true)")


class PostgresBackend:
    """One schema of one database. `wait` is how many seconds a write waits for another writer."""

    def __init__(self, url: PostgresUrl, *, durability: Durability, wait: float) -> None:
        self.shown = url.shown
        self._url = url.url
        self._durability = durability
        self._wait = wait

    def writer(self) -> Engine:
        """Give the engine for writing: its transactions queue up at one lock of the schema's."""
        engine = self._engine(
            {
                "synchronous_commit": _SYNCHRONOUS[self._durability],
                "lock_timeout": str(round(self._wait * 1000)),
            },
            "READ COMMITTED",
            1,
        )
        event.listen(engine, "connect", self._check_encoding)
        event.listen(engine, "begin", _wait_for_others)
        return engine

    def reader(self) -> Engine:
        """Give the engine for reading."""
        return self._engine({"default_transaction_read_only": "on"}, "REPEATABLE READ", READERS)

    @contextmanager
    def limit(self, connection: Connection, seconds: float) -> Iterator[None]:
        """Let each question of the transaction take no longer; ends with the transaction."""
        connection.execute(_SET_LIMIT, {"milliseconds": str(max(1, round(seconds * 1000)))})
        yield

    def hold(self, name: str) -> "PostgresHold":
        """Take a name: a lock that a connection of its own keeps."""
        engine = self._engine({}, "AUTOCOMMIT", 1)
        return PostgresHold(engine, name, self.shown)

    def _engine(
        self, session: Mapping[str, str], isolation: IsolationLevel, connections: int
    ) -> Engine:
        try:
            engine = create_engine(
                _with(session, self._url),
                isolation_level=isolation,
                pool_size=connections,
                max_overflow=0,
                pool_timeout=self._wait,
                pool_pre_ping=True,  # so a server that was started again costs no transaction
                hide_parameters=True,
            )
        except ModuleNotFoundError as error:
            raise UsageError(
                "database-driver", "PostgreSQL needs psycopg", "install refold[postgres]"
            ) from error
        event.listen(engine, "handle_error", ErrorMap(self.shown))
        return engine

    def _check_encoding(self, connection: DBAPIConnection, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute("SHOW server_encoding")
        (encoding,) = cursor.fetchone() or (None,)
        connection.rollback()
        if encoding != "UTF8":
            raise SourceError(
                "database-encoding",
                f"{self.shown}: it is in {encoding}, which cannot hold every text",
                "create the database with ENCODING 'UTF8'",
            )


class PostgresHold:
    """A lock that the server frees when its connection ends, so look at it before you write."""

    def __init__(self, engine: Engine, name: str, shown: str) -> None:
        self._engine = engine
        self._name = name
        self._shown = shown
        self._connection = engine.connect()
        if not self._connection.scalar(_TRY_HOLD, {"key": _key(name)}):
            self._disconnect()
            raise SourceError(
                "database-held",
                f"{shown}: another process is the one for {name}",
                "let it work, or stop it first",
            )

    def check(self) -> None:
        """Return if the connection lives; raises SourceError `database-hold-lost`."""
        try:
            self._connection.scalar(text("SELECT 1"))
        except RefoldError as error:
            raise SourceError(
                "database-hold-lost",
                f"{self._shown}: the connection is gone that made us the one for {self._name}",
                "start again: another process may have written since",
            ) from error

    def release(self) -> None:
        """Let it go."""
        # The server frees it by itself too, some time after it has seen that we are gone.
        with suppress(RefoldError, SQLAlchemyError):
            self._connection.scalar(_RELEASE, {"key": _key(self._name)})
        self._disconnect()

    def _disconnect(self) -> None:
        self._connection.close()
        self._engine.dispose()


def _wait_for_others(connection: Connection) -> None:
    connection.execute(_LOCK, {"key": _key("write")})


def _key(name: str) -> int:
    """Give the number of 32 bits that stands for a name among advisory locks."""
    return int.from_bytes(sha256(f"refold {name}".encode()).digest()[:4], "big", signed=True)


def _with(session: Mapping[str, str], url: URL) -> URL:
    """Add settings of the session to those that the URL itself asks for."""
    given = url.query.get("options", ())
    own = (f"-c {name}={value}" for name, value in session.items())
    options = " ".join((*((given,) if isinstance(given, str) else given), *own))
    return url.update_query_dict({"options": options}) if options else url
