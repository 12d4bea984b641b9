"""Times: UTC, whole seconds, in one form.

`YYYY-MM-DDTHH:MM:SSZ` is RFC 3339 without its options: no offsets, no fraction, no lower case, no
leap second, years 0001 to 9999. One moment has one text, so times compare as text too. Source:
architecture.md, Conventions. Only `now` reads a clock.
"""

import re
from datetime import UTC, datetime, timedelta

from refold.kernel.errors import InputError, UsageError

__all__ = ["format_utc", "later", "now", "parse_utc"]

_FORM = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z")
_HINT = "write it as 2031-05-09T07:30:00Z"


def parse_utc(text: str, pointer: str = "") -> datetime:
    """Give the moment (aware, UTC) that `text` names.

    Raises InputError at `pointer`: `time-form` for another form, `time-range` for a day or a
    time of day that does not exist.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise InputError("time-form", "the time is not in the one form", _HINT, pointer)
    year, month, day, hour, minute, second = map(int, match.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise InputError(
            "time-range", "no such day or time of day exists", _HINT, pointer
        ) from None


def format_utc(moment: datetime) -> str:
    """Give the one text of `moment`.

    Raises UsageError: `time-zone` if `moment` is naive or not at offset zero, `time-fraction` if it
    is not a whole second. Nothing is converted or cut in silence.
    """
    if moment.utcoffset() != timedelta(0):
        raise UsageError("time-zone", "a time without zone, or not in UTC", "use astimezone(UTC)")
    if moment.microsecond:
        raise UsageError("time-fraction", "a time with parts of a second", "round it yourself")
    return f"{moment.replace(tzinfo=None).isoformat()}Z"


def now() -> datetime:
    """Give the current moment by the system's clock, rounded down to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def later(text: str, seconds: int) -> str:
    """Give the text of the moment so many seconds after the one that `text` names.

    Raises as `parse_utc`, and InputError `time-range` beyond the year 9999.
    """
    try:
        return format_utc(parse_utc(text) + timedelta(seconds=seconds))
    except OverflowError:
        raise InputError("time-range", "no such time exists", "give an earlier one") from None
