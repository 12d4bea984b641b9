"""Postings of a term as bytes, the heaviest first.

A posting is one whole number: what the weight lacks to the greatest, then the number of the
document. So the order of postings is that of answers: the heavier first, and among equals by
number. Six bytes each hold it, kept byte by byte: all the lowest ones first, the weights last.
"""

import sys
from array import array
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from refold.agentpedia.scoring import MAX_WEIGHT

__all__ = [
    "MAX_BLOCK",
    "NUMBER_BITS",
    "POSTING_BYTES",
    "TAG_SHIFT",
    "decode",
    "decode_all",
    "encode",
    "has_tag",
    "last_of",
    "number_of",
    "posting",
    "tag_of",
]

MAX_BLOCK: Final = 256
"""Postings of a block at most: 1.5 KB, so that a posting more or less rewrites little, and a page
of SQLite and a row of PostgreSQL hold it without help."""
NUMBER_BITS: Final = 40
TAG_SHIFT: Final = 32
"""Bits of a document's number, and of those the ones below the tag of its language."""

POSTING_BYTES: Final = 6


def number_of(key: str, lang: str, attempt: int) -> int:
    """Give the number of a document: the tag of its language, then a hash of its key.

    Among equals the number decides, so it comes from the key alone, and not from who was first.
    Where another document has the number, the next attempt gives another one.
    """
    text = f"{key}\0{attempt}".encode(errors="surrogatepass")
    return tag_of(lang) << TAG_SHIFT | int.from_bytes(sha256(text).digest()[:4], "big")


def tag_of(lang: str) -> int:
    """Give the byte that stands for a language; another language may have the same."""
    return sha256(lang.encode(errors="surrogatepass")).digest()[0]


def posting(weight: int, number: int) -> int:
    """Give a posting."""
    return (MAX_WEIGHT - weight) << NUMBER_BITS | number


def encode(postings: "array[int]") -> bytes:
    """Give postings as bytes."""
    if len(postings) == 1:  # as most terms have
        return postings[0].to_bytes(POSTING_BYTES, "little")
    raw = _little(postings).tobytes()
    return b"".join([raw[byte::8] for byte in range(POSTING_BYTES)])


def decode(block: bytes) -> "array[int]":
    """Give the postings in bytes."""
    size = len(block) // POSTING_BYTES
    raw = bytearray(8 * size)
    for byte in range(POSTING_BYTES):
        raw[byte::8] = block[byte * size : (byte + 1) * size]
    return _little(array("Q", bytes(raw)))


def decode_all(blocks: Sequence[bytes]) -> tuple["array[int]", bytes]:
    """Give the numbers of the documents of all blocks, and what each weight lacks to the greatest.

    Much quicker than block by block; a question may want tens of thousands.
    """
    sizes = [len(block) // POSTING_BYTES for block in blocks]
    raw = bytearray(8 * sum(sizes))
    pairs = list(zip(blocks, sizes, strict=True))
    for byte in range(POSTING_BYTES - 1):
        raw[byte::8] = b"".join([block[byte * size : (byte + 1) * size] for block, size in pairs])
    lacks = b"".join([block[-size:] for block, size in pairs])
    return _little(array("Q", bytes(raw))), lacks


def last_of(block: bytes) -> int:
    """Give the last posting of a block that has one."""
    size = len(block) // POSTING_BYTES
    return int.from_bytes(block[size - 1 :: size], "little")


def has_tag(block: bytes, tag: int) -> bool:
    """Tell whether a document of a language with this tag is among those of a block."""
    size = len(block) // POSTING_BYTES
    at = TAG_SHIFT // 8 * size
    return block.find(tag, at, at + size) >= 0


def _little(postings: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        postings = postings[:]
        postings.byteswap()
    return postings
