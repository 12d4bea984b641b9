"""The pin of a transaction: what the chain itself says, before any indexer (facts: metaid §1.3).

MVC has at most one pin a transaction: the first output that carries one. Its owner is the first
output that has an address, whoever pays for it: that address is what the indexers name as the
author, and it proves nothing (`refold.metaid.author` looks at the signatures).
"""

import msgspec

from refold.metaid.envelope import FLAG, Envelope, RawTuple, normalise, read_tuple
from refold.metaid.globalmetaid import globalmetaid_of
from refold.metaid.script import address_of
from refold.metaid.tx import Tx, plain_txid_of, txid_of

_UINT32 = 1 << 32


class ChainPin(msgspec.Struct, frozen=True, rename="camel"):
    """A pin in a transaction.

    `id` is txid + "i" + `owner_index`; `alias` the id under the plain double hash where that is
    another. `tx_index` is the place in the block, 0 outside of one. `data_index` is the output
    (BTC: the input) that carries the pin. `owner` is "" and `owner_index` 0 when no output has an
    address. `raw` is what was pushed, `envelope` what the indexers make of it.
    """

    id: str
    alias: str | None
    chain: str
    txid: str
    tx_index: int
    data_index: int
    owner_index: int
    owner: str
    owner_value: int
    envelope: Envelope
    raw: RawTuple

    @property
    def named_author(self) -> str:
        """The globalMetaId that indexers list as the author, "" without an owner. No proof."""
        return globalmetaid_of(self.owner) if self.owner else ""

    @property
    def output(self) -> str:
        """The owner output as rows spell it: `txid:index`."""
        return f"{self.txid}:{self.owner_index}"

    @property
    def tx_in_index(self) -> int:
        """What indexers list as `txInIndex`: on MVC the data output's index less one, unsigned."""
        return (self.data_index - 1) % _UINT32 if self.chain == "mvc" else self.data_index


def pin_of_tx(tx: Tx, *, tx_index: int = 0, flag: bytes = FLAG) -> ChainPin | None:
    """Give the pin of a transaction of MVC, None when it carries none.

    A pin that the indexers drop for its path or operation is given too
    (`refold.metaid.envelope.unlisted_because`).
    """
    for data_index, output in enumerate(tx.outputs):
        raw = read_tuple(output.script, flag)
        if raw is not None:
            return _pin(tx, raw, tx_index, data_index)
    return None


def _pin(tx: Tx, raw: RawTuple, tx_index: int, data_index: int) -> ChainPin:
    owner_index, owner = next(
        (
            (index, address)
            for index, part in enumerate(tx.outputs)
            if (address := address_of(part.script))
        ),
        (0, ""),
    )
    txid, plain = txid_of(tx), plain_txid_of(tx)
    return ChainPin(
        id=f"{txid}i{owner_index}",
        alias=f"{plain}i{owner_index}" if plain != txid else None,
        chain="mvc",
        txid=txid,
        tx_index=tx_index,
        data_index=data_index,
        owner_index=owner_index,
        owner=owner,
        owner_value=tx.outputs[owner_index].value,
        envelope=normalise(raw),
        raw=raw,
    )
