"""Pins as indexers give them: every field of a row, and what can be relied on of it.

Three generations of indexers list one pin in three ways (facts: metaid §3.5, §3.6): with the whole
body in base64, with the whole body as text, or with the first 4,096 bytes of it. All three lose
bytes without a word, so a body is taken only where it is provably whole.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Sequence

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.globalmetaid import globalmetaid_of

PLAIN = 0
MODIFIED = 1
REVOKED = -1
MELTED = -2
"""Values of `status` that today's indexers give; -9 and below -100 are of the first generation."""

MEMPOOL_HEIGHT = -1

_LOST = "\ufffd"


class Pin(msgspec.Struct, frozen=True):
    """One pin with its envelope.

    `height` is None in the mempool. `sender` is the author's globalMetaId as the indexer names it,
    which anybody can forge (`refold.metaid.author`). `body` is what was pinned first, even when
    somebody modified the pin since; `content_type` is None for a modified pin, since the row shows
    the modifier's. `timestamp` is the indexer's, in Unix seconds.

    `status` is `PLAIN`, `MODIFIED`, `REVOKED`, `MELTED` or an older code; indexers set it without
    looking at who asks. `history` is the pin's own id and then the ids of the modify pins, whose
    authors are the caller's to compare. `target` is the id that a modify or revoke pin is about.
    """

    id: str
    path: str
    height: int | None
    tx_index: int
    sender: str
    operation: str
    encryption: str
    version: str
    content_type: str | None
    timestamp: int
    body: bytes
    status: int = PLAIN
    history: tuple[str, ...] = ()
    target: str = ""
    host: str = ""
    address: str = ""
    chain: str = ""


class Row(msgspec.Struct, frozen=True, rename="camel"):
    """A row of `/api/pin/path/list`, or the answer of `/api/pin/<id>`, as far as a `Pin` needs it.

    Members that a generation of indexers leaves out have the value that means "not said".
    `first_content_type` is given by no indexer, but by lines of ours (`pinline`): what a modified
    pin was declared as when it was pinned.
    """

    id: str
    path: str
    genesis_height: int
    tx_index: int
    global_meta_id: str = ""
    operation: str = ""
    encryption: str = "0"
    version: str = ""
    content_type: str = ""
    timestamp: int = 0
    content_body: str | None = None
    content_length: int = 0
    content_summary: str = ""
    original_content_body: str | None = None
    status: int = PLAIN
    original_id: str = ""
    modify_history: list[str] | None = msgspec.field(default=None, name="modify_history")
    is_transfered: bool = False
    address: str = ""
    creator: str = ""
    host: str = ""
    chain_name: str = ""
    first_content_type: str | None = None


class FullRow(Row, frozen=True, rename="camel"):
    """A row with every member that any generation gives.

    Apart from `Row`, so that a surprise in a member that nobody needs never costs a pin. `number`
    is 0 for all confirmed pins of today; `tx_in_index` wraps to 4294967295 when the pin is output
    0; scores are decimals, as text or number; `seen_time` is 0 when not said.
    """

    metaid: str = ""
    create_meta_id: str = ""
    initial_owner: str = ""
    number: int = 0
    genesis_transaction: str = ""
    genesis_fee: int = 0
    output: str = ""
    output_value: int = 0
    offset: int = 0
    location: str = ""
    tx_in_index: int = 0
    seen_time: int = 0
    original_path: str = ""
    parent_path: str = ""
    content_type_detect: str = ""
    original_content_summary: str = ""
    preview: str = ""
    content: str = ""
    pop: str = ""
    pop_lv: int = 0
    pop_score: str | int | float = "0"
    pop_score_v1: str | int | float = "0"
    data_value: int = 0
    mrc20_mint_id: list[str] | None = None
    blocked: bool = False
    is_recommended: bool = msgspec.field(default=False, name="is_recommended")


