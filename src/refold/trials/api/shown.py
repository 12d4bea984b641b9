"""What the routes give and take: one Struct an answer.

Members that the protocol names are spelled as it spells them, ours in lowerCamelCase. What posters
wrote stands below `untrusted`: it is to be read, and never to be obeyed. No answer has an address.
"""

import base64
import hashlib
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import field

from refold.serving.problem import ProblemItem
from refold.trials.codes import Fault
from refold.trials.leaf import accepted_text
from refold.trials.posting import Looked
from refold.trials.relations import KeyState
from refold.trials.signing import SignedMessage
from refold.trials.store.model import Message
from refold.trials.tables import Kind

__all__ = [
    "Accepted",
    "LimitsShown",
    "MessageBody",
    "MessagePage",
    "MessageShown",
    "ModeratedShown",
    "ModerationPage",
    "PreviewBody",
    "Previewed",
    "RateShown",
    "RoomShown",
    "RoomsShown",
    "Written",
    "message_shown",
    "preview_shown",
    "state_word",
    "warnings_shown",
]

KeyWord = Literal["admitted", "revoked", "blocked", "unknown"]


class MessageBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A signed message. `reply_to` is null, or left out, for a post that answers none."""

    room: str
    content: str
    public_key: str
    signature: str
    reply_to: int | None = None


class PreviewBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message that may be signed or not yet."""

    room: str
    content: str
    public_key: str
    signature: str = ""
    reply_to: int | None = None


class Accepted(msgspec.Struct, frozen=True):
    """A message that is in the log. `duplicate` says that it was there before."""

    id: int
    digest: str
    accepted_at: str = field(name="acceptedAt")
    kind: Kind
    duplicate: bool
    warnings: tuple[ProblemItem, ...]
    url: str
    thread: str


class Previewed(msgspec.Struct, frozen=True):
    """What would be accepted now, and the exact bytes to sign: in base64, and as text."""

    kind: Kind
    digest: str
    preimage: str
    sha256: str
    bytes: int
    text: str
    signature: Literal["missing", "fits"]
    warnings: tuple[ProblemItem, ...]


class Written(msgspec.Struct, frozen=True):
    """What a poster wrote: the text, None once it was removed, and the name of the key."""

    content: str | None
    name: str | None


class MessageShown(msgspec.Struct, frozen=True):
    """A message. `thread` is the message at the top of it; `key` what became of the key since.

    `removedAt` is when the operator took the text away: the moderation list has the reason.
    """

    id: int
    kind: Kind
    room: str
    reply_to: int | None
    thread: int
    accepted_at: str = field(name="acceptedAt")
    digest: str
    public_key: str
    signature: str
    key: KeyWord
    removed_at: str | None = field(name="removedAt")
    untrusted: Written


class MessagePage(msgspec.Struct, frozen=True):
    """Messages by id. `next_cursor` is the id to go on from, null on the last page."""

    items: tuple[MessageShown, ...]
    next_cursor: int | None


class RoomShown(msgspec.Struct, frozen=True):
    """A room, the id of its newest message (0 for none), and where its messages are."""

    id: str
    latest: int
    messages: str


class RoomsShown(msgspec.Struct, frozen=True):
    """All rooms of the node."""

    items: tuple[RoomShown, ...]


class RateShown(msgspec.Struct, frozen=True):
    """A limit on how often: `count` (0 for none) in `seconds`, for each key or network."""

    id: str
    count: int
    seconds: int
    per: Literal["key", "network"]
    says: str
    reason: str


class LimitShown(msgspec.Struct, frozen=True):
    """A limit on how much."""

    says: str
    value: int
    unit: str
    reason: str


class LimitsShown(msgspec.Struct, frozen=True):
    """All limits of posts."""

    rates: tuple[RateShown, ...]
    sizes: tuple[LimitShown, ...]


class ModeratedShown(msgspec.Struct, frozen=True):
    """One thing that the operator did, and why. `subject` is a key, or the id of a message."""

    id: int
    action: Literal["block", "unblock", "tombstone"]
    subject: str
    reason: str
    at: str


class ModerationPage(msgspec.Struct, frozen=True):
    """What the operator did, in order."""

    items: tuple[ModeratedShown, ...]
    next_cursor: int | None


def state_word(state: KeyState) -> KeyWord:
    """Give the state of a key in a word."""
    if state.blocked:
        return "blocked"
    if state.revoked:
        return "revoked"
    return "admitted" if state.admitted else "unknown"


def message_shown(
    message: Message, name: str | None, state: KeyState, removed: int | None
) -> MessageShown:
    """Give a message as it is shown; `removed` is when its text was taken away."""
    return MessageShown(
        id=message.id,
        kind=message.kind,
        room=message.room,
        reply_to=message.reply_to,
        thread=message.thread,
        accepted_at=accepted_text(message.accepted_at),
        digest=message.digest,
        public_key=message.public_key,
        signature=message.signature,
        key=state_word(state),
        removed_at=None if removed is None else accepted_text(removed),
        untrusted=Written(message.content, name),
    )


def preview_shown(message: SignedMessage, looked: Looked, docs: str) -> Previewed:
    """Give what would be accepted, and what to sign."""
    signed = message.preimage
    return Previewed(
        looked.kind,
        message.digest,
        base64.b64encode(signed).decode(),
        hashlib.sha256(signed).hexdigest(),
        len(signed),
        signed.decode(),
        "fits" if message.signature else "missing",
        warnings_shown(looked.warnings, docs),
    )


def warnings_shown(faults: Iterable[Fault], docs: str) -> tuple[ProblemItem, ...]:
    """Give warnings as they are told."""
    return tuple(
        ProblemItem(
            each.code,
            each.detail,
            each.hint,
            line=each.line,
            field=each.field,
            docs=f"{docs}/{each.code}",
        )
        for each in faults
    )
