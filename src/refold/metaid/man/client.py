"""A client of the indexers called MAN, of both generations (facts: metaid §3).

    with GuardedClient(policy) as transport:
        man = ManClient(transport, "https://manapi.metaid.io")
        page = man.page("/protocols/agentpedia/rev")

It sees to what a single answer can get wrong: which routes there are, envelopes, answers that are
none, unknown pins. What many answers get wrong together (pages that overlap, cut bodies, cursors
that lead in circles) is for `refold.metaid.man.walk` and `bodies`. All answers are strangers'
words; errors are those of `rows` and of the transport.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from refold.kernel.addresses import parse_url
from refold.kernel.dial import TransientError
from refold.kernel.errors import InputError, SourceError, UsageError
from refold.kernel.fetch import Fetched
from refold.metaid.man.rows import (
    PIN_ID,
    ListPage,
    NoRouteError,
    is_mempool,
    no_envelope,
    read_counts,
    read_heights,
    read_page,
    read_pin,
)
from refold.metaid.pin import Row

T = TypeVar("T")
Generation = Literal["v1", "v2"]

MAX_SIZE = 100
"""Rows a page: what is above is taken as 20 without a word."""
ATTEMPTS = 4
"""Times that an unreadable answer is asked for, as the transport does in its own troubles."""
RETRY_SECONDS = 0.5
"""Before the second attempt; twice as long before each further one."""

_HEADERS: Mapping[str, str] = MappingProxyType(
    {"Accept": "application/json", "Cache-Control": "no-cache"}  # coverage spec §5.5 R-2
)
_OK = 200
_NOT_FOUND = 404
_FAIL = b"fail"


class Transport(Protocol):
    """What the client asks through: `refold.kernel.fetch.GuardedClient`, or a test's own."""

    @property
    def requests(self) -> int:
        """Requests sent so far, failed ones included."""

    @property
    def bytes_received(self) -> int:
        """Bytes received so far."""

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] = ...,
        max_bytes: int | None = ...,
    ) -> Fetched:
        """Give the whole answer to a GET; raises SourceError."""


class Health(msgspec.Struct, frozen=True):
    """What `/health` says."""

    status: str
    version: str = ""


class _Api(NamedTuple):
    generation: Generation
    prefix: str


# Proxies of old deployments know the routes without /api alone (facts: metaid §6, 34).
_APIS = (_Api("v2", "/api"), _Api("v2", ""), _Api("v1", "/api"), _Api("v1", ""))
_decode_health = msgspec.json.Decoder(Health).decode


