"""An archive read and checked line by line, given out block by block.

    for part in read_archive(lines_of(file.readline), key):
        ...                       # all of it is proven, whatever comes behind

Checked are: each line's form and spelling, ids without gaps and times that do not go back, digest
and signature of each message, each leaf against the root that the log's key signed, all changes of
that key, all kept checkpoints, and a hash over everything. Memory is that of a block. Source: cold
trials spec §3.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256

import msgspec

from refold.kernel.errors import InputError
from refold.kernel.keys import verify
from refold.kernel.merkle import Frontier, verify_consistency
from refold.kernel.utc import parse_utc
from refold.trials.archive.codes import wrong
from refold.trials.archive.lines import (
    BLOCK,
    BlockLine,
    CheckpointLine,
    EndLine,
    Head,
    KeyLine,
    MessageLine,
    ModerationLine,
    RemovedLine,
    decode_line,
)
from refold.trials.archive.proofs import hashes_of, is_hex
from refold.trials.archive.trust import Chain, signed_checkpoint, trusted
from refold.trials.checkpoint import Checkpoint, LogKey
from refold.trials.leaf import hashed_leaf
from refold.trials.signing import digest, message_bytes
from refold.trials.tables import MAX_INTEGER

__all__ = ["MAX_ROOM", "Kept", "Part", "Taken", "read_archive", "seconds_of"]

MAX_ROOM = 200
"""Code points of the name of another node's room. It has no line end: what is signed is lines."""

# Lines stand in this order; a head stands nowhere again.
_STAGES: dict[type, int] = {
    KeyLine: 0,
    ModerationLine: 1,
    MessageLine: 2,
    RemovedLine: 2,
    CheckpointLine: 2,
}


class Taken(msgspec.Struct, frozen=True, gc=False):
    """A message that was checked, with its time in Unix seconds.

    `content` is None for a removed text; then `kind` and `closes` are what the archive says.
    """

    id: int
    accepted_at: int
    line: MessageLine | RemovedLine

    @property
    def content(self) -> str | None:
        """The text, None if it was removed."""
        return self.line.content if isinstance(self.line, MessageLine) else None


class Kept(msgspec.Struct, frozen=True):
    """A kept checkpoint: its size, when it was signed (Unix seconds), the note."""

    size: int
    signed_at: int
    note: str


class Part(msgspec.Struct, frozen=True):
    """A block: `size` messages up to its end, the root over them, and what stands in it.

    `is_last` says that the archive ended after it as it should; `sha256` is then that of its lines
    but the last.
    """

    head: Head
    chain: Chain
    size: int
    root: bytes
    keys: tuple[KeyLine, ...] = ()
    moderation: tuple[ModerationLine, ...] = ()
    messages: tuple[Taken, ...] = ()
    checkpoints: tuple[Kept, ...] = ()
    is_last: bool = False
    sha256: str = ""


def read_archive(lines: Iterable[bytes], key: LogKey, *, held: int = 0) -> Iterator[Part]:
    """Give the blocks of an archive, each checked before it is given; then an empty last one.

    `key` is a key of the log, known from elsewhere. Signatures of the first `held` messages are not
    verified: the caller has them, and compares. Raises InputError with a code of
    `refold.trials.archive.codes` at the first line that is wrong.
    """
    reading: _Reading | None = None
    total = sha256()
    number = 0
    for number, raw in enumerate(lines, 1):
        line = decode_line(raw, number)
        if reading is None:
            if not isinstance(line, Head):
                raise wrong("archive-damaged", "an archive begins with its head", number)
            reading = _Reading(line, key, held)
        elif reading.is_over:
            raise wrong("archive-damaged", "something follows the end", number)
        elif isinstance(line, (BlockLine, EndLine)):
            part = reading.close(line, total.hexdigest(), number)
            if part is not None:
                yield part
        else:
            reading.take(line, number)
        total.update(raw)
    if reading is None or not reading.is_over:
        raise wrong("archive-cut", "the archive ends before its end", number + 1)
    yield reading.part(is_last=True)


