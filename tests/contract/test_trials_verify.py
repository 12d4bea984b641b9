"""A log that somebody changed is found out, and its key changes in one way alone."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Table, delete, insert, select, update

from refold.db import Database
from refold.kernel.errors import SourceError, UsageError
from refold.kernel.merkle import node_hash
from refold.trials.checkpoint import Checkpoint, Signer, read_checkpoint, read_rotation, signed_note
from refold.trials.log.keys import rotate
from refold.trials.log.verifying import MAX_PROBLEMS, verify_log
from refold.trials.log.writer import Log
from refold.trials.store import tables
from refold.trials.store.tree import Tree
from trials.logged import NAME, NEXT_SIGNER, NOON, SIGNER, all_messages, anything, append, posting

SIZE = 300
Change = tuple[Table, int, dict[str, object]]


def fill(database: Database) -> None:
    """Write a log of SIZE messages."""
    with Log(database, SIGNER, clock=lambda: NOON) as log:
        append(log, *(posting(f"{n}", who=n % 5) for n in range(SIZE)))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file with such a log, to be copied."""
    path = tmp_path_factory.mktemp("log") / "filled.db"
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        fill(database)
    return path


@pytest.fixture
def filled(template: Path, tmp_path: Path) -> Iterator[Database]:
    """Give a database with such a log: what is found in one is not the databases' matter."""
    copied = shutil.copy(template, tmp_path / "copied.db")
    with Database.open(f"sqlite:///{copied}", durability="normal") as database:
        yield database


def codes_of(database: Database) -> set[str]:
    with database.read() as connection:
        return {each.code for each in verify_log(connection).problems}


def alter(database: Database, table: Table, column: str, value: object, **where: object) -> None:
    """Change one row behind the log's back."""
    statement = update(table).values({column: value})
    for name, wanted in where.items():
        statement = statement.where(table.c[name] == wanted)
    with database.write() as connection:
        assert connection.execute(statement).rowcount == 1


def changed(hashes: bytes) -> bytes:
    return hashes[:40] + bytes([hashes[40] ^ 1]) + hashes[41:]


def test_a_log_as_it_was_written_is_sound(database: Database) -> None:
    fill(database)
    with database.read() as connection:
        report = verify_log(connection)
        assert report.problems == ()
        assert report.size == SIZE
        assert report.root == Tree(connection).root(SIZE).hex()
        assert (report.removed, report.keys) == (0, 1)
        assert verify_log(connection, signatures=False).problems == ()


@pytest.mark.parametrize(
    ("column", "value", "codes"),
    [
        ("accepted_at", NOON + 1, {"log-time", "log-tile", "log-root"}),
        ("accepted_at", NOON - 1, {"log-time", "log-tile", "log-root"}),
        ("digest", "ab" * 32, {"log-digest", "log-tile", "log-root"}),
        ("signature", "ab" * 64, {"log-signature", "log-tile", "log-root"}),
        ("room", "research", {"log-digest"}),
        ("reply_to", 7, {"log-digest"}),
        ("public_key", "cd" * 32, {"log-digest"}),
    ],
    ids=["later", "earlier", "digest", "signature", "room", "reply", "key"],
)
def test_a_changed_message_is_found(
    filled: Database, column: str, value: object, codes: set[str]
) -> None:
    alter(filled, tables.messages, column, value, id=100)
    assert codes_of(filled) == codes


def test_a_changed_text_is_found_and_a_removed_one_is_not_missed(filled: Database) -> None:
    alter(filled, tables.texts, "content", "something else", id=100)
    assert codes_of(filled) == {"log-digest"}
    with filled.write() as connection:
        connection.execute(delete(tables.texts).where(tables.texts.c.id == 100))
    with filled.read() as connection:
        report = verify_log(connection)
    assert (report.removed, report.problems) == (1, ())


@pytest.mark.parametrize("last", [False, True], ids=["inside", "end"])
def test_a_missing_message_is_found(filled: Database, *, last: bool) -> None:
    gone = SIZE if last else 100
    with filled.write() as connection:
        connection.execute(delete(tables.texts).where(tables.texts.c.id == gone))
        connection.execute(delete(tables.messages).where(tables.messages.c.id == gone))
    found = codes_of(filled)
    assert "log-short" in found
    assert ("log-gap" in found) is not last


@pytest.mark.parametrize(("level", "number"), [(0, 0), (0, 1), (1, 0)])
def test_a_changed_tile_is_found(filled: Database, level: int, number: int) -> None:
    with filled.read() as connection:
        hashes = Tree(connection).hashes(level, number)
    wrong = changed(hashes) if len(hashes) > 40 else node_hash(hashes, hashes)
    alter(filled, tables.tiles, "hashes", wrong, level=level, number=number)
    assert codes_of(filled) == {"log-tile"}


def test_a_tile_too_many_is_found(filled: Database) -> None:
    with filled.write() as connection:
        connection.execute(insert(tables.tiles), {"level": 2, "number": 0, "hashes": b"x"})
    assert codes_of(filled) == {"log-tile"}


def test_a_false_checkpoint_is_found(filled: Database) -> None:
    false = Checkpoint(NAME, SIZE, bytes(32))
    alter(filled, tables.checkpoints, "note", signed_note(false.text, [NEXT_SIGNER]), size=SIZE)
    assert codes_of(filled) == {"log-checkpoint"}
    alter(filled, tables.checkpoints, "note", signed_note(false.text, [SIGNER]), size=SIZE)
    assert codes_of(filled) == {"log-root"}
    with filled.write() as connection:
        connection.execute(delete(tables.checkpoints).where(tables.checkpoints.c.size == SIZE))
    assert codes_of(filled) == {"log-unsigned"}


