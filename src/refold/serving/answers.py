"""What a handler gives back, and how it becomes an answer: ETag, Link, Cache-Control, streams.

A handler gives a Struct (JSON), a `Page` of a list, a `View` (a page for people), `Lines` (a
stream), or an `Answer` around a value when the answer needs a status, headers or a version of its
own. Bodies are never compressed here: that is the proxy's job, and a strong ETag names bytes.
"""

import base64
from collections.abc import AsyncGenerator, Callable, Generator, Hashable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Generic, TypeVar

import msgspec

import refold

__all__ = [
    "FOREVER",
    "NO_STORE",
    "REVALIDATE",
    "Answer",
    "Events",
    "Lines",
    "Page",
    "View",
    "etag_of",
    "is_known",
    "json_bytes",
]

REVALIDATE = "no-cache"
"""May be kept, and is asked for again each time, which costs an answer without a body."""
FOREVER = "public, max-age=31536000, immutable"
"""For addresses whose content never changes."""
NO_STORE = "no-store"
JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"
EVENTS_TYPE = "text/event-stream"
LINES_TYPE = "application/jsonl"

T = TypeVar("T")
_encode = msgspec.json.Encoder().encode


class Page(msgspec.Struct, Generic[T], frozen=True, rename="camel"):
    """One page of a list. `next_cursor` is None on the last one. Made by `Call.page`."""

    items: tuple[T, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class View:
    """A page for people: a template and what it shows.

    `value` is the same as data, a Struct or a `Page`: what `?format=json` gives. `made_of` is all
    that the page is made of besides its address: of the same the same page is made, so it is kept
    and made once. `data` may be a function, which is then not called again.
    """

    template: str
    data: Mapping[str, object] | Callable[[], Mapping[str, object]]
    value: Any
    made_of: Hashable = None


@dataclass(frozen=True, slots=True)
class Lines:
    """A stream: `chunks` is called in a thread of its own, and runs as fast as the client reads.

    It is closed when the client leaves, the server stops, or its time is over; then the connection
    is cut, so that nobody takes a part for the whole.
    """

    chunks: Callable[[], Generator[bytes, None, None]]
    media_type: str = LINES_TYPE
    filename: str = ""


@dataclass(frozen=True, slots=True)
class Events:
    """A live feed: `chunks` gives pieces made by `refold.serving.events.event`, as they happen.

    It runs in the event loop, and is closed when the listener leaves, is too slow, or the server
    stops; its own end ends the feed.
    """

    chunks: Callable[[], AsyncGenerator[bytes, None]]


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A value with what else an answer has.

    `value` is a Struct, a Page, a View, bytes, or a function that gives one: with `version` it is
    called only when the client does not have that version yet. `version` names the content, such as
    a digest or a height with a digest; without one the ETag is made from the bytes.
    """

    value: T | Callable[[], T]
    version: str = ""
    status: int = 200
    media_type: str = JSON_TYPE
    cache: str = ""
    headers: tuple[tuple[str, str], ...] = ()


def json_bytes(value: object) -> bytes:
    """Give JSON in UTF-8."""
    return _encode(value)


def etag_of(body: bytes) -> str:
    """Give a strong ETag for bytes."""
    return f'"{_short(sha256(body).digest())}"'


def etag_of_version(*parts: str) -> str:
    """Give a strong ETag for a version of a representation; another refold may write it anew."""
    text = "\0".join((refold.__version__, *parts))
    return f'"v{_short(sha256(text.encode()).digest())}"'


def is_known(if_none_match: str, etag: str) -> bool:
    """Tell whether a client that sends this If-None-Match has what `etag` names (RFC 9110)."""
    if not if_none_match:
        return False
    tags = (tag.strip().removeprefix("W/") for tag in if_none_match.split(","))
    return if_none_match.strip() == "*" or etag in tags


def _short(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest[:15]).decode()


Result = msgspec.Struct | Answer[Any] | Page[Any] | View | Lines | Events
"""Whatever a handler may give."""
