"""Files that pins hold, `metafile://<pin>`: whole in one pin, or in chunks that an index names.

    files = Metafiles(man)
    fact = files.resolve("metafile://…i0", content_hash, sink=file.write)

The pins decide, which everybody has; a metafile indexer merges chunks without checking them, so it
is only another way to the same bytes. A fact is never guessed: `mismatch` says that the bytes were
had, whole by every sign there is, and are others; `unavailable` that they were not had.
Source: agentpedia spec §7, PRD §7.2 (AC-A6); facts: metaid §4.2.
"""

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Literal

import msgspec

from refold.kernel.errors import InputError, RefoldError, SourceError
from refold.kernel.gunzip import gunzip
from refold.metaid.fileindex import Chunk, Index, parse_index
from refold.metaid.fileserver import FileServer
from refold.metaid.man.bodies import Bodies
from refold.metaid.man.client import ManClient
from refold.metaid.pin import Row, is_modified

MAX_DIRECT_BYTES = 5 * 1024 * 1024
"""Of a file in one pin (PRD §4.8), and of one chunk, unpacked, as it is a pin too."""
MAX_CHUNKED_BYTES = 50 * 1024 * 1024
"""Of a file in chunks: PRD §4.8."""

State = Literal["verified", "mismatch", "unavailable"]
REASONS = {
    "": "the hash is the expected one, and every chunk has the hash that the index says",
    "hash-differs": "the file is whole, and has another hash than expected",
    "chunk-differs": "a chunk is whole, and has another hash than the index says",
    "size-differs": "the chunks together are not as long as the index says",
    "index-invalid": "the index is whole, and is none",
    "not-a-file": "the pin is not under /file, where files are",
    "too-large": "the file is above the limits",
    "pin-unknown": "the indexer does not know the pin",
    "chunk-unknown": "the indexer does not know the pin of a chunk",
}
"""Why a fact is what it is; of `unavailable` it may also be the code of the error in the way."""

Sink = Callable[[bytes], object]
PiecesOf = Callable[[str, str], Iterator[tuple[bytes, bool]]]
"""Gives a file in pieces, each with whether it is a chunk of its own, by pin id and wanted hash.

It raises `EndError` where there are no more.
"""

_URI = re.compile(r"metafile://([0-9a-f]{64}i(?:0|[1-9][0-9]{0,9}))(?:\.[0-9A-Za-z]{1,16})?")
_HASH = re.compile("[0-9a-f]{64}")
_GZIP_MAGIC = b"\x1f\x8b\x08"


class ContentFact(msgspec.Struct, frozen=True, rename="camel"):
    """What is known of the bytes behind a `metafile://`; `reason` is of `REASONS`.

    `actual` is the SHA-256 of the whole, None when it was not had whole; `size` the bytes that were
    had, `chunks` how many chunks were verified, 0 for a file in one pin. `detail` is for people.
    """

    state: State
    reason: str
    pin: str
    expected: str
    actual: str | None = None
    size: int = 0
    chunks: int = 0
    detail: str = ""


class EndError(Exception):
    """The reading of a file came to an end before the last byte: with this state and reason."""

    def __init__(self, state: State, reason: str, detail: str = "") -> None:
        super().__init__(state, reason, detail)
        self.state: State = state
        self.reason = reason
        self.detail = detail


class Metafiles:
    """Resolves files through an indexer of pins, with `server` where that lacks a body."""

    def __init__(
        self, man: ManClient, *, bodies: Bodies | None = None, server: FileServer | None = None
    ) -> None:
        self._man = man
        self._bodies = bodies or Bodies(man)
        self._server = server

    def resolve(self, uri: str, expected: str, sink: Sink | None = None) -> ContentFact:
        """Read the file and compare its SHA-256 with `expected` (64 hex).

        `sink` takes the bytes, a chunk at a time; they count only when the fact is `verified`. No
        more than a chunk is kept here. Raises InputError: `metafile-uri`, `content-hash`.
        """
        return read_file(uri, expected, self._pieces, sink)

    def _pieces(self, pin_id: str, expected: str) -> Iterator[tuple[bytes, bool]]:
        """Give the file in pieces, each with whether it is a chunk of its own."""
        row = self._row(pin_id, "pin-unknown")
        if not row.path.startswith("/file"):
            raise EndError("unavailable", "not-a-file", row.path)
        if _is_index(row):
            yield from joined(self._index(row, expected), self._chunk)
        else:
            yield self._direct(row, expected), False

    def _direct(self, row: Row, expected: str) -> bytes:
        """Give the bytes of a file in one pin: those of the expected hash if anybody has them."""
        if row.content_length > MAX_DIRECT_BYTES and not is_modified(row):
            raise EndError("unavailable", "too-large", f"{row.content_length} bytes")
        body = b""
        try:
            for body in self._words(row):
                if sha256(body).hexdigest() == expected:
                    break
        except RefoldError as error:
            return self._served(row.id, error, lambda data: data if _is(data, expected) else None)
        return body

    def _index(self, row: Row, expected: str) -> Index:
        """Give the index of a file whose whole should have the expected hash."""
        end = EndError("unavailable", "body-cut")
        try:
            for body in self._words(row):
                try:
                    index = parse_index(body)
                except InputError as error:
                    end = EndError("mismatch", error.code, error.message)
                    continue
                if index.sha256 == expected:
                    return index
                end = EndError("mismatch", "hash-differs", f"the index says {index.sha256}")
        except RefoldError as error:
            raise EndError("unavailable", error.code, error.message) from error
        raise end

    def _chunk(self, chunk: Chunk) -> bytes:
        """Give a chunk, verified and unpacked: by the quick way if that gives the right bytes."""
        try:
            data = self._man.content(chunk.pin_id, max_bytes=MAX_DIRECT_BYTES)
        except SourceError:
            data = None
        piece = None if data is None else open_chunk(data, chunk)
        if piece is not None:
            return piece
        row = self._row(chunk.pin_id, "chunk-unknown")
        try:
            for body in self._words(row):
                piece = open_chunk(body, chunk)
                if piece is not None:
                    return piece
        except RefoldError as error:
            return self._served(chunk.pin_id, error, lambda data: open_chunk(data, chunk))
        raise EndError("mismatch", "chunk-differs", chunk.pin_id)

    def _row(self, pin_id: str, unknown: str) -> Row:
        try:
            row = self._man.pin(pin_id)
        except SourceError as error:
            raise EndError("unavailable", error.code, error.message) from error
        if row is None:
            raise EndError("unavailable", unknown, pin_id)
        return row

    def _words(self, row: Row) -> Iterator[bytes]:
        """Give the first body as the indexer has it, and as its transaction, which cannot lie."""
        yield self._bodies.of_detail(row).body
        try:
            proven = self._bodies.by_chain(row)
        except RefoldError:
            return
        if proven is not None:
            yield proven.body

    def _served(
        self, pin_id: str, error: RefoldError, verify: Callable[[bytes], bytes | None]
    ) -> bytes:
        """Give what the metafile indexer serves, if it is right: else it proves nothing."""
        data = None
        if self._server is not None:
            try:
                data = self._server.content(pin_id, max_bytes=MAX_DIRECT_BYTES)
            except SourceError:
                data = None
        piece = None if data is None else verify(data)
        if piece is None:
            raise EndError("unavailable", error.code, error.message) from error
        return piece


