"""Blocks: every transaction, the pins in their order, and what the header commits to."""

import hashlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import AUTHOR, RAW_TXS, REV, TX_VECTORS, coin, txs
from refold.kernel.errors import InputError
from refold.metaid.block import (
    Block,
    merkle_root,
    parse_block,
    pins_of_block,
    verify_merkle_root,
)
from refold.metaid.envelope import TEST_FLAG
from refold.metaid.tx import Tx, parse_tx, serialize_tx, txid_of
from refold.metaid.wallet import build_pin_tx
from refold.metaid.wire import compact_size

TXS = [parse_tx(raw) for raw in RAW_TXS.values()]
PREVIOUS = bytes(range(32))


def twice(data: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(data).digest()).digest()


def slow_root(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    padded = leaves + leaves[-1:] * (len(leaves) % 2)
    return slow_root([twice(padded[i] + padded[i + 1]) for i in range(0, len(padded), 2)])


def raw_block(block_txs: list[Tx], time: int = 1_790_000_000) -> bytes:
    root = (
        slow_root([bytes.fromhex(txid_of(tx))[::-1] for tx in block_txs])
        if block_txs
        else b"r" * 32
    )
    header = b"\x01\x00\x00\x20" + PREVIOUS + root + time.to_bytes(4, "little") + bytes(8)
    return header + compact_size(len(block_txs)) + b"".join(map(serialize_tx, block_txs))


def test_a_block_gives_its_header_and_transactions() -> None:
    raw = raw_block(TXS)
    block = parse_block(raw)
    assert block.txs == tuple(TXS)
    assert block.hash == twice(raw[:80])[::-1].hex()
    assert (block.previous, block.time) == (PREVIOUS[::-1].hex(), 1_790_000_000)
    verify_merkle_root(block)


@given(st.lists(txs, min_size=1, max_size=9), st.integers(0, 2**32 - 1))
def test_any_block_comes_back_the_same(block_txs: list[Tx], time: int) -> None:
    block = parse_block(raw_block(block_txs, time))
    assert (block.txs, block.time) == (tuple(block_txs), time)
    txids = [txid_of(tx) for tx in block_txs]
    assert bytes.fromhex(merkle_root(txids))[::-1] == slow_root(
        [bytes.fromhex(txid)[::-1] for txid in txids]
    )
    if len(set(txids)) == len(txids):
        verify_merkle_root(block)


def test_pins_come_in_the_order_of_the_chain() -> None:
    built = build_pin_tx(AUTHOR, REV, [coin(AUTHOR)])
    plain = parse_tx(RAW_TXS["txid-document"])
    block = parse_block(raw_block([plain, *TXS[:4], plain, built.tx]))
    pins = pins_of_block(block)
    assert [pin.tx_index for pin in pins] == [1, 2, 3, 4, 6]
    assert [pin.id for pin in pins] == [v["pinId"] for v in TX_VECTORS] + [built.pin.id]
    assert pins_of_block(block, flag=TEST_FLAG) == []
    assert pins[-1] == msgspec.structs.replace(built.pin, tx_index=6)


def code_of(block: Block) -> str:
    with pytest.raises(InputError) as caught:
        verify_merkle_root(block)
    return caught.value.code


def test_other_transactions_than_the_header_says_are_found() -> None:
    block = parse_block(raw_block(TXS))
    less = msgspec.structs.replace(block, txs=block.txs[:-1])
    turned = msgspec.structs.replace(block, txs=block.txs[::-1])
    assert code_of(less) == code_of(turned) == "merkle-root"
    # Three transactions and four with the last one twice have the same root.
    three = parse_block(raw_block(TXS[:3]))
    four = msgspec.structs.replace(three, txs=(*three.txs, three.txs[-1]))
    assert merkle_root([txid_of(tx) for tx in four.txs]) == four.merkle_root
    assert code_of(four) == "tx-twice"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (raw_block([]), "block-empty"),
        (raw_block(TXS) + b"\x00", "bytes-left"),
        (raw_block(TXS)[:80], "bytes-cut"),
        (raw_block(TXS)[:79], "bytes-cut"),
        (raw_block(TXS)[:80] + b"\xff" * 9, "bytes-cut"),
        (raw_block(TXS)[:80] + b"\xfd\x07\x00" + raw_block(TXS)[81:], "size-not-minimal"),
    ],
)
def test_every_fault_has_its_code(raw: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_block(raw)
    assert caught.value.code == code


@given(st.data())
def test_every_cut_is_refused(data: st.DataObject) -> None:
    raw = raw_block(TXS[:2])
    with pytest.raises(InputError):
        parse_block(raw[: data.draw(st.integers(0, len(raw) - 1))])
