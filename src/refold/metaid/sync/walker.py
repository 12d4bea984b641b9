"""One walk over one path of one indexer, its pages stored with the cursor behind them.

What pages say is stored in one transaction with the place where the walk goes on. So a process that
is killed at any moment loses at most the few pages that were not stored, and asks for them again.
A thread writes the transaction while the walk reads on, since SQLite and the disk leave Python
alone for most of the time; the next one waits until it is committed.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

from refold.db import Database
from refold.metaid.man.bodies import Bodies, Missing
from refold.metaid.man.overlap import Overlap, Place, place_of
from refold.metaid.man.report import WalkReport
from refold.metaid.man.rows import ListPage, is_mempool
from refold.metaid.man.walk import Walk, WalkedPage
from refold.metaid.pin import MEMPOOL_HEIGHT, Pin, Row
from refold.metaid.store import Cursor, Rivals, Standing, Written, open_store
from refold.metaid.sync import plan
from refold.metaid.sync.compare import highest_of, is_held, words_of
from refold.metaid.sync.plan import Leg, Settings
from refold.metaid.sync.report import Tally
from refold.metaid.sync.sources import Source
from refold.metaid.sync.tally import Disagreements, count

STORED_PINS = 2_000
STORED_PAGES = 20
"""Read since the last transaction began, that begin another. With half as many, half as much again
is written: ids and hashes fall at random into pages of indexes, and each transaction writes all
that it touched."""

_LOST_CURSORS = frozenset({"man-refused", "man-cursor"})
"""Errors that say that an indexer does not know a cursor of its own any more."""
_ASTRAY = frozenset({"cursor-loop", "barren"})
"""Ends of walks that lead nowhere from where they are."""


@dataclass(frozen=True)
class Context:
    """What all walks of a round over one indexer share.

    `gaps` are pins that could not be read, and are asked for apart from walks.
    """

    database: Database
    source: Source
    bodies: Bodies
    rivals: Rivals
    settings: Settings
    now: int
    tally: Tally
    disagreements: Disagreements
    gaps: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The indexer."""
        return self.source.name

    def took(
        self,
        path: str,
        written: Sequence[Written],
        said: dict[str, Place],
        standings: dict[str, Standing],
    ) -> None:
        """Count what became of words, once they are committed."""
        count(self.tally, written)
        self.disagreements.words(self.name, path, written, said, standings)


def refused(written: Iterable[Written]) -> list[Missing]:
    """Give the pins that no store could keep, as pins that could not be read."""
    return [
        Missing(word.id, None, "pin-refused", f"pin {word.id}: {', '.join(word.differs)}")
        for word in written
        if word.outcome == "refused" and word.before is None
    ]


@dataclass
class _Taken:
    """What pages said that is not stored yet."""

    pages: int = 0
    pins: list[Pin] = field(default_factory=list)
    words: list[tuple[str, Place]] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    said: dict[str, Place] = field(default_factory=dict)
    standings: dict[str, Standing] = field(default_factory=dict)


@dataclass(frozen=True)
class _Stored:
    """What a transaction stored, and what became of it."""

    taken: _Taken
    written: Sequence[Written]
    missing: Sequence[Missing]


