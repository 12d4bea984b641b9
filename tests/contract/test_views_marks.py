"""How far the fold came, digests by height, and snapshots."""

import random
import zlib
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.agentpedia import DEPLOYED, PRD, Options
from refold.agentpedia.store import (
    Folded,
    KeptDigest,
    KeptSnapshot,
    Snapshot,
    open_views,
    options_fingerprint,
    pack,
    snapshots,
    tables,
)
from refold.agentpedia.store.retention import (
    BLOCKS_A_DAY,
    SNAPSHOT_WIDTHS,
    keeps_digest,
    kept_snapshots,
)
from refold.db import Database
from refold.metaid.store import Position

DIGEST = sha256(b"").hexdigest()
FORMAT, OPTIONS = 2, "options"


def test_the_position_is_the_last_one_that_was_put(database: Database) -> None:
    first = Folded("prd", OPTIONS, 11, Position(10, 3, "a"), DIGEST)
    second = Folded("prd", OPTIONS, 9, Position(-1, -1, ""), DIGEST[::-1])
    for folded in (first, second):
        with database.write() as connection:
            open_views(connection).marks.put_folded(folded)
        with database.read() as connection:
            assert open_views(connection).marks.folded() == folded
    with database.write() as connection:
        marks = open_views(connection).marks
        marks.put_digest(KeptDigest(1, DIGEST, 0, 1))
        marks.forget_folded()
        assert marks.folded() is None
        assert marks.digest(1) is None


def test_digests_are_kept_for_a_thousand_heights_and_one_a_day_before(database: Database) -> None:
    tip = 2_000
    noted = [*range(0, 1_001, 72), *range(990, 1_012), *range(1_990, 2_003)]
    with database.write() as connection:
        marks = open_views(connection).marks
        for height in noted:
            marks.put_digest(KeptDigest(height, f"{height:064x}", height, 1))
        marks.prune_digests(tip)
        assert marks.prune_digests(tip) == 0
    with database.read() as connection:
        marks = open_views(connection).marks
        for height in noted:
            kept = KeptDigest(height, f"{height:064x}", height, 1)
            is_there = height > 1_000 or height % 144 == 0
            assert keeps_digest(height, tip) == is_there
            assert marks.digest(height) == (kept if is_there else None)
        assert marks.digest(5) is None


def test_a_digest_is_replaced_and_those_above_a_height_are_dropped(database: Database) -> None:
    with database.write() as connection:
        marks = open_views(connection).marks
        for events in (1, 2):
            for height in (5, 6, 7):
                marks.put_digest(KeptDigest(height, DIGEST, events, 3))
        assert marks.drop_digests(5) == 2
        assert marks.digest(5) == KeptDigest(5, DIGEST, 2, 3)
        assert marks.digest(6) is None


def snapshot(height: int, data: bytes = b"x", options: str = OPTIONS) -> Snapshot:
    return Snapshot(height, FORMAT, options, data)


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 35])
def test_a_snapshot_comes_back_whole(
    database: Database, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "CHUNK_BYTES", 10)
    data = random.Random(size).randbytes(size)
    with database.write() as connection:
        packed = pack(snapshot(7, data))
        open_views(connection).snapshots.put(packed)
    stored = sum(map(len, packed.chunks))
    kept = KeptSnapshot(7, FORMAT, OPTIONS, sha256(data).hexdigest(), size, stored)
    with database.read() as connection:
        views = open_views(connection)
        assert views.snapshots.kept() == [kept]
        found = views.snapshots.newest(7, FORMAT, OPTIONS)
        assert (found.snapshot, found.damaged) == (snapshot(7, data), [])
        rows = connection.scalar(tables.chunks.select().with_only_columns(tables.chunks.c.bytes))
        assert (rows is None) == (size == 0)


