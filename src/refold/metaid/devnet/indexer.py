"""The indexer's writing side: it reads the mempool and the blocks, and lists what it finds.

It goes along with every change of the chain, inside the same transaction, unless a quirk holds it
back: then it stays behind, jumps over blocks, or never learns that a block was replaced.
"""

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from refold.metaid.chainpin import ChainPin, pin_of_tx
from refold.metaid.devnet import chain
from refold.metaid.devnet.mempool import Accepted
from refold.metaid.devnet.quirks import Quirks
from refold.metaid.devnet.record import Record, encode_record, record_of
from refold.metaid.devnet.store import get_meta, put_meta
from refold.metaid.devnet.tables import BLOCKS, LISTING, PINS, TXS
from refold.metaid.envelope import unlisted_because
from refold.metaid.globalmetaid import metaid_of
from refold.metaid.tx import parse_tx

FAR_FUTURE = 4_096_715_623
"""The time that some indexers give to unconfirmed pins (facts: metaid §3.4)."""
UNMINED = "9999999999"
"""What places in the mempool begin with: a height that no chain reaches, so they sort last."""

_MEMPOOL = -1
_ADD_PIN = insert(PINS)
_ADD_KEYS = upsert(LISTING).on_conflict_do_nothing()
_PLACE = (
    update(PINS)
    .where(PINS.c.txid == TXS.c.txid, TXS.c.height == bindparam("at"))
    .values(
        height=TXS.c.height,
        place=func.printf("%010d&%010d", TXS.c.height, TXS.c.position),
        time=bindparam("then"),
    )
)
_FULL = (
    select(BLOCKS.c.height, BLOCKS.c.time)
    .join(TXS, (TXS.c.height == BLOCKS.c.height) & (TXS.c.position == 1))
    .where(BLOCKS.c.height > bindparam("above"))
    .order_by(BLOCKS.c.height)
)
"""Blocks that hold more than a coinbase."""
_UNKNOWN = (
    select(TXS.c.txid, TXS.c.raw, TXS.c.position)
    .outerjoin(PINS, PINS.c.txid == TXS.c.txid)
    .where(TXS.c.height == bindparam("at"), TXS.c.position > 0, PINS.c.id.is_(None))
    .order_by(TXS.c.position)
)
_LISTED = select(PINS.c.id, PINS.c.path_hash, PINS.c.owner_metaid, PINS.c.seen).where(
    PINS.c.place.between(bindparam("first"), bindparam("last"))
)
_TARGET = select(PINS.c.operation, PINS.c.root).where(PINS.c.id == bindparam("target"))


def key_of(path_hash: str, time: int, height: int, pin_id: str) -> str:
    """Give an index key: path, time, chain, height, pin (facts: metaid §3.4)."""
    return f"{path_hash}&{time:010d}&mvc&{height:010d}&{pin_id}"


def height_of(connection: Connection) -> int:
    """Give the height of the last block that the indexer has read, or jumped over."""
    stored = get_meta(connection, "index_height")
    return int(stored or 0)


def saw(connection: Connection, accepted: Accepted, time: int, quirks: Quirks) -> None:
    """Read a transaction that came into the mempool."""
    if quirks.stuck or quirks.mempool_unseen:
        return
    pin = pin_of_tx(accepted.tx)
    if pin is None or unlisted_because(pin.envelope) is not None:
        return
    record = record_of(pin, accepted.spent)
    place = f"{UNMINED}&{accepted.arrival:010d}"
    _add(connection, record, height=_MEMPOOL, place=place, time=time, seen=time)


def follow(connection: Connection, top: int, quirks: Quirks) -> None:
    """Read the blocks that have come since, up to the tip at `top`, unless stuck."""
    if quirks.stuck:
        return
    last = height_of(connection)
    for height, time in connection.execute(_FULL, {"above": last}).all():
        if not quirks.skip_every or height % quirks.skip_every:
            _read_block(connection, height, time)
    put_meta(connection, "index_height", str(max(last, top)))


def _read_block(connection: Connection, height: int, time: int) -> None:
    connection.execute(_PLACE, {"at": height, "then": time})
    for row in connection.execute(_UNKNOWN, {"at": height}).all():
        pin = pin_of_tx(parse_tx(row.raw))
        if pin is None or unlisted_because(pin.envelope) is not None:
            continue
        record = _record(connection, pin, row.raw)
        place = _place(height, row.position)
        _add(connection, record, height=height, place=place, time=time, seen=0)
    keys = [
        _listed(row.path_hash, row.owner_metaid, row.seen or time, height, row.id)
        for row in connection.execute(_LISTED, {"first": _place(height, 0), "last": _place(height)})
    ]
    if keys:
        connection.execute(_ADD_KEYS, keys)


def _place(height: int, position: int = 9_999_999_999) -> str:
    """Give what `PINS.c.place` holds for a place in a block, by default the last there could be."""
    return f"{height:010d}&{position:010d}"


