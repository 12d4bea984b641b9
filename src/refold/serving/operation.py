"""Routes as data: what a handler is for, what it takes and gives. OpenAPI is made from it.

    class EntriesApi:
        @get("/v1/wiki/entries/{key}", summary="Give an entry", codes=("entry-unknown",))
        def entry(self, asked: EntryAsked, call: Call) -> Entry: ...

A handler takes what it names: `asked` (a Struct of path and query members), `body` (a Struct, or
bytes as they came), `call`. It may be async. One that is not runs in the event loop: it reads a few
rows at most (see `refold.serving.reading`).
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

from refold.kernel.errors import UsageError
from refold.serving.answers import JSON_TYPE, REVALIDATE, Answer, Events, Lines, Page, View
from refold.serving.asked import AskedReader, ListAsked, ListPageAsked, Nothing, PageAsked
from refold.serving.limits import MAX_BODY_BYTES

__all__ = ["Operation", "get", "operations", "page", "post"]

Kind = Literal["api", "page"]
_F = TypeVar("_F", bound=Callable[..., Any])
_MARK = "__refold_route__"
_MEMBER = re.compile(r"\{(\w+)\}")
_PATH = re.compile(r"/|(?:/(?:[A-Za-z0-9._~-]+|\{\w+\}))+")


@dataclass(frozen=True, slots=True)
class Route:
    """What a decorator says about a handler."""

    method: str
    path: str
    summary: str
    kind: Kind
    codes: tuple[str, ...]
    status: int
    cache: str
    max_body: int
    media_type: str
    sample: object
    example: Mapping[str, object]
    listed: bool
    also: tuple[int, ...] = ()
    form: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """A route with its handler. `asked` reads its members, `answer` is the Struct that it gives."""

    route: Route
    name: str
    description: str
    asked: AskedReader[Any]
    asked_type: type[msgspec.Struct]
    body_type: Any
    answer: Any
    takes: frozenset[str]
    run: Callable[..., Any | Awaitable[Any]]

    @property
    def id(self) -> str:
        """The name of this route in cursors: stable as long as method and path are."""
        return f"{self.route.method} {self.route.path}"

    @property
    def is_list(self) -> bool:
        """Whether it gives pages of a list."""
        return get_origin(self.answer) is Page

    @property
    def in_path(self) -> tuple[str, ...]:
        """The members that the path names."""
        return members_of(self.route.path)


def get(
    path: str,
    *,
    summary: str,
    codes: tuple[str, ...] = (),
    cache: str = REVALIDATE,
    media_type: str = JSON_TYPE,
    sample: object = None,
    example: Mapping[str, object] | None = None,
    listed: bool = True,
) -> Callable[[_F], _F]:
    """Mark a handler that reads. `path` is absolute; `codes` are those of the part it may answer.

    `sample` is an answer and `example` members to ask with, for the documents. A route that is not
    `listed` is left out of them.
    """
    return _mark(
        Route(
            *("GET", path, summary, "api", codes, 200, cache, 0, media_type),
            sample,
            example or {},
            listed,
        )
    )


def post(
    path: str,
    *,
    summary: str,
    codes: tuple[str, ...] = (),
    status: int = 200,
    max_body: int = MAX_BODY_BYTES,
    media_type: str = JSON_TYPE,
    sample: object = None,
    example: Mapping[str, object] | None = None,
    also: tuple[int, ...] = (),
    form: bool = False,
) -> Callable[[_F], _F]:
    """Mark a handler that takes a body of at most `max_body` bytes; its answers are not kept.

    `also` are good statuses besides `status` that an `Answer` may have. With `form` the body may be
    form-encoded too: its Struct then has members that a query could have.
    """
    return _mark(
        Route(
            *("POST", path, summary, "api", codes, status, "no-store", max_body, media_type),
            sample,
            example or {},
            listed=True,
            also=also,
            form=form,
        )
    )


def page(path: str, *, summary: str, codes: tuple[str, ...] = ()) -> Callable[[_F], _F]:
    """Mark a handler that gives a page for people (a `View`)."""
    return _mark(
        Route(
            *("GET", path, summary, "page", codes, 200, REVALIDATE, 0, "text/html"), None, {}, False
        )
    )


def _mark(route: Route) -> Callable[[_F], _F]:
    if not _PATH.fullmatch(route.path):
        raise UsageError(
            "route-path",
            f"{route.path} is no path of a route",
            "begin with a slash, end without one, name members as {name}",
        )

    def mark(handler: _F) -> _F:
        setattr(handler, _MARK, route)
        return handler

    return mark


def operations(*apis: object) -> tuple[Operation, ...]:
    """Give the routes of objects whose methods are marked, in the order they are written.

    Raises UsageError `route-members`, `route-handler` for what would not work: whoever starts a
    server learns of it at once.
    """
    return tuple(_operation(method, route) for api in apis for method, route in _marked(api))


def _marked(api: object) -> Iterator[tuple[Callable[..., Any], Route]]:
    for cls in reversed(type(api).__mro__):
        for name, value in vars(cls).items():
            route = getattr(value, _MARK, None)
            if isinstance(route, Route):
                yield getattr(api, name), route


def _operation(handler: Callable[..., Any], route: Route) -> Operation:
    hints = get_type_hints(handler, include_extras=True)
    takes = frozenset(inspect.signature(handler).parameters)
    name = handler.__name__
    if takes - {"asked", "body", "call"}:
        raise UsageError(
            "route-handler", f"{name} takes {sorted(takes)}", "take asked, body and call only"
        )
    least = PageAsked if route.kind == "page" else Nothing
    asked = cast("type[msgspec.Struct]", hints.get("asked", least))
    if route.kind == "page" and not issubclass(asked, (PageAsked, ListPageAsked)):
        hint = "ask with a PageAsked or a ListPageAsked"
        raise UsageError("route-handler", f"{name} is a page", hint)
    found = Operation(
        route=route,
        name=name,
        description=inspect.getdoc(handler) or "",
        asked=AskedReader(asked, frozenset(members_of(route.path))),
        asked_type=asked,
        body_type=hints.get("body"),
        answer=_answer_of(hints.get("return")),
        takes=takes,
        run=handler,
    )
    if found.is_list:
        _check_list(found)
    return found


def _check_list(found: Operation) -> None:
    """See to it that a list is one that can be walked: `limit`, `cursor`, and items with an id."""
    (item,) = get_args(found.answer)
    ids = {field.encode_name for field in msgspec.structs.fields(get_origin(item) or item)}
    if not ids & {"id", "pinId"} or not issubclass(found.asked_type, ListAsked):
        raise UsageError(
            "route-handler",
            f"{found.name} gives a list",
            "ask with a ListAsked, and give items with an id",
        )


def _answer_of(hint: object) -> object:
    """Give what an answer holds: of `Answer[Entry]` it is Entry."""
    inner = get_args(hint)[0] if get_origin(hint) is Answer else hint
    is_struct = isinstance(get_origin(inner) or inner, type)
    return inner if is_struct and inner not in {View, Lines, Events} else None


def members_of(path: str) -> tuple[str, ...]:
    """Give the members that a template of a path names."""
    return tuple(_MEMBER.findall(path))
