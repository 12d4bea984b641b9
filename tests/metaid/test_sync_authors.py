"""Authors verified with raw transactions: verdicts are stored, unproven pins are kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metaid.devnet.served import Client
from metaid.devnet.staged import forged
from metaid.syncs import PATH, Node, opened, source, truth_of
from metaid.worlds import World, populate, world
from refold.metaid.author import Verdict
from refold.metaid.sync import authors

NOTE = "/protocols/simplenote"


@pytest.fixture
def here() -> Iterator[World]:
    with world(retries=0) as made:
        made.net.quirks("man-p2p", ignores_reorgs=False)
        made.ids = populate(made, blocks=3)
        made.net.mine()
        yield made


def verdicts(node: Node) -> dict[str, Verdict]:
    with node.store() as store:
        return store.pins.authors(list(node.confirmed()))


def test_every_confirmed_pin_gets_a_verdict_once(here: World, tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], authors=here.txs())
        report = node.round()
        assert report.authors
        assert report.authors.proven == len(truth_of(here))
        assert report.traffic.transactions >= report.authors.proven
        assert verdicts(node) == dict.fromkeys(truth_of(here), "proven")
        again = node.round()
        assert again.authors
        assert (again.authors.proven, again.traffic.transactions) == (0, 0)
        assert not again.authors.left


def test_a_forged_author_is_marked_and_the_pin_is_kept(here: World, tmp_path: Path) -> None:
    """Whoever pays one satoshi to an address appears as its owner (facts: metaid §1.4)."""
    name = forged(Client(here.net, here.url), here.net.key("alice"))
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], (PATH, NOTE), authors=here.txs())
        report = node.round()
        assert report.authors
        assert report.authors.unproven == 1
        assert verdicts(node)[name] == "unproven"
        assert name in node.confirmed()


def test_who_cannot_be_checked_is_left_and_tried_again(here: World, tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], authors=here.txs())
        here.net.faults(error_500=1.0, only="/open-api-mvc")
        report = node.round()
        assert report.authors
        assert report.authors.unchecked == len(truth_of(here))
        assert verdicts(node) == {}
        here.net.faults()
        node.round()
        assert set(verdicts(node).values()) == {"proven"}
        assert len(verdicts(node)) == len(truth_of(here))


def test_a_round_checks_some_and_the_next_goes_on(
    here: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authors, "BATCH", 3)
    count = len(truth_of(here))
    with opened(tmp_path) as database:
        node = Node(database, [source(here)], authors=here.txs(), limit=7)
        checked = 0
        for _ in range(-(-count // 7)):
            report = node.round()
            assert report.authors
            assert report.authors.proven <= 7
            checked += report.authors.proven
        assert checked == count


def test_pins_that_never_can_be_checked_hold_up_no_other(here: World, tmp_path: Path) -> None:
    """The source does not know the lowest ones; those above get their verdicts."""
    lowest = sorted(truth_of(here).items(), key=lambda entry: entry[1][:2])[:5]
    with opened(tmp_path) as database:
        txs = here.txs()
        known = txs.raw

        def raw(txid: str) -> bytes | None:
            return None if txid in {name[:64] for name, _ in lowest} else known(txid)

        txs.raw = raw  # type: ignore[method-assign]
        node = Node(database, [source(here)], authors=txs, limit=5)
        for _ in range(8):
            node.round()
        found = verdicts(node)
        assert set(truth_of(here)) - set(found) == {name for name, _ in lowest}
