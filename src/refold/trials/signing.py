"""What keys sign, and what is said of a signature that does not fit.

The bytes are those of the reference node, so posts and keys are valid at any node: they name no
site and no time. Source: the format text, signatures; cold trials spec §§1, 2, 4.
"""

import base64
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec
from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError

from refold.kernel.errors import InputError
from refold.kernel.keys import parse_public, verify
from refold.trials.codes import Fault, fault
from refold.trials.tables import MAX_INTEGER

__all__ = [
    "SignedMessage",
    "WrongSignature",
    "digest",
    "home_bytes",
    "key_bytes",
    "message_bytes",
    "message_faults",
    "message_slips",
    "signature_fault",
]

_HEX = re.compile("[0-9a-f]*")
_ANY_HEX = re.compile("[0-9A-Fa-f]*")
KEY_DIGITS = 64
SIGNATURE_DIGITS = 128
# Content beyond this is compared with no slips: each costs a hash over all of it.
_MAX_SLIP_BYTES = 1 << 16
# Combining marks are sorted by insertion, in the square of their number.
_MAX_NORMALISED = 1_000

Slip = tuple[str, bytes]
"""What somebody did wrong, and the bytes that would then have been signed."""


class SignedMessage(msgspec.Struct, frozen=True):
    """A message as it is posted: key as 64, signature as 128 lower-case hex digits."""

    room: str
    reply_to: int | None
    content: str
    public_key: str
    signature: str

    @property
    def preimage(self) -> bytes:
        """The bytes that are signed; raises UnicodeEncodeError for half a surrogate pair."""
        return message_bytes(self.room, self.reply_to, self.content)

    @property
    def digest(self) -> str:
        """The content address: 64 hex digits. Key and form must have been checked."""
        return digest(bytes.fromhex(self.public_key), self.preimage)


class WrongSignature(msgspec.Struct, frozen=True):
    """What the answer to a wrong signature tells, so that the writer finds the difference.

    `preimage` is what should have been signed, in base64, `sha256` its hash in hex; `slip` says
    what was signed instead, "" if no usual slip explains it.
    """

    fault: Fault
    preimage: str
    sha256: str
    slip: str


def message_bytes(room: str, reply_to: int | None, content: str) -> bytes:
    """Give the bytes that a message is signed over."""
    parent = "" if reply_to is None else str(reply_to)
    return f"lockzone-message-v1\n{room}\n{parent}\n{content}".encode()


def key_bytes(challenge_id: str) -> bytes:
    """Give the bytes that a key is proved with at admission."""
    return f"lockzone-key-v1\n{challenge_id}".encode()


def home_bytes(origin: str, public_key: str, minute: int) -> bytes:
    """Give the bytes that a request for home is signed over; minutes since 1970."""
    return f"lockzone-home-v1\n{origin}\n{public_key}\n{minute}".encode()


def digest(public_key: bytes, signed: bytes) -> str:
    """Give the content address of a message: the SHA-256, in hex, of key and signed bytes."""
    return hashlib.sha256(public_key + signed).hexdigest()


def message_faults(message: SignedMessage, rooms: Sequence[str]) -> tuple[Fault, ...]:
    """Give what is wrong with the form of everything in a message but its content."""
    faults = []
    if message.room not in rooms:
        hint = f"Use one of {', '.join(rooms)}."
        faults.append(fault("room_unknown", hint=hint, field="room"))
    if message.reply_to is not None and not 0 < message.reply_to <= MAX_INTEGER:
        faults.append(fault("reply_form", field="reply_to"))
    if not _is_hex(message.public_key, KEY_DIGITS):
        hint = _form_hint(message.public_key, KEY_DIGITS)
        faults.append(fault("key_form", hint=hint, field="public_key"))
    elif why := _why_unsafe(message.public_key):
        faults.append(fault("key_unsafe", f"public_key is refused: {why}.", field="public_key"))
    if not _is_hex(message.signature, SIGNATURE_DIGITS):
        hint = _form_hint(message.signature, SIGNATURE_DIGITS)
        faults.append(fault("signature_form", hint=hint, field="signature"))
    return tuple(faults)


@lru_cache(maxsize=4_096)
def _why_unsafe(public_key: str) -> str:
    """Give why a key may not be used, "" if it may. It takes a tenth of a millisecond."""
    try:
        parse_public(public_key)
    except InputError as error:
        return error.message
    return ""


def _is_hex(text: str, digits: int) -> bool:
    return len(text) == digits and _HEX.fullmatch(text) is not None


