"""A backup is one state of everything, and gives it back exactly, or says what is wrong with it."""

import gzip
import itertools
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, Text, text

from cli.terminal import MINUTE, environment, refold
from contract import crashing
from contract.databases import fresh_schema, wipe
from contract.filling import fill, rows_of
from contract.samples import A, B, pin, pin_id
from contract.test_migrations import STEPS, engine_of, import_all_tables, migrated_to
from refold.cli.parts import HOLDS, import_tables
from refold.db import METADATA, Database
from refold.db.backup import backup, open_backup, restore, write_tables
from refold.db.backupfile import BackupColumn, BackupFile, BackupTable, BackupWriter
from refold.kernel.errors import Exit, InputError, SourceError, UsageError
from refold.metaid.store import open_store

import_tables()
TABLES = METADATA.sorted_tables
NewUrl = Callable[[str], str]


@pytest.fixture
def new_url(server: str, tmp_path: Path) -> Iterator[NewUrl]:
    """Give what gives the URL of one more empty database of a kind."""
    numbers = itertools.count()
    with ExitStack() as stack:

        def new(kind: str) -> str:
            if kind == "sqlite":
                return f"sqlite:///{tmp_path / f'{next(numbers)}.db'}"
            return stack.enter_context(fresh_schema(server))

        yield new


