"""A round of the sync: the pins of some paths, brought up to date from one or more indexers.

    sync = Sync(database, [Source(man)], paths)
    report = sync.round(now=int(time.time()))

Each indexer is read by itself, with cursors of its own; what they say of a pin meets in the store
(`say`, `refold.metaid.store.merge`). An indexer that fails does not stop the round. Whatever was
stored stays, so a round may be killed at any moment and the next one goes on.
"""

from collections.abc import Collection, Mapping, Sequence
from threading import Event

from refold.db import Database
from refold.kernel.canon import MAX_INTEGER
from refold.kernel.errors import UsageError
from refold.metaid.man.client import check_path
from refold.metaid.rawtx import RawTxs
from refold.metaid.store import Gap, Indexed, open_store
from refold.metaid.sync import say
from refold.metaid.sync.authors import Authors
from refold.metaid.sync.indexer import IndexerRound, Tell
from refold.metaid.sync.plan import Settings
from refold.metaid.sync.report import AuthorTally, IndexerReport, Progress, Report, Tally, Traffic
from refold.metaid.sync.sources import Polled, Source, poll
from refold.metaid.sync.tally import Disagreements
from refold.metaid.sync.walker import Context


class Sync:
    """Reads `paths` from `sources` into a database; one process at a time.

    The order of the sources matters: where they disagree on a place, the word of the first counts
    (`say`). With `authors`, a source of raw transactions, authors are verified too. `tell` is told
    how far a round is. Raises `InputError` `path-invalid`; `UsageError` `sync-sources` for none or
    one that is named twice, `sync-paths` for no path.
    """

    def __init__(
        self,
        database: Database,
        sources: Sequence[Source],
        paths: Collection[str],
        *,
        authors: RawTxs | None = None,
        settings: Settings | None = None,
        tell: Tell = lambda _progress: None,
    ) -> None:
        self.names = [source.name for source in sources]
        if not sources or len(set(self.names)) < len(self.names):
            raise UsageError("sync-sources", "no indexer, or one twice", "name each indexer once")
        if not paths:
            raise UsageError("sync-paths", "no path to read", "name one or more")
        for path in paths:
            check_path(path)
        self.paths = tuple(dict.fromkeys(paths))
        self.settings = settings or Settings()
        self._database = database
        self._sources = list(sources)
        self._authors = Authors(database, authors) if authors is not None else None
        self._tell = tell

    def poll(self) -> dict[str, Polled]:
        """Ask every indexer for height and count, which tell whether a round is of any use."""
        return {source.name: poll(source, self.settings.chain) for source in self._sources}

    def round(
        self,
        now: int,
        *,
        full: bool = False,
        polled: Mapping[str, Polled] | None = None,
        stop: Event | None = None,
    ) -> Report:
        """Bring all paths up to date; `now` is in Unix seconds.

        `full` walks whole lists though none is due. `polled` is what `poll` gave just now. `stop`,
        once set, ends the round after the page that is under way. What indexers get wrong is in the
        report. Raises the errors of the database.
        """
        stop = stop or Event()
        before = [source.traffic() for source in self._sources]
        if polled is None:
            for name in self.names:
                self._tell(Progress("poll", name))
            polled = self.poll()
        was = self._indexers()
        known = self._heard(was, polled, now)
        tally, disagreements = Tally(), Disagreements()
        doubtful: set[str] = set()
        reports: list[IndexerReport] = []
        for source, since in zip(self._sources, before, strict=True):
            bodies = source.bodies()
            context = Context(
                database=self._database,
                source=source,
                bodies=bodies,
                rivals=say.rivals_of(source.name, self.names, known, now),
                settings=self.settings,
                now=now,
                tally=tally,
                disagreements=disagreements,
            )
            reading = IndexerRound(
                context,
                self.paths,
                polled=polled[source.name],
                before=was[source.name],
                since=since,
                full=full,
                stop=stop,
                tell=self._tell,
            )
            reports.append(reading.run(has_say=say.has_say(known[source.name], now)))
            doubtful |= bodies.doubtful
        authors, transactions = self._verify(stop)
        return Report(
            now=now,
            height=_height_of(reports),
            indexers=tuple(reports),
            traffic=sum((one.traffic for one in reports), transactions),
            pins=tally,
            waiting=self._waiting(),
            gaps=tuple(self._gaps()),
            doubtful=tuple(sorted(doubtful)),
            disagreements=disagreements.listed(),
            disagreement_count=len(disagreements),
            authors=authors,
        )

    def _indexers(self) -> dict[str, Indexed]:
        """Give what was known of the indexers."""
        with self._database.read() as connection:
            known = {one.indexer: one for one in open_store(connection).marks.indexers()}
        return {name: known.get(name, Indexed(name)) for name in self.names}

    def _heard(
        self, was: dict[str, Indexed], polled: Mapping[str, Polled], now: int
    ) -> dict[str, Indexed]:
        """Note what the indexers said; give what is known of them now."""
        told = {
            name: say.heard(one, polled[name].height, polled[name].pins, now)
            if polled[name].error is None
            else one
            for name, one in was.items()
        }
        known = say.updated(told, now)
        with self._database.write() as connection:
            marks = open_store(connection).marks
            for name, one in known.items():
                if one != was[name]:
                    marks.put_indexer(one)
        return known

    def _verify(self, stop: Event) -> tuple[AuthorTally | None, Traffic]:
        """Verify authors, if it was asked for; give what that took beside."""
        if self._authors is None or stop.is_set():
            return None, Traffic()
        transport, name = self._authors.txs.transport, self._authors.txs.base
        requests, received = transport.requests, transport.bytes_received
        self._tell(Progress("authors", name))
        tally = self._authors.verify(
            self.settings.authors,
            lambda pins: self._tell(Progress("authors", name, pins=pins)),
        )
        return tally, Traffic(
            transactions=transport.requests - requests, bytes=transport.bytes_received - received
        )

    def _waiting(self) -> int:
        """Count the pins that stand in no block."""
        with self._database.read() as connection:
            pins = open_store(connection).pins
            return sum(len(pins.places_from(MAX_INTEGER, path)) for path in self.paths)

    def _gaps(self) -> list[Gap]:
        with self._database.read() as connection:
            known = open_store(connection).marks.gaps()
        return [gap for gap in known if gap.indexer in self.names and gap.path in self.paths]


def _height_of(reports: Sequence[IndexerReport]) -> int | None:
    """Give the height up to which the pins are complete, as `Report` says."""
    heights: list[int] = []
    for one in reports:
        if not (one.is_answering and one.has_say):
            continue
        if one.height is None or not one.paths:
            return None
        for path in one.paths:
            if path.height is None:
                return None
            heights.append(path.height)
    return min(heights, default=None)
