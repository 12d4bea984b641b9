"""The one client for outgoing requests, to servers that are not trusted.

    with GuardedClient(FetchPolicy(user_agent="refold/1.0")) as client:
        page = client.get("https://api.example.test/items", headers={"Accept": "application/json"})

What is wrong with a URL is an InputError, and nothing is sent: `url-invalid`, `scheme-forbidden`,
`address-forbidden`. What is wrong with a server, or the way to it, is a SourceError. Those that may
pass are TransientError, and a GET is tried again: `name-unresolved`, `connect-failed`,
`connection-lost`, `source-silent`, `source-unavailable` (status 429, 502, 503, 504), `body-short`.
The others: `tls-failed`, `too-slow`, `head-too-large`, `body-too-large`, `framing-invalid`,
`encoding-refused`, `encoding-invalid`, `redirected-off-source`. Messages show origin and path, no
query. There are no cookies, no authentication, no proxies from the environment. Threads may share a
client; for async callers there are threads. Source: coverage spec §5.5 R-2 to R-4.
"""

import logging
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from types import TracebackType
from typing import Self

import httpcore2
import msgspec
import stamina

from refold.kernel import utc
from refold.kernel.addresses import Url, parse_url
from refold.kernel.answer import (
    Head,
    asked_wait,
    broken,
    check_end,
    off_source,
    read_body,
    read_head,
    redirected,
)
from refold.kernel.connections import Connections
from refold.kernel.dial import (
    Allowance,
    Clock,
    Connect,
    Lookup,
    PinnedBackend,
    Resolver,
    TransientError,
    connect_socket,
    fixed_lookup,
    judged_lookup,
    resolve_system,
)
from refold.kernel.errors import SourceError
from refold.kernel.headers import header_of
from refold.kernel.policy import (
    NO_HEADERS,
    OWN_HEADERS,
    FetchPolicy,
    check_header,
    check_scheme,
    mapped_origins,
    networks,
)

__all__ = [
    "MAX_CONNECTIONS",
    "MAX_HEAD_BYTES",
    "MAX_IDLE_SECONDS",
    "Fetched",
    "GuardedClient",
]

# An answer's head with all 1xx heads before it, in bytes. httpcore2 refuses one head over 100 KiB,
# and reads up to 64 KiB of the body with it.
MAX_HEAD_BYTES = 256 * 1024
# Connections at a time: a source is walked by a few threads, not by many.
MAX_CONNECTIONS = 10
# Seconds after which an unused connection is not used again: common servers close after 5.
MAX_IDLE_SECONDS = 4.0

_MAX_DOUBLINGS = 16  # of the wait between attempts: beyond any limit on it, and no overflow
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNAVAILABLE = frozenset({429, 502, 503, 504})
_PHASES = ("connect", "read", "write")

# Left alone, stamina prints each retry on the standard output as soon as structlog is installed.
stamina.instrumentation.set_on_retry_hooks([stamina.instrumentation.LoggingOnRetryHook])
# And logging prints what nobody handles on standard error, where commands have their own lines.
logging.getLogger("stamina").addHandler(logging.NullHandler())


