"""Routes of stored receipts in other forms, and of the pins that brought them."""

import msgspec

from refold.coverage.api.asked import ReceiptAsked
from refold.coverage.api.desk import Desk, shown_receipt
from refold.coverage.checks import validate
from refold.coverage.export import MEDIA_TYPES, Form, export, read_report
from refold.coverage.store import Store
from refold.coverage.store.model import PinOf
from refold.coverage.store.onchain import OnChain
from refold.serving.answers import Answer, Page
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.operation import get
from refold.serving.reading import read_in_thread

__all__ = ["ExportsApi", "PinItem"]

_ONE = ("receipt-unknown", "receipt-withheld")
_ANY_TIME = "9999-12-31T23:59:59Z"


class PinItem(msgspec.Struct, frozen=True, rename="camel"):
    """A pin in a block that brought a receipt; `id` is its own, `writer` null where nobody says."""

    id: str
    receipt_hash: str
    writer: str | None
    genesis_height: int


class ExportsApi:
    """See the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @get(
        "/v1/coverage/receipts/{hash}/statement",
        summary="Give a receipt as an in-toto statement",
        codes=_ONE,
        media_type=MEDIA_TYPES["intoto"],
    )
    async def statement(self, asked: ReceiptAsked) -> Answer[bytes]:
        """Give an unsigned statement whose subject is the receiptHash: to be signed by its reader.

        It says what the last check gave, if there was one.
        """
        return await self._exported("intoto", asked.hash)

    @get(
        "/v1/coverage/receipts/{hash}/sarif",
        summary="Give the last check of a receipt as SARIF",
        codes=_ONE,
        media_type=MEDIA_TYPES["sarif"],
    )
    async def sarif(self, asked: ReceiptAsked) -> Answer[bytes]:
        """Give a log (SARIF 2.1.0), as code hosts show it."""
        return await self._exported("sarif", asked.hash)

    @get(
        "/v1/coverage/receipts/{hash}/markdown",
        summary="Give a receipt as Markdown to paste",
        codes=_ONE,
        media_type=MEDIA_TYPES["markdown"],
    )
    async def markdown(self, asked: ReceiptAsked) -> Answer[bytes]:
        """Give claim, question, sources with their ends, hashes, and how to compute them again.

        Words of the writer stand in code spans, so that nothing in them becomes markup.
        """
        return await self._exported("markdown", asked.hash)

    @get(
        "/v1/coverage/pins",
        summary="List the pins that brought receipts",
        codes=("database-time-limit",),
    )
    async def pins(self, asked: ListAsked, call: Call) -> Page[PinItem]:
        """Give pins in blocks in the order of the chain: by height, then by pin id; never by asOf.

        A receipt that was pinned twice is here twice.
        """
        after = call.place(asked, tuple[int, str])
        rows = await read_in_thread(
            call.site.searches,
            self._desk.database,
            lambda connection: OnChain(connection).confirmed(asked.limit + 1, after),
        )
        return call.page(asked, rows, keyset=lambda row: (row.height, row.pin), item=_item)

    async def _exported(self, form: Form, name: str) -> Answer[bytes]:
        data, report = self._desk.inline(lambda store: _stored(store, name))
        told = await self._desk.threads.run(_export, form, name, data, report)
        return Answer(told, media_type=MEDIA_TYPES[form])


def _stored(store: Store, name: str) -> tuple[bytes, bytes | None]:
    """Give record and report of a receipt. Raises InputError `receipt-…`."""
    shown_receipt(store, name)
    return store.receipts.record(name) or b"", store.receipts.report(name)


def _export(form: Form, name: str, data: bytes, report: bytes | None) -> bytes:
    # What is stored was valid when it came, so its asOf is no matter of time.
    validation = validate(data, _ANY_TIME)
    known = None if report is None else read_report(report)
    if known is not None and known.receipt_hash != name:
        known = None
    return export(form, validation, _ANY_TIME, name=name, report=known)


def _item(row: PinOf) -> PinItem:
    return PinItem(row.pin, row.receipt, row.writer or None, row.height or 0)
