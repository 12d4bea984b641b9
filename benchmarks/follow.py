"""The view kept in step: one block more, a reorganisation, an opening, snapshots, on a large base.

The stream is that of `fold.py`, with texts of 256 bytes and all gates on. A base is made once and
stays in the folder for temporary files, 3 GB for a million pins, which take a quarter of an hour of
CPU; each run works on a copy. A block is 50 pins at one height: it is read from the tables of pins,
folded, digested and written with what the entries show, as after a round of a sync. A
reorganisation of depth 6 turns the pins of six such blocks round in their blocks, and leaves one
out. The baseline is the same on a base of 10,000 pins. Times are CPU seconds on SQLite.
"""

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import msgspec
from sqlalchemy import Connection

from harness import Figure, arguments
from refold.agentpedia.fold import SNAPSHOT_FORMAT, Fold
from refold.agentpedia.indexer import CaughtUp, Indexer, Step, indexing
from refold.agentpedia.store import KeptSnapshot, Snapshot, open_views, pack
from refold.agentpedia.store.retention import BLOCKS_A_DAY
from refold.db import Database
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store import open_store
from streams import stream

T = TypeVar("T")

PINS, QUICK, SMALL = 1_000_000, 50_000, 10_000
BODY = 256
A_BLOCK = 50
ROUNDS = 9
"""Blocks that are added one by one; then some of them are replaced."""
DEPTH = 6
DAYS = 5
"""The last days of a base that are folded one by one."""
A_TRANSACTION = 5_000
SOURCE = "https://indexer.example.test"
MADE = 1
"""Raised when bases are made otherwise."""


class Taken(NamedTuple):
    """What was measured of one base: CPU seconds, rows, and what is kept."""

    opened: float
    blocks: list[float]
    rows: list[int]
    reorganised: float
    restarted: float
    snapshot: "Kept"
    size: int


class Kept(NamedTuple):
    """The newest snapshot: made, kept and restored in so many CPU seconds; bytes in memory, kept.

    `number` are kept, which hold `all_stored` bytes together.
    """

    made: float
    put: float
    restored: float
    size: int
    stored: int
    number: int
    all_stored: int


def pins_of(events: Iterable[dict[str, object]]) -> Iterator[Pin]:
    """Give events as pins out of blocks."""
    for event in events:
        yield Pin(
            id=cast("str", event["pin"]),
            path=cast("str", event["path"]),
            height=cast("int", event["height"]),
            tx_index=cast("int", event["txIndex"]),
            sender=cast("str", event["sender"]),
            operation="create",
            encryption="0",
            version="1.0",
            content_type="application/json",
            timestamp=1_790_000_000,
            body=msgspec.json.encode(event["payload"]),
        )


def later_blocks(count: int) -> list[list[Pin]]:
    """Give the blocks that follow a base."""
    made = list(pins_of(islice(stream(count + ROUNDS * A_BLOCK, body=BODY), count, None)))
    top = made[0].height or 0
    return [
        [
            msgspec.structs.replace(pin, height=top + 1 + number, tx_index=index)
            for index, pin in enumerate(made[number * A_BLOCK : (number + 1) * A_BLOCK])
        ]
        for number in range(ROUNDS)
    ]


def base_of(count: int) -> Path:
    """Give a database with so many pins and their view; make it if it is not there.

    The last days are folded day by day, so that snapshots are where a sync leaves them.
    """
    path = Path(tempfile.gettempdir()) / f"refold-follow-{MADE}-{SNAPSHOT_FORMAT}-{count}.db"
    if path.is_file():
        return path
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with Database.open(f"sqlite:///{part}", durability="normal") as database:
        made, top = pins_of(stream(count, body=BODY)), 0
        while some := list(islice(made, A_TRANSACTION)):
            write(database, some)
            top = some[-1].height or 0
        with indexing(database) as indexer:
            for day in range(DAYS, 0, -1):
                indexer.catch_up(top - day * BLOCKS_A_DAY, progress=told)
            came = indexer.catch_up(progress=told)
    if came.total != count:
        sys.exit(f"the base holds {came.total:,} pins of {count:,}")
    part.with_name(f"{part.name}.indexer.lock").unlink(missing_ok=True)
    return part.rename(path)


def told(step: Step) -> None:
    """Say how far a base is."""
    print(f"  base: up to {step.height:,} of {step.top:,}", file=sys.stderr, flush=True)


def write(database: Database, pins: Sequence[Pin]) -> None:
    """Write pins as a sync does."""
    with database.write() as connection:
        open_store(connection).pins.write(pins, SOURCE)


def put_in_order(database: Database, blocks: Sequence[Sequence[Pin]], *, turned: bool) -> None:
    """Let the pins of blocks stand in their order, or turned round and without the last of all."""
    moves = [
        (pin.id, Place(pin.height, A_BLOCK - pin.tx_index if turned else pin.tx_index))
        for block in blocks
        for pin in block
    ]
    if turned:
        moves[-1] = (moves[-1][0], Place(None, 0))
    with database.write() as connection:
        open_store(connection).pins.move(moves, SOURCE)


