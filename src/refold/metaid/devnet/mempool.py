"""Transactions on their way into a block: taken in, found, forgotten."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from refold.metaid.devnet import rules
from refold.metaid.devnet.tables import OUTPUTS, TXS
from refold.metaid.tx import Outpoint, Output, Tx, txid_of
from refold.metaid.wallet import Utxo

_KNOWN = select(TXS.c.txid).where(TXS.c.txid == bindparam("id"))
_SPENT = (
    select(OUTPUTS.c.value, OUTPUTS.c.script, OUTPUTS.c.spent_by, TXS.c.height, TXS.c.depth)
    .join(TXS, TXS.c.txid == OUTPUTS.c.txid)
    .where(OUTPUTS.c.txid == bindparam("id"), OUTPUTS.c.index == bindparam("at"))
)
_ADD_TX = insert(TXS)
_ADD_OUTPUTS = insert(OUTPUTS)
_SPEND = (
    update(OUTPUTS)
    .where(OUTPUTS.c.txid == bindparam("id"), OUTPUTS.c.index == bindparam("at"))
    .values(spent_by=bindparam("by"))
)
_WAITING = select(TXS.c.txid).where(TXS.c.height.is_(None)).order_by(TXS.c.arrival)

_COUNT_WAITING = select(func.count()).where(TXS.c.height.is_(None))
_BATCH = 10_000  # SQLite takes 32,766 values a statement


class Accepted(msgspec.Struct, frozen=True):
    """A transaction that the node took, with the outputs that it spends, in their order.

    `arrival` is its number among all that ever came.
    """

    txid: str
    tx: Tx
    raw: bytes
    fee: int
    arrival: int
    spent: tuple[Output, ...]


def accept(
    connection: Connection, raw: bytes, *, height: int, time: int, arrival: int, max_depth: int
) -> Accepted:
    """Take a transaction that may stand in the block of `height` and `time`, as the `arrival`-th.

    Raises `InputError` with a code of `rules.REJECTIONS`; nothing is written then.
    """
    tx = rules.read_raw(raw)
    txid = txid_of(tx)
    if connection.execute(_KNOWN, {"id": txid}).first() is not None:
        raise rules.rejected("txn-already-known")
    rules.check_final(tx, height, time)
    spent, depth = _spent(connection, tx)
    if depth > max_depth:
        raise rules.rejected("too-long-mempool-chain", f"the limit is {max_depth}")
    fee = rules.check_spends(tx, spent)
    accepted = Accepted(txid, tx, raw, fee, arrival, spent)
    add(connection, accepted, seen=time, depth=depth)
    return accepted


def _spent(connection: Connection, tx: Tx) -> tuple[tuple[Output, ...], int]:
    """Give the outputs that are spent, and the depth under unconfirmed transactions."""
    spent, depth = [], 0
    for part in tx.inputs:
        at = {"id": part.spends.txid, "at": part.spends.index}
        row = connection.execute(_SPENT, at).first()
        if row is None:
            raise rules.rejected("missing-inputs", str(part.spends))
        if row.spent_by is not None:
            raise rules.rejected("txn-mempool-conflict", f"{part.spends} by {row.spent_by}")
        spent.append(Output(row.value, row.script))
        if row.height is None:
            depth = max(depth, row.depth + 1)
    return tuple(spent), depth


def add(connection: Connection, accepted: Accepted, *, seen: int, depth: int) -> None:
    """Write a checked transaction down, and what it spends."""
    write(connection, [(accepted, seen)], depth=depth)
    spends = [
        {"id": part.spends.txid, "at": part.spends.index, "by": accepted.txid}
        for part in accepted.tx.inputs
    ]
    connection.execute(_SPEND, spends)


def write(
    connection: Connection,
    txs: Sequence[tuple[Accepted, int]],
    *,
    depth: int = 0,
    heights: Sequence[int] | None = None,
) -> None:
    """Write transactions down with the times they came; `heights` are the blocks of coinbases."""
    rows = [
        {
            "txid": tx.txid,
            "arrival": tx.arrival,
            "seen": seen,
            "fee": tx.fee,
            "size": len(tx.raw),
            "depth": depth,
            "height": None if heights is None else heights[number],
            "position": None if heights is None else 0,
            "raw": tx.raw,
        }
        for number, (tx, seen) in enumerate(txs)
    ]
    connection.execute(_ADD_TX, rows)
    outputs = [
        {
            "txid": coin.outpoint.txid,
            "index": coin.outpoint.index,
            "value": coin.output.value,
            "script": coin.output.script,
        }
        for tx, _ in txs
        for coin in coins_of(tx.txid, tx.tx)
    ]
    if outputs:
        connection.execute(_ADD_OUTPUTS, outputs)


def coins_of(txid: str, tx: Tx) -> list[Utxo]:
    """Give the outputs that can be spent."""
    return [
        Utxo(Outpoint(txid, index), output)
        for index, output in enumerate(tx.outputs)
        if not rules.carries_data(output.script)
    ]


def waiting(connection: Connection) -> list[str]:
    """Give the txids in the mempool, in the order they came: parents before children."""
    return list(connection.scalars(_WAITING))


def count_waiting(connection: Connection) -> int:
    """Give how many transactions are in the mempool."""
    return connection.execute(_COUNT_WAITING).scalar_one()


def with_descendants(connection: Connection, txids: Iterable[str]) -> list[str]:
    """Give transactions and all that spend from them, in the order they came."""
    arrivals: dict[str, int] = {}
    new = set(txids)
    while new:
        found = set[str]()
        for some in _batches(sorted(new)):
            known = select(TXS.c.txid, TXS.c.arrival).where(TXS.c.txid.in_(some))
            arrivals.update((row.txid, row.arrival) for row in connection.execute(known))
            spenders = select(OUTPUTS.c.spent_by).where(
                OUTPUTS.c.txid.in_(some), OUTPUTS.c.spent_by.is_not(None)
            )
            found.update(connection.scalars(spenders))
        new = found - arrivals.keys()
    return sorted(arrivals, key=arrivals.__getitem__)


def forget(connection: Connection, txids: Sequence[str]) -> None:
    """Drop transactions as if they had never come; all their descendants must be among them."""
    for some in _batches(txids):
        unspend = update(OUTPUTS).where(OUTPUTS.c.spent_by.in_(some)).values(spent_by=None)
        connection.execute(unspend)
        connection.execute(delete(OUTPUTS).where(OUTPUTS.c.txid.in_(some)))
        connection.execute(delete(TXS).where(TXS.c.txid.in_(some)))


def _batches(txids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut a list into pieces that one statement can take."""
    for start in range(0, len(txids), _BATCH):
        yield txids[start : start + _BATCH]


def measure_depths(connection: Connection) -> None:
    """Count anew how deep each transaction of the mempool stands, after blocks took some away."""
    depths: dict[str, int] = {}
    parent = TXS.alias("parent")
    links = connection.execute(
        select(TXS.c.txid, parent.c.txid.label("parent"))
        .select_from(TXS)
        .outerjoin(OUTPUTS, OUTPUTS.c.spent_by == TXS.c.txid)
        .outerjoin(parent, (parent.c.txid == OUTPUTS.c.txid) & parent.c.height.is_(None))
        .where(TXS.c.height.is_(None))
        .order_by(TXS.c.arrival)
    )
    for txid, above in links:
        depth = depths[above] + 1 if above is not None else 0
        depths[txid] = max(depths.get(txid, 0), depth)
    rows = [{"id": txid, "new": depth} for txid, depth in depths.items()]
    if rows:
        change = update(TXS).where(TXS.c.txid == bindparam("id")).values(depth=bindparam("new"))
        connection.execute(change, rows)
