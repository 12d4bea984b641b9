"""Laws that hold after any sequence of acts: pins, blocks, reorganisations, restarts."""

import tempfile
from contextlib import ExitStack
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from metaid.devnet.served import LOG, NOTE, Client, ids_of
from refold.metaid.block import parse_block, verify_merkle_root
from refold.metaid.devnet import chain
from refold.metaid.devnet.mint import ENDOWMENT, SUBSIDY
from refold.metaid.devnet.net import Devnet, Operation
from refold.metaid.devnet.ordering import ORDERS, Order
from refold.metaid.devnet.reorg import Fate
from refold.metaid.devnet.rules import NULL_OUTPOINT, carries_data
from refold.metaid.devnet.tables import TXS
from refold.metaid.tx import Outpoint, Output, Tx, txid_of

BASE = 100
orders = st.sampled_from(ORDERS)


def replayed(net: Devnet, base: int = BASE) -> dict[Outpoint, Output]:
    """Give the coins at the tip from the raw blocks alone; every spend must find its coin."""
    coins: dict[Outpoint, Output] = {}
    previous = "00" * 32
    for height in range(base, net.height + 1):
        block = parse_block(net.raw_block(height) or b"")
        verify_merkle_root(block)
        assert block.previous == previous
        previous = block.hash
        fees = sum(_apply(tx, coins) for tx in block.txs[1:])
        reward = sum(output.value for output in block.txs[0].outputs)
        assert reward == fees + (ENDOWMENT if height == base else SUBSIDY)
        assert [part.spends for part in block.txs[0].inputs] == [NULL_OUTPOINT]
        _add(block.txs[0], coins)
    return coins


def _apply(tx: Tx, coins: dict[Outpoint, Output]) -> int:
    """Spend and make the coins of a transaction; give its fee."""
    spent = sum(coins.pop(part.spends).value for part in tx.inputs)
    _add(tx, coins)
    return spent - sum(output.value for output in tx.outputs)


def _add(tx: Tx, coins: dict[Outpoint, Output]) -> None:
    for index, output in enumerate(tx.outputs):
        if not carries_data(output.script):
            coins[Outpoint(txid_of(tx), index)] = output