def seconds(job: Callable[[], T]) -> tuple[float, T]:
    """Give the CPU seconds of a job, and what it gave."""
    start = time.process_time()
    done = job()
    return time.process_time() - start, done


def caught_up(indexer: Indexer) -> CaughtUp:
    """Catch up, and see to it that something was folded."""
    came = indexer.catch_up()
    if not came.events:
        sys.exit("nothing was folded")
    return came


def measure(count: int, folder: Path) -> Taken:
    """Measure one base."""
    path = folder / f"{count}.db"
    shutil.copyfile(base_of(count), path)
    blocks = later_blocks(count)
    last = blocks[-DEPTH:]
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        with indexing(database) as indexer:
            opened, _ = seconds(indexer.catch_up)
            taken = []
            for block in blocks:
                write(database, block)
                taken.append(seconds(lambda: caught_up(indexer)))
            before = taken[-1][1].digest
            put_in_order(database, last, turned=True)
            reorganised, other = seconds(lambda: caught_up(indexer))
        put_in_order(database, last, turned=False)
        with indexing(database) as indexer:
            restarted, again = seconds(lambda: caught_up(indexer))
        if again.digest != before or other.digest == before:
            sys.exit("the digest is not that of before the reorganisations")
        kept = kept_in(database)
    rows = [came.rows for _, came in taken]
    times = [took for took, _ in taken]
    return Taken(opened, times, rows, reorganised, restarted, kept, path.stat().st_size)


def kept_in(database: Database) -> Kept:
    """Measure the newest snapshot of a fold: found, restored, made and kept again."""
    with database.read() as connection:
        kept = open_views(connection).snapshots.kept()
        if not kept:
            return Kept(0, 0, 0, 0, 0, 0, 0)
        newest = kept[-1]
        restored, fold = seconds(lambda: restore(connection, newest))
    made, data = seconds(fold.snapshot)
    snapshot = Snapshot(newest.height, newest.format, newest.options, data)
    put, _ = seconds(lambda: keep(database, snapshot))
    stored = sum(one.stored for one in kept)
    return Kept(made, put, restored, newest.size, newest.stored, len(kept), stored)


def keep(database: Database, snapshot: Snapshot) -> None:
    """Pack a snapshot, and put it into the database."""
    packed = pack(snapshot)
    with database.write() as connection:
        open_views(connection).snapshots.put(packed)


def restore(connection: Connection, kept: KeptSnapshot) -> Fold:
    """Give the fold of a snapshot."""
    found = open_views(connection).snapshots.newest(kept.height, kept.format, kept.options)
    if found.snapshot is None:
        sys.exit("the newest snapshot cannot be read")
    return Fold.restore(found.snapshot.data)


def figures(count: int, large: Taken, small: Taken) -> Iterator[Figure]:
    """Say what was measured."""
    size = "1m" if count == PINS else f"{count // 1000}k"

    def of(value: float, digits: int = 3) -> str:
        return f"{value:,.{digits}f} on {SMALL:,} pins"

    block, small_block = statistics.median(large.blocks), statistics.median(small.blocks)
    rows, small_rows = statistics.median(large.rows), statistics.median(small.rows)
    yield Figure(f"follow.block_s.{size}", block, "CPU s", of(small_block), "≤ 1")
    worst, small_worst = max(large.blocks), max(small.blocks)
    yield Figure(f"follow.block_worst_s.{size}", worst, "CPU s", of(small_worst), "≤ 1")
    yield Figure(f"follow.block_rows.{size}", rows, "rows", of(small_rows, 0))
    yield Figure(f"follow.reorg_s.{size}", large.reorganised, "CPU s", of(small.reorganised), "≤ 5")
    yield Figure(f"follow.restart_reorg_s.{size}", large.restarted, "CPU s", of(small.restarted))
    yield Figure(f"follow.open_s.{size}", large.opened, "CPU s", of(small.opened))
    yield Figure(f"follow.bytes_per_pin.{size}", large.size / count, "bytes on disk")
    kept = large.snapshot
    if kept.number:
        of_all = f"{kept.size / 1e6:,.0f} in memory"
        yield Figure(f"follow.snapshot_mb.{size}", kept.stored / 1e6, "MB", of_all)
        yield Figure(f"follow.snapshot_s.{size}", kept.made + kept.put, "CPU s")
        yield Figure(f"follow.restore_s.{size}", kept.restored, "CPU s")
        each = f"{kept.number} snapshots kept"
        yield Figure(
            f"follow.snapshot_bytes_per_pin.{size}", kept.all_stored / count, "bytes", each
        )


def main() -> None:
    """Print the figures."""
    given = arguments(__doc__ or "")
    count = QUICK if given.quick else PINS
    with tempfile.TemporaryDirectory() as folder:
        small = measure(SMALL, Path(folder))
        large = measure(count, Path(folder))
    for figure in figures(count, large, small):
        figure.print(as_json=given.json)


if __name__ == "__main__":
    main()
