"""Headers of answers: finding one, and the times that they tell.

Light, and apart from `refold.kernel.answer`: whoever looks at a head needs no client.
"""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["Headers", "generated_at", "header_of", "http_date"]

Headers = tuple[tuple[str, str], ...]
"""Name, in lower case, and value of each line."""

_AGE = re.compile("[0-9]{1,15}")


def header_of(headers: Headers, name: str) -> str | None:
    """Give the value of header `name` (lower case), its lines joined with ", "; None if absent."""
    values = [value for key, value in headers if key == name]
    return ", ".join(values) if values else None


def generated_at(headers: Headers) -> float | None:
    """Give the Unix time at which an answer was made: its Date less its Age (RFC 9111 §5.1).

    None without a valid Date; an Age that is no number of seconds is none.
    """
    date = http_date(header_of(headers, "date") or "")
    age = header_of(headers, "age") or ""
    if date is None:
        return None
    return date.timestamp() - (int(age) if _AGE.fullmatch(age) else 0)


def http_date(text: str) -> datetime | None:
    """Give the moment of a date as headers have it, None for what is none."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
