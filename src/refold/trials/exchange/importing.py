"""Archives taken into a database: those of other nodes are kept, one of its own restores the log.

A block of at most a thousand messages is a transaction, and only what is proven is written: whoever
is cut off goes on with the same archive, or a later one, where it stopped. A foreign message is
kept under (origin, foreign id) as it was there, whatever our grammar says of it: it gets no local
id, admits no key and enters no index. Source: cold trials spec §3.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

import msgspec
from sqlalchemy import Connection

from refold.db import Database
from refold.kernel.errors import SourceError, UsageError
from refold.trials.archive.codes import wrong
from refold.trials.archive.lines import RemovedLine
from refold.trials.archive.reading import Part, Taken, read_archive
from refold.trials.archive.trust import origin_of
from refold.trials.checkpoint import LogKey
from refold.trials.store.foreign import Foreign, ForeignMessage, OriginRow
from refold.trials.store.model import Message
from refold.trials.store.tree import Tree

__all__ = ["Imported", "Progress", "import_foreign", "require_same"]

Progress = Callable[[int, int], None]
"""Is told how many messages of the archive are done, and how many it has."""


class Imported(msgspec.Struct, frozen=True, rename="camel"):
    """What came of an archive: its messages, how many of them are new here, how many have no text.

    `own` says that it restored this node's log; `sha256` is that of its lines but the last.
    """

    origin: str
    own: bool
    size: int
    added: int
    removed: int
    root: str
    sha256: str


def import_foreign(
    database: Database,
    lines: Iterable[bytes],
    key: LogKey,
    now: int,
    progress: Progress = lambda _done, _all: None,
) -> Imported:
    """Keep the messages of another node, at Unix seconds `now`; `key` is that of its log.

    What is here already is compared, not written. Where a newer archive has no text any more, the
    copy here loses its own. Raises InputError with a code of `refold.trials.archive.codes`;
    UsageError `import-own` for this node's own archive; SourceError `import-raced`.
    """
    origin = origin_of(key.name)
    with database.read() as connection:
        rows = Tree(connection).keys()
        row = Foreign(connection).origin(origin)
    if rows and rows[-1].name == key.name:
        raise UsageError(
            "import-own", "the archive is this node's own", "name the node's key: it is restored"
        )
    held = row.size if row else 0
    added = removed = size = 0
    root, total = b"", ""
    for part in read_archive(lines, key, held=held):
        if part.messages or part.is_last:
            with database.write() as connection:
                added += _take(connection, part, key, held, now)
        held = max(held, part.size)
        removed += sum(isinstance(each.line, RemovedLine) for each in part.messages)
        progress(part.size, part.head.size)
        size, root, total = part.size, part.root, part.sha256
    return Imported(origin, False, size, added, removed, root.hex(), total)


def _take(connection: Connection, part: Part, key: LogKey, held: int, now: int) -> int:
    """Take a block, in its transaction; give how many messages are new."""
    place = Foreign(connection)
    origin = part.head.origin
    row = place.origin(origin)
    if (row.size if row else 0) != held:
        raise SourceError(
            "import-raced", f"another import of {origin} is at work", "run one at a time"
        )
    again = [each for each in part.messages if each.id <= held]
    if again:
        stored = place.page(origin, again[0].id - 1, len(again))
        require_same(again, stored)
        gone = [
            here.id
            for there, here in zip(again, stored, strict=True)
            if there.content is None and here.content is not None
        ]
        place.drop_texts(origin, gone)
    fresh = [_message(origin, each) for each in part.messages[len(again) :]]
    place.insert(fresh)
    # Before that the archive may still turn out to tell otherwise what is here.
    if part.size >= held:
        head = part.head
        place.put_origin(
            OriginRow(origin, key.verifier, part.size, head.size, head.checkpoint, now)
        )
    return len(fresh)


def require_same(told: Sequence[Taken], stored: Sequence[ForeignMessage | Message]) -> None:
    """Return if the stored messages are those of an archive; raises InputError `archive-diverges`.

    Each is compared by what is in its leaf.
    """
    for there, here in zip_longest(told, stored):
        leaf = (there.id, there.accepted_at, there.line.digest, there.line.signature)
        if here is None or leaf != (here.id, here.accepted_at, here.digest, here.signature):
            text = f"message {there.id} is another one than is stored here"
            raise wrong("archive-diverges", text)


def _message(origin: str, taken: Taken) -> ForeignMessage:
    line = taken.line
    return ForeignMessage(
        origin,
        taken.id,
        taken.accepted_at,
        line.digest,
        line.room,
        line.reply_to,
        line.public_key,
        line.signature,
        taken.content,
    )
