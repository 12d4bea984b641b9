"""The stored view kept in step with the stored pins, a batch of blocks at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
from sqlalchemy import Connection

from refold.agentpedia.event import PATHS
from refold.agentpedia.fold import SNAPSHOT_FORMAT
from refold.agentpedia.indexer.shown import Marking, index_shown
from refold.agentpedia.indexer.standing import (
    REMEMBERED_BLOCKS,
    Checked,
    Standing,
    by_height,
    numbered,
)
from refold.agentpedia.rules import PRD, Rules
from refold.agentpedia.state import Options
from refold.agentpedia.store import (
    Folded,
    KeptDigest,
    Snapshot,
    Views,
    open_views,
    pack,
)
from refold.agentpedia.store.retention import BLOCKS_A_DAY, keeps_digest
from refold.db import Database
from refold.metaid.store import Store, open_store

READER = "agentpedia"
"""The name under which the store of the pins notes what the view has not seen yet."""
BATCH_EVENTS = 20_000
"""Events of one transaction: some seconds, and 100 MB of memory."""
SNAPSHOT_BLOCKS = BLOCKS_A_DAY
"""Blocks between two snapshots; what a process folds again when it opens is one such day."""
SNAPSHOT_GROWTH = 2
"""While a whole chain is folded for the first time, one is taken when the fold has grown so many
times: each costs as much as folding its events, so all together cost no more than that."""
SNAPSHOT_EVENTS = 50_000
"""Fewer are folded again as fast as a snapshot is read."""


class Step(msgspec.Struct, frozen=True):
    """One transaction: told as it ends.

    The view stands at the tip `height` now, of `top` + 1 in the end; `events` were folded in it,
    `rows` written. `rolled_back_to` is the height above which everything was undone before, if so.
    """

    height: int
    top: int
    events: int
    rows: int
    rolled_back_to: int | None
    digest: str


class CaughtUp(msgspec.Struct, frozen=True, rename="camel"):
    """Where the view stands after a catch-up, and what it took.

    `height` is its tip: all that happened below is in it; `digest` is None as long as there is no
    view. `total` counts the events from the beginning. `damaged` are the heights of snapshots that
    were not what they had been, and were passed over.
    """

    height: int | None
    digest: str | None
    total: int
    events: int
    rows: int
    rolled_back_to: int | None
    damaged: tuple[int, ...]


Progress = Callable[[Step], None]


class Indexer:
    """See the package; made by `indexing`. Not to be shared by threads."""

    def __init__(self, database: Database, rules: Rules, options: Options) -> None:
        self._database = database
        self._standing = Standing(rules, options)
        self._is_open = False

    def catch_up(self, until: int | None = None, progress: Progress | None = None) -> CaughtUp:
        """Fold all that changed, up to a height: the last whose pins are complete, None for all.

        `progress` is told of each transaction. Raises what `refold.db` raises; what was committed
        stands, and the next call goes on from there.
        """
        steps: list[Step] = []
        while True:
            step = self._transact(until)
            if step is None:
                break
            steps.append(step)
            if progress is not None:
                progress(step)
            is_last = step.height > step.top
            self._keep_snapshot(is_last=is_last)
            if is_last:
                break
        index_shown(self._database)
        back = [step.rolled_back_to for step in steps if step.rolled_back_to is not None]
        folded = self._standing.folded
        return CaughtUp(
            height=folded.height if folded else None,
            digest=folded.digest if folded else None,
            total=self._standing.fold.state.seq,
            events=sum(step.events for step in steps),
            rows=sum(step.rows for step in steps),
            rolled_back_to=min(back, default=None),
            damaged=tuple(self._standing.damaged),
        )

    def _transact(self, until: int | None) -> Step | None:
        """Do one step in a transaction of its own; None when there is nothing to fold at all."""
        try:
            with self._database.write() as connection:
                step, folded = self._step(connection, until)
        except BaseException:
            self._is_open = False  # what is in memory may be ahead of what was committed
            raise
        if folded is not None:
            self._standing.folded = folded
        return step

    def _step(self, connection: Connection, until: int | None) -> tuple[Step | None, Folded | None]:
        store, views, standing = open_store(connection), open_views(connection), self._standing
        store.marks.read_by(READER, PATHS)
        changed = store.marks.changed_from(READER)
        if not self._is_open or views.marks.folded() != standing.folded:
            standing.open(store, views, changed)
            self._is_open = True
        folded, back = standing.folded, None
        if folded is not None and changed is not None and changed < folded.height:
            back = changed - 1
            standing.roll_back(store, views, back)
            views.marks.drop_digests(back)
            views.snapshots.drop(back)
        if changed is not None:
            standing.refresh(store)
        start = None if folded is None else folded.height if back is None else back + 1
        top = _top_of(store, until, start)
        if top is None or (changed is None and top + 1 == start):
            return None, None
        blocks = list(by_height(standing.events(store.pins, top), BATCH_EVENTS))
        events = sum(map(len, blocks))
        last = blocks[-1][0][0].height if events >= BATCH_EVENTS else top
        if start is None:
            start = blocks[0][0][0].height if blocks else top
        digest, rows = self._fold(connection, views, blocks, (start, last, top))
        now = Folded(standing.rules.name, standing.fingerprint, last + 1, standing.position, digest)
        views.marks.put_folded(now)
        views.marks.prune_digests(top)
        store.marks.settle(READER)
        return Step(last + 1, top, events, rows, back, digest), now

    def _fold(
        self,
        connection: Connection,
        views: Views,
        blocks: list[list[Checked]],
        heights: tuple[int, int, int],
    ) -> tuple[str, int]:
        """Fold blocks, and look at the view at each height whose digest is kept; the last is."""
        start, last, top = heights
        standing, digest = self._standing, ""
        fold, live = standing.fold, standing.live
        with views.writing() as writer:
            marking = Marking(writer)
            for height, block in numbered(blocks, min(start, last), last):
                if not standing.remembers and height > top - REMEMBERED_BLOCKS:
                    standing.remember()
                for event, fault in block:
                    fold.apply(event, fault)
                if height == last or keeps_digest(height, top):
                    digest = live.at(height + 1, marking)
                    kept = KeptDigest(height, digest, fold.state.seq, live.line_count)
                    views.marks.put_digest(kept)
        marking.mark(connection)
        return digest, writer.written.rows

    def _keep_snapshot(self, *, is_last: bool) -> None:
        """Keep a snapshot when one is due, in a transaction of its own."""
        standing = self._standing
        folded = standing.folded
        if folded is None:
            return
        height, events = folded.height - 1, standing.fold.state.seq
        has_grown = events >= max(SNAPSHOT_EVENTS, SNAPSHOT_GROWTH * standing.snapshot[1])
        is_old = (
            is_last
            and events >= SNAPSHOT_EVENTS
            and height >= standing.snapshot[0] + SNAPSHOT_BLOCKS
        )
        if not (has_grown or is_old):
            return
        snapshot = Snapshot(height, SNAPSHOT_FORMAT, standing.fingerprint, standing.fold.snapshot())
        packed = pack(snapshot)
        with self._database.write() as connection:
            views = open_views(connection)
            if views.marks.folded() == folded:
                views.snapshots.put(packed)
        standing.snapshot = (height, events)


@contextmanager
def indexing(
    database: Database, rules: Rules = PRD, options: Options | None = None
) -> Iterator[Indexer]:
    """Give the one indexer of a database; raises SourceError `database-held` if there is one.

    `options` are those that change the view, without facts.
    """
    with database.hold("indexer"):
        yield Indexer(database, rules, options or Options())


def _top_of(store: Store, until: int | None, start: int | None) -> int | None:
    """Give the last height to fold: never below what was folded, None for nothing at all."""
    if until is None:
        heights = store.pins.heights()
        until = heights[1] if heights else None
    done = None if start is None else start - 1
    known = [height for height in (until, done) if height is not None]
    return max(known, default=None)
