"""Receipts in tables: storing, judging, lists. What stands between two of them is in `between`."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Select, exists, func, select, update

from refold.coverage.checks import Validation, validate
from refold.coverage.record import Receipt
from refold.coverage.report import Report
from refold.coverage.store import tables
from refold.coverage.store.between import Between
from refold.coverage.store.model import (
    Equivocal,
    Judged,
    Link,
    Origin,
    PinOf,
    Stored,
    StoredReceipt,
    Totals,
    Wanted,
)
from refold.coverage.text import folded
from refold.db import insert_missing, put
from refold.kernel.canon import digest
from refold.kernel.errors import InputError

__all__ = ["MAX_BYTES", "MAX_RECEIPTS", "SqlReceipts"]

MAX_RECEIPTS = 100_000
"""Receipts that are stored: verifying each of them again every two days takes a node's pace."""
MAX_BYTES = 2 * 1024**3
"""Bytes of their records: strangers may fill no more of a disk than this."""

_C = tables.receipts.c
_SHOWN = tuple(_C[name] for name in StoredReceipt.__struct_fields__)


class SqlReceipts:
    """See `interface.Receipts`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._between = Between(connection)

    def put(self, data: bytes, now: str, origin: Origin) -> Stored:
        """See the interface."""
        return self.put_valid(validate(data, now), data, now, origin)

    def put_valid(self, valid: Validation, data: bytes, now: str, origin: Origin) -> Stored:
        """See the interface."""
        receipt, name = valid.receipt, valid.receipt_hash
        if receipt is None:
            raise InputError.of(valid.errors)
        is_new = self.get(name) is None
        if is_new:
            self._insert(name, receipt, data, now, origin)
        if origin.pin:
            row = {"pin": origin.pin, "receipt": name}
            put(
                self._connection,
                tables.pins,
                [{**row, "writer": origin.writer, "height": origin.height}],
            )
        if is_new or origin.writer:
            self._between.compare(name, receipt, origin.writer, now)
        return Stored(name, is_new, receipt)

    def get(self, name: str) -> StoredReceipt | None:
        """See the interface."""
        rows = self._rows(select(*_SHOWN).where(_C.hash == name))
        return rows[0] if rows else None

    def record(self, name: str) -> bytes | None:
        """See the interface."""
        c = tables.records.c
        return self._connection.scalar(select(c.body).where(c.hash == name))

    def report(self, name: str) -> bytes | None:
        """See the interface."""
        c = tables.reports.c
        return self._connection.scalar(select(c.body).where(c.receipt == name))

    def page(
        self, limit: int, before: int | None = None, wanted: Wanted | None = None
    ) -> list[StoredReceipt]:
        """See the interface."""
        asked = select(*_SHOWN).where(~exists().where(tables.hidden.c.hash == _C.hash))
        wanted = wanted or Wanted()
        for name in ("kind", "query_hash", "claim", "judgement"):
            value = getattr(wanted, name)
            if value is not None:
                asked = asked.where(_C[name] == value)
        if wanted.text:
            # Both give the place, from 1, at which a text stands in another, 0 for nowhere.
            place = func.instr if self._connection.dialect.name == "sqlite" else func.strpos
            asked = asked.where(place(_C.asked, _searched(wanted.text)) > 0)
        if before is not None:
            asked = asked.where(_C.number < before)
        return self._rows(asked.order_by(_C.number.desc()).limit(limit))

    def judgements(self, name: str, limit: int, before: int | None = None) -> list[Judged]:
        """See the interface."""
        c = tables.judgements.c
        columns = (c.number, c.judgement, c.coverage, c.reasons, c.at)
        asked = select(*columns).where(c.receipt == name).order_by(c.number.desc()).limit(limit)
        if before is not None:
            asked = asked.where(c.number < before)
        return [
            Judged(number, judgement, coverage, tuple(reasons.split()), at)
            for number, judgement, coverage, reasons, at in self._connection.execute(asked)
        ]

    def pins(self, name: str, limit: int) -> list[PinOf]:
        """See the interface."""
        return self._between.pins(name, limit)

    def superseded(self, name: str, limit: int) -> list[Link]:
        """See the interface."""
        return self._between.superseded(name, limit)

    def superseding(self, name: str, limit: int) -> list[Link]:
        """See the interface."""
        return self._between.superseding(name, limit)

    def equivocations(self, name: str, limit: int) -> list[Equivocal]:
        """See the interface."""
        return self._between.equivocations(name, limit)

    def judged(self, name: str, report: Report, due_at: str | None, *, away: bool) -> Judged | None:
        """See the interface."""
        known = self.get(name)
        if known is None:
            return None
        change = None
        if report.judgement != known.judgement:
            last = self.judgements(name, 1)
            number = last[0].number + 1 if last else 1
            coverage, reasons = report.coverage or "", reasons_of(report)
            change = Judged(number, report.judgement, coverage, reasons, report.now)
            row = {
                "receipt": name,
                "number": number,
                "judgement": change.judgement,
                "coverage": change.coverage,
                "reasons": " ".join(change.reasons),
                "at": change.at,
            }
            self._connection.execute(tables.judgements.insert(), row)
        self._connection.execute(
            update(tables.receipts)
            .where(_C.hash == name)
            .values(
                judgement=report.judgement,
                coverage=report.coverage or "",
                judged_at=known.judged_at if change is None else change.at,
                checked_at=report.now,
                failures=known.failures + 1 if away else 0,
                due_at=due_at,
            )
        )
        put(
            self._connection,
            tables.reports,
            [{"receipt": name, "body": msgspec.json.encode(report)}],
        )
        return change

    def due(self, now: str, limit: int) -> list[StoredReceipt]:
        """See the interface."""
        busy = exists().where(tables.jobs.c.running == _C.hash)
        asked = select(*_SHOWN).where(_C.due_at <= now, ~busy)
        return self._rows(asked.order_by(_C.due_at, _C.number).limit(limit))

    def next_due(self) -> str | None:
        """See the interface."""
        due: str | None = self._connection.scalar(select(func.min(_C.due_at)))
        return due

    def check_again(self, checked_after: str, now: str) -> int:
        """See the interface."""
        ahead = (_C.checked_at > checked_after, _C.due_at > now)
        return self._connection.execute(
            update(tables.receipts).where(*ahead).values(due_at=now)
        ).rowcount

    def postpone(self, name: str, due_at: str | None) -> None:
        """See the interface."""
        self._connection.execute(
            update(tables.receipts).where(_C.hash == name).values(due_at=due_at)
        )

    def totals(self) -> Totals:
        """See the interface."""
        c = tables.totals.c
        row = self._connection.execute(select(c.receipts, c.bytes)).first()
        return Totals(0, 0) if row is None else Totals(*row)

    def _insert(self, name: str, receipt: Receipt, data: bytes, now: str, origin: Origin) -> None:
        held = self.totals()
        if held.receipts >= MAX_RECEIPTS or held.bytes + len(data) > MAX_BYTES:
            raise InputError("store-full", "no more receipts are stored here", "ask another node")
        insert_missing(self._connection, tables.records, [{"hash": name, "body": data}])
        last = self._connection.scalar(select(func.max(_C.number))) or 0
        row = {
            "hash": name,
            "number": last + 1,
            "size": len(data),
            "stored_at": now,
            "origin": origin.kind,
            "claim": receipt.claim,
            "kind": receipt.corpus.kind,
            "question": receipt.question,
            "asked": _searched(receipt.question),
            "query_hash": receipt.query.query_hash,
            "as_of": receipt.corpus.as_of,
            "valid_until": receipt.valid_until,
            "supersedes": receipt.supersedes,
            "signing_window": _window(receipt),
            "judgement": "",
            "coverage": "",
            "judged_at": "",
            "checked_at": "",
            "failures": 0,
            # A pin's asOf is judged by its block, whose time may run ahead of ours.
            "due_at": max(now, receipt.corpus.as_of),
        }
        self._connection.execute(tables.receipts.insert(), row)
        total = {"id": 1, "receipts": held.receipts + 1, "bytes": held.bytes + len(data)}
        put(self._connection, tables.totals, [total])

    def _rows(self, asked: Select[Any]) -> list[StoredReceipt]:
        return [StoredReceipt(*row) for row in self._connection.execute(asked)]


def reasons_of(report: Report) -> tuple[str, ...]:
    """Give the reasons of a judgement: its own, then those of its units, then how units moved.

    A check that found nothing to say gives none.
    """
    units = [reason for unit in report.units for reason in unit.reasons]
    drifts = [unit.drift for unit in report.units if unit.drift]
    return tuple(dict.fromkeys((*report.reasons, *units, *drifts)))


def _searched(text: str) -> str:
    """Give a text as it is searched: folded; no database of ours takes U+0000."""
    return folded(text).replace("\0", "\ufffd")


def _window(receipt: Receipt) -> str:
    """Give the name of a signing window: receipts in one may show that their writer equivocates."""
    block = receipt.consensus
    if block is None:
        return ""
    recipes = [[unit.id, msgspec.to_builtins(unit.replay)] for unit in receipt.corpus.units]
    return digest([receipt.query.query_hash, recipes, block.epoch_basis, block.epoch])
