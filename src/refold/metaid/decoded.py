"""A transaction laid out for people and JSON: hex for scripts, text where bytes are text."""

import msgspec

from refold.metaid.chainpin import ChainPin, pin_of_tx
from refold.metaid.envelope import FLAG, RawTuple, unlisted_because
from refold.metaid.script import address_of
from refold.metaid.signature import read_unlock
from refold.metaid.tx import Input, Output, parse_tx, plain_txid_of, txid_of


class DecodedInput(msgspec.Struct, frozen=True, rename="camel"):
    """An input; key and sighash type where the unlocking script has the form of P2PKH."""

    spends: str
    unlocking_script: str
    public_key: str | None
    sighash: int | None
    sequence: int


class DecodedOutput(msgspec.Struct, frozen=True, rename="camel"):
    """An output; `address` is "" where it has none."""

    value: int
    address: str
    locking_script: str


class DecodedPin(msgspec.Struct, frozen=True, rename="camel"):
    """The pin as the indexers read it, with the pushes in hex beside it.

    `named_author` is whom the owner output names, no proof. `payload_text` is the payload where it
    is UTF-8, else `payload_hex` holds it. `unlisted_because` says why indexers drop the pin.
    """

    id: str
    alias: str | None
    data_index: int
    owner_index: int
    owner: str
    named_author: str
    operation: str
    host: str
    path: str
    original_path: str
    encryption: str
    version: str
    content_type: str
    payload_bytes: int
    raw: dict[str, str]
    payload_text: str | None = None
    payload_hex: str | None = None
    unlisted_because: str | None = None


class DecodedTx(msgspec.Struct, frozen=True, rename="camel"):
    """A transaction; `plain_txid` is the double hash of its bytes, sizes are in bytes."""

    txid: str
    plain_txid: str
    version: int
    size: int
    lock_time: int
    inputs: tuple[DecodedInput, ...]
    outputs: tuple[DecodedOutput, ...]
    pin: DecodedPin | None


def decode_tx(raw: bytes, *, flag: bytes = FLAG) -> DecodedTx:
    """Lay out a raw transaction of MVC. Raises `InputError` as `parse_tx` does."""
    tx = parse_tx(raw)
    pin = pin_of_tx(tx, flag=flag)
    return DecodedTx(
        txid=txid_of(tx),
        plain_txid=plain_txid_of(tx),
        version=tx.version,
        size=len(raw),
        lock_time=tx.lock_time,
        inputs=tuple(map(_input, tx.inputs)),
        outputs=tuple(map(_output, tx.outputs)),
        pin=_pin(pin) if pin is not None else None,
    )


def _input(part: Input) -> DecodedInput:
    unlock = read_unlock(part.script)
    return DecodedInput(
        spends=str(part.spends),
        unlocking_script=part.script.hex(),
        public_key=unlock.public_key.hex() if unlock else None,
        sighash=unlock.kind if unlock else None,
        sequence=part.sequence,
    )


def _output(part: Output) -> DecodedOutput:
    return DecodedOutput(part.value, address_of(part.script), part.script.hex())


def _pin(pin: ChainPin) -> DecodedPin:
    envelope = pin.envelope
    try:
        text, in_hex = envelope.payload.decode(), None
    except UnicodeDecodeError:
        text, in_hex = None, envelope.payload.hex()
    return DecodedPin(
        id=pin.id,
        alias=pin.alias,
        data_index=pin.data_index,
        owner_index=pin.owner_index,
        owner=pin.owner,
        named_author=pin.named_author,
        operation=envelope.operation,
        host=envelope.host,
        path=envelope.path,
        original_path=envelope.original_path,
        encryption=envelope.encryption,
        version=envelope.version,
        content_type=envelope.content_type,
        payload_bytes=len(envelope.payload),
        payload_text=text,
        payload_hex=in_hex,
        raw=_raw(pin.raw),
        unlisted_because=unlisted_because(envelope),
    )


def _raw(raw: RawTuple) -> dict[str, str]:
    return {
        "operation": raw.operation.hex(),
        "path": raw.path.hex(),
        "encryption": raw.encryption.hex(),
        "version": raw.version.hex(),
        "contentType": raw.content_type.hex(),
    }
