"""A writer dies at any moment: what it committed is there whole, and nothing half.

The rule is in docs/decisions/0007.
"""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import sleep

from cli.terminal import MINUTE, environment
from contract import crashing
from refold.db import Database

PROGRAM = str(Path(crashing.__file__))
ROUNDS = 6
"""Kills at random moments. That they strike everywhere is for the other test to see to."""


def test_dying_before_each_statement_and_each_commit(database_url: str) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, "each", database_url],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=5 * MINUTE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    deaths = [int(line.split()[-1]) for line in done.stdout.splitlines()]
    assert len(deaths) == 3
    assert min(deaths) > 10
    assert crashing.check(database_url) == crashing.LAST


def test_kill_9_at_random_moments(database_url: str) -> None:
    random = Random(9)
    last = 0
    for _ in range(ROUNDS):
        writer = subprocess.Popen(
            [sys.executable, PROGRAM, "write", database_url],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout
        for _ in range(random.randrange(6)):
            writer.stdout.readline()
        sleep(random.random() / 50)
        writer.kill()
        told, said = writer.communicate(timeout=MINUTE)
        assert (writer.returncode, said) == (-signal.SIGKILL, "")
        numbers = [int(number) for number in re.findall(r"^\d+$", told, re.MULTILINE)]
        found = crashing.check(database_url)
        # One step more than was told may be there: it was committed, and killed before it said so.
        assert found >= max(numbers, default=last)
        last = found
    assert last > 0


def test_a_log_that_the_power_failure_cut_loses_the_last_steps_and_no_part_of_one(
    sqlite_url: str, tmp_path: Path
) -> None:
    """What `normal` may cost: whatever the disk did not get of the log, the rest is whole."""
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    with Database.open(sqlite_url, durability="normal") as database:
        for _ in range(7):
            with database.write() as connection:
                crashing.take_next(connection)
        log = path.with_name(path.name + "-wal").read_bytes()
        file = path.read_bytes()
    random = Random(7)
    cuts = sorted({0, len(log), *(random.randrange(len(log)) for _ in range(15))})
    found = []
    for cut in cuts:
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / "refold.db").write_bytes(file)
        (folder / "refold.db-wal").write_bytes(log[:cut])
        found.append(crashing.check(f"sqlite:///{folder / 'refold.db'}"))
        shutil.rmtree(folder)
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 7)
    assert len(set(found)) > 3