def parse_uri(uri: str) -> str:
    """Give the pin id in `metafile://<pin id>`, with or without an extension behind.

    Raises InputError `metafile-uri`.
    """
    found = _URI.fullmatch(uri)
    if found is None:
        raise InputError("metafile-uri", f"{uri} is no metafile://<pin id>", "correct it")
    return found[1]


def read_file(uri: str, expected: str, pieces_of: PiecesOf, sink: Sink | None) -> ContentFact:
    """Read a file out of the pieces that `pieces_of` gives, as `Metafiles.resolve` does."""
    pin_id = parse_uri(uri)
    if _HASH.fullmatch(expected) is None:
        raise InputError("content-hash", f"{expected} is no hash", "give 64 hex digits")
    whole, size, chunks = sha256(), 0, 0
    try:
        for piece, is_chunk in pieces_of(pin_id, expected):
            whole.update(piece)
            size += len(piece)
            chunks += is_chunk
            if sink is not None:
                sink(piece)
    except EndError as end:
        return ContentFact(end.state, end.reason, pin_id, expected, None, size, chunks, end.detail)
    actual = whole.hexdigest()
    if actual != expected:
        return ContentFact("mismatch", "hash-differs", pin_id, expected, actual, size, chunks)
    return ContentFact("verified", "", pin_id, expected, actual, size, chunks)


def joined(index: Index, chunk_of: Callable[[Chunk], bytes]) -> Iterator[tuple[bytes, bool]]:
    """Give the chunks of a file in their order, as many bytes as the index says; or `EndError`."""
    if index.file_size > MAX_CHUNKED_BYTES:
        raise EndError("unavailable", "too-large", f"{index.file_size} bytes")
    size = 0
    for chunk in index.chunks:
        piece = chunk_of(chunk)
        size += len(piece)
        if size > index.file_size:
            break
        yield piece, True
    if size != index.file_size:
        raise EndError("mismatch", "size-differs", f"{index.file_size} bytes announced")


def is_index(path: str, content_type: str) -> bool:
    """Tell whether a pin under /file holds the index of a file in chunks."""
    named = path == "/file/index" or path.startswith("/file/index/")
    return named or content_type.startswith("metafile/index")


def _is_index(row: Row) -> bool:
    return is_index(row.path, "" if is_modified(row) else row.content_type)


def _is(data: bytes, expected: str) -> bool:
    return sha256(data).hexdigest() == expected


def open_chunk(data: bytes, chunk: Chunk, limit: int | None = None) -> bytes | None:
    """Give a chunk unpacked if it has the hash of the index, packed or not; else None.

    A chunk of a file that is itself packed stays as it is: the length tells, where it is said.
    `limit`: bytes that it may unpack to, by default those of a file in one pin.
    """
    unpacked = _unpacked(data, MAX_DIRECT_BYTES if limit is None else limit)
    if _is(data, chunk.sha256):
        return data if unpacked is None or len(data) == chunk.size else unpacked
    return unpacked if unpacked is not None and _is(unpacked, chunk.sha256) else None


def _unpacked(data: bytes, limit: int) -> bytes | None:
    """Give what a gzip stream holds, up to the limit; None for other data."""
    if not data.startswith(_GZIP_MAGIC):
        return None
    whole = bytearray()
    try:
        for piece in gunzip((data,)):
            whole += piece
            if len(whole) > limit:
                return None
    except InputError:
        return None
    return bytes(whole)
