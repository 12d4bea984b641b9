"""A walk over all pins at one path, page by page, to the end of the list.

    walk = Walk(man, "/protocols/agentpedia/rev")
    for page in walk:
        store(page.pins)
    print(walk.report())

Pages overlap, come short, repeat and move under the reader (facts: metaid §3.4). So pins are merged
by id, bodies read as `bodies` does, cursors only handed back, and whatever looks like the end is
asked for twice. What could not be got is named pin by pin; what was odd is counted.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from refold.kernel.errors import RefoldError, SourceError
from refold.metaid.man.bodies import Bodies, Missing
from refold.metaid.man.client import MAX_SIZE, ManClient
from refold.metaid.man.merge import Merge
from refold.metaid.man.report import ENDS, MAX_BARREN_PAGES, End, EndReason, Notes, WalkReport
from refold.metaid.man.rows import BrokenRow, ListPage
from refold.metaid.pin import Pin, Row

PARALLEL = 4
"""Details asked for at a time: as many as the network's own collectors ask for."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Where a walk stops: pages, requests and bytes since it began, looked at before each page."""

    # Two million rows, 20 times what the reading side is planned for.
    pages: int = 20_000
    # One for each of these rows, if each body were cut.
    requests: int = 2_000_000
    # 100,000 pins of 2 KB take 0.4 GB.
    bytes: int = 16 * 1024**3


class WalkedPage(msgspec.Struct, frozen=True):
    """One page: what was answered, and what is new by it.

    `pins` were read for the first time in this walk, or stand at another place than before;
    `missing` could not be read this time.
    """

    number: int
    cursor: str
    answer: ListPage
    pins: tuple[Pin, ...]
    missing: tuple[Missing, ...]


