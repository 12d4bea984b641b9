"""Blocks: linked, readable by the block reader, in any order that puts parents first."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.devnet.served import NOTE, ids_of, write
from refold.kernel.errors import UsageError
from refold.metaid.block import parse_block, pins_of_block, verify_merkle_root
from refold.metaid.devnet.clock import BLOCK_SECONDS
from refold.metaid.devnet.net import Devnet
from refold.metaid.devnet.ordering import ORDERS, Order, Waiting, arranged
from refold.metaid.tx import parse_tx, serialize_tx, txid_of


def test_blocks_read_as_real_ones_and_link() -> None:
    with Devnet(base_height=500) as net:
        write(net, 3)
        net.mine()
        write(net, 2, key="bob")
        net.mine(2)
        assert (net.height, net.tip.txs) == (503, 1)
        previous, time = "00" * 32, None
        pins = []
        for height in range(500, 504):
            raw = net.raw_block(height)
            assert raw is not None
            block = parse_block(raw)
            verify_merkle_root(block)
            assert block.previous == previous
            assert time is None or block.time == time + BLOCK_SECONDS
            previous, time = block.hash, block.time
            pins += [pin.id for pin in pins_of_block(block)]
        assert net.tip.hash == previous
        assert pins == ids_of(net.pins())
        assert net.raw_block(504) is None
        assert net.raw_block(499) is None


def test_raw_transactions_come_back_as_sent() -> None:
    with Devnet() as net:
        (pin,) = write(net, 1)
        txid = pin[:64]
        for _ in range(2):
            raw = net.raw_tx(txid)
            assert raw is not None
            assert txid_of(parse_tx(raw)) == txid
            assert serialize_tx(parse_tx(raw)) == raw
            net.mine()
        assert net.raw_tx("00" * 32) is None


def test_ten_of_ten_serial_writes_each_on_the_one_before() -> None:
    with Devnet() as net:
        alice = net.key("alice")
        built = [net.pin(alice, NOTE, {"n": number}) for number in range(10)]
        assert ids_of(net.waiting()) == built
        txs = [parse_tx(net.raw_tx(pin[:64]) or b"") for pin in built]
        for before, tx in zip(built, txs[1:], strict=False):
            assert [part.spends.txid for part in tx.inputs] == [before[:64]]
        net.mine(order="txid")
        assert ids_of(net.pins()) == built, "no order can put a child before its parent"
        assert [pin.pin.tx_index for pin in net.pins()] == list(range(2, 12))


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_changes_what_does_not_hang_together(order: Order) -> None:
    with Devnet(seed="orders") as net:
        for name in ("alice", "bob", "carol", "dan"):
            net.fund(net.key(name))
        net.mine()
        came = [pin for name in ("alice", "bob", "carol", "dan") for pin in write(net, 3, key=name)]
        net.mine(order=order)
        mined = ids_of(net.pins())
        assert sorted(mined) == sorted(came)
        assert (mined == came) == (order == "arrival")
        for start in range(0, 12, 3):
            own = [pin for pin in mined if pin in came[start : start + 3]]
            assert own == came[start : start + 3]


def test_a_limit_leaves_the_rest_in_the_mempool() -> None:
    with Devnet() as net:
        pins = write(net, 6)
        net.mine(limit=4)  # the payment of the faucet and three pins
        assert ids_of(net.pins()) == pins[:3]
        assert ids_of(net.waiting()) == pins[3:]
        net.mine(limit=0)
        assert ids_of(net.waiting()) == pins[3:]


def test_what_cannot_be_mined_is_refused() -> None:
    with Devnet() as net:
        for code, call in (
            ("mine-count", lambda: net.mine(0)),
            ("mine-order", lambda: net.mine(order="random")),  # type: ignore[arg-type]
            ("mine-order", lambda: net.reorg(order="random")),  # type: ignore[arg-type]
        ):
            with pytest.raises(UsageError) as caught:
                call()
            assert caught.value.code == code
        assert net.height == 0


@st.composite
def graphs(draw: st.DrawFn) -> list[Waiting]:
    """Give transactions that spend from earlier ones."""
    txs: list[Waiting] = []
    for arrival in range(draw(st.integers(0, 12))):
        names = [tx.txid for tx in txs] or ["elsewhere"]
        parents = draw(st.frozensets(st.sampled_from(names), max_size=3))
        fee, size = draw(st.integers(0, 5_000)), draw(st.integers(1, 3_000))
        txs.append(Waiting(f"{draw(st.integers(0, 10**6))}-{arrival}", arrival, fee, size, parents))
    return txs


@given(graphs(), st.sampled_from(ORDERS), st.text(max_size=3), st.randoms(use_true_random=False))
def test_parents_stand_first_whatever_the_order(
    txs: list[Waiting], order: Order, seed: str, chance: Random
) -> None:
    expected = arranged(txs, order, seed)
    assert sorted(expected) == sorted(tx.txid for tx in txs)
    for tx in txs:
        for parent in tx.parents - {"elsewhere"}:
            assert expected.index(parent) < expected.index(tx.txid)
    chance.shuffle(txs)
    assert arranged(txs, order, seed) == expected, "what is given first makes no difference"


@given(graphs())
def test_arrival_is_the_order_they_came(txs: list[Waiting]) -> None:
    assert arranged(txs, "arrival") == [tx.txid for tx in txs]


def test_the_same_acts_make_the_same_chain() -> None:
    tips = []
    for _ in range(2):
        with Devnet(seed="twice") as net:
            write(net, 4)
            net.mine(3, order="shuffled")
            net.reorg(2, order="shuffled")
            tips.append((net.tip, net.pins()))
    assert tips[0] == tips[1]
    with Devnet(seed="once") as net:
        write(net, 4)
        net.mine(3, order="shuffled")
        assert net.tip.hash != tips[0][0].hash
