"""The record of a key checked: what a node answers to `/v1/public/keys/{public_key}/record`.

Each text is signed by the key, and each post is in the tree that the log's key signed. All else
that stands in a record is passed over, and believed by nobody. Source: cold trials spec §4.
"""

import base64
import json
from typing import Any, Final

import msgspec

from refold.kernel.errors import InputError
from refold.kernel.guards import guard_json
from refold.kernel.keys import parse_public, verify
from refold.kernel.merkle import verify_inclusion
from refold.kernel.utc import parse_utc
from refold.trials.archive.codes import wrong
from refold.trials.archive.proofs import hashes_of, is_hex
from refold.trials.archive.trust import signed_checkpoint
from refold.trials.checkpoint import Checkpoint, LogKey
from refold.trials.leaf import hashed_leaf
from refold.trials.signing import digest, message_bytes
from refold.trials.tables import MAX_INTEGER

__all__ = ["MAX_RECORD", "CheckedRecord", "check_record"]

MAX_RECORD: Final = 64 * 1024 * 1024
"""Bytes of a record: 200 posts of 8,000 characters, each character escaped, and their proofs."""
MAX_DEPTH: Final = 16
# Members whose value counts something.
_NUMBERS = (".id`", ".index`", ".reply_to`")


class _Written(msgspec.Struct, frozen=True):
    content: str | None


class _Item(msgspec.Struct, frozen=True, rename={"accepted_at": "acceptedAt"}):
    """What of a post is looked at."""

    id: int
    index: int
    accepted_at: str
    digest: str
    room: str
    reply_to: int | None
    signature: str
    signed: str | None
    proof: tuple[str, ...] | None
    untrusted: _Written


class _Record(msgspec.Struct, frozen=True):
    """What of a record is looked at."""

    public_key: str
    checkpoint: str
    items: tuple[_Item, ...]


class CheckedRecord(msgspec.Struct, frozen=True):
    """A record that is right: whose it is, how many posts it has, and of which tree."""

    public_key: str
    messages: int
    removed: int
    size: int
    root: bytes


def check_record(raw: bytes, key: LogKey) -> CheckedRecord:
    """Check a record by the key of the log. Raises InputError `archive-…`."""
    record = _parsed(raw)
    try:
        parse_public(record.public_key)
    except InputError as error:
        raise wrong("archive-damaged", f"public_key: {error.message}") from None
    checkpoint = signed_checkpoint(record.checkpoint, [key])
    before = 0
    for item in record.items:
        _check_place(item, before, checkpoint)
        before = item.id
        _check_text(item, record.public_key)
        _check_leaf(item, checkpoint)
    removed = sum(item.signed is None for item in record.items)
    return CheckedRecord(
        record.public_key, len(record.items), removed, checkpoint.size, checkpoint.root
    )


def _parsed(raw: bytes) -> _Record:
    try:
        guard_json(raw, max_bytes=MAX_RECORD, max_depth=MAX_DEPTH)
        found = json.loads(raw.decode(), object_pairs_hook=_object, parse_constant=_refuse)
        return msgspec.convert(found, _Record)
    except InputError as error:
        raise wrong("archive-damaged", error.message) from None
    except msgspec.ValidationError as error:
        code = "archive-size" if str(error).endswith(_NUMBERS) else "archive-damaged"
        raise wrong(code, f"this is no record: {error}") from None
    except ValueError:
        raise wrong("archive-damaged", "this is no JSON that all readers read alike") from None


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Give an object; of members with one name, readers differ on which counts."""
    found = dict(members)
    if len(found) < len(members):
        raise ValueError
    return found


def _refuse(_constant: str) -> None:
    """Refuse NaN and infinities."""
    raise ValueError


def _check_place(item: _Item, before: int, checkpoint: Checkpoint) -> None:
    if not before < item.id <= checkpoint.size:
        text = f"post {item.id} is out of place in a log of {checkpoint.size}"
        raise wrong("archive-size", text)
    if item.index != item.id - 1:
        raise wrong("archive-size", f"post {item.id} is said to be leaf {item.index}")
    if item.reply_to is not None and not 0 < item.reply_to <= MAX_INTEGER:
        raise wrong("archive-size", f"post {item.id} answers {item.reply_to}, which is no id")


def _check_text(item: _Item, public_key: str) -> None:
    content = item.untrusted.content
    if (content is None) != (item.signed is None):
        text = f"post {item.id} has a text without signed bytes, or these without a text"
        raise wrong("archive-damaged", text)
    if content is None:
        return
    try:
        signed = message_bytes(item.room, item.reply_to, content)
    except UnicodeEncodeError:
        raise wrong("archive-damaged", f"post {item.id} has half a character") from None
    if "\n" in item.room or base64.b64encode(signed).decode() != item.signed:
        raise wrong("archive-signature", f"post {item.id} is not the text of its signed bytes")
    if digest(bytes.fromhex(public_key), signed) != item.digest:
        raise wrong("archive-signature", f"post {item.id} is not the one of its digest")
    try:
        verify(public_key, signed, item.signature)
    except InputError as error:
        raise wrong("archive-signature", f"post {item.id}: {error.message}") from None


def _check_leaf(item: _Item, checkpoint: Checkpoint) -> None:
    if item.proof is None:
        raise wrong("archive-cut", f"post {item.id} is without its proof")
    try:
        seconds = int(parse_utc(item.accepted_at).timestamp())
    except InputError as error:
        raise wrong("archive-damaged", f"post {item.id}: {error.message}") from None
    if not (is_hex(item.digest, 64) and is_hex(item.signature, 128)):
        raise wrong("archive-damaged", f"post {item.id}: digest or signature is not in hex")
    leaf = hashed_leaf(item.id, seconds, item.digest, item.signature)
    proof = hashes_of(item.proof)
    if not verify_inclusion(leaf, item.index, checkpoint.size, proof, checkpoint.root):
        raise wrong("archive-tree", f"post {item.id} is not in the tree that was signed")