class Acts(RuleBasedStateMachine):
    """A chain in a file and whoever does something to it."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "chain"
        self.written = 0
        self.pins: list[str] = []
        self.open()

    def open(self) -> None:
        """Open the file and serve it."""
        self.stack = ExitStack()
        self.net = self.stack.enter_context(Devnet(self.path, base_height=BASE))
        self.client = Client(self.net, self.stack.enter_context(self.net.serve()))
        self.stack.enter_context(self.client.http)

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.stack.close()
            self.folder.cleanup()

    @rule(name=st.sampled_from("abc"), path=st.sampled_from((NOTE, LOG)))
    def pin(self, name: str, path: str) -> None:
        self.written += 1
        body = {"n": self.written}
        self.pins.append(self.net.pin(self.net.key(name), path, body))

    @rule(name=st.sampled_from("abc"), data=st.data())
    @precondition(lambda self: self.pins)
    def change(self, name: str, data: st.DataObject) -> None:
        target = data.draw(st.sampled_from(self.pins))
        operations: tuple[Operation, ...] = ("modify", "revoke")
        operation = data.draw(st.sampled_from(operations))
        pin = self.net.pin(self.net.key(name), f"@{target}", b"changed", operation)
        self.pins.append(pin)

    @rule(count=st.integers(1, 3), order=orders, limit=st.none() | st.integers(0, 4))
    def mine(self, count: int, order: Order, limit: int | None) -> None:
        self.net.mine(count, order=order, limit=limit)

    @rule(data=st.data(), order=st.none() | orders, shift=st.integers(-3, 3))
    @precondition(lambda self: self.net.height > BASE)
    def reorg(self, data: st.DataObject, order: Order | None, shift: int) -> None:
        depth = data.draw(st.integers(1, min(4, self.net.height - BASE)))
        fork = self.net.height - depth
        movable = [pin.id for pin in self.net.pins() if (pin.height or 0) > fork]
        drop = data.draw(st.lists(st.sampled_from(movable), max_size=3)) if movable else []
        fates: tuple[Fate, ...] = ("mempool", "gone")
        fate = data.draw(st.sampled_from(fates))
        blocks = data.draw(st.none() | st.integers(depth + 1, depth + 3))
        before = {*ids_of(self.net.pins()), *ids_of(self.net.waiting())}
        done = self.net.reorg(depth, blocks=blocks, order=order, shift=shift, drop=drop, fate=fate)
        after = {*ids_of(self.net.pins()), *ids_of(self.net.waiting())}
        lost = before - after
        assert {pin[:64] for pin in lost} <= set(done.gone)
        assert bool(lost) == (fate == "gone" and bool(drop))
        assert done.fork == fork
        assert (len(done.old), len(done.new)) == (depth, self.net.height - fork)
        assert not set(done.old) & set(done.new)
        self.pins = [pin for pin in self.pins if pin not in lost]

    @rule()
    def restart(self) -> None:
        self.stack.close()
        self.open()

    @rule()
    def rescan(self) -> None:
        self.net.rescan()

    @invariant()
    @precondition(lambda self: hasattr(self, "net"))
    def coins_are_what_a_replay_of_the_blocks_gives(self) -> None:
        with self.net.transaction() as connection:
            assert chain.coins(connection) == replayed(self.net)

    @invariant()
    @precondition(lambda self: hasattr(self, "net"))
    def nothing_is_lost_and_nothing_stands_twice(self) -> None:
        found = ids_of(self.net.pins()) + ids_of(self.net.waiting())
        assert sorted(found) == sorted(self.pins)

    @invariant()
    @precondition(lambda self: hasattr(self, "net"))
    def the_indexer_lists_every_pin_in_the_order_of_the_chain(self) -> None:
        for path in (NOTE, LOG):
            check_rows(self.client, path)

    @invariant()
    @precondition(lambda self: hasattr(self, "net"))
    def a_real_indexer_has_the_same_pins_in_its_own_order(self) -> None:
        self.net.quirks("man-p2p", ignores_reorgs=False, stale_keys=0)
        rows = self.client.rows(NOTE, size=3)
        heights = {row["id"]: row["genesisHeight"] for row in rows}
        assert len(rows) == len(heights), "no key is left of a block that is gone"
        self.net.quirks("clean")
        truth = {pin.id: pin.height for pin in self.net.pins(NOTE)}
        assert heights == truth | dict.fromkeys(ids_of(self.net.waiting(NOTE)), -1)

    @invariant()
    @precondition(lambda self: hasattr(self, "net"))
    def all_that_waits_can_be_mined(self) -> None:
        with self.net.transaction() as connection:
            waiting = chain.described(connection, TXS.c.height.is_(None))
        ids = [tx.txid for tx in waiting]
        assert self.net.count_waiting() == len(ids)
        for position, tx in enumerate(waiting):
            assert not tx.parents & set(ids[position:]), "parents came first"


def check_rows(client: Client, path: str) -> None:
    truth = client.net.pins(path)
    rows = client.rows(path, size=5)
    assert [row["id"] for row in rows] == ids_of(truth)
    for row, pin in zip(rows, truth, strict=True):
        assert (row["genesisHeight"], row["txIndex"]) == (pin.height, pin.pin.tx_index)
        assert (row["timestamp"], row["globalMetaId"]) == (pin.time, pin.author)
        assert row["contentLength"] == len(pin.body)
        assert row["contentSummary"].encode() == pin.body
    assert client.page(path)["total"] == len(truth)


TestActs = Acts.TestCase
TestActs.settings = settings(
    max_examples=max(12, settings().max_examples // 10), stateful_step_count=20, deadline=None
)