def test_the_newest_at_or_below_a_height_of_a_format_and_options_is_given(
    database: Database,
) -> None:
    with database.write() as connection:
        kept = open_views(connection).snapshots
        for height in (10, 20, 30):
            kept.put(pack(snapshot(height, b"%d" % height)))
        kept.put(pack(snapshot(25, b"other", "others")))
        heights = [s.height for s in kept.kept()]
        assert heights == [10, 30]  # one a slot, and the newest

        def at(below: int, snapshot_format: int = FORMAT, options: str = OPTIONS) -> int | None:
            found = kept.newest(below, snapshot_format, options)
            assert found.damaged == []
            return None if found.snapshot is None else found.snapshot.height

        assert [at(9), at(10), at(29), at(30), at(99)] == [None, 10, 10, 30, 30]
        assert at(99, FORMAT + 1) is None
        assert at(99, FORMAT, "others") is None
        assert kept.drop(10) == 1
        assert at(99) == 10
        assert kept.drop(-1) == 1
        assert kept.kept() == []
        assert connection.execute(tables.chunks.select()).all() == []


def test_a_snapshot_put_again_takes_the_place_of_the_first(database: Database) -> None:
    with database.write() as connection:
        kept = open_views(connection).snapshots
        for data in (b"first" * 9, b"second"):
            kept.put(pack(snapshot(5, data)))
        assert kept.newest(5, FORMAT, OPTIONS).snapshot == snapshot(5, b"second")
        assert len(kept.kept()) == 1


DAMAGES: dict[str, bytes | None] = {
    "no whole chunk": zlib.compress(b"damaged")[:-3],
    "nothing that was compressed": b"\x78\x01",
    "no bytes": b"",
    "another": zlib.compress(b"another"),
    "too long": zlib.compress(bytes(5_000_000)),
    "gone": None,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_snapshot_is_passed_over_and_named(database: Database, damage: str) -> None:
    def harm(height: int) -> None:
        is_it = tables.chunks.c.height == height
        if DAMAGES[damage] is None:
            connection.execute(tables.chunks.delete().where(is_it))
        else:
            connection.execute(tables.chunks.update().where(is_it).values(bytes=DAMAGES[damage]))

    with database.write() as connection:
        kept = open_views(connection).snapshots
        kept.put(pack(snapshot(1, b"sound")))
        kept.put(pack(snapshot(300, b"damaged")))
        harm(300)
        found = kept.newest(400, FORMAT, OPTIONS)
        assert (found.snapshot, found.damaged) == (snapshot(1, b"sound"), [300])
        harm(1)
        found = kept.newest(400, FORMAT, OPTIONS)
        assert (found.snapshot, found.damaged) == (None, [300, 1])


@given(st.lists(st.integers(1, BLOCKS_A_DAY), min_size=1, max_size=400), st.data())
def test_every_roll_back_within_a_width_finds_a_snapshot_near(
    gaps: list[int], data: st.DataObject
) -> None:
    """As they are thinned one after the other, each time another one is taken."""
    kept: set[int] = set()
    first = tip = data.draw(st.integers(0, 10_000))
    for gap in gaps:
        kept = kept_snapshots({*kept, tip})
        assert len(kept) <= 2 * len(SNAPSHOT_WIDTHS) + 1
        assert tip in kept
        for width in SNAPSHOT_WIDTHS:
            for depth in (0, 1, width - BLOCKS_A_DAY):
                if tip - depth >= first + 2 * width:
                    found = max(height for height in kept if height <= tip - depth)
                    assert found > tip - 2 * width
        tip += gap


def test_no_snapshots_stay_none() -> None:
    assert kept_snapshots([]) == set()


def test_the_fingerprint_is_of_all_that_makes_another_view() -> None:
    plain = Options()
    same = Options(content_facts={"a": "verified"})
    others = [
        Options(blocks_per_hour=7),
        Options(blocks_per_day=143),
        Options(genesis_pin="a"),
        Options(cluster_aliases={"a": "b"}),
        Options(editors_rep={"a": 1}),
        Options(arbiter_overrides={"a": ["b"]}),
        Options(frozen_arbiter_overrides={"a": ["b"]}),
    ]
    prints = [options_fingerprint(PRD, options, FORMAT) for options in (plain, *others)]
    prints.append(options_fingerprint(DEPLOYED, plain, FORMAT))
    prints.append(options_fingerprint(PRD, plain, FORMAT + 1))
    assert len(set(prints)) == len(prints)
    assert options_fingerprint(PRD, same, FORMAT) == prints[0]
