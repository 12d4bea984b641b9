"""The chain: blocks mined one after the other, the coins at its tip, raw bytes for readers."""

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update

from refold.metaid.devnet import mempool
from refold.metaid.devnet.mint import BlockInfo, Miner, Moment, NewBlock, new_block
from refold.metaid.devnet.ordering import Order, Waiting, arranged
from refold.metaid.devnet.tables import BLOCKS, OUTPUTS, TXS
from refold.metaid.tx import Outpoint, Output
from refold.metaid.wire import compact_size

_TIP = (
    select(
        BLOCKS.c.height,
        BLOCKS.c.hash,
        BLOCKS.c.time,
        select(func.count())
        .where(TXS.c.height == BLOCKS.c.height)
        .correlate(BLOCKS)
        .scalar_subquery()
        .label("txs"),
    )
    .order_by(BLOCKS.c.height.desc())
    .limit(1)
)
_NOW = (
    select(
        BLOCKS.c.height,
        BLOCKS.c.hash,
        BLOCKS.c.time,
        select(TXS.c.arrival)
        .where(TXS.c.height == BLOCKS.c.height, TXS.c.position == 0)
        .correlate(BLOCKS)
        .scalar_subquery()
        .label("arrival"),
        select(func.max(TXS.c.arrival)).scalar_subquery().label("last"),
    )
    .order_by(BLOCKS.c.height.desc())
    .limit(1)
)
_PLACE = (
    update(TXS)
    .where(TXS.c.txid == bindparam("id"))
    .values(height=bindparam("at_height"), position=bindparam("at_position"))
)
_OUTPUT = select(OUTPUTS.c.value, OUTPUTS.c.script).where(
    OUTPUTS.c.txid == bindparam("id"), OUTPUTS.c.index == bindparam("at")
)
_FEES = select(func.coalesce(func.sum(TXS.c.fee), 0)).where(TXS.c.height == bindparam("at"))
_ADD_BLOCKS = insert(BLOCKS)


def tip(connection: Connection) -> BlockInfo:
    """Give the last block."""
    row = connection.execute(_TIP).one()
    return BlockInfo(row.height, row.hash, row.time, row.txs)


def moment(connection: Connection) -> Moment:
    """Give where the chain stands."""
    row = connection.execute(_NOW).one()
    return Moment(row.height, row.hash, row.time, row.last, row.last - row.arrival)


def time_at(connection: Connection, height: int) -> int:
    """Give the time of a block of the chain."""
    return int(
        connection.execute(select(BLOCKS.c.time).where(BLOCKS.c.height == height)).scalar_one()
    )


def base_height(connection: Connection) -> int:
    """Give the height of the first block."""
    return int(connection.execute(select(func.min(BLOCKS.c.height))).scalar_one())


def connect(
    connection: Connection, on: Moment, time: int, txids: list[str], miner: Miner
) -> BlockInfo:
    """Put waiting transactions, parents first, into a new block on the tip, which `on` tells."""
    height, fees = on.height + 1, 0
    if txids:
        rows = [
            {"id": txid, "at_height": height, "at_position": position}
            for position, txid in enumerate(txids, start=1)
        ]
        connection.execute(_PLACE, rows)
        fees = connection.execute(_FEES, {"at": height}).scalar_one()
    block = new_block(on, time, txids, fees, miner)
    _write(connection, [block])
    return block.info


def connect_empty(
    connection: Connection, on: Moment, times: Iterable[int], miner: Miner
) -> BlockInfo:
    """Put blocks with nothing but a coinbase on the tip, one for each time; give the last."""
    blocks: list[NewBlock] = []
    for time in times:
        blocks.append(new_block(on, time, [], 0, miner))
        on = blocks[-1].after
    _write(connection, blocks)
    return blocks[-1].info


def _write(connection: Connection, blocks: Sequence[NewBlock]) -> None:
    rows = [
        {
            "height": block.info.height,
            "hash": block.info.hash,
            "time": block.info.time,
            "header": block.header,
        }
        for block in blocks
    ]
    connection.execute(_ADD_BLOCKS, rows)
    heights = [block.info.height for block in blocks]
    coinbases = [(block.coinbase, block.info.time) for block in blocks]
    mempool.write(connection, coinbases, heights=heights)


def chosen(connection: Connection, order: Order, seed: str, limit: int | None) -> list[str]:
    """Choose from the mempool what comes into the next block, in its order; `limit` counts."""
    if order == "arrival":
        return mempool.waiting(connection)[:limit]
    return arranged(described(connection, TXS.c.height.is_(None)), order, seed)[:limit]


def described(connection: Connection, which: ColumnElement[bool]) -> list[Waiting]:
    """Give the transactions that a condition chooses, with their parents, as they came."""
    rows = connection.execute(
        select(TXS.c.txid, TXS.c.arrival, TXS.c.fee, TXS.c.size, OUTPUTS.c.txid.label("parent"))
        .outerjoin(OUTPUTS, OUTPUTS.c.spent_by == TXS.c.txid)
        .where(which)
        .order_by(TXS.c.arrival)
    )
    found: dict[str, tuple[int, int, int, set[str]]] = {}
    for txid, arrival, fee, size, parent in rows:
        parents = found.setdefault(txid, (arrival, fee, size, set()))[3]
        if parent is not None:
            parents.add(parent)
    return [
        Waiting(txid, arrival, fee, size, frozenset(parents))
        for txid, (arrival, fee, size, parents) in found.items()
    ]


def txids_at(connection: Connection, height: int) -> list[str]:
    """Give the txids of a block in its order, the coinbase first."""
    return list(
        connection.scalars(
            select(TXS.c.txid).where(TXS.c.height == height).order_by(TXS.c.position)
        )
    )


def raw_tx(connection: Connection, txid: str) -> bytes | None:
    """Give the bytes of a transaction in a block or in the mempool, None for none."""
    raw: bytes | None = connection.scalar(select(TXS.c.raw).where(TXS.c.txid == txid))
    return raw


def height_of_tx(connection: Connection, txid: str) -> int | None:
    """Give the height of a transaction's block, None in the mempool and nowhere."""
    height: int | None = connection.scalar(select(TXS.c.height).where(TXS.c.txid == txid))
    return height


def raw_block(connection: Connection, height: int) -> bytes | None:
    """Give the bytes of a block, None above the tip and below the first block."""
    header: bytes | None = connection.scalar(
        select(BLOCKS.c.header).where(BLOCKS.c.height == height)
    )
    if header is None:
        return None
    raws = select(TXS.c.raw).where(TXS.c.height == height).order_by(TXS.c.position)
    txs = list(connection.scalars(raws))
    return header + compact_size(len(txs)) + b"".join(txs)


def coins(connection: Connection) -> dict[Outpoint, Output]:
    """Give the unspent outputs at the tip, whatever the mempool spends."""
    spender = TXS.alias("spender")
    rows = connection.execute(
        select(OUTPUTS.c.txid, OUTPUTS.c.index, OUTPUTS.c.value, OUTPUTS.c.script)
        .join(TXS, TXS.c.txid == OUTPUTS.c.txid)
        .outerjoin(spender, spender.c.txid == OUTPUTS.c.spent_by)
        .where(TXS.c.height.is_not(None), spender.c.height.is_(None))
    )
    return {Outpoint(txid, index): Output(value, script) for txid, index, value, script in rows}


def output_at(connection: Connection, outpoint: Outpoint) -> Output | None:
    """Give an output that can or could be spent, None for any other."""
    row = connection.execute(_OUTPUT, {"id": outpoint.txid, "at": outpoint.index}).first()
    return None if row is None else Output(row.value, row.script)
