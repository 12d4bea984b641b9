"""A file is there whole or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.terminal import MINUTE, environment
from refold.kernel.errors import UsageError
from refold.kernel.newfile import new_file


class UnexpectedError(Exception):
    """Something that goes wrong in the middle."""


def test_a_file_gets_its_name_at_the_end(tmp_path: Path) -> None:
    with new_file(tmp_path / "a") as file:
        file.write(b"x")
        assert not (tmp_path / "a").exists()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"x")]


@pytest.mark.parametrize("error", [UnexpectedError, KeyboardInterrupt])
def test_an_error_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), new_file(tmp_path / "a") as file:  # noqa: PT012 - it is one block
        file.write(b"x")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(UnexpectedError), new_file(tmp_path / "a", force=True) as file:  # noqa: PT012 - it is one block
        file.write(b"x")
        raise UnexpectedError
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_a_file_that_is_there_is_written_over_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(UsageError) as caught, new_file(tmp_path / "a"):
        pass
    assert caught.value.code == "file-exists"
    with new_file(tmp_path / "a", force=True) as file:
        file.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_somebody_who_was_quicker_keeps_the_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught, new_file(tmp_path / "a"):
        (tmp_path / "a").write_bytes(b"theirs")
    assert caught.value.code == "file-exists"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"theirs")]


def test_of_a_link_the_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").symlink_to(tmp_path / "folder" / "b")
    with new_file(tmp_path / "a") as file:
        file.write(b"x")
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "folder" / "b").read_bytes() == b"x"


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_or_device_is_never_replaced(tmp_path: Path, force: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(UsageError) as caught, new_file(path, force=force):
            pass
        assert caught.value.code == "file-not-regular"


@pytest.mark.parametrize("name", ["nowhere/a", "file/a", "x" * 300])
def test_where_no_file_can_be_made_the_error_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as caught, new_file(tmp_path / name):
        pass
    assert caught.value.code == "file-unwritable"
    assert "\n" not in str(caught.value)


KILLED = """
import os, signal, sys
from pathlib import Path
from refold.kernel.newfile import new_file
with new_file(Path(sys.argv[1])) as file:
    file.write(b"x")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_leaves_a_part_under_another_name(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path / "a")]
    done = subprocess.run(command, env=environment(), check=False, timeout=MINUTE)
    assert done.returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    assert left.name.startswith(".a.")
    assert left.name.endswith(".part")
    with new_file(tmp_path / "a") as file:  # and is in nobody's way
        file.write(b"x")
