"""Rows of the MAN API, member by member and in the order of the real ones (facts: metaid §3.5)."""

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha512

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.devnet.detect import detected_type
from refold.metaid.devnet.found import Found, drawn
from refold.metaid.devnet.modify import Shown
from refold.metaid.devnet.quirks import Quirks
from refold.metaid.globalmetaid import globalmetaid_of, metaid_of

Json = dict[str, object]

PREVIEW_BYTES = 4_096
"""Bytes of a body that lists show since September 2026."""
SHORT_PREVIEW_BYTES = 150
"""Bytes of a text body that the first generation shows; `originalContentSummary` still does."""
V1_LACKS = (
    *("createMetaId", "globalMetaId", "seenTime", "contentTypeDetect", "originalContentBody"),
    *("originalContentSummary", "host", "blocked", "is_recommended", "modify_history"),
)
"""Members that the first generation does not give."""

_UINT32 = 1 << 32
_POP_DIGITS = 166
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class View(msgspec.Struct, frozen=True):
    """Where a row is shown: under which quirks, at which server, in a list, with links to it."""

    quirks: Quirks
    base_url: str
    in_list: bool = True
    links: bool = True


def full_row(pin: Found, shows: Shown, view: View) -> Json:
    """Give the row of a pin, in a list or alone."""
    row = _who(pin, view) | _where(pin, view) | _envelope(pin, shows) | _bodies(pin, shows, view)
    row |= _rest(pin, shows, view)
    if view.quirks.generation == "v1":
        return {name: value for name, value in row.items() if name not in V1_LACKS}
    return row


def creator_of(pin: Found, quirks: Quirks) -> str:
    """Give the address that a row names as the creator."""
    record = pin.record
    return record.owner if quirks.creator == "output" or not record.payer else record.payer


@lru_cache(maxsize=4_096)
def globalmetaid_or_nothing(address: str) -> str:
    """Give the globalMetaId of an address, "" for a text that is none, as the indexers do."""
    try:
        return globalmetaid_of(address)
    except InputError:
        return ""


def _who(pin: Found, view: View) -> Json:
    record, creator = pin.record, creator_of(pin, view.quirks)
    missing = view.quirks.globalmetaid_missing
    return {
        "id": record.id,
        "number": -1 if pin.height < 0 else 0,
        "metaid": metaid_of(record.owner),
        "address": record.owner,
        "creator": creator,
        "createMetaId": metaid_of(creator),
        "globalMetaId": "" if missing else globalmetaid_or_nothing(creator),
        "initialOwner": record.owner,
    }


def _where(pin: Found, view: View) -> Json:
    record, unit = pin.record, 1_000 if view.quirks.milliseconds else 1
    output = f"{record.txid}:{record.owner_index}"
    return {
        "output": output,
        "outputValue": record.owner_value,
        "timestamp": pin.time * unit,
        "seenTime": pin.seen * unit,
        "genesisFee": 0,
        "genesisHeight": pin.height,
        "genesisTransaction": record.txid,
        "txIndex": pin.tx_index,
        "txInIndex": (record.data_index - 1) % _UINT32,
        "offset": record.owner_index,
        "location": f"{output}:0",
    }


def _envelope(pin: Found, shows: Shown) -> Json:
    record = pin.record
    return {
        "operation": record.operation,
        "path": record.path,
        "parentPath": record.original_path.rpartition("/")[0],
        "originalPath": record.original_path,
        "encryption": record.encryption,
        "version": record.version,
        "contentType": shows.content_type,
        "contentTypeDetect": detected_type(shows.body),
    }


def _bodies(pin: Found, shows: Shown, view: View) -> Json:
    quirks, body = view.quirks, shows.body
    first = None if quirks.original_body_missing else shows.first_body
    in_full = not view.in_list or quirks.list_body in {"base64", "v1"}
    held = holds_body(pin, quirks)
    return {
        "contentBody": b64encode(body).decode() if in_full and held else "",
        "contentLength": len(body),
        "contentSummary": _summary(pin, body, view) if held else "",
        "originalContentBody": None if first is None else b64encode(first).decode(),
        "originalContentSummary": ""
        if first is None
        else cut_text(first, SHORT_PREVIEW_BYTES, quirks),
    }


def holds_body(pin: Found, quirks: Quirks) -> bool:
    """Tell whether the node has the body of a pin."""
    return not drawn(quirks.metadata_only, "metadata only", pin.record.id)


