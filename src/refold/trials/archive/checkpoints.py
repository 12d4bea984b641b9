"""A checkpoint checked, and that its log only grew since an older one. Pure, and offline.

Source: cold trials spec §§3, 5; C2SP tlog-checkpoint; RFC 9162 §2.1.4.2.
"""

import msgspec

from refold.kernel.errors import InputError
from refold.kernel.guards import guard_json
from refold.kernel.merkle import verify_consistency
from refold.trials.archive.codes import wrong
from refold.trials.archive.proofs import hashes_of
from refold.trials.archive.trust import signed_checkpoint
from refold.trials.checkpoint import MAX_NOTE, Checkpoint, LogKey

__all__ = ["MAX_PROOF", "check_checkpoint", "check_growth"]

MAX_PROOF = 64 * 1024
"""Bytes of an answer with a consistency proof: 106 hashes at most, and a note."""


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    """What of an answer of `/v1/public/log/consistency` is looked at."""

    first: int
    second: int
    proof: tuple[str, ...]


def check_checkpoint(raw: bytes, key: LogKey) -> Checkpoint:
    """Give what a note says, if `key` signed it. Raises InputError `archive-…`."""
    try:
        note = raw[: MAX_NOTE * 4 + 1].decode()
    except UnicodeDecodeError:
        raise wrong("archive-damaged", "the checkpoint is no UTF-8") from None
    return signed_checkpoint(note, [key])


def check_growth(older: Checkpoint, newer: Checkpoint, raw: bytes) -> None:
    """Return if the log of `newer` begins with that of `older`.

    `raw` is what the node answers to `/v1/public/log/consistency?first=…&second=…`; nothing in it
    is believed but the hashes of the proof. Raises InputError `archive-damaged`, `archive-size`,
    `archive-tree`.
    """
    try:
        guard_json(raw, max_bytes=MAX_PROOF, max_depth=3)
        said = msgspec.json.decode(raw, type=_Answer)
    except msgspec.ValidationError as error:
        code = "archive-damaged" if "proof" in str(error) else "archive-size"
        raise wrong(code, f"this is no consistency proof: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, InputError):
        raise wrong("archive-damaged", "this is no consistency proof of a node") from None
    if (said.first, said.second) != (older.size, newer.size):
        text = f"the proof is from {said.first} to {said.second} messages"
        raise wrong("archive-size", f"{text}, not from {older.size} to {newer.size}")
    proof = hashes_of(said.proof)
    if not verify_consistency(older.size, older.root, newer.size, newer.root, proof):
        text = f"the log of {newer.size} messages does not begin with that of {older.size}"
        raise wrong("archive-tree", text)
