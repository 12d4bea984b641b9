"""What the indexers called MAN answer, read: list pages, details, heights. Bytes in, facts out.

An answer counts when its HTTP status is 200 *and* its envelope says code 1; neither alone is
believed (facts: metaid §3.3). What cannot be read is a SourceError, a TransientError where asking
again may help: `man-unreadable` (nothing, HTML, cut JSON), `man-shape` (JSON of another form),
`man-status`, `man-error` (the envelope says so); for good: `man-refused` (our question),
`man-no-route`, `man-other-pin`.
"""

import re

import msgspec

from refold.kernel.dial import TransientError
from refold.kernel.errors import SourceError, one_line
from refold.metaid.pin import MEMPOOL_HEIGHT, Row

SUCCESS = 1
NO_PIN = 100
"""Codes of the envelope: success, and `no pin found.`, which of a list is an error too."""

PIN_ID = re.compile("[0-9a-f]{64}i(?:0|[1-9][0-9]{0,9})")

_OK = 200
_NOT_FOUND = 404
_HEIGHT_SUFFIX = "_sync_height"


class NoRouteError(SourceError):
    """The server has no such route (`man-no-route`): another generation, or a proxy in between."""


class BrokenRow(msgspec.Struct, frozen=True):
    """An entry of a list that is no row of a pin; `id` is "" when it names none."""

    id: str
    why: str


class ListPage(msgspec.Struct, frozen=True):
    """One page of a list, as it was answered.

    `next_cursor` is "" when none was given, `total` None when not said (it is stale, and never to
    be trusted). `hidden` rows are known to be left out of this page. `body` is the whole answer.
    """

    rows: list[Row]
    broken: list[BrokenRow]
    next_cursor: str
    total: int | None
    body: bytes
    hidden: int = 0

    @property
    def listed(self) -> int:
        """How many entries the list has, those included that are no rows."""
        return len(self.rows) + len(self.broken)


class _Envelope(msgspec.Struct):
    code: int
    message: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")


class _List(msgspec.Struct, rename="camel"):
    list: list[Row] | None
    next_cursor: str = ""
    total: int | None = None


class _ListAnswer(msgspec.Struct):
    code: int
    data: _List | None = None


class _LooseList(msgspec.Struct, rename="camel"):
    list: list[msgspec.Raw] | None
    next_cursor: str | None = None
    total: object = None


class _Named(msgspec.Struct):
    id: str = ""


_UNREADABLE = (msgspec.MsgspecError, RecursionError)
_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_list_answer = msgspec.json.Decoder(_ListAnswer).decode
_decode_loose_list = msgspec.json.Decoder(_LooseList).decode
_decode_row = msgspec.json.Decoder(Row).decode
_decode_named = msgspec.json.Decoder(_Named).decode
_decode_members = msgspec.json.Decoder(dict[str, str | int | None]).decode

_decode_counts = msgspec.json.Decoder(dict[str, int]).decode


def is_mempool(row: Row) -> bool:
    """Tell whether a row is of a pin without a block."""
    return row.genesis_height <= MEMPOOL_HEIGHT


def read_page(where: str, status: int, body: bytes) -> ListPage:
    """Read a page of `/api/pin/path/list` or `/api/getAllPinByPath`.

    One entry that is no row costs no other. Raises the errors of the module.
    """
    if status == _OK:
        try:
            answer = _decode_list_answer(body)
        except _UNREADABLE:
            pass  # read again below, entry by entry, to say what is wrong
        else:
            if answer.code == SUCCESS and answer.data is not None:
                page = answer.data
                rows = page.list or []
                if all(map(_is_named, rows)):
                    return ListPage(rows, [], page.next_cursor, page.total, body)
    return _read_page_slowly(where, _opened(where, status, body), body)


def _read_page_slowly(where: str, data: msgspec.Raw, body: bytes) -> ListPage:
    try:
        page = _decode_loose_list(data)
    except _UNREADABLE as error:
        raise _shapeless(where, "no list of pins") from error
    rows: list[Row] = []
    broken: list[BrokenRow] = []
    for entry in page.list or ():
        row = _row_or_why(entry)
        if isinstance(row, Row):
            rows.append(row)
        else:
            broken.append(row)
    total = page.total if isinstance(page.total, int) else None
    return ListPage(rows, broken, page.next_cursor or "", total, body)


