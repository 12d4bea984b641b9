"""The MAN API of today's indexers (facts: metaid §3.2), as the quirks want it."""

import base64
import binascii
from collections.abc import Sequence

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.metaid.address import p2pkh_address
from refold.metaid.devnet import indexer, listing
from refold.metaid.devnet.answers import as_bytes, as_json, as_text, man
from refold.metaid.devnet.detect import detected_type
from refold.metaid.devnet.found import Found
from refold.metaid.devnet.listing import Query
from refold.metaid.devnet.modify import shown
from refold.metaid.devnet.quirks import Quirks
from refold.metaid.devnet.requests import (
    AnyRequest,
    base_url_of,
    node_of,
    page_of,
    size_of,
    text_of,
)
from refold.metaid.devnet.rows import (
    SHORT_PREVIEW_BYTES,
    Json,
    View,
    as_go_text,
    cut_text,
    empty_row,
    full_row,
    holds_body,
    short_row,
)
from refold.metaid.globalmetaid import decode_globalmetaid, metaid_of

V2 = {"generation": "v2"}
_ORDERS = {"timestamp": "time", "time": "time", "seentime": "seen", "height": "height"}


@get("/pin/path/list", sync_to_thread=False, opt=V2)
def path_list(request: AnyRequest) -> Response[bytes]:
    """List the pins of a path."""
    return _list(request, None)


@get("/address/pin/list/{address:str}", sync_to_thread=False, opt=V2)
def address_list(request: AnyRequest, address: FromPath[str]) -> Response[bytes]:
    """List the pins of a path that an address owns."""
    return _list(request, metaid_of(address))


@get("/metaid/pin/list/{metaid:str}", sync_to_thread=False, opt=V2)
def metaid_list(request: AnyRequest, metaid: FromPath[str]) -> Response[bytes]:
    """List the pins of a path by their owner's metaid or globalMetaId; `cursor` must be given."""
    if not text_of(request, "cursor"):
        return bad_parameter()
    return _list(request, _metaid(metaid))


def _metaid(name: str) -> str:
    """Give the metaid behind a globalMetaId; any other name is taken for a metaid."""
    try:
        address = decode_globalmetaid(name)
    except InputError:
        return name
    return metaid_of(p2pkh_address(address.payload)) if address.kind == "p2pkh" else name


def bad_parameter() -> Response[bytes]:
    """Answer to a missing or wrong parameter: HTTP 200, code 404 (§3.3)."""
    return man(None, 404, "Parameter error.")


def _list(request: AnyRequest, owner_metaid: str | None) -> Response[bytes]:
    node, path = node_of(request), text_of(request, "path")
    quirks = node.quirks()
    if not path:
        return bad_parameter()
    with node.transaction() as connection:
        try:
            size = size_of(request, quirks)
            query = Query(path, size, text_of(request, "cursor"), owner_metaid)
            page = listing.page_of(connection, query, quirks, node.totals)
        except InputError:
            return bad_parameter()
        view = View(quirks, base_url_of(request), links=owner_metaid is not None)
        rows = rows_of(connection, _in_asked_order(request, page.pins), view)
    return man(
        {
            "list": rows or (None if quirks.null_lists else []),
            "nextCursor": page.next_cursor,
            "total": page.total,
        }
    )


def _in_asked_order(request: AnyRequest, pins: Sequence[Found]) -> Sequence[Found]:
    """Sort the rows of a page as `sortBy` and `order` want it; the page stays the same (§3.4)."""
    by = _ORDERS.get(text_of(request, "sortBy").lower())
    if by is None:
        return pins
    order = text_of(request, "order") or text_of(request, "sortOrder")
    return sorted(pins, key=lambda pin: int(getattr(pin, by)), reverse=order.lower() != "asc")


def rows_of(connection: Connection, pins: Sequence[Found], view: View) -> list[Json]:
    """Give the rows of pins, each as modifies have left it."""
    shows = shown(connection, pins, view.quirks)
    return [full_row(pin, shows[pin.record.id], view) for pin in pins]


