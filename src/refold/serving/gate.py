"""What stands before all routes: one way in, one way out, one line in the log.

Paths are routed as they were sent, so that an encoded slash is part of a member and not of the
path. A path has one spelling: none is redirected, and one with a slash too many is not there. HEAD
is GET without its body.
"""

import secrets
import time

from litestar.enums import HttpMethod, ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from refold.kernel.errors import InputError, SourceError
from refold.serving.headers import API_HEADERS, Header, preflight_headers
from refold.serving.limits import MAX_RUNNING
from refold.serving.logs import Log, described
from refold.serving.metrics import Metrics
from refold.serving.problem import fault_of, with_head
from refold.serving.respond import Sent, fault_answer
from refold.serving.site import Site
from refold.serving.stream import IS_HEAD

__all__ = ["Gate"]


class Gate:
    """Lets requests in to `app`, counts and logs them."""

    def __init__(
        self, app: ASGIApp, site: Site, metrics: Metrics, log: Log, *, log_requests: bool
    ) -> None:
        self._app = app
        self._site = site
        self._metrics = metrics
        self._log = log
        self._log_requests = log_requests
        self._running = 0
        metrics.running.set_function(lambda: self._running)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass on what is none."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        method = scope["method"]
        scope = scope.copy()  # the server still needs to know that it is HEAD
        scope["path"] = scope["raw_path"].decode("latin-1")
        if method == "HEAD":
            scope["method"] = HttpMethod.GET
            scope["state"][IS_HEAD] = True
        exit_ = _Exit(send, has_body=method != "HEAD")
        self._running += 1
        try:
            await self._pass(scope, receive, exit_)
        finally:
            self._running -= 1
            route = str(scope.get("path_template", ""))
            seconds = time.perf_counter() - started
            self._metrics.count(method, route, exit_.status, seconds)
            if self._log_requests:
                self._log.info(
                    "request",
                    method=method,
                    route=route,
                    status=exit_.status,
                    ms=round(seconds * 1_000, 2),
                    bytes=exit_.bytes,
                )

    async def _pass(self, scope: HTTPScope, receive: Receive, exit_: "_Exit") -> None:
        """Let one request through to an answer, whatever happens behind."""
        try:
            refused = self._refused(scope["path"])
            if refused is not None:
                await refused_answer(self._site, refused, scope)(scope, receive, exit_.send)
            elif scope["method"] == "OPTIONS":
                await self._app(scope, receive, exit_.send_preflight)
            else:
                await self._app(scope, receive, exit_.send)
        except Exception as error:
            if exit_.status:  # the answer has begun: all that is left is to cut it
                self._log.error("answer-cut", **described(error))
                raise
            await self.answer_to(error, scope)(scope, receive, exit_.send)

    def answer_to(self, error: BaseException, scope: Scope) -> Sent:
        """Give the answer to an error, and log what is not the client's to mend."""
        reference = secrets.token_hex(8)
        fault = fault_of(error, self._site.codes, reference)
        if fault.status >= 500:
            self._log.error("answer-failed", reference=reference, **described(error))
        return fault_answer(self._site, fault, scope)

    def _refused(self, path: str) -> Exception | None:
        if self._running > MAX_RUNNING:
            return SourceError("busy", "too many requests at once", "try again in a moment")
        if path != "/" and (path.endswith("/") or "//" in path):
            return InputError("route-unknown", "there is nothing at this address")
        return None


def refused_answer(site: Site, error: Exception, scope: Scope) -> Sent:
    """Give the answer to a request that does not get in."""
    return fault_answer(site, fault_of(error, site.codes, ""), scope)


class _Exit:
    """Counts what is sent, and adds the headers that an answer of the framework lacks."""

    __slots__ = ("_has_body", "_send", "bytes", "status")

    def __init__(self, send: Send, *, has_body: bool) -> None:
        self._send = send
        self._has_body = has_body
        self.status = 0
        self.bytes = 0

    async def send(self, message: Message) -> None:
        """Send on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message["headers"])
            if not any(name == b"content-security-policy" for name, _ in headers):
                message["headers"] = [*headers, *API_HEADERS]
        elif message["type"] == "http.response.body" and self._has_body:
            self.bytes += len(message["body"])
        await self._send(message)

    async def send_preflight(self, message: Message) -> None:
        """Send on what answers OPTIONS, with what a browser wants to know."""
        if message["type"] == "http.response.start" and message["status"] < 300:
            headers = list(message["headers"])
            allow = next((value for name, value in headers if name.lower() == b"allow"), b"")
            rest: list[Header] = [pair for pair in headers if pair[0].lower() != b"allow"]
            message["headers"] = [*rest, *preflight_headers(with_head(allow.decode()))]
        await self.send(message)
