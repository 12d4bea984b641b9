"""Pins that are no receipts, remembered: spam at the path costs the indexer no request each round.

Nothing is remembered that another moment, indexer or version of the rules might see otherwise,
but for a week, and from the one who said it: see `Refusals.of`.
"""

from collections.abc import Collection
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, func, or_, select

from refold.coverage.store.tables import refused
from refold.db import one_of, put

__all__ = ["MAX_REFUSED", "REFUSED_SECONDS", "Reader", "Refusals"]

REFUSED_SECONDS: Final = 7 * 86_400
"""For which a refused pin is not read again: an indexer may be mended meanwhile."""
MAX_REFUSED: Final = 1_000_000
"""Pins that are remembered, some 150 MB: each has cost somebody a fee. Others are read again."""

_C = refused.c


class Reader(msgspec.Struct, frozen=True):
    """Who reads: from which indexer, by the rules of which version, and whether it proves bytes."""

    indexer: str
    version: str
    proves: bool


class Refusals:
    """As long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, ids: Collection[str], reader: Reader, since: str, now: str) -> dict[str, int]:
        """Give those of some pins that need no reading, with their heights.

        They were refused from `since` to `now` under the same rules, over proved bytes; or over
        those of the same indexer, unless this time bytes are proved.
        """
        whose = _C.proved == 1
        if not reader.proves:
            whose = or_(whose, _C.indexer == reader.indexer)
        asked = select(_C.pin, _C.height).where(
            one_of(self._connection, _C.pin, ids),
            _C.version == reader.version,
            _C.at >= since,
            _C.at <= now,
            whose,
        )
        return {row.pin: row.height for row in self._connection.execute(asked)}

    def remember(self, pins: Collection[tuple[str, int]], reader: Reader, now: str) -> None:
        """Remember pins and their heights, as long as there is room."""
        room = MAX_REFUSED - (
            self._connection.scalar(select(func.count()).select_from(refused)) or 0
        )
        rows = [
            {
                "pin": pin,
                "height": height,
                "indexer": reader.indexer,
                "version": reader.version,
                "proved": int(reader.proves),
                "at": now,
            }
            for pin, height in pins
        ]
        put(self._connection, refused, rows[: max(0, room)])

    def forget(self, ids: Collection[str]) -> None:
        """Forget pins that turned out to be receipts."""
        self._connection.execute(delete(refused).where(one_of(self._connection, _C.pin, ids)))

    def prune(self, before: str) -> None:
        """Forget what was read too long ago."""
        self._connection.execute(delete(refused).where(_C.at < before))
