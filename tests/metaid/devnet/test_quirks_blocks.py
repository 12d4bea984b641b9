"""Quirks about the mempool and the blocks."""

from collections.abc import Iterator

import pytest

from metaid.devnet.served import Client, ids_of, served, write
from metaid.devnet.staged import detail, mined
from refold.metaid.devnet.indexer import FAR_FUTURE


@pytest.fixture
def client() -> Iterator[Client]:
    with served(base_height=10) as client:
        yield client


def test_mempool_rows(client: Client) -> None:
    pins = mined(client)
    waiting = write(client.net, 2)
    assert client.ids() == pins
    assert detail(client, waiting[0])["genesisHeight"] == -1, "it is known, and not listed"
    for order in (False, True):
        client.net.quirks(mempool_rows=True, newest_first=order)
        rows = client.rows(size=2)
        assert [row["id"] for row in rows] == (pins + waiting)[:: -1 if order else 1]
        row = next(row for row in rows if row["id"] == waiting[1])
        expected = {"genesisHeight": -1, "number": -1, "popLv": -1, "pop": "", "txIndex": 0}
        assert {name: row[name] for name in expected} == expected
        assert row["timestamp"] == row["seenTime"]
        assert client.page()["total"] == 3
    client.net.mine()
    row = client.rows()[0]
    assert (row["id"], row["genesisHeight"], row["popLv"]) == (waiting[1], 12, 0)
    assert row["seenTime"] < row["timestamp"]


def test_mempool_key(client: Client) -> None:
    client.net.quirks(
        mempool_rows=True, newest_first=True, raw_cursor=True, cursor_on_last_page=True
    )
    first, second = write(client.net, 2)
    seen = detail(client, first)["timestamp"]
    cursor = client.page()["nextCursor"]
    assert cursor.split("&")[1:] == [str(seen), "mvc", "-000000001", first]
    client.net.quirks(mempool_key="far-future")
    cursor = client.page()["nextCursor"]
    assert cursor.split("&")[1:3] == [str(FAR_FUTURE), "mvc"]
    assert client.ids() == sorted((first, second), reverse=True), "one time, so the id decides"
    client.net.mine()
    assert client.ids() == [second, first]


def test_mempool_unseen(client: Client) -> None:
    client.net.quirks(mempool_unseen=True, mempool_rows=True)
    (pin,) = write(client.net, 1)
    assert client.http.get(f"/api/pin/{pin}").status_code == 404
    assert client.ids() == []
    assert client.data("/mempool/list", page=1, size=5)["Pins"] == []
    client.net.mine()
    row = client.rows()[0]
    assert row["seenTime"] == row["timestamp"] == client.net.tip.time


def test_stale_keys(client: Client) -> None:
    """A pin stands under two keys, so on two pages; never twice on one."""
    client.net.quirks(mempool_rows=True, newest_first=True, mempool_key="far-future")
    pins = mined(client, count=4)
    assert sorted(client.ids(size=3)) == sorted(pins)
    client.net.quirks(stale_keys=2)
    walk = client.ids(size=3)
    assert sorted(set(walk)) == sorted(pins)
    assert len(walk) > 4
    assert sorted(client.ids(size=100)) == sorted(pins)
    assert all(row["genesisHeight"] == 11 for row in client.rows(size=3))
    client.net.mine()
    assert len(client.ids(size=3)) > 4
    client.net.mine()
    assert sorted(client.ids(size=3)) == sorted(pins)


def test_ignores_reorgs(client: Client) -> None:
    net = client.net
    pins = mined(client, count=3, blocks=2)
    net.quirks(ignores_reorgs=True)
    net.reorg(2, drop=[pins[5]], fate="gone", shift=1)
    assert [pin.height for pin in net.pins()] == [12] * 3 + [13] * 2
    rows = {row["id"]: row["genesisHeight"] for row in client.rows()}
    assert rows == dict.fromkeys(pins[:3], 11) | dict.fromkeys(pins[3:5], 13) | {pins[5]: 12}
    net.mine()
    assert pins[5] in client.ids(), "a ghost stays"
    net.rescan()
    assert client.ids() == ids_of(net.pins())
    net.quirks(ignores_reorgs=False)
    net.reorg(1, shift=-1)
    assert client.ids() == ids_of(net.pins())


