"""A pin as the indexer finds it in its tables."""

from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import Row

from refold.metaid.devnet.record import Record, decode_record


class Found(msgspec.Struct, frozen=True):
    """A record with the place it has now.

    `height` is -1 in the mempool, where `tx_index` is 0 and `time` the time of arrival. `seen` is
    when the indexer first met the pin, in Unix seconds. `key` is the index key it was found under,
    "" outside of lists.
    """

    record: Record
    height: int
    tx_index: int
    time: int
    seen: int
    place: str
    root: str | None
    key: str = ""


def found_of(row: Row[Any], key: str = "") -> Found:
    """Read a row of `PINS`, all columns of it."""
    return Found(
        record=decode_record(row.record),
        height=row.height,
        tx_index=int(row.place.partition("&")[2]) if row.height >= 0 else 0,
        time=row.time,
        seen=row.seen or row.time,
        place=row.place,
        root=row.root,
        key=key,
    )


def drawn(percent: int, *words: str) -> bool:
    """Tell whether this thing is one of so many percent: by lot, and the same every time."""
    return percent > int.from_bytes(sha256(" ".join(words).encode()).digest()[:4], "big") % 100
