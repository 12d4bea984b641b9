"""Throw-away keys and what is written with them, over HTTP as wallets do and in process."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.devnet.served import NOTE, Client, ids_of, served
from refold.kernel.errors import InputError, UsageError
from refold.metaid.devnet.clock import Ticker, WallClock
from refold.metaid.devnet.net import FUNDS, Devnet
from refold.metaid.devnet.purse import throwaway_key
from refold.metaid.envelope import RawTuple, new_tuple
from refold.metaid.script import p2pkh_script
from refold.metaid.tx import Outpoint, Output, parse_tx
from refold.metaid.wallet import Key, Utxo, build_pin_tx


@pytest.fixture
def client() -> Iterator[Client]:
    with served() as client:
        yield client


def test_keys_follow_from_seed_and_name() -> None:
    assert throwaway_key("alice").secret == throwaway_key("alice").secret
    secrets = {throwaway_key(name, seed).secret for name in "ab" for seed in "xy"}
    assert len(secrets) == 4
    with Devnet(seed="x") as net:
        assert net.key("a").secret == throwaway_key("a", "x").secret
        own = Key.generate()
        assert net.key("own", own).secret == net.key("own").secret == own.secret
        assert net.status().keys["own"] == own.address
        for name in ("own", "another"):
            with pytest.raises(UsageError) as caught:
                net.key(name, Key.generate() if name == "own" else own)
            assert caught.value.code == "key-name"


def test_the_file_says_that_keys_are_worthless(client: Client) -> None:
    client.net.key("alice")
    with client.net.transaction() as connection:
        columns = [row[1] for row in connection.exec_driver_sql("PRAGMA table_info(keys)")]
    assert "worthless_secret" in columns
    told = client.http.post("/devnet/admin/key", json={"key": "alice"}).json()
    assert "worthlessSecret" in told


def test_a_key_is_funded_when_it_has_to_write() -> None:
    with Devnet() as net:
        poor = net.key("poor")
        net.pin(poor, NOTE, {"n": 1})
        assert net.count_waiting() == 2
        net.pin(poor, NOTE, {"n": 2})
        assert net.count_waiting() == 3
        net.pin(poor, NOTE, bytes(FUNDS * 6 // 10))
        assert net.count_waiting() == 5
        net.mine()
        assert len(net.pins(NOTE)) == 3


@given(st.binary(max_size=3_000), st.integers(1, 4))
def test_a_pin_pays_its_rate(payload: bytes, rate: int) -> None:
    with Devnet() as net:
        built = net.write(net.key("a"), new_tuple("create", NOTE, payload), rate=rate)
        assert built.fee >= rate * len(built.raw)
        assert built.pin.envelope.payload == payload


def test_tuples_that_no_indexer_lists_are_on_the_chain_all_the_same(client: Client) -> None:
    odd = RawTuple(b"create", b"/nowhere/at/all", b"", b"", b"", (b"?",))
    built = client.net.write(client.net.key("a"), odd)
    client.net.mine()
    assert client.net.pins() == []
    assert ids_of(client.net.pins(unlisted=True)) == [built.pin.id]
    assert client.ids("/nowhere/at/all") == []
    assert client.http.get(f"/api/pin/{built.pin.id}").status_code == 404
    with pytest.raises(InputError) as caught:
        client.net.pin(client.net.key("a"), "/nowhere/at/all")
    assert caught.value.code == "path-root"


def test_a_host_is_split_off(client: Client) -> None:
    pin = client.net.pin(client.net.key("a"), f"example.com:{NOTE}", b"hosted")
    client.net.mine()
    row = client.rows(NOTE)[0]
    assert (row["id"], row["host"], row["path"]) == (pin, "example.com", NOTE)
    assert row["originalPath"] == f"example.com:{NOTE}"


# as wallets over HTTP


def coins(client: Client, key: Key) -> list[Utxo]:
    told = client.get("/wallet-api/v4/mvc/address/utxo-list", address=key.address, net="livenet")
    assert told["code"] == 0
    script = p2pkh_script(key.key_hash)
    return [
        Utxo(Outpoint(coin["txid"], coin["outIndex"]), Output(coin["value"], script))
        for coin in told["data"]["list"]
        if coin["value"] >= 600
    ]


def broadcast(client: Client, raw: bytes) -> Any:
    body = {"chain": "mvc", "net": "livenet", "rawTx": raw.hex()}
    return client.http.post("/wallet-api/v3/tx/broadcast", json=body).json()


def test_a_pin_by_the_routes_of_wallets(client: Client) -> None:
    alice = client.net.key("alice")
    client.net.fund(alice)
    fees = client.get("/wallet-api/v4/mvc/fee/summary", net="livenet")["data"]["list"]
    assert [fee["title"] for fee in fees] == ["Fast", "Avg", "Slow"]
    built = build_pin_tx(
        alice, new_tuple("create", NOTE, b"{}"), coins(client, alice), rate=fees[1]["feeRate"]
    )
    assert broadcast(client, built.raw) == {"code": 0, "message": "success", "data": built.txid}
    again = broadcast(client, built.raw)
    assert (again["code"], again["message"]) == (-27, "txn-already-known")
    other = build_pin_tx(alice, new_tuple("create", NOTE, b"[]"), built.spent)
    assert broadcast(client, other.raw)["message"] == "txn-mempool-conflict"
    assert broadcast(client, b"")["code"] == -22
    assert client.http.post("/wallet-api/v3/tx/broadcast", content=b"{").json()["code"] == 40_000
    listed = client.get("/wallet-api/v4/mvc/address/utxo-list", address=alice.address)
    assert [coin["height"] for coin in listed["data"]["list"]] == [-1, -1]
    client.net.mine()
    assert client.ids() == [built.pin.id]
    listed = client.get("/wallet-api/v4/mvc/address/utxo-list", address=alice.address)
    assert {coin["height"] for coin in listed["data"]["list"]} == {1}
    flag = listed["data"]["list"][-1]["flag"]
    more = client.get("/wallet-api/v4/mvc/address/utxo-list", address=alice.address, flag=flag)
    assert more["data"]["list"] == []
    assert client.get("/wallet-api/v4/mvc/address/utxo-list", address="x")["code"] == 40_000


def test_a_raw_transaction_by_our_own_route(client: Client) -> None:
    alice = client.net.key("alice")
    client.net.fund(alice)
    built = build_pin_tx(alice, new_tuple("create", NOTE, b"{}"), coins(client, alice))
    sent = client.http.post("/devnet/tx", content=built.raw.hex() + "\n")
    assert (sent.status_code, sent.json()) == (200, {"txid": built.txid})
    again = client.http.post("/devnet/tx", content=built.raw.hex())
    assert again.status_code == 400
    assert (again.json()["code"], again.json()["number"]) == ("txn-already-known", -27)
    assert client.http.post("/devnet/tx", content="zz").json()["code"] == "tx-decode"
    for route in (f"/tx/{built.txid}/raw", f"/open-api-mvc/tx/{built.txid}/raw"):
        assert parse_tx(bytes.fromhex(client.get(route)["hex"])) == built.tx
    assert client.http.get(f"/tx/{'0' * 64}/raw").status_code == 404
    client.net.mine()
    block = client.http.get("/devnet/block/1").content
    assert block == client.net.raw_block(1)
    assert client.http.get("/devnet/block/2").status_code == 404


# clocks


def test_blocks_on_a_clock() -> None:
    with Devnet(clock=WallClock()) as net:
        net.pin(net.key("a"), NOTE)
        with Ticker(net, 0.01):
            while net.height < 3:
                pass
        height, time = net.height, net.tip.time
        assert len(net.pins()) == 1
        times = [net.pins()[0].time, time]
        assert times == sorted(times)
        assert net.height == height, "it stopped"
