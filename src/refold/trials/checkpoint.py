"""Checkpoints: what the log's key signs, and how a stranger reads it.

A signed note is a text, an empty line, and a line for each signature: `— NAME BASE64`, where the
base64 holds four bytes that name the key and the 64 of an Ed25519 signature over the text. The text
of a checkpoint is the log's name, its size and its root in base64, each on a line. The name is the
address that the log is served under, without scheme. Sources: C2SP tlog-checkpoint and signed-note;
cold trials spec §3.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec

from refold.kernel.errors import InputError
from refold.kernel.keys import KEY_BYTES, SIGNATURE_BYTES, public_of, sign, verify
from refold.kernel.merkle import HASH_BYTES

__all__ = [
    "PREFIX",
    "Checkpoint",
    "LogKey",
    "Rotation",
    "Signer",
    "log_name",
    "read_checkpoint",
    "read_note",
    "read_rotation",
    "signed_note",
]

PREFIX = "/v1/public"
"""Path under which checkpoint and tiles are served."""
MAX_NOTE = 16_384
"""Characters of a note that is read: room for 16 signatures of witnesses and more."""

_ED25519 = b"\x01"
_ROTATION = "lockzone-log-key-v1"
_NAME = re.compile("[^\\s+\ud800-\udfff]+")
_SIZE = re.compile("0|[1-9][0-9]{0,18}")
_ORIGIN = re.compile("https?://([^/+\\s]+)")
_SIGNATURE = re.compile("— ([^\\s+]+) ([A-Za-z0-9+/]+={0,2})")


class LogKey(msgspec.Struct, frozen=True):
    """A key of a log, under the log's name. `public` has 32 bytes."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """The four bytes that name the key in a note."""
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:4]

    @property
    def verifier(self) -> str:
        """The key in one line, `NAME+ID+KEY`, as tools for signed notes take it."""
        return f"{self.name}+{self.id.hex()}+{_base64(_ED25519 + self.public)}"

    @classmethod
    def parse(cls, verifier: str) -> "LogKey":
        """Read such a line; raises InputError `log-key-form`."""
        name, _, rest = verifier.partition("+")
        given, _, key = rest.partition("+")
        raw = _bytes(key)
        found = cls(name, raw[1:])
        is_key = len(raw) == 1 + KEY_BYTES and raw[:1] == _ED25519 and _NAME.fullmatch(name)
        if not is_key or found.id.hex() != given:
            raise InputError(
                "log-key-form", "this is no key of a log", "write NAME+ID+KEY as the node gives it"
            )
        return found


class Signer:
    """The node's own key. `seed` has 32 bytes, else InputError `seed-form`."""

    def __init__(self, name: str, seed: bytes) -> None:
        self.key = LogKey(name, public_of(seed))
        self._seed = seed

    def line(self, text: str) -> str:
        """Give the line of a note that signs `text`."""
        signature = sign(self._seed, text.encode())
        return f"— {self.key.name} {_base64(self.key.id + signature)}\n"

    def __repr__(self) -> str:
        return f"Signer({self.key.verifier})"


class Checkpoint(msgspec.Struct, frozen=True):
    """What a log says of itself: how many leaves it has, and the root over them (32 bytes)."""

    name: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text that is signed."""
        return f"{self.name}\n{self.size}\n{_base64(self.root)}\n"


class Rotation(msgspec.Struct, frozen=True):
    """That a log's key gives way to another at a size: keys of 32 bytes, the root at that size.

    `at` is when, `YYYY-MM-DDTHH:MM:SSZ`.
    """

    name: str
    old: bytes
    new: bytes
    size: int
    root: bytes
    at: str

    @property
    def text(self) -> str:
        """The text that both keys sign."""
        head = f"{_ROTATION}\n{self.name}\n{self.old.hex()}\n{self.new.hex()}\n"
        return f"{head}{self.size}\n{_base64(self.root)}\n{self.at}\n"


def log_name(origin: str) -> str:
    """Give the name of the log of a node; raises InputError `log-origin`."""
    found = _ORIGIN.fullmatch(origin)
    if found is None:
        raise InputError("log-origin", "this is no origin of a node", "write https://host")
    return found[1] + PREFIX


def signed_note(text: str, signers: Iterable[Signer]) -> str:
    """Give a note with a signature of each signer."""
    return f"{text}\n{''.join(signer.line(text) for signer in signers)}"


def read_note(note: str, keys: Sequence[LogKey], enough: int = 1) -> str:
    """Give the text of a note that at least `enough` of `keys` signed.

    Signatures of others are passed over, one of a known key that does not fit is not. Raises
    InputError `note-form`, `note-unsigned`, `note-signature`.
    """
    text, gap, signatures = note.rpartition("\n\n")
    lines = signatures.split("\n")
    found = [_SIGNATURE.fullmatch(line) for line in lines[:-1]]
    if len(note) > MAX_NOTE or not gap or not found or lines[-1] or None in found:
        raise InputError("note-form", "this is no signed note", "give it as it was served")
    text += "\n"
    known = {(key.name, key.id): key for key in keys}
    fitting = set()
    for match in found:
        raw = _bytes(match[2]) if match else b""
        key = known.get((match[1], raw[:4])) if match else None
        if key is not None:
            if len(raw) != 4 + SIGNATURE_BYTES or not _fits(key, text, raw[4:]):
                raise InputError(
                    "note-signature", "a signature on the note does not fit", "do not trust it"
                )
            fitting.add(key.id)
    if len(fitting) < enough:
        raise InputError(
            "note-unsigned", "no known key signed the note", "look whether the log's key changed"
        )
    return text


def read_checkpoint(note: str, keys: Sequence[LogKey]) -> Checkpoint:
    """Read a checkpoint that one of `keys` signed; raises as `read_note`, and `checkpoint-form`."""
    text = read_note(note, keys)
    name, size, root, *_ = (*text.split("\n"), "", "", "")
    raw = _bytes(root)
    if not _SIZE.fullmatch(size) or len(raw) != HASH_BYTES or name not in {k.name for k in keys}:
        raise InputError(
            "checkpoint-form", "the note is no checkpoint of this log", "fetch another"
        )
    return Checkpoint(name, int(size), raw)


def read_rotation(note: str, old: LogKey) -> Rotation:
    """Read the statement by which `old` gave way to the key that the statement names.

    Both must have signed. Raises as `read_note`, and `rotation-form`.
    """
    lines = note.split("\n")
    wrong = InputError("rotation-form", "the note is no change of this log's key", "fetch another")
    if len(lines) < 8 or lines[0] != _ROTATION or not _SIZE.fullmatch(lines[4]):
        raise wrong
    try:
        before, after = (bytes.fromhex(each) for each in lines[2:4])
    except ValueError:
        raise wrong from None
    root = _bytes(lines[5])
    found = Rotation(lines[1], before, after, int(lines[4]), root, lines[6])
    known = [old, LogKey(old.name, found.new)]
    if found.name != old.name or found.old != old.public or len(root) != HASH_BYTES:
        raise wrong
    if read_note(note, known, enough=len(known)) != found.text:
        raise wrong
    return found


def _fits(key: LogKey, text: str, signature: bytes) -> bool:
    try:
        verify(key.public, text.encode(), signature)
    except (InputError, UnicodeEncodeError):
        return False
    return True


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    """Give what a base64 text says, nothing for a text that is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