class ShortRow(msgspec.Struct, frozen=True, rename="camel"):
    """A row of `/api/pin/list` or `/api/mempool/list`: a hint that a pin exists.

    It has neither place in the block nor body, so no `Pin` can be made of it; several handlers
    leave address and chain empty too. `content` is a preview, `type` the content type.
    """

    id: str
    height: int
    path: str = ""
    operation: str = ""
    type: str = ""
    content: str = ""
    number: int = 0
    metaid: str = ""
    address: str = ""
    creator: str = ""
    initial_owner: str = ""
    chain_name: str = ""
    pop: str = ""
    pop_lv: int = 0
    timestamp: int = 0
    seen_time: int = 0


def pin_of_row(row: Row) -> Pin:
    """Read a row. Raises `InputError`: `pin-empty`, `sender-missing`, `body-*` as `body_of_row`.

    An empty id is how some indexers say that they do not know a pin.
    """
    if not row.id:
        raise InputError("pin-empty", "the row names no pin", "take it as: not found")
    return Pin(
        id=row.id,
        path=row.path,
        height=None if row.genesis_height <= MEMPOOL_HEIGHT else row.genesis_height,
        tx_index=row.tx_index,
        sender=row.global_meta_id or _sender_of_address(row),
        operation=row.operation,
        encryption=row.encryption,
        version=row.version,
        content_type=row.first_content_type if is_modified(row) else row.content_type,
        timestamp=row.timestamp,
        body=body_of_row(row),
        status=row.status,
        history=tuple(row.modify_history or ()),
        target=row.original_id,
        host=row.host,
        address=row.address,
        chain=row.chain_name,
    )


def body_of_row(row: Row) -> bytes:
    """Give the body that was pinned first.

    Raises `InputError`: `body-cut` (the row holds a part only, or may), `body-replaced` (the pin
    was modified, and the row shows the modifier's body alone), `body-unreadable` (no base64, no
    text).
    """
    if row.original_content_body:
        return _decoded(row, row.original_content_body)
    if is_modified(row):
        if row.first_content_type is not None:
            return b""  # who knew the type of what was pinned first knew the body
        raise InputError(
            "body-replaced",
            f"the row of pin {row.id} holds the body of a later modify and not its own",
            "fetch version 0 of the pin (/api/pin/ver/<id>/0)",
        )
    body = _decoded(row, row.content_body) if row.content_body else _body_of_summary(row)
    if len(body) != row.content_length:
        raise _cut(row, f"holds {len(body)} of {row.content_length} bytes")
    return body


def is_modified(row: Row) -> bool:
    """Tell whether a later modify replaced what the row shows. A modify pin itself is none."""
    if row.original_content_body:
        return True
    return was_modified(row.id, row.status, row.modify_history or ())


def was_modified(pin_id: str, status: int, history: Sequence[str]) -> bool:
    """Tell whether status and history of a pin say that it was modified."""
    return status == MODIFIED or (len(history) > 1 and history[0] == pin_id)


def _sender_of_address(row: Row) -> str:
    """Give the globalMetaId of `creator`, else of the owner: all that the first generation says.

    The owner is the author as long as the pin was not transferred.
    """
    address = row.creator or ("" if row.is_transfered else row.address)
    try:
        return globalmetaid_of(address)
    except InputError as error:
        raise InputError(
            "sender-missing",
            f"the row of pin {row.id} names no globalMetaId, and no address that gives one",
            "take the row from another indexer",
        ) from error


def _body_of_summary(row: Row) -> bytes:
    """Take the summary for the body.

    U+FFFD in it may stand for a lost byte, and a cut inside the last letter can make the lengths
    equal again; a link stands for a body that is no text. Only the detail can tell.
    """
    summary = row.content_summary
    if _LOST in summary or (summary.startswith("/") and summary == f"/content/{row.id}"):
        raise _cut(row, "holds a text that may not be the body")
    try:
        return summary.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            "body-unreadable", f"the body of pin {row.id} is no text", "fetch the pin again"
        ) from error


def _cut(row: Row, what: str) -> InputError:
    return InputError(
        "body-cut",
        f"the row of pin {row.id} {what}",
        "put the pin's detail (/api/pin/<id>) in place of the row",
    )


def _decoded(row: Row, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError) as error:
        raise InputError(
            "body-unreadable", f"the body of pin {row.id} is no base64", "fetch the pin again"
        ) from error
