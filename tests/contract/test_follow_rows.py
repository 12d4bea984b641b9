"""A block costs what it changes: rows are counted on bases of two sizes, and for blocks of two."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any
from unittest.mock import patch

import msgspec

from agentpedia.scenario import PARAMS
from contract.databases import wipe
from refold.agentpedia.event import CONSTITUTION, REV, REVIEW
from refold.agentpedia.indexer import CaughtUp, Indexer, indexing
from refold.agentpedia.indexer import indexer as module
from refold.agentpedia.rules import ALGO_VERSIONS
from refold.agentpedia.store import open_views
from refold.db import Database
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store import open_store

SMALL, LARGE = 300, 3_000
BOTS = [f"idq1{name:0>38}" for name in ("alice", "bob", "dora", "emil", "fay", "gus")]
LIMITS = PARAMS | {"ratePerSlugDaily": 10_000, "rateGlobalDaily": 10_000}


def id_of(name: str) -> str:
    return sha256(name.encode()).hexdigest() + "i0"


def pin(name: str, path: str, sender: str, place: tuple[int, int], payload: dict[str, Any]) -> Pin:
    return Pin(
        id=id_of(name),
        path=path,
        height=place[0],
        tx_index=place[1],
        sender=sender,
        operation="create",
        encryption="0",
        version="1.0",
        content_type="application/json",
        timestamp=1_790_000_000,
        body=msgspec.json.encode({"v": 1, **payload}),
    )


def rev(name: str, kind: str, number: int, place: tuple[int, int], **members: Any) -> Pin:
    text = f"{name} links to [[entry_{number + 1}]]"
    payload = {"lang": "en", "slug": f"entry_{number}", "title": f"Entry {number}", "type": kind}
    said = {"content": text, "contentHash": sha256(text.encode()).hexdigest()}
    return pin(name, REV, BOTS[number % 3], place, {**payload, **said, **members})


def base(entries: int) -> Iterator[Pin]:
    """Give a wiki of so many entries with two versions each, 50 pins a block."""
    genesis = {"revision": 0, "prevConstitution": None, "proposalPin": None, "founders": BOTS}
    algorithms = dict(ALGO_VERSIONS)
    genesis |= {"params": LIMITS, "algoVersions": algorithms}  # type: ignore[dict-item]  # members of other kinds
    yield pin("genesis", CONSTITUTION, BOTS[0], (100, 1), genesis)
    for number in range(entries):
        place = (101 + number // 25, number % 25)
        yield rev(f"create {number}", "create", number, place)
        parent = id_of(f"create {number}")
        place = (place[0], 25 + place[1])
        yield rev(f"edit {number}", "edit", number, place, parentRev=parent, basedOn=parent)


def block(height: int, pins: int) -> list[Pin]:
    """Give a block of edits and reviews, half of each, on the first entries."""
    made = []
    for number in range(pins // 2):
        target = id_of(f"edit {number}")
        name = f"{height} {number}"
        made.append(rev(name, "edit", number, (height, number), parentRev=target, basedOn=target))
        marks = dict.fromkeys(("accuracy", "citation", "neutrality"), 4)
        said = {"targetRev": target, "score": 4, "dimensions": marks}
        sender = BOTS[3 + number % 3]
        made.append(pin(f"review {name}", REVIEW, sender, (height, 100 + number), said))
    return made


def write(database: Database, pins: list[Pin]) -> None:
    with database.write() as connection:
        open_store(connection).pins.write(pins, "a")


def added(database: Database, indexer: Indexer, pins: list[Pin]) -> CaughtUp:
    write(database, pins)
    came = indexer.catch_up()
    assert came.events == len(pins)
    return came


@contextmanager
def based(database: Database, entries: int) -> Iterator[Indexer]:
    wipe(database)
    write(database, list(base(entries)))
    with indexing(database) as indexer:
        came = indexer.catch_up()
        assert came.rows > 3 * entries
        yield indexer


def test_a_block_writes_rows_for_what_is_in_it_whatever_the_base(database: Database) -> None:
    rows: dict[int, list[int]] = {}
    for entries in (SMALL, LARGE):
        with based(database, entries) as indexer:
            rows[entries] = [
                added(database, indexer, block(1_000, 50)).rows,
                added(database, indexer, block(1_001, 50)).rows,
                added(database, indexer, block(1_002, 10)).rows,
            ]
    assert rows[SMALL] == rows[LARGE]
    # The entries, a step in the history of each, the reviews, and those of the six bots who gain:
    # nobody does by a second review of the same version.
    assert rows[SMALL] == [25 + 25 + 25 + 6, 25 + 25 + 25 + 3, 5 + 5 + 5 + 3]


def test_a_reorganisation_writes_rows_for_what_is_replaced(database: Database) -> None:
    rows: dict[int, int] = {}
    for entries in (SMALL, LARGE):
        with based(database, entries) as indexer:
            blocks = [block(1_000 + number, 50) for number in range(6)]
            for one in blocks:
                added(database, indexer, one)
            before = indexer.catch_up().digest
            moves = [
                (one.id, Place(one.height, 200 - one.tx_index)) for some in blocks for one in some
            ]
            moves[-2] = (moves[-2][0], Place(None, 0))
            with database.write() as connection:
                open_store(connection).pins.move(moves, "a")
            came = indexer.catch_up()
            assert (came.events, came.rolled_back_to) == (299, 999)
            assert came.digest != before
            rows[entries] = came.rows
    assert rows[SMALL] == rows[LARGE]


def test_a_start_takes_no_snapshot_when_one_of_this_day_is_there(database: Database) -> None:
    """It goes on from an older one, so that there are blocks to be undone."""
    with patch.multiple(module, SNAPSHOT_EVENTS=1):
        with based(database, SMALL) as indexer:
            added(database, indexer, block(600, 10))
        kept = snapshot_heights(database)
        assert kept == [112, 600]
        with indexing(database) as indexer:
            added(database, indexer, block(610, 10))
            assert snapshot_heights(database) == kept
            added(database, indexer, block(744, 10))
            assert snapshot_heights(database)[-1] == 744


def snapshot_heights(database: Database) -> list[int]:
    with database.read() as connection:
        return [one.height for one in open_views(connection).snapshots.kept()]
