"""Pins that brought receipts, in the order of the chain: height, then pin id (P0-9).

asOf orders nothing: whoever wrote a later one would stand in front.
"""

from collections.abc import Collection

from sqlalchemy import Connection, delete, or_, select
from sqlalchemy.sql import and_

from refold.coverage.store.model import PinOf
from refold.coverage.store.tables import hidden, pins
from refold.db import one_of

__all__ = ["OnChain"]

_C = pins.c
_SHOWN = (_C.pin, _C.receipt, _C.writer, _C.height)


class OnChain:
    """As long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, ids: Collection[str]) -> dict[str, PinOf]:
        """Give those of some pins that brought a receipt, by id."""
        rows = self._connection.execute(
            select(*_SHOWN).where(one_of(self._connection, _C.pin, ids))
        )
        return {row.pin: PinOf(*row) for row in rows}

    def ids(self) -> list[str]:
        """Give the ids of all pins, sorted."""
        return list(self._connection.scalars(select(_C.pin).order_by(_C.pin)))

    def forget(self, ids: Collection[str]) -> int:
        """Take away pins that the chain has no more; their receipts stay. Give how many went."""
        asked = delete(pins).where(one_of(self._connection, _C.pin, ids))
        return self._connection.execute(asked).rowcount

    def confirmed(self, limit: int, after: tuple[int, str] | None = None) -> list[PinOf]:
        """Give pins in blocks, in the order of the chain, behind a height and pin id.

        Those of receipts that the operator withholds are left out.
        """
        asked = (
            select(*_SHOWN)
            .where(_C.height.is_not(None), _C.receipt.not_in(select(hidden.c.hash)))
            .order_by(_C.height, _C.pin)
            .limit(limit)
        )
        if after is not None:
            height, pin = after
            later = or_(_C.height > height, and_(_C.height == height, _C.pin > pin))
            asked = asked.where(later)
        return [PinOf(*row) for row in self._connection.execute(asked)]