def _record(connection: Connection, pin: ChainPin, raw: bytes) -> Record:
    inputs = parse_tx(raw).inputs
    return record_of(pin, [chain.output_at(connection, part.spends) for part in inputs])


def _add(
    connection: Connection, record: Record, *, height: int, place: str, time: int, seen: int
) -> None:
    owner_metaid = metaid_of(record.owner)
    row = {
        "id": record.id,
        "txid": record.txid,
        "alias": record.alias,
        "path_hash": record.path_hash,
        "owner_metaid": owner_metaid,
        "operation": record.operation,
        "root": _root(connection, record),
        "height": height,
        "place": place,
        "time": time,
        "seen": seen,
        "record": encode_record(record),
    }
    connection.execute(_ADD_PIN, row)
    if height == _MEMPOOL:
        key = _listed(record.path_hash, owner_metaid, time, height, record.id)
        connection.execute(_ADD_KEYS, key)


def _root(connection: Connection, record: Record) -> str | None:
    """Give the pin that a modify or revoke is about: the target of its target if that is one too.

    A revoke of a modify is about the modify, as in the indexers.
    """
    if not record.target:
        return None
    target = connection.execute(_TARGET, {"target": record.target}).first()
    if target is not None and target.operation == record.operation and target.root is not None:
        return str(target.root)
    return record.target


def _listed(
    path_hash: str, owner_metaid: str, time: int, height: int, pin_id: str
) -> dict[str, object]:
    far = FAR_FUTURE if height == _MEMPOOL else time
    return {
        "key": key_of(path_hash, time, height, pin_id),
        "far_key": key_of(path_hash, far, height, pin_id),
        "path_hash": path_hash,
        "owner_metaid": owner_metaid,
        "height": height,
        "pin_id": pin_id,
    }


def follow_reorg(connection: Connection, fork: int, top: int, now: int, quirks: Quirks) -> None:
    """Go over to the branch that the chain has taken above `fork`, unless a quirk forbids it."""
    if not quirks.ignores_reorgs:
        _roll_back(connection, fork)
    follow(connection, top, quirks)
    if not quirks.ignores_reorgs:
        _see_again(connection, now, quirks)


def _roll_back(connection: Connection, fork: int) -> None:
    """Forget pins whose transaction is gone, and take the others above `fork` for unconfirmed."""
    gone = select(PINS.c.id).outerjoin(TXS, TXS.c.txid == PINS.c.txid).where(TXS.c.txid.is_(None))
    connection.execute(delete(LISTING).where(LISTING.c.pin_id.in_(gone)))
    connection.execute(delete(PINS).where(PINS.c.id.in_(gone)))
    connection.execute(delete(LISTING).where(LISTING.c.height > fork))
    arrival = select(TXS.c.arrival).where(TXS.c.txid == PINS.c.txid).scalar_subquery()
    place = func.printf(f"{UNMINED}&%010d", arrival)
    waits = {"height": _MEMPOOL, "place": place, "time": PINS.c.seen}
    connection.execute(update(PINS).where(PINS.c.height > fork).values(waits))
    put_meta(connection, "index_height", str(min(height_of(connection), fork)))


def _see_again(connection: Connection, now: int, quirks: Quirks) -> None:
    """Take pins that were first met in a block and wait now for seen now, or not at all."""
    unseen = and_(PINS.c.height == _MEMPOOL, PINS.c.seen == 0)
    if quirks.stuck or quirks.mempool_unseen:
        connection.execute(delete(PINS).where(unseen))
        return
    rows = connection.execute(
        select(PINS.c.id, PINS.c.path_hash, PINS.c.owner_metaid).where(unseen)
    )
    keys = [_listed(row.path_hash, row.owner_metaid, now, _MEMPOOL, row.id) for row in rows]
    if keys:
        connection.execute(_ADD_KEYS, keys)
        connection.execute(update(PINS).where(unseen).values(seen=now, time=now))


def rebuild(connection: Connection, quirks: Quirks) -> None:
    """Read the whole chain anew, as a rescan by hand does; what is in the mempool too."""
    connection.execute(delete(LISTING))
    connection.execute(delete(PINS))
    put_meta(connection, "index_height", str(chain.base_height(connection)))
    follow(connection, chain.moment(connection).height, quirks)
    if quirks.stuck or quirks.mempool_unseen:
        return
    waiting = select(TXS.c.txid, TXS.c.raw, TXS.c.seen, TXS.c.arrival)
    waiting = waiting.where(TXS.c.height.is_(None)).order_by(TXS.c.arrival)
    for txid, raw, seen, arrival in connection.execute(waiting).all():
        tx = parse_tx(raw)
        spent = [chain.output_at(connection, part.spends) for part in tx.inputs]
        known = tuple(output for output in spent if output is not None)
        saw(connection, Accepted(txid, tx, raw, 0, arrival, known), seen, quirks)
