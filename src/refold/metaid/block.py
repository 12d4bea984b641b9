"""Blocks of MVC: header, transactions, and the pins in the order of the chain."""

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.chainpin import ChainPin, pin_of_tx
from refold.metaid.envelope import FLAG
from refold.metaid.tx import Tx, read_tx, txid_of
from refold.metaid.wire import Reader, double_sha256

_HEADER_BYTES = 80
_LEAST_TX_BYTES = 4 + (1 + 41) + (1 + 9) + 4


class Block(msgspec.Struct, frozen=True):
    """A block: its hash, the one before it, and the Merkle root (hex as shown), Unix seconds."""

    hash: str
    previous: str
    merkle_root: str
    time: int
    txs: tuple[Tx, ...]


def parse_block(raw: bytes) -> Block:
    """Read a raw block, every byte of it.

    Raises `InputError` as `refold.metaid.tx.parse_tx` does, and `block-empty`. Neither the work nor
    the Merkle root (`verify_merkle_root`) is checked.
    """
    reader = Reader(raw)
    # version, previous block, Merkle root, time, target, nonce
    header = reader.take(_HEADER_BYTES)
    count = reader.count(_LEAST_TX_BYTES)
    if count == 0:
        raise InputError("block-empty", "the block has no transaction", "fetch it again")
    txs = tuple(read_tx(reader) for _ in range(count))
    reader.end()
    return Block(
        hash=double_sha256(header)[::-1].hex(),
        previous=header[4:36][::-1].hex(),
        merkle_root=header[36:68][::-1].hex(),
        time=int.from_bytes(header[68:72], "little"),
        txs=txs,
    )


def verify_merkle_root(block: Block) -> None:
    """Return if the header commits to exactly these transactions, by MVC's ids.

    Raises `InputError` `merkle-root`, `tx-twice`: a list with its end repeated has the same root.
    """
    txids = [txid_of(tx) for tx in block.txs]
    if len(set(txids)) < len(txids):
        raise InputError("tx-twice", "the block holds a transaction twice", "fetch it again")
    if merkle_root(txids) != block.merkle_root:
        raise InputError(
            "merkle-root", "the header commits to other transactions", "fetch the block again"
        )


def merkle_root(txids: list[str]) -> str:
    """Give the Merkle root of at least one txid (hex as shown); an odd one pairs with itself."""
    level = [bytes.fromhex(txid)[::-1] for txid in txids]
    while len(level) > 1:
        if len(level) % 2:
            level.append(level[-1])
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [double_sha256(left + right) for left, right in pairs]
    return level[0][::-1].hex()


def pins_of_block(block: Block, *, flag: bytes = FLAG) -> list[ChainPin]:
    """Give the pins of a block in the order of its transactions; `tx_index` is their place.

    Pins that the indexers drop are among them (`refold.metaid.envelope.unlisted_because`).
    """
    pins = (pin_of_tx(tx, tx_index=index, flag=flag) for index, tx in enumerate(block.txs))
    return [pin for pin in pins if pin is not None]
