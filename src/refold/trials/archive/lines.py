"""Lines of an archive: what stands in each, and the one way to write it.

An archive is JSON lines: a head, then blocks of at most BLOCK lines, each closed by a line `block`,
then `end`. Keys come first, then what the operator did, then the messages by id, with the kept
checkpoints where their size is reached. A block line says how many messages stand before it, proves
by RFC 6962 that these are the beginning of what the head's checkpoint signs, and has the SHA-256 of
all bytes before it. So each block can be trusted on its own, and a reader may stop anywhere.

A line is UTF-8 and ends with LF; members stand in the order of the Structs, without spaces, and
texts and numbers are written as RFC 8785 has them. One value has one spelling: no byte can be
changed without changing what is said. Source: cold trials spec §3; docs/trials-exchange.md.
"""

from collections.abc import Callable, Iterator
from typing import Final, Literal

import msgspec

from refold.kernel.errors import InputError
from refold.kernel.guards import guard_json
from refold.trials.archive.codes import wrong
from refold.trials.tables import Kind

__all__ = [
    "BLOCK",
    "FORMAT",
    "MAX_LINE",
    "MAX_SIZE",
    "BlockLine",
    "CheckpointLine",
    "EndLine",
    "Head",
    "HeadKey",
    "KeyLine",
    "Line",
    "MessageLine",
    "ModerationLine",
    "RemovedLine",
    "decode_line",
    "encode_line",
    "lines_of",
]

FORMAT: Final = "lockzone-archive-v1"
BLOCK: Final = 1_000
"""Lines between two block lines at most: what a reader holds at once, and commits at once."""
MAX_LINE: Final = 256 * 1024
"""Bytes of a line: a content of 8,000 characters takes 48 KB if each is escaped."""
MAX_DEPTH: Final = 3
MAX_SIZE: Final = 2**53 - 1
"""Ids and sizes: what every JSON reader keeps exactly."""


class HeadKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A key of the log, since when and which size; how it took over, None for the first one."""

    public_key: str
    since: str
    since_size: int
    statement: str | None


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class Head(_Line, frozen=True, tag="head"):
    """Whose archive it is (`origin`: host, and port if it has one) and what of its log.

    `checkpoint` is the signed note over `size` messages; `keys` has all keys of the log in order.
    """

    format: str
    origin: str
    size: int
    checkpoint: str
    keys: tuple[HeadKey, ...]


class KeyLine(_Line, frozen=True, tag="key", rename={"admitted_at": "admittedAt"}):
    """A key that the node admitted, and the name that it goes by."""

    public_key: str
    name: str
    admitted_at: str


class ModerationLine(_Line, frozen=True, tag="moderation"):
    """One thing that the operator did."""

    id: int
    action: Literal["block", "unblock", "tombstone"]
    subject: str
    reason: str
    at: str


class MessageLine(
    _Line, frozen=True, tag="message", rename={"accepted_at": "acceptedAt"}, gc=False
):
    """A message, with everything that was signed and that is in its leaf."""

    id: int
    accepted_at: str
    room: str
    reply_to: int | None
    public_key: str
    signature: str
    digest: str
    content: str


class RemovedLine(
    _Line, frozen=True, tag="removed", rename={"accepted_at": "acceptedAt"}, gc=False
):
    """A message whose text the operator removed; `closes` is of trials only."""

    id: int
    accepted_at: str
    room: str
    reply_to: int | None
    public_key: str
    signature: str
    digest: str
    kind: Kind
    closes: str | None


class CheckpointLine(_Line, frozen=True, tag="checkpoint", rename={"signed_at": "signedAt"}):
    """A checkpoint that the node keeps, over the messages before this line."""

    signed_at: str
    note: str


class BlockLine(_Line, frozen=True, tag="block"):
    """The end of a block: messages so far, their consistency proof, hash of all bytes before."""

    size: int
    proof: tuple[str, ...]
    sha256: str


class EndLine(_Line, frozen=True, tag="end"):
    """The end: all messages are there."""

    size: int
    sha256: str


Line = (
    Head
    | KeyLine
    | ModerationLine
    | MessageLine
    | RemovedLine
    | CheckpointLine
    | BlockLine
    | EndLine
)

_decode = msgspec.json.Decoder(Line).decode
_encode = msgspec.json.Encoder().encode
# Members whose value is a number that counts messages.
_NUMBERS = ("`$.size`", "`$.id`", "`$.reply_to`", "sinceSize`")


def encode_line(line: Line) -> bytes:
    """Give the bytes of a line, its end included."""
    return _encode(line) + b"\n"


def decode_line(raw: bytes, number: int) -> Line:
    """Read a line, of which `number` is the place from 1.

    Raises InputError `archive-cut` for one without its end, `archive-size`, `archive-damaged`.
    """
    if not raw.endswith(b"\n"):
        if len(raw) > MAX_LINE:
            raise wrong("archive-damaged", f"the line has more than {MAX_LINE:,} bytes", number)
        raise wrong("archive-cut", "the line has no end", number)
    try:
        guard_json(raw, max_bytes=MAX_LINE, max_depth=MAX_DEPTH)
        found = _decode(raw)
    except InputError as error:
        raise wrong("archive-damaged", error.message, number) from None
    except msgspec.ValidationError as error:
        is_number = str(error).endswith(_NUMBERS)
        code = "archive-size" if is_number else "archive-damaged"
        raise wrong(code, f"this is no line of an archive: {error}", number) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise wrong("archive-damaged", "the line is no JSON", number) from None
    if _encode(found) + b"\n" != raw:
        raise wrong("archive-damaged", "the line is not spelled in the one way", number)
    return found


def lines_of(readline: Callable[[int], bytes]) -> Iterator[bytes]:
    """Give the lines of a file by its `readline`; of one that is too long, the beginning."""
    while raw := readline(MAX_LINE + 1):
        yield raw
