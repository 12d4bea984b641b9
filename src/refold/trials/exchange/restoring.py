"""The log of a node restored from its own archive: ids, indexes, checkpoints, keys, moderation.

The node's key is needed: it signs a checkpoint with each block, since a log never stands without
one, and the posts that come after. Each message is judged as it was when it was taken, by the
relations and the keys of that moment; rooms, limits and rules on secrets, which an operator may
have changed since, are not asked again, and neither are blocks, whose second cannot be told from
that of a post. Source: cold trials spec §3.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from refold.db import Database, insert_missing, put
from refold.kernel.errors import SourceError
from refold.trials.archive.codes import wrong
from refold.trials.archive.lines import MAX_SIZE, KeyLine, ModerationLine, RemovedLine
from refold.trials.archive.reading import Part, read_archive, seconds_of
from refold.trials.archive.trust import origin_of
from refold.trials.checkpoint import Signer
from refold.trials.exchange.importing import Imported, Progress, require_same
from refold.trials.exchange.judging import Judged, judged
from refold.trials.log.keys import begin_log, require_key
from refold.trials.log.state import State, tip_of
from refold.trials.log.turn import extended
from refold.trials.node import Node
from refold.trials.posts import Post, Revoke, Withdraw
from refold.trials.store import keytables, tables
from refold.trials.store.foreign import Foreign, OriginRow
from refold.trials.store.keys import Keys
from refold.trials.store.model import Message
from refold.trials.store.moderating import Moderation
from refold.trials.store.reading import Messages
from refold.trials.store.standings import Standings
from refold.trials.store.tree import KeyRow, Tree
from refold.trials.store.writing import insert_key, insert_messages
from refold.trials.tables import Kind

__all__ = ["Own", "restore"]


RestoringFold = Callable[[Connection, Message, Post | None], None]
"""Takes a restored message into tables; the post is None if its text was removed."""


@dataclass(frozen=True, slots=True)
class Own:
    """This node: what its operator chose, its key, and the tables that follow from the log."""

    node: Node
    signer: Signer
    folds: Sequence[RestoringFold] = ()


def restore(
    database: Database,
    lines: Iterable[bytes],
    own: Own,
    now: int,
    progress: Progress = lambda _done, _all: None,
) -> Imported:
    """Restore a log, or what is missing at its end, at Unix seconds `now`.

    The database is that of no running node. Until the archive ends it cannot be opened for posts
    (`log-restoring`). Raises InputError with a code of `refold.trials.archive.codes`; UsageError
    `log-key`, `log-name`; SourceError `import-raced`, `log-damaged`.
    """
    origin = origin_of(own.signer.key.name)
    with database.read() as connection:
        held = Tree(connection).size()
        before = Foreign(connection).origin(origin)
    restoring = _Restoring(database, own, held, now)
    if held and before is None:
        restoring.keep_checkpoint()
    added = removed = size = 0
    root, total = b"", ""
    for part in read_archive(lines, own.signer.key, held=held):
        added += restoring.take(part)
        removed += sum(isinstance(each.line, RemovedLine) for each in part.messages)
        progress(part.size, part.head.size)
        size, root, total = part.size, part.root, part.sha256
    return Imported(origin, True, size, added, removed, root.hex(), total)


class _Restoring:
    """The log between two blocks. `synthetic` is the size of the checkpoint signed on the way."""

    def __init__(self, database: Database, own: Own, held: int, now: int) -> None:
        self._database = database
        self._own = own
        self._now = now
        self._standings = Standings()
        self._held = held
        self._state: State | None = None
        self._synthetic: int | None = held
        self._acts: Counter[tuple[object, ...]] | None = None

    def keep_checkpoint(self) -> None:
        """Say that the newest checkpoint was not signed on the way."""
        self._synthetic = None

    def take(self, part: Part) -> int:
        """Take a block, in its transaction; give how many messages are new."""
        with self._database.write() as connection:
            state = self._opened(connection, part)
            self._keys(connection, part.keys)
            self._moderation(connection, part.moderation)
            again = [each for each in part.messages if each.id <= self._held]
            if again:
                require_same(again, Messages(connection).since(again[0].id - 1, len(again)))
            fresh = judged(connection, self._own.node, part.messages[len(again) :])
            state = self._append(connection, state, fresh, part)
            self._checkpoints(connection, state, part)
            self._note(connection, state, part)
        self._state, self._held = state, state.size
        return len(fresh)

    def _note(self, connection: Connection, state: State, part: Part) -> None:
        """Keep that the log is being restored, until it is."""
        head, place = part.head, Foreign(connection)
        if part.is_last or state.size >= head.size:
            place.drop_origin(head.origin)
            return
        verifier = self._own.signer.key.verifier
        row = OriginRow(head.origin, verifier, state.size, head.size, head.checkpoint, self._now)
        place.put_origin(row)

    def _opened(self, connection: Connection, part: Part) -> State:
        """Give the log as this import left it, or as it stands before the first block."""
        keys = [each.public_key for each in part.head.keys]
        signer = self._own.signer
        require_key(part.chain.keys[-1], signer)
        if self._state is None:
            rows = Tree(connection).keys()
            if [row.public_key for row in rows] != keys[: len(rows)]:
                raise wrong("archive-diverges", "the log here has other keys")
            for number, each in enumerate(part.head.keys[len(rows) :], len(rows) + 1):
                since = seconds_of(each.since)
                name, key = signer.key.name, each.public_key
                row = KeyRow(number, name, key, since, each.since_size, each.statement)
                insert_key(connection, row)
            state = begin_log(connection, signer, self._now)
        else:
            state = self._state
        tip = tip_of(connection)
        if (tip.size, tip.digest) != (state.size, state.digest) or state.size != self._held:
            raise SourceError("import-raced", "the log grew by others", "stop the node meanwhile")
        return state

    def _keys(self, connection: Connection, lines: Sequence[KeyLine]) -> None:
        """Admit the keys that were admitted."""
        if lines:
            rows = [
                {
                    "public_key": each.public_key,
                    "name": each.name,
                    "admitted_at": seconds_of(each.admitted_at),
                    "revoked_by": None,
                }
                for each in lines
            ]
            insert_missing(connection, keytables.keys, rows)
            Keys(connection).count_change()

    def _moderation(self, connection: Connection, lines: Sequence[ModerationLine]) -> None:
        """Do again what the operator did, as far as it is not in the list here."""
        if not lines:
            return
        if self._acts is None:
            row = keytables.moderation.c
            asked = select(row.action, row.subject, row.reason, row.at)
            self._acts = Counter(tuple(found) for found in connection.execute(asked))
        operator = Moderation(connection)
        for each in lines:
            at = seconds_of(each.at)
            act = (each.action, each.subject, each.reason, at)
            if self._acts[act]:
                self._acts[act] -= 1
                continue
            if each.action == "block":
                operator.block(each.subject, each.reason, at)
            elif each.action == "unblock":
                operator.unblock(each.subject, each.reason, at)
            else:
                self._tombstone(connection, operator, each, at)

    def _tombstone(
        self, connection: Connection, operator: Moderation, line: ModerationLine, at: int
    ) -> None:
        """Take a text away that is here, or say that the one to come was."""
        message = int(line.subject) if line.subject.isascii() and line.subject.isdigit() else 0
        if not 0 < message <= MAX_SIZE:
            raise wrong("archive-damaged", "what the operator did names no message")
        if message <= self._held:
            operator.tombstone(message, line.reason, at)
            return
        insert_missing(connection, keytables.tombstones, [{"message": message, "since": at}])
        operator.note("tombstone", line.subject, line.reason, at)

    def _append(
        self, connection: Connection, state: State, fresh: Sequence[Judged], part: Part
    ) -> State:
        """Write new messages, fold them, let the tree grow."""
        if not fresh:
            return state
        messages = [each.message for each in fresh]
        insert_messages(connection, messages)
        for each in fresh:
            self._fold(connection, each)
        # Which checkpoints are kept says the archive, not the day on which it is read.
        alone = replace(state, checkpoints=())
        grown = extended(connection, alone, messages, self._own.signer, self._now)
        if grown.frontier.root() != part.root:
            raise wrong("archive-diverges", "the log here has another root than the archive")
        return grown

    def _fold(self, connection: Connection, judged: Judged) -> None:
        """Take a message into account that was written."""
        message, post = judged.message, judged.post
        # What these do does not depend on their text.
        effect = _WORDLESS.get(message.kind) if post is None else post
        if effect is not None:
            self._standings.fold(connection, message, effect)
        elif judged.closes is not None:
            row = {"trial": message.id, "closes": judged.closes}
            connection.execute(insert(keytables.closings), row)
        for fold in self._own.folds:
            fold(connection, message, post)

    def _checkpoints(self, connection: Connection, state: State, part: Part) -> None:
        """Keep the checkpoints of the archive, and of those signed on the way the last one."""
        rows = [
            {"size": each.size, "signed_at": each.signed_at, "note": each.note}
            for each in part.checkpoints
        ]
        put(connection, tables.checkpoints, rows)
        kept = {each.size for each in part.checkpoints}
        if self._synthetic in kept:
            self._synthetic = None
        if state.size > self._held:
            if self._synthetic is not None:
                size = tables.checkpoints.c.size
                connection.execute(delete(tables.checkpoints).where(size == self._synthetic))
            self._synthetic = None if state.size in kept else state.size


_WORDLESS: Final[dict[Kind, Post]] = {"withdraw": Withdraw(), "revoke": Revoke()}
