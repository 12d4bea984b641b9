"""Archives made in memory, honest ones and forged ones: everything but the keys can be chosen."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any

import msgspec

from refold.kernel.merkle import Frontier, consistency_proof, inclusion_proof, perfect_root
from refold.trials.archive.lines import (
    FORMAT,
    CheckpointLine,
    Head,
    HeadKey,
    KeyLine,
    Line,
    MessageLine,
    ModerationLine,
    RemovedLine,
    lines_of,
)
from refold.trials.archive.reading import Part, read_archive, seconds_of
from refold.trials.archive.trust import origin_of
from refold.trials.archive.writing import ArchiveWriter
from refold.trials.checkpoint import Checkpoint, LogKey, Signer, signed_note
from refold.trials.leaf import accepted_text, hashed_leaf
from trials.logged import NOON, SIGNER, key_of, signed

AT = accepted_text(NOON)
Posted = MessageLine | RemovedLine


def message(id_: int, content: str, *, who: int = 1, at: int = NOON, **how: Any) -> MessageLine:
    """Give a message as it stands in an archive."""
    made = signed(content, who=who, **how)
    return MessageLine(
        id=id_,
        accepted_at=accepted_text(at),
        room=made.room,
        reply_to=made.reply_to,
        public_key=made.public_key,
        signature=made.signature,
        digest=made.digest,
        content=content,
    )


def removed(line: MessageLine, kind: str = "message", closes: str | None = None) -> RemovedLine:
    """Give the same without its text."""
    kept = {name: getattr(line, name) for name in RemovedLine.__struct_fields__[:7]}
    return RemovedLine(**kept, kind=msgspec.convert(kind, Any), closes=closes)


HONEST: tuple[Posted, ...] = (
    message(1, "first"),
    message(2, 'quotes " and \\ and \n lines, ünïcödé 潮', who=2),
    removed(message(3, "somebody's address", who=2, at=NOON + 1)),
    message(4, "an answer", reply_to=1, at=NOON + 1),
    message(5, "run-v1\nsomething that no grammar of ours takes", who=3, at=NOON + 2),
    message(6, "a\u2028b", room="elsewhere", at=NOON + 9),
    message(7, "last", at=NOON + 9),
)
KEYS = tuple(
    KeyLine(key, name, AT) for key, name in sorted((key_of(n), f"agent {n}") for n in (1, 2, 3))
)
ACTS = (
    ModerationLine(1, "block", key_of(9), "floods the rooms", AT),
    ModerationLine(4, "tombstone", "3", "an address", AT),
)


class Tree:
    """The tree over some messages."""

    def __init__(self, messages: Iterable[Posted]) -> None:
        self.leaves = [
            hashed_leaf(each.id, seconds_of(each.accepted_at), each.digest, each.signature)
            for each in messages
        ]

    def node(self, level: int, index: int) -> bytes:
        return perfect_root(self.leaves[index << level : (index + 1) << level])

    def root(self, size: int) -> bytes:
        frontier = Frontier()
        for leaf in self.leaves[:size]:
            frontier.append(leaf)
        return frontier.root()

    def consistency(self, size: int) -> tuple[bytes, ...]:
        size = min(size, len(self.leaves))
        return consistency_proof(size, len(self.leaves), self.node)

    def inclusion(self, message: int) -> tuple[bytes, ...]:
        return inclusion_proof(message - 1, len(self.leaves), self.node)


def note_of(tree: Tree, signer: Signer = SIGNER, size: int | None = None) -> str:
    """Give the checkpoint over a tree, or its beginning."""
    size = len(tree.leaves) if size is None else size
    return signed_note(Checkpoint(signer.key.name, size, tree.root(size)).text, [signer])


def head_of(tree: Tree, signer: Signer = SIGNER, keys: Sequence[HeadKey] | None = None) -> Head:
    """Give the head of an archive of a tree."""
    first = HeadKey(signer.key.public.hex(), AT, 0, None)
    origin, size = origin_of(signer.key.name), len(tree.leaves)
    return Head(FORMAT, origin, size, note_of(tree, signer), tuple(keys or (first,)))


def archive(
    messages: Sequence[Posted] = HONEST,
    *,
    signer: Signer = SIGNER,
    signs: Sequence[Posted] | None = None,
    head: Callable[[Head], Head] = lambda made: made,
    more: Sequence[Line] = (*KEYS, *ACTS),
    block: int = 3,
) -> bytes:
    """Give an archive whose hashes are right.

    `signs` are the messages that the log's key signed, if they are others; `head` may change the
    head, `more` stands before the messages; `block` messages are a block.
    """
    tree = Tree(messages if signs is None else signs)
    kept = Tree(messages)
    written: list[bytes] = []
    writer = ArchiveWriter(written.append, tree.consistency)
    writer.add(head(head_of(tree, signer)))
    for line in more:
        writer.add(line)
    writer.close_block()
    for number, line in enumerate(messages, 1):
        writer.add(line)
        if number in {2, len(messages)}:
            writer.add(CheckpointLine(AT, note_of(kept, signer, number)))
        if number % block == 0:
            writer.close_block()
    writer.end()
    return b"".join(written)


def parts(raw: bytes, key: LogKey = SIGNER.key) -> list[Part]:
    """Read an archive to its end."""
    return list(read_archive(lines(raw), key))


def lines(raw: bytes) -> Iterator[bytes]:
    """Give the lines of an archive as they are read from a file."""
    return lines_of(BytesIO(raw).readline)
