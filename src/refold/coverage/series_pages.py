"""Sources that count their pages: the units that a builder makes of one (spec §5.5 R-6).

A source without next links is declared as a unit a page, the last one empty. How many pages there
are is found out by reading on until one is empty.
"""

import re
from typing import Final

import msgspec

from refold.coverage.record import HttpJson
from refold.coverage.walk.asking import Answer, Transport
from refold.coverage.walk.budget import Purse
from refold.coverage.walk.page import Page, PageError
from refold.coverage.walk.replies import refusal
from refold.coverage.walk.series import series_of
from refold.coverage.walk.walked import Listed

__all__ = ["MAX_COUNTED_ID", "counted_from", "expanded"]

MAX_COUNTED_ID: Final = 40
"""Of the id of a unit whose pages are counted, in code points: ` offset=1000000` is added."""

_PAGE: Final = "page"
_COUNTED: Final = ("page", "offset", "start", "skip")


def counted_from(url: str, pages_by: str, step: object) -> str:
    """Say why a URL cannot be counted on by a parameter, "" if it can.

    Its value must be there, and be 0 or 1: pages before it would not be read.
    """
    if pages_by.lower() not in _COUNTED:
        return f"none of {', '.join(_COUNTED)}"
    if pages_by.lower() == _PAGE and step != 1:
        return "pages go up by one"
    if len(_values(url, pages_by)) != 1:
        return f"the URL does not have {pages_by} once, with the number that it starts at"
    first = _at(Listed("", HttpJson(url, "")), pages_by, 0, 1)
    second = _at(Listed("", HttpJson(url, "")), pages_by, 1, step if type(step) is int else 1)
    if len(series_of((first, second))) != 1:
        return f"{pages_by} starts at 0 or 1"
    return ""


def expanded(
    source: Listed, pages_by: str, step: int, *, most: int, transport: Transport, purse: Purse
) -> tuple[Listed, ...]:
    """Give the sources that are the pages of one, up to the first empty one, `most` at most.

    What cannot be read ends the counting too: the walk says why. Every page is asked for once.
    """
    found: list[Listed] = []
    purse.begin_unit()
    for number in range(most):
        page = _at(source, pages_by, number, step)
        found.append(page)
        if not _has_rows(page, transport, purse):
            break
    return tuple(found)


def _has_rows(source: Listed, transport: Transport, purse: Purse) -> bool:
    """Ask for a page; tell whether it is one, and not empty."""
    if purse.exhausted() or not isinstance(source.replay, HttpJson):
        return False
    batch = transport.ask((purse.ask(source.replay.url),))
    purse.charge(batch)
    reply = batch.replies[0]
    if not isinstance(reply, Answer) or refusal(reply):
        return False
    try:
        return sum(1 for _ in Page(reply.body, source.replay.array_path).items()) > 0
    except PageError:
        return False


def _at(source: Listed, pages_by: str, number: int, step: int) -> Listed:
    """Give the page so many steps after the first one, as a source of its own."""
    replay = source.replay
    if not isinstance(replay, HttpJson):
        return source
    values = _values(replay.url, pages_by)
    value = str(int(values[0]) + number * step) if values else ""
    url = _parameter(pages_by).sub(lambda found: found[1] + value, replay.url)
    name = f"{source.id} {pages_by}={value}"
    return Listed(name, msgspec.structs.replace(replay, url=url))


def _values(url: str, pages_by: str) -> list[str]:
    return [found[2] for found in _parameter(pages_by).finditer(url)]


def _parameter(name: str) -> re.Pattern[str]:
    return re.compile(rf"([?&;]{re.escape(name)}=)([0-9]{{1,9}})(?![^&;#])")
