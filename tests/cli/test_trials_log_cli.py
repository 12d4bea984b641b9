"""`refold trials check` and `rotate`: a log verified whole, its key changed."""

import os
import stat
from pathlib import Path

import pytest
from sqlalchemy import update

from cli.terminal import refold
from refold.db import Database
from refold.kernel.errors import Exit
from refold.kernel.keys import public_of
from refold.trials.checkpoint import Signer, log_name, read_checkpoint, read_rotation
from refold.trials.log.keys import known_keys
from refold.trials.log.writer import Log
from refold.trials.store import tables
from refold.trials.store.tree import Tree
from trials.logged import append, posting

URL = "sqlite:///node.db"
ORIGIN = "http://node.test"
NAME = log_name(ORIGIN)


@pytest.fixture(autouse=True)
def _made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a node here whose log has three messages."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("REFOLD_"):
            monkeypatch.delenv(name)
    assert refold("trials", "init", "--origin", ORIGIN).code == 0
    with Path("refold.toml").open("a", encoding="utf-8") as settings:
        settings.write(f'database = "{URL}"\n')
    say("one", "two", "three")


def seed(file: str = "trials.key") -> bytes:
    return bytes.fromhex(Path(file).read_text(encoding="ascii"))


def say(*contents: str, key: str = "trials.key") -> None:
    with Database.open(URL) as database, Log(database, Signer(NAME, seed(key))) as log:
        append(log, *(posting(each) for each in contents))


def newest() -> str:
    with Database.open(URL, readonly=True) as database, database.read() as connection:
        found = Tree(connection).checkpoint()
        assert found is not None
        return found.note


def test_a_sound_log_is_said_to_be() -> None:
    done = refold("trials", "check")
    assert (done.code, done.err) == (Exit.DONE, "")
    assert done.out.startswith("3 messages, 0 without text, ")
    assert "no problems" in done.out
    found = refold("trials", "check", "--no-signatures", "--format", "json")
    assert (found.code, found.json["size"], found.json["problems"]) == (Exit.DONE, 3, [])


def test_a_changed_row_is_found() -> None:
    with Database.open(URL) as database, database.write() as connection:
        connection.execute(update(tables.texts).where(tables.texts.c.id == 2).values(content="2"))
    done = refold("trials", "check")
    assert done.code == Exit.NO
    assert "log-digest: message 2 " in done.out
    (found,) = refold("trials", "check", "--format", "json").json["problems"]
    assert found["code"] == "log-digest"


def test_a_checkpoint_from_elsewhere_shows_an_older_state_and_another_history() -> None:
    Path("older").write_bytes(Path("node.db").read_bytes())
    say("four")
    Path("kept.note").write_text(newest(), encoding="utf-8")
    against = ("trials", "check", "--checkpoint", "kept.note")
    assert refold(*against).code == Exit.DONE
    say("five")
    assert refold(*against).code == Exit.DONE
    Path("older").replace("node.db")
    for file in Path().glob("node.db-*"):
        file.unlink()
    assert refold("trials", "check").code == Exit.DONE, "by itself it is whole"
    done = refold(*against)
    assert (done.code, "log-short" in done.out) == (Exit.NO, True)
    say("another four")
    done = refold(*against)
    assert (done.code, "log-root" in done.out) == (Exit.NO, True)
    other = refold("trials", "check", "--checkpoint", "-", stdin=b"\xff")
    assert (other.code, "note-form" in other.err) == (Exit.INPUT, True)


def test_a_key_gives_way_to_another() -> None:
    done = refold("trials", "rotate", "next.key", "--format", "json")
    assert (done.code, done.err) == (Exit.DONE, "")
    assert stat.S_IMODE(Path("next.key").stat().st_mode) == 0o600
    with Database.open(URL, readonly=True) as database, database.read() as connection:
        rows = Tree(connection).keys()
        old, new = known_keys(rows)
    assert new.public == public_of(seed("next.key"))
    assert (new.verifier, 3) == (done.json["verifier"], done.json["size"])
    assert read_rotation(rows[1].statement or "", old).new == new.public
    assert read_checkpoint(newest(), [old]) == read_checkpoint(newest(), [new])
    assert refold("trials", "check").code == Exit.DONE
    again = refold("trials", "rotate", "next.key")
    assert (again.code, "log-key" in again.err) == (Exit.USAGE, True)
    say("four", key="next.key")
    assert refold("trials", "check").code == Exit.DONE


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("trials.key",), "log-key-used"),
        (("next.key", "--database", "sqlite:///nothing.db"), "database-missing"),
        (("refold.toml",), "key-file"),
    ],
)
def test_a_change_that_cannot_be_is_refused(arguments: tuple[str, ...], code: str) -> None:
    before = newest()
    done = refold("trials", "rotate", *arguments)
    assert (done.code != 0, code in done.err) == (True, True), done.err
    assert newest() == before
    assert not Path("nothing.db").exists()
    Path("trials.key").unlink()
    done = refold("trials", "rotate", "next.key")
    assert (done.code, "key-file" in done.err) == (Exit.USAGE, True)
