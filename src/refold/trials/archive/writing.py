"""Archives written: lines with the hash over them, and where one that was cut goes on.

Source: cold trials spec §3, resumable export.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Protocol

import msgspec

from refold.trials.archive.codes import wrong
from refold.trials.archive.lines import (
    BLOCK,
    BlockLine,
    CheckpointLine,
    EndLine,
    Head,
    KeyLine,
    Line,
    MessageLine,
    ModerationLine,
    RemovedLine,
    decode_line,
    encode_line,
)

__all__ = ["ArchiveWriter", "Begun", "begun_archive"]


class Total(Protocol):
    """A hash over bytes that come one after the other."""

    def update(self, data: bytes, /) -> None:
        """Take more."""

    def hexdigest(self) -> str:
        """Give the hash of all so far."""

    def copy(self) -> "Total":
        """Give another one that goes on by itself."""


class Begun(msgspec.Struct):
    """How far an archive got: its head, the last key, act and message, the bytes of whole blocks.

    `kept` is the size of the last kept checkpoint, -1 before one; `is_over` says that nothing is
    missing.
    """

    head: Head
    total: Total | None = None
    offset: int = 0
    key: str = ""
    moderated: int = 0
    size: int = 0
    kept: int = -1
    is_over: bool = False


class ArchiveWriter:
    """Writes lines to `write`, at most `block` of them a block.

    `proof` gives the hashes that prove a size, as RFC 6962 has them.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        proof: Callable[[int], Iterable[bytes]],
        begun: Begun | None = None,
        block: int = BLOCK,
    ) -> None:
        self._write = write
        self._proof = proof
        self._block = block
        self._total = (begun and begun.total) or sha256()
        self._count = 0
        self._size = 0 if begun is None else begun.size

    def add(self, line: Line) -> None:
        """Write a line that is no end; a full block is closed."""
        self._put(encode_line(line))
        if isinstance(line, Head):
            return
        if isinstance(line, (MessageLine, RemovedLine)):
            self._size = line.id
        self._count += 1
        if self._count == self._block:
            self.close_block()

    def close_block(self) -> None:
        """Close the block, if anything stands in it."""
        if self._count:
            self._count = 0
            proof = tuple(each.hex() for each in self._proof(self._size))
            self._put(encode_line(BlockLine(self._size, proof, self._hash())))

    def end(self) -> str:
        """Close the archive; give the SHA-256 of it, in hex, without the last line."""
        self.close_block()
        total = self._hash()
        self._put(encode_line(EndLine(self._size, total)))
        return total

    def _put(self, raw: bytes) -> None:
        self._write(raw)
        self._total.update(raw)

    def _hash(self) -> str:
        return self._total.hexdigest()


def begun_archive(lines: Iterable[bytes]) -> Begun | None:
    """Give how far an archive got that was being written when its writer ended, None if nowhere.

    Only what stands in whole blocks counts: what is behind `offset` bytes is to be written again.
    Raises InputError `archive-damaged` where a whole block is not what was written.
    """
    found: Begun | None = None
    total: Total = sha256()
    offset, key, moderated, size, kept = 0, "", 0, 0, -1
    for number, raw in enumerate(lines, 1):
        if not raw.endswith(b"\n"):
            break
        line = decode_line(raw, number)
        if isinstance(line, (BlockLine, EndLine)) and line.sha256 != total.hexdigest():
            raise wrong("archive-damaged", "the hash over all that stands before differs", number)
        total.update(raw)
        offset += len(raw)
        if isinstance(line, Head):
            found = Begun(line, total.copy(), offset)
        elif isinstance(line, KeyLine):
            key = line.public_key
        elif isinstance(line, ModerationLine):
            moderated = line.id
        elif isinstance(line, (MessageLine, RemovedLine)):
            size = line.id
        elif isinstance(line, CheckpointLine):
            kept = size
        elif found is not None and isinstance(line, (BlockLine, EndLine)):
            is_over = isinstance(line, EndLine)
            found = Begun(found.head, total.copy(), offset, key, moderated, size, kept, is_over)
    return found
