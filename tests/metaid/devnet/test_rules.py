"""What the node takes and what it refuses, with its codes and numbers."""

from collections.abc import Iterator

import pytest

from refold.kernel.errors import InputError
from refold.metaid.author import check_author, outputs_of
from refold.metaid.devnet import purse
from refold.metaid.devnet.net import Devnet
from refold.metaid.devnet.rules import MAX_TX_BYTES, NULL_OUTPOINT, REJECTIONS
from refold.metaid.envelope import new_tuple, pin_script
from refold.metaid.script import OP_1, push
from refold.metaid.signature import ALL, ALL_FORKID
from refold.metaid.tx import (
    MVC_VERSION,
    Input,
    Outpoint,
    Output,
    Tx,
    parse_tx,
    serialize_tx,
    txid_of,
)
from refold.metaid.wallet import Key, Utxo, build_pin_tx, sign_tx

RAW = new_tuple("create", "/protocols/simplenote", b"{}")


@pytest.fixture
def net() -> Iterator[Devnet]:
    with Devnet() as net:
        yield net


def coin_of(net: Devnet, key: Key) -> Utxo:
    net.fund(key)
    with net.transaction() as connection:
        return purse.coins(connection, key.script)[0]


def spend(coin: Utxo, *outputs: Output, key: Key, kind: int = ALL_FORKID, **parts: int) -> bytes:
    """Give a signed transaction that spends a coin."""
    sequence = parts.pop("sequence", 0xFFFFFFFF)
    tx = Tx(MVC_VERSION, (Input(coin.outpoint, b"", sequence),), outputs, **parts)
    return serialize_tx(sign_tx(tx, [coin.output], [key], kind))


def refused(net: Devnet, raw: bytes) -> str:
    before = net.status()
    with pytest.raises(InputError) as caught:
        net.send(raw)
    assert caught.value.code in REJECTIONS
    assert net.status() == before
    return caught.value.code


def test_a_payment_is_taken_once(net: Devnet) -> None:
    alice = net.key("alice")
    raw = spend(coin_of(net, alice), Output(5_000, alice.script), key=alice)
    assert net.send(raw) == txid_of(parse_tx(raw))
    assert refused(net, raw) == "txn-already-known"
    net.mine()
    assert refused(net, raw) == "txn-already-known"


def test_an_output_is_spent_once_in_the_mempool_and_after(net: Devnet) -> None:
    alice = net.key("alice")
    coin = coin_of(net, alice)
    net.send(spend(coin, Output(5_000, alice.script), key=alice))
    again = spend(coin, Output(6_000, alice.script), key=alice)
    assert refused(net, again) == "txn-mempool-conflict"
    net.mine()
    assert refused(net, again) == "txn-mempool-conflict"


def test_numbers_are_those_of_the_real_node() -> None:
    assert REJECTIONS["txn-mempool-conflict"][0] == -26
    assert REJECTIONS["txn-already-known"][0] == -27
    assert REJECTIONS["missing-inputs"][0] == -25


def test_nothing_comes_from_nothing(net: Devnet) -> None:
    alice = net.key("alice")
    coin = coin_of(net, alice)
    more = Output(coin.output.value + 1, alice.script)
    assert refused(net, spend(coin, more, key=alice)) == "bad-txns-in-belowout"
    nowhere = Utxo(Outpoint("ab" * 32, 0), coin.output)
    assert refused(net, spend(nowhere, Output(1, alice.script), key=alice)) == "missing-inputs"
    beyond = Utxo(Outpoint(coin.outpoint.txid, 9), coin.output)
    assert refused(net, spend(beyond, Output(1, alice.script), key=alice)) == "missing-inputs"
    mint = Tx(MVC_VERSION, (Input(NULL_OUTPOINT, b"\x01\x01"),), (Output(5, alice.script),))
    assert refused(net, serialize_tx(mint)) == "coinbase"


def test_all_that_is_spent_may_be_paid_out(net: Devnet) -> None:
    alice = net.key("alice")
    coin = coin_of(net, alice)
    net.send(spend(coin, Output(coin.output.value, alice.script), key=alice))


def test_dust_is_refused_and_data_is_no_dust(net: Devnet) -> None:
    alice = net.key("alice")
    coin = coin_of(net, alice)
    dust = spend(coin, Output(0, alice.script), Output(9, alice.script), key=alice)
    assert refused(net, dust) == "dust"
    net.send(spend(coin, Output(0, pin_script(RAW)), Output(9, alice.script), key=alice))


def test_data_cannot_be_spent(net: Devnet) -> None:
    alice = net.key("alice")
    data = Output(7, pin_script(RAW))
    raw = spend(coin_of(net, alice), data, Output(9, alice.script), key=alice)
    from_data = Utxo(Outpoint(net.send(raw), 0), data)
    assert refused(net, spend(from_data, Output(1, alice.script), key=alice)) == "missing-inputs"