class Fetched(msgspec.Struct, frozen=True):
    """An answer, whole. `status` is any but those that are followed or tried again.

    Header names are lower case. `url` is what answered in the end, `redirects` what redirected
    before it. `address` is the peer's, `mapped_to` the origin asked in place of the URL's if the
    policy maps it. `requests`, `bytes_received` (as they came, with heads) and `seconds` are of the
    whole call, failed attempts included.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str
    redirects: tuple[str, ...]
    address: str
    mapped_to: str
    requests: int
    bytes_received: int
    seconds: float

    def header(self, name: str) -> str | None:
        """Give the value of header `name` (lower case), lines joined with ", "; None if absent."""
        return header_of(self.headers, name)


class _Call(msgspec.Struct):
    """One call of the client: what it sends, what it may take, what it has taken."""

    method: str
    headers: list[tuple[str, str]]
    content: bytes | None
    max_bytes: int
    started: float
    deadline: float
    attempts: int = 0
    requests: int = 0
    received: int = 0


class _Mapped(msgspec.Struct, frozen=True):
    """Where the requests for an origin go instead."""

    origin: Url
    connections: Connections


class GuardedClient:
    """A client under a policy. Keep one for many requests, as it keeps connections; close it.

    `requests` and `bytes_received` are of all calls so far, failed ones included. For tests:
    resolver, connect, clock, now. `ssl_context` is for sources with a certificate authority of
    their own.
    """

    def __init__(
        self,
        policy: FetchPolicy | None = None,
        *,
        resolver: Resolver = resolve_system,
        connect: Connect = connect_socket,
        clock: Clock = time.monotonic,
        now: Callable[[], datetime] = utc.now,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Raise UsageError `fetch-policy` or `fetch-header` for a policy that is malformed."""
        self.policy = policy or FetchPolicy()
        self.requests = 0
        self.bytes_received = 0
        self._clock = clock
        self._now = now
        self._tls = ssl_context or _default_tls()
        self._lock = threading.Lock()
        check_header("User-Agent", self.policy.user_agent, OWN_HEADERS)
        lookup = judged_lookup(resolver, networks(self.policy.allowed_networks))
        self._connections = self._new(lookup, connect)
        self._mapped = {
            public.origin: _Mapped(origin, self._new(fixed_lookup(origin.host), connect))
            for public, origin in mapped_origins(self.policy.origin_map)
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        for mapped in self._mapped.values():
            mapped.connections.close()
        self._connections.close()

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] = NO_HEADERS,
        max_bytes: int | None = None,
        max_seconds: float | None = None,
    ) -> Fetched:
        """Give the answer to a GET of `url`, with redirects of its origin followed, and retries.

        `headers` are of those in HEADERS (UsageError `fetch-header` for another). The limits stand
        in for the policy's `max_bytes` and `max_seconds_total`. Other errors: see the module.
        """
        target = parse_url(url)
        call = self._call("GET", headers, None, max_bytes, max_seconds)
        try:
            return self._attempt(target, call)
        except TransientError as error:
            failure = error
        return self._again(target, call, failure)

    def post(
        self,
        url: str,
        content: bytes,
        *,
        content_type: str = "application/json",
        max_bytes: int | None = None,
        max_seconds: float | None = None,
    ) -> Fetched:
        """Give the answer, of any status, to one POST of `content`: no retries, no redirects."""
        target = parse_url(url)
        call = self._call("POST", NO_HEADERS, content, max_bytes, max_seconds)
        check_header("Content-Type", content_type, OWN_HEADERS)
        call.headers += [("Content-Type", content_type), ("Content-Length", str(len(content)))]
        return self._attempt(target, call)

    def _call(
        self,
        method: str,
        headers: Mapping[str, str],
        content: bytes | None,
        max_bytes: int | None,
        max_seconds: float | None,
    ) -> _Call:
        """Give a call that starts now."""
        for name, value in headers.items():
            check_header(name, value)
        started = self._clock()
        seconds = self.policy.max_seconds_total if max_seconds is None else max_seconds
        return _Call(
            method,
            [
                ("User-Agent", self.policy.user_agent),
                ("Accept-Encoding", "identity"),
                *headers.items(),
            ],
            content,
            self.policy.max_bytes if max_bytes is None else max_bytes,
            started,
            started + seconds,
        )

    def _again(self, url: Url, call: _Call, failure: TransientError) -> Fetched:
        """Give the answer to further attempts; `failure` is the first one's.

        Stamina only hears of calls that fail: it takes a tenth of a small call's time to set up.
        """
        failures = [failure]

        @stamina.retry(
            on=lambda error: self._may_pass(error, call),
            attempts=1 + self.policy.retries,
            timeout=None,
            wait_initial=self.policy.retry_wait,
            wait_jitter=self.policy.retry_wait,
            wait_max=self.policy.max_retry_after,
        )
        def attempt() -> Fetched:
            if failures:
                raise failures.pop()
            return self._attempt(url, call)

        return attempt()

    def _may_pass(self, error: Exception, call: _Call) -> bool | float:
        """Tell stamina whether to try again: not, after its own wait, or after so many seconds."""
        if not isinstance(error, TransientError):
            return False
        asked = error.retry_after
        own = self.policy.retry_wait * (2 ** min(call.attempts - 1, _MAX_DOUBLINGS) + 1)
        longest = min(own, self.policy.max_retry_after) if asked is None else asked
        if longest > self.policy.max_retry_after or self._clock() + longest >= call.deadline:
            return False
        return True if asked is None else asked

    def _attempt(self, url: Url, call: _Call) -> Fetched:
        """Give the answer at the end of the redirects, within the time of one attempt."""
        call.attempts += 1
        deadline = min(call.deadline, self._clock() + self.policy.max_seconds_attempt)
        redirects: list[str] = []
        while True:
            head, body = self._exchange(url, call, deadline)
            if body is not None:
                break
            redirects.append(str(url))
            if len(redirects) > self.policy.max_redirects:
                raise off_source(url, f"redirects more than {self.policy.max_redirects} times")
            url = redirected(url, head)
        mapped = self._mapped.get(url.origin)
        return Fetched(
            head.status,
            head.headers,
            body,
            str(url),
            tuple(redirects),
            head.address,
            mapped.origin.origin if mapped else "",
            call.requests,
            call.received,
            self._clock() - call.started,
        )

    def _exchange(self, url: Url, call: _Call, deadline: float) -> tuple[Head, bytes | None]:
        """Send one request; give head and body of the answer, or no body if it redirects."""
        allowance = Allowance(
            self.policy.max_seconds_idle,
            max_connect=self.policy.max_seconds_connect,
            deadline=deadline,
            clock=self._clock,
            byte_limit=MAX_HEAD_BYTES,
            shown=url.shown,
        )
        connections, request = self._request(url, call, allowance)
        try:
            with connections.lend(request.url.origin, allowance.left(allowance)) as connection:
                response = connection.handle_request(request)
                try:
                    return self._answer(response, call, allowance)
                finally:
                    response.close()
        except httpcore2.RemoteProtocolError as error:
            raise broken(error, allowance) from error
        except httpcore2.PoolTimeout as error:
            raise SourceError("too-slow", f"{url.shown}: no connection became free") from error
        finally:
            self._count(call, allowance)

    def _request(
        self, url: Url, call: _Call, allowance: Allowance
    ) -> tuple[Connections, httpcore2.Request]:
        """Give the request for `url` and what sends it; its Host is always the URL's."""
        mapped = self._mapped.get(url.origin)
        if mapped is None:
            check_scheme(url, self.policy.http_hosts)
        dialled = mapped.origin if mapped else url
        return (
            mapped.connections if mapped else self._connections,
            httpcore2.Request(
                call.method,
                httpcore2.URL(
                    scheme=dialled.scheme, host=url.host, port=dialled.port, target=url.target
                ),
                headers=[("Host", url.authority), *call.headers],
                content=call.content,
                extensions={"timeout": dict.fromkeys(_PHASES, allowance)},
            ),
        )

    def _answer(
        self, response: httpcore2.Response, call: _Call, allowance: Allowance
    ) -> tuple[Head, bytes | None]:
        head = read_head(response, allowance)
        if call.method == "GET" and head.status in _UNAVAILABLE:
            asked = asked_wait(head, self._now())
            wish = "" if asked is None else f", and asks to wait {asked:g} s"
            raise TransientError(
                "source-unavailable",
                f"{allowance.shown}: status {head.status}{wish}",
                "try again later",
                asked,
            )
        if call.method == "GET" and head.status in _REDIRECTS and head.header("location"):
            return head, None
        body = read_body(response, head, allowance, call.max_bytes)
        check_end(response, allowance)
        return head, body

    def _count(self, call: _Call, allowance: Allowance) -> None:
        call.requests += allowance.sent
        call.received += allowance.received
        with self._lock:
            self.requests += allowance.sent
            self.bytes_received += allowance.received

    def _new(self, lookup: Lookup, connect: Connect) -> Connections:
        return Connections(
            PinnedBackend(lookup, connect),
            self._tls,
            at_most=MAX_CONNECTIONS,
            idle_seconds=MAX_IDLE_SECONDS,
        )


@cache
def _default_tls() -> ssl.SSLContext:
    """Give the system's authorities, read once a process: that takes 60 ms."""
    return httpcore2.default_ssl_context()
