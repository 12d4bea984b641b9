"""The file: one owner at a time, whole after any death, and what it was made with."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from metaid.devnet.served import NOTE, ids_of, write
from metaid.devnet.test_invariants import replayed
from refold.kernel.errors import UsageError
from refold.metaid.devnet import chain
from refold.metaid.devnet.net import Devnet


def refused(path: Path, **options: object) -> str:
    with pytest.raises(UsageError) as caught:
        Devnet(path, **options)  # type: ignore[arg-type]
    return caught.value.code


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "chain"
    with Devnet(path, seed="s", base_height=100) as net:
        alice = net.key("alice")
        write(net, 3)
        net.mine(2)
        write(net, 2)
        net.quirks("man-v2", total_lag=3)
        status, pins, waiting = net.status(), net.pins(), net.waiting()
    with Devnet(path) as net:
        assert (net.status(), net.pins(), net.waiting()) == (status, pins, waiting)
        assert net.quirks().total_lag == 3
        assert net.key("alice").secret == alice.secret
        net.mine()
        assert len(net.pins()) == 5


def test_settings_stay_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "chain"
    Devnet(path, seed="s", base_height=7).close()
    Devnet(path, seed="s", base_height=7).close()
    assert refused(path, seed="t") == "devnet-settings"
    assert refused(path, base_height=8) == "devnet-settings"
    with Devnet(path) as net:
        assert (net.seed, net.height) == ("s", 7)


def test_one_process_has_the_file_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "chain"
    code = (
        "import sys; from refold.metaid.devnet.net import Devnet; net = Devnet(sys.argv[1]);"
        "print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        assert refused(path) == "devnet-in-use"
        other.kill()
    Devnet(path).close()


def test_files_of_another_kind_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and a bit longer than the header of one\n" * 40)
    before = text.read_bytes()
    assert refused(text) == "devnet-file"
    assert text.read_bytes() == before
    assert refused(tmp_path) == "devnet-file"
    assert refused(tmp_path / "nowhere" / "chain") == "devnet-file"
    other = tmp_path / "other.db"
    Devnet(other).close()
    with sqlite3.connect(other) as connection:
        connection.execute("UPDATE meta SET value = 'refold devnet 0' WHERE name = 'format'")
    connection.close()
    assert refused(other) == "devnet-file"


BUSY = """
import sys
from refold.metaid.devnet.net import Devnet
net = Devnet(sys.argv[1])
print("go", flush=True)
n = 0
while True:
    for name in "abc":
        n += 1
        net.pin(net.key(name), "/protocols/simplenote", {"n": n})
    if n % 2:
        net.mine(order="shuffled")
    if n % 5 == 0:
        net.reorg(1, order="reversed")
"""


@pytest.mark.parametrize("after", [0.05, 0.2, 0.45])
def test_kill_9_at_any_time_leaves_a_whole_chain(tmp_path: Path, after: float) -> None:
    path = tmp_path / "chain"
    with subprocess.Popen(
        [sys.executable, "-c", BUSY, str(path)], stdout=subprocess.PIPE, text=True
    ) as busy:
        assert busy.stdout is not None
        assert busy.stdout.readline() == "go\n"
        with pytest.raises(subprocess.TimeoutExpired):
            busy.wait(after)
        os.kill(busy.pid, signal.SIGKILL)
    with Devnet(path) as net:
        with net.transaction() as connection:
            assert chain.coins(connection) == replayed(net, base=0)
        pins, waiting = ids_of(net.pins()), ids_of(net.waiting())
        assert len({*pins, *waiting}) == len(pins) + len(waiting)
        assert net.status().index_height == net.height
        write(net, 2)
        net.mine()
        assert not net.waiting()
        assert len(net.pins()) == len(pins) + len(waiting) + 2


def broken_batch(net: Devnet) -> None:
    with net.batch():
        net.pin(net.key("bob"), NOTE)
        net.mine()
        raise ZeroDivisionError


def test_a_batch_is_whole_or_not_at_all() -> None:
    with Devnet() as net:
        write(net, 1)
        before = net.status(), ids_of(net.waiting())
        with pytest.raises(ZeroDivisionError):
            broken_batch(net)
        assert (net.status(), ids_of(net.waiting())) == before
        with net.batch():
            net.pin(net.key("bob"), NOTE)
            net.mine()
        assert net.height == 1
