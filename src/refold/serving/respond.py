"""From what a handler gives, or what went wrong, to the bytes of an answer."""

from collections.abc import Iterable
from typing import Any, Self

from litestar.types import ASGIApp, Receive, Scope, Send

from refold.serving.answers import (
    NO_STORE,
    Answer,
    Events,
    Lines,
    Page,
    View,
    etag_of,
    etag_of_version,
    is_known,
    json_bytes,
)
from refold.serving.call import Call
from refold.serving.events import EventStream
from refold.serving.headers import API_HEADERS, PAGE_HEADERS, Header, headers_of
from refold.serving.here import here_of, wants_json
from refold.serving.problem import PROBLEM_TYPE, Fault
from refold.serving.site import Site
from refold.serving.stream import Stream

__all__ = ["Sent", "fault_answer", "respond"]

HTML_TYPE = "text/html; charset=utf-8"
API_PREFIXES = ("/v1/", "/api/", "/static/", "/mcp")
"""Below these nobody looks with a browser: what is wrong is always told as a problem."""


class Sent:
    """An answer that is all there."""

    __slots__ = ("_body", "_headers", "status")

    def __init__(self, status: int, headers: Iterable[Header], body: bytes) -> None:
        self.status = status
        self._body = body
        self._headers = list(headers)
        if status not in {204, 304}:
            self._headers.append((b"content-length", str(len(body)).encode()))

    def to_asgi_response(self, **_: object) -> Self:
        """Give itself, where the framework wants to make an answer of an answer."""
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        del scope, receive
        await send({"type": "http.response.start", "status": self.status, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._body, "more_body": False})


def respond(call: Call, result: object) -> ASGIApp:
    """Give the answer for what a handler gave (see `refold.serving.answers`)."""
    answer: Answer[Any] = result if isinstance(result, Answer) else Answer(result)
    route = call.operation.route
    cache = answer.cache or route.cache
    etag = ""
    if answer.version:
        etag = etag_of_version(answer.version, call.variant)
        if is_known(call.headers.get("if-none-match", ""), etag):
            return _not_modified(call, etag, cache)
    value = answer.value() if callable(answer.value) else answer.value
    if isinstance(value, Lines):
        return Stream(value, call.site, cache, headers_of(route.kind))
    if isinstance(value, Events):
        return EventStream(value, call.site)
    if isinstance(value, View) and call.wants_json:
        value = value.value
    body, media_type = _body_of(call, value, answer.media_type)
    if not etag and answer.status == 200 and cache != NO_STORE:
        etag = etag_of(body)
        if is_known(call.headers.get("if-none-match", ""), etag):
            return _not_modified(call, etag, cache)
    headers = [
        (b"content-type", media_type.encode()),
        *_common(call, etag, cache),
        *((name.lower().encode(), text.encode()) for name, text in answer.headers),
    ]
    if isinstance(value, Page) and value.next_cursor is not None:
        link = f'<{call.next_address(value.next_cursor)}>; rel="next"'
        headers.append((b"link", link.encode()))
    status = route.status if answer.status == 200 else answer.status
    return Sent(status, headers, body)


def _body_of(call: Call, value: object, media_type: str) -> tuple[bytes, str]:
    if isinstance(value, bytes):
        return value, media_type
    if isinstance(value, View):
        return call.site.pages.shown(value, call.here), HTML_TYPE
    return json_bytes(value), media_type


def _common(call: Call, etag: str, cache: str) -> list[Header]:
    """Give the headers that an answer has with a body and without."""
    is_page = call.operation.route.kind == "page" and not call.wants_json
    headers = [
        (b"cache-control", cache.encode()),
        *headers_of("page" if is_page else "api"),
    ]
    if etag:
        headers.append((b"etag", etag.encode()))
    if is_page:
        headers += [
            (b"vary", b"accept-language, accept"),
            (b"content-language", call.language.encode()),
            (b"link", call.site.pages.preload),
        ]
    return headers


def _not_modified(call: Call, etag: str, cache: str) -> Sent:
    return Sent(304, _common(call, etag, cache), b"")


def fault_answer(site: Site, fault: Fault, scope: Scope) -> Sent:
    """Give the answer that something is wrong: a page for browsers, else problem details."""
    extra = [(name.encode(), text.encode()) for name, text in fault.headers]
    extra.append((b"cache-control", NO_STORE.encode()))
    headers = {name: value for name, value in scope["headers"] if name.startswith(b"accept")}
    path = scope["path"]
    is_data = path.startswith(API_PREFIXES) or wants_json(scope["query_string"])
    if is_data or not _prefers_html(headers.get(b"accept", b"")):
        common = (b"content-type", PROBLEM_TYPE.encode()), *API_HEADERS
        return Sent(fault.status, [*common, *extra], fault.body(site.origin))
    accepted = headers.get(b"accept-language", b"").decode("latin-1")
    here = here_of(scope, accepted, site.origin)
    details = fault.details(site.origin)
    body = site.pages.render("problem.html", here, {"problem": details})
    common = (b"content-type", HTML_TYPE.encode()), *PAGE_HEADERS
    extra += [(b"content-language", here.lang.encode()), (b"vary", b"accept-language, accept")]
    return Sent(fault.status, [*common, *extra], body)


def _prefers_html(accept: bytes) -> bool:
    """Tell whether a client asks for pages by name, as browsers do; `*/*` is anybody's."""
    return any(piece.partition(b";")[0].strip() == b"text/html" for piece in accept.split(b","))
