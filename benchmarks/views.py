"""The stored view: the first fold written, one block more on a large base, snapshots, disk.

The stream is that of `fold.py`. What the live digest tells is recorded beforehand, so that only the
writing is measured. The baseline of the first writing is the bare driver, which appends as many
rows with the same bytes to a table without any key; that of a block the same block on a base of
10,000 events. Times are CPU seconds on SQLite.
"""

import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness import Figure, arguments
from refold.agentpedia import PRD, Event, Fold, read_document
from refold.agentpedia.changes import History, Sink, Value
from refold.agentpedia.digest import LiveDigest
from refold.agentpedia.fold import SNAPSHOT_FORMAT
from refold.agentpedia.store import Snapshot, Written, open_views, pack
from refold.agentpedia.store.rows import row_of, step_row
from refold.db import Database
from streams import stream

EVENTS, QUICK = 1_000_000, 50_000
SMALL = 10_000
SNAPSHOT_EVENTS = 200_000
A_BLOCK = 50
ROUNDS = 20
A_BATCH = 4_000


class Told:
    """A sink that remembers."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, tuple[object, ...]]] = []
        self.rows: list[tuple[object, ...]] = []

    def forget(self) -> None:
        """Remember that all is to be dropped."""
        self._calls.append(("forget", ()))

    def drop(self, section: str, key: str) -> None:
        """Remember a drop."""
        self._calls.append(("drop", (section, key)))

    def put(self, value: Value) -> None:
        """Remember a value."""
        self._calls.append(("put", (value,)))
        self.rows.append(row_of(value))

    def history(self, history: History) -> None:
        """Remember a history."""
        self._calls.append(("history", (history,)))
        record, kept, steps = history
        self.rows += [step_row(record, place, step) for place, step in enumerate(steps, kept)]

    def play(self, sink: Sink) -> None:
        """Tell it all again."""
        for name, given in self._calls:
            getattr(sink, name)(*given)


def seconds(job: Callable[[], object]) -> float:
    """Give the CPU seconds of a job."""
    start = time.process_time()
    job()
    return time.process_time() - start


def write(database: Database, told: Told) -> Written:
    """Write what was told in one transaction."""
    with database.write() as connection, open_views(connection).writing() as writer:
        told.play(writer)
    return writer.written


def append(path: Path, told: Told) -> None:
    """Append the same rows with the bare driver, without keys or indexes."""
    widths = sorted({len(row) for row in told.rows})
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA page_size = 16384")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN")
    for width in widths:
        columns = ", ".join(f"c{number}" for number in range(width))
        connection.execute(f"CREATE TABLE t{width} ({columns})")
        rows = [row for row in told.rows if len(row) == width]
        statement = f"INSERT INTO t{width} VALUES ({', '.join('?' * width)})"  # noqa: S608 - no value from outside
        for start in range(0, len(rows), A_BATCH):
            connection.executemany(statement, rows[start : start + A_BATCH])
    connection.execute("COMMIT")
    connection.close()


def blocks(database: Database, fold: Fold, live: LiveDigest, events: Sequence[Event]) -> float:
    """Fold blocks and write each; give the median of the CPU seconds of the writing."""
    times = []
    for start in range(0, len(events), A_BLOCK):
        fold.apply_many(events[start : start + A_BLOCK])
        told = Told()
        live.at(fold.tip, told)
        times.append(seconds(lambda told=told: write(database, told)))  # type: ignore[misc] # bound now
    return statistics.median(times)


def base(folder: Path, events: Sequence[Event]) -> tuple[list[Figure], float]:
    """Measure a base of all events but the last blocks; give the time of a block as well."""
    count = len(events) - ROUNDS * A_BLOCK
    fold = Fold(PRD)
    fold.apply_many(events[:count])
    live, told = LiveDigest(fold), Told()
    live.at(fold.tip, told)
    path = folder / f"{count}.db"
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        written: list[Written] = []
        ours = seconds(lambda: written.append(write(database, told)))
        a_block = blocks(database, fold, live, events[count:])
    rows = written[0].rows
    bare = seconds(lambda: append(folder / f"{count}.bare.db", told)) / rows
    of = f"{bare * 1e6:.1f} by the bare driver, appending"
    label = f"{count // 1000}k"
    size = path.stat().st_size / count
    figures = [
        Figure(f"views.us_per_row.{label}", ours / rows * 1e6, "CPU µs", of, "≤ 15"),
        Figure(f"views.rows.{label}", rows, "rows", f"{count:,} events"),
        Figure(f"views.bytes_per_event.{label}", size, "bytes on disk"),
    ]
    return figures, a_block


def snapshot(folder: Path, events: Sequence[Event]) -> Iterator[Figure]:
    """Measure a snapshot: made, kept, found, restored."""
    fold = Fold(PRD)
    fold.apply_many(events)
    made: list[bytes] = []
    label = f"{len(events) // 1000}k"
    taken = seconds(lambda: made.append(fold.snapshot()))
    with Database.open(f"sqlite:///{folder / 'snapshot.db'}", durability="normal") as database:

        def keep() -> None:
            with database.write() as connection:
                packed = pack(Snapshot(1, SNAPSHOT_FORMAT, "", made[0]))
                open_views(connection).snapshots.put(packed)
                stored.append(sum(map(len, packed.chunks)))

        def find() -> None:
            with database.read() as connection:
                found = open_views(connection).snapshots.newest(1, SNAPSHOT_FORMAT, "").snapshot
                if found is not None:
                    Fold.restore(found.data)

        stored: list[int] = []
        kept, restored = seconds(keep), seconds(find)
    of = f"{taken:.2f} to make it"
    yield Figure(f"views.snapshot_keep_s.{label}", kept, "CPU s", of)
    yield Figure(f"views.snapshot_restore_s.{label}", restored, "CPU s", of)
    yield Figure(f"views.snapshot_mb.{label}", stored[0] / 1e6, "MB", f"{len(made[0]) / 1e6:.0f}")


def main() -> None:
    """Print the figures."""
    given = arguments(__doc__ or "")
    count = QUICK if given.quick else EVENTS
    made = stream(count + ROUNDS * A_BLOCK)
    events = read_document(json.dumps({"events": list(made)}).encode()).events
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        times = []
        for part in (events[: SMALL + ROUNDS * A_BLOCK], events):
            figures, a_block = base(folder, part)
            times.append(a_block)
            for figure in figures:
                figure.print(as_json=given.json)
        of = f"{times[0] * 1e3:.1f} on {SMALL:,} events"
        Figure("views.block_ms", times[1] * 1e3, "CPU ms", of).print(as_json=given.json)
        Figure("views.block_ratio", times[1] / times[0], "×", of).print(as_json=given.json)
        for figure in snapshot(folder, events[: min(count, SNAPSHOT_EVENTS)]):
            figure.print(as_json=given.json)


if __name__ == "__main__":
    main()
