"""The store of pins: written, written again, read in order, one block more, rolled back.

100,000 pins with bodies of 2 KB, 50 a block, the newest first as indexers list them, 1,000 a
transaction. The baseline writes the same rows into the same tables, and reads them, with the bare
driver: prepared rows in, rows out, nothing compared and no pin made. Times are CPU seconds; of
PostgreSQL those of the server are counted too.
"""

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Protocol

import psutil  # type: ignore[import-untyped]  # it ships no types
import psycopg

from harness import Figure, arguments
from refold.db import Database
from refold.metaid.pin import Pin
from refold.metaid.store import open_store
from refold.metaid.store.flush import body_row
from refold.metaid.store.merge import Batch
from refold.metaid.store.rows import copy_of, place_of
from refold.metaid.store.tables import pins as pins_table

PINS, QUICK = 100_000, 10_000
BODY = 2048
A_BLOCK = 50
A_TRANSACTION = 1_000
ROUNDS = 20
DEPTH = 6
TOP = 200_000
SOURCE = "https://indexer.example.test"

_COLUMNS = tuple(column.name for column in pins_table.c)
_READ = "SELECT * FROM metaid_pins JOIN metaid_bodies USING (sha256) ORDER BY height, tx_index, pin"

Row = tuple[object, ...]


def made(count: int, top: int = TOP) -> list[Pin]:
    """Give pins, the newest at height `top`; their bodies compress by half, as text does."""
    random = Random(top)
    words = [random.randbytes(random.randrange(2, 6)).hex() for _ in range(2_000)]
    pins = []
    for number in range(count):
        text = f'{{"v":1,"n":{number},"content":"' + " ".join(random.choices(words, k=300))
        pins.append(
            Pin(
                id=sha256(f"{top} {number}".encode()).hexdigest() + "i0",
                path="/protocols/agentpedia/rev",
                height=top - number // A_BLOCK,
                tx_index=number % A_BLOCK,
                sender=f"idq1{sha256(str(number % 60).encode()).hexdigest()[:38]}",
                operation="create",
                encryption="0",
                version="1.0",
                content_type="application/json",
                timestamp=1_790_000_000 - number,
                body=(text[: BODY - 2] + '"}').encode(),
                address="1JFgdjyqcTJwjxzQD4McJDNn1EVrY4o3QU",
                chain="mvc",
            )
        )
    return pins


def rows_of(pins: Sequence[Pin]) -> tuple[list[Row], list[Row]]:
    """Give the rows of bodies and pins that the store would write."""
    batch = Batch({}, {}, SOURCE)
    hashes = [sha256(pin.body).hexdigest() for pin in pins]
    for pin, hashed in zip(pins, hashes, strict=True):
        batch.take(pin, hashed)
    rows = [copy_of(held) | place_of(held.place) for held in batch.added.values()]
    return (
        [
            tuple(body_row(pin.body, hashed).values())
            for pin, hashed in zip(pins, hashes, strict=True)
        ],
        [tuple((row | {"state": "confirmed"}).get(name) for name in _COLUMNS) for row in rows],
    )


class Bare(Protocol):
    """The bare driver on a database that has our tables."""

    name: str

    def write(self, bodies: Sequence[Row], pins: Sequence[Row]) -> None:
        """Write rows in one transaction."""

    def read(self) -> int:
        """Read all pins with their bodies in order; give how many."""


def inserts(mark: str) -> tuple[str, str]:
    """Give the statements that insert a body and a pin; `mark` stands for a value."""
    marks = ", ".join([mark] * len(_COLUMNS))
    return (
        f"INSERT INTO metaid_bodies VALUES ({mark}, {mark}, {mark}) ON CONFLICT DO NOTHING",  # noqa: S608 - no value from outside
        f"INSERT INTO metaid_pins ({', '.join(_COLUMNS)}) VALUES ({marks})",  # noqa: S608 - no value from outside
    )


class BareSqlite:
    """The driver of Python's library, with the settings that ours uses."""

    name = "sqlite3 executemany"

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        for pragma in ("foreign_keys = ON", "synchronous = NORMAL", "cache_size = -65536"):
            self._connection.execute(f"PRAGMA {pragma}")

    def write(self, bodies: Sequence[Row], pins: Sequence[Row]) -> None:
        """Write rows in one transaction."""
        body, pin = inserts("?")
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(body, bodies)
        self._connection.executemany(pin, pins)
        self._connection.execute("COMMIT")

    def read(self) -> int:
        """Read all pins in order."""
        return sum(1 for _ in self._connection.execute(_READ))


class BarePostgres:
    """Psycopg, with the settings that ours uses."""

    name = "psycopg executemany"

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.execute("SET synchronous_commit = off")

    def write(self, bodies: Sequence[Row], pins: Sequence[Row]) -> None:
        """Write rows in one transaction."""
        body, pin = inserts("%s")
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(body, bodies)
            cursor.executemany(pin, pins)

    def read(self) -> int:
        """Read all pins in order, a thousand at a time."""
        with self._connection.transaction(), self._connection.cursor("all") as cursor:
            cursor.itersize = A_TRANSACTION
            return sum(1 for _ in cursor.execute(_READ))


