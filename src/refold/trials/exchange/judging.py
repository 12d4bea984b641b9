"""Messages of a node's own archive judged anew, each by what stood before it, at its own time.

What earlier messages say is looked up once for a whole block: a question for each of a thousand
would take longer than everything else. Source: cold trials spec §3; facts D3, 34.
"""

from collections.abc import Iterable, Sequence

import msgspec
from sqlalchemy import Connection, select

from refold.db import one_of
from refold.kernel.errors import InputError, Problem
from refold.trials.archive.codes import wrong
from refold.trials.archive.lines import MessageLine, RemovedLine
from refold.trials.archive.reading import Taken, seconds_of
from refold.trials.codes import Fault
from refold.trials.intake import Reading, read_content
from refold.trials.leaf import accepted_text
from refold.trials.node import Node
from refold.trials.posts import Post, Run, Trial
from refold.trials.relations import (
    KeyState,
    Standing,
    closing_time,
    key_faults,
    relation_faults,
)
from refold.trials.store import keytables, tables
from refold.trials.store.model import Message
from refold.trials.store.reading import Messages

__all__ = ["Judged", "judged"]

_ROW = tables.messages.c
_KEY = keytables.keys.c
_CLOSES = keytables.closings.c.closes
_STANDINGS = select(
    _ROW.id, _ROW.kind, _ROW.public_key, _ROW.reply_to, _ROW.thread, _CLOSES, tables.texts.c.id
).select_from(
    tables.messages.outerjoin(keytables.closings, keytables.closings.c.trial == _ROW.id).outerjoin(
        tables.texts, tables.texts.c.id == _ROW.id
    )
)
_AT_ONCE = 500


class Judged(msgspec.Struct, frozen=True):
    """A message that may be restored, and what it was read as, None if its text was removed.

    `closes` (Unix seconds) is of removed trials: what the archive says.
    """

    message: Message
    post: Post | None
    closes: int | None = None


def judged(connection: Connection, node: Node, taken: Sequence[Taken]) -> list[Judged]:
    """Give messages as they are restored; they follow those that are in the tables.

    Raises InputError `archive-refused` with all that is wrong with the first one that is refused.
    """
    digests = [each.line.digest for each in taken]
    twice = set(Messages(connection).of_digests(digests))
    if twice or len(set(digests)) < len(digests):
        raise wrong("archive-refused", "a message stands twice in the log")
    readings = [_reading(node, each.line) for each in taken]
    judge = _Judge(connection, taken, readings)
    return [judge.one(each, reading) for each, reading in zip(taken, readings, strict=True)]


def _reading(node: Node, line: MessageLine | RemovedLine) -> Reading | None:
    if isinstance(line, RemovedLine):
        return None
    return read_content(line.content, node.origin, node.sites)


class _Judge:
    """What was looked up for a block, and what its own messages added."""

    def __init__(
        self, connection: Connection, taken: Sequence[Taken], readings: Sequence[Reading | None]
    ) -> None:
        self._connection = connection
        self._standings: dict[int, Standing] = {}
        self._threads: dict[int, int] = {}
        named = {each.line.reply_to for each in taken}
        for reading in readings:
            if reading is not None and isinstance(reading.post, Run):
                named.add(reading.post.recheck_of)
        self._look_up(each for each in named if each is not None and each < taken[0].id)
        trials = {each.trial for each in self._standings.values()}
        self._look_up(each for each in trials if each is not None and each not in self._standings)
        asked = select(_KEY.public_key, _KEY.revoked_by).where(
            one_of(connection, _KEY.public_key, {each.line.public_key for each in taken})
        )
        self._ended = {row.public_key: row.revoked_by for row in connection.execute(asked)}

    def one(self, taken: Taken, reading: Reading | None) -> Judged:
        """Judge one message, and let later ones see it."""
        line = taken.line
        post = None if reading is None else reading.post
        faults: Iterable[Fault] = ()
        if reading is not None:
            faults = reading.problems or self._faults(taken, reading)
        if faults:
            raise _refused(taken, faults)
        thread = taken.id if line.reply_to is None else self._threads.get(line.reply_to)
        if thread is None:
            raise wrong(
                "archive-refused", f"message {taken.id} answers {line.reply_to}, which is not there"
            )
        kind = line.kind if isinstance(line, RemovedLine) else post.kind if post else "message"
        self._add(taken, Standing(taken.id, kind, line.public_key), post, thread)
        return Judged(
            Message(
                taken.id,
                taken.accepted_at,
                line.digest,
                kind,
                line.room,
                line.reply_to,
                thread,
                taken.content,
                line.public_key,
                line.signature,
            ),
            post,
            _closes(line),
        )

    def _faults(self, taken: Taken, reading: Reading) -> Sequence[Fault]:
        key = taken.line.public_key
        ended = self._ended.get(key)
        state = KeyState(
            admitted=key in self._ended, revoked=ended is not None and ended < taken.id
        )
        if reading.post is None:
            return key_faults(state)
        return (
            *key_faults(state),
            *relation_faults(
                reading.post,
                key,
                taken.line.reply_to,
                self._standings.get,
                taken.line.accepted_at,
            ),
        )

    def _add(self, taken: Taken, standing: Standing, post: Post | None, thread: int) -> None:
        reply_to = taken.line.reply_to
        if standing.kind == "trial":
            closes = None
            if isinstance(post, Trial):
                closes = closing_time(post, taken.line.accepted_at)
            standing = msgspec.structs.replace(standing, trial=taken.id, closes=closes)
        elif standing.kind == "run":
            standing = msgspec.structs.replace(standing, trial=reply_to)
        elif standing.kind == "withdraw" and reply_to in self._standings:
            trial = self._standings[reply_to]
            closes = min(trial.closes or taken.line.accepted_at, taken.line.accepted_at)
            self._standings[reply_to] = msgspec.structs.replace(trial, closes=closes)
        elif standing.kind == "revoke" and self._ended.get(standing.key) is None:
            self._ended[standing.key] = taken.id
        self._standings[taken.id] = standing
        self._threads[taken.id] = thread

    def _look_up(self, ids: Iterable[int]) -> None:
        """Look up what earlier messages are."""
        wanted = sorted(ids)
        for start in range(0, len(wanted), _AT_ONCE):
            asked = _STANDINGS.where(_ROW.id.in_(wanted[start : start + _AT_ONCE]))
            for row in self._connection.execute(asked):
                id_, kind, key, reply_to, thread, closes, text = row
                trial = id_ if kind == "trial" else reply_to if kind == "run" else None
                # A trial that was removed closed when that was done: not before runs of that time.
                shown = None if closes is None or text is None else accepted_text(closes)
                self._standings[id_] = Standing(id_, kind, key, trial, shown)
                self._threads[id_] = thread


def _closes(line: MessageLine | RemovedLine) -> int | None:
    if isinstance(line, RemovedLine) and line.kind == "trial" and line.closes is not None:
        return seconds_of(line.closes)
    return None


def _refused(taken: Taken, faults: Iterable[Fault]) -> InputError:
    """Give the error that names every rule which a message breaks."""
    problems = [
        Problem(
            "archive-refused",
            f"message {taken.id}, {each.code}: {each.detail}",
            each.hint,
            field=each.field,
        )
        for each in faults
    ]
    return InputError.of(problems)
