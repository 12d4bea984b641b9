"""Pins with the body that was pinned first, whatever the list shows of it.

A list may cut bodies without a word, and anybody may put another body in place of one (facts:
metaid §3.6, §3.7). So a body is taken from a row only when it is provably whole and nobody modified
the pin; else from the detail, then from version 0, then from the raw transaction. What none of them
gives is `Missing`, with the reason.

One doubt remains. The indexers keep a first body only if it is not empty: modify a pin that was
empty, and at the next modify they keep the modifier's body as the first. So whoever pins nothing
today could say tomorrow what he pinned today. Where the first body they name is also that of a
modify, only the raw transaction can tell; without one the pin is given, and listed as doubtful.
"""

from base64 import b64decode
from binascii import Error as Base64Error

import msgspec

from refold.kernel.errors import InputError, RefoldError, SourceError
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.man.client import ManClient
from refold.metaid.man.rows import NoRouteError, is_mempool
from refold.metaid.pin import PLAIN, Pin, Row, is_modified, pin_of_row
from refold.metaid.rawtx import RawTxs
from refold.metaid.tx import parse_tx

MAX_MODIFIES = 10
"""Modify pins of one pin that are compared with its first body; with more the pin is doubtful."""

_FETCHED_FOR = frozenset({"body-cut", "body-replaced", "body-unreadable"})
_STAND_IN = "AA=="


class Missing(msgspec.Struct, frozen=True, rename="camel"):
    """A pin that is listed, and could not be read: its height (None: mempool, or not said) and why.

    `code` is of `bodies`, `pin`, `rows`, `rawtx` or of the transport: `pin-unknown`,
    `copies-differ`, `body-cut`, `body-replaced`, `man-error` …
    """

    id: str
    height: int | None
    code: str
    message: str


class Bodies:
    """Reads pins through an indexer, and a source of raw transactions where there is one.

    `doubtful` collects the ids of pins whose first body is only the indexer's word. Threads may
    share it.
    """

    def __init__(self, man: ManClient, txs: RawTxs | None = None) -> None:
        self.doubtful: set[str] = set()
        self._man = man
        self._txs = txs

    def of_row(self, row: Row) -> Pin | None:
        """Give the pin that a row of a list holds, whole and never modified; None for any other."""
        if self._may_be_modified(row):
            return None  # a list may cut the first body too, and nothing says how long it is
        try:
            return pin_of_row(row)
        except InputError:
            return None

    def fetch(self, pin_id: str, row: Row | None = None) -> Pin | Missing:
        """Give the pin by its detail and what else it takes; `row` is what a list said of it."""
        try:
            return self._fetch(pin_id, row)
        except RefoldError as error:
            height = None if row is None or is_mempool(row) else row.genesis_height
            return Missing(pin_id, height, error.code, error.message)

    def _fetch(self, pin_id: str, row: Row | None) -> Pin:
        detail = self._man.pin(pin_id)
        if detail is None:
            raise SourceError("pin-unknown", f"the indexer knows no pin {pin_id}")
        if row is not None and not _is_same(row, detail):
            raise SourceError("copies-differ", f"list and detail of pin {pin_id} name two pins")
        return self.of_detail(detail)

    def of_detail(self, detail: Row) -> Pin:
        """Give the pin that the answer of `/api/pin/<id>` is about.

        Raises `InputError` as `pin_of_row`, where nothing else has the body either, and
        `SourceError`.
        """
        try:
            pin = self._by_indexer(detail)
        except InputError as error:
            proven = self.by_chain(detail) if error.code in _FETCHED_FOR else None
            if proven is None:
                raise
            return proven
        if not self._may_be_modified(detail) or self._is_settled(detail, pin.body):
            return pin
        try:
            proven = self.by_chain(detail)
        except RefoldError:
            proven = None
        if proven is None:
            self.doubtful.add(detail.id)
        return proven or pin

    def by_chain(self, detail: Row) -> Pin | None:
        """Give the pin as its transaction says it; None without a source, or if that has none.

        Raises `InputError` and `SourceError` as `RawTxs.raw`.
        """
        raw = self._txs.raw(detail.id.partition("i")[0]) if self._txs is not None else None
        found = pin_of_tx(parse_tx(raw)) if raw is not None else None
        if found is None or detail.id not in {found.id, found.alias}:
            return None
        pin = _with_body(detail, found.envelope.payload)
        return msgspec.structs.replace(pin, content_type=found.envelope.content_type)

    def _may_be_modified(self, row: Row) -> bool:
        """Tell whether a row shows, or could show, a later body.

        The first generation lists no history, so its revoked rows may have been modified before.
        """
        return is_modified(row) or (self._man.generation == "v1" and row.status != PLAIN)

    def _by_indexer(self, detail: Row) -> Pin:
        """Give the pin of a detail, with version 0 where the detail lacks the first body."""
        try:
            return self._shown(detail)
        except InputError as error:
            version = self._version_0(detail.id) if error.code == "body-replaced" else None
            body = version and (version.original_content_body or version.content_body)
            if not body:
                raise
        return _with_body(detail, _decoded(detail, body))

    def _shown(self, detail: Row) -> Pin:
        if self._may_be_modified(detail) and not is_modified(detail):
            raise InputError("body-replaced", f"pin {detail.id} may have been modified")
        return pin_of_row(detail)

    def _version_0(self, pin_id: str) -> Row | None:
        try:
            return self._man.version(pin_id)
        except NoRouteError:
            return None

    def _is_settled(self, detail: Row, body: bytes) -> bool:
        """Tell whether the first body that the indexer names is not that of a modify."""
        modifies = (detail.modify_history or [])[1:]
        if not modifies or len(modifies) > MAX_MODIFIES:
            return False
        try:
            return all(
                modify is not None and pin_of_row(modify).body != body
                for modify in map(self._man.pin, modifies)
            )
        except RefoldError:
            return False


def _is_same(row: Row, detail: Row) -> bool:
    """Tell whether two rows agree in what no later event changes of a pin."""
    creators = {row.creator, detail.creator} - {""}
    return row.path == detail.path and len(creators) < 2


def _with_body(row: Row, body: bytes) -> Pin:
    """Give the pin of a row that lacks its body."""
    stand_in = msgspec.structs.replace(row, original_content_body=_STAND_IN)
    return msgspec.structs.replace(pin_of_row(stand_in), body=body)


def _decoded(row: Row, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError) as error:
        raise InputError(
            "body-unreadable", f"version 0 of pin {row.id} is no base64", "fetch the pin again"
        ) from error
