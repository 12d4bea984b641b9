"""Archives between nodes on both databases: restored, kept apart, forged, killed and resumed."""

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from contract.crashing import dies_at
from contract.databases import wipe
from contract.filling import rows_of
from contract.test_migrations import import_all_tables
from refold.db import METADATA, Database
from refold.kernel.errors import InputError, SourceError, UsageError
from refold.trials.api.office import open_writing
from refold.trials.archive.lines import MessageLine
from refold.trials.archive.writing import begun_archive
from refold.trials.checkpoint import Signer, read_checkpoint
from refold.trials.exchange.exporting import export_archive
from refold.trials.exchange.importing import Imported, import_foreign
from refold.trials.exchange.restoring import Own, restore
from refold.trials.log.keys import rotate
from refold.trials.log.verifying import verify_log
from refold.trials.log.writer import Log
from refold.trials.node import Node
from refold.trials.store.foreign import Foreign
from refold.trials.store.indexes import Indexes
from refold.trials.store.keys import Keys
from refold.trials.store.moderating import Moderation
from refold.trials.store.reading import Messages
from refold.trials.store.standings import Standings
from refold.trials.store.tree import Tree
from trials.archives import HONEST, archive, lines, message, parts, removed
from trials.histories import KINDS, STEP, History, Step
from trials.logged import (
    NAME,
    NEXT_SIGNER,
    NOON,
    SIGNER,
    all_messages,
    anything,
    append,
    key_of,
    posting,
)
from trials.nodes import text

import_all_tables()
ORIGIN = "node.example"
NODE = Node(f"https://{ORIGIN}")
OTHER = Signer("other.example/v1/public", b"another log's key...............")
TABLES = [
    table
    for table in METADATA.sorted_tables
    if table.name.startswith("trials_")
    and table.name not in {"trials_challenges", "trials_key_changes"}
]
LATER = NOON + 10_000_000


def own(signer: Signer = SIGNER) -> Own:
    return Own(NODE, signer, (Indexes().fold,))


def exported(database: Database, *, block: int = 50) -> bytes:
    out = BytesIO()
    with database.read() as connection:
        export_archive(connection, out.write, block=block)
    return out.getvalue()


def rows(database: Database) -> dict[str, Any]:
    """Give all rows, without the ids of what the operator did, in which databases leave gaps."""
    with database.read() as connection:
        found: dict[str, Any] = rows_of(connection, TABLES)
    found["trials_moderation"] = [row[1:] for row in found["trials_moderation"]]
    return found


def kept_of(database: Database, origin: str = ORIGIN) -> list[Any]:
    with database.read() as connection:
        return Foreign(connection).page(origin, 0, 10_000)


def code_of(job: Any, *arguments: Any) -> str:
    with pytest.raises((InputError, SourceError, UsageError)) as caught:
        job(*arguments)
    return caught.value.code


def foreign(database: Database, raw: bytes, signer: Signer = SIGNER) -> Imported:
    return import_foreign(database, lines(raw), signer.key, LATER)


def restored(database: Database, raw: bytes, signer: Signer = SIGNER) -> Imported:
    return restore(database, lines(raw), own(signer), LATER)


@pytest.fixture
def second(tmp_path: Path) -> Iterator[Database]:
    """Give one more database, of SQLite."""
    with Database.open(f"sqlite:///{tmp_path / 'second.db'}", durability="normal") as opened:
        yield opened


