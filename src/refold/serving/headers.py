"""Headers of every answer: what a browser may do with it.

Answers of the API may be read by pages of any origin, without credentials, of which we have none.
Pages load style and pictures from here only, run no script that stands in them, and cannot be
framed. Source: architecture.md, Conventions (security headers); agentpedia.md §12.
"""

from typing import Literal

__all__ = ["API_HEADERS", "PAGE_HEADERS", "Header", "headers_of", "preflight_headers"]

Header = tuple[bytes, bytes]

_EVERYWHERE: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"permissions-policy",
        (
            b"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(),"
            b" hid=(), microphone=(), midi=(), payment=(), serial=(), usb=()"
        ),
    ),
)
API_HEADERS: tuple[Header, ...] = (
    *_EVERYWHERE,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Link, Location, Retry-After"),
)
PAGE_HEADERS: tuple[Header, ...] = (
    *_EVERYWHERE,
    (
        b"content-security-policy",
        (
            b"default-src 'none'; style-src 'self'; img-src 'self';"
            b" form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
    ),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
PREFLIGHT_SECONDS = 86_400
"""How long a browser may remember what it was allowed."""


def headers_of(kind: Literal["api", "page"]) -> tuple[Header, ...]:
    """Give the headers of one kind of answer."""
    return PAGE_HEADERS if kind == "page" else API_HEADERS


def preflight_headers(allow: str) -> tuple[Header, ...]:
    """Give what a browser is told that asks before it sends; `allow` are the route's methods."""
    return (
        (b"allow", allow.encode()),
        (b"access-control-allow-methods", allow.encode()),
        (b"access-control-allow-headers", b"Content-Type, If-None-Match, Accept"),
        (b"access-control-max-age", str(PREFLIGHT_SECONDS).encode()),
    )
