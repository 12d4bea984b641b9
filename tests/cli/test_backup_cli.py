"""`refold backup` and `refold restore`: results, errors, and the codes they end with."""

import signal
import subprocess
from pathlib import Path

import pytest

from cli.terminal import COMMAND, MINUTE, environment, is_plain, refold, refold_process
from contract.samples import A, pin
from refold.db import Database
from refold.kernel.errors import Exit
from refold.metaid.store import open_store


def filled(path: Path, pins: int = 3) -> str:
    """Make a database with some pins; give its URL."""
    url = f"sqlite:///{path}"
    with Database.open(url) as database, database.write() as connection:
        open_store(connection).pins.write([pin(number, number) for number in range(pins)], A)
    return url


def pins_in(url: str) -> list[str]:
    with Database.open(url, readonly=True) as database, database.read() as connection:
        return [found.id for found in open_store(connection).pins.confirmed()]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return filled(tmp_path / "a.db")


def test_a_database_goes_into_a_file_and_into_another_database(url: str, tmp_path: Path) -> None:
    file, other = str(tmp_path / "b"), f"sqlite:///{tmp_path / 'other.db'}"
    answer = refold_process("backup", file, "--database", url)
    assert (answer.code, answer.err) == (Exit.DONE, "")
    assert "3 rows of metaid_pins\n" in answer.out
    assert f"{url} is in {file}" in answer.last_line
    assert is_plain(answer.out)

    assert refold("restore", file, "--check").last_line.startswith(f"{file} is whole")
    answer = refold_process("restore", file, "--database", other)
    assert (answer.code, answer.err) == (Exit.DONE, "")
    assert f"{file} is in {other}" in answer.last_line
    assert pins_in(other) == pins_in(url)


def test_the_same_rows_have_the_same_hash_as_json_too(url: str, tmp_path: Path) -> None:
    file, other = str(tmp_path / "b"), f"sqlite:///{tmp_path / 'other.db'}"
    written = refold("backup", file, "--database", url, "--format", "json").json
    assert {"step", "rows", "rowBytes", "fileBytes", "sha256", "tables", "seconds"} <= set(written)
    assert [table["rows"] for table in written["tables"] if table["table"] == "metaid_pins"] == [3]
    for command in (["--check"], ["--database", other]):
        read = refold("restore", file, *command, "--format", "json").json
        assert {**read, "seconds": 0} == {**written, "seconds": 0}


def test_the_database_may_be_named_by_the_settings(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refold("backup", "b").err.startswith("refold: database-missing: sqlite:///refold.db")
    (tmp_path / "refold.toml").write_text(f'database = "{url}"\n')
    assert refold("backup", "b").code == Exit.DONE
    monkeypatch.setenv("REFOLD_DATABASE", "sqlite:///other.db")
    assert refold("restore", "b").code == Exit.DONE
    assert pins_in(f"sqlite:///{tmp_path / 'other.db'}") == pins_in(url)


def test_settings_show_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFOLD_DATABASE", "postgresql://me:open-sesame@host/name")
    monkeypatch.setenv("REFOLD_DATABASE_PASSWORD", "open-sesame")
    for form in ("text", "json"):
        answer = refold("settings", "--format", form)
        assert answer.code == Exit.DONE
        assert "postgresql://me@host/name" in answer.out
        assert "open-sesame" not in answer.out
    monkeypatch.setenv("REFOLD_DATABASE", "me:open-sesame@host")
    assert "open-sesame" not in refold("settings").out
    assert "open-sesame" not in refold("backup", "b").err


def test_a_file_that_is_there_is_written_over_only_by_force(url: str, tmp_path: Path) -> None:
    file = tmp_path / "b"
    file.write_bytes(b"dear")
    answer = refold("backup", str(file), "--database", url)
    assert (answer.code, file.read_bytes()) == (Exit.USAGE, b"dear")
    assert answer.err.startswith("refold: file-exists: ")
    assert refold("backup", str(file), "--database", url, "--force").code == Exit.DONE
    assert refold("restore", str(file), "--check").code == Exit.DONE


def test_a_damaged_backup_makes_no_database(url: str, tmp_path: Path) -> None:
    file, other = tmp_path / "b", tmp_path / "other.db"
    refold("backup", str(file), "--database", url)
    file.write_bytes(file.read_bytes()[:-9])
    answer = refold("restore", str(file), "--database", f"sqlite:///{other}")
    assert answer.code == Exit.INPUT
    assert answer.err.startswith("refold: backup-damaged: ")
    assert len(answer.err.splitlines()) == 1
    assert not other.exists()


def test_a_database_with_rows_is_left_alone(url: str, tmp_path: Path) -> None:
    file = str(tmp_path / "b")
    refold("backup", file, "--database", url)
    answer = refold("restore", file, "--database", url, "--format", "json")
    assert answer.code == Exit.USAGE
    assert '"code":"database-not-empty"' in answer.err
    assert len(pins_in(url)) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["backup", "b", "--database", "sqlite:///nowhere.db"], "database-missing", 4),
        (["backup", "b", "--database", "mysql://me@host/name"], "database-url", 2),
        (["backup", "b", "--database", "postgresql://me@127.0.0.1:1/x"], "database-unreachable", 4),
        (["backup", "nowhere/b", "--database", "sqlite:///a.db"], "file-unwritable", 2),
        (["backup", ".", "--database", "sqlite:///a.db"], "file-not-regular", 2),
        (["restore", "nowhere", "--database", "sqlite:///x.db"], "file-unreadable", 2),
        (["restore", "a.db", "--database", "sqlite:///x.db"], "backup-foreign", 3),
        (["backup"], "usage", 2),
    ],
)
@pytest.mark.usefixtures("url")
def test_what_goes_wrong_is_one_line_with_a_remedy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: str,
    exit_code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = refold(*arguments)
    assert (answer.code, answer.out) == (exit_code, "")
    assert answer.err.startswith(f"refold: {code}: ")
    assert len(answer.err.splitlines()) == 1
    assert "; " in answer.err
    assert {path.name for path in tmp_path.iterdir()} <= {"a.db", "a.db-wal", "a.db-shm"}


def test_ctrl_c_leaves_no_file(tmp_path: Path) -> None:
    """It comes as soon as the first bytes are written, and strikes wherever it finds the backup."""
    url = filled(tmp_path / "a.db", 2_000)
    folder = tmp_path / "out"
    folder.mkdir()
    process = subprocess.Popen(
        [COMMAND, "backup", str(folder / "b"), "--database", url],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        while not list(folder.iterdir()) and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=MINUTE)
    # It may have been quicker than the signal; what it left is whole then.
    assert process.returncode in {Exit.INTERRUPTED, Exit.DONE}, said
    assert [path.name for path in folder.iterdir()] in ([], ["b"])
    if process.returncode == Exit.INTERRUPTED:
        assert len(said.splitlines()) == 1
