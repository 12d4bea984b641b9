"""Pins on BTC: the 7-tuple in a script of the witness (facts: metaid §1.5).

    OP_FALSE OP_IF <metaid> <operation> <path> <encryption> <version> <contentType> <payload>…
    OP_ENDIF

Every input may carry one. What MVC puts into an output, here, and on DOGE, is not read.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.chainpin import ChainPin
from refold.metaid.envelope import FLAG, RawTuple, normalise, tuple_of
from refold.metaid.script import OP_0, OP_ENDIF, OP_IF, address_of, push, tokens
from refold.metaid.tx import Outpoint, Output, Tx, plain_txid_of, read_inputs, read_outputs
from refold.metaid.wire import Reader

MAX_PUSH = 520
"""Bytes that BTC pushes at once; the indexers drop a pin with a longer push."""

_MARKER = b"\x00\x01"
_NO_TOKEN = (0, b"")
_ANNEX = 0x50

Witness = tuple[bytes, ...]
Lookup = Callable[[Outpoint], Output | None]


class BtcTx(msgspec.Struct, frozen=True):
    """A transaction of BTC; each input has its witness, () where it has none."""

    tx: Tx
    witnesses: tuple[Witness, ...]

    @property
    def txid(self) -> str:
        """The id, which on BTC leaves the witnesses out and never is of MVC's new kind."""
        return plain_txid_of(self.tx)


def parse_btc_tx(raw: bytes) -> BtcTx:
    """Read a transaction of BTC, with witnesses or without, every byte of it.

    Raises `InputError` as `refold.metaid.tx.parse_tx` does, and `witness-empty`.
    """
    reader = Reader(raw)
    version = int.from_bytes(reader.take(4), "little", signed=True)
    has_witnesses = raw[4:6] == _MARKER
    if has_witnesses:
        reader.take(len(_MARKER))
    inputs, outputs = read_inputs(reader), read_outputs(reader)
    witnesses: tuple[Witness, ...] = ((),) * len(inputs)
    if has_witnesses:
        witnesses = tuple(
            tuple(reader.string() for _ in range(reader.count(1))) for _ in range(len(inputs))
        )
        if not any(witnesses):
            raise InputError(
                "witness-empty", "witnesses are announced, and all empty", "fetch it again"
            )
    lock_time = reader.uint(4)
    reader.end()
    return BtcTx(Tx(version, inputs, outputs, lock_time), witnesses)


def inscriptions_of(
    btc: BtcTx, lookup: Lookup | None = None, *, tx_index: int = 0, flag: bytes = FLAG
) -> list[ChainPin]:
    """Give the pins of a transaction of BTC, in the order of its inputs.

    `lookup` gives the outputs that inputs spend; only a pin on a later input among several outputs
    needs it. Raises `InputError` `spent-unknown` where that is missing.
    """
    pins = []
    for index, witness in enumerate(btc.witnesses):
        raw = read_inscription(script_of(witness), flag)
        if raw is not None:
            pins.append(_pin(btc, raw, index, tx_index, lookup))
    return pins


def script_of(witness: Witness) -> bytes:
    """Give the script in which a pin may stand: the last item but one, not counting an annex.

    b"" when there is none, or when the last item has less than two bytes, as in the indexers.
    """
    if not witness or len(witness[-1]) <= 1:
        return b""
    items = witness[:-1] if witness[-1][0] == _ANNEX else witness
    return items[-2] if len(items) > 1 else b""


def read_inscription(script: bytes, flag: bytes = FLAG) -> RawTuple | None:
    """Read the envelope that begins at the script's first OP_FALSE; None when it is none.

    Nor is it one without OP_ENDIF, or with a push of more than `MAX_PUSH` bytes. What follows
    OP_ENDIF does not matter.
    """
    if flag not in script:
        return None
    found = tokens(script)
    try:
        for opcode, _ in found:
            if opcode == OP_0:
                break
        after, mark = next(found, _NO_TOKEN), next(found, _NO_TOKEN)
        pushes = _pushes(found) if after[0] == OP_IF and mark[1] == flag else None
    except InputError:
        return None
    return tuple_of(pushes) if pushes is not None else None


def _pushes(found: Iterator[tuple[int, bytes]]) -> list[bytes] | None:
    """Give the pushes up to OP_ENDIF; None without one, or with a push that is too long."""
    pushes: list[bytes] = []
    for opcode, data in found:
        if opcode == OP_ENDIF:
            return pushes
        if len(data) > MAX_PUSH:
            return None
        pushes.append(data)
    return None


def inscription_script(raw: RawTuple, *, head: bytes = b"", flag: bytes = FLAG) -> bytes:
    """Give the script of an inscription, the payload in pushes of `MAX_PUSH` bytes.

    `head` stands in front; usually `<key> OP_CHECKSIG`.
    """
    whole = b"".join(raw.payload)
    chunks = [whole[at : at + MAX_PUSH] for at in range(0, len(whole), MAX_PUSH)] or [b""]
    fields = (raw.operation, raw.path, raw.encryption, raw.version, raw.content_type)
    body = b"".join(map(push, (flag, *fields, *chunks)))
    return head + bytes((OP_0, OP_IF)) + body + bytes((OP_ENDIF,))


def _pin(btc: BtcTx, raw: RawTuple, index: int, tx_index: int, lookup: Lookup | None) -> ChainPin:
    tx, txid = btc.tx, btc.txid
    owner_index = 0
    if index and len(tx.outputs) > 1:
        owner_index = _output_at(tx.outputs, _value_before(tx, index, lookup))
    owner = address_of(tx.outputs[owner_index].script, segwit=True)
    if not owner:
        owner_index = 0
    return ChainPin(
        id=f"{txid}i{owner_index}",
        alias=None,
        chain="btc",
        txid=txid,
        tx_index=tx_index,
        data_index=index,
        owner_index=owner_index,
        owner=owner,
        owner_value=tx.outputs[owner_index].value,
        envelope=normalise(raw),
        raw=raw,
    )


def _value_before(tx: Tx, index: int, lookup: Lookup | None) -> int:
    """Give the satoshi that the inputs before `index` spend."""
    total = 0
    for part in tx.inputs[:index]:
        spent = lookup(part.spends) if lookup is not None else None
        if spent is None:
            raise InputError(
                "spent-unknown",
                f"the owner of the pin on input {index} hangs on the value of {part.spends}",
                "give the transactions that are spent",
            )
        total += spent.value
    return total


def _output_at(outputs: Sequence[Output], offset: int) -> int:
    """Give the index of the output that holds the satoshi at `offset`; 0 when that is the fee."""
    end = 0
    for index, output in enumerate(outputs):
        end += output.value
        if end > offset:
            return index
    return 0
