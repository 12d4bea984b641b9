"""Files of SQLite: made, refused, damaged, full, opened by many at once."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from cli.terminal import MINUTE, environment
from refold.db import Database, Durability
from refold.db.sqlite import PAGE_BYTES
from refold.kernel.errors import RefoldError


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def code_of_opening(path: Path, *, readonly: bool = False) -> str:
    with pytest.raises(RefoldError) as caught:
        Database.open(url(path), readonly=readonly)
    return caught.value.code


def test_a_new_file_has_our_pages_and_a_log(tmp_path: Path) -> None:
    path = tmp_path / "ein wiki%20#.db"
    Database.open(url(path)).close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA page_size").fetchone() == (PAGE_BYTES,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(("durability", "level"), [("normal", 1), ("full", 2)])
def test_durability_is_how_long_a_commit_waits_for_the_disk(
    tmp_path: Path, durability: Durability, level: int
) -> None:
    with (
        Database.open(url(tmp_path / "a.db"), durability=durability) as database,
        database.write() as connection,
    ):
        assert connection.scalar(text("PRAGMA synchronous")) == level


def test_without_a_word_nothing_that_was_committed_is_lost(tmp_path: Path) -> None:
    with Database.open(url(tmp_path / "a.db")) as database, database.write() as connection:
        assert connection.scalar(text("PRAGMA synchronous")) == 2


def test_reading_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    assert code_of_opening(path, readonly=True) == "database-missing"
    assert not path.exists()


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert code_of_opening(tmp_path / "nowhere" / "a.db") == "database-unreachable"
    assert code_of_opening(tmp_path) == "database-unreachable"


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"no database at all, but longer than a header" * 100)
    before = path.read_bytes()
    assert code_of_opening(path) == "database-corrupt"
    assert code_of_opening(path, readonly=True) == "database-corrupt"
    assert path.read_bytes() == before


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cookies (name TEXT)")
    connection.close()
    assert code_of_opening(path) == "database-foreign"
    assert code_of_opening(path, readonly=True) == "database-foreign"
    with sqlite3.connect(path) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    connection.close()
    assert names == [("cookies",)]


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch()
    assert code_of_opening(path, readonly=True) == "database-older"
    Database.open(url(path)).close()
    Database.open(url(path), readonly=True).close()


def test_an_old_sqlite_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 39, 9))
    assert code_of_opening(tmp_path / "a.db") == "database-sqlite-old"


def test_a_full_disk_undoes_the_transaction(tmp_path: Path) -> None:
    with Database.open(url(tmp_path / "a.db")) as database:
        with pytest.raises(RefoldError) as caught, database.write() as connection:  # noqa: PT012 - it is one block
            pages = connection.scalar(text("PRAGMA page_count"))
            connection.execute(text(f"PRAGMA max_page_count = {pages}"))
            for number in range(100):
                connection.execute(
                    text("INSERT INTO metaid_bodies VALUES (:name, 0, zeroblob(100000))"),
                    {"name": number},
                )
        assert caught.value.code == "database-full"
        with database.read() as connection:
            assert connection.scalar(text("SELECT count(*) FROM metaid_bodies")) == 0


def test_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Database.open(url(path)) as database, database.write() as connection:
        connection.execute(text("INSERT INTO metaid_bodies VALUES ('a', 0, zeroblob(1000000))"))
    with path.open("r+b") as file:
        file.seek(PAGE_BYTES)
        file.write(b"\xff" * (path.stat().st_size - PAGE_BYTES))
    assert code_of_opening(path) == "database-corrupt"


OPENER = """
import sys
from refold.db import Database
from sqlalchemy import text
add = text("INSERT INTO metaid_bodies VALUES (:name, 0, '')")
print("ready", flush=True)
sys.stdin.readline()
with Database.open(sys.argv[1], wait=30) as database, database.write() as connection:
    connection.execute(add, {"name": sys.argv[2]})
"""


def test_many_processes_may_be_the_first(tmp_path: Path) -> None:
    """The tables are made once, and all of them write."""
    path = tmp_path / "a.db"
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, url(path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        for number in range(4)
    ]
    for opener in openers:
        assert opener.stdout
        assert opener.stdout.readline() == b"ready\n"
    for opener in openers:
        assert opener.stdin
        opener.stdin.write(b"\n")
        opener.stdin.flush()
    for opener in openers:
        _, said = opener.communicate(timeout=MINUTE)
        assert (opener.returncode, said) == (0, b"")
    with Database.open(url(path), readonly=True) as database, database.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM metaid_bodies")) == 4