class _Reading:
    """What of an archive was read so far."""

    def __init__(self, head: Head, key: LogKey, held: int) -> None:
        self.head = head
        self.chain, self.checkpoint = trusted(head, key)
        self.is_over = False
        self._total = ""
        self._held = held
        self._frontier = Frontier()
        self._stage = 0
        self._last_key = ""
        self._last_moderated = 0
        self._last_time = 0
        self._last_kept = -1
        self._keys: list[KeyLine] = []
        self._moderation: list[ModerationLine] = []
        self._messages: list[Taken] = []
        self._checkpoints: list[Kept] = []
        self._count = 0
        self._compare(1)

    def take(self, line: object, number: int) -> None:
        """Take a line that is no end of a block. Raises as `read_archive`."""
        self._count += 1
        if self._count > BLOCK:
            raise wrong("archive-damaged", f"a block has more than {BLOCK} lines", number)
        stage = _STAGES.get(type(line), -1)
        if stage < self._stage:
            raise wrong("archive-damaged", "the line does not stand there", number)
        self._stage = stage
        if isinstance(line, (MessageLine, RemovedLine)):
            self._message(line, number)
        elif isinstance(line, CheckpointLine):
            self._kept(line, number)
        elif isinstance(line, KeyLine):
            self._key(line, number)
        elif isinstance(line, ModerationLine):
            self._moderated(line, number)

    def close(self, line: BlockLine | EndLine, total: str, number: int) -> Part | None:
        """Close a block, and give it; or the archive. Raises as `read_archive`."""
        size = self._frontier.size
        if isinstance(line, EndLine):
            if line.size != self.head.size:
                text = f"the end says {line.size} messages, the head {self.head.size}"
                raise wrong("archive-size", text, number)
            if self._count or size != self.head.size:
                text = f"there are {size} of {self.head.size} messages"
                raise wrong("archive-cut", text, number)
            self._require_hash(line, total, number)
            self.is_over = True
            self._total = total
            return None
        if line.size != size:
            text = f"the block says {line.size} messages, there are {size}"
            raise wrong("archive-size", text, number)
        root = self._frontier.root()
        signed: Checkpoint = self.checkpoint
        if not verify_consistency(size, root, signed.size, signed.root, hashes_of(line.proof)):
            text = f"the {size} messages so far are not those that were signed"
            raise wrong("archive-tree", text, number)
        self._require_hash(line, total, number)
        return self.part()

    def part(self, *, is_last: bool = False) -> Part:
        """Give the block that was read, and begin the next one."""
        found = Part(
            self.head,
            self.chain,
            self._frontier.size,
            self._frontier.root(),
            tuple(self._keys),
            tuple(self._moderation),
            tuple(self._messages),
            tuple(self._checkpoints),
            is_last,
            self._total,
        )
        for each in (self._keys, self._moderation, self._messages, self._checkpoints):
            each.clear()
        self._count = 0
        return found

    def _message(self, line: MessageLine | RemovedLine, number: int) -> None:
        if line.id != self._frontier.size + 1 or line.id > self.head.size:
            text = f"message {line.id} stands where {self._frontier.size + 1} should"
            raise wrong("archive-size", text, number)
        if line.reply_to is not None and not 0 < line.reply_to <= MAX_INTEGER:
            raise wrong("archive-size", f"reply_to {line.reply_to} is no id", number)
        if "\n" in line.room or len(line.room) > MAX_ROOM:
            raise wrong("archive-damaged", "this is no name of a room", number)
        seconds = _seconds(line.accepted_at, number)
        if seconds < self._last_time:
            text = f"message {line.id} was accepted before the one before it"
            raise wrong("archive-tree", text, number)
        if isinstance(line, MessageLine):
            self._signed(line, number)
        elif not (
            is_hex(line.public_key, 64) and is_hex(line.signature, 128) and is_hex(line.digest, 64)
        ):
            raise wrong("archive-damaged", "key, signature or digest is not in hex", number)
        elif line.closes is not None:
            _seconds(line.closes, number)
        self._last_time = seconds
        self._frontier.append(hashed_leaf(line.id, seconds, line.digest, line.signature))
        self._messages.append(Taken(line.id, seconds, line))
        self._compare(number)

    def _signed(self, line: MessageLine, number: int) -> None:
        """See to it that a message is what its key signed."""
        signed = message_bytes(line.room, line.reply_to, line.content)
        is_key = is_hex(line.public_key, 64)
        if not is_key or digest(bytes.fromhex(line.public_key), signed) != line.digest:
            text = f"message {line.id} is not the one of its digest"
            raise wrong("archive-signature", text, number)
        if line.id > self._held:
            try:
                verify(line.public_key, signed, line.signature)
            except InputError as error:
                text = f"message {line.id}: {error.message}"
                raise wrong("archive-signature", text, number) from None

    def _compare(self, number: int) -> None:
        """Compare the root with that of a change of the log's key at this size."""
        root = self.chain.roots.get(self._frontier.size)
        if root is not None and root != self._frontier.root():
            text = f"another root was signed for {self._frontier.size} messages"
            raise wrong("archive-tree", text, number)

    def _kept(self, line: CheckpointLine, number: int) -> None:
        said = signed_checkpoint(line.note, self.chain.keys, number)
        if said.size != self._frontier.size:
            text = f"the checkpoint is of {said.size} messages, not {self._frontier.size}"
            raise wrong("archive-size", text, number)
        if said.root != self._frontier.root():
            text = f"another root was signed for {said.size} messages"
            raise wrong("archive-tree", text, number)
        if said.size == self._last_kept:
            raise wrong("archive-damaged", "a checkpoint stands there twice", number)
        self._last_kept = said.size
        seconds = _seconds(line.signed_at, number)
        self._checkpoints.append(Kept(said.size, seconds, line.note))

    def _key(self, line: KeyLine, number: int) -> None:
        _seconds(line.admitted_at, number)
        if not is_hex(line.public_key, 64) or line.public_key <= self._last_key:
            raise wrong("archive-damaged", "keys stand in order, each once, in hex", number)
        self._last_key = line.public_key
        self._keys.append(line)

    def _moderated(self, line: ModerationLine, number: int) -> None:
        _seconds(line.at, number)
        if not self._last_moderated < line.id <= MAX_INTEGER:
            raise wrong("archive-size", "what the operator did stands in order", number)
        self._last_moderated = line.id
        self._moderation.append(line)

    @staticmethod
    def _require_hash(line: BlockLine | EndLine, total: str, number: int) -> None:
        if line.sha256 != total:
            raise wrong("archive-damaged", "the hash over all that stands before differs", number)


@lru_cache(maxsize=4_096)  # messages of one commit share their second
def seconds_of(text: str) -> int:
    """Give the Unix seconds of a time in its one form; raises InputError as `parse_utc`."""
    return int(parse_utc(text).timestamp())


def _seconds(text: str, number: int) -> int:
    try:
        return seconds_of(text)
    except InputError as error:
        raise wrong("archive-damaged", error.message, number) from None
