"""Building transactions that carry a pin: keys, coins, fee, change, signatures."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil

import msgspec
from coincurve import PrivateKey

from refold.kernel.errors import InputError
from refold.metaid.address import hash160, p2pkh_address
from refold.metaid.chainpin import ChainPin, pin_of_tx
from refold.metaid.envelope import FLAG, RawTuple, pin_script
from refold.metaid.globalmetaid import globalmetaid_of
from refold.metaid.script import p2pkh_hash, p2pkh_script, push
from refold.metaid.signature import ALL_FORKID, Digests
from refold.metaid.tx import (
    MVC_VERSION,
    Input,
    Outpoint,
    Output,
    Tx,
    serialize_output,
    serialize_tx,
    txid_of,
)
from refold.metaid.wire import compact_size

DUST_LIMIT = 1
"""Least satoshi of an output that can be spent; MVC's node refuses less."""
OWNER_VALUE = 1
"""Satoshi that wallets pay to the author's own address in output 0."""

_SECRET_BYTES = 32
_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_UNLOCK_BYTES = 107
"""The longest unlocking script of a compressed key: pushes of 72 and 33 bytes."""
_INPUT_BYTES = 36 + 1 + _UNLOCK_BYTES + 4
_FRAME_BYTES = 4 + 4


class Key:
    """A private key for P2PKH, used compressed. Its `repr` shows the address only."""

    __slots__ = ("_key", "public")

    def __init__(self, secret: bytes) -> None:
        """Take 32 bytes, 1 to the order less one. Raises `InputError` `key-range`."""
        if len(secret) != _SECRET_BYTES or not 0 < int.from_bytes(secret, "big") < _ORDER:
            raise InputError("key-range", "the bytes are no secret of secp256k1", "make a new one")
        self._key = PrivateKey(secret)
        self.public: bytes = self._key.public_key.format()

    @classmethod
    def generate(cls) -> "Key":
        """Make a key from the system's random source."""
        return cls(PrivateKey().secret)

    @property
    def secret(self) -> bytes:
        """The 32 secret bytes."""
        return self._key.secret

    @property
    def key_hash(self) -> bytes:
        """The hash160 of the public key (20 bytes)."""
        return hash160(self.public)

    @property
    def address(self) -> str:
        """The P2PKH address on MVC."""
        return p2pkh_address(self.key_hash)

    @property
    def globalmetaid(self) -> str:
        """The globalMetaId, `idq1…`."""
        return globalmetaid_of(self.address)

    @property
    def script(self) -> bytes:
        """The locking script that pays to this key."""
        return p2pkh_script(self.key_hash)

    def unlock(self, digest: bytes, kind: int = ALL_FORKID) -> bytes:
        """Give the unlocking script that signs a digest; low S, and always the same (RFC 6979)."""
        signature = self._key.sign(digest, hasher=None)
        return push(signature + bytes((kind,))) + push(self.public)

    def __repr__(self) -> str:
        return f"Key({self.address})"


class Utxo(msgspec.Struct, frozen=True):
    """An unspent output and where it is."""

    outpoint: Outpoint
    output: Output


class BuiltTx(msgspec.Struct, frozen=True):
    """A signed transaction: its bytes, id, fee in satoshi, and what it spent and gave back.

    `pin` is what it carries. `change` is None when there was too little for an output.
    """

    tx: Tx
    raw: bytes
    txid: str
    pin: ChainPin
    fee: int
    spent: tuple[Utxo, ...]
    change: Utxo | None


def fee_for(size: int, rate: int | Fraction) -> int:
    """Give the fee in satoshi of `size` bytes at `rate` satoshi a byte, rounded up."""
    return ceil(size * rate)


