"""Folds as bytes, cut into chunks that are compressed each for itself: `interface.Snapshots`."""

import zlib
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, delete, func, insert, select

from refold.agentpedia.store.model import FoundSnapshot, KeptSnapshot, PackedSnapshot, Snapshot
from refold.agentpedia.store.retention import kept_snapshots
from refold.agentpedia.store.tables import chunks, snapshots

CHUNK_BYTES = 4 * 1024 * 1024
"""Bytes of a snapshot in one row, before they are compressed: what a connection holds at a time."""
LEVEL = 1
"""A third of the bytes, for 9 ms a megabyte; level 6 takes twice as long for another 7 %."""


class SqlSnapshots:
    """See `interface.Snapshots`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, packed: PackedSnapshot) -> None:
        """Keep a snapshot, and drop those that are not kept any more."""
        self._delete({packed.height})
        for number, chunk in enumerate(packed.chunks, 1):
            row = {"height": packed.height, "number": number, "bytes": chunk}
            self._connection.execute(insert(chunks), row)
        row = {**msgspec.structs.asdict(packed), "chunks": len(packed.chunks)}
        self._connection.execute(insert(snapshots), row)
        heights = set(self._connection.scalars(select(snapshots.c.height)))
        self._delete(heights - kept_snapshots(heights))

    def newest(self, below: int, snapshot_format: int, options: str) -> FoundSnapshot:
        """Give the newest at a height or below it that is whole."""
        c = snapshots.c
        usable = (c.height <= below, c.format == snapshot_format, c.options == options)
        asked = select(snapshots).where(*usable).order_by(c.height.desc())
        damaged: list[int] = []
        for row in self._connection.execute(asked).all():
            data = self._data(row)
            if data is not None:
                found = Snapshot(row.height, row.format, row.options, data)
                return FoundSnapshot(found, damaged)
            damaged.append(row.height)
        return FoundSnapshot(None, damaged)

    def newest_height(self, below: int, snapshot_format: int, options: str) -> int | None:
        """Give the height of the newest at a height or below it."""
        c = snapshots.c
        usable = (c.height <= below, c.format == snapshot_format, c.options == options)
        height: int | None = self._connection.scalar(select(func.max(c.height)).where(*usable))
        return height

    def kept(self) -> list[KeptSnapshot]:
        """Give what is known of each."""
        c = snapshots.c
        stored = func.coalesce(func.sum(func.length(chunks.c.bytes)), 0)
        asked = (
            select(c.height, c.format, c.options, c.sha256, c.size, stored)
            .select_from(snapshots.outerjoin(chunks, chunks.c.height == c.height))
            .group_by(c.height, c.format, c.options, c.sha256, c.size)
            .order_by(c.height)
        )
        return [
            KeptSnapshot(*row[:-1], stored=int(row[-1])) for row in self._connection.execute(asked)
        ]

    def drop(self, above: int) -> int:
        """Delete those above a height."""
        asked = select(snapshots.c.height).where(snapshots.c.height > above)
        heights = set(self._connection.scalars(asked))
        self._delete(heights)
        return len(heights)

    def _data(self, row: Row[Any]) -> bytes | None:
        """Give the bytes of a snapshot, None when they are not what was hashed."""
        data = bytearray()
        for number in range(1, row.chunks + 1):
            place = (chunks.c.height == row.height, chunks.c.number == number)
            packed = self._connection.scalar(select(chunks.c.bytes).where(*place))
            try:
                data += _unpacked(packed or b"")
            except zlib.error:
                return None
        return bytes(data) if sha256(data).hexdigest() == row.sha256 else None

    def _delete(self, heights: set[int]) -> None:
        for height in sorted(heights):
            self._connection.execute(delete(chunks).where(chunks.c.height == height))
            self._connection.execute(delete(snapshots).where(snapshots.c.height == height))


def pack(snapshot: Snapshot) -> PackedSnapshot:
    """Compress a snapshot: seconds for a large one, so before the transaction that keeps it."""
    data = memoryview(snapshot.data)
    starts = range(0, len(data), CHUNK_BYTES)
    return PackedSnapshot(
        snapshot.height,
        snapshot.format,
        snapshot.options,
        sha256(data).hexdigest(),
        len(data),
        [zlib.compress(data[start : start + CHUNK_BYTES], LEVEL) for start in starts],
    )


def _unpacked(chunk: bytes) -> bytes:
    """Give the bytes of a chunk; raises `zlib.error` for what is none, or is longer than one."""
    opened = zlib.decompressobj()
    part = opened.decompress(chunk, CHUNK_BYTES)
    if opened.unconsumed_tail or not opened.eof:
        raise zlib.error("no whole chunk")
    return part
