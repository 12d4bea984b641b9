"""Something that a node gave out, verified offline: an archive, a record, a checkpoint.

Which of them it is shows in its first bytes. Nothing is fetched, and nothing but the key from
outside is believed. Source: cold trials spec §§3, 4, 5.
"""

from collections.abc import Callable, Iterator

import msgspec

from refold.trials.archive.checkpoints import check_checkpoint, check_growth
from refold.trials.archive.claims import Kind
from refold.trials.archive.codes import wrong
from refold.trials.archive.lines import MAX_LINE, lines_of
from refold.trials.archive.reading import read_archive
from refold.trials.archive.records import MAX_RECORD, check_record
from refold.trials.archive.trust import origin_of
from refold.trials.checkpoint import MAX_NOTE, LogKey

__all__ = ["Verified", "verified"]

_HEAD = b'{"type":"head"'


class Verified(msgspec.Struct, frozen=True, rename="camel"):
    """What was verified: `size` and `root` (hex) are those that the log's key signed.

    `messages` were looked at, `removed` of them have no text any more; `public_key` is of records,
    `since` the size of the older checkpoint that a log grew from, `sha256` of archives: that
    of all lines but the last.
    """

    kind: Kind
    origin: str
    size: int
    root: str
    messages: int = 0
    removed: int = 0
    public_key: str | None = None
    since: int | None = None
    sha256: str | None = None

    def shown(self) -> Iterator[tuple[str, str]]:
        """Give what there is to say, as names and texts."""
        yield "size", f"{self.size:,}"
        yield "root", self.root
        if self.public_key is not None:
            yield "public key", self.public_key
        if self.kind != "checkpoint":
            yield "messages", f"{self.messages:,}, {self.removed:,} without text"
        if self.sha256 is not None:
            yield "sha256", self.sha256
        if self.since is not None:
            yield "grew from", f"{self.since:,} messages"


def verified(
    readline: Callable[[int], bytes],
    read: Callable[[int], bytes],
    key: LogKey,
    growth: tuple[bytes, bytes] | None = None,
) -> Verified:
    """Give what a stream holds, if all of it is right.

    `growth` is an older checkpoint and the answer that proves growth since. Raises InputError with
    a code of `refold.trials.archive.codes`, of which the first thing that is wrong decides.
    """
    first = readline(MAX_LINE + 1)
    if first.startswith(_HEAD):
        return _archive(first, readline, key)
    if first.lstrip()[:1] == b"{":
        rest = b"" if len(first) > MAX_RECORD else read(MAX_RECORD + 1 - len(first))
        checked = check_record(first + rest, key)
        return Verified(
            "record",
            origin_of(key.name),
            checked.size,
            checked.root.hex(),
            checked.messages,
            checked.removed,
            checked.public_key,
        )
    newest = check_checkpoint(first + read(MAX_NOTE * 4), key)
    since = None
    if growth is not None:
        older = check_checkpoint(growth[0], key)
        check_growth(older, newest, growth[1])
        since = older.size
    return Verified("checkpoint", origin_of(key.name), newest.size, newest.root.hex(), since=since)


def _archive(first: bytes, readline: Callable[[int], bytes], key: LogKey) -> Verified:
    def lines() -> Iterator[bytes]:
        yield first
        yield from lines_of(readline)

    messages = removed = 0
    found = None
    for part in read_archive(lines(), key):
        messages += len(part.messages)
        removed += sum(each.content is None for each in part.messages)
        found = Verified(
            "archive",
            part.head.origin,
            part.size,
            part.root.hex(),
            messages,
            removed,
            sha256=part.sha256,
        )
    if found is None:  # read_archive raises before that
        raise wrong("archive-cut", "there is nothing")
    return found