def all_of(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with database.read() as connection:
        return rows_of(connection, TABLES)


def is_empty(database: Database) -> bool:
    return not any(all_of(database).values())


def restored(url: str, file: Path) -> Database:
    with open_backup(file) as opened:
        database = Database.open(url)
        restore(database, opened)
        return database


def test_every_table_goes_through_every_kind_of_database_as_it_was(
    new_url: NewUrl, tmp_path: Path
) -> None:
    """And equal rows give equal files, whatever holds them."""
    with Database.open(new_url("sqlite")) as database:
        with database.write() as connection:
            fill(connection, TABLES)
        rows = all_of(database)
        written = backup(database, tmp_path / "0")
    assert written.rows == sum(map(len, rows.values()))
    assert written.file_bytes == (tmp_path / "0").stat().st_size
    assert all(rows.values())
    for number, kind in enumerate(("postgresql", "postgresql", "sqlite", "sqlite")):
        with restored(new_url(kind), tmp_path / str(number)) as database:
            assert all_of(database) == rows
            assert backup(database, tmp_path / str(number + 1)) == written
    assert (tmp_path / "4").read_bytes() == (tmp_path / "0").read_bytes()


def test_a_database_without_rows_can_be_backed_up(database: Database, tmp_path: Path) -> None:
    assert backup(database, tmp_path / "b").rows == 0
    with open_backup(tmp_path / "b") as file:
        assert restore(database, file).rows == 0


def test_what_counts_up_goes_on_behind_the_last_row(
    database_url: str, new_url: NewUrl, tmp_path: Path
) -> None:
    with Database.open(new_url("sqlite")) as database:
        with database.write() as connection:
            pins = open_store(connection).pins
            pins.write([pin(1, 1), pin(1, 2), pin(1, 2, body=b"a"), pin(1, 3)], A)
        backup(database, tmp_path / "b")
    with restored(database_url, tmp_path / "b") as database, database.write() as connection:
        pins = open_store(connection).pins
        pins.write([pin(1, 4), pin(1, 4, body=b"b")], B)
        assert [move.after.height for move in pins.moves(pin_id(1))] == [2, 3, 4]
        assert [met.source for met in pins.conflicts()] == [A, B]


# one state


def test_a_backup_is_the_state_at_its_first_question_whoever_writes_meanwhile(
    database_url: str, new_url: NewUrl, tmp_path: Path
) -> None:
    with Database.open(database_url) as database:
        for _ in range(3):
            with database.write() as connection:
                crashing.take_next(connection)
        before = all_of(database)
        steps = []

        def write_more(_done: int, _all: int) -> None:
            with database.write() as connection:
                steps.append(crashing.take_next(connection))

        backup(database, tmp_path / "b", progress=write_more)
        assert len(steps) > 3
        assert all_of(database) != before
    url = new_url("sqlite")
    with restored(url, tmp_path / "b") as database:
        assert all_of(database) == before
    assert crashing.check(url) == 3


def test_a_backup_beside_a_busy_process_is_one_of_its_steps(
    database_url: str, new_url: NewUrl, tmp_path: Path
) -> None:
    writer = subprocess.Popen(
        [sys.executable, crashing.__file__, "write", database_url],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    with writer:
        assert writer.stdout
        steps = []
        for number in range(2):
            told = ""
            while not told.strip().isdigit() or int(told) < 4 * (number + 1):
                told = writer.stdout.readline()
            with Database.open(database_url, readonly=True) as database:
                backup(database, tmp_path / str(number))
            url = new_url("sqlite")
            restored(url, tmp_path / str(number)).close()
            steps.append(crashing.check(url))
            assert steps[-1] >= int(told)
        writer.kill()
    assert steps == sorted(set(steps))


def test_a_reader_that_may_not_write_can_back_up(database: Database, tmp_path: Path) -> None:
    with database.write() as connection:
        fill(connection, TABLES)
    url = database.shown if database.shown.startswith("sqlite") else None
    if url is None:  # the schema stands in the options, which are not shown
        assert backup(database, tmp_path / "b").rows
        return
    with Database.open(url, readonly=True) as reader:
        assert backup(reader, tmp_path / "b").rows


# damage


@pytest.fixture
def small(new_url: NewUrl, tmp_path: Path) -> Path:
    """Give a small backup."""
    with Database.open(new_url("sqlite")) as database:
        with database.write() as connection:
            crashing.take_next(connection)
        backup(database, tmp_path / "small")
    return tmp_path / "small"


def rows_in(file: BackupFile) -> list[tuple[str, list[list[Any]]]]:
    found: list[tuple[str, list[list[Any]]]] = []
    file.read(lambda table, rows: found.append((table.name, rows)))
    return found


def places_of(whole: bytes) -> list[int]:
    """Give places in a file: all at both ends, and some anywhere."""
    last = len(whole) - 1
    anywhere = Random(5).sample(range(last), 300)
    return sorted({*range(40), *anywhere, *range(last - 40, last + 1)})


def test_every_cut_is_found(small: Path, tmp_path: Path) -> None:
    whole, cut = small.read_bytes(), tmp_path / "cut"
    for size in places_of(whole):
        cut.write_bytes(whole[:size])
        with pytest.raises(InputError) as caught, open_backup(cut) as file:
            file.check()
        assert caught.value.code in {"backup-damaged", "backup-foreign"}
        assert "\n" not in str(caught.value)


def test_every_damaged_byte_is_found_or_harms_nothing(small: Path, tmp_path: Path) -> None:
    whole, damaged = small.read_bytes(), tmp_path / "damaged"
    with open_backup(small) as file:
        rows = rows_in(file)
    random, harmless = Random(5), 0
    said: list[InputError] = []
    for place in places_of(whole):
        flipped = whole[place] ^ random.randrange(1, 256)
        damaged.write_bytes(whole[:place] + bytes((flipped,)) + whole[place + 1 :])
        try:
            with open_backup(damaged) as file:
                file.check()
                assert rows_in(file) == rows
            harmless += 1
        except InputError as error:
            said.append(error)
    assert {error.code for error in said} <= {"backup-damaged", "backup-foreign", "backup-newer"}
    assert [error for error in said if "\n" in str(error)] == []
    assert harmless < 10  # the time, and the name of a system, in the head of gzip


def test_added_bytes_are_found(small: Path) -> None:
    whole = small.read_bytes()
    for more in (
        b"x",
        b"\0" * 4 + b"x",
        whole,
        gzip.compress(b"x", mtime=0),
        gzip.compress(b"{}\n"),
    ):
        small.write_bytes(whole + more)
        with pytest.raises(InputError, match="damaged"), open_backup(small) as file:
            file.check()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"confirmed"', b'"vanished!"'),  # a cell
        (b'{"table":"metaid_pins","rows":7', b'{"table":"metaid_pins","rows":6'),
        (b'"name":"metaid_pins"', b'"name":"metaid_pinz"'),
        (b'"step":"', b'"step" :"'),
        (b"\n[", b"\n\n["),
    ],
)
def test_a_line_that_somebody_changed_is_found(small: Path, old: bytes, new: bytes) -> None:
    """Although gzip's own sums are right."""
    lines = gzip.decompress(small.read_bytes())
    changed = lines.replace(old, new, 1)
    assert changed != lines
    small.write_bytes(gzip.compress(changed, mtime=0))
    with open_backup(small) as file, pytest.raises(InputError, match="damaged"):
        file.check()


def test_a_damaged_backup_leaves_the_database_as_it_was(
    database: Database, small: Path, tmp_path: Path
) -> None:
    whole, damaged = small.read_bytes(), tmp_path / "damaged"
    random = Random(3)
    refused = 0
    for _ in range(12):
        place = random.randrange(len(whole))
        damaged.write_bytes(
            random.choice((whole[:place], whole[:place] + b"?" + whole[place + 1 :]))
        )
        try:
            with open_backup(damaged) as file:
                restore(database, file)
        except InputError:
            refused += 1
            assert is_empty(database)
        else:
            wipe(database)
    assert refused > 6
    with open_backup(small) as file:
        restore(database, file)
    assert not is_empty(database)


