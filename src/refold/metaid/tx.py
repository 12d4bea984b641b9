"""Transactions of MVC: bytes to parts and back, and their ids (facts: metaid §1.3).

From version 10 on an id is no hash of the bytes but of a 112-byte digest of the parts, so a plain
Bitcoin library names another transaction. That plain name was published for some pins too: it is
the alias here.
"""

from hashlib import sha256

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.wire import Reader, byte_string, compact_size, double_sha256

MVC_VERSION = 10
"""Version of transactions that are written today; the first whose id is of the new kind."""
FINAL_SEQUENCE = 0xFFFFFFFF
MAX_SATOSHI = 21_000_000 * 100_000_000
"""Most that an output may hold, as nodes check; JSON readers keep it exactly."""

_INPUT_BYTES = 32 + 4 + 1 + 4
_OUTPUT_BYTES = 8 + 1


class Outpoint(msgspec.Struct, frozen=True):
    """An output of a transaction: its txid (hex, as shown) and its index."""

    txid: str
    index: int

    def __str__(self) -> str:
        return f"{self.txid}:{self.index}"


class Output(msgspec.Struct, frozen=True):
    """Satoshi (0 to `MAX_SATOSHI`) and the script that locks them."""

    value: int
    script: bytes


class Input(msgspec.Struct, frozen=True):
    """The output that is spent, the script that unlocks it, and the sequence number."""

    spends: Outpoint
    script: bytes
    sequence: int = FINAL_SEQUENCE


class Tx(msgspec.Struct, frozen=True):
    """A transaction with at least one input and one output; `version` is -2³¹ to 2³¹-1."""

    version: int
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    lock_time: int = 0


def parse_tx(raw: bytes) -> Tx:
    """Read a transaction of MVC, every byte of it.

    Raises `InputError`: `bytes-cut`, `bytes-left`, `size-not-minimal`, `tx-empty` (no input or no
    output; a transaction of BTC with witnesses reads so), `value-range`. Scripts are not run and
    signatures not checked.
    """
    reader = Reader(raw)
    tx = read_tx(reader)
    reader.end()
    return tx


def read_tx(reader: Reader) -> Tx:
    """Read the next transaction; `InputError` as `parse_tx`, but for `bytes-left`."""
    version = int.from_bytes(reader.take(4), "little", signed=True)
    inputs = read_inputs(reader)
    outputs = read_outputs(reader)
    return Tx(version, inputs, outputs, reader.uint(4))


def read_inputs(reader: Reader) -> tuple[Input, ...]:
    """Read counted inputs: `bytes-cut`, `size-not-minimal`, `tx-empty`."""
    count = _count(reader, _INPUT_BYTES, "input")
    return tuple(
        Input(
            Outpoint(reader.take(32)[::-1].hex(), reader.uint(4)), reader.string(), reader.uint(4)
        )
        for _ in range(count)
    )


def read_outputs(reader: Reader) -> tuple[Output, ...]:
    """Read counted outputs: `bytes-cut`, `size-not-minimal`, `tx-empty`, `value-range`."""
    count = _count(reader, _OUTPUT_BYTES, "output")
    outputs = tuple(Output(reader.uint(8), reader.string()) for _ in range(count))
    for index, output in enumerate(outputs):
        if output.value > MAX_SATOSHI:
            raise InputError(
                "value-range",
                f"output {index} holds more satoshi than there are: {output.value}",
                "fetch the transaction again",
            )
    return outputs


def _count(reader: Reader, least_bytes: int, what: str) -> int:
    count = reader.count(least_bytes)
    if count == 0:
        raise InputError(
            "tx-empty",
            f"the transaction has no {what}",
            "give a transaction of MVC; those of BTC with witnesses are read elsewhere",
        )
    return count


def serialize_tx(tx: Tx) -> bytes:
    """Give the bytes of a transaction: what `parse_tx` reads."""
    return b"".join(
        (
            tx.version.to_bytes(4, "little", signed=True),
            compact_size(len(tx.inputs)),
            *(serialize_input(part) for part in tx.inputs),
            compact_size(len(tx.outputs)),
            *(serialize_output(part) for part in tx.outputs),
            tx.lock_time.to_bytes(4, "little"),
        )
    )


def serialize_outpoint(outpoint: Outpoint) -> bytes:
    """Give the 36 bytes of an outpoint."""
    return bytes.fromhex(outpoint.txid)[::-1] + outpoint.index.to_bytes(4, "little")


def serialize_input(part: Input) -> bytes:
    """Give the bytes of an input."""
    sequence = part.sequence.to_bytes(4, "little")
    return serialize_outpoint(part.spends) + byte_string(part.script) + sequence


def serialize_output(part: Output) -> bytes:
    """Give the bytes of an output."""
    return part.value.to_bytes(8, "little") + byte_string(part.script)


def txid_of(tx: Tx) -> str:
    """Give the id, as shown (64 hex digits): of the digest from version 10 on, else of the bytes.

    Negative versions count as below 10, as in the node; the indexers read them as unsigned.
    """
    return _shown(double_sha256(id_digest(tx) if tx.version >= MVC_VERSION else serialize_tx(tx)))


def plain_txid_of(tx: Tx) -> str:
    """Give the double hash of the bytes, as shown: the id on other chains, the alias on this."""
    return _shown(double_sha256(serialize_tx(tx)))


def id_digest(tx: Tx) -> bytes:
    """Give the 112 bytes that an id from version 10 on is the hash of."""
    inputs = b"".join(
        serialize_outpoint(part.spends) + part.sequence.to_bytes(4, "little") for part in tx.inputs
    )
    unlocking = b"".join(sha256(part.script).digest() for part in tx.inputs)
    outputs = b"".join(
        part.value.to_bytes(8, "little") + sha256(part.script).digest() for part in tx.outputs
    )
    return b"".join(
        (
            tx.version.to_bytes(4, "little", signed=True),
            tx.lock_time.to_bytes(4, "little"),
            len(tx.inputs).to_bytes(4, "little"),
            len(tx.outputs).to_bytes(4, "little"),
            *(sha256(part).digest() for part in (inputs, unlocking, outputs)),
        )
    )


def _shown(digest: bytes) -> str:
    return digest[::-1].hex()
