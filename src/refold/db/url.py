"""Which database: `sqlite:///path` or `postgresql://user@host/name`. No password is ever shown."""

import re
from pathlib import Path

import msgspec
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from refold.kernel.errors import UsageError

__all__ = ["PostgresUrl", "SqliteUrl", "parse_database_url"]

_FORMS = "write sqlite:///file.db, sqlite:////full/path/file.db or postgresql://user@host/name"
_POSTGRES = frozenset({"postgresql", "postgres", "postgresql+psycopg"})
_URL = re.compile(
    r"""[a-z+]+://
        (?: [^@/?\#\[\]]* @ )?
        (?: \[[0-9A-Fa-f:.]+\] | [^@/?\#\[\]:]* ) (?: :[0-9]{1,5} )?
        (?: /[^?\#]* )? (?: \?[^\#]* )?""",
    re.VERBOSE,
)
_SQLITE, _FILE = "sqlite:", "sqlite:///"
_SECRETS = ("password", "secret")


class SqliteUrl(msgspec.Struct, frozen=True):
    """A file."""

    path: Path

    @property
    def shown(self) -> str:
        """The URL as it may be shown."""
        return f"sqlite:///{self.path}"


class PostgresUrl:
    """A database of a PostgreSQL server. `url` has the password, and hides it when shown."""

    def __init__(self, url: URL) -> None:
        self.url = url

    @property
    def shown(self) -> str:
        """The URL as it may be shown: neither password nor options."""
        host = self.url.query.get("host", "")
        at = self.url.host or (host if isinstance(host, str) else ",".join(host))
        user = f"{self.url.username}@" if self.url.username else ""
        port = f":{self.url.port}" if self.url.port else ""
        return f"postgresql://{user}{at}{port}/{self.url.database or ''}"

    def __repr__(self) -> str:
        return f"PostgresUrl({self.shown})"


def parse_database_url(text: str, password: str = "") -> SqliteUrl | PostgresUrl:
    """Read the URL of a database; `password` takes the place of one in the URL.

    Libpq's own ways stay open: PGPASSWORD, PGPASSFILE, ~/.pgpass. Raises UsageError `database-url`,
    which never repeats the text: it may hold a password.
    """
    if text.startswith(_SQLITE):
        return _sqlite(text)
    if text.partition("://")[0] not in _POSTGRES:
        raise _unreadable("it is neither of SQLite nor of PostgreSQL")
    # The library reads as far as it understands, and would take part of a password for the host.
    if _URL.fullmatch(text) is None:
        raise _unreadable("it is no URL, or a password in it needs %40 %2F %3F %23 for @ / ? #")
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise _unreadable("it is no URL") from None  # the library's text repeats it
    if any(word in name for name in url.query for word in _SECRETS):
        raise UsageError(
            "database-url",
            "a password stands among the options of the database URL, where it would be shown",
            "put it before the host (user:password@host), or into PGPASSFILE",
        )
    url = url.set(drivername="postgresql+psycopg", password=password or url.password)
    return PostgresUrl(url)


def _sqlite(text: str) -> SqliteUrl:
    name = text.removeprefix(_FILE)
    if name == text:
        raise _unreadable("it has too few slashes for a file")
    if not name or name == ":memory:":
        raise _unreadable("it names no file")
    if "?" in name or "\0" in name:
        raise _unreadable("a file takes no options, and has neither ? nor NUL in its name")
    return SqliteUrl(Path(name))


def _unreadable(why: str) -> UsageError:
    return UsageError("database-url", f"the database URL cannot be used: {why}", _FORMS)
