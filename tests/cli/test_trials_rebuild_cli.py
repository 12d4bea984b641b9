"""`refold trials rebuild`: the indexes compared with the log, and made anew."""

from pathlib import Path

import pytest
from sqlalchemy import update

from cli.terminal import is_plain, refold
from refold.db import Database
from refold.kernel.errors import Exit
from refold.trials.store import indextables
from trials.nodes import running, text


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the URL of a node's database with a trial and a run."""
    monkeypatch.chdir(tmp_path)
    with running(tmp_path) as node:
        node.admit(1, 2)
        node.take(text("trial"), who=1)
        node.take(text("run", outcome="blocked", blocker="403"), who=2, reply_to=1)
    return f"sqlite:///{tmp_path / 'node.db'}"


def test_whole_indexes_are_found_whole_and_damaged_ones_are_mended(url: str) -> None:
    whole = refold("trials", "rebuild", "--check", "--database", url)
    assert (whole.code, whole.err) == (Exit.DONE, "")
    assert "the indexes are whole" in whole.out
    with Database.open(url) as database, database.write() as connection:
        connection.execute(update(indextables.runs).values(outcome="completed"))
        connection.execute(indextables.trials.delete())
    found = refold("trials", "rebuild", "--check", "--database", url)
    assert (found.code, is_plain(found.out)) == (Exit.NO, True)
    assert "trials_runs 2: kept" in found.out
    assert "trials_trials 1: kept none" in found.out
    shown = refold("trials", "rebuild", "--check", "--database", url, "--format", "json")
    assert [each["table"] for each in shown.json["differences"]] == ["trials_trials", "trials_runs"]
    built = refold("trials", "rebuild", "--database", url, "--format", "json")
    assert (built.code, built.json["rows"] > 0) == (Exit.DONE, True)
    assert refold("trials", "rebuild", "--check", "--database", url).code == Exit.DONE


def test_what_is_no_database_is_told_in_a_line(tmp_path: Path) -> None:
    done = refold("trials", "rebuild", "--check", "--database", f"sqlite:///{tmp_path / 'none.db'}")
    assert done.code == Exit.SOURCE
    assert done.err.count("\n") <= 2