class Clock:
    """CPU seconds of this process, and of a server where there is one."""

    def __init__(self, server: psutil.Process | None = None) -> None:
        self._server = server

    def seconds(self, job: Callable[[], object]) -> float:
        """Give the CPU seconds of a job."""
        start = self._now()
        job()
        return self._now() - start

    def _now(self) -> float:
        total: float = time.process_time()
        if self._server is not None:
            own = self._server.cpu_times()
            total += own.user + own.system + own.children_user + own.children_system
            for child in self._server.children():
                spent = child.cpu_times()
                total += spent.user + spent.system
        return total


def write(database: Database, pins: Sequence[Pin], outcome: str) -> None:
    """Write pins as a sync does, and see that they were what they should be."""
    for start in range(0, len(pins), A_TRANSACTION):
        with database.write() as connection:
            written = open_store(connection).pins.write(pins[start : start + A_TRANSACTION], SOURCE)
        if {word.outcome for word in written} != {outcome}:
            sys.exit(f"not all pins were {outcome}")


def write_bare(bare: Bare, bodies: Sequence[Row], pins: Sequence[Row]) -> None:
    """Write rows as `write` does."""
    for start in range(0, len(pins), A_TRANSACTION):
        end = start + A_TRANSACTION
        bare.write(bodies[start:end], pins[start:end])


def read(database: Database) -> int:
    """Read all pins in order."""
    with database.read() as connection:
        return sum(1 for _ in open_store(connection).pins.confirmed())


def roll_back(database: Database) -> None:
    """Take the newest blocks away."""
    with database.write() as connection:
        open_store(connection).pins.roll_back(TOP + ROUNDS - DEPTH, SOURCE)


def figures(
    kind: str, database: Database, bare: Bare, clock: Clock, pins: Sequence[Pin]
) -> Iterator[Figure]:
    """Measure one kind of database."""
    count = len(pins)
    bodies, rows = rows_of(pins)
    written = clock.seconds(lambda: write(database, pins, "new"))
    plain = clock.seconds(lambda: write_bare(bare, bodies, rows))
    base = f"{count / plain:,.0f} by {bare.name}"
    yield Figure(f"store.pins_per_s.{kind}", count / written, "pins/CPU s", base)
    yield Figure(f"store.write_ratio.{kind}", written / plain, "×", bare.name)
    again = clock.seconds(lambda: write(database, pins, "same"))
    yield Figure(f"store.again_ratio.{kind}", again / written, "×", "the first writing")
    was_read = clock.seconds(lambda: read(database))
    plain = clock.seconds(bare.read)
    base = f"{count / plain:,.0f} by the bare driver"
    yield Figure(f"store.read_pins_per_s.{kind}", count / was_read, "pins/CPU s", base)
    blocks = [made(A_BLOCK, TOP + number + 1) for number in range(ROUNDS)]
    more = sum(clock.seconds(partial(write, database, block, "new")) for block in blocks)
    base = f"a base of {count:,} pins"
    yield Figure(f"store.block_ms.{kind}", more / ROUNDS * 1e3, "CPU ms", base)
    back = clock.seconds(lambda: roll_back(database))
    yield Figure(f"store.roll_back_ms.{kind}", back * 1e3, "CPU ms", f"{DEPTH * A_BLOCK} pins")


def sqlite(pins: Sequence[Pin], folder: Path) -> Iterator[Figure]:
    """Measure SQLite."""
    path, other = folder / "ours.db", folder / "bare.db"
    Database.open(f"sqlite:///{other}").close()
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        yield from figures("sqlite", database, BareSqlite(other), Clock(), pins)
    size = path.stat().st_size / (len(pins) + ROUNDS * A_BLOCK)
    yield Figure("store.bytes_per_pin.sqlite", size, "bytes on disk", f"{BODY} in the body")


def postgres(pins: Sequence[Pin]) -> Iterator[Figure]:
    """Measure PostgreSQL, on the server that the tests use."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from contract.databases import fresh_schema, postgres_server  # noqa: PLC0415 - path just set

    with ExitStack() as stack:
        server = stack.enter_context(postgres_server())
        url, other = (stack.enter_context(fresh_schema(server)) for _ in range(2))
        with psycopg.connect(server) as connection:
            process = psutil.Process(connection.info.backend_pid).parent()
        Database.open(other).close()
        database = stack.enter_context(Database.open(url, durability="normal"))
        yield from figures("postgres", database, BarePostgres(other), Clock(process), pins)
        with database.read() as connection:
            size = connection.exec_driver_sql(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
            ).scalar_one()
        each = float(size) / (len(pins) + ROUNDS * A_BLOCK)
        yield Figure("store.bytes_per_pin.postgres", each, "bytes on disk", f"{BODY} in the body")


def main() -> None:
    """Print the figures of both."""
    given = arguments(__doc__ or "")
    pins = made(QUICK if given.quick else PINS)
    with tempfile.TemporaryDirectory() as folder:
        for figure in sqlite(pins, Path(folder)):
            figure.print(as_json=given.json)
    for figure in postgres(pins):
        figure.print(as_json=given.json)


if __name__ == "__main__":
    main()
