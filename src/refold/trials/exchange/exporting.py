"""The log of a node written as an archive, from one state of its database.

Everything that is exported is public anyway: messages, keys with their names, what the operator
did. No address of anybody is in it, since none is kept. Source: cold trials spec §3.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from sqlalchemy import Connection, select

from refold.kernel.errors import InputError, SourceError, UsageError
from refold.trials.archive.lines import (
    BLOCK,
    FORMAT,
    CheckpointLine,
    Head,
    HeadKey,
    KeyLine,
    MessageLine,
    ModerationLine,
    RemovedLine,
)
from refold.trials.archive.trust import origin_of
from refold.trials.archive.writing import ArchiveWriter, Begun
from refold.trials.checkpoint import read_checkpoint
from refold.trials.leaf import accepted_text
from refold.trials.log.keys import known_keys
from refold.trials.store import keytables
from refold.trials.store.model import Message
from refold.trials.store.moderating import Moderation
from refold.trials.store.reading import Messages
from refold.trials.store.tree import SignedCheckpoint, Tree

__all__ = ["Exported", "export_archive", "head_of"]

Progress = Callable[[int, int], None]
"""Is told how many messages are done, and how many there are."""

_KEY = keytables.keys.c
_CLOSING = keytables.closings.c


class Exported(msgspec.Struct, frozen=True, rename="camel"):
    """What an archive has. `sha256` is that of all its lines but the last."""

    origin: str
    size: int
    removed: int
    sha256: str


def head_of(connection: Connection) -> Head:
    """Give the head of an archive of the log as it is now. Raises SourceError `log-damaged`."""
    tree = Tree(connection)
    rows, newest = tree.keys(), tree.checkpoint()
    if not rows or newest is None:
        raise SourceError("log-damaged", "the database has no log", "start the node once")
    keys = tuple(
        HeadKey(row.public_key, accepted_text(row.since), row.since_size, row.statement)
        for row in rows
    )
    return Head(FORMAT, origin_of(rows[-1].name), newest.size, newest.note, keys)


def export_archive(
    connection: Connection,
    write: Callable[[bytes], object],
    begun: Begun | None = None,
    progress: Progress = lambda _done, _all: None,
    *,
    block: int = BLOCK,
) -> Exported:
    """Write the archive through `write`, from its beginning or from where `begun` says it got.

    `block` is how many lines a reader holds at once; more than BLOCK nobody takes.
    An archive that was begun stays that of its own head, however much the log grew. Raises
    SourceError `log-damaged`; UsageError `export-other` for the beginning of another log's archive.
    """
    now = head_of(connection)
    head = now if begun is None else _continued(connection, begun.head, now)
    tree = Tree(connection)
    writer = ArchiveWriter(write, lambda size: tree.consistency(size, head.size), begun, block)
    begun = begun or Begun(head)
    if begun.total is None:
        writer.add(head)
    if not begun.size:
        _write_prelude(connection, writer, begun)
    removed = _write_messages(connection, writer, begun, progress)
    return Exported(head.origin, head.size, removed, writer.end())


def _continued(connection: Connection, head: Head, now: Head) -> Head:
    """Give the head of a begun archive, if it is of this log."""
    keys = known_keys(Tree(connection).keys())
    try:
        said = read_checkpoint(head.checkpoint, keys)
        if said.size == head.size and Tree(connection).root(said.size) == said.root:
            return head
    except InputError:
        pass
    raise UsageError(
        "export-other",
        f"the file begins as an archive of another log than that of {now.origin}",
        "name another file",
    )


def _write_prelude(connection: Connection, writer: ArchiveWriter, begun: Begun) -> None:
    """Write keys and what the operator did, in a block of their own."""
    after = begun.key
    while not begun.moderated:
        asked = select(_KEY.public_key, _KEY.name, _KEY.admitted_at)
        asked = asked.where(_KEY.public_key > after).order_by(_KEY.public_key).limit(BLOCK)
        rows = connection.execute(asked).all()
        for row in rows:
            writer.add(KeyLine(row.public_key, row.name, accepted_text(row.admitted_at)))
        if len(rows) < BLOCK:
            break
        after = rows[-1].public_key
    last = begun.moderated
    while acts := Moderation(connection).page(last, BLOCK):
        for act in acts:
            at = accepted_text(act.at)
            writer.add(ModerationLine(act.id, act.action, act.subject, act.reason, at))
        last = acts[-1].id
    writer.close_block()


def _write_messages(
    connection: Connection, writer: ArchiveWriter, begun: Begun, progress: Progress
) -> int:
    """Write messages, and checkpoints where their size is reached; give how many have no text."""
    total, done, removed = begun.head.size, begun.size, 0
    kept = _kept(connection, begun.kept, total)
    following = next(kept, None)
    while True:
        page = Messages(connection).since(done, min(BLOCK, total - done)) if done < total else []
        closings = _closings(connection, page)
        for message in (None, *page):
            if message is not None:
                writer.add(_line_of(message, closings.get(message.id)))
                removed += message.content is None
                done = message.id
            while following is not None and following.size <= done:
                if following.size == done:
                    writer.add(CheckpointLine(accepted_text(following.signed_at), following.note))
                following = next(kept, None)
        progress(done, total)
        if not page:
            break
    if done != total:
        raise SourceError(
            "log-damaged", f"{total} messages were signed, {done} exist", "restore a backup"
        )
    return removed


def _kept(connection: Connection, after: int, most: int) -> Iterator[SignedCheckpoint]:
    """Give the kept checkpoints from a size on (not it itself), the smallest first."""
    found: list[SignedCheckpoint] = []
    while page := Tree(connection).checkpoints(BLOCK, found[-1].size if found else most + 1):
        found += page
    return (each for each in reversed(found) if each.size > after)


def _closings(connection: Connection, page: Sequence[Message]) -> dict[int, int]:
    """Give when trials close whose text was removed."""
    removed = [each.id for each in page if each.content is None and each.kind == "trial"]
    if not removed:
        return {}
    asked = select(_CLOSING.trial, _CLOSING.closes).where(_CLOSING.trial.in_(removed))
    return {row.trial: row.closes for row in connection.execute(asked)}


def _line_of(message: Message, closes: int | None) -> MessageLine | RemovedLine:
    about = (
        message.id,
        accepted_text(message.accepted_at),
        message.room,
        message.reply_to,
        message.public_key,
        message.signature,
        message.digest,
    )
    if message.content is None:
        closing = None if closes is None else accepted_text(closes)
        return RemovedLine(*about, message.kind, closing)
    return MessageLine(*about, message.content)
