"""A message that somebody wants to post, looked at as far as no database is needed.

The order: the form of everything around the content, then the content itself and what looks like a
secret in it, then the signature. What it stands in relation to is judged when it is appended.
Source: cold trials spec §§1, 2.
"""

from typing import Final

import msgspec

from refold.kernel.errors import InputError
from refold.kernel.keys import verify
from refold.trials.codes import Fault, fault
from refold.trials.intake import Reading, read_content
from refold.trials.leaks import leak_faults
from refold.trials.node import Node
from refold.trials.posts import Post
from refold.trials.signing import (
    SignedMessage,
    WrongSignature,
    message_faults,
    message_slips,
    signature_fault,
)
from refold.trials.tables import MAX_CONTENT, Kind

__all__ = ["MAX_BODY", "Looked", "is_signed", "look_at", "wrong_signature"]

MAX_BODY: Final = 128 * 1024
"""Bytes of a posted body: the longest content, each of its characters escaped in twelve."""
MAX_LOOKED: Final = 2 * MAX_CONTENT
"""Code points of a content that is looked at for more than its length."""

_UNSIGNED: Final = "0" * 128


class Looked(msgspec.Struct, frozen=True):
    """What was found: `form` faults are of all but the content, `post` is None with problems."""

    kind: Kind
    form: tuple[Fault, ...]
    problems: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    post: Post | None

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All that refuses the message, its form first."""
        return self.form + self.problems


def look_at(message: SignedMessage, node: Node, *, preview: bool = False) -> Looked:
    """Give all that is wrong with a message by itself, its signature apart.

    With `preview` the signature may be "", and hosts of examples are only warned of.
    """
    form = message_faults(_with_form(message) if preview else message, node.rooms)
    if len(message.content) > MAX_LOOKED:
        detail = f"The content has {len(message.content):,} of {MAX_CONTENT:,} code points."
        return Looked("message", form, (fault("too_long", detail),), (), None)
    reading = read_content(message.content, node.origin, node.sites, preview=preview)
    problems = reading.problems + leak_faults(message.content)
    warnings = reading.warnings
    if preview and reading.kind != "message":
        warnings += _only_in_previews(message.content, node, reading)
    return Looked(reading.kind, form, problems, warnings, None if problems else reading.post)


def _with_form(message: SignedMessage) -> SignedMessage:
    """Give a message whose missing signature is no fault of its form."""
    return message if message.signature else msgspec.structs.replace(message, signature=_UNSIGNED)


def _only_in_previews(content: str, node: Node, seen: Reading) -> tuple[Fault, ...]:
    """Give what refuses the post although its preview passes."""
    again = read_content(content, node.origin, node.sites)
    return tuple(each for each in again.problems if each not in seen.problems)


def is_signed(message: SignedMessage) -> bool:
    """Tell whether the signature fits; form of key and signature may be any."""
    try:
        verify(message.public_key, message.preimage, message.signature)
    except (InputError, UnicodeEncodeError):
        return False
    return True


def wrong_signature(message: SignedMessage) -> WrongSignature | None:
    """Give why a signature does not fit, and what was signed instead; it takes milliseconds."""
    slips = message_slips(message)
    return signature_fault(message.public_key, message.preimage, message.signature, slips)