def test_a_log_that_is_wrong_everywhere_tells_a_bounded_list(filled: Database) -> None:
    with filled.write() as connection:
        connection.execute(update(tables.texts).values(content="rewritten"))
    with filled.read() as connection:
        assert len(verify_log(connection).problems) == MAX_PROBLEMS


@pytest.mark.parametrize(
    ("table", "column", "value", "where"),
    [
        (tables.tiles, "hashes", b"\x01" * 44 * 32, {"level": 0, "number": 1}),
        (tables.tiles, "hashes", b"\x01" * 32, {"level": 0, "number": 1}),
        (tables.tiles, "number", 9, {"level": 1}),
        (tables.messages, "accepted_at", NOON + 1, {"id": SIZE}),
        (tables.checkpoints, "size", SIZE + 1, {"size": SIZE}),
        (tables.checkpoints, "note", "nothing", {"size": SIZE}),
    ],
    ids=["hashes", "short", "missing", "message", "size", "note"],
)
def test_a_log_whose_end_is_damaged_is_not_opened(
    filled: Database, table: Table, column: str, value: object, where: dict[str, object]
) -> None:
    alter(filled, table, column, value, **where)
    with pytest.raises(SourceError) as caught:
        Log(filled, SIGNER)
    assert caught.value.code == "log-damaged"


def test_a_key_gives_way_to_another(database: Database) -> None:
    fill(database)
    with database.read() as connection:
        before = Tree(connection).checkpoint()
    assert before is not None
    row = rotate(database, SIGNER, NEXT_SIGNER, NOON + 5)
    said = read_rotation(row.statement or "", SIGNER.key)
    assert said.new == NEXT_SIGNER.key.public
    assert said.size == row.since_size == SIZE
    with database.read() as connection:
        tree = Tree(connection)
        newest = tree.checkpoint()
        assert newest is not None
        # Whoever knows the old key alone, and whoever knows the new one alone, can read it.
        for key in (SIGNER.key, NEXT_SIGNER.key):
            assert read_checkpoint(newest.note, [key]) == read_checkpoint(before.note, [SIGNER.key])
        assert said.root == tree.root(SIZE)
        keys = tree.keys()
        assert [each.public_key for each in keys] == [
            SIGNER.key.public.hex(),
            NEXT_SIGNER.key.public.hex(),
        ]
    with Log(database, NEXT_SIGNER) as log:
        append(log, posting("after"))
    assert codes_of(database) == set()
    with database.read() as connection:
        newest = Tree(connection).checkpoint()
    assert newest is not None
    assert read_checkpoint(newest.note, [NEXT_SIGNER.key]).size == SIZE + 1


def test_an_empty_log_changes_its_key(database: Database) -> None:
    rotate(database, SIGNER, NEXT_SIGNER, NOON)
    with Log(database, NEXT_SIGNER) as log:
        append(log, posting("first"))
    assert codes_of(database) == set()


def test_a_key_that_gave_way_signs_no_more(filled: Database) -> None:
    with Log(filled, SIGNER) as log:
        append(log, posting("before"))
        rotate(filled, SIGNER, NEXT_SIGNER, NOON)
        error = log.append(posting("late"), anything).exception()
        assert isinstance(error, UsageError)
        assert error.code == "log-key"
    with pytest.raises(UsageError) as caught:
        Log(filled, SIGNER)
    assert caught.value.code == "log-key"
    assert len(all_messages(filled)) == SIZE + 1
    assert codes_of(filled) == set()


def test_a_key_is_changed_only_by_the_one_that_signs(filled: Database) -> None:
    third = Signer(NAME, b"a log's third key...............")
    other = Signer("other.example/v1/public", b"a log's third key...............")
    for old, new, code in (
        (NEXT_SIGNER, third, "log-key"),
        (SIGNER, SIGNER, "log-key-used"),
        (SIGNER, other, "log-name"),
        (other, third, "log-name"),
    ):
        with pytest.raises(UsageError) as caught:
            rotate(filled, old, new, NOON)
        assert caught.value.code == code
    rotate(filled, SIGNER, NEXT_SIGNER, NOON)
    with pytest.raises(UsageError) as caught:
        rotate(filled, NEXT_SIGNER, SIGNER, NOON)
    assert caught.value.code == "log-key-used"
    rotate(filled, NEXT_SIGNER, third, NOON)
    assert codes_of(filled) == set()


def test_a_false_statement_is_found(filled: Database) -> None:
    rotate(filled, SIGNER, NEXT_SIGNER, NOON)
    with filled.read() as connection:
        statement = connection.scalar(
            select(tables.log_keys.c.statement).where(tables.log_keys.c.id == 2)
        )
    assert statement is not None
    third = Signer(NAME, b"a log's third key...............")
    alter(filled, tables.log_keys, "public_key", third.key.public.hex(), id=2)
    assert codes_of(filled) == {"log-rotation"}
    alter(filled, tables.log_keys, "public_key", NEXT_SIGNER.key.public.hex(), id=2)
    alter(filled, tables.log_keys, "statement", statement.replace("300", "299"), id=2)
    assert codes_of(filled) == {"log-rotation"}


def test_a_log_is_of_one_name(filled: Database) -> None:
    with pytest.raises(UsageError) as caught:
        Log(filled, Signer("other.example/v1/public", b"a log's first key..............."))
    assert caught.value.code == "log-name"
