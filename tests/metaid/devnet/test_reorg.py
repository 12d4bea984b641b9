"""Reorganisations, option by option."""

import pytest

from metaid.devnet.served import NOTE, ids_of, write
from refold.kernel.errors import InputError, UsageError
from refold.metaid.block import parse_block
from refold.metaid.devnet import purse
from refold.metaid.devnet.net import FUNDS, Devnet
from refold.metaid.devnet.node import FAUCET
from refold.metaid.tx import Outpoint, Output, txid_of
from refold.metaid.wallet import Utxo


def three_blocks(net: Devnet) -> list[list[str]]:
    """Mine three blocks with three pins of three keys each."""
    names = ("alice", "bob", "carol")
    for name in names:
        net.fund(net.key(name))
    net.mine()
    blocks = []
    for _ in range(3):
        blocks.append([pin for name in names for pin in write(net, 1, key=name)])
        net.mine()
    return blocks


def by_height(net: Devnet) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for pin in net.pins():
        found.setdefault(pin.height or -1, []).append(pin.id)
    return found


def test_the_same_branch_again_is_another_branch() -> None:
    with Devnet() as net:
        blocks = three_blocks(net)
        tip = net.tip
        done = net.reorg(2)
        assert (done.fork, len(done.old), len(done.new)) == (2, 2, 3)
        assert done.old[-1] == tip.hash
        assert done.new[-1] == net.tip.hash
        assert net.height == 5
        assert by_height(net) == {2: blocks[0], 3: blocks[1], 4: blocks[2]}
        assert not done.returned
        assert not done.gone


def test_another_order_inside_the_blocks() -> None:
    with Devnet() as net:
        blocks = three_blocks(net)
        net.reorg(3, order="reversed")
        assert by_height(net) == {2 + n: block[::-1] for n, block in enumerate(blocks)}


@pytest.mark.parametrize(
    ("shift", "heights"),
    [(1, [3, 4, 5]), (9, [5, 5, 5]), (-1, [2, 2, 3]), (-9, [2, 2, 2])],
)
def test_other_heights(shift: int, heights: list[int]) -> None:
    with Devnet() as net:
        blocks = three_blocks(net)
        order = [pin for block in blocks for pin in block]
        net.reorg(3, shift=shift)
        assert ids_of(net.pins()) == order
        assert [pin.height for pin in net.pins()] == [h for h in heights for _ in range(3)]


def test_dropped_pins_wait_with_all_that_hang_on_them() -> None:
    with Devnet() as net:
        blocks = three_blocks(net)
        alice = [block[0] for block in blocks]
        done = net.reorg(2, drop=[alice[1]])
        assert set(done.returned) == {alice[1][:64], alice[2][:64]}
        assert ids_of(net.waiting()) == alice[1:], "the later pin spends the change of the earlier"
        assert by_height(net) == {2: blocks[0], 3: blocks[1][1:], 4: blocks[2][1:]}
        net.mine()
        assert net.pins()[-1].id == alice[2]


def test_dropped_for_good_as_by_a_double_spend() -> None:
    with Devnet() as net:
        blocks = three_blocks(net)
        alice = [block[0] for block in blocks]
        raw = net.raw_tx(alice[1][:64])
        done = net.reorg(2, drop=[alice[1][:64]], fate="gone")
        assert set(done.gone) == {alice[1][:64], alice[2][:64]}
        assert not net.waiting()
        assert net.raw_tx(alice[1][:64]) is None
        again = write(net, 1, key="alice")[0]
        assert again not in alice
        assert net.count_waiting() == 1, "the coin was free again, and is spent otherwise now"
        assert raw is not None
        with pytest.raises(InputError) as caught:
            net.send(raw)
        assert caught.value.code == "txn-mempool-conflict"


def test_what_waited_before_still_waits() -> None:
    with Devnet() as net:
        three_blocks(net)
        waiting = write(net, 2, key="alice") + write(net, 1, key="dan")
        net.reorg(1)
        assert ids_of(net.waiting()) == waiting
        net.mine()
        assert not net.waiting()


def test_what_spends_a_coinbase_that_is_gone_goes_too() -> None:
    with Devnet() as net:
        three_blocks(net)
        faucet, dan = net.key(FAUCET), net.key("dan")
        coinbase = parse_block(net.raw_block(net.height) or b"").txs[0]
        coin = Utxo(Outpoint(txid_of(coinbase), 0), coinbase.outputs[0])
        raw = purse.payment(faucet, [Output(FUNDS, dan.script)], [coin])
        net.send(raw)
        (pin,) = write(net, 1, key="dan")
        done = net.reorg(3)
        assert len(done.gone) == 2
        assert pin[:64] in done.gone
        assert not net.waiting()


@pytest.mark.parametrize(
    ("code", "plan"),
    [
        ("reorg-depth", {"depth": 0}),
        ("reorg-depth", {"depth": 5}),
        ("reorg-length", {"depth": 2, "blocks": 2}),
        ("reorg-drop", {"depth": 2, "drop": ["ab" * 32 + "i0"]}),
    ],
)
def test_plans_that_no_chain_could_follow(code: str, plan: dict[str, object]) -> None:
    with Devnet() as net:
        three_blocks(net)
        before = (net.status(), net.pins())
        with pytest.raises(UsageError) as caught:
            net.reorg(**plan)  # type: ignore[arg-type]
        assert caught.value.code == code
        assert (net.status(), net.pins()) == before


def test_a_pin_below_the_fork_cannot_be_dropped() -> None:
    with Devnet() as net:
        blocks = three_blocks(net)
        with pytest.raises(UsageError, match="none of the blocks that give way"):
            net.reorg(1, drop=[blocks[0][0]])


def test_the_whole_chain_but_its_first_block_may_go() -> None:
    with Devnet() as net:
        alice = net.key("alice")
        pin = net.pin(alice, NOTE)
        net.mine(4)
        net.reorg(4, order="shuffled")
        assert ids_of(net.pins()) == [pin]
        assert net.height == 5
