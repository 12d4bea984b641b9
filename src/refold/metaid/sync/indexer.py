"""A round over one indexer: what it lacked before, then each path, then what its blocks show."""

from collections.abc import Callable, Sequence
from threading import Event

from refold.kernel.errors import RefoldError
from refold.metaid.man.overlap import Place
from refold.metaid.man.report import WalkReport
from refold.metaid.man.walk import WalkedPage
from refold.metaid.store import Cursor, Indexed, open_store
from refold.metaid.sync import gaps
from refold.metaid.sync.anchors import anchors_of, differs_from
from refold.metaid.sync.checks import Checked, check
from refold.metaid.sync.plan import legs_of
from refold.metaid.sync.report import IndexerReport, PathReport, Phase, Progress, Traffic
from refold.metaid.sync.sources import Polled, spent
from refold.metaid.sync.walker import Context, Walker

Tell = Callable[[Progress], object]


class IndexerRound:
    """Reads one indexer. `before` is what was known of it, `since` its traffic at the beginning."""

    def __init__(
        self,
        context: Context,
        paths: Sequence[str],
        *,
        polled: Polled,
        before: Indexed,
        since: Traffic,
        full: bool,
        stop: Event,
        tell: Tell,
    ) -> None:
        self._context = context
        self._paths = paths
        self._polled = polled
        self._before = before
        self._since = since
        self._full = full
        self._stop = stop
        self._tell = tell
        self._listed: list[dict[str, Place]] = []
        self._floor = 0

    def run(self, *, has_say: bool) -> IndexerReport:
        """Read all paths; give what came of it. What the indexer got wrong is in the report."""
        done: list[PathReport] = []
        error: RefoldError | None = self._polled.error
        if error is None:
            try:
                self._close_gaps()
                for path in self._paths:
                    if self._stop.is_set():
                        break
                    done.append(self._read(path))
            except RefoldError as caught:
                error = caught
        done += [self._unread(path) for path in self._paths[len(done) :]]
        is_whole = len(self._listed) == len(self._paths)
        height, known = self._polled.height, self._before.height
        has_fallen = known is not None and height is not None and height < known
        return IndexerReport(
            indexer=self._context.name,
            height=height,
            pins=self._polled.pins,
            is_answering=self._polled.error is None,
            has_say=has_say,
            fell_from=known if has_fallen else None,
            differs_from=self._compare_blocks() if is_whole else None,
            traffic=spent(self._since, self._context.source.traffic()),
            paths=tuple(done),
            code=error.code if error else "",
            message=error.message if error else "",
        )

    def _close_gaps(self) -> None:
        context = self._context
        with context.database.read() as connection:
            known = open_store(connection).marks.gaps(context.name)
        context.gaps.update(gap.pin for gap in known)
        if known:
            self._progress("gaps")
            tried = gaps.close(context, [gap for gap in known if gap.path in self._paths])
            self._progress("gaps", pins=tried)

    def _read(self, path: str) -> PathReport:
        """Bring one path up to date."""
        context, height = self._context, self._polled.height
        with context.database.read() as connection:
            mark = open_store(connection).marks.cursor(context.name, path)
        legs = legs_of(mark, height, context.now, context.settings, full=self._full)
        walks: list[WalkReport] = []
        checked = Checked()
        is_covered = True
        while legs and is_covered and not self._stop.is_set():
            self._progress("walk", path)
            leg = legs.pop(0)
            walker = Walker(
                context, path, leg, mark=mark, on_page=self._on_page(path), stop=self._stop
            )
            walks.append(walker.run())
            mark = walker.mark
            if walker.is_lost:
                legs = legs_of(mark, height, context.now, context.settings, full=self._full)
                continue
            is_covered = walker.is_covered
            if is_covered and walker.leg.is_from_front:
                self._progress("checks", path)
                checked = check(context, path, walker, height, knows_pins=bool(self._polled.pins))
                self._listed.append(walker.places)
                self._floor = max(self._floor, walker.leg.floor or 0)
        return PathReport(
            path=path,
            walks=tuple(walks),
            is_covered=is_covered and not legs,
            asked=checked.asked,
            unchecked=checked.unchecked,
            height=self._height_of(mark),
        )

    def _unread(self, path: str) -> PathReport:
        """Say of a path that was not come to how far earlier rounds brought it."""
        with self._context.database.read() as connection:
            mark = open_store(connection).marks.cursor(self._context.name, path)
        return PathReport(path, (), False, 0, (), self._height_of(mark))

    def _height_of(self, mark: Cursor | None) -> int | None:
        """Give the height up to which a path is complete; None for a sync without heights."""
        if mark is None or not mark.is_complete or self._polled.height is None:
            return None
        return mark.height

    def _compare_blocks(self) -> int | None:
        """Store how the blocks of the window are recognised; give the lowest that is another."""
        context, height = self._context, self._polled.height
        if height is None:
            return None
        floor = max(self._floor, height - context.settings.window + 1, 0)
        now = anchors_of(context.name, self._listed, floor, height)
        with context.database.write() as connection:
            marks = open_store(connection).marks
            before = marks.anchors(context.name, since=floor)
            known = set(before)
            marks.put_anchors(anchor for anchor in now if anchor not in known)
        return differs_from(before, now)

    def _on_page(self, path: str) -> Callable[[WalkedPage, int], object]:
        rows = 0

        def told(page: WalkedPage, pins: int) -> None:
            nonlocal rows
            rows += page.answer.listed
            self._progress(
                "walk",
                path,
                pages=page.number,
                rows=rows,
                pins=pins,
                total=page.answer.total,
            )

        return told

    def _progress(
        self,
        phase: Phase,
        path: str = "",
        *,
        pages: int = 0,
        rows: int = 0,
        pins: int = 0,
        total: int | None = None,
    ) -> None:
        traffic = spent(self._since, self._context.source.traffic())
        name, requests = self._context.name, traffic.requests
        self._tell(Progress(phase, name, path, pages, rows, pins, requests, traffic.bytes, total))