@get("/pin/{pin_id:str}", sync_to_thread=False)
def pin_detail(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Give a pin with its body."""
    node = node_of(request)
    quirks = node.quirks()
    with node.transaction() as connection:
        pin = listing.pin_by_id(connection, pin_id, quirks)
        if pin is None:
            return _unknown_pin(quirks)
        return man(rows_of(connection, [pin], _alone(request, quirks))[0])


def _alone(request: AnyRequest, quirks: Quirks) -> View:
    return View(quirks, base_url_of(request), in_list=False)


def _unknown_pin(quirks: Quirks) -> Response[bytes]:
    if quirks.unknown_pin == "zero":
        return man(empty_row())
    return man(None, 100, "no pin found.", 404 if quirks.unknown_pin == "404" else 200)


@get("/pin/ver/{pin_id:str}/{version:str}", sync_to_thread=False, opt=V2)
def pin_version(
    request: AnyRequest, pin_id: FromPath[str], version: FromPath[str]
) -> Response[bytes]:
    """Give a pin as it was pinned (version 0) or its n-th modify pin.

    A version that is no number gives an empty pin, one that there is not gives the pin as it is.
    """
    node = node_of(request)
    quirks = node.quirks()
    with node.transaction() as connection:
        pin = listing.pin_by_id(connection, pin_id, quirks)
        if pin is None or not (version.isascii() and version.isdigit()):
            return man(empty_row())
        view = View(quirks, base_url_of(request), in_list=False, links=False)
        shows = shown(connection, [pin], quirks)[pin.record.id]
        if int(version) == 0:
            row = full_row(pin, shows, view)
            return man(row | _first_body(pin, shows.first_body, quirks))
        history = shows.history or ()
        if int(version) < len(history):
            pin = listing.pin_by_id(connection, history[int(version)], quirks) or pin
        return man(rows_of(connection, [pin], view)[0])


def _first_body(pin: Found, first: bytes | None, quirks: Quirks) -> Json:
    """Give the members that version 0 has of its own."""
    if quirks.odd_version_0:
        return {
            "contentBody": None if first is None else base64.b64encode(first).decode(),
            "contentSummary": "" if first is None else cut_text(first, SHORT_PREVIEW_BYTES, quirks),
        }
    record = pin.record
    return {
        "contentType": record.content_type,
        "contentTypeDetect": detected_type(record.body),
        "contentBody": base64.b64encode(record.body).decode(),
        "contentLength": len(record.body),
        "contentSummary": as_go_text(record.body),
    }


@get("/content/{pin_id:str}", sync_to_thread=False, opt={"prefixed": False})
def content(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Give the body of a pin, of its last modify if there is one."""
    node = node_of(request)
    quirks = node.quirks()
    with node.transaction() as connection:
        pin = listing.pin_by_id(connection, pin_id, quirks)
        if pin is None:
            if quirks.unknown_pin == "404":
                return as_json({"code": 100, "message": "no pin found."}, 404)
            return as_text("fail")
        shows = shown(connection, [pin], quirks)[pin.record.id]
    if not holds_body(pin, quirks):
        return as_bytes(b"", shows.content_type, headers={"X-Man-Content-Status": "metadata-only"})
    if not quirks.odd_content:
        return as_bytes(shows.body, shows.content_type)
    if shows.content_type == "application/mp4":
        page = f'<video controls autoplay muted src="/stream/{pin.record.id}"></video>'
        return as_bytes(page.encode(), "text/html; charset=utf-8")
    return as_bytes(_image_prefix(shows.body) + shows.body, "text/plain; charset=utf-8")


def _image_prefix(body: bytes) -> bytes:
    """Give what is put in front of a body that looks like an image in base64."""
    try:
        kind = detected_type(base64.b64decode(body, validate=True))
    except (binascii.Error, ValueError):
        return b""
    return f"data:{kind};base64,".encode() if kind.startswith("image/") else b""


@get("/stream/{pin_id:str}", sync_to_thread=False, opt={"prefixed": False})
def stream(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Give nothing, as the stub that it is."""
    del request, pin_id
    return as_bytes(b"", "text/plain; charset=utf-8")


@get("/pin/list", sync_to_thread=False, opt=V2)
def newest_pins(request: AnyRequest) -> Response[bytes]:
    """List the confirmed pins of all paths in short rows, the newest first."""
    return _short_list(request, mempool=False)


@get("/mempool/list", sync_to_thread=False, opt=V2)
def mempool_pins(request: AnyRequest) -> Response[bytes]:
    """List the unconfirmed pins in short rows, the newest first."""
    return _short_list(request, mempool=True)


def _short_list(request: AnyRequest, *, mempool: bool) -> Response[bytes]:
    node = node_of(request)
    quirks = node.quirks()
    try:
        page, size = page_of(request), size_of(request, quirks)
    except InputError:
        return bad_parameter()
    with node.transaction() as connection:
        pins = listing.pins_at(connection, mempool=mempool, skip=(page - 1) * size, size=size)
        counts = listing.counts(connection)
    view = View(quirks, base_url_of(request))
    rows = [short_row(pin, view, mempool=mempool) for pin in pins]
    answer: Json = {
        "Pins": rows or (None if quirks.null_lists else []),
        "Count": {"Pin" if name == "pin" else name: count for name, count in counts.items()},
        "Active": "mempool" if mempool else "index",
    }
    if not mempool:
        answer["LastId"] = pins[-1].record.id if pins else ""
    return man(answer)


@get("/notifcation/list", sync_to_thread=False, opt=V2)
def notifications(request: AnyRequest) -> Response[bytes]:
    """List no notifications, as the main indexer does; the name is spelled so."""
    if not text_of(request, "address"):
        return bad_parameter()
    return as_json({"code": 200, "message": "ok", "data": None, "total": 0})


@get("/debug/sync", sync_to_thread=False, opt={"prefixed": False})
def debug_sync(request: AnyRequest) -> Response[bytes]:
    """Give the height that the indexer has come to."""
    node = node_of(request)
    with node.transaction() as connection:
        height = indexer.height_of(connection)
    forms = {"number": height, "text": str(height), "null": None}
    chains = ("btc", "doge", "mvc")
    heights = {f"{name}{kind}_sync_height": None for name in chains for kind in ("_mrc20", "")}
    return as_json(heights | {"mvc_sync_height": forms[node.quirks().sync_height]})


@get("/debug/count", sync_to_thread=False, opt={"prefixed": False})
def debug_count(request: AnyRequest) -> Response[bytes]:
    """Give how many pins, blocks and owners the indexer knows."""
    with node_of(request).transaction() as connection:
        return as_json(listing.counts(connection))


@get("/health", sync_to_thread=False, opt={"prefixed": False})
def health(request: AnyRequest) -> Response[bytes]:
    """Say that the server runs."""
    del request
    return as_json({"status": "ok", "version": "refold devnet"})


PREFIXED: tuple[ControllerRouterHandler, ...] = (
    *(path_list, address_list, metaid_list, pin_detail, pin_version),
    *(newest_pins, mempool_pins, notifications),
)
"""Routes that answer with `/api` in front and without."""
BARE: tuple[ControllerRouterHandler, ...] = (content, stream, debug_sync, debug_count, health)
"""Routes that have no prefix anywhere."""