class Walker:
    """Runs one leg.

    `listed` is at which height each pin was listed, -1 in the mempool; `places` are those of pins
    in the window. `lowest` is the lowest height that a pin was moved from or to. `on_page` is told
    of every page, and how many pins were read so far.
    """

    def __init__(
        self,
        context: Context,
        path: str,
        leg: Leg,
        *,
        mark: Cursor | None,
        on_page: Callable[[WalkedPage, int], object],
        stop: Event,
    ) -> None:
        self.leg = leg
        self.mark = mark or Cursor(context.name, path)
        self.is_covered = False
        self.listed: dict[str, int] = {}
        self.places: dict[str, Place] = {}
        self.lowest: int | None = None
        self._context = context
        self._path = path
        self._on_page = on_page
        self._stop = stop
        self._standings: dict[str, Standing] = {}
        self._rows: dict[str, Row] = {}
        self._pins = 0
        self._taken = _Taken()
        self._writer: ThreadPoolExecutor
        self._writing: Future[_Stored] | None = None
        window = context.settings.window
        self._overlap = (
            None if leg.floor is None else Overlap(self._known, leg.floor, reach=leg.floor - window)
        )
        self._anchored_from = 0 if leg.began is None else leg.began - window
        self._walk = Walk(
            context.source.man,
            path,
            bodies=context.bodies,
            size=context.settings.size,
            cursor=leg.cursor,
            holds=self._holds,
            ahead=self._look_up,
            parallel=context.settings.parallel,
            heights=False,
        )

    def run(self) -> WalkReport:
        """Walk to the end of the leg, or as far as it goes; give the walk's own report."""
        with ThreadPoolExecutor(1, "refold-store") as self._writer:
            try:
                return self._run()
            finally:
                self._settle()  # what is committed counts, whatever broke the walk off

    def _run(self) -> WalkReport:
        for page in self._walk:
            rows = [row for row in page.answer.rows if row.path == self._path]
            if page.number == 1 and self.leg.began is None:
                self.leg = self.leg._replace(began=highest_of(rows))
            is_enough = self._overlap is not None and self._overlap.page(rows)
            self._collect(page, rows)
            if self._writing is not None and self._writing.done():
                self._settle()
            if len(self._taken.pins) >= STORED_PINS or self._taken.pages >= STORED_PAGES:
                self._settle()
                self._writing = self._writer.submit(self._store, self._taken, self.mark)
                self._taken = _Taken()
            self._on_page(page, self._pins)
            if is_enough and not page.answer.broken:
                self.is_covered = True
                self._walk.stop()
            elif self._stop.is_set():
                self._walk.stop()
        report = self._walk.report()
        self.is_covered = self.is_covered or report.is_ended
        self._settle()
        self.mark = self._mark_at(report)
        self._took(self._store(self._taken, self.mark))
        return report

    @property
    def is_lost(self) -> bool:
        """Whether the walk could not go on at a stored cursor, and is to begin at the front."""
        end = self._walk.end
        return bool(
            self.leg.cursor
            and end is not None
            and end.reason == "failed"
            and end.cursor == self.leg.cursor
            and end.code in _LOST_CURSORS
        )

    def _look_up(self, page: ListPage) -> None:
        """Learn what the store has of the pins of a page, in one question."""
        self._rows = {row.id: row for row in page.rows}
        with self._context.database.read() as connection:
            self._standings = open_store(connection).pins.standing(list(self._rows))

    def _holds(self, row: Row) -> bool:
        if row.id in self._context.gaps:
            return True  # asked for apart, and not again on every page that lists it
        standing = self._standings.get(row.id)
        return is_held(row, standing, self._context.name, self._context.bodies)

    def _known(self, pin_id: str) -> Place | None:
        if pin_id in self._context.gaps:
            return place_of(self._rows[pin_id])
        standing = self._standings.get(pin_id)
        return None if standing is None else standing.place

    def _collect(self, page: WalkedPage, rows: Sequence[Row]) -> None:
        """Take what a page says, to be stored with others."""
        taken, context = self._taken, self._context
        words = words_of(rows, self._standings, context.name, context.rivals)
        taken.pages += 1
        taken.pins += page.pins
        taken.words += words
        taken.missing += page.missing
        taken.standings.update(self._standings)
        taken.said.update((pin.id, Place(pin.height, pin.tx_index)) for pin in page.pins)
        taken.said.update(words)
        context.gaps.update(entry.id for entry in page.missing)
        if page.answer.next_cursor:
            self.mark = plan.under_way(self.mark, self.leg, page.answer.next_cursor)
        self._pins += len(page.pins)
        for row in rows:
            if is_mempool(row):
                self.listed.setdefault(row.id, MEMPOOL_HEIGHT)
            else:
                self.listed[row.id] = row.genesis_height
                if row.genesis_height >= self._anchored_from:
                    self.places[row.id] = place_of(row)

    def _store(self, taken: _Taken, mark: Cursor) -> _Stored:
        """Store what was taken, and where the walk goes on, or that it is over."""
        context = self._context
        with context.database.write() as connection:
            store = open_store(connection)
            written = store.pins.write(taken.pins, context.name, context.rivals)
            written += store.pins.move(taken.words, context.name, context.rivals)
            missing = (*taken.missing, *refused(written))
            store.marks.put_gaps(context.name, self._path, missing, context.now)
            store.marks.put_cursor(mark)
        return _Stored(taken, written, missing)

    def _settle(self) -> None:
        """Wait for the transaction under way, and take over what it did; raise what it raised."""
        writing, self._writing = self._writing, None
        if writing is not None:
            self._took(writing.result())

    def _took(self, stored: _Stored) -> None:
        """Take over what a transaction did that is committed."""
        self._context.gaps.update(entry.id for entry in stored.missing)
        for word in stored.written:
            self._note_moved(word)
        taken = stored.taken
        self._context.took(self._path, stored.written, taken.said, taken.standings)

    def _note_moved(self, word: Written) -> None:
        if word.before is None or word.before == word.after:
            return
        for place in (word.before, word.after):
            if place is not None and place.height is not None:
                lowest = place.height if self.lowest is None else min(self.lowest, place.height)
                self.lowest = lowest

    def _mark_at(self, end: WalkReport) -> Cursor:
        """Give what is noted at the end of the walk."""
        if self.is_covered:
            return plan.ended(self.mark, self.leg, self._context.now)
        if self.is_lost or end.end.reason in _ASTRAY:
            return plan.broken_off(self.mark)
        return self.mark
