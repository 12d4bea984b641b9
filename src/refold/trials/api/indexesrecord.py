"""The record of a key: all that it posted in the format, with what a stranger needs to check it.

Source: cold trials spec §§3, 4.
"""

import base64
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from refold.kernel.merkle import inclusion_proof
from refold.serving.answers import Answer
from refold.serving.call import Call
from refold.serving.operation import get
from refold.trials.api.indexes import DEFAULT_PAGE, MAX_PAGE, next_by_id
from refold.trials.api.indexesfresh import Fresh
from refold.trials.api.indexesshown import Content, Named, RecordItem, RecordShown
from refold.trials.api.office import Office
from refold.trials.api.shown import state_word
from refold.trials.leaf import accepted_text
from refold.trials.rules import NOT_PROVEN
from refold.trials.signing import message_bytes
from refold.trials.store.indexreading import IndexReader, KeyPost
from refold.trials.store.tree import Tree
from refold.trials.tiles import node_reader

__all__ = ["PublicKey", "RecordApi"]

PROVES: Final = (
    "Each signature fits the key and the signed bytes, so whoever holds the key signed them. Each"
    " proof leads from the post to the root that the node signed, so the log has it; times are the"
    " node's word. Nothing here shows that posts are missing, or who holds the key."
)

PublicKey = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{64}$",
        description="An Ed25519 key, 64 lower-case hex digits.",
        examples=["3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"],
    ),
]


class RecordAsked(msgspec.Struct, kw_only=True, frozen=True):
    """A page of the record of a key."""

    public_key: PublicKey
    after: Annotated[int, Meta(ge=0, description="Begin behind this id, the oldest first.")] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = DEFAULT_PAGE
    proofs: Annotated[bool, Meta(description="Whether each item has its proof.")] = True


class RecordApi:
    """See the module."""

    def __init__(self, office: Office, fresh: Fresh) -> None:
        self._office = office
        self._fresh = fresh

    @get("/v1/public/keys/{public_key}/record", summary="Give the record of a key")
    def record(self, asked: RecordAsked, call: Call) -> Answer[RecordShown]:
        """Give every trial, run, disposition and other format post of a key, in order.

        Each comes with the signed bytes, the signature, and the proof that the log has it.
        `refold trials verify` checks the answer offline, with the log's key from elsewhere.
        """

        def make(connection: Connection, now: int) -> tuple[RecordShown, str]:
            key = asked.public_key
            reader = IndexReader(connection, now)
            rows = reader.posts_of(key, asked.after, asked.limit + 1)
            shown = rows[: asked.limit]
            cursor = shown[-1].id if len(rows) > len(shown) else None
            name, state = reader.key(key)
            tree = Tree(connection)
            newest = tree.checkpoint()
            size = 0 if newest is None else newest.size
            proofs = _proofs(tree, shown, size) if asked.proofs else [None] * len(shown)
            answer = RecordShown(
                key,
                state_word(state),
                self._office.node.origin,
                "" if newest is None else newest.note,
                self._office.address("/v1/public/log/keys"),
                tuple(map(_item, shown, proofs)),
                cursor,
                PROVES,
                NOT_PROVEN,
                Named(name),
            )
            return answer, next_by_id(call, "after", cursor)

        return self._fresh.give(call, make)


def _proofs(tree: Tree, posts: Sequence[KeyPost], size: int) -> list[tuple[str, ...] | None]:
    """Give the proof of each post; tiles are read, and nodes hashed, once for all."""
    node = cache(node_reader(tree.hashes))
    return [
        tuple(each.hex() for each in inclusion_proof(post.id - 1, size, node)) for post in posts
    ]


def _item(post: KeyPost, proof: tuple[str, ...] | None) -> RecordItem:
    signed = None
    if post.content is not None:
        raw = message_bytes(post.room, post.reply_to, post.content)
        signed = base64.b64encode(raw).decode()
    return RecordItem(
        id=post.id,
        kind=post.kind,
        room=post.room,
        reply_to=post.reply_to,
        accepted_at=accepted_text(post.accepted_at),
        digest=post.digest,
        signature=post.signature,
        signed=signed,
        index=post.id - 1,
        proof=proof,
        untrusted=Content(post.content),
    )
