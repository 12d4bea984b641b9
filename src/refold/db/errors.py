"""What a database says when it fails, as errors of refold. Nothing else leaves `refold.db`.

| code | what happened |
|---|---|
| `database-busy` | somebody else writes, for longer than we waited |
| `database-time-limit` | a question took longer than its limit |
| `database-unreachable` | no file can be opened, no server answers |
| `database-refused` | the server does not let us in, or has no such database |
| `database-full` | the disk is full |
| `database-io` | the disk fails |
| `database-corrupt` | what is stored is damaged, or is no database |
| `database-failed` | anything else that the database says |
| `database-readonly` | a write through a connection for reading: a UsageError |
| `database-constraint` | a row that the tables do not allow: a UsageError |
"""

import sqlite3
from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from sqlalchemy.engine import ExceptionContext

from refold.kernel.errors import RefoldError, SourceError, UsageError, one_line

__all__ = ["ErrorMap", "error_of"]


class _Kind(msgspec.Struct, frozen=True):
    code: str
    message: str
    hint: str
    branch: type[SourceError | UsageError] = SourceError


_BUSY = _Kind(
    "database-busy",
    "another process writes, or the connections are all in use",
    "wait for it to end, or stop it",
)
_TIME_LIMIT = _Kind(
    "database-time-limit", "the question took too long", "ask for less, or allow more time"
)
_UNREACHABLE = _Kind(
    "database-unreachable",
    "it cannot be opened",
    "check that it is there, the address, user and password",
)
_REFUSED = _Kind(
    "database-refused", "the server refuses", "check user, password and the database's name"
)
_FULL = _Kind("database-full", "there is no room left", "make room on its disk")
_IO = _Kind("database-io", "reading or writing the disk fails", "check the disk and its rights")
_CORRUPT = _Kind(
    "database-corrupt",
    "it is damaged, or no database",
    "restore a backup, or name another file",
)
_READONLY = _Kind(
    "database-readonly",
    "it is open for reading only",
    "open it for writing, and check the rights on the file",
    UsageError,
)
_CONSTRAINT = _Kind(
    "database-constraint",
    "it does not allow this row",
    "a defect of refold, or a foreign hand in the database: report it",
    UsageError,
)
_FAILED = _Kind("database-failed", "it fails", "see the message of the database")

_OF_SQLITE: Mapping[int, _Kind] = MappingProxyType(
    {
        sqlite3.SQLITE_BUSY: _BUSY,
        sqlite3.SQLITE_LOCKED: _BUSY,
        sqlite3.SQLITE_INTERRUPT: _TIME_LIMIT,
        sqlite3.SQLITE_CANTOPEN: _UNREACHABLE,
        sqlite3.SQLITE_PERM: _UNREACHABLE,
        sqlite3.SQLITE_AUTH: _READONLY,
        sqlite3.SQLITE_FULL: _FULL,
        sqlite3.SQLITE_IOERR: _IO,
        sqlite3.SQLITE_CORRUPT: _CORRUPT,
        sqlite3.SQLITE_NOTADB: _CORRUPT,
        sqlite3.SQLITE_READONLY: _READONLY,
        sqlite3.SQLITE_CONSTRAINT: _CONSTRAINT,
    }
)
"""By primary result code."""

_OF_POSTGRES: Mapping[str, _Kind] = MappingProxyType(
    {
        "55P03": _BUSY,
        "40": _BUSY,
        "57014": _TIME_LIMIT,
        "08": _UNREACHABLE,
        "57P": _UNREACHABLE,
        "28": _REFUSED,
        "3D": _REFUSED,
        "42501": _REFUSED,
        "53300": _BUSY,
        "53": _FULL,
        "58": _IO,
        "XX": _CORRUPT,
        "25006": _READONLY,
        "23": _CONSTRAINT,
    }
)
"""By SQLSTATE or the start of it; a longer one goes first."""


class ErrorMap:
    """Turns whatever an engine meets into an error of refold; a listener of `handle_error`.

    `shown` names the database in messages.
    """

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __call__(self, context: ExceptionContext) -> RefoldError | None:
        """Give the error in place of the driver's.

        None lets through what is no driver's, and what the pool meets when it tries a connection
        that lay idle: it opens another one then.
        """
        if context.sqlalchemy_exception is None or context.is_pre_ping:
            return None
        return error_of(context.original_exception, self._shown)


def error_of(error: BaseException, shown: str) -> RefoldError:
    """Give the error of refold for a driver's; the cause is left to whoever raises it."""
    if isinstance(error, sqlite3.Error):
        # Bits above the lowest eight tell variants of one primary code apart.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        kind, said = _OF_SQLITE.get(code & 0xFF, _FAILED), str(error)
    else:
        kind, said = _kind_of_postgres(error), _said_by_postgres(error)
    detail = f" ({one_line(said)})" if said else ""
    return kind.branch(kind.code, f"{shown}: {kind.message}{detail}", kind.hint)


def _kind_of_postgres(error: BaseException) -> _Kind:
    state = getattr(error, "sqlstate", None)
    if not state:  # no server said it: the driver found nobody, or did not like the question
        lost = any(base.__name__ == "OperationalError" for base in type(error).__mro__)
        return _UNREACHABLE if lost else _FAILED
    found = (_OF_POSTGRES.get(state[:length]) for length in (5, 3, 2))
    return next((kind for kind in found if kind is not None), _FAILED)


def _said_by_postgres(error: BaseException) -> str:
    """Give the server's first line: the others quote rows, and rows hold whole texts."""
    said = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    return str(said).strip().partition("\n")[0]
