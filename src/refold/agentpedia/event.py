"""One event of the stream, and the one order in which events are folded."""

import re
from typing import Annotated

import msgspec

PREFIX = "/protocols/agentpedia/"
"""Every path of the protocol starts with this (PRD §4.1)."""

REV = PREFIX + "rev"
CHALLENGE = PREFIX + "challenge"
RULING = PREFIX + "ruling"
REVIEW = PREFIX + "review"
EDITOR = PREFIX + "editor"
CONSTITUTION = PREFIX + "constitution"
PARAM_PROPOSAL = PREFIX + "param-proposal"
PATHS = (REV, CHALLENGE, RULING, REVIEW, EDITOR, CONSTITUTION, PARAM_PROPOSAL)
"""The seven paths, with their prefix (PRD §4.3)."""

MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader keeps exact; nothing beyond it enters a view."""


Height = Annotated[int, msgspec.Meta(le=MAX_INTEGER)]
TxIndex = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]


class Event(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A confirmed pin, as the fold takes it (spec §2).

    `pin` is the pin id, `path` one of `PATHS` or a stranger's, `height` ≥ 0 the block, `tx_index`
    ≥ 0 the position in it, `sender` the author's globalMetaId, `payload` the JSON object pinned.
    No text in it has a NUL or a lone surrogate: intake sees to that.
    """

    pin: str
    path: str
    height: Height
    tx_index: TxIndex
    sender: str
    payload: dict[str, object]


class Fault(msgspec.Struct, frozen=True, gc=False):
    """What an order-free check found wrong with one pin, told to the fold as a fact about it.

    `late` faults (content) count at the content gate of a rev, after the gates on its author;
    the others (envelope, schema) right after the path. `pointer` and `rule` name the place and the
    schema keyword of a `schema-invalid`; `detail` says to a person what was found.
    """

    reason: str
    pointer: str = ""
    rule: str = ""
    late: bool = False
    detail: str = ""


def position(event: Event) -> tuple[int, int, str]:
    """Give the total order: height, index in the block, pin id as text (spec §2)."""
    return (event.height, event.tx_index, event.pin)


def later(height: int, blocks: int) -> int:
    """Give the height so many blocks on, within ±`MAX_INTEGER`, which no chain reaches."""
    return max(-MAX_INTEGER, min(height + blocks, MAX_INTEGER))


def integer(value: object) -> int | None:
    """Read a JSON number as an integer: 1, 1.0 and 1e0 are 1; booleans and fractions are none.

    Gives None as well for anything beyond ±(2^53 - 1).
    """
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is int and -MAX_INTEGER <= value <= MAX_INTEGER:
        return value
    return None


_GLOBAL_META_ID = re.compile(r"idq1[0-9a-z]{38}")


def is_global_meta_id(text: str) -> bool:
    """Tell whether a text has the form of a globalMetaId of a P2PKH key (spec §3)."""
    return _GLOBAL_META_ID.fullmatch(text) is not None