def test_a_file_that_changes_after_its_check_is_undone(
    database: Database, small: Path, tmp_path: Path, new_url: NewUrl
) -> None:
    with Database.open(new_url("sqlite")) as other:
        with other.write() as connection:
            fill(connection, TABLES)
        backup(other, tmp_path / "other")
    with open_backup(small) as file:
        file.check()
        small.write_bytes((tmp_path / "other").read_bytes())
        with pytest.raises(InputError) as caught:
            restore(database, file)
    assert caught.value.code == "backup-damaged"
    assert is_empty(database)


def test_rows_that_the_tables_do_not_allow_are_undone(database: Database, tmp_path: Path) -> None:
    """A file can be whole and yet none that refold wrote."""
    moves = METADATA.tables["metaid_moves"]
    table = BackupTable(
        "metaid_moves",
        tuple(
            BackupColumn(str(c.name), "integer" if isinstance(c.type, Integer) else "text")
            for c in moves.c
        ),
    )
    with (tmp_path / "b").open("wb") as raw:
        writer = BackupWriter(raw, STEPS[-1], [table])
        with writer.table(table) as write:
            write([[1, "a pin that is nowhere", 1, 1, 1, 1, "me"]])
        writer.end()
    with open_backup(tmp_path / "b") as file, pytest.raises(UsageError) as caught:
        restore(database, file)
    assert caught.value.code == "database-constraint"
    assert is_empty(database)


# what is no backup for us


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello\n" * 99,
        b"SQLite format 3\0" + bytes(4096),
        gzip.compress(b"", mtime=0),
        gzip.compress(b"hello\n", mtime=0),
        gzip.compress(b"[1]\n", mtime=0),
        gzip.compress(b'{"step": "0001"}\n', mtime=0),
        gzip.compress(b"[" * 100_000, mtime=0),
        gzip.compress(b"\xff" * 3_000_000, mtime=0),
    ],
)
def test_what_is_no_backup_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "b").write_bytes(data)
    with pytest.raises(InputError) as caught:
        open_backup(tmp_path / "b")
    assert caught.value.code == "backup-foreign"


@pytest.mark.parametrize("name", [".", "nowhere"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_backup(tmp_path / name)
    assert caught.value.code == "file-unreadable"


def empty_backup(path: Path, step: str, tables: Sequence[BackupTable] = ()) -> None:
    with path.open("wb") as raw:
        writer = BackupWriter(raw, step, tables)
        for table in tables:
            with writer.table(table):
                pass
        writer.end()


@pytest.mark.parametrize("step", ["9999", "", "x\ny"])
def test_a_backup_of_a_newer_refold_is_refused(tmp_path: Path, step: str) -> None:
    empty_backup(tmp_path / "b", step)
    with pytest.raises(InputError) as caught:
        open_backup(tmp_path / "b")
    assert caught.value.code == "backup-newer"
    assert "\n" not in str(caught.value)


def test_a_backup_of_a_newer_form_is_refused(small: Path) -> None:
    lines = gzip.decompress(small.read_bytes())
    small.write_bytes(gzip.compress(lines.replace(b'"refold_backup":1', b'"refold_backup":2')))
    with pytest.raises(InputError) as caught:
        open_backup(small)
    assert caught.value.code == "backup-newer"


@pytest.mark.parametrize(
    "table",
    [
        BackupTable("metaid_nothing", ()),
        BackupTable('x"; DROP TABLE metaid_pins; --', (BackupColumn("a", "text"),)),
        BackupTable("metaid_bodies", (BackupColumn("sha256", "text"),)),
        BackupTable("refold_version", (BackupColumn("version", "text"),)),
    ],
)
def test_a_table_that_refold_never_had_is_refused(
    database: Database, tmp_path: Path, table: BackupTable
) -> None:
    empty_backup(tmp_path / "b", STEPS[-1], [table])
    with open_backup(tmp_path / "b") as file, pytest.raises(InputError) as caught:
        restore(database, file)
    assert caught.value.code == "backup-foreign"


# into what


def test_only_an_empty_database_is_filled(database: Database, small: Path) -> None:
    with database.write() as connection:
        open_store(connection).pins.write([pin(1)], A)
    before = all_of(database)
    with open_backup(small) as file, pytest.raises(UsageError) as caught:
        restore(database, file)
    assert caught.value.code == "database-not-empty"
    assert caught.value.hint
    assert all_of(database) == before


def test_nothing_is_filled_while_somebody_keeps_in_memory_what_is_there(
    database_url: str, small: Path
) -> None:
    with (
        Database.open(database_url) as database,
        Database.open(database_url) as other,
        open_backup(small) as file,
    ):
        with other.hold("indexer"), pytest.raises(SourceError) as caught:
            restore(database, file, holds=HOLDS)
        assert caught.value.code == "database-held"
        assert is_empty(database)
        restore(database, file, holds=HOLDS)


@pytest.mark.parametrize("step", STEPS[:-1])
def test_a_backup_of_older_tables_is_brought_up(
    database_url: str, new_url: NewUrl, tmp_path: Path, step: str
) -> None:
    """To the same rows as the older database itself."""
    url = new_url("sqlite")
    migrated_to(url, step)
    engine = engine_of(url)
    with engine.begin() as connection:
        older = MetaData()
        older.reflect(connection, only=lambda name, _: name != "refold_version")
        fill(connection, older.sorted_tables)
        with (tmp_path / "b").open("wb") as raw:
            write_tables(connection, older.sorted_tables, step, raw)
    engine.dispose()
    with Database.open(url) as itself, restored(database_url, tmp_path / "b") as database:
        assert all_of(database) == all_of(itself)
        assert not is_empty(database)


# of what


def test_no_table_of_ours_is_left_out(database: Database, tmp_path: Path) -> None:
    with database.write() as connection:
        connection.execute(text("CREATE TABLE metaid_forgotten (a INTEGER)"))
    with pytest.raises(UsageError) as caught:
        backup(database, tmp_path / "b")
    assert caught.value.code == "backup-tables"
    assert "metaid_forgotten" in str(caught.value)
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith("refold.db")} == (
        set()
    )


def test_tables_of_others_are_none_of_ours(postgres_url: str, tmp_path: Path) -> None:
    with Database.open(postgres_url) as database:
        with database.write() as connection:
            connection.execute(text("CREATE TABLE theirs (a INTEGER)"))
        assert "theirs" not in {t.table for t in backup(database, tmp_path / "b").tables}


def test_a_type_that_no_backup_can_hold_is_named(database: Database, tmp_path: Path) -> None:
    table = Table("t", MetaData(), Column("a", Text), Column("b", text("x").type))
    with (
        database.read() as connection,
        (tmp_path / "b").open("wb") as raw,
        pytest.raises(UsageError, match=r"t\.b"),
    ):
        write_tables(connection, [table], STEPS[-1], raw)


def test_the_command_line_knows_every_table() -> None:
    """What it imports has all the tables that any module of the package adds."""
    import_all_tables()
    code = "from refold.cli.parts import HOLDS, import_tables; from refold.db import METADATA;"
    code += "import_tables(); print(*METADATA.tables)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=MINUTE,
        check=True,
    )
    assert set(done.stdout.split()) == set(METADATA.tables)


