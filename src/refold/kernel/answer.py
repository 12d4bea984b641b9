"""Reading the answer of a server that is not trusted: head, framing, body, and its wish to wait.

A body is whole or an error: it must say how long it is, once (Content-Length or chunked), and hold
to it; gzip that nobody asked for is read to its last trailer. Bodies that end where the connection
does are refused, as a cut one looks the same. Source: coverage spec §5.5 R-2 to R-4; RFC 9112 §6.3.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from io import BytesIO

import httpcore2
import msgspec

from refold.kernel.addresses import Url, join_url
from refold.kernel.dial import Allowance
from refold.kernel.errors import InputError, SourceError
from refold.kernel.gunzip import gunzip
from refold.kernel.headers import Headers, header_of, http_date

__all__ = [
    "Head",
    "asked_wait",
    "broken",
    "check_end",
    "off_source",
    "read_body",
    "read_head",
    "redirected",
]

# What chunked framing may add to a body: as much again, and this much in bytes, so that small
# chunks of a small body are fine and endless chunk extensions are not.
_FRAMING_BYTES = 1024 * 1024
_BODILESS = frozenset({204, 304})
_GZIP = frozenset({"gzip", "x-gzip"})
_TOO_LARGE = 431  # h11's hint that a head was over the limit
_DIGITS = re.compile("[0-9]+")


class Head(msgspec.Struct, frozen=True):
    """Status, headers (names in lower case) and the address that they came from."""

    status: int
    headers: Headers
    address: str

    def header(self, name: str) -> str | None:
        """Give what `header_of` gives."""
        return header_of(self.headers, name)


def read_head(response: httpcore2.Response, allowance: Allowance) -> Head:
    """Give the head of `response`; raises TransientError `framing-invalid` if it came too early.

    Without a byte since the request was sent it is what was left over of the answer before.
    """
    if not allowance.received:
        raise allowance.lost("framing-invalid", "the answer before was longer than it said")
    return Head(
        response.status,
        tuple(
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in response.headers
        ),
        response.extensions["network_stream"].get_extra_info("address"),
    )


def read_body(
    response: httpcore2.Response, head: Head, allowance: Allowance, max_bytes: int
) -> bytes:
    """Give the body, whole and decoded, at most `max_bytes` long.

    Raises SourceError `framing-invalid`, `encoding-refused`, `encoding-invalid`, `body-too-large`.
    """
    if head.status in _BODILESS:
        return b"".join(response.iter_stream())  # empty; reading it keeps the connection
    too_large = SourceError(
        "body-too-large", f"{allowance.shown}: the body is over {max_bytes} bytes"
    )
    encoding = (head.header("content-encoding") or "identity").lower()
    length = _announced(head, allowance)
    if encoding == "identity" and length is not None and length > max_bytes:
        raise too_large
    allowance.begin_body(2 * max_bytes + _FRAMING_BYTES)
    body = BytesIO()
    try:
        for piece in _pieces(response, encoding, allowance):
            if body.tell() + len(piece) > max_bytes:
                raise too_large
            body.write(piece)
    except InputError as error:
        raise SourceError("encoding-invalid", f"{allowance.shown}: {error.message}") from error
    return body.getvalue()


def check_end(response: httpcore2.Response, allowance: Allowance) -> None:
    """Refuse bytes that have come behind the end of the body: it was longer than it said.

    Raises TransientError `framing-invalid`. The connection is closed then.
    """
    wire = response.extensions["network_stream"]
    if _left_over(response) or wire.has_more():
        wire.close()
        raise allowance.lost("framing-invalid", "the answer is longer than it said")


def _left_over(response: httpcore2.Response) -> bool:
    """Tell whether bytes behind the answer were read together with its end.

    httpcore2 has no public way to ask; a test fails when this one is gone.
    """
    connection = response.stream._connection  # type: ignore[union-attr]  # noqa: SLF001
    return bool(connection._h11_state.trailing_data[0])  # noqa: SLF001


def _announced(head: Head, allowance: Allowance) -> int | None:
    """Give the Content-Length, None for a chunked body; exactly one of them must be given."""
    length, coding = head.header("content-length"), head.header("transfer-encoding")
    if (length is None) == (coding is None):
        times = "not at all" if length is None else "twice"
        raise SourceError(
            "framing-invalid", f"{allowance.shown}: the answer says {times} how long it is"
        )
    return None if length is None else int(length)  # h11 has checked it: at most 20 digits


def _pieces(response: httpcore2.Response, encoding: str, allowance: Allowance) -> Iterator[bytes]:
    """Give the body as it comes, decoded."""
    if encoding == "identity":
        return response.iter_stream()
    if encoding in _GZIP:
        return gunzip(response.iter_stream())
    raise SourceError("encoding-refused", f"{allowance.shown}: the body is neither plain nor gzip")


def broken(error: httpcore2.RemoteProtocolError, allowance: Allowance) -> SourceError:
    """Give the error for an answer that is not HTTP, or is cut off.

    A head that is not HTTP on a connection used before may be the rest of the answer before, so it
    is transient.
    """
    if allowance.ended and allowance.in_head:
        return allowance.lost("connection-lost", "the connection closed without an answer")
    if allowance.ended:
        return allowance.lost("body-short", "the connection closed before the end of the body")
    if getattr(error.args[0], "error_status_hint", 0) == _TOO_LARGE:
        return SourceError("head-too-large", f"{allowance.shown}: the head is too large")
    reason = str(error).partition(":")[0]  # what follows quotes the server
    if allowance.reused and allowance.in_head:
        return allowance.lost("framing-invalid", f"the answer is not HTTP ({reason})")
    return SourceError("framing-invalid", f"{allowance.shown}: the answer is not HTTP ({reason})")


def redirected(url: Url, head: Head) -> Url:
    """Give where `head`, an answer from `url`, redirects to.

    Raises SourceError `redirected-off-source` unless that is a URL of the same origin.
    """
    try:
        target = join_url(url, head.header("location") or "")
    except InputError as error:
        raise off_source(url, "redirects to what is no URL to fetch") from error
    if target.origin != url.origin:
        raise off_source(url, f"redirects to {target.origin}")
    return target


def off_source(url: Url, what: str) -> SourceError:
    """Give the error for a redirect that is not followed."""
    return SourceError("redirected-off-source", f"{url.shown}: {what}", "name the source itself")


def asked_wait(head: Head, now: datetime) -> float | None:
    """Give the seconds that a Retry-After of `head` asks for, at least 0; None without a valid one.

    A date is compared with the server's own Date, if there is one, else with `now`.
    """
    value = head.header("retry-after")
    if value is None:
        return None
    if _DIGITS.fullmatch(value):
        return float(value)
    until = http_date(value)
    if until is None:
        return None
    since = http_date(head.header("date") or "") or now
    return max(0.0, (until - since).total_seconds())
