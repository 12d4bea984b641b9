"""The 7-tuple of a pin: as it was pushed, and as the indexers read it (facts: metaid §1.1, §1.2).

    metaid <operation> <path> <encryption> <version> <contentType> <payload>...

The indexers lower-case, fill in defaults and split the host off, and list only that. What was
pushed stays apart from it: a signature and an id cover the pushes, not the reading.
"""

import re
from collections.abc import Sequence

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.script import OP_0, OP_RETURN, push, tokens

FLAG = b"metaid"
TEST_FLAG = b"testid"
"""The flag of test builds."""

WRITTEN = ("create", "modify", "revoke")
"""Operations that clients write; `hide` and the old `init` are read as well."""
LISTED = (*WRITTEN, "hide")
"""Operations that the indexers list."""
ROOTS = frozenset(
    {"info", "file", "protocols", "nft", "ft", "mrc20", "follow", "metaaccess", "metaname"}
)
"""First parts of a path that a create may have."""

# What Go's strings.TrimSpace takes off; Python's own strip takes U+001C to U+001F off as well.
_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class RawTuple(msgspec.Struct, frozen=True):
    """The pushes behind the flag, byte for byte; a revoke may have no payload push at all."""

    operation: bytes
    path: bytes
    encryption: bytes
    version: bytes
    content_type: bytes
    payload: tuple[bytes, ...] = ()


class Envelope(msgspec.Struct, frozen=True, rename="camel"):
    """The tuple as the indexers give it.

    `path` is without the host, `host` is "" when there is none; `original_path` is both, in small
    letters. Bytes that are not UTF-8 read as U+FFFD each.
    """

    operation: str
    host: str
    path: str
    original_path: str
    encryption: str
    version: str
    content_type: str
    payload: bytes


def read_tuple(script: bytes, flag: bytes = FLAG) -> RawTuple | None:
    """Read an output script: `[OP_FALSE] OP_RETURN <flag> …`; None when it carries no pin.

    As in the indexers, what stands before the first OP_RETURN does not matter, the flag follows
    it at once, and a script that is cut anywhere carries nothing.
    """
    # Most outputs are payments; this search is cheaper than reading their tokens.
    if flag not in script:
        return None
    pushes: list[bytes] | None = None
    try:
        for opcode, data in tokens(script):
            if pushes is not None:
                pushes.append(data)
            elif opcode == OP_RETURN:
                pushes = []
    except InputError:
        return None
    return tuple_of(pushes[1:]) if pushes and pushes[0] == flag else None


def tuple_of(pushes: Sequence[bytes]) -> RawTuple | None:
    """Give the tuple of the pushes behind a flag; None when they are too few.

    At least 6, 5 for a revoke, 1 for the old `init`. An opcode that pushes nothing counts as an
    empty push.
    """
    operation = _lower(_text(pushes[0])) if pushes else ""
    if len(pushes) < {"revoke": 5, "init": 1}.get(operation, 6):
        return None
    first, path, encryption, version, content_type = (*pushes[:5], *[b""] * (5 - len(pushes)))
    return RawTuple(first, path, encryption, version, content_type, tuple(pushes[5:]))


def normalise(raw: RawTuple) -> Envelope:
    """Read the pushes as the indexers do: small letters, defaults, host, one payload."""
    operation = _lower(_text(raw.operation))
    original = "/" if operation == "init" else _lower(_text(raw.path))
    host, colon, path = original.partition(":")
    if not colon:
        host, path = "", original
    return Envelope(
        operation=operation,
        host=host,
        path=path.strip(_SPACE),
        original_path=original.strip(_SPACE),
        encryption=_text(raw.encryption) or "0",
        version=_text(raw.version) or "0",
        content_type=_lower(_text(raw.content_type)) or "application/json",
        payload=b"".join(raw.payload),
    )


def unlisted_because(envelope: Envelope) -> str | None:
    """Say why the indexers do not list a pin: `operation-unknown`, `path-root`, `path-target`.

    None when they do. That the target of a modify or revoke exists is not checked, nor by them.
    """
    if envelope.operation not in LISTED:
        return "operation-unknown"
    if envelope.operation == "create":
        parts = envelope.path.split("/")
        return None if len(parts) > 1 and parts[1] in ROOTS else "path-root"
    if envelope.operation in {"modify", "revoke"}:
        is_target = envelope.path.startswith("@") and len(envelope.path) > 1
        return None if is_target else "path-target"
    return None


def new_tuple(
    operation: str,
    path: str,
    payload: bytes = b"",
    *,
    version: str = "1.0",
    content_type: str = "application/json",
    encryption: str = "0",
) -> RawTuple:
    """Give a tuple to write, refused where a reader would make something else of it.

    `path` may begin with `host:`. Raises `InputError`: `operation-unwritten`, `path-root`,
    `path-target`, `tuple-unstable` (capitals, spaces around, an empty field, a second colon).
    """
    raw = RawTuple(
        operation=_bytes(operation),
        path=_bytes(path),
        encryption=_bytes(encryption),
        version=_bytes(version),
        content_type=_bytes(content_type),
        payload=(payload,),
    )
    read = normalise(raw)
    if operation not in WRITTEN:
        raise InputError(
            "operation-unwritten",
            f"the operation {operation} is none of {', '.join(WRITTEN)}",
            "write one of them",
        )
    given = (path, encryption, version, content_type)
    if given != (read.original_path, read.encryption, read.version, read.content_type) or (
        ":" in read.path
    ):
        raise InputError(
            "tuple-unstable",
            "the indexers would read other texts than these",
            "write path and content type in small letters, no spaces around, no second colon",
        )
    reason = unlisted_because(read)
    if reason is not None:
        raise InputError(
            reason,
            f"the indexers drop a {operation} with the path {path}",
            "create under /protocols, /info or /file; modify and revoke @<pin id>",
        )
    return raw


def pin_script(
    raw: RawTuple, *, flag: bytes = FLAG, op_false: bool = True, chunk_bytes: int | None = None
) -> bytes:
    """Give the output script that carries a tuple; any bytes are written as they are.

    `op_false`: with OP_FALSE in front, as in real transactions, so that the output can never be
    spent. `chunk_bytes`: cut the payload into pushes of that many bytes.
    """
    payload: Sequence[bytes] = raw.payload
    if chunk_bytes is not None:
        whole = b"".join(payload)
        starts = range(0, len(whole), chunk_bytes)
        payload = [whole[at : at + chunk_bytes] for at in starts] or [b""]
    fields = (raw.operation, raw.path, raw.encryption, raw.version, raw.content_type)
    head = bytes((OP_0, OP_RETURN) if op_false else (OP_RETURN,))
    return head + b"".join(map(push, (flag, *fields, *payload)))


def _bytes(text: str) -> bytes:
    """Encode a text; a lone surrogate, which is none, becomes bytes that read otherwise."""
    return text.encode(errors="surrogatepass")


def _text(data: bytes) -> str:
    """Decode as Go does: every byte that is not UTF-8 becomes one U+FFFD."""
    return _NOT_UTF8.sub("\ufffd", data.decode(errors="surrogateescape"))


def _lower(text: str) -> str:
    """Lower-case as Go does: letter by letter, so without a final sigma or a dot above."""
    return text.lower() if text.isascii() else "".join(char.lower()[0] for char in text)
