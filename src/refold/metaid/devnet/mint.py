"""Making blocks: coinbase, header, hash. No work is done for them, and nobody checks any."""

from typing import Final

import msgspec

from refold.metaid.block import merkle_root
from refold.metaid.devnet.mempool import Accepted
from refold.metaid.devnet.rules import NULL_OUTPOINT
from refold.metaid.script import push
from refold.metaid.tx import MVC_VERSION, Input, Output, Tx, serialize_tx, txid_of
from refold.metaid.wire import double_sha256

ENDOWMENT: Final = 1_000_000 * 100_000_000
"""Satoshi that the first block brings for the faucet; its coins outlive every reorganisation."""
SUBSIDY: Final = 50 * 100_000_000
"""Satoshi that every later block brings, besides the fees. All of it is worthless."""
NO_BLOCK: Final = "00" * 32
"""The hash that the first block names as the one before it."""

_BLOCK_VERSION = 0x20000000
_EASIEST_TARGET = 0x207FFFFF


class BlockInfo(msgspec.Struct, frozen=True, rename="camel"):
    """A block: height, hash (hex as shown), Unix seconds, transactions with the coinbase."""

    height: int
    hash: str
    time: int
    txs: int


class Moment(msgspec.Struct, frozen=True):
    """Where the chain stands: height, hash and time of its last block, what has come since.

    `arrival` is the number of the last transaction of all, `since` how many came after the block.
    """

    height: int
    hash: str
    time: int
    arrival: int
    since: int


class Miner(msgspec.Struct, frozen=True):
    """Whom the coinbases pay (a script), and what tells apart blocks of one height."""

    pays: bytes
    branch: str


class NewBlock(msgspec.Struct, frozen=True):
    """A block to be written, with its header and coinbase."""

    info: BlockInfo
    header: bytes
    coinbase: Accepted

    @property
    def after(self) -> Moment:
        """Where the chain stands with this block on it."""
        return Moment(
            self.info.height, self.info.hash, self.info.time, self.coinbase.arrival, since=0
        )


def before_all(height: int, time: int) -> Moment:
    """Give what the first block, of this height and time, stands on."""
    return Moment(height - 1, NO_BLOCK, time, 0, 0)


def new_block(on: Moment, time: int, txids: list[str], fees: int, miner: Miner) -> NewBlock:
    """Make the block that puts these transactions on a chain; their fees go to the miner."""
    height = on.height + 1
    reward = fees + (ENDOWMENT if on.hash == NO_BLOCK else SUBSIDY)
    coinbase = _coinbase(height, Output(reward, miner.pays), miner.branch, on.arrival + 1)
    header = _header(on.hash, merkle_root([coinbase.txid, *txids]), time)
    name = double_sha256(header)[::-1].hex()
    return NewBlock(BlockInfo(height, name, time, 1 + len(txids)), header, coinbase)


def _coinbase(height: int, output: Output, branch: str, arrival: int) -> Accepted:
    script = push(height.to_bytes(4, "little")) + push(f"refold devnet {branch}".encode())
    tx = Tx(MVC_VERSION, (Input(NULL_OUTPOINT, script),), (output,))
    return Accepted(txid_of(tx), tx, serialize_tx(tx), 0, arrival, ())


def _header(previous: str, root: str, time: int) -> bytes:
    return b"".join(
        (
            _BLOCK_VERSION.to_bytes(4, "little"),
            bytes.fromhex(previous)[::-1],
            bytes.fromhex(root)[::-1],
            time.to_bytes(4, "little"),
            _EASIEST_TARGET.to_bytes(4, "little"),
            bytes(4),  # the nonce
        )
    )
