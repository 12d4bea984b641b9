"""The one tree of errors.

    RefoldError
    ├── InputError    what somebody gave us is invalid: theirs to mend
    ├── SourceError   a source cannot be read: theirs too, and may be retried
    └── UsageError    the API, the command line or the settings are misused

Every error has a stable `code` (lower-case-kebab, or the spelling that a protocol fixes), a
message, and where it helps a remedy and a JSON pointer (RFC 6901) into the input. An input with
several problems is one error that carries them all in `errors`. Source: architecture.md,
Conventions.
"""

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import ClassVar, Self

import msgspec

__all__ = [
    "MAX_PART_LENGTH",
    "Exit",
    "InputError",
    "Problem",
    "RefoldError",
    "SourceError",
    "UsageError",
    "json_pointer",
    "one_line",
]

# Longest part of an error line, in code points: a hostile member name must not fill a terminal.
MAX_PART_LENGTH = 300

_SURROGATE = re.compile("[\ud800-\udfff]")


class Exit(IntEnum):
    """What a process of the command line ends with, unless a command's own page says otherwise."""

    DONE = 0
    NO = 1  # the command ran and its answer is no
    USAGE = 2
    INPUT = 3
    SOURCE = 4
    INTERNAL = 70  # a defect of refold
    INTERRUPTED = 130


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong; `str()` gives it as one line.

    `pointer` is a JSON pointer ("" for the whole input), `line` counts from 1 in inputs of lines.
    `field` names a field of such a line, `docs` the address where the code is described.
    """

    code: str
    message: str
    hint: str = ""
    pointer: str = ""
    line: int | None = None
    field: str = ""
    docs: str = ""

    def __str__(self) -> str:
        where = f" at {one_line(self.pointer)}" if self.pointer else ""
        line = f" in line {self.line}" if self.line is not None else ""
        remedy = f"; {one_line(self.hint)}" if self.hint else ""
        return f"{one_line(self.message)}{where}{line}{remedy}"


class RefoldError(Exception):
    """The base: catch this one to catch all of them. Only its branches are raised.

    `errors` holds at least one problem; the first is also spelled out in `code`, `message`, `hint`
    and `pointer`. `str()` is one line: what, where, remedy, and how many more there are.
    """

    exit_code: ClassVar[Exit] = Exit.INTERNAL

    def __init__(self, code: str, message: str, hint: str = "", pointer: str = "") -> None:
        super().__init__(code, message, hint, pointer)
        self.code = code
        self.message = message
        self.hint = hint
        self.pointer = pointer
        self.errors: tuple[Problem, ...] = (Problem(code, message, hint, pointer),)

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> Self:
        """Give one error that reports all of `problems` (at least one), in their order."""
        first = problems[0]
        error = cls(first.code, first.message, first.hint, first.pointer)
        error.errors = tuple(problems)
        return error

    def __str__(self) -> str:
        more = len(self.errors) - 1
        return f"{self.errors[0]}{f' (and {more} more)' if more else ''}"


class InputError(RefoldError):
    """What somebody gave us is invalid: a record, a key, a file."""

    exit_code = Exit.INPUT


class SourceError(RefoldError):
    """A source cannot be read: a network, an indexer, a database. Trying again may help."""

    exit_code = Exit.SOURCE


class UsageError(RefoldError):
    """The API, the command line or the settings are used in a way they do not allow."""

    exit_code = Exit.USAGE


def json_pointer(parts: Iterable[str | int]) -> str:
    """Give the JSON pointer (RFC 6901) through member names and array indexes; "" for none.

    Lone surrogates become U+FFFD, so that a pointer can always be written as UTF-8.
    """
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return _SURROGATE.sub("\ufffd", "".join(f"/{part}" for part in escaped))


def one_line(text: str) -> str:
    r"""Give `text` fit for a terminal or a log: escaped (`\n`, `\x1b`, `\u202e`) and shortened.

    What is escaped is whatever `str.isprintable` refuses: controls, direction marks, surrogates.
    """
    if len(text) > MAX_PART_LENGTH:
        text = text[: MAX_PART_LENGTH - 1] + "…"
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
