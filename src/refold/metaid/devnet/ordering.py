"""The order of transactions inside a block: any order in which parents come before children."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from heapq import heapify, heappop, heappush
from typing import Final, Literal, get_args

import msgspec

Order = Literal["arrival", "reversed", "fee", "txid", "shuffled"]
"""As they came; the last first; the best fee rate first; by id; by lot (the seed decides)."""
ORDERS: Final[tuple[Order, ...]] = get_args(Order)


class Waiting(msgspec.Struct, frozen=True):
    """A transaction to be put in order; `parents` are the ids that it spends from."""

    txid: str
    arrival: int
    fee: int
    size: int
    parents: frozenset[str] = frozenset()


Rank = tuple[float, str]

_RANKS: dict[Order, Callable[[Waiting, str], Rank]] = {
    "arrival": lambda tx, _: (tx.arrival, tx.txid),
    "reversed": lambda tx, _: (-tx.arrival, tx.txid),
    "fee": lambda tx, _: (-tx.fee / tx.size, tx.txid),
    "txid": lambda tx, _: (0, tx.txid),
    "shuffled": lambda tx, seed: (0, sha256(f"{seed} {tx.txid}".encode()).hexdigest()),
}


def arranged(txs: Sequence[Waiting], order: Order, seed: str = "") -> list[str]:
    """Give the ids in an order; parents that are among `txs` always stand before their children.

    The best of those whose parents are placed comes next, so `fee` is a miner's greedy choice.
    """
    rank = _RANKS[order]
    by_id = {tx.txid: tx for tx in txs}
    missing = {tx.txid: len(tx.parents & by_id.keys()) for tx in txs}
    children = _children(by_id)
    ready = [(rank(tx, seed), tx.txid) for tx in txs if not missing[tx.txid]]
    heapify(ready)
    placed = []
    while ready:
        _, txid = heappop(ready)
        placed.append(txid)
        for child in children.get(txid, ()):
            missing[child] -= 1
            if not missing[child]:
                heappush(ready, (rank(by_id[child], seed), child))
    return placed


def _children(by_id: Mapping[str, Waiting]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for tx in by_id.values():
        for parent in tx.parents & by_id.keys():
            children.setdefault(parent, []).append(tx.txid)
    return children