def _summary(pin: Found, body: bytes, view: View) -> str:
    form = view.quirks.list_body
    if form == "v1":
        is_text = detected_type(body).startswith("text/")
        name = f"/content/{pin.record.id}"
        return cut_text(body, SHORT_PREVIEW_BYTES, view.quirks) if is_text else name
    if form == "preview" and view.in_list:
        return cut_text(body, PREVIEW_BYTES, view.quirks)
    return as_go_text(body)


def cut_text(body: bytes, most: int, quirks: Quirks) -> str:
    """Cut a body, before a letter that would be torn unless the quirk tears it."""
    if len(body) <= most or quirks.cut_letters:
        return as_go_text(body[:most])
    end = most
    while end > 0 and body[end] & 0xC0 == 0x80:
        end -= 1
    return as_go_text(body[:end])


def as_go_text(data: bytes) -> str:
    """Decode as a JSON writer of Go does: every byte that is no UTF-8 becomes U+FFFD."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _NOT_UTF8.sub("\ufffd", data.decode(errors="surrogateescape"))


def _rest(pin: Found, shows: Shown, view: View) -> Json:
    record, base = pin.record, view.base_url
    return {
        "status": shows.status,
        "originalId": record.target,
        "isTransfered": False,
        "preview": f"{base}/pin/{record.id}" if view.links else "",
        "content": f"{base}/content/{record.id}" if view.links or view.quirks.content_links else "",
        "pop": "" if pin.height < 0 else _pop(record.id),
        "popLv": -1 if pin.height < 0 else 0,
        "popScore": "0",
        "popScoreV1": "0",
        "chainName": "mvc",
        "dataValue": 0,
        "mrc20MintId": [],
        "host": record.host,
        "blocked": False,
        "is_recommended": False,
        "modify_history": None if shows.history is None else list(shows.history),
    }


def _pop(pin_id: str) -> str:
    """Make up a proof of participation: octal digits, as many as real ones have."""
    number = int.from_bytes(sha512(pin_id.encode()).digest(), "big")
    return f"0000{number:0171o}"[: 4 + _POP_DIGITS]


def short_row(pin: Found, view: View, *, mempool: bool) -> Json:
    """Give a row of `pin/list` or `mempool/list`; the quirk leaves out what the handlers forget."""
    record, unit = pin.record, 1_000 if view.quirks.milliseconds else 1
    row: Json = {
        "content": as_go_text(record.body),
        "number": -1 if pin.height < 0 else 0,
        "operation": record.operation,
        "height": pin.height,
        "id": record.id,
        "type": detected_type(record.body),
        "path": record.path,
        "metaid": metaid_of(record.owner),
        "pop": "" if pin.height < 0 else _pop(record.id),
        "popLv": -1 if pin.height < 0 else 0,
        "chainName": "mvc",
        "address": record.owner,
        "creator": creator_of(pin, view.quirks),
        "initialOwner": record.owner,
        "timestamp": pin.time * unit,
        "seenTime": pin.seen * unit,
    }
    if view.quirks.short_rows_bare:
        row |= {"height": 0, "popLv": 0}
        if mempool:
            row |= dict.fromkeys(("pop", "chainName", "address", "creator", "initialOwner"), "")
    return row


def empty_row() -> Json:
    """Give the pin that some indexers send when they do not know the one asked for (§3.3)."""
    texts = (
        *("id", "metaid", "address", "creator", "createMetaId", "globalMetaId", "initialOwner"),
        *("output", "genesisTransaction", "location", "operation", "path", "parentPath"),
        *("originalPath", "encryption", "version", "contentType", "contentTypeDetect"),
        *("contentSummary", "originalContentSummary", "originalId", "preview", "content", "pop"),
        *("chainName", "host"),
    )
    numbers = (
        *("number", "outputValue", "timestamp", "genesisFee", "genesisHeight", "txIndex"),
        *("txInIndex", "offset", "contentLength", "status", "popLv", "dataValue"),
    )
    nothing = ("contentBody", "originalContentBody", "mrc20MintId", "modify_history")
    return {
        **dict.fromkeys(texts, ""),
        **dict.fromkeys(numbers, 0),
        **dict.fromkeys(nothing),
        **dict.fromkeys(("popScore", "popScoreV1"), "0"),
        **dict.fromkeys(("isTransfered", "blocked", "is_recommended"), False),
    }
