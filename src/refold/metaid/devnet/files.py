"""Files made of pins: whole ones, and those cut into chunks with an index (facts: metaid §4.2)."""

import gzip
import json
from hashlib import md5, sha256

import msgspec
from sqlalchemy import Connection, select

from refold.metaid.devnet.found import Found, found_of
from refold.metaid.devnet.listing import pin_by_id
from refold.metaid.devnet.quirks import Quirks
from refold.metaid.devnet.tables import PINS
from refold.metaid.globalmetaid import metaid_of

FILE_PATH = "/file"
CHUNK_PATH = "/file/_chunk"
INDEX_PATH = "/file/index"
CHUNK_TYPE = "metafile/chunk;binary"
INDEX_TYPE = "metafile/index"
CHUNK_BYTES = 2 * 1024 * 1024
"""Bytes of a chunk as the uploader cuts."""


class Chunk(msgspec.Struct, frozen=True):
    """A chunk to pin: what its index says of it, and the body, perhaps compressed."""

    sha256: str
    body: bytes


def cut(data: bytes, chunk_bytes: int, *, compress: bool = False) -> list[Chunk]:
    """Cut a file into chunks; the digest is of the bytes before compression."""
    pieces = [data[at : at + chunk_bytes] for at in range(0, len(data), chunk_bytes)] or [b""]
    return [
        Chunk(sha256(piece).hexdigest(), gzip.compress(piece, mtime=0) if compress else piece)
        for piece in pieces
    ]


def index_payload(
    data: bytes, chunks: list[tuple[str, str]], *, chunk_bytes: int, name: str, data_type: str
) -> bytes:
    """Give the body of an index pin; `chunks` are digests and pin ids in the file's order."""
    return msgspec.json.encode(
        {
            "sha256": sha256(data).hexdigest(),
            "fileSize": len(data),
            "chunkNumber": len(chunks),
            "chunkSize": chunk_bytes,
            "dataType": data_type,
            "name": name,
            "chunkList": [{"sha256": digest, "pinId": pin_id} for digest, pin_id in chunks],
        }
    )


class MetaFile(msgspec.Struct, frozen=True):
    """A file as the indexer holds it; `data` is None while chunks are missing."""

    pin: Found
    name: str
    size: int
    content_type: str
    data: bytes | None

    @property
    def digests(self) -> tuple[str, str]:
        """MD5 and SHA-256 of the content, "" when it is not there yet."""
        if self.data is None:
            return "", ""
        return md5(self.data, usedforsecurity=False).hexdigest(), sha256(self.data).hexdigest()


def file_of(connection: Connection, pin_id: str, quirks: Quirks) -> MetaFile | None:
    """Give the file of a pin under `/file` or `/info`, None for any other pin.

    As in the real indexer, the digests in an index are compared with nothing, and chunks are
    unpacked when they look like gzip.
    """
    pin = pin_by_id(connection, pin_id, quirks)
    if pin is None or not _is_file(connection, pin, quirks):
        return None
    record = pin.record
    if record.content_type != INDEX_TYPE:
        return MetaFile(pin, "", len(record.body), record.content_type, record.body)
    try:
        index = json.loads(record.body)
        chunks = [str(chunk["pinId"]) for chunk in index["chunkList"]]
        size = int(float(index["fileSize"]))
        name, data_type = str(index.get("name", "")), str(index.get("dataType", ""))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
    return MetaFile(pin, name, size, data_type, _joined(connection, chunks, quirks))


def _is_file(connection: Connection, pin: Found, quirks: Quirks) -> bool:
    path = pin.record.path
    if pin.record.operation == "modify" and pin.root is not None:
        original = pin_by_id(connection, pin.root, quirks)
        path = "" if original is None else original.record.path
    return path.startswith(("/file", "/info/"))


def _joined(connection: Connection, chunks: list[str], quirks: Quirks) -> bytes | None:
    pieces = []
    for chunk in chunks:
        pin = pin_by_id(connection, chunk, quirks)
        if pin is None:
            return None
        pieces.append(_unpacked(pin.record.body))
    return b"".join(pieces)


def _unpacked(body: bytes) -> bytes:
    try:
        return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
    except (OSError, EOFError, ValueError):
        return body


def latest(connection: Connection, first_pin_id: str, quirks: Quirks) -> str:
    """Give the id of the newest modify of a pin, its own id when there is none."""
    chosen = (
        select(PINS)
        .where(PINS.c.root == first_pin_id, PINS.c.operation == "modify")
        .order_by(PINS.c.place.desc())
        .limit(1)
    )
    if not quirks.modify_from_mempool:
        chosen = chosen.where(PINS.c.height >= 0)
    row = connection.execute(chosen).first()
    return first_pin_id if row is None else str(row.id)


def file_pins(
    connection: Connection, *, owner_metaid: str | None, skip: int, size: int
) -> list[Found]:
    """Give pins of files, the newest first: whole files and indexes, no chunks."""
    paths = [metaid_of(path) for path in (FILE_PATH, INDEX_PATH)]
    chosen = select(PINS).where(PINS.c.path_hash.in_(paths), PINS.c.height >= 0)
    if owner_metaid is not None:
        chosen = chosen.where(PINS.c.owner_metaid == owner_metaid)
    rows = connection.execute(chosen.order_by(PINS.c.place.desc()).offset(skip).limit(size))
    return [found_of(row) for row in rows]