class Walk:
    """One walk, to be iterated once; `end` is None until it has ended.

    `cursor` starts it midway. `holds` tells which rows' pins the caller has: they are not read, nor
    in any page's `pins`, unless they move during the walk. `ahead` is shown each page before
    `holds` is asked about its rows, so that it can look all of them up at once. `heights`: whether
    to ask for the indexer's height before and after.
    """

    def __init__(
        self,
        man: ManClient,
        path: str,
        *,
        bodies: Bodies | None = None,
        size: int = MAX_SIZE,
        cursor: str = "",
        holds: Callable[[Row], bool] = lambda _row: False,
        ahead: Callable[[ListPage], object] = lambda _page: None,
        limits: Limits | None = None,
        parallel: int = PARALLEL,
        heights: bool = True,
    ) -> None:
        self.path = path
        self.end: End | None = None
        self._man = man
        self._bodies = bodies or Bodies(man)
        self._size = size
        self._cursor = cursor
        self._limits = limits or Limits()
        self._parallel = parallel
        self._asks_heights = heights
        self._notes = Notes()
        self._merge = Merge(path, holds, self._notes)
        self._ahead = ahead
        self._broken: list[BrokenRow] = []
        self._pages = self._rows = self._barren = 0
        self._pool: ThreadPoolExecutor
        self._last: ListPage | None = None
        self._first_total: int | None = None
        self._heights: list[int | None] = []
        self._before = (man.transport.requests, man.transport.bytes_received)
        self._spent = (0, 0)

    def __iter__(self) -> Iterator[WalkedPage]:
        with ThreadPoolExecutor(self._parallel) as pool:
            self._pool = pool
            yield from self._pages_to_end()

    def _pages_to_end(self) -> Iterator[WalkedPage]:
        self._note_height()
        cursor, asked, doubted = self._cursor, set[str](), False
        while self.end is None:
            over = self._over_limit()
            if over is not None:
                self._finish(over, cursor)
                return
            asked.add(cursor)
            try:
                answer = self._man.page(self.path, cursor, size=self._size)
            except SourceError as error:
                self._finish("failed", cursor, error)
                return
            page = self._take(answer, cursor)
            end = self._end_at(answer, asked)
            if end is None:
                if doubted:
                    self._notes.note("false-end", cursor)
                cursor, doubted = answer.next_cursor, False
            elif doubted or end == "barren":
                self._finish(end, answer.next_cursor)
            else:
                doubted = True  # ask for the same page again: it may have been a moment's fault
            yield page

    def stop(self) -> None:
        """End the walk after the page that was given last, unless it has ended."""
        if self.end is None:
            self._finish("stopped", self._here())

    def report(self) -> WalkReport:
        """Say what the walk got and what it could not get; one that goes on reads as stopped."""
        requests, received = self._sum() if self.end is None else self._spent
        before, after = (*self._heights, None, None)[:2]
        return WalkReport(
            base=self._man.base,
            path=self.path,
            generation=self._man.generation,
            size=self._size,
            end=self.end or End("stopped", self._here()),
            pages=self._pages,
            rows=self._rows,
            pins=len(self._merge),
            confirmed=self._merge.confirmed,
            mempool=len(self._merge) - self._merge.confirmed,
            held=len(self._merge.held),
            requests=requests,
            bytes=received,
            heights=(before, after),
            first_total=self._first_total,
            last_total=self._last.total if self._last else None,
            missing=tuple(self._merge.missing.values()),
            broken=tuple(self._broken),
            doubtful=tuple(sorted(filter(self._merge.__contains__, self._bodies.doubtful))),
            anomalies=self._notes.listed(),
        )

    def _take(self, answer: ListPage, cursor: str) -> WalkedPage:
        """Merge a page into what is known; read the pins that it takes."""
        self._pages += 1
        if self._last is not None and answer.body == self._last.body:  # asked again, and the same
            self._barren += 1
            return WalkedPage(self._pages, cursor, answer, (), ())
        self._rows += answer.listed
        self._note_page(answer, cursor)
        self._ahead(answer)
        known = len(self._merge)
        pins: list[Pin] = []
        missing: list[Missing] = []
        for read in self._read(self._merge.rows(answer.rows), answer.broken):
            if isinstance(read, Missing):
                self._merge.miss(read)
                missing.append(read)
            elif (pin := self._merge.pin(read)) is not None:
                pins.append(pin)
        self._barren = 0 if len(self._merge) > known else self._barren + 1
        self._last = answer
        return WalkedPage(self._pages, cursor, answer, tuple(pins), tuple(missing))

    def _read(self, rows: Sequence[Row], broken: Sequence[BrokenRow]) -> Iterator[Pin | Missing]:
        """Read the pins of rows, and of entries that have no more than an id."""
        whole = [(row, self._bodies.of_row(row)) for row in rows]
        lacking: list[tuple[str, Row | None]] = [(row.id, row) for row, pin in whole if pin is None]
        for entry in broken:
            self._notes.note("row-unreadable", entry.id or entry.why)
            if entry.id:
                lacking.append((entry.id, None))
            else:
                self._broken.append(entry)
        yield from (pin for _, pin in whole if pin is not None)
        if len(lacking) > 1 and self._parallel > 1:
            yield from self._pool.map(self._bodies.fetch, *zip(*lacking, strict=True))
        else:
            yield from (self._bodies.fetch(*pair) for pair in lacking)

    def _end_at(self, answer: ListPage, asked: set[str]) -> EndReason | None:
        """Tell why the list ends at a page, None when it goes on."""
        following = answer.next_cursor
        if not following and not answer.listed:
            return "exhausted"
        if not following:
            return "cursor-end"
        if following in asked:
            return "cursor-loop"
        return "barren" if self._barren >= MAX_BARREN_PAGES else None

    def _note_page(self, answer: ListPage, cursor: str) -> None:
        """Count what is odd in a page, and between it and the one before."""
        note, last = self._notes.note, self._last
        if answer.listed > self._size and self._man.generation != "v1":
            note("oversized-page", cursor)
        if answer.hidden:
            note("rows-hidden", cursor, answer.hidden)
        if not answer.listed and answer.next_cursor:
            note("empty-page", cursor)
        if last is None:
            self._first_total = answer.total
            return
        if answer.listed and 0 < last.listed < self._size:
            note("short-page", last.next_cursor)
        if _highest(answer) > _highest(last) > 0:
            note("out-of-order", cursor)
        if answer.total is not None and last.total is not None and answer.total != last.total:
            note("total-drift" if answer.total > last.total else "total-shrank", str(answer.total))

    def _here(self) -> str:
        """Give the cursor of the page after the last one that was read."""
        return self._last.next_cursor if self._last else self._cursor

    def _over_limit(self) -> EndReason | None:
        requests, received = self._sum()
        if self._pages >= self._limits.pages:
            return "page-limit"
        if requests >= self._limits.requests:
            return "request-limit"
        return "byte-limit" if received >= self._limits.bytes else None

    def _finish(self, reason: EndReason, cursor: str, error: RefoldError | None = None) -> None:
        total = self._last.total if self._last else None
        if reason in ENDS and total is not None and total > self._merge.confirmed:
            self._notes.note("total-above", str(total), total - self._merge.confirmed)
        code, message = (error.code, error.message) if error else ("", "")
        self.end = End(reason, cursor, code, message)
        self._note_height()
        self._spent = self._sum()

    def _note_height(self) -> None:
        if not self._asks_heights:
            return
        try:
            self._heights.append(self._man.heights().get("mvc"))
        except SourceError:
            self._heights.append(None)

    def _sum(self) -> tuple[int, int]:
        transport = self._man.transport
        return transport.requests - self._before[0], transport.bytes_received - self._before[1]


def _highest(page: ListPage) -> int:
    return max((row.genesis_height for row in page.rows), default=-1)
