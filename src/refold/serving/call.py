"""One request, as a handler sees it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from refold.kernel.errors import InputError, Problem
from refold.kernel.guards import guard_json
from refold.serving.answers import FORM_TYPE, JSON_TYPE, Page
from refold.serving.asked import AskedReader, ListAsked, ListPageAsked, PageAsked, query_pieces
from refold.serving.cursor import read_cursor, write_cursor
from refold.serving.here import Here, here_of, wants_json
from refold.serving.language import language_of
from refold.serving.limits import MAX_BODY_DEPTH
from refold.serving.site import Site

if TYPE_CHECKING:
    from litestar import Request
    from litestar.datastructures import State

    from refold.serving.operation import Operation

__all__ = ["Call"]

_K = TypeVar("_K")
_R = TypeVar("_R")
_T = TypeVar("_T")
# Above this a float does not name one integer.
_MOST_EXACT = 2**53
_ASKED_OF_LISTS = frozenset(ListAsked.__struct_encode_fields__)
_ASKED_OF_PAGES = _ASKED_OF_LISTS | frozenset(PageAsked.__struct_encode_fields__)


class Call:
    """What a handler may know about a request besides what is asked, and the tools of a list."""

    __slots__ = ("_headers", "_request", "operation", "site")

    def __init__(
        self, request: "Request[Any, Any, State]", operation: "Operation", site: Site
    ) -> None:
        self._request = request
        self._headers: dict[str, str] | None = None
        self.operation = operation
        self.site = site

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the request, by names in lower case; of several the first."""
        if self._headers is None:  # read once; the framework's own takes longer
            found: dict[str, str] = {}
            self._headers = found
            for name, value in self._request.scope["headers"]:
                found.setdefault(name.decode("latin-1"), value.decode("latin-1"))
        return self._headers

    @property
    def client(self) -> str:
        """The address of whoever asks, with what our own proxies say."""
        place = self._request.scope["client"]
        peer = place[0] if place is not None else ""
        if not self.site.proxies.trusts(peer):
            return peer
        # All of them: a proxy may add a line of its own below the one that the client wrote.
        forwarded = self._request.headers.getall("x-forwarded-for", [])
        return self.site.proxies.client(peer, ",".join(forwarded))

    @property
    def path(self) -> str:
        """The path as it was sent, in percent-encoding."""
        return str(self._request.scope["path"])

    @property
    def query(self) -> bytes:
        """The query as it was sent."""
        return self._request.scope["query_string"]

    @property
    def language(self) -> str:
        """The language of a page: `?lang=`, else what the browser prefers, else English."""
        named = dict(query_pieces(self.query)).get("lang", "")
        return language_of(named, self.headers.get("accept-language", ""))

    @property
    def here(self) -> Here:
        """Where this request leads, for the links of a page."""
        accepted = self.headers.get("accept-language", "")
        return here_of(self._request.scope, accepted, self.site.origin)

    @property
    def wants_json(self) -> bool:
        """Whether a page is asked for as data: then only the `value` of its View is looked at."""
        return wants_json(self.query)

    @property
    def variant(self) -> str:
        """What else than the version makes a page what it is: its language, and the templates."""
        if self.operation.route.kind != "page" or self.wants_json:
            return ""
        return f"{self.language}:{self.site.pages.digest}"

    def place(self, asked: ListAsked, keyset: type[_K]) -> _K | None:
        """Give the keyset after which the page of a list begins, None for the first page.

        `keyset` is its type, as in `tuple[int, str]`. Raises InputError `cursor-unknown`.
        """
        return read_cursor(asked.cursor, self._scope(asked), keyset) if asked.cursor else None

    def page(
        self,
        asked: ListAsked,
        rows: Sequence[_R],
        *,
        keyset: Callable[[_R], Sequence[object]],
        item: Callable[[_R], _T],
    ) -> Page[_T]:
        """Give a page from rows of which `limit + 1` were looked for: one more says that more come.

        `keyset` gives what `place` will give back, `item` what the client sees.
        """
        shown = rows[: asked.limit]
        more = len(rows) > len(shown) and bool(shown)
        cursor = write_cursor(self._scope(asked), keyset(shown[-1])) if more else None
        return Page(tuple(map(item, shown)), cursor)

    def page_to(
        self, asked: ListAsked, items: Sequence[_T], following: Sequence[object] | None
    ) -> Page[_T]:
        """Give a page of items where it is known what the next one begins behind, None for nothing.

        For lists that may leave out some of the rows they look at.
        """
        cursor = None if following is None else write_cursor(self._scope(asked), following)
        return Page(tuple(items), cursor)

    def next_address(self, cursor: str) -> str:
        """Give the address of the next page: this one, with another cursor."""
        return self.site.address(self.here.again(cursor=cursor))

    def next_of(self, page: Page[Any]) -> str | None:
        """Give the path and query of the next page of a list, for links; None behind the last."""
        return None if page.next_cursor is None else self.here.again(cursor=page.next_cursor)

    async def body(self) -> bytes:
        """Give the body. Raises InputError `body-large` above the limit of the route."""
        most = self.operation.route.max_body
        length = self.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length[:20]) > most:
            raise _too_large(most)
        body = bytearray()
        while True:
            message = await self._request.receive()
            if message["type"] == "http.disconnect":
                raise ConnectionResetError("the client left")
            body += message["body"]  # type: ignore[typeddict-item]  # the union holds sockets too
            if len(body) > most:
                raise _too_large(most)
            if not message.get("more_body"):
                return bytes(body)

    async def read_body(self, kind: type[Any]) -> object:
        """Give the body in the type that a handler takes: bytes as they came, else from JSON.

        Routes that say so take forms too. Raises InputError `body-type`, `body-json`, `body-form`,
        `body-shape`, `too-deep`, `body-large`.
        """
        if kind is bytes:
            return await self.body()
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type == FORM_TYPE and self.operation.route.form:
            return _from_form(await self.body(), kind)
        if media_type != JSON_TYPE:
            raise InputError("body-type", "the body is not application/json", "send JSON")
        data = await self.body()
        guard_json(data, max_bytes=self.operation.route.max_body, max_depth=MAX_BODY_DEPTH)
        try:
            return _decoded(data, kind)
        except msgspec.ValidationError as error:
            message, _, where = str(error).partition(" - at `$")
            raise InputError(
                "body-shape", message, "see /openapi.json", _pointer(where.rstrip("`"))
            ) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError("body-json", f"not JSON: {error}", "send JSON in UTF-8") from error

    def _scope(self, asked: ListAsked) -> bytes:
        """Give what a cursor is bound to: the route and its filters."""
        members = msgspec.to_builtins(asked)
        common = _ASKED_OF_PAGES if isinstance(asked, ListPageAsked) else _ASKED_OF_LISTS
        filters = {name: members[name] for name in sorted(members) if name not in common}
        return self.operation.id.encode() + b"\0" + msgspec.json.encode(filters)


