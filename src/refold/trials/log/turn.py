"""One transaction of the log: postings judged and appended, the tree grown, and signed.

All of it happens inside the transaction that `refold.trials.log.writer` opened, so all of it is
there afterwards, or nothing.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, select

from refold.trials.checkpoint import Checkpoint, Signer, signed_note
from refold.trials.codes import fault
from refold.trials.log.state import State, grown
from refold.trials.posts import Message as Plain
from refold.trials.posts import Post
from refold.trials.store import tables
from refold.trials.store.model import Appended, Fold, Judge, Message, Posting
from refold.trials.store.reading import Messages
from refold.trials.store.tree import SignedCheckpoint
from refold.trials.store.writing import (
    grow_tiles,
    insert_messages,
    insert_tiles,
    put_checkpoint,
)

__all__ = ["SpoiledError", "Turn", "extended", "sign"]

DAY_SECONDS = 86_400
_ROW = tables.messages.c
_THREADS = select(_ROW.id, _ROW.thread).where(_ROW.id.in_(bindparam("ids", expanding=True)))


class SpoiledError(Exception):
    """A judge or a fold failed with the `cause`; the transaction cannot go on."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


class Turn:
    """One transaction. `now` is its one look at the clock, in Unix seconds, `state` the log before.

    `run` gives what became of each posting; `state` is then the log after it.
    """

    def __init__(
        self,
        connection: Connection,
        state: State,
        signer: Signer,
        folds: Sequence[Fold],
        now: int,
    ) -> None:
        self.state = state
        self._connection = connection
        self._signer = signer
        self._folds = folds
        self._now = now
        self._threads: dict[int, int] = {}
        self._fresh: dict[str, Message] = {}
        self._unwritten: list[tuple[Message, Post]] = []

    def run(self, batch: Sequence[tuple[Posting, Judge]]) -> list[Appended]:
        """Append what may be appended, in the order given; raises `SpoiledError`."""
        messages = Messages(self._connection)
        known = messages.of_digests([posting.digest for posting, _ in batch])
        self._threads = self._threads_of({p.message.reply_to for p, _ in batch} - {None})
        outcomes = []
        for posting, judge in batch:
            before = known.get(posting.digest) or self._fresh.get(posting.digest)
            if before is not None:
                outcomes.append(Appended(before, is_duplicate=True))
            else:
                outcomes.append(self._one(posting, judge))
        self._flush()
        self._grow()
        return outcomes

    def _one(self, posting: Posting, judge: Judge) -> Appended:
        message = posting.message
        # What may depend on others finds them in the tables; ordinary messages at the top do not,
        # and a statement for all of them costs a third of one for each.
        is_alone = isinstance(posting.post, Plain) and message.reply_to is None
        if not is_alone:
            self._flush()
        try:
            problems = tuple(judge(self._connection, posting, self._now))
        except Exception as error:
            raise SpoiledError(error) from error
        thread = self._thread(message.reply_to)
        if not problems and thread is None:
            detail = f"There is no message {message.reply_to}."
            problems = (fault("reply_unknown", detail, field="reply_to"),)
        if problems or thread is None:
            return Appended(None, problems=problems)
        added = Message(
            id=self._next,
            accepted_at=self._now,
            digest=posting.digest,
            kind=posting.post.kind,
            room=message.room,
            reply_to=message.reply_to,
            thread=thread,
            content=message.content,
            public_key=message.public_key,
            signature=message.signature,
        )
        self._fresh[added.digest] = added
        self._threads[added.id] = thread
        self._unwritten.append((added, posting.post))
        if not is_alone:
            self._flush()
        return Appended(added)

    @property
    def _next(self) -> int:
        return self.state.size + len(self._fresh) + 1

    def _thread(self, reply_to: int | None) -> int | None:
        return self._next if reply_to is None else self._threads.get(reply_to)

    def _threads_of(self, ids: Iterable[int | None]) -> dict[int, int]:
        """Give the top of the thread of each message that is there."""
        asked = sorted(each for each in ids if each is not None)
        if not asked:
            return {}
        rows = self._connection.execute(_THREADS, {"ids": asked})
        return {row.id: row.thread for row in rows}

    def _flush(self) -> None:
        """Write what was appended since, and fold it."""
        if not self._unwritten:
            return
        unwritten, self._unwritten = self._unwritten, []
        insert_messages(self._connection, [message for message, _ in unwritten])
        try:
            for message, post in unwritten:
                for fold in self._folds:
                    fold(self._connection, message, post)
        except Exception as error:
            raise SpoiledError(error) from error

    def _grow(self) -> None:
        """Let the tree grow by what was appended, and sign it."""
        if not self._fresh:
            return
        self.state = extended(
            self._connection, self.state, tuple(self._fresh.values()), self._signer, self._now
        )


def extended(
    connection: Connection, state: State, added: Sequence[Message], signer: Signer, now: int
) -> State:
    """Let the tree grow by messages that were just written, and sign it; give the log after it.

    `added` are those behind the ones of `state`, at least one.
    """
    growth = grown(state, added)
    begun = state.begun
    insert_tiles(connection, {at: growth.rows[at] for at in growth.rows if at not in begun})
    grow_tiles(connection, {at: growth.rows[at] for at in growth.rows if at in begun})
    last = added[-1]
    checkpoint = Checkpoint(signer.key.name, last.id, growth.frontier.root())
    return State(
        size=last.id,
        accepted_at=last.accepted_at,
        digest=last.digest,
        frontier=growth.frontier,
        tiles=growth.tiles,
        checkpoints=sign(connection, state.checkpoints, checkpoint, [signer], now),
    )


def sign(
    connection: Connection,
    kept: Sequence[SignedCheckpoint],
    checkpoint: Checkpoint,
    signers: Sequence[Signer],
    now: int,
) -> tuple[SignedCheckpoint, ...]:
    """Sign and write a checkpoint; give the newest two. `kept` are those before.

    Of older ones the last of each UTC day stays: a log of single posts would keep one for each.
    """
    signed = SignedCheckpoint(checkpoint.size, now, signed_note(checkpoint.text, signers))
    before = [each for each in kept if each.size < signed.size]
    replaced = None
    if len(before) < len(kept):
        replaced = signed.size
    elif len(before) > 1 and _day(before[-2]) == _day(before[-1]):
        replaced = before[-2].size
    put_checkpoint(connection, signed, replaced)
    return (*before[-1:], signed)


def _day(checkpoint: SignedCheckpoint) -> int:
    return checkpoint.signed_at // DAY_SECONDS
