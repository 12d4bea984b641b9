"""Routes of stored receipts: storing, finding, one with its history, what the operator hides."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
from sqlalchemy import Connection

from refold.coverage.api.asked import OfReceiptAsked, ReceiptAsked, ReceiptsAsked
from refold.coverage.api.codes import RECORD_CODES
from refold.coverage.api.desk import Desk, shown_receipt
from refold.coverage.api.limits import SHOWN_JUDGEMENTS, SHOWN_LINKS
from refold.coverage.api.model import (
    EquivocationShown,
    HiddenShown,
    JudgementShown,
    LinkShown,
    PinShown,
    ReceiptItem,
    ReceiptShown,
)
from refold.coverage.record import MAX_RECORD_BYTES
from refold.coverage.store import Store, StoredReceipt, open_store
from refold.coverage.store.model import Equivocal, Judged, Link, Wanted
from refold.kernel.errors import InputError
from refold.serving.answers import Answer, Page
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.operation import get, post
from refold.serving.reading import read_in_thread

__all__ = ["ReceiptsApi"]

_ONE = ("receipt-unknown", "receipt-withheld")
_T = TypeVar("_T")


class ReceiptsApi:
    """See the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @post(
        "/v1/coverage/receipts",
        summary="Store a receipt",
        codes=(
            *("store-many", "store-full", "receipt-withheld", "coverage-reading", "database-busy"),
            *RECORD_CODES,
        ),
        also=(201,),
        max_body=MAX_RECORD_BYTES,
    )
    async def store(self, body: bytes, call: Call) -> Answer[ReceiptItem]:
        """Store a valid record under its receiptHash: 201, or 200 for one that is here.

        It is verified soon, and again from time to time. Storing says nothing of its worth.
        """
        desk = self._desk
        stored = await desk.threads.run(desk.store, body, desk.asker(call.client))
        item = desk.inline(lambda store: _item(shown_receipt(store, stored.hash)))
        if not stored.is_new:
            return Answer(item)
        location = call.site.address(f"/v1/coverage/receipts/{stored.hash}")
        return Answer(item, status=201, headers=(("location", location),))

    @get("/v1/coverage/receipts", summary="List stored receipts", codes=("database-time-limit",))
    async def receipts(self, asked: ReceiptsAsked, call: Call) -> Page[ReceiptItem]:
        """Give receipts with the judgement of their last check, the last stored first."""
        before = call.place(asked, tuple[int])
        wanted = Wanted(
            asked.question,
            asked.kind,
            asked.query_hash,
            asked.claim,
            "" if asked.judgement == "NONE" else asked.judgement,
        )
        rows = await read_in_thread(
            call.site.searches,
            self._desk.database,
            lambda connection: open_store(connection).receipts.page(
                asked.limit + 1, before[0] if before else None, wanted
            ),
        )
        return call.page(asked, rows, keyset=lambda row: (row.number,), item=_item)

    @get(
        "/v1/coverage/receipts/{hash}",
        summary="Give a stored receipt",
        codes=(*_ONE, "database-time-limit"),
    )
    async def receipt(self, asked: ReceiptAsked, call: Call) -> ReceiptShown:
        """Give the record, its last judgements, its supersedes chain and who contradicts it."""

        def ask(connection: Connection) -> ReceiptShown:
            store = open_store(connection)
            return _whole(store, shown_receipt(store, asked.hash))

        # Each step of a chain compares two records, which may have a megabyte each.
        return await read_in_thread(call.site.searches, self._desk.database, ask)

    @get("/v1/coverage/receipts/{hash}/record", summary="Give the record as it came", codes=_ONE)
    def record(self, asked: ReceiptAsked) -> Answer[bytes]:
        """Give the bytes of the record, as they came first."""
        return Answer(
            self._of(asked.hash, lambda store, row: store.receipts.record(row.hash) or b"")
        )

    @get(
        "/v1/coverage/receipts/{hash}/report",
        summary="Give the report of the last check",
        codes=(*_ONE, "report-unknown"),
    )
    def report(self, asked: ReceiptAsked) -> Answer[bytes]:
        """Give the report of the last check, whoever asked for it."""

        def ask(store: Store, row: StoredReceipt) -> bytes:
            report = store.receipts.report(row.hash)
            if report is None:
                raise InputError("report-unknown", "it was not checked yet", "ask later", "/hash")
            return report

        return Answer(self._of(asked.hash, ask))

    @get(
        "/v1/coverage/receipts/{hash}/judgements",
        summary="List the changes of judgement of a receipt",
        codes=_ONE,
    )
    def judgements(self, asked: OfReceiptAsked, call: Call) -> Page[JudgementShown]:
        """Give each change with its reasons, the newest first. Checks without one are no items."""
        before = call.place(asked, tuple[int])
        rows = self._of(
            asked.hash,
            lambda store, row: store.receipts.judgements(
                row.hash, asked.limit + 1, before[0] if before else None
            ),
        )
        return call.page(asked, rows, keyset=lambda row: (row.number,), item=_judgement)

    @get("/v1/coverage/hidden", summary="List what the operator hides")
    def hidden(self, asked: ListAsked, call: Call) -> Page[HiddenShown]:
        """Give the receipts that are withheld from answers, and why."""
        after = call.place(asked, tuple[str])
        rows = self._desk.inline(
            lambda store: store.hiding.page(asked.limit + 1, after[0] if after else None)
        )
        return call.page(
            asked,
            rows,
            keyset=lambda row: (row.hash,),
            item=lambda row: HiddenShown(row.hash, row.reason, row.since),
        )

    def _of(self, name: str, question: Callable[[Store, StoredReceipt], _T]) -> _T:
        """Ask about a receipt that is here and shown."""
        return self._desk.inline(lambda store: question(store, shown_receipt(store, name)))


