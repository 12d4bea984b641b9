"""The tree over the log, read from its tiles, and what was signed of it."""

import msgspec
from sqlalchemy import Connection, select

from refold.kernel.errors import InputError, SourceError
from refold.kernel.merkle import (
    HASH_BYTES,
    Frontier,
    consistency_proof,
    inclusion_proof,
    root_of,
)
from refold.trials.leaf import leaf_bytes
from refold.trials.store import tables
from refold.trials.tiles import WIDTH, TilePath, bundle, node_reader, width_at

__all__ = ["KeyRow", "SignedCheckpoint", "Tree"]

_TILE = tables.tiles.c
_ROW = tables.messages.c
_CHECKPOINT = tables.checkpoints.c
_KEY = tables.log_keys.c
_KEYS = select(
    _KEY.id, _KEY.name, _KEY.public_key, _KEY.since, _KEY.since_size, _KEY.statement
).order_by(_KEY.id)


class SignedCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint as it is kept: its size, when it was signed (Unix seconds), the note."""

    size: int
    signed_at: int
    note: str


class KeyRow(msgspec.Struct, frozen=True):
    """A key of the log: since when and which size it signs; how it followed the one before."""

    id: int
    name: str
    public_key: str
    since: int
    since_size: int
    statement: str | None


class Tree:
    """Reads through one connection. A proof takes a few tiles a level, whatever the size."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._node = node_reader(self.hashes)

    def size(self) -> int:
        """Give how many leaves there are."""
        last = select(_ROW.id).order_by(_ROW.id.desc()).limit(1)
        return self._connection.scalar(last) or 0

    def hashes(self, level: int, number: int) -> bytes:
        """Give a tile as far as it is filled, 32 bytes a hash; SourceError `log-damaged`."""
        asked = select(_TILE.hashes).where(_TILE.level == level, _TILE.number == number)
        found: bytes | None = self._connection.scalar(asked)
        if found is None:
            raise SourceError(
                "log-damaged", f"tile {number} of level {level} is not there", "restore a backup"
            )
        return found

    def root(self, size: int) -> bytes:
        """Give the root of the first `size` leaves; InputError `proof-range`."""
        self._require(size)
        return root_of(size, self._node)

    def frontier(self, size: int) -> Frontier:
        """Give what a tree of `size` leaves grows from."""
        return Frontier.of(size, self._node)

    def inclusion(self, message: int, size: int) -> tuple[bytes, ...]:
        """Give the proof that a message is among the first `size`; InputError `proof-range`."""
        self._require(size)
        return inclusion_proof(message - 1, size, self._node)

    def consistency(self, first: int, second: int) -> tuple[bytes, ...]:
        """Give the proof that one tree is the beginning of another; InputError `proof-range`."""
        self._require(second)
        return consistency_proof(first, second, self._node)

    def tile(self, path: TilePath) -> bytes:
        """Give what is served for a tile or a bundle; InputError `tile-unknown`."""
        available = width_at(path.level or 0, path.number, self.size())
        if path.width > available:
            raise InputError(
                "tile-unknown", f"the log has no tile {path}", "look at the size of the checkpoint"
            )
        if path.level is not None:
            return self.hashes(path.level, path.number)[: path.width * HASH_BYTES]
        first = path.number * WIDTH + 1
        asked = (
            select(_ROW.id, _ROW.accepted_at, _ROW.digest, _ROW.signature)
            .where(_ROW.id >= first, _ROW.id < first + path.width)
            .order_by(_ROW.id)
        )
        return bundle(leaf_bytes(*row) for row in self._connection.execute(asked))

    def checkpoint(self) -> SignedCheckpoint | None:
        """Give the newest checkpoint, None before the log was first opened."""
        return next(iter(self.checkpoints(1)), None)

    def checkpoints(self, limit: int, below: int | None = None) -> list[SignedCheckpoint]:
        """Give those that are kept, the newest first, below a size."""
        asked = select(_CHECKPOINT.size, _CHECKPOINT.signed_at, _CHECKPOINT.note)
        if below is not None:
            asked = asked.where(_CHECKPOINT.size < below)
        rows = self._connection.execute(asked.order_by(_CHECKPOINT.size.desc()).limit(limit))
        return [SignedCheckpoint(*row) for row in rows]

    def keys(self) -> list[KeyRow]:
        """Give all keys of the log, the first one first."""
        return [KeyRow(*row) for row in self._connection.execute(_KEYS)]

    def _require(self, size: int) -> None:
        available = self.size()
        if not 0 <= size <= available:
            raise InputError(
                "proof-range", f"the log has {available} messages", "ask for no larger size"
            )