def _row_or_why(entry: msgspec.Raw) -> Row | BrokenRow:
    try:
        row = _decode_row(entry)
    except _UNREADABLE as error:
        why = str(error)
    else:
        if _is_named(row):
            return row
        why = "it names no pin"
    try:
        name = _decode_named(entry).id
    except _UNREADABLE:
        name = ""
    return BrokenRow(name if PIN_ID.fullmatch(name) else "", one_line(why))


def _is_named(row: Row) -> bool:
    return PIN_ID.fullmatch(row.id) is not None


def read_pin(where: str, status: int, body: bytes, pin_id: str) -> Row | None:
    """Read the answer of `/api/pin/<id>` or `/api/pin/ver/<id>/<n>`; None for a pin not known.

    Three answers say so (facts: metaid §3.3): a zero-valued pin with code 1, code 100 with status
    404, code 100 with status 200. For a fresh pin it means "not yet". Raises the errors of the
    module; `man-other-pin` where the answer is another pin's, as for an id of the old kind.
    """
    envelope = _envelope(where, status, body)
    if envelope.code == NO_PIN and status in {_OK, _NOT_FOUND}:
        return None
    try:
        row = _decode_row(_data(where, status, envelope))
    except _UNREADABLE as error:
        raise _shapeless(where, f"no pin ({one_line(str(error))})") from error
    if row.id not in {pin_id, ""}:
        raise SourceError(
            "man-other-pin",
            f"{where}: answers pin {one_line(row.id)}, asked for {pin_id}",
            "ask for that id",
        )
    return row if row.id else None


def read_heights(where: str, status: int, body: bytes) -> dict[str, int | None]:
    """Read the answer of `/debug/sync`: the height of each chain by name, None where not begun."""
    try:
        members = _decode_members(body) if status == _OK else {}
        heights = {
            name.removesuffix(_HEIGHT_SUFFIX): None if height in {None, ""} else int(height or 0)
            for name, height in members.items()
            if name.endswith(_HEIGHT_SUFFIX)
        }
    except (*_UNREADABLE, ValueError):
        heights = {}
    if not heights:
        _opened(where, status, body)  # says what it is, where it is nothing that one can read
        raise _shapeless(where, "no heights")
    return heights


def read_counts(where: str, status: int, body: bytes) -> dict[str, int]:
    """Read the answer of `/debug/count`: what the indexer counts, by name (`pin`, `block` …)."""
    try:
        counts = _decode_counts(body) if status == _OK else {}
    except _UNREADABLE:
        counts = {}
    if not counts:
        _opened(where, status, body)  # says what it is, where it is nothing that one can read
        raise _shapeless(where, "no counts")
    return counts


def _opened(where: str, status: int, body: bytes) -> msgspec.Raw:
    return _data(where, status, _envelope(where, status, body))


def _envelope(where: str, status: int, body: bytes) -> _Envelope:
    """Give the envelope of an answer, of any code."""
    try:
        return _decode_envelope(body)
    except _UNREADABLE as error:
        raise no_envelope(where, status, body) from error


def no_envelope(where: str, status: int, body: bytes) -> SourceError:
    """Give the error for an answer that is none of the indexer's own."""
    if status == _NOT_FOUND:
        return NoRouteError(
            "man-no-route", f"{where}: no such route", "check the address of the indexer"
        )
    if status != _OK:
        return TransientError("man-status", f"{where}: status {status}", "try again later")
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except _UNREADABLE:
        what = "is no JSON" if body.strip() else "is empty"
        return TransientError("man-unreadable", f"{where}: the answer {what}", "try again later")
    return _shapeless(where, "JSON without a code")


def _data(where: str, status: int, envelope: _Envelope) -> msgspec.Raw:
    """Give what a successful answer holds; an error for every other."""
    if envelope.code == SUCCESS and status == _OK:
        return envelope.data
    if envelope.code == SUCCESS:
        raise TransientError("man-status", f"{where}: status {status}", "try again later")
    said = f"{where}: code {envelope.code}, {one_line(envelope.message) or 'no message'}"
    if "parameter" in envelope.message.lower():
        raise SourceError("man-refused", said, "check path and size")
    raise TransientError("man-error", said, "try again later")


def _shapeless(where: str, what: str) -> TransientError:
    return TransientError("man-shape", f"{where}: the answer is {what}", "try again later")