@pytest.mark.parametrize("fault", ["foreign", "type", "output", "value", "form"])
def test_only_the_owner_unlocks(net: Devnet, fault: str) -> None:
    alice, bob = net.key("alice"), net.key("bob")
    coin = coin_of(net, alice)
    paid = Output(900, alice.script)
    raw = spend(coin, paid, key=alice)
    tx = parse_tx(raw)
    if fault == "foreign":
        theirs = Utxo(coin.outpoint, Output(coin.output.value, bob.script))
        raw = spend(theirs, paid, key=bob)
    elif fault == "type":
        raw = spend(coin, paid, key=alice, kind=ALL)
    elif fault == "output":
        raw = serialize_tx(Tx(tx.version, tx.inputs, (Output(901, alice.script),)))
    elif fault == "value":
        other = Utxo(coin.outpoint, Output(coin.output.value - 1, alice.script))
        raw = spend(other, paid, key=alice)
    else:
        raw = serialize_tx(Tx(tx.version, (Input(coin.outpoint, push(b"let me")),), (paid,)))
    assert refused(net, raw) == "mandatory-script-verify-flag-failed"


def test_bytes_that_are_no_transaction(net: Devnet) -> None:
    alice = net.key("alice")
    raw = spend(coin_of(net, alice), Output(900, alice.script), key=alice)
    for broken in (b"", raw[:-1], raw + b"\x00", b"\xff" * 60):
        assert refused(net, broken) == "tx-decode"
    assert refused(net, bytes(MAX_TX_BYTES + 1)) == "tx-size"


def test_an_output_is_not_spent_twice_in_one_transaction(net: Devnet) -> None:
    alice = net.key("alice")
    coin = coin_of(net, alice)
    part = Input(coin.outpoint, b"")
    tx = Tx(MVC_VERSION, (part, part), (Output(900, alice.script),))
    raw = serialize_tx(sign_tx(tx, [coin.output, coin.output], [alice]))
    assert refused(net, raw) == "bad-txns-inputs-duplicate"


def test_a_lock_time_waits_for_its_height_or_time(net: Devnet) -> None:
    alice = net.key("alice")
    coin = coin_of(net, alice)
    paid = Output(900, alice.script)
    later = spend(coin, paid, key=alice, lock_time=net.height + 2, sequence=0)
    assert refused(net, later) == "non-final"
    by_time = spend(coin, paid, key=alice, lock_time=net.tip.time + 3_000, sequence=0)
    assert refused(net, by_time) == "non-final"
    net.mine(2)
    net.send(later)


def test_a_final_sequence_makes_a_lock_time_void(net: Devnet) -> None:
    alice = net.key("alice")
    net.send(spend(coin_of(net, alice), Output(900, alice.script), key=alice, lock_time=9_999))


def test_a_chain_in_the_mempool_may_be_too_long() -> None:
    with Devnet(max_depth=4) as net:
        alice = net.key("alice")
        net.fund(alice)
        net.mine()
        for _ in range(5):
            net.pin(alice, "/protocols/simplenote")
        with pytest.raises(InputError) as caught:
            net.pin(alice, "/protocols/simplenote")
        assert caught.value.code == "too-long-mempool-chain"
        net.mine(limit=3)
        for _ in range(3):
            net.pin(alice, "/protocols/simplenote")
        assert net.count_waiting() == 5


def test_versions_below_10_have_their_old_ids(net: Devnet) -> None:
    alice = net.key("alice")
    built = build_pin_tx(alice, RAW, [coin_of(net, alice)], version=1)
    assert net.send(built.raw) == built.txid
    net.mine()
    assert [pin.id for pin in net.pins()] == [built.pin.id]


def test_an_output_that_asks_for_nothing_lets_anybody_show_any_key(net: Devnet) -> None:
    """The forgery that no list shows: the pin is paid by nobody, the unlock shows a victim."""
    mallory, victim = net.key("mallory"), net.key("victim")
    open_to_all = Output(50_000, bytes((OP_1,)))
    opened = net.send(spend(coin_of(net, mallory), open_to_all, key=mallory))
    shown = push(b"\x30" * 71 + bytes((ALL_FORKID,))) + push(victim.public)
    outputs = (Output(1, victim.script), Output(0, pin_script(RAW)))
    tx = Tx(MVC_VERSION, (Input(Outpoint(opened, 0), shown),), outputs)
    net.send(serialize_tx(tx))
    net.mine()
    (pin,) = net.pins()
    assert pin.author == ""
    assert pin.pin.named_author == victim.globalmetaid
    parent = net.raw_tx(opened)
    assert parent is not None
    check = check_author(serialize_tx(tx), victim.globalmetaid, outputs_of([parent]))
    assert check.verdict == "unproven"
    unknowing = check_author(serialize_tx(tx), victim.globalmetaid)
    assert unknowing.verdict == "signed-key"