def story(database: Database, *, plain: int = 120) -> History:
    """Write a log with everything in it: all kinds, texts removed, a block, a key that ended."""
    history = History(database)
    for n in range(plain):
        history.take((KINDS.index("chat"), n, n, n % 60))
    for n in range(40):
        history.take((KINDS.index("trial"), n, n, n))
        history.take((KINDS.index("run"), n, n, n))
        history.take((KINDS.index("disposition"), n, n // 2, n))
        history.take((KINDS.index("review"), n, n, n))
    for kind in ("tombstone", "withdraw", "block", "revoke", "wait", "tombstone", "run"):
        for n in range(8):
            history.take((KINDS.index(kind), n, 29 - n, 55 - n))
    with history.database.write() as connection:
        moderation = Moderation(connection)
        for kind in ("trial", "withdraw", "revoke"):
            for id_ in history.of_kind(kind)[:1]:
                moderation.tombstone(id_, "why", history.now)
    history.log.close()
    assert {kind for _, kind in history.taken} >= {"trial", "run", "disposition", "review"}
    return history


def test_a_log_is_restored_whole(database: Database, second: Database) -> None:
    story(second)
    raw = exported(second)
    done = restored(database, raw)
    assert done.own
    assert hashlib.sha256(raw[: raw.rindex(b'{"type":"end"')]).hexdigest() == done.sha256
    assert done.added == done.size == len(all_messages(second))
    assert rows(database) == rows(second)
    assert exported(database) == raw
    with database.read() as connection:
        report = verify_log(connection)
        assert (report.problems, report.root) == ((), done.root)
        assert Indexes().check(connection) == []
    again = restored(database, raw)
    assert (again.added, again.size) == (0, done.size)
    assert rows(database) == rows(second)


def test_a_restored_node_goes_on(database: Database, second: Database) -> None:
    story(second)
    raw = exported(second)
    size = restored(database, raw).size
    writing = open_writing(database, Node(f"https://{ORIGIN}"), b"a log's first key...............")
    with database.write() as connection:
        Keys(connection).admit(key_of(50), "a newcomer", LATER)
    with writing.log as log:
        told = posting("after", who=50)
        done = log.append(told, writing.standings.judge).result()
        assert done.message is not None
        assert done.message.id == size + 1
    later = exported(database)
    assert restored(second, later).added == 1
    # The copy may have kept a checkpoint that the log itself let go.
    wanted, after = rows(database), rows(second)
    assert set(after.pop("trials_checkpoints")) >= set(wanted.pop("trials_checkpoints"))
    assert after == wanted
    assert restored(second, raw).added == 0, "an older archive takes nothing back"
    assert rows(second) | {"trials_checkpoints": []} == wanted | {"trials_checkpoints": []}
    with second.read() as connection:
        assert verify_log(connection).problems == ()


@settings(
    max_examples=5,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(steps=st.lists(STEP, min_size=60, max_size=120), cut=st.floats(0, 1))
def test_after_any_history_what_is_restored_is_what_was_there(
    database: Database, second: Database, steps: list[Step], cut: float
) -> None:
    wipe(database)
    wipe(second)
    history = History(second)
    for step in steps:
        history.take(step)
    history.log.close()
    raw = exported(second, block=7)
    place = int(cut * (len(raw) - 1))
    assert code_of(restored, database, raw[:place]) == "archive-cut"
    restored(database, raw)
    assert rows(database) == rows(second)
    with database.read() as connection:
        assert Indexes().check(connection) == []
        assert verify_log(connection).problems == ()


def test_a_restore_that_is_not_over_takes_no_posts(database: Database, second: Database) -> None:
    story(second)
    raw = exported(second)
    assert code_of(restored, database, raw[: len(raw) // 2]) == "archive-cut"
    with database.read() as connection:
        report = verify_log(connection)
        assert report.problems == ()
        assert 0 < report.size < len(all_messages(second))
        assert Indexes().check(connection) == []
    seed = b"a log's first key..............."
    assert code_of(open_writing, database, NODE, seed) == "log-restoring"
    restored(database, raw)
    open_writing(database, NODE, seed).log.close()


def test_a_restore_that_is_killed_anywhere_goes_on(tmp_path: Path, second: Database) -> None:
    story(second, plain=10)
    raw = exported(second, block=60)
    (tmp_path / "archive").write_bytes(raw)
    url = f"sqlite:///{tmp_path / 'killed.db'}"
    Database.open(url).close()

    def job() -> None:
        with Database.open(url, durability="normal") as opened:
            restored(opened, raw)

    deaths = 0
    for at in (3, 40, 250, 300, 700, 1_100, 2_000):
        deaths += dies_at(at, job)
        with Database.open(url) as opened, opened.read() as connection:
            if Tree(connection).keys():
                assert verify_log(connection, signatures=False).problems == ()
            assert Indexes().check(connection) == []
    assert deaths >= 3
    job()
    with Database.open(url) as opened:
        assert rows(opened) == rows(second)


def test_an_export_that_was_cut_anywhere_goes_on(second: Database) -> None:
    story(second, plain=30)
    raw = exported(second, block=40)
    size = len(all_messages(second))
    for place in (0, 5, 200, *range(500, len(raw), len(raw) // 12), len(raw) - 1):
        begun = begun_archive(lines(raw[:place]))
        out = BytesIO(raw[:place])
        out.seek(begun.offset if begun else 0)
        out.truncate()
        with second.read() as connection:
            done = export_archive(connection, out.write, begun, block=40)
        assert out.getvalue() == raw
        assert done.size == size
    with Log(second, SIGNER, clock=lambda: LATER) as log:
        append(log, *(posting(f"more {n}") for n in range(3)))
    begun = begun_archive(lines(raw[: len(raw) // 2]))
    assert begun is not None
    out = BytesIO(raw[: begun.offset])
    out.seek(begun.offset)
    with second.read() as connection:
        grown = export_archive(connection, out.write, begun)
    assert grown.size == size, "it stays the archive that was begun"
    assert parts(out.getvalue())[-1].size == size
    with second.read() as connection:
        begun = begun_archive(lines(archive(signer=NEXT_SIGNER)[:-50]))
        assert code_of(export_archive, connection, out.write, begun) == "export-other"


def test_messages_of_other_nodes_are_kept_and_are_nothing_here(database: Database) -> None:
    done = foreign(database, archive())
    assert (done.own, done.size, done.added, done.removed) == (False, 7, 7, 1)
    kept = kept_of(database)
    assert [(each.id, each.content) for each in kept] == [
        (each.id, each.content if isinstance(each, MessageLine) else None) for each in HONEST
    ]
    with database.read() as connection:
        assert Messages(connection).latest_id() == 0
        assert Keys(connection).get(HONEST[0].public_key) is None
        assert Moderation(connection).page(0, 10) == []
        assert Indexes().check(connection) == []
        filled = {
            table.name
            for table in TABLES
            if connection.scalar(select(func.count()).select_from(table))
        }
    assert filled == {"trials_origins", "trials_foreign"}
    before = rows(database)
    assert foreign(database, archive(block=2)).added == 0
    after = rows(database)
    assert after == before


def test_any_text_is_kept_to_the_last_code_point(database: Database) -> None:
    odd = [message(1, "a\0b\\u0000\\", room="ro\0om"), message(2, "\ufeff\u202e\x7f", who=2)]
    foreign(database, archive(odd))
    assert [(each.room, each.content) for each in kept_of(database)] == [
        ("ro\0om", "a\0b\\u0000\\"),
        ("commons", "\ufeff\u202e\x7f"),
    ]


def test_ids_that_collide_never_cross(database: Database) -> None:
    with Log(database, Signer("third.example/v1/public", b"x" * 32), clock=lambda: NOON) as log:
        append(log, *(posting(f"own {n}", who=n) for n in range(3)))
    mine = all_messages(database)
    theirs = [message(n, f"theirs {n}", who=n) for n in range(1, 6)]
    foreign(database, archive())
    foreign(database, archive(theirs, signer=OTHER), OTHER)
    assert all_messages(database) == mine
    assert [each.content for each in kept_of(database, "other.example")] == [
        each.content for each in theirs
    ]
    assert [each.id for each in kept_of(database)] == [each.id for each in HONEST]
    with database.read() as connection:
        names = [row.origin for row in Foreign(connection).origins("", 10)]
        assert names == [ORIGIN, "other.example"]
        assert verify_log(connection).problems == ()


def test_a_later_archive_adds_and_an_earlier_one_takes_nothing(database: Database) -> None:
    early, late = archive(HONEST[:4]), archive()
    assert foreign(database, early).added == 4
    assert foreign(database, late).added == 3
    before = rows(database)
    assert foreign(database, early).added == 0
    assert [each.id for each in kept_of(database)] == list(range(1, 8))
    with database.read() as connection:
        row = Foreign(connection).origin(ORIGIN)
        assert row is not None
        assert (row.size, row.target) == (7, 7)
        assert read_checkpoint(row.checkpoint, [SIGNER.key]).size == 7
    assert rows(database) == before


def test_an_import_that_is_cut_keeps_what_is_proven_and_goes_on(database: Database) -> None:
    raw = archive(block=2)
    sizes = []
    for place in range(0, len(raw), len(raw) // 9):
        assert code_of(foreign, database, raw[:place]) == "archive-cut"
        sizes.append(len(kept_of(database)))
    assert sizes == sorted(sizes)
    assert set(sizes) >= {0, 2, 4}
    foreign(database, raw)
    assert [each.id for each in kept_of(database)] == list(range(1, 8))


@pytest.mark.parametrize("held", [0, 5])
def test_a_forged_archive_changes_nothing(database: Database, held: int) -> None:
    if held:
        foreign(database, archive(HONEST[:held]))
    before = rows(database)
    other = (*HONEST[:3], message(4, "rewritten", at=NOON + 1), *HONEST[4:])
    rewritten = archive(other)
    forged = {
        "archive-key": archive(signer=Signer(NAME, b"f" * 32)),
        "archive-tree": archive(other, signs=HONEST, block=7),
        "archive-size": archive(block=7).replace(b'"block","size":7', b'"block","size":4294967303'),
    }
    if held:
        forged["archive-diverges"] = rewritten
    for code, raw in forged.items():
        assert code_of(foreign, database, raw) == code
    assert kept_of(database) == [each for each in kept_of(database) if each.id <= held]
    assert rows(database) == before


def test_a_text_that_its_node_removed_is_removed_here_and_never_comes_back(
    database: Database,
) -> None:
    foreign(database, archive())
    first = HONEST[0]
    assert isinstance(first, MessageLine)
    foreign(database, archive((removed(first), *HONEST[1:])))
    assert kept_of(database)[0].content is None
    foreign(database, archive())
    assert kept_of(database)[0].content is None


def test_an_own_archive_is_no_foreign_one(database: Database, second: Database) -> None:
    with Log(database, SIGNER, clock=lambda: NOON) as log:
        append(log, posting("mine"))
    assert code_of(foreign, database, exported(database)) == "import-own"
    assert code_of(restored, second, archive(signer=OTHER)) == "archive-key"
    assert code_of(restored, second, exported(database), NEXT_SIGNER) == "archive-key"
    other = archive([message(1, "another first")])
    assert code_of(restored, database, other) == "archive-diverges"
    assert [each.content for each in all_messages(database)] == ["mine"]


def test_a_log_whose_key_changed_is_restored_by_the_last_one(
    database: Database, second: Database
) -> None:
    keys = Standings()
    with second.write() as connection:
        Keys(connection).admit(key_of(1), "one", NOON)
    for signer, count in ((SIGNER, 30), (NEXT_SIGNER, 30)):
        with Log(second, signer, [keys.fold], clock=lambda: NOON) as log:
            append(log, *(posting(f"{signer.key.id.hex()} {n}") for n in range(count)))
        if signer is SIGNER:
            rotate(second, SIGNER, NEXT_SIGNER, NOON + 5)
    raw = exported(second, block=8)
    assert code_of(restored, database, raw) == "log-key"
    restored(database, raw, NEXT_SIGNER)
    assert rows(database) == rows(second)
    with database.read() as connection:
        assert verify_log(connection).problems == ()


REFUSED = [
    ([(text("trial"), 1, None), (text("run"), 1, 1)], "own_trial"),
    ([(text("trial"), 1, None), (text("disposition"), 2, 1)], "reply_kind"),
    ([(text("trial"), 1, None), ("withdraw-v1", 1, 1), (text("run"), 2, 1)], "trial_closed"),
    ([("revoke-v1", 1, None), ("still here", 1, None)], "key_revoked"),
    ([("hello", 7, None)], "key_unknown"),
    ([(text("trial", closes="2030-01-01T00:00:00Z"), 1, None)], "closes_past"),
]


@pytest.mark.parametrize(("posts", "code"), REFUSED, ids=[code for _, code in REFUSED])
@pytest.mark.parametrize("block", [1, 50])
def test_what_broke_a_rule_when_it_was_taken_is_refused(
    second: Database, tmp_path: Path, posts: Sequence[Any], code: str, block: int
) -> None:
    """A log that took what it should not have: the node itself was at fault."""
    with second.write() as connection:
        for who in (1, 2):
            Keys(connection).admit(key_of(who), "an agent", NOON - 5)
    with Log(second, SIGNER, [Standings().fold], clock=lambda: NOON) as log:
        for content, who, reply_to in posts:
            log.append(posting(content, who=who, reply_to=reply_to), anything).result()
    raw = exported(second, block=block)
    with Database.open(f"sqlite:///{tmp_path / 'third.db'}", durability="normal") as third:
        with pytest.raises(InputError) as caught:
            restored(third, raw)
        assert caught.value.code == "archive-refused"
        assert code in str(caught.value)
        with third.read() as connection:
            assert Indexes().check(connection) == []


def test_posts_are_judged_by_their_own_time(database: Database, second: Database) -> None:
    """Long after a trial closed, its runs are still right."""
    clock = itertools.count(NOON, 86_400)
    keys = Standings()
    with second.write() as connection:
        for who in (1, 2):
            Keys(connection).admit(key_of(who), "an agent", NOON - 5)
    with Log(second, SIGNER, [keys.fold, Indexes().fold], clock=lambda: next(clock)) as log:
        for content, who, reply_to in (
            (text("trial", closes="2030-03-25T17:46:40Z"), 1, None),
            (text("run"), 2, 1),
            (text("disposition", status="fixed", version="2"), 1, 2),
        ):
            told = posting(content, who=who, reply_to=reply_to)
            assert not log.append(told, keys.judge).result().problems
    restored(database, exported(second))
    assert rows(database) == rows(second)


def test_an_export_holds_no_address_and_no_secret(second: Database) -> None:
    story(second, plain=5)
    raw = exported(second)
    members = {
        b"127.0.0.1",
        b"challenge",
        b"a log's first key",
        b"".join([b"a log's"]).hex().encode(),
    }
    assert [each for each in members if each in raw] == []
