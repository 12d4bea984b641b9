"""The index of a file in chunks: the body of a pin at `/file/index` (facts: metaid §4.2)."""

import re

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.man.rows import PIN_ID

MAX_CHUNKS = 65_536
"""Of one file: chunks of 800 bytes of the largest; no uploader cuts smaller than 1,200."""

_HASH = re.compile("[0-9a-f]{64}")


class Chunk(msgspec.Struct, frozen=True):
    """One chunk: its hash, its pin, and its bytes unpacked (None where the index does not say)."""

    sha256: str
    pin_id: str
    size: int | None


class Index(msgspec.Struct, frozen=True):
    """Hash and bytes of the whole, and its chunks in their order."""

    sha256: str
    file_size: int
    chunks: tuple[Chunk, ...]


class _RawChunk(msgspec.Struct, rename="camel"):
    sha256: str
    pin_id: str


class _RawIndex(msgspec.Struct, rename="camel"):
    sha256: str
    file_size: int | float | str
    chunk_list: list[_RawChunk]
    chunk_number: int | float | str | None = None
    chunk_size: int | float | str | None = None


_decode = msgspec.json.Decoder(_RawIndex).decode


def parse_index(body: bytes) -> Index:
    """Read the body of an index; numbers may be floats or text.

    Raises InputError `index-invalid`.
    """
    try:
        raw = _decode(body)
        file_size = _whole(raw.file_size)
        number, chunk_size = _whole(raw.chunk_number or 0), _whole(raw.chunk_size or 0)
    except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
        raise _invalid(str(error)) from error
    count = len(raw.chunk_list)
    if not 0 < count <= MAX_CHUNKS or number not in {0, count}:
        raise _invalid(f"{count} chunks are listed, {number} announced")
    hashes = (raw.sha256, *(chunk.sha256 for chunk in raw.chunk_list))
    if not all(map(_HASH.fullmatch, hashes)):
        raise _invalid("a hash is not 64 hex digits")
    if not all(PIN_ID.fullmatch(chunk.pin_id) for chunk in raw.chunk_list):
        raise _invalid("a chunk names no pin")
    last = file_size - (count - 1) * chunk_size
    sizes: list[int | None] = [*([chunk_size] * (count - 1)), last]
    if not chunk_size or not 0 < last <= chunk_size:
        sizes = [None] * count
    return Index(
        raw.sha256,
        file_size,
        tuple(
            Chunk(chunk.sha256, chunk.pin_id, size)
            for chunk, size in zip(raw.chunk_list, sizes, strict=True)
        ),
    )


def _whole(number: float | str) -> int:
    """Give an integral number at least 0 however it is written; raises ValueError."""
    value = float(number)
    if not value.is_integer() or value < 0:
        raise ValueError(f"{number} is no count")
    return int(value)


def _invalid(why: str) -> InputError:
    return InputError("index-invalid", f"no index of a file: {why}", "the file has to be sent anew")