def test_no_table_refers_to_itself() -> None:
    """Rows are restored by key, table by table: each has to find what it refers to."""
    for table in TABLES:
        assert table not in {key.column.table for key in table.foreign_keys}


# any cell


KINDS_OF_CELLS: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(st.characters(codec="utf-8")),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "boolean": st.booleans(),
    "bytes": st.binary() | st.text(st.characters(codec="utf-8")).map(str.encode),
}
CELLS = BackupTable("t", tuple(BackupColumn(kind, kind) for kind in KINDS_OF_CELLS))  # type: ignore[arg-type]  # they are the kinds


@given(
    st.lists(st.tuples(*(st.none() | cells for cells in KINDS_OF_CELLS.values())), max_size=9),
    st.integers(1, 4),
)
def test_any_cell_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, ...]], size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "cells"
    with path.open("wb") as raw:
        writer = BackupWriter(raw, "0001", [CELLS])
        with writer.table(CELLS) as write:
            for start in range(0, len(rows), size):
                write(rows[start : start + size])
        written = writer.end()
    with open_backup(path) as file:
        assert file.check() == written
        assert [tuple(row) for _, batch in rows_in(file) for row in batch] == rows


def test_the_lines_are_read_with_tools_that_everybody_has(small: Path) -> None:
    lines = subprocess.run(["gzip", "-dc", small], capture_output=True, check=True).stdout
    assert re.match(rb'\{"refold_backup":1,"refold":"[^"]+","step":"\d{4}","tables":\[', lines)
    assert b'"{\\"n\\":5}"' in lines  # a body that is text stands there as text


def test_the_command_line_backs_up_and_restores_any_kind_of_database(
    database_url: str, new_url: NewUrl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database.open(database_url) as database:
        with database.write() as connection:
            fill(connection, TABLES)
        rows = all_of(database)
    file = str(tmp_path / "b")
    assert refold("backup", file, "--database", database_url).code == Exit.DONE
    url = new_url("postgresql")
    monkeypatch.setenv("REFOLD_DATABASE", url)
    monkeypatch.setenv("REFOLD_DATABASE_PASSWORD", "the server of the tests asks for none")
    answer = refold("restore", file)
    assert (answer.code, answer.err) == (Exit.DONE, "")
    with Database.open(url) as database:
        assert all_of(database) == rows
