"""`refold devnet` and `refold metaid walk`: a served chain, ordered about and walked."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from refold.cli.main import run
from refold.kernel.errors import Exit
from refold.metaid.devnet.net import Devnet
from refold.metaid.devnet.quirks import PROFILES, Quirks, switches

REVIEWS = "/protocols/agentpedia/review"
Output = pytest.CaptureFixture[bytes]


@pytest.fixture
def served() -> Iterator[tuple[Devnet, str]]:
    with Devnet(None, base_height=100) as net, net.serve() as url:
        yield net, url


def said(capture: Output) -> object:
    return json.loads(capture.readouterr().out)


def test_orders_reach_the_chain(served: tuple[Devnet, str], capfdbinary: Output) -> None:
    net, url = served
    there = ["--url", url, "--format", "json"]
    assert run(["devnet", "pin", "anna", REVIEWS, '{"v":1}', *there]) == Exit.DONE
    assert net.count_waiting() >= 1
    assert run(["devnet", "mine", "2", *there]) == Exit.DONE
    height = net.height
    capfdbinary.readouterr()
    assert run(["devnet", "status", *there]) == Exit.DONE
    status = said(capfdbinary)
    assert isinstance(status, dict)
    assert status["indexHeight"] == height
    assert run(["devnet", "reorg", "--depth", "1", *there]) == Exit.DONE
    assert net.height > height
    assert run(["devnet", "key", "anna", *there]) == Exit.DONE
    assert net.key("anna").globalmetaid in capfdbinary.readouterr().out.decode()


def test_quirks_and_faults_are_named_by_name_and_value(
    served: tuple[Devnet, str], capfdbinary: Output
) -> None:
    net, url = served
    assert run(["devnet", "quirks", "--url", url]) == Exit.DONE
    listed = capfdbinary.readouterr().out.decode()
    assert all(switch.name in listed for switch in switches())
    assert run(["devnet", "quirks", "--profile", "man-v2", "--url", url]) == Exit.DONE
    assert net.quirks() == PROFILES["man-v2"] != Quirks()
    assert run(["devnet", "quirks", "no-such=1", "--url", url]) == Exit.USAGE
    assert run(["devnet", "faults", "nonsense", "--url", url]) == Exit.USAGE


def test_nobody_there(capfdbinary: Output) -> None:
    assert run(["devnet", "status", "--url", "http://127.0.0.1:9"]) == Exit.SOURCE
    assert capfdbinary.readouterr().err.startswith(b"refold: devnet-away: ")


def test_walk_prints_every_pin_whole(served: tuple[Devnet, str], capfdbinary: Output) -> None:
    net, url = served
    key = net.key("anna")
    wanted = [net.pin(key, REVIEWS, {"v": 1, "n": n, "text": "x" * 5_000}) for n in range(3)]
    net.mine()
    assert run(["metaid", "walk", url, REVIEWS, "--allow", "127.0.0.0/8"]) == Exit.DONE
    out, err = capfdbinary.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    assert sorted(row["id"] for row in rows) == sorted(wanted)
    assert all(row["contentLength"] > 5_000 for row in rows)
    assert b"3 confirmed" in err


def test_walk_goes_nowhere_private_unasked(served: tuple[Devnet, str], capfdbinary: Output) -> None:
    _, url = served
    assert run(["metaid", "walk", url, REVIEWS]) != Exit.DONE
    assert b"address-forbidden" in capfdbinary.readouterr().err


def test_the_demo_folds_to_what_the_chain_holds(tmp_path: Path, capfdbinary: Output) -> None:
    file = str(tmp_path / "net" / "demo.sqlite")
    assert run(["devnet", "demo", file]) == Exit.DONE
    first = capfdbinary.readouterr().out.decode()
    assert "folded from the raw transactions: the same digest" in first
    assert run(["devnet", "demo", file]) == Exit.DONE
    again = capfdbinary.readouterr().out.decode()
    assert again.split("digest ")[1:] == first.split("digest ")[1:]
