"""What the routes read from a request, and where they find the node."""

from typing import Any

from litestar import Request
from litestar.datastructures import State
from litestar.response import Response

from refold.kernel.errors import InputError
from refold.metaid.devnet.answers import not_routed
from refold.metaid.devnet.node import Node
from refold.metaid.devnet.quirks import Quirks

AnyRequest = Request[Any, Any, State]

MAX_SIZE = 100
"""Rows of a page at most (facts: metaid §3.4)."""
DEFAULT_SIZE = 20
"""Rows of a page for a size that indexers do not like."""


def node_of(request: AnyRequest) -> Node:
    """Give the node behind the server."""
    node: Node = request.app.state.node
    return node


def base_url_of(request: AnyRequest) -> str:
    """Give the URL of the server as the client wrote it, without a slash at the end."""
    return str(request.base_url).rstrip("/")


def text_of(request: AnyRequest, name: str) -> str:
    """Give a query parameter, "" when it is missing."""
    value: str = request.query_params.get(name, "")
    return value


def size_of(request: AnyRequest, quirks: Quirks, name: str = "size") -> int:
    """Give the size of a page, 1 to 100. Raises `InputError` `parameter` when it is missing.

    Without the quirk, a larger one is 100 and a text that is no number is refused.
    """
    text = text_of(request, name)
    if not text:
        raise InputError("parameter", f"{name} is missing", "give it")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if quirks.size_over_100_is_20:
        return number if 1 <= number <= MAX_SIZE else DEFAULT_SIZE
    if number < 1:
        raise InputError("parameter", f"{name} is no number above 0", f"give 1 to {MAX_SIZE}")
    return min(number, MAX_SIZE)


def page_of(request: AnyRequest) -> int:
    """Give the number of a page, counted from 1. Raises `InputError` `parameter`."""
    text = text_of(request, "page")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if number < 1:
        raise InputError("parameter", "page is no number above 0", "give 1 for the first page")
    return number


def gate(request: AnyRequest) -> Response[bytes] | None:
    """Let a request pass if the quirks have its route; run before every route of the indexer.

    A route says with `opt={"generation": …}` where it exists.
    """
    quirks = node_of(request).quirks()
    generation = request.route_handler.opt.get("generation", quirks.generation)
    under_api = request.url.path.startswith("/api/")
    prefixed = request.route_handler.opt.get("prefixed", True)
    wrong_prefix = prefixed and quirks.prefix == ("bare" if under_api else "api")
    return not_routed() if generation != quirks.generation or wrong_prefix else None