class ManClient:
    """A client of one indexer; threads may share it.

    `base` is the URL before `/api`. Without `generation` the first list that answers decides.
    `sleep` is for tests. Raises InputError `url-invalid`.

    `lists` and `polls` count the requests for lists, and for heights, counts and health, those that
    failed included; all others of the transport are for single pins. They are exact as long as
    nobody else asks through the same transport at the same moment.
    """

    def __init__(
        self,
        transport: Transport,
        base: str,
        *,
        generation: Generation | None = None,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.base = base.rstrip("/")
        self.transport = transport
        self.lists = self.polls = 0
        self._shown = parse_url(self.base).shown.rstrip("/")
        self._apis = tuple(api for api in _APIS if generation in {None, api.generation})
        self._api: _Api | None = None
        self._generation = generation
        self._attempts = attempts
        self._sleep = sleep

    @property
    def generation(self) -> Generation | None:
        """The generation of the indexer, None as long as it is not known."""
        return self._generation if self._api is None else self._api.generation

    def page(self, path: str, cursor: str = "", *, size: int = MAX_SIZE) -> ListPage:
        """Give a page of the pins at `path`, the newest first: the first page without a cursor.

        Cursors are opaque; only this class makes and reads those of the first generation. Raises
        `InputError`: `path-invalid`; `UsageError`: `man-size`, `man-cursor`; and `SourceError`.
        """
        check_path(path)
        if not 0 < size <= MAX_SIZE:
            raise UsageError("man-size", f"a page of {size} rows", f"ask for 1 to {MAX_SIZE}")

        before = self.transport.requests
        try:
            return self._page(path, cursor, size)
        finally:
            self.lists += self.transport.requests - before

    def pin(self, pin_id: str) -> Row | None:
        """Give the detail of a pin, with its whole body; None when the indexer does not know it."""
        return self._pin(pin_id, f"/pin/{_checked(pin_id)}")

    def version(self, pin_id: str, number: int = 0) -> Row | None:
        """Give a pin as it was before any modify (0), or its modify `number`; None as `pin`.

        Only bodies can be relied on: `contentLength` stays that of the newest.
        """
        return self._pin(pin_id, f"/pin/ver/{_checked(pin_id)}/{number}")

    def content(self, pin_id: str, *, max_bytes: int | None = None) -> bytes | None:
        """Give the bytes of `/content/<id>`, None when there are none. Only a hash can tell.

        A modified pin gives its newest body; some bodies get a prefix, some are wrapped in HTML
        (facts: metaid §3.6).
        """
        route = f"/content/{_checked(pin_id)}"

        def read(answer: Fetched) -> bytes | None:
            if answer.status == _NOT_FOUND or answer.header("x-man-content-status"):
                return None
            if answer.status != _OK:
                raise no_envelope(self._shown + route, answer.status, answer.body)
            return None if answer.body == _FAIL else answer.body

        return self._ask(route, read, max_bytes)

    def heights(self) -> dict[str, int | None]:
        """Give the height that the indexer has come to, by chain (`mvc`); None where not begun."""
        route = "/debug/sync"
        return self._poll(
            route, lambda answer: read_heights(self._shown + route, answer.status, answer.body)
        )

    def counts(self) -> dict[str, int] | None:
        """Give what the indexer counts, by name (`pin`, `block` …); None without such a route."""
        route = "/debug/count"
        try:
            return self._poll(
                route, lambda answer: read_counts(self._shown + route, answer.status, answer.body)
            )
        except NoRouteError:
            return None

    def health(self) -> Health | None:
        """Give what the indexer says of itself; None where it has no such route."""
        route = "/health"

        def read(answer: Fetched) -> Health:
            try:
                if answer.status == _OK:
                    return _decode_health(answer.body)
            except (msgspec.MsgspecError, RecursionError):
                pass
            raise no_envelope(self._shown + route, answer.status, answer.body)

        try:
            return self._poll(route, read)
        except NoRouteError:
            return None

    def _poll(self, route: str, read: Callable[[Fetched], T]) -> T:
        before = self.transport.requests
        try:
            return self._ask(route, read)
        finally:
            self.polls += self.transport.requests - before

    def _pin(self, pin_id: str, route: str) -> Row | None:
        """Ask for a pin under the prefix of the lists, or under both as long as it is not known."""

        def ask(prefix: str) -> Row | None:
            return self._ask(
                prefix + route,
                lambda answer: read_pin(
                    self._shown + prefix + route, answer.status, answer.body, pin_id
                ),
            )

        if self._api is not None:
            return ask(self._api.prefix)
        try:
            return ask("/api")
        except NoRouteError:
            return ask("")

    def _page(self, path: str, cursor: str, size: int) -> ListPage:
        missing: NoRouteError | None = None
        for api in self._candidates():
            read = self._page_by_number if api.generation == "v1" else self._page_by_cursor
            try:
                page = read(api, path, cursor, size)
            except NoRouteError as error:
                missing = missing or error
            else:
                self._api = api
                return page
        raise missing or SourceError("man-no-route", f"{self._shown}: no route is known")

    def _page_by_cursor(self, api: _Api, path: str, cursor: str, size: int) -> ListPage:
        query = {"path": path, "size": str(size)} | ({"cursor": cursor} if cursor else {})
        return self._list(f"{api.prefix}/pin/path/list", query)

    def _page_by_number(self, api: _Api, path: str, cursor: str, size: int) -> ListPage:
        """Give a page of the first generation, whose cursor is the page's number.

        There mempool rows stand in front of a page's confirmed rows, and push as many of them off
        its end, on to no other page. So these are asked for again, by a smaller page behind the
        mempool rows; what that gives twice is for the caller to merge.
        """
        if "," in path:
            raise InputError("path-invalid", f"{path}: a comma parts two paths", "walk them apart")
        if not (cursor or "1").isdecimal():
            raise UsageError("man-cursor", "a cursor of another generation", "start at the front")
        route, number = f"{api.prefix}/getAllPinByPath", int(cursor or 1)

        def ask(page: int, limit: int) -> ListPage:
            return self._list(route, {"path": path, "page": str(page), "limit": str(limit)})

        page = ask(number, size)
        following = str(number + 1) if page.listed else ""
        hidden = sum(map(is_mempool, page.rows))
        again = _page_over(number * size - hidden, number * size) if hidden else None
        if again is not None:
            pushed_off = ask(*again)
            page.rows.extend(pushed_off.rows)
            page.broken.extend(pushed_off.broken)
            hidden = sum(map(is_mempool, pushed_off.rows))
        return msgspec.structs.replace(page, next_cursor=following, hidden=hidden)

    def _list(self, route: str, query: Mapping[str, str]) -> ListPage:
        return self._ask(
            f"{route}?{urlencode(query, quote_via=quote, safe='')}",
            lambda answer: read_page(self._shown + route, answer.status, answer.body),
        )

    def _candidates(self) -> Iterator[_Api]:
        """Give the known route first; a generation that answered once stays the generation."""
        known = self._api
        if known is not None:
            yield known
        for api in self._apis:
            if known is None or (api != known and api.generation == known.generation):
                yield api

    def _ask(self, route: str, read: Callable[[Fetched], T], max_bytes: int | None = None) -> T:
        """Ask, and again when the answer cannot be read."""
        for attempt in range(self._attempts):
            if attempt:
                self._sleep(RETRY_SECONDS * 2 ** (attempt - 1))
            fetched = self.transport.get(self.base + route, headers=_HEADERS, max_bytes=max_bytes)
            try:
                return read(fetched)
            except TransientError:
                if attempt == self._attempts - 1:
                    raise
        raise UsageError("man-attempts", f"{self._attempts} attempts", "allow at least one")


def _page_over(start: int, end: int) -> tuple[int, int] | None:
    """Give number and size of the smallest page after the first with all rows `start` to `end`."""
    for size in range(end - start, start + 1):
        before = start // size
        if (before + 1) * size >= end:
            return before + 1, size
    return None


def check_path(path: str) -> None:
    """Refuse a path that no indexer lists anything under; raises InputError `path-invalid`.

    A list of such a path is empty and successful, as paths are compared letter by letter
    (facts: metaid §6, 33).
    """
    named = path[1:]
    if path[:1] not in {"/", "@"} or not named.strip() or path != path.strip():
        wrong = "begins neither with / nor with @"
    elif ":" in path:
        wrong = "holds a colon, which indexers read as the end of a host"
    elif path != path.lower():
        wrong = "has capital letters, which indexers store as small ones"
    elif path.endswith("/"):
        wrong = "ends with a slash"
    else:
        return
    raise InputError("path-invalid", f"{path}: the path {wrong}", "name it as the indexer does")


def _checked(pin_id: str) -> str:
    if PIN_ID.fullmatch(pin_id) is None:
        raise InputError("pin-id-invalid", f"{pin_id} is no pin id", "give <64 hex>i<number>")
    return pin_id
