"""The metafile indexer (facts: metaid §4.1), under `/metafile-indexer`.

Every JSON answer is HTTP 200, also that a file is not there, and also to HEAD.
"""

from litestar import HttpMethod, Response, get, route
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.metaid.devnet import chain, files, indexer, listing
from refold.metaid.devnet.answers import as_bytes, mfs
from refold.metaid.devnet.files import MetaFile
from refold.metaid.devnet.found import Found
from refold.metaid.devnet.quirks import Quirks
from refold.metaid.devnet.requests import AnyRequest, base_url_of, node_of, size_of, text_of
from refold.metaid.devnet.rows import Json, globalmetaid_or_nothing
from refold.metaid.globalmetaid import metaid_of

PREFIX = "/metafile-indexer/api/v1"

_EXTENSIONS = {
    "application/json": ".json",
    "application/pdf": ".pdf",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
}


def not_found() -> Response[bytes]:
    """Answer that there is no such file: HTTP 200, code 40400."""
    return mfs(None, 40_400, "file not found")


@get("/files/{pin_id:str}", sync_to_thread=False)
def metadata(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Describe a file."""
    with node_of(request).transaction() as connection:
        return _metadata(request, connection, pin_id)


@get("/files/latest/{pin_id:str}", sync_to_thread=False)
def latest_metadata(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Describe the newest version of a file."""
    node = node_of(request)
    with node.transaction() as connection:
        newest = files.latest(connection, pin_id, node.quirks())
        return _metadata(request, connection, newest)


def _metadata(request: AnyRequest, connection: Connection, pin_id: str) -> Response[bytes]:
    file = files.file_of(connection, pin_id, node_of(request).quirks())
    return not_found() if file is None else mfs(_described(file, request))


def _described(file: MetaFile, request: AnyRequest) -> Json:
    record, found = file.pin.record, file.pin
    url = f"{base_url_of(request)}{PREFIX}/files"
    extension = _EXTENSIONS.get(file.content_type.partition(";")[0], "")
    md5, sha256 = file.digests
    return {
        "pin_id": record.id,
        "tx_id": record.txid,
        "path": record.path,
        "operation": record.operation,
        "encryption": record.encryption,
        "content_type": file.content_type,
        "file_type": file.content_type.partition("/")[0],
        "file_extension": extension,
        "file_name": file.name,
        "file_size": file.size,
        "file_md5": md5,
        "file_hash": sha256,
        "storage_path": f"indexer/mvc/{record.id}{extension}",
        "chain_name": "mvc",
        "block_height": found.height,
        "timestamp": found.time,
        "creator_meta_id": metaid_of(record.last_payer),
        "creator_address": record.last_payer,
        "creator_global_meta_id": globalmetaid_or_nothing(record.last_payer),
        "owner_meta_id": metaid_of(record.owner),
        "owner_address": record.owner,
        "content_url": f"{url}/content/{record.id}",
        "accelerate_content_url": f"{url}/accelerate/content/{record.id}",
    }


@get("/files/status/{pin_id:str}", sync_to_thread=False)
def status(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Say whether a file is there: merged, pending or not_found."""
    node = node_of(request)
    with node.transaction() as connection:
        file = files.file_of(connection, pin_id, node.quirks())
    known = file is not None
    return mfs(
        {
            "status": "not_found" if file is None else "pending" if file.data is None else "merged",
            "chainName": "mvc" if known else "",
            "blockHeight": file.pin.height if file is not None else 0,
            "fileSize": file.size if file is not None else 0,
            "fileName": file.name if file is not None else "",
        }
    )


@route(
    ["/files/content/{pin_id:str}", "/files/accelerate/content/{pin_id:str}"],
    http_method=[HttpMethod.GET, HttpMethod.HEAD],
    sync_to_thread=False,
)
def file_content(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Give the bytes of a file; an accelerated GET is sent on to them with 307."""
    accelerated = "/accelerate/" in request.url.path
    if accelerated and request.method == "GET":
        where = f"{base_url_of(request)}{PREFIX}/files/content/{pin_id}"
        return as_bytes(b"", "text/plain", 307, {"Location": where})
    node = node_of(request)
    with node.transaction() as connection:
        return _content(connection, pin_id, node.quirks())


@route(
    "/files/content/latest/{pin_id:str}",
    http_method=[HttpMethod.GET, HttpMethod.HEAD],
    sync_to_thread=False,
)
def latest_content(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Give the bytes of the newest version of a file."""
    node = node_of(request)
    with node.transaction() as connection:
        newest = files.latest(connection, pin_id, node.quirks())
        return _content(connection, newest, node.quirks())


def _content(connection: Connection, pin_id: str, quirks: Quirks) -> Response[bytes]:
    file = files.file_of(connection, pin_id, quirks)
    if file is None or file.data is None:
        return not_found()
    name = file.name.encode("ascii", "replace").decode().replace('"', "_")
    disposition = f'inline; filename="{name}"' if name else "inline"
    headers = {"Content-Disposition": disposition}
    return as_bytes(file.data, file.content_type or "application/octet-stream", headers=headers)


@get("/files", sync_to_thread=False)
def newest_files(request: AnyRequest) -> Response[bytes]:
    """List the files, the newest first."""
    return _files(request, None)


@get("/files/creator/{address:str}", sync_to_thread=False)
def files_of_address(request: AnyRequest, address: FromPath[str]) -> Response[bytes]:
    """List the files of an address."""
    return _files(request, metaid_of(address))


@get("/files/metaid/{metaid:str}", sync_to_thread=False)
def files_of_metaid(request: AnyRequest, metaid: FromPath[str]) -> Response[bytes]:
    """List the files of a metaid."""
    return _files(request, metaid)


def _files(request: AnyRequest, owner_metaid: str | None) -> Response[bytes]:
    node = node_of(request)
    quirks = node.quirks()
    cursor = text_of(request, "cursor") or "0"
    try:
        size = size_of(request, quirks) if text_of(request, "size") else 20
        skip = int(cursor) if cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else 0
    except InputError:
        return mfs(None, 40_000, "parameter error")
    with node.transaction() as connection:
        pins = files.file_pins(connection, owner_metaid=owner_metaid, skip=skip, size=size)
        found = [files.file_of(connection, pin.record.id, quirks) for pin in pins]
    return mfs(
        {
            "files": [_described(file, request) for file in found if file is not None],
            "next_cursor": skip + len(pins),
            "has_more": len(pins) == size,
        }
    )


@get("/pins/{pin_id:str}", sync_to_thread=False)
def pin(request: AnyRequest, pin_id: FromPath[str]) -> Response[bytes]:
    """Give the place of a pin of a file, and of the pin that it modifies."""
    node = node_of(request)
    quirks = node.quirks()
    with node.transaction() as connection:
        found = listing.pin_by_id(connection, pin_id, quirks)
        first = _first(connection, found, quirks)
    if found is None or first is None or not first.record.path.startswith(("/file", "/info/")):
        return not_found()
    record = found.record
    return mfs(
        {
            "pin_id": record.id,
            "first_pin_id": first.record.id,
            "first_path": first.record.path,
            "path": record.path,
            "operation": record.operation,
            "content_type": record.content_type,
            "chain_name": "mvc",
            "block_height": found.height,
            "timestamp": found.time,
        }
    )


def _first(connection: Connection, found: Found | None, quirks: Quirks) -> Found | None:
    if found is None or found.root is None:
        return found
    return listing.pin_by_id(connection, found.root, quirks)


@get("/status", sync_to_thread=False)
def sync_status(request: AnyRequest) -> Response[bytes]:
    """Say how far the indexer has come."""
    with node_of(request).transaction() as connection:
        heights = {
            "chain_name": "mvc",
            "current_sync_height": indexer.height_of(connection),
            "latest_block_height": chain.moment(connection).height,
        }
    return mfs({"chains": [heights]})


ROUTES: tuple[ControllerRouterHandler, ...] = (
    *(metadata, latest_metadata, status, file_content, latest_content, newest_files),
    *(files_of_address, files_of_metaid, pin, sync_status),
)
