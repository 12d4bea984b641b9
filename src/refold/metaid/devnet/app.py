"""The application: all routes in one place, each with what stands before it."""

from litestar import Litestar, Request, Response, Router
from litestar.datastructures import State
from litestar.enums import ScopeType
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp, Receive, Scope, Send

from refold.kernel.errors import RefoldError
from refold.metaid.devnet import (
    admin_routes,
    file_routes,
    loopback,
    man_routes,
    node_routes,
    v1_routes,
)
from refold.metaid.devnet.answers import CORS, as_text, not_routed
from refold.metaid.devnet.faulty import Faulty
from refold.metaid.devnet.node import Node
from refold.metaid.devnet.requests import AnyRequest, gate
from refold.metaid.devnet.rules import MAX_TX_BYTES

MAX_BODY_BYTES = 4 * MAX_TX_BYTES
"""Bytes of a request: the largest transaction as hex, or its payload in base64, and a rest."""


def application(node: Node, *, bound_host: str) -> ASGIApp:
    """Make the application of a node that is served at `bound_host`."""
    prefixed = [*man_routes.PREFIXED, *v1_routes.PREFIXED]
    routers = [
        Router("/api", route_handlers=prefixed, before_request=gate),
        Router("/", route_handlers=[*prefixed, *man_routes.BARE], before_request=gate),
        Router(file_routes.PREFIX, route_handlers=[*file_routes.ROUTES]),
        Router("/", route_handlers=[*node_routes.ROUTES]),
        Router(
            admin_routes.PREFIX,
            route_handlers=[*admin_routes.ROUTES],
            before_request=loopback.guard,
            exception_handlers={RefoldError: admin_routes.refused},
        ),
    ]
    app = Litestar(
        routers,
        state=State({"node": node, "bound_host": bound_host}),
        openapi_config=None,
        logging_config=None,
        request_max_body_size=MAX_BODY_BYTES,
        exception_handlers={HTTPException: _failed, Exception: _broken},
    )
    return Faulty(_WithOptions(app), lambda: node.plan)


def _failed(_: AnyRequest, error: HTTPException) -> Response[bytes]:
    if error.status_code == 404:
        return not_routed()
    return as_text(error.detail, error.status_code)


def _broken(_: Request[object, object, State], error: Exception) -> Response[bytes]:
    return as_text(f"defect of the local chain: {type(error).__name__}: {error}", 500)


class _WithOptions:
    """Answers OPTIONS as the real servers do, and leaves the rest to the application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] != "OPTIONS":
            await self._app(scope, receive, send)
            return
        headers = [(name.lower().encode(), value.encode()) for name, value in CORS.items()]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
