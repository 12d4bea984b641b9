"""Structured logs: one JSON object a line, to standard error. No bodies, queries or addresses."""

import logging
import sys
import traceback
from typing import Any, BinaryIO

import msgspec
import structlog

from refold.kernel.errors import RefoldError, one_line

__all__ = ["Log", "described", "forward_logging", "make_log"]

Log = Any
"""A bound logger of structlog, which is typed as Any there."""


def make_log(stream: BinaryIO | None = None, *, form: str = "json") -> Log:
    """Give a logger that writes to `stream` as "json" or "text". Nothing global is changed."""
    out = stream or sys.stderr.buffer
    render: Any = structlog.processors.JSONRenderer(serializer=_to_json)
    if form == "text":
        render = _as_text
    return structlog.wrap_logger(
        structlog.BytesLogger(out),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            render,
        ],
        wrapper_class=structlog.BoundLogger,
        cache_logger_on_first_use=True,
    )


def described(error: BaseException) -> dict[str, object]:
    """Give what a log says of an error: where it happened, and of our own errors what they say.

    The text of other errors is left out: it may quote what strangers sent.
    """
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    found: dict[str, object] = {
        "error": type(error).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    if isinstance(error, RefoldError):
        found |= {"code": error.code, "message": one_line(str(error))}
    return found


def forward_logging(log: Log) -> logging.Handler:
    """Give a handler that writes what libraries log, from warnings on, into `log`."""
    return _Forward(log)


class _Forward(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, without what hangs on it."""
        self._log.warning("library", logger=record.name, message=one_line(record.getMessage()))


def _to_json(event: object, **_: object) -> bytes:
    return msgspec.json.encode(event, enc_hook=str)


def _as_text(_: object, __: str, event: dict[str, Any]) -> bytes:
    head = f"{event.pop('timestamp')} {event.pop('level')} {event.pop('event')}"
    rest = " ".join(f"{name}={one_line(str(value))}" for name, value in event.items())
    return f"{head} {rest}".encode(errors="backslashreplace")