def _whole(store: Store, row: StoredReceipt) -> ReceiptShown:
    receipts, name = store.receipts, row.hash
    return ReceiptShown(
        receipt=_item(row),
        record=msgspec.Raw(receipts.record(name) or b"null"),
        pins=tuple(
            PinShown(pin.pin, pin.writer or None, pin.height)
            for pin in receipts.pins(name, SHOWN_LINKS)
        ),
        judgements=tuple(map(_judgement, receipts.judgements(name, SHOWN_JUDGEMENTS))),
        supersedes=tuple(map(_link, receipts.superseded(name, SHOWN_LINKS))),
        superseded_by=tuple(map(_link, receipts.superseding(name, SHOWN_LINKS))),
        equivocations=tuple(
            _equivocation(name, one) for one in receipts.equivocations(name, SHOWN_LINKS)
        ),
    )


def _item(row: StoredReceipt) -> ReceiptItem:
    return ReceiptItem(
        id=row.hash,
        question=row.question,
        claim=row.claim,
        kind=row.kind,
        query_hash=row.query_hash,
        as_of=row.as_of,
        valid_until=row.valid_until,
        judgement=row.judgement or None,
        coverage=row.coverage or None,
        since=row.judged_at or None,
        checked_at=row.checked_at or None,
        due_at=row.due_at,
        stored_at=row.stored_at,
        origin=row.origin,
        bytes=row.size,
    )


def _judgement(row: Judged) -> JudgementShown:
    return JudgementShown(str(row.number), row.judgement, row.coverage or None, row.reasons, row.at)


def _link(link: Link) -> LinkShown:
    return LinkShown(link.pin, link.receipt or None, link.may)


def _equivocation(name: str, row: Equivocal) -> EquivocationShown:
    """Give a pair from the side of one of the two."""
    is_first = row.first == name
    own, other = row.digests if is_first else row.digests[::-1]
    return EquivocationShown(
        receipt=row.second if is_first else row.first,
        operator=row.operator,
        locator=row.locator,
        frame=row.frame,
        digest=own,
        other_digest=other,
        same_writer=row.same_writer,
        found_at=row.found_at,
    )
