"""What the chain really holds, past every indexer: the yardstick for whoever reads one."""

import msgspec
from sqlalchemy import Connection, select

from refold.metaid.chainpin import ChainPin, pin_of_tx
from refold.metaid.devnet import chain
from refold.metaid.devnet.tables import BLOCKS, TXS
from refold.metaid.envelope import unlisted_because
from refold.metaid.globalmetaid import globalmetaid_of
from refold.metaid.script import address_of
from refold.metaid.tx import parse_tx


class TruePin(msgspec.Struct, frozen=True):
    """A pin in a transaction of the chain.

    `height` is None in the mempool. `time` is the block's, or when the node got the transaction.
    `author` is the globalMetaId of the key that signed input 0, "" when no key had to.
    """

    pin: ChainPin
    height: int | None
    time: int
    author: str

    @property
    def id(self) -> str:
        """The pin id."""
        return self.pin.id

    @property
    def path(self) -> str:
        """The path without the host."""
        return self.pin.envelope.path

    @property
    def body(self) -> bytes:
        """The payload as it was pinned."""
        return self.pin.envelope.payload


def true_pins(
    connection: Connection, path: str | None, *, mempool: bool, unlisted: bool
) -> list[TruePin]:
    """Give pins in the order of the chain, or of the mempool, read from the raw transactions.

    `path` chooses one path. `unlisted`: those too that no indexer lists.
    """
    chosen = (
        select(TXS.c.raw, TXS.c.height, TXS.c.position, TXS.c.seen, BLOCKS.c.time)
        .outerjoin(BLOCKS, BLOCKS.c.height == TXS.c.height)
        .where(TXS.c.height.is_(None) if mempool else TXS.c.position > 0)
        .order_by(TXS.c.height, TXS.c.position, TXS.c.arrival)
    )
    pins = []
    for raw, height, position, seen, time in connection.execute(chosen).all():
        tx = parse_tx(raw)
        pin = pin_of_tx(tx, tx_index=position or 0)
        if pin is None or path not in {None, pin.envelope.path}:
            continue
        if not unlisted and unlisted_because(pin.envelope) is not None:
            continue
        spent = chain.output_at(connection, tx.inputs[0].spends)
        payer = "" if spent is None else address_of(spent.script)
        author = globalmetaid_of(payer) if payer else ""
        pins.append(TruePin(pin, height, seen if time is None else time, author))
    return pins
