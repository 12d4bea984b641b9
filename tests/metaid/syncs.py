"""A sync of a small chain into a database, and what must be in the store afterwards."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metaid.mans import Indexer, client
from metaid.worlds import OTHER, PATH, Truth, World, settled
from refold.db import Database
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.rawtx import RawTxs
from refold.metaid.store import Store, open_store
from refold.metaid.sync import Report, Settings, Source, Sync

WIKI = "agentpedia"
HOUR = 3_600


class Node:
    """A database that a sync fills from some indexers, round after round, ten minutes apart."""

    def __init__(
        self,
        database: Database,
        sources: Sequence[Source],
        paths: Sequence[str] = (PATH,),
        *,
        authors: RawTxs | None = None,
        limit: int = 500,
        **settings: Any,
    ) -> None:
        self.database = database
        self.now = 1_790_000_000
        self.told: list[Any] = []
        self.settings = Settings(**({"size": 7, "authors": limit} | settings))
        self.sources = list(sources)
        self.paths = paths
        self.authors = authors
        self.restart()

    def restart(self) -> None:
        """Forget all that is not in the database."""
        self.sync = Sync(
            self.database,
            self.sources,
            self.paths,
            authors=self.authors,
            settings=self.settings,
            tell=self.told.append,
        )

    def round(self, seconds: int = 600, **options: Any) -> Report:
        self.now += seconds
        return self.sync.round(self.now, **options)

    @contextmanager
    def store(self) -> Iterator[Store]:
        with self.database.read() as connection:
            yield open_store(connection)

    def confirmed(self, until: int | None = None) -> Truth:
        with self.store() as store:
            pins = store.pins.confirmed(until=until, paths=self.paths)
            return {pin.id: (pin.height, pin.tx_index, pin.body) for pin in pins}

    def pending(self) -> list[Pin]:
        with self.store() as store:
            return list(store.pins.pending(paths=self.paths))

    def place(self, pin_id: str) -> Place | None:
        with self.store() as store:
            return store.pins.place(pin_id)

    def changed_from(self) -> int | None:
        """Give what a reader would have to read again, and let it read."""
        with self.database.write() as connection:
            marks = open_store(connection).marks
            changed = marks.changed_from(WIKI)
            marks.settle(WIKI)
        return changed


@contextmanager
def opened(folder: Path, name: str = "sync") -> Iterator[Database]:
    with Database.open(f"sqlite:///{folder / name}.db", durability="normal") as database:
        yield database


def source(here: World, *, txs: bool = False, **options: Any) -> Source:
    return Source(here.man(**options), here.txs() if txs else None)


def scripted(script: Indexer, name: str = "https://a.example.test") -> Source:
    """Give a source that answers as a script says."""
    man = client(script)
    man.base = name
    return Source(man)


def truth_of(here: World, paths: Sequence[str] = (PATH,), until: int | None = None) -> Truth:
    """Give the pins of the chain in blocks, up to a height."""
    return {
        pin.id: (pin.height, pin.pin.tx_index, pin.body)
        for path in paths
        for pin in here.net.pins(path)
        if until is None or (pin.height or 0) <= until
    }


__all__ = [
    "HOUR",
    "OTHER",
    "PATH",
    "WIKI",
    "Node",
    "opened",
    "scripted",
    "settled",
    "source",
    "truth_of",
]
