"""Reorganisations: the last blocks give way to a longer branch that says something else."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from sqlalchemy import Connection, delete, select, update

from refold.kernel.errors import UsageError
from refold.metaid.devnet import chain, mempool
from refold.metaid.devnet.mint import Miner
from refold.metaid.devnet.ordering import Order, arranged
from refold.metaid.devnet.tables import BLOCKS, TXS

Fate = Literal["mempool", "gone"]
"""What becomes of dropped transactions: they wait again, or they never were (a double spend)."""


class Plan(msgspec.Struct, frozen=True):
    """What a reorganisation shall do.

    `depth` blocks give way to `blocks` new ones (None for one more than went). `order` of the
    transactions in each, None for as it was. `drop`: txids or pin ids that the new branch lacks,
    with all that spend from them; `fate` says where they go. `shift`: by how many blocks the
    others move, negative for earlier; they stay in the branch.
    """

    depth: int
    blocks: int | None = None
    order: Order | None = None
    drop: tuple[str, ...] = ()
    fate: Fate = "mempool"
    shift: int = 0


class Reorganised(msgspec.Struct, frozen=True, rename="camel"):
    """What happened: the last height that stayed, hashes that went and came, txids that left.

    `returned` wait in the mempool again, `gone` are nowhere.
    """

    fork: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    returned: tuple[str, ...]
    gone: tuple[str, ...]


def reorganise(
    connection: Connection, plan: Plan, times: Sequence[int], miner: Miner
) -> Reorganised:
    """Carry out a plan; `times` are those of the new blocks.

    Raises `UsageError`: `reorg-depth`, `reorg-length`, `reorg-drop`.
    """
    check(connection, plan)
    top = chain.tip(connection).height
    fork = top - plan.depth
    groups = {height: chain.txids_at(connection, height) for height in range(fork + 1, top + 1)}
    coinbases = [txids[0] for txids in groups.values()]
    went = {txid for txids in groups.values() for txid in txids[1:]}
    dropped = mempool.with_descendants(connection, _named(plan.drop, went))
    old = _disconnect(connection, fork)
    doomed = [*coinbases, *dropped] if plan.fate == "gone" else coinbases
    lost = mempool.with_descendants(connection, doomed)
    mempool.forget(connection, lost)
    out = {*lost, *dropped}
    kept = {h: [txid for txid in txids[1:] if txid not in out] for h, txids in groups.items()}
    layout = _layout(kept, fork, len(times), plan.shift)
    new = []
    for txids, time in zip(layout.values(), times, strict=True):
        ordered = _ordered(connection, txids, plan.order, miner.branch)
        on = chain.moment(connection)
        new.append(chain.connect(connection, on, time, ordered, miner).hash)
    mempool.measure_depths(connection)
    gone = tuple(txid for txid in lost if txid not in coinbases)
    returned = tuple(txid for txid in dropped if txid in went and txid not in gone)
    return Reorganised(fork, old, tuple(new), returned, gone)


def length_of(plan: Plan) -> int:
    """Give how many blocks the new branch has."""
    return plan.depth + 1 if plan.blocks is None else plan.blocks


def check(connection: Connection, plan: Plan) -> None:
    """Refuse a plan that no chain could follow; `UsageError` `reorg-depth`, `reorg-length`."""
    most = chain.tip(connection).height - chain.base_height(connection)
    if not 1 <= plan.depth <= most:
        raise UsageError(
            "reorg-depth",
            f"a depth of {plan.depth}, and {most} blocks stand on the first one",
            "give 1 or more, and mine first",
        )
    if length_of(plan) <= plan.depth:
        raise UsageError(
            "reorg-length",
            f"{length_of(plan)} new blocks for {plan.depth} old ones: nodes keep the longer chain",
            f"give {plan.depth + 1} or more",
        )


def _named(names: Iterable[str], went: Container[str]) -> set[str]:
    """Give the txids behind names, all of them in blocks that give way; `UsageError`."""
    txids = {name.partition("i")[0] for name in names}
    strange = sorted(txid for txid in txids if txid not in went)
    if strange:
        raise UsageError(
            "reorg-drop",
            f"{strange[0]} is in none of the blocks that give way",
            "name pins or transactions of these blocks",
        )
    return txids


def _disconnect(connection: Connection, fork: int) -> tuple[str, ...]:
    """Take the blocks above `fork` off; their transactions wait, the coinbases too."""
    above = BLOCKS.c.height > fork
    hashes = connection.scalars(select(BLOCKS.c.hash).where(above).order_by(BLOCKS.c.height))
    old = tuple(hashes)
    connection.execute(update(TXS).where(TXS.c.height > fork).values(height=None, position=None))
    connection.execute(delete(BLOCKS).where(above))
    return old


def _layout(
    kept: Mapping[int, list[str]], fork: int, length: int, shift: int
) -> dict[int, list[str]]:
    """Give the transactions of each new height; who came before another still does."""
    layout: dict[int, list[str]] = {height: [] for height in range(fork + 1, fork + 1 + length)}
    for height, txids in kept.items():
        layout[min(max(height + shift, fork + 1), fork + length)] += txids
    return layout


def _ordered(
    connection: Connection, txids: list[str], order: Order | None, branch: str
) -> list[str]:
    if order is None or not txids:
        return txids
    chosen = set(txids)
    everyone = chain.described(connection, TXS.c.height.is_(None))
    return arranged([tx for tx in everyone if tx.txid in chosen], order, branch)
