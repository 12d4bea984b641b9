"""What the log takes, holds and gives back."""

from collections.abc import Callable, Sequence

import msgspec
from sqlalchemy import Connection

from refold.trials.codes import Fault
from refold.trials.posts import Post
from refold.trials.signing import SignedMessage
from refold.trials.tables import Kind

__all__ = ["Appended", "Fold", "Judge", "Message", "Posting"]


class Posting(msgspec.Struct, frozen=True):
    """A signed message that passed all checks which need no database, its signature included.

    `post` is what its content was read as, `digest` its content address in hex.
    """

    message: SignedMessage
    post: Post
    digest: str


class Message(msgspec.Struct, frozen=True):
    """A message of the log. Ids count from 1 without gaps; `accepted_at` is in Unix seconds.

    `thread` is the id of the message at the top of its thread, its own if that is itself. Hex is
    lower-case: `digest` and `public_key` 64 digits, `signature` 128. `content` is None once the
    operator removed the text.
    """

    id: int
    accepted_at: int
    digest: str
    kind: Kind
    room: str
    reply_to: int | None
    thread: int
    content: str | None
    public_key: str
    signature: str


class Appended(msgspec.Struct, frozen=True):
    """What became of a posting: a message of the log, or the problems that it was refused for.

    `is_duplicate` says that the message stood in the log before.
    """

    message: Message | None
    is_duplicate: bool = False
    problems: tuple[Fault, ...] = ()


Judge = Callable[[Connection, Posting, int], Sequence[Fault]]
"""Gives the problems of a posting, none if it may be appended now (Unix seconds).

It sees all that was appended before, and writes nothing. Of the ordinary messages that stand at the
top some of the same second may not be in the tables yet: nothing can depend on those.
"""

Fold = Callable[[Connection, Message, Post], None]
"""Takes a message that was just appended into tables, in the same transaction, in order of ids."""