def _decoded(data: bytes, kind: type[Any]) -> object:
    """Give JSON in a type. 82.0 is an integer in JSON Schema, so it is one here."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        return msgspec.convert(_with_integers(msgspec.json.decode(data)), kind)


def _from_form(data: bytes, kind: type[Any]) -> object:
    """Give a form in a type: read as strictly as a query, an empty member that may lack as none."""
    reader = AskedReader(kind, frozenset())
    may_lack = {name.encode() for name, field in reader.fields.items() if not field.required}
    pieces = (piece.partition(b"=") for piece in data.split(b"&"))
    given = [piece for piece in pieces if piece[2] or piece[0] not in may_lack]
    try:
        return reader.read({}, b"&".join(map(b"".join, given)))
    except InputError as error:
        problems = (Problem("body-form", p.message, p.hint, p.pointer) for p in error.errors)
        raise InputError.of(list(problems)) from error


def _with_integers(value: Any) -> Any:  # noqa: ANN401 (any JSON, as deep as the guard lets it be)
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST_EXACT:
        return int(value)
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_integers(item) for name, item in value.items()}
    return value


def _too_large(most: int) -> InputError:
    return InputError("body-large", f"at most {most} bytes are read", "send less")


def _pointer(path: str) -> str:
    """Give the JSON pointer for a path of msgspec, as in `.errors[0].line`."""
    return path.replace("[...]", "/-").replace("[", "/").replace("]", "").replace(".", "/")
