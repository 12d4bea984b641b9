"""What stands between stored receipts: pins, chains of `supersedes`, equivocation (F-34, Y-5).

`refold.coverage.compare` decides; here is only which ones are compared, and what is kept of it.
"""

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, exists, or_, select

from refold.coverage.compare import compare
from refold.coverage.record import Receipt
from refold.coverage.store import tables
from refold.coverage.store.model import Equivocal, Link, PinOf
from refold.db import insert_missing

__all__ = ["MAX_COMPARED", "Between"]

MAX_COMPARED = 32
"""Receipts of a signing window that a new one is compared with: the first ones, and as many of its
own writer. An honest writer has one of them, and whoever floods a window shows it by any two; one
that others flood does not hide what its writer says twice."""

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
        same = _one_writer()
        told = and_(_is_written(_E.first), _is_written(_E.second))
        asked = (
            select(tables.equivocations, same.label("same"))
            .where(or_(_E.second == name, _E.first == name), or_(same, ~told))
            .order_by(same.desc(), _E.second != name, _E.first, _E.second, _E.place)
            .limit(limit)
        )
        return [
            Equivocal(
                *(row.first, row.second, row.operator, row.locator, row.frame),
                digests=(row.first_digest, row.second_digest),
                found_at=row.found_at,
                same_writer=True if row.same else None,
            )
            for row in self._connection.execute(asked)
        ]

    def compare(self, name: str, receipt: Receipt, writer: str, now: str) -> None:
        """Compare a receipt with others of its signing window, and keep what contradicts.

        Those are the first ones, and the first of its writer, "" for one that nobody knows.
        """
        shown = select(_R.number, _R.signing_window)
        own = self._connection.execute(shown.where(_R.hash == name)).first()
        if own is None or not own.signing_window:
            return
        others = (_R.signing_window == own.signing_window, _R.hash != name)
        found = self._first(*others)
        if writer:
            his = exists().where(_P.receipt == _R.hash, _P.writer == writer)
            found |= self._first(*others, his)
        rows = [
            row
            for other, (number, known) in sorted(found.items())
            for row in (
                _contradictions((other, name), (known, receipt), now)
                if number < own.number
                else _contradictions((name, other), (receipt, known), now)
            )
        ]
        insert_missing(self._connection, tables.equivocations, rows)

    def _first(self, *which: ColumnElement[bool]) -> dict[str, tuple[int, Receipt]]:
        """Give the first receipts of some, by name, with their numbers."""
        bodies = tables.records.c
        asked = select(_R.hash, _R.number, bodies.body).join(tables.records, bodies.hash == _R.hash)
        rows = self._connection.execute(asked.where(*which).order_by(_R.number).limit(MAX_COMPARED))
        return {row.hash: (row.number, _read(row.body)) for row in rows}

    def _may(self, earlier: str, later: str, pin: str) -> bool:
        """Tell whether a receipt may supersede the one behind a pin (F-34)."""
        first, second = self._receipt(earlier), self._receipt(later)
        if first is None or second is None:
            return False
        return compare(first, second, pin).may_supersede

    def _receipt(self, name: str) -> Receipt | None:
        """Read a stored record; it was checked when it came, and checks take a while."""
        body = self._connection.scalar(
            select(tables.records.c.body).where(tables.records.c.hash == name)
        )
        return None if body is None else _read(body)


def _read(body: bytes) -> Receipt:
    return msgspec.json.decode(body, type=Receipt)


def _contradictions(
    names: tuple[str, str], receipts: tuple[Receipt, Receipt], now: str
) -> list[dict[str, str | int]]:
    """Give the rows of where two receipts contradict each other; the first was stored before."""
    return [
        {
            "first": names[0],
            "second": names[1],
            "place": place,
            "operator": one.operator,
            "locator": one.locator,
            "frame": one.frame,
            "first_digest": one.digests[0],
            "second_digest": one.digests[1],
            "found_at": now,
        }
        for place, one in enumerate(compare(*receipts).equivocations)
    ]


def _is_written(receipt: ColumnElement[str]) -> ColumnElement[bool]:
    """Ask whether the chain knows a writer of a receipt."""
    pins = tables.pins.alias()
    return exists().where(pins.c.receipt == receipt, pins.c.writer != "")


def _one_writer() -> ColumnElement[bool]:
    """Ask whether the chain knows one writer of both receipts of a pair."""
    one, other = tables.pins.alias(), tables.pins.alias()
    return exists().where(
        one.c.receipt == _E.first,
        other.c.receipt == _E.second,
        one.c.writer == other.c.writer,
        one.c.writer != "",
    )
