"""One application from all parts: routes, documents, health, tasks."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

from litestar import Litestar, Request
from litestar.datastructures import State
from litestar.handlers import ASGIRouteHandler, HTTPRouteHandler
from litestar.types import ASGIApp, Receive, Scope, Send

from refold.kernel.errors import UsageError
from refold.serving.answers import Answer
from refold.serving.call import Call
from refold.serving.codes import SERVING_CODES, Code, Codes
from refold.serving.gate import Gate
from refold.serving.limits import SERVING_LIMITS
from refold.serving.logs import Log
from refold.serving.markdown import MARKDOWN_LIMITS
from refold.serving.menu import Menu
from refold.serving.metrics import Metrics
from refold.serving.openapi import describe
from refold.serving.operation import Operation, get, members_of, operations
from refold.serving.own import OwnApi, Readiness
from refold.serving.pages import Pages
from refold.serving.part import Part
from refold.serving.proxies import Proxies
from refold.serving.respond import respond
from refold.serving.site import Site
from refold.serving.tasks import Tasks
from refold.serving.tools import ToolBox

__all__ = ["Application", "application"]

AnyRequest = Request[Any, Any, State]
Answerer = Callable[[AnyRequest], Awaitable[ASGIApp]]
NOT_READY = Code("not-ready", 503, "Not ready", "Something that answers need is missing now.")

Mount = Callable[["Site", ToolBox], tuple[ASGIApp, AbstractAsyncContextManager[None]]]
"""Makes the application of a path from the tools, and what runs as long as it."""


@dataclass(frozen=True, slots=True)
class Application:
    """The application to serve, and what belongs to it."""

    asgi: ASGIApp
    site: Site
    document: bytes
    tools: ToolBox


def application(
    parts: Sequence[Part],
    *,
    log: Log,
    origin: str = "",
    proxies: Sequence[str] = (),
    checks: dict[str, Callable[[], None]] | None = None,
    log_requests: bool = True,
    mcp: Mount | None = None,
) -> Application:
    """Put parts together.

    `checks` are those of the server itself, such as the database. `mcp` serves the tools at /mcp.
    Raises UsageError for parts that do not fit: `code-twice`, `tool-…`, `route-…`, `asset`,
    `catalogue`, `server-proxies`.
    """
    folders = [part.folder for part in parts if part.folder is not None]
    site = Site(
        codes=Codes(SERVING_CODES, (NOT_READY,), *(part.codes for part in parts)),
        pages=Pages(folders, origin=origin),
        origin=origin,
        proxies=Proxies(proxies),
    )
    site.pages.set_menus([Menu(part.title, part.nav) for part in parts if part.nav])
    tasks = Tasks([(part.name, task) for part in parts for task in part.tasks], site.stop, log)
    metrics = Metrics([part.gauges for part in parts])
    named = {f"{part.name}.{name}": check for part in parts for name, check in part.checks.items()}
    all_checks = {**(checks or {}), **named}
    if tasks.count:
        all_checks["tasks"] = tasks.check
    own = OwnApi(
        parts=tuple(part.name for part in parts),
        limits=SERVING_LIMITS
        + MARKDOWN_LIMITS
        + tuple(limit for part in parts for limit in part.limits),
        codes=site.codes,
        metrics=metrics,
        readiness=Readiness(all_checks),
        assets=site.pages.assets,
    )
    own_operations = operations(own)
    document = describe(parts, own_operations, site.codes, origin)
    all_operations = [
        *own_operations,
        *operations(_Document(document)),
        *(operation for part in parts for operation in part.operations),
    ]
    tools = ToolBox(tool for part in parts for tool in part.tools)
    handlers: list[HTTPRouteHandler | ASGIRouteHandler] = [*_handlers(all_operations, site)]
    running = [tasks.running(), *(one for part in parts for one in part.lifetimes)]
    if mcp is not None and len(tools):
        mounted, lifetime = mcp(site, tools)
        running.append(lifetime)
        handlers.append(_mounted("/mcp", mounted))
    gates: list[Gate] = []

    def failed(request: AnyRequest, error: Exception) -> Any:  # noqa: ANN401 (see Sent)
        return gates[0].answer_to(error, request.scope)

    inner = Litestar(
        handlers,
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,  # each route has its own limit, see Call.body
        exception_handlers={Exception: failed},
        lifespan=[_lifespan(running)],
    )
    gates.append(Gate(inner, site, metrics, log, log_requests=log_requests))
    return Application(gates[0], site, document, tools)


class _Document:
    def __init__(self, document: bytes) -> None:
        self._document = document

    @get("/openapi.json", summary="Describe all routes", listed=False)
    def openapi(self) -> Answer[bytes]:
        """Give OpenAPI 3.1."""
        return Answer(self._document)


def _handlers(all_operations: Sequence[Operation], site: Site) -> Iterator[HTTPRouteHandler]:
    """Give the framework's handler of each path, with all methods: OPTIONS names those of one."""
    paths: dict[str, dict[str, Operation]] = {}
    for operation in all_operations:
        route = operation.route
        if paths.setdefault(route.path, {}).setdefault(route.method, operation) is not operation:
            raise UsageError("route-twice", f"two routes for {operation.id}", "keep one of them")
    for path, by_method in paths.items():
        yield _handler(path, {name: _answerer(one, site) for name, one in by_method.items()})


def _handler(path: str, by_method: Mapping[str, Answerer]) -> HTTPRouteHandler:
    async def answer(request: AnyRequest) -> ASGIApp:
        return await by_method[request.scope["method"]](request)

    for member in members_of(path):
        path = path.replace(f"{{{member}}}", f"{{{member}:str}}")
    return HTTPRouteHandler(path, http_method=list(by_method))(answer)  # type: ignore[arg-type]


def _answerer(operation: Operation, site: Site) -> Answerer:
    """Give what answers a route."""
    read, run, takes = operation.asked.read, operation.run, operation.takes
    body_type = operation.body_type

    async def answer(request: AnyRequest) -> ASGIApp:
        call = Call(request, operation, site)
        asked = read(request.scope["path_params"], request.scope["query_string"])
        given: dict[str, Any] = {}
        if "asked" in takes:
            given["asked"] = asked
        if "call" in takes:
            given["call"] = call
        if body_type is not None:
            given["body"] = await call.read_body(body_type)
        result = run(**given)
        if isawaitable(result):
            result = await result
        return respond(call, result)

    return answer


def _mounted(path: str, app: ASGIApp) -> ASGIRouteHandler:
    async def mounted(scope: Scope, receive: Receive, send: Send) -> None:
        await app(scope, receive, send)

    return ASGIRouteHandler(path, copy_scope=True)(mounted)


def _lifespan(
    running: Sequence[AbstractAsyncContextManager[None]],
) -> Callable[[Litestar], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in running:
                await stack.enter_async_context(one)
            yield

    return lifespan
