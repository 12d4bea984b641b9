"""`refold agentpedia import` and `export`: results, errors, and the codes they end with."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from cli.terminal import COMMAND, MINUTE, environment, is_plain, refold, refold_process
from contract.samples import REVIEW, pin, pin_id
from refold.agentpedia.event import PATHS
from refold.db import Database
from refold.kernel.errors import Exit
from refold.metaid.pinline import pin_line
from refold.metaid.store import open_store

PINS = [pin(1, 1), pin(2, 2, path=REVIEW), pin(3, None), pin(4, 3, path="/protocols/other")]
LINES = b"".join(map(pin_line, PINS))
OURS = b"".join(map(pin_line, PINS[:3]))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'a.db'}"


def imported(url: str, *arguments: str, stdin: bytes = b"") -> dict[str, object]:
    answer = refold(
        "agentpedia", "import", *arguments, "--database", url, "--format", "json", stdin=stdin
    )
    assert (answer.code, answer.err) == (Exit.DONE, "")
    found: dict[str, object] = answer.json
    return found


def exported(url: str, *options: str) -> bytes:
    answer = refold("agentpedia", "export", "--database", url, *options)
    assert (answer.code, answer.err) == (Exit.DONE, "")
    return answer.out.encode()


def test_pins_come_in_and_go_out(url: str, tmp_path: Path) -> None:
    (tmp_path / "pins.jsonl").write_bytes(LINES)
    answer = refold_process("agentpedia", "import", str(tmp_path / "pins.jsonl"), "--database", url)
    assert (answer.code, answer.err) == (Exit.DONE, "")
    assert "3 new, 0 moved, 0 amended, 0 the same, 0 in conflict, 0 refused, 1 of other" in (
        answer.out
    )
    assert is_plain(answer.out)
    with Database.open(url) as database, database.read() as connection:
        held = open_store(connection).pins.read(pin_id(1))
    assert held
    assert held.source == "import:pins.jsonl"

    out = refold_process("agentpedia", "export", "--database", url)
    assert (out.code, out.out.encode(), out.err) == (Exit.DONE, OURS, "")
    assert exported(url, "--confirmed") == b"".join(map(pin_line, PINS[:2]))


def test_all_paths_come_in_and_go_out_when_asked_for(url: str) -> None:
    done = imported(url, "-", "--all-paths", stdin=LINES)
    assert (done["file"], done["new"], done["passedOver"], done["lowest"]) == ("-", 4, 0, 1)
    assert exported(url) == OURS
    assert exported(url, "--all-paths") == b"".join(
        map(pin_line, (PINS[0], PINS[1], PINS[3], PINS[2]))
    )


def test_the_seven_paths_are_those_of_the_encyclopedia(url: str) -> None:
    pins = [pin(number, number, path=path) for number, path in enumerate(PATHS)]
    assert imported(url, "-", stdin=b"".join(map(pin_line, pins)))["new"] == len(PATHS)
    assert exported(url).count(b"\n") == len(PATHS)


def test_several_files_are_taken_one_after_the_other(url: str, tmp_path: Path) -> None:
    for name, pins in (("1", PINS[:2]), ("2", PINS[1:3])):
        (tmp_path / name).write_bytes(b"".join(map(pin_line, pins)))
    answer = refold(
        *("agentpedia", "import", str(tmp_path / "1"), str(tmp_path / "2")),
        *("--database", url, "--format", "json"),
    )
    done = [json.loads(line) for line in answer.out.splitlines()]
    assert [(one["new"], one["same"]) for one in done] == [(2, 0), (1, 1)]


def test_bad_lines_are_named_and_the_good_ones_taken(url: str, tmp_path: Path) -> None:
    file = tmp_path / "pins.jsonl"
    first, _, rest = OURS.partition(b"\n")
    file.write_bytes(first + b"\n{}\n\nhello\n" + rest)
    answer = refold("agentpedia", "import", str(file), "--database", url)
    assert answer.code == Exit.INPUT
    assert "3 new" in answer.out
    assert [line.split(": ")[:3] for line in answer.err.splitlines()] == [
        ["refold", "row-invalid", str(file)]
    ] * 2
    assert [" in line 2;" in answer.err, " in line 4;" in answer.err] == [True, True]
    assert is_plain(answer.err)
    assert exported(url) == OURS

    answer = refold("agentpedia", "import", str(file), "--database", url, "--format", "json")
    assert (answer.code, answer.json["same"], answer.json["refused"]) == (Exit.INPUT, 3, 2)
    problems = json.loads(answer.err)["error"]["errors"]
    assert [(one["code"], one["line"]) for one in problems] == [
        ("row-invalid", 2),
        ("row-invalid", 4),
    ]


def test_what_is_said_of_a_hostile_file_is_bounded(url: str) -> None:
    answer = refold("agentpedia", "import", "-", "--database", url, stdin=b"\x1b[31m\n" * 5_000)
    assert answer.code == Exit.INPUT
    lines = answer.err.splitlines()
    assert len(lines) == 101
    assert "4,900 more lines were refused" in lines[-1]
    assert is_plain(answer.err)


def test_copies_that_disagree_are_named(url: str) -> None:
    imported(url, "-", stdin=OURS)
    other = pin_line(pin(1, 1, body=b"another"))
    answer = refold("agentpedia", "import", "-", "--database", url, stdin=other)
    assert answer.code == Exit.DONE
    assert "1 in conflict" in answer.out
    assert f"line 1: pin {pin_id(1)} differs in body" in answer.out


def test_an_export_is_what_replay_reads(url: str) -> None:
    imported(url, "-", stdin=OURS)
    of_lines = refold("agentpedia", "replay", "--view", "full", stdin=OURS)
    of_export = refold("agentpedia", "replay", "--view", "full", stdin=exported(url))
    assert of_lines.code == Exit.DONE
    assert of_export.out == of_lines.out


def test_an_export_goes_into_a_file_when_it_is_whole(url: str, tmp_path: Path) -> None:
    imported(url, "-", stdin=OURS)
    file = tmp_path / "out.jsonl"
    command = ["agentpedia", "export", "--database", url, "--output", str(file)]
    answer = refold(*command)
    assert (answer.code, file.read_bytes()) == (Exit.DONE, OURS)
    assert "2 pins in blocks, 1 pending" in answer.out
    assert f"{file} is whole" in answer.last_line
    answer = refold(*command)
    assert answer.code == Exit.USAGE
    assert answer.err.startswith("refold: file-exists: ")
    done = refold(*command, "--force", "--confirmed", "--format", "json").json
    assert (done["confirmed"], done["pending"]) == (2, 0)
    assert done["bytes"] == file.stat().st_size


def test_an_import_runs_beside_the_process_that_keeps_the_view(url: str) -> None:
    """What it brings is noted for who folds it, in the transaction that brings it."""
    with Database.open(url) as database, database.hold("indexer"):
        with database.write() as connection:
            marks = open_store(connection).marks
            marks.read_by("view", PATHS)
            marks.settle("view")
        assert imported(url, "-", stdin=OURS)["new"] == 3
        with database.read() as connection:
            assert open_store(connection).marks.changed_from("view") == 1


def test_a_reader_that_leaves_is_no_error(url: str) -> None:
    pins = [pin(number, number, body=b"x" * 2_000) for number in range(500)]
    imported(url, "-", stdin=b"".join(map(pin_line, pins)))
    with subprocess.Popen(
        [COMMAND, "agentpedia", "export", "--database", url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith(b'{"id":')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(MINUTE) == Exit.DONE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_result_that_cannot_be_written_is_an_error(url: str) -> None:
    imported(url, "-", stdin=OURS)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMAND, "agentpedia", "export", "--database", url],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=MINUTE,
            check=False,
        )
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith(b"refold: output-unwritable: ")


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["import"], "usage", 2),
        (["import", "nowhere"], "file-unreadable", 2),
        (["import", "."], "file-unreadable", 2),
        (["export"], "database-missing", 4),
        (["export", "--database", "sqlite://x"], "database-url", 2),
        (["import", "-", "--database", "sqlite:///nowhere/x.db"], "database-unreachable", 4),
        (["import", "-", "--database", "postgresql://me@127.0.0.1:1/x"], "database-unreachable", 4),
    ],
)
def test_what_goes_wrong_is_one_line_with_a_remedy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: str,
    exit_code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = refold("agentpedia", *arguments, stdin=OURS)
    assert (answer.code, answer.out) == (exit_code, "")
    assert answer.err.startswith(f"refold: {code}: ")
    assert len(answer.err.splitlines()) == 1
    assert "; " in answer.err
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - shows what there is


def test_a_file_that_is_missing_stops_an_import_before_it_begins(url: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(OURS)
    answer = refold(
        "agentpedia", "import", str(tmp_path / "there"), str(tmp_path / "not"), "--database", url
    )
    assert answer.code == Exit.USAGE
    assert not (tmp_path / "a.db").exists()