def _form_hint(text: str, digits: int) -> str:
    """Say which usual spelling of a key or signature this is, "" for none."""
    plain = text.strip().removeprefix("0x")
    if len(plain) == digits and _ANY_HEX.fullmatch(plain):
        return "Write it in lower case, without spaces or 0x."
    padded = plain.replace("-", "+").replace("_", "/") + "=" * (-len(plain) % 4)
    try:
        raw = base64.b64decode(padded, validate=True)
    except ValueError:
        return ""
    return "It looks like base64; write the same bytes in hex." if len(raw) * 2 == digits else ""


def signature_fault(
    public_key: str, preimage: bytes, signature: str, slips: Iterable[Slip] = ()
) -> WrongSignature | None:
    """Give None for a signature that fits, else what the answer should tell.

    `slips` are tried besides those that any signature can have. Key and signature may be of any
    form; refused are also all that `refold.kernel.keys` refuses.
    """
    try:
        verify(public_key, preimage, signature)
    except InputError as error:
        slip = ""
        if error.code == "signature-invalid" and len(preimage) <= _MAX_SLIP_BYTES:
            tried = (*slips, *_any_slips(preimage))
            key, given = bytes.fromhex(public_key), bytes.fromhex(signature)
            slip = next((what for what, signed in tried if _fits(key, signed, given)), "")
        detail = f"The signature does not fit: {slip}." if slip else f"{error.message}."
        return WrongSignature(
            fault("signature_wrong", detail[:1].upper() + detail[1:], field="signature"),
            base64.b64encode(preimage).decode(),
            hashlib.sha256(preimage).hexdigest(),
            slip,
        )
    return None


def message_slips(message: SignedMessage) -> Iterator[Slip]:
    """Give the usual wrong bytes for a message."""
    room, content = message.room, message.content
    parent = "" if message.reply_to is None else str(message.reply_to)
    for nothing in () if parent else ("null", "None", "none", "undefined", "nil", "0"):
        yield f"{nothing} was signed for no reply_to", _signed(room, nothing, content)
    if not parent:
        left_out = f"lockzone-message-v1\n{room}\n{content}".encode()
        yield "the empty line of no reply_to was left out", left_out
    else:
        yield "reply_to was left out of the signed bytes", _signed(room, "", content)
    for other in {room.upper(), room.capitalize()} - {room}:
        yield "the room was signed with capitals", _signed(other, parent, content)
    yield "the content was signed with CRLF", _signed(room, parent, content.replace("\n", "\r\n"))
    trimmed = content.strip()
    if trimmed != content:
        yield "the content was signed trimmed", _signed(room, parent, trimmed)
    for form in ("NFC", "NFD") if len(content) <= _MAX_NORMALISED else ():
        normal = unicodedata.normalize(form, content)
        if normal != content:
            yield f"the content was signed in Unicode form {form}", _signed(room, parent, normal)
    quoted = msgspec.json.encode(content).decode()
    yield "the content was signed as a JSON string", _signed(room, parent, quoted)
    yield "the content was signed with JSON escapes", _signed(room, parent, quoted[1:-1])
    yield "only the content was signed", content.encode()
    yield "the first line was left out", f"{room}\n{parent}\n{content}".encode()


def _signed(room: str, parent: str, content: str) -> bytes:
    return f"lockzone-message-v1\n{room}\n{parent}\n{content}".encode()


def _any_slips(preimage: bytes) -> Iterator[Slip]:
    """Give the usual wrong bytes for any signed text."""
    yield "a newline was signed at the end", preimage + b"\n"
    yield "CRLF was signed at the end", preimage + b"\r\n"
    yield "all lines were signed with CRLF", preimage.replace(b"\n", b"\r\n")
    yield "backslash and n were signed for line breaks", preimage.replace(b"\n", b"\\n")
    for name in ("sha256", "sha512"):
        hashed = hashlib.new(name, preimage)
        yield f"the {name} of the bytes was signed, not the bytes", hashed.digest()
        yield f"the {name} of the bytes was signed, in hex", hashed.hexdigest().encode()
        yield f"the {name} in capital hex was signed", hashed.hexdigest().upper().encode()
    ended = hashlib.sha256(preimage + b"\n")
    yield "the sha256 of the bytes and a newline was signed", ended.digest()
    yield "the sha256 of the bytes and a newline was signed, in hex", ended.hexdigest().encode()
    yield "the bytes were signed in base64", base64.b64encode(preimage)
    yield "the bytes were signed in hex", preimage.hex().encode()
    yield "the bytes were signed in capitals", preimage.decode(errors="replace").upper().encode()


def _fits(key: bytes, signed: bytes, signature: bytes) -> bool:
    """Tell whether the equation holds; the forms of key and signature were looked at before."""
    try:
        crypto_sign_open(signature + signed, key)
    except BadSignatureError:
        return False
    return True
