"""Column types that mean the same on SQLite and PostgreSQL."""

import re
from collections.abc import Callable

from sqlalchemy import BigInteger, Integer, LargeBinary, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

__all__ = ["BYTES", "INT64", "NAME", "AnyText"]

INT64 = BigInteger().with_variant(Integer, "sqlite")
"""A signed integer of 64 bits; as a primary key SQLite counts it up only under the name INTEGER."""

BYTES = LargeBinary()

NAME = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that compares by code point, as Python does, whatever the language of the server.

For what refold checked or made: ids, hashes, words of its own. No U+0000, no lone surrogate.
"""

_TO_ESCAPE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(\\|u[0-9a-f]{4})")


class AnyText(TypeDecorator[str]):
    r"""Any text of Python's, which a stranger may have written: kept to the last code point.

    PostgreSQL takes no U+0000, and UTF-8 no lone surrogate. Both are escaped as `\u0000`, and so
    is the backslash, as `\\`; other text stands as it is. Equality is kept, order is not.
    """

    impl = NAME
    cache_ok = True

    # These two and not the usual process_…, whose wrappers took as long as the work itself: twelve
    # texts a pin.

    def bind_processor(self, dialect: Dialect) -> "_Process":  # noqa: ARG002
        """Give what escapes a value on its way in."""
        return _escaped

    def result_processor(self, dialect: Dialect, coltype: object) -> "_Process":  # noqa: ARG002
        """Give what makes a value what it was."""
        return _unescaped


_Process = Callable[[str | None], str | None]


def _escaped(value: str | None) -> str | None:
    # Nearly all texts are ASCII without a backslash, and leave here.
    if value is None or (value.isascii() and "\\" not in value and "\0" not in value):
        return value
    return _TO_ESCAPE.sub(_escape, value)


def _unescaped(value: str | None) -> str | None:
    if value is None or "\\" not in value:
        return value
    return _ESCAPED.sub(_unescape, value)


def _escape(found: re.Match[str]) -> str:
    return "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}"


def _unescape(found: re.Match[str]) -> str:
    return "\\" if found[1] == "\\" else chr(int(found[1][1:], 16))