def test_a_pin_that_a_reorg_took_away_is_unknown(client: Client) -> None:
    first, gone = mined(client, count=2)
    client.net.reorg(1, drop=[gone], fate="gone")
    client.net.quirks(mempool_rows=True)
    assert client.ids() == [first]
    assert client.http.get(f"/api/pin/{gone}").status_code == 404
    assert client.data("/mempool/list", page=1, size=5)["Pins"] == []
    assert client.get("/debug/count")["pin"] == 1


def test_an_ignored_reorg_leaves_two_keys_of_blocks(client: Client) -> None:
    client.net.quirks(ignores_reorgs=True, newest_first=True)
    (pin,) = mined(client, count=1)
    client.net.reorg(1, shift=1)
    assert client.ids(size=1) == [pin, pin]
    assert {row["genesisHeight"] for row in client.rows(size=1)} == {12}


@pytest.mark.parametrize("unseen", [False, True])
def test_a_pin_first_met_in_a_block_is_seen_when_it_waits_again(
    client: Client, unseen: bool
) -> None:
    client.net.quirks(mempool_unseen=True, mempool_rows=True)
    first, second = mined(client, count=2)
    client.net.quirks(mempool_unseen=unseen)
    client.net.reorg(1, drop=[second])
    for newest_first in (False, True):
        client.net.quirks(newest_first=newest_first)
        rows = {row["id"]: row for row in client.rows()}
        assert set(rows) == ({first} if unseen else {first, second})
        if not unseen:
            assert rows[second]["genesisHeight"] == -1
            assert rows[second]["seenTime"] == client.net.tip.time
    client.net.mine()
    assert sorted(client.ids()) == sorted((first, second))


def test_skip_every(client: Client) -> None:
    client.net.quirks(skip_every=3)
    pins = mined(client, count=1, blocks=5)  # heights 11 to 15
    assert client.ids() == [pins[0], pins[2], pins[3]]
    assert client.get("/debug/sync")["mvc_sync_height"] == 15
    assert detail(client, pins[1])["genesisHeight"] == -1, "still in its mempool"
    client.net.quirks(skip_every=0)
    mined(client, count=1)
    assert pins[1] not in client.ids(), "nobody goes back"
    client.net.rescan()
    assert client.ids() == ids_of(client.net.pins())


def test_stuck(client: Client) -> None:
    pins = mined(client, count=2)
    client.net.quirks(stuck=True)
    more = mined(client, count=2, blocks=2)
    assert client.ids() == pins
    assert client.get("/debug/sync")["mvc_sync_height"] == 11
    assert client.get("/devnet/tip")["height"] == 13
    assert client.http.get(f"/api/pin/{more[0]}").status_code == 404
    client.net.quirks(stuck=False)
    assert client.ids() == pins + more


def test_a_reorg_while_stuck_is_caught_up_with(client: Client) -> None:
    pins = mined(client, count=2, blocks=2)
    client.net.quirks(stuck=True)
    client.net.reorg(2, order="reversed", shift=1, drop=[pins[3]])
    client.net.quirks(stuck=False)
    assert client.ids() == ids_of(client.net.pins())
    client.net.mine()
    assert client.ids() == ids_of(client.net.pins())
    assert len(client.ids()) == 4


def test_sync_height(client: Client) -> None:
    for form, height in (("number", 10), ("text", "10"), ("null", None)):
        client.net.quirks(sync_height=form)
        assert client.get("/debug/sync")["mvc_sync_height"] == height
        assert client.get("/debug/sync")["btc_sync_height"] is None
