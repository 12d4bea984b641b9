"""All of the log verified from its messages: nothing that is stored of the tree is believed.

Messages are read once, in order. Ids have no gaps and times do not go back; texts that are still
there have the digest and the signature that their rows say; the tree over them is the one that the
tiles hold and every kept checkpoint signs; each key took over from the one before. Source: cold
trials spec §3.
"""

from collections.abc import Iterator

import msgspec
from sqlalchemy import Connection, func, select

from refold.kernel.errors import Problem, RefoldError
from refold.kernel.keys import verify
from refold.kernel.merkle import Frontier
from refold.trials.checkpoint import LogKey, Rotation, read_checkpoint, read_rotation
from refold.trials.log.keys import known_keys
from refold.trials.log.state import State, grown
from refold.trials.signing import digest, message_bytes
from refold.trials.store import tables
from refold.trials.store.model import Message
from refold.trials.store.reading import Messages
from refold.trials.store.tree import SignedCheckpoint, Tree
from refold.trials.tiles import tiles_of

__all__ = ["MAX_PROBLEMS", "LogReport", "verify_log"]

MAX_PROBLEMS = 100
"""Problems that are told: a log that was tampered with has one a message from there on."""
CHUNK = 1_024


class LogReport(msgspec.Struct, frozen=True, rename="camel"):
    """What was verified: the size and root of the tree, messages without text, and what is wrong.

    `root` is hex. With no problems, every message, tile, checkpoint and key is as it should be.
    """

    size: int
    root: str
    removed: int
    checkpoints: int
    keys: int
    problems: tuple[Problem, ...]


def verify_log(connection: Connection, *, signatures: bool = True) -> LogReport:
    """Verify everything that the log holds, without changing it.

    It takes some 100 µs a message, most of it for the posters' signatures, which `signatures` can
    leave out; the memory does not grow with the log.
    """
    return _Verifying(connection, signatures=signatures).report()


class _Verifying:
    def __init__(self, connection: Connection, *, signatures: bool) -> None:
        self._connection = connection
        self._signatures = signatures
        self._tree = Tree(connection)
        self._problems: list[Problem] = []
        self._state = State(0, 0, "", Frontier(), (), ())
        self._removed = 0

    def report(self) -> LogReport:
        rows = self._tree.keys()
        keys = known_keys(rows)
        statements = self._rotations(keys, [row.statement or "" for row in rows])
        checkpoints = self._all_checkpoints()
        signed: dict[int, list[bytes]] = {}
        for each in checkpoints:
            signed.setdefault(each.size, []).extend(self._root_said(each, keys))
        for statement in statements:
            signed.setdefault(statement.size, []).append(statement.root)
        self._compare(signed.pop(0, []))
        for size in sorted(signed):
            self._read_to(size)
            if self._state.size == size:
                self._compare(signed[size])
            else:
                self._wrong("log-short", f"{size} messages were signed, {self._state.size} exist")
        self._read_to(None)
        self._last_tiles()
        newest = max((each.size for each in checkpoints), default=None)
        if newest != self._state.size and (keys or self._state.size):  # else there is no log yet
            self._wrong("log-unsigned", f"the newest checkpoint is of {newest} messages")
        return LogReport(
            size=self._state.size,
            root=self._state.frontier.root().hex(),
            removed=self._removed,
            checkpoints=len(checkpoints),
            keys=len(keys),
            problems=tuple(self._problems[:MAX_PROBLEMS]),
        )

    def _rotations(self, keys: list[LogKey], statements: list[str]) -> Iterator[Rotation]:
        for old, new, note in zip(keys, keys[1:], statements[1:], strict=False):
            try:
                said = read_rotation(note, old)
            except RefoldError as error:
                self._wrong("log-rotation", f"key {new.id.hex()}: {error.message}")
                continue
            if said.new != new.public:
                self._wrong("log-rotation", f"the statement for key {new.id.hex()} is another's")
            yield said

    def _all_checkpoints(self) -> list[SignedCheckpoint]:
        found: list[SignedCheckpoint] = []
        while page := self._tree.checkpoints(CHUNK, found[-1].size if found else None):
            found += page
        return found

    def _root_said(self, checkpoint: SignedCheckpoint, keys: list[LogKey]) -> Iterator[bytes]:
        try:
            said = read_checkpoint(checkpoint.note, keys)
        except RefoldError as error:
            self._wrong("log-checkpoint", f"of {checkpoint.size} messages: {error.message}")
            return
        if said.size != checkpoint.size:
            self._wrong("log-checkpoint", f"the one of {checkpoint.size} says {said.size} messages")
        yield said.root

    def _compare(self, roots: list[bytes]) -> None:
        root = self._state.frontier.root()
        if any(each != root for each in roots):
            text = f"another root was signed for {self._state.size} messages than they have"
            self._wrong("log-root", text)

    def _read_to(self, size: int | None) -> None:
        """Read messages until there are `size`, or all."""
        messages = Messages(self._connection)
        while size is None or self._state.size < size:
            left = CHUNK if size is None else min(CHUNK, size - self._state.size)
            page = messages.since(self._state.size, left)
            sound: list[Message] = []
            for each in page:
                if each.id != self._state.size + len(sound) + 1:
                    break
                self._message(each, sound[-1].accepted_at if sound else self._state.accepted_at)
                sound.append(each)
            self._grow(sound)
            if len(sound) < len(page):
                self._wrong("log-gap", f"message {self._state.size + 1} is not there")
            if len(sound) < left:
                return

    def _message(self, message: Message, before: int) -> None:
        if message.accepted_at < before:
            self._wrong("log-time", f"message {message.id} was accepted before the one before it")
        if message.content is None:
            self._removed += 1
            return
        try:
            key = bytes.fromhex(message.public_key)
            signed = message_bytes(message.room, message.reply_to, message.content)
            if digest(key, signed) != message.digest:
                self._wrong("log-digest", f"message {message.id} has not the text that was logged")
            elif self._signatures:
                verify(message.public_key, signed, message.signature)
        except (ValueError, RefoldError) as error:
            self._wrong("log-signature", f"message {message.id}: {error}")

    def _grow(self, messages: list[Message]) -> None:
        if not messages:
            return
        growth = grown(self._state, messages)
        last = messages[-1]
        self._state = State(
            last.id, last.accepted_at, last.digest, growth.frontier, growth.tiles, ()
        )
        for (level, number), hashes in growth.rows.items():
            # The last tile of a level may still grow: it is looked at in the end.
            if growth.tiles[level] == b"" or number < _last(self._state.size, level):
                self._tile(level, number, hashes)

    def _last_tiles(self) -> None:
        count = 0
        for level, number, _ in tiles_of(self._state.size):
            count += number + 1
            if self._state.tiles[level]:
                self._tile(level, number, self._state.tiles[level])
        there = self._connection.scalar(select(func.count()).select_from(tables.tiles))
        if there != count:
            self._wrong("log-tile", f"there are {there} tiles, the tree has {count}")

    def _tile(self, level: int, number: int, hashes: bytes) -> None:
        try:
            is_same = self._tree.hashes(level, number) == hashes
        except RefoldError:
            is_same = False
        if not is_same:
            self._wrong("log-tile", f"tile {number} of level {level} is not that of the messages")

    def _wrong(self, code: str, message: str) -> None:
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(Problem(code, message, "restore a backup"))


def _last(size: int, level: int) -> int:
    """Give the number of the last tile of a level."""
    return next(number for at, number, _ in tiles_of(size) if at == level)
