"""Rows and details of a MAN indexer as a walk over pins reads them: strictly, nothing assumed.

An answer counts when its status is 200, its envelope says code 1 and its data is an object; an
error is never an empty list. Source: coverage spec §5.5 R-7; facts: metaid §3.3 to §3.5.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from refold.coverage.match import resolve
from refold.coverage.record import MvcPins
from refold.coverage.strictjson import StrictJsonError, read_page, strip_bom
from refold.coverage.walk.page import Json, PageError
from refold.kernel.canon import sha256_hex

__all__ = ["Detail", "Filter", "PinPage", "block_time", "identities", "read_detail", "read_list"]

_SUCCESS = 1
_ABSENT = object()


class PinPage(msgspec.Struct, frozen=True):
    """One page of a list: its rows, each with an id, and the cursor of the next, "" for none."""

    rows: tuple[dict[str, Json], ...]
    next_cursor: str


class Detail(msgspec.Struct, frozen=True):
    """What the detail of a pin adds.

    `digest` is of the body that was pinned first, `doc` that body as JSON, None where it is none
    (`is_json`). `block_time` is that of the pin's block, None in the mempool.
    """

    digest: str
    block_time: int | None
    doc: Any
    is_json: bool


class Filter:
    """The filter of F-17: equality on fields of rows and bodies, done here and never by a server.

    `unseen` are keys that no row or body had so far.
    """

    def __init__(self, members: Mapping[str, str]) -> None:
        self.unseen = dict.fromkeys(members)
        self._parts = [(key, key.split("."), wanted) for key, wanted in members.items()]

    @property
    def reads_doc(self) -> bool:
        """Whether a key is about bodies."""
        return any(_is_doc(key) for key, _, _ in self._parts)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, in their order."""
        return tuple(key for key, _, _ in self._parts)

    def passes(self, item: Mapping[str, Json], *, doc: bool) -> bool:
        """Tell whether an item has what the keys about rows (`doc`: about bodies) want of it."""
        passes = True
        for key, steps, wanted in self._parts:
            if _is_doc(key) != doc:
                continue
            values = resolve(item, steps)
            if values:
                self.unseen.pop(key, None)
            passes = passes and any(_as_text(value) == wanted for value in values)
        return passes


def read_list(body: bytes) -> PinPage:
    """Read a page of `/api/pin/path/list`; raises PageError."""
    data = _data(body)
    rows, cursor = data.get("list", _ABSENT), data.get("nextCursor")
    if type(cursor) is not str:
        raise PageError("source_error", "a list without nextCursor")
    if rows is None and not cursor:
        rows = []
    if type(rows) is not list:
        raise PageError("array_path_missing", "data.list is no list")
    for row in rows:
        if type(row) is not dict or type(row.get("id")) is not str or not row["id"]:
            raise PageError("item_without_id", "a row names no pin")
    return PinPage(tuple(rows), cursor)


def read_detail(body: bytes, pin_id: str) -> Detail:
    """Read the answer of `/api/pin/<id>`; raises PageError `detail_mismatch` for any other pin's.

    The body is the first one that was pinned: after a modify the other member holds the modifier's.
    """
    try:
        data = _data(body)
    except PageError as error:
        raise PageError("detail_mismatch", error.why) from error
    if data.get("id") != pin_id:
        raise PageError("detail_mismatch", "the detail is of no such pin")
    raw = _decoded(data.get("originalContentBody")) or _decoded(data.get("contentBody"))
    length = data.get("contentLength")
    if not raw and type(length) is int and length > 0:
        raise PageError("detail_mismatch", f"the body is empty, and should have {length} bytes")
    try:
        doc, is_json = read_page(strip_bom(raw)[0]), True
    except StrictJsonError:
        doc, is_json = None, False
    return Detail(sha256_hex(raw), block_time(data), doc, is_json)


def identities(row: Mapping[str, Json], replay: MvcPins) -> Iterator[str]:
    """Give the ids that a row stands for, its own first (F-16d); raises PageError."""
    yield row["id"]
    history = row.get("modify_history")
    if replay.dedupe == "NONE" or history is None:
        return
    if type(history) is not list or not all(type(name) is str and name for name in history):
        raise PageError("source_error", "a modify_history is no list of ids")
    yield from history


def block_time(row: Mapping[str, Json]) -> int | None:
    """Give the time of the block that confirmed the pin of a row, None if the row names none."""
    height, timestamp = row.get("genesisHeight"), row.get("timestamp")
    confirmed = type(height) is int and height > 0
    return timestamp if confirmed and type(timestamp) is int else None


def status_of(row: Mapping[str, Json]) -> str:
    """Give the status of a row as text, "" where it has none."""
    return _as_text(row["status"]) or "" if "status" in row else ""


def _data(body: bytes) -> dict[str, Json]:
    """Give the data of an answer that is a success."""
    try:
        answer = read_page(strip_bom(body)[0])
    except StrictJsonError as error:
        raise PageError(error.reason, str(error)) from error
    if type(answer) is not dict or "code" not in answer:
        raise PageError("source_error", "JSON without a code")
    code, data = answer["code"], answer.get("data")
    if type(code) not in {int, Decimal} or code != _SUCCESS:
        raise PageError("source_error", f"code {_as_text(code)}: {answer.get('message')}")
    if type(data) is not dict:
        raise PageError("source_error", "code 1, and no data")
    return data


def _decoded(text: Json) -> bytes:
    """Give the bytes behind base64, b"" for a member that is null, empty or missing."""
    if text is None or text == "":
        return b""
    try:
        return b64decode(text, validate=True)
    except (TypeError, ValueError, Base64Error) as error:
        raise PageError("detail_mismatch", "a body is no base64") from error


def _as_text(value: Json) -> str | None:
    """Give a scalar of JSON as the text that filters compare, None for an array or an object."""
    if type(value) is str:
        return value
    if value is None or type(value) is bool:
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if type(value) in {int, Decimal} else None


def _is_doc(key: str) -> bool:
    return key == "doc" or key.startswith("doc.")
