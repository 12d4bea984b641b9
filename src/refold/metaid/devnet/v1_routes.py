"""The API of the first generation of indexers (facts: metaid §3.2, §3.8): pages by number."""

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from refold.kernel.errors import InputError
from refold.metaid.devnet import listing
from refold.metaid.devnet.answers import man
from refold.metaid.devnet.man_routes import rows_of
from refold.metaid.devnet.requests import (
    AnyRequest,
    base_url_of,
    node_of,
    page_of,
    size_of,
    text_of,
)
from refold.metaid.devnet.rows import View
from refold.metaid.globalmetaid import metaid_of

V1 = {"generation": "v1"}


class ByAuthors(msgspec.Struct, rename="camel"):
    """The body of `getAllPinByPathAndMetaId`."""

    page: int
    size: int
    path: str
    meta_id_list: list[str]


@get("/getAllPinByPath", sync_to_thread=False, opt=V1)
def by_path(request: AnyRequest) -> Response[bytes]:
    """List the pins of some paths (with commas between), the newest first."""
    path = text_of(request, "path")
    try:
        page, size = page_of(request), size_of(request, node_of(request).quirks(), "limit")
    except InputError:
        return bad_parameter()
    return _list(request, path, page, size, None) if path else bad_parameter()


@post("/getAllPinByPathAndMetaId", status_code=200, opt=V1)
async def by_path_and_metaid(request: AnyRequest) -> Response[bytes]:
    """List the pins of some paths by some owners."""
    try:
        asked = msgspec.json.decode(await request.body(), type=ByAuthors)
    except msgspec.MsgspecError:
        return bad_parameter()
    if asked.page < 1 or asked.size < 1:
        return bad_parameter()
    return _list(request, asked.path, asked.page, asked.size, asked.meta_id_list)


@get("/address/pin/list/{kind:str}/{address:str}", sync_to_thread=False, opt=V1)
def by_address(request: AnyRequest, kind: FromPath[str], address: FromPath[str]) -> Response[bytes]:
    """List the pins of some paths that an address made, or owns; here these are the same."""
    del kind
    path = text_of(request, "path")
    try:
        page, size = page_of(request), size_of(request, node_of(request).quirks(), "size")
    except InputError:
        return bad_parameter()
    return _list(request, path, page, size, [metaid_of(address)])


def bad_parameter() -> Response[bytes]:
    """Answer to a missing or wrong parameter: HTTP 200, code 101 (§3.3)."""
    return man(None, 101, "Parameter error.")


def _list(
    request: AnyRequest, paths: str, page: int, size: int, metaids: list[str] | None
) -> Response[bytes]:
    node = node_of(request)
    quirks = node.quirks()
    view = View(quirks, base_url_of(request))
    with node.transaction() as connection:
        pins, total = listing.pins_of_paths(
            connection,
            [path for path in paths.split(",") if path],
            metaids,
            skip=(page - 1) * size,
            size=size,
        )
        rows = rows_of(connection, pins, view)
    return man({"list": rows or (None if quirks.null_lists else []), "total": total})


PREFIXED: tuple[ControllerRouterHandler, ...] = (by_path, by_path_and_metaid, by_address)
"""Routes that answer with `/api` in front and without."""
