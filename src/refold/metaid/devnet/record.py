"""A pin as the indexer keeps it: what its transaction says, whatever block that is in."""

from collections.abc import Sequence

import msgspec

from refold.metaid.chainpin import ChainPin
from refold.metaid.globalmetaid import metaid_of
from refold.metaid.script import address_of
from refold.metaid.tx import Output


class Record(msgspec.Struct, frozen=True, array_like=True):
    """The parts of a pin that never change.

    `owner` is the address that the owner output names, "" for none. `payer` is the address whose
    output input 0 spends, and so whose key signed, `last_payer` that of the last input; "" where
    such an output has no address.
    """

    id: str
    alias: str | None
    txid: str
    data_index: int
    owner: str
    owner_index: int
    owner_value: int
    payer: str
    last_payer: str
    operation: str
    host: str
    path: str
    original_path: str
    encryption: str
    version: str
    content_type: str
    body: bytes

    @property
    def path_hash(self) -> str:
        """What index keys begin with: the hash of the path."""
        return metaid_of(self.path)

    @property
    def target(self) -> str:
        """The id that a modify or revoke names, "" for other pins."""
        return self.path.replace("@", "") if self.operation in {"modify", "revoke"} else ""


def record_of(pin: ChainPin, spent: Sequence[Output | None]) -> Record:
    """Make the record of a pin; `spent` are the outputs behind the inputs, None if unknown."""
    envelope = pin.envelope
    payers = ["" if output is None else address_of(output.script) for output in spent]
    return Record(
        id=pin.id,
        alias=pin.alias,
        txid=pin.txid,
        data_index=pin.data_index,
        owner=pin.owner,
        owner_index=pin.owner_index,
        owner_value=pin.owner_value,
        payer=payers[0],
        last_payer=payers[-1],
        operation=envelope.operation,
        host=envelope.host,
        path=envelope.path,
        original_path=envelope.original_path,
        encryption=envelope.encryption,
        version=envelope.version,
        content_type=envelope.content_type,
        body=envelope.payload,
    )


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Record)


def encode_record(record: Record) -> bytes:
    """Give the bytes of a record."""
    return _ENCODER.encode(record)


def decode_record(data: bytes) -> Record:
    """Give the record that `encode_record` wrote."""
    return _DECODER.decode(data)