def sign_tx(tx: Tx, spent: Sequence[Output], keys: Iterable[Key], kind: int = ALL_FORKID) -> Tx:
    """Sign every input that one of `keys` owns; the others stay as they are.

    `spent` are the outputs that the inputs spend, in their order. Raises `InputError`
    `spent-count`.
    """
    if len(spent) != len(tx.inputs):
        raise InputError(
            "spent-count",
            f"{len(tx.inputs)} inputs, and {len(spent)} outputs that they spend",
            "give one output for each input",
        )
    owners: Mapping[bytes, Key] = {key.key_hash: key for key in keys}
    digests = Digests(tx)
    signed = []
    for index, (part, output) in enumerate(zip(tx.inputs, spent, strict=True)):
        key = owners.get(p2pkh_hash(output.script) or b"")
        script = key.unlock(digests.of(index, output, kind), kind) if key else part.script
        signed.append(msgspec.structs.replace(part, script=script))
    return msgspec.structs.replace(tx, inputs=tuple(signed))


def build_pin_tx(
    key: Key,
    raw: RawTuple,
    utxos: Iterable[Utxo],
    *,
    rate: int | Fraction = 1,
    owner_value: int = OWNER_VALUE,
    dust_limit: int = DUST_LIMIT,
    version: int = MVC_VERSION,
    op_false: bool = True,
    flag: bytes = FLAG,
) -> BuiltTx:
    """Build and sign a pin: output 0 to its author, then the pin, then the change.

    Coins are taken from `utxos` in their order until they pay for it; all must be locked to `key`.
    The fee is at least `rate` satoshi for each byte: signatures are counted at their longest.
    Change below `dust_limit` goes to the fee. What is pushed is not judged here
    (`refold.metaid.envelope.new_tuple`). Raises `InputError`: `funds-short`, `coin-foreign`,
    `dust`, `rate-range`, `tuple-short`.
    """
    if rate < 0:
        raise InputError("rate-range", f"a rate of {rate} satoshi a byte", "give 0 or more")
    if owner_value < dust_limit:
        raise InputError(
            "dust",
            f"an output of {owner_value} satoshi, nodes refuse less than {dust_limit}",
            f"pay at least {dust_limit}",
        )
    carrier = Output(0, pin_script(raw, flag=flag, op_false=op_false))
    outputs = [Output(owner_value, key.script), carrier]
    coins, change, fee = _select(utxos, key, outputs, rate, dust_limit)
    if change:
        outputs.append(Output(change, key.script))
    inputs = tuple(Input(coin.outpoint, b"") for coin in coins)
    tx = sign_tx(Tx(version, inputs, tuple(outputs)), [coin.output for coin in coins], [key])
    pin = pin_of_tx(tx, flag=flag)
    if pin is None:
        raise InputError("tuple-short", "the pushes are no pin", "push all fields and a payload")
    txid = txid_of(tx)
    left = Utxo(Outpoint(txid, len(outputs) - 1), outputs[-1]) if change else None
    return BuiltTx(tx, serialize_tx(tx), txid, pin, fee, coins, left)


def _select(
    utxos: Iterable[Utxo],
    key: Key,
    outputs: Sequence[Output],
    rate: int | Fraction,
    dust_limit: int,
) -> tuple[tuple[Utxo, ...], int, int]:
    """Take coins until they pay; give them, the change (0 for none) and the fee."""
    paid = sum(output.value for output in outputs)
    bare = sum(len(serialize_output(output)) for output in outputs)
    with_change = bare + len(serialize_output(Output(0, key.script)))
    coins: list[Utxo] = []
    total, needed = 0, paid
    for coin in utxos:
        if coin.output.script != key.script:
            raise InputError(
                "coin-foreign",
                f"the coin {coin.outpoint} is not locked to {key.address}",
                "leave it",
            )
        coins.append(coin)
        total += coin.output.value
        needed = paid + fee_for(_size(len(coins), len(outputs), bare), rate)
        if total < needed:
            continue
        fee = fee_for(_size(len(coins), len(outputs) + 1, with_change), rate)
        change = total - paid - fee
        if change < max(dust_limit, 1):
            change = 0
        return tuple(coins), change, total - paid - change
    raise InputError(
        "funds-short",
        f"the coins hold {total} satoshi, {needed} or more are needed",
        "fund the address",
    )


def _size(inputs: int, outputs: int, output_bytes: int) -> int:
    """Give the bytes of a transaction with so many signed inputs, at most."""
    counts = len(compact_size(inputs)) + len(compact_size(outputs))
    return _FRAME_BYTES + counts + inputs * _INPUT_BYTES + output_bytes
