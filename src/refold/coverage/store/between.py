"""What stands between stored receipts: pins, chains of `supersedes`, equivocation (F-34, Y-5).

`refold.coverage.compare` decides; here is only which ones are compared, and what is kept of it.
"""

import msgspec
from sqlalchemy import Connection, or_, select

from refold.coverage.compare import compare
from refold.coverage.record import Receipt
from refold.coverage.store import tables
from refold.coverage.store.model import Equivocal, Link, PinOf
from refold.db import insert_missing

__all__ = ["MAX_COMPARED", "Between"]

MAX_COMPARED = 32
"""Receipts of a signing window that a new one is compared with, the first ones: an honest writer
has one of them, and whoever floods a window shows it by any two."""

_R, _P, _E = tables.receipts.c, tables.pins.c, tables.equivocations.c


class Between:
    """As long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def pins(self, name: str, limit: int) -> list[PinOf]:
        """Give the pins that brought a receipt, in the order of the chain (P0-9)."""
        order = (_P.height.is_(None), _P.height, _P.pin)
        asked = select(_P.pin, _P.receipt, _P.writer, _P.height).where(_P.receipt == name)
        return [
            PinOf(*row) for row in self._connection.execute(asked.order_by(*order).limit(limit))
        ]

    def superseded(self, name: str, limit: int) -> list[Link]:
        """Give what a receipt supersedes, and what that one does, until there is nothing more."""
        links: list[Link] = []
        seen = {name}
        while len(links) < limit:
            pin = self._connection.scalar(select(_R.supersedes).where(_R.hash == name))
            if not pin:
                break
            earlier = self._connection.scalar(select(_P.receipt).where(_P.pin == pin)) or ""
            links.append(Link(pin, earlier, self._may(earlier, name, pin) if earlier else None))
            if not earlier or earlier in seen:
                break
            seen.add(earlier)
            name = earlier
        return links

    def superseding(self, name: str, limit: int) -> list[Link]:
        """Give the receipts that name one of the pins of this one, as they came."""
        asked = (
            select(_P.pin, _R.hash)
            .join(tables.receipts, _R.supersedes == _P.pin)
            .where(_P.receipt == name)
            .order_by(_R.number, _P.pin)
            .limit(limit)
        )
        rows = [(row.pin, row.hash) for row in self._connection.execute(asked)]
        return [Link(pin, later, self._may(name, later, pin)) for pin, later in rows]

    def equivocations(self, name: str, limit: int) -> list[Equivocal]:
        """Give the pairs that this receipt is in; those of two known writers are none."""
        asked = (
            select(tables.equivocations)
            .where(or_(_E.second == name, _E.first == name))
            .order_by(_E.second != name, _E.first, _E.second, _E.place)
            .limit(limit)
        )
        found = []
        for row in self._connection.execute(asked):
            same = self._same_writer(row.first, row.second)
            if same is not False:
                digests = (row.first_digest, row.second_digest)
                found.append(
                    Equivocal(
                        *(row.first, row.second, row.operator, row.locator, row.frame),
                        digests,
                        row.found_at,
                        same,
                    )
                )
        return found

    def compare(self, name: str, receipt: Receipt, now: str) -> None:
        """Compare a new receipt with those of its signing window, and keep what contradicts."""
        window = self._connection.scalar(select(_R.signing_window).where(_R.hash == name))
        if not window:
            return
        asked = select(_R.hash).where(_R.signing_window == window, _R.hash != name)
        earlier = self._connection.scalars(asked.order_by(_R.number).limit(MAX_COMPARED))
        rows = [
            {
                "first": first,
                "second": name,
                "place": place,
                "operator": one.operator,
                "locator": one.locator,
                "frame": one.frame,
                "first_digest": one.digests[0],
                "second_digest": one.digests[1],
                "found_at": now,
            }
            for first in earlier.all()
            if (known := self._receipt(first)) is not None
            for place, one in enumerate(compare(known, receipt).equivocations)
        ]
        insert_missing(self._connection, tables.equivocations, rows)

    def _may(self, earlier: str, later: str, pin: str) -> bool:
        """Tell whether a receipt may supersede the one behind a pin (F-34)."""
        first, second = self._receipt(earlier), self._receipt(later)
        if first is None or second is None:
            return False
        return compare(first, second, pin).may_supersede

    def _same_writer(self, first: str, second: str) -> bool | None:
        writers = [
            set(
                self._connection.scalars(
                    select(_P.writer).where(_P.receipt == name, _P.writer != "")
                )
            )
            for name in (first, second)
        ]
        if not all(writers):
            return None
        return bool(writers[0] & writers[1])

    def _receipt(self, name: str) -> Receipt | None:
        """Read a stored record; it was checked when it came, and checks take a while."""
        body = self._connection.scalar(
            select(tables.records.c.body).where(tables.records.c.hash == name)
        )
        return None if body is None else msgspec.json.decode(body, type=Receipt)
