"""Signatures of inputs on MVC: what they sign, how they are made and checked (ECDSA, secp256k1).

The digest is the one of BIP 143 with the FORKID bit, which the node requires: it covers the value
and the script of the output that is spent, and leaves other parts open as the sighash type says.
Confirmed on real transactions of the chain (tests/vectors/metaid/mvc_real_txs.json). Only P2PKH is
read here; there is no script interpreter.
"""

from typing import Final

import msgspec
from coincurve import PublicKey

from refold.kernel.errors import InputError
from refold.metaid.address import hash160
from refold.metaid.script import is_public_key, p2pkh_hash, pushes_only
from refold.metaid.tx import Output, Tx, serialize_outpoint, serialize_output
from refold.metaid.wire import byte_string, double_sha256

ALL: Final = 0x01
NONE: Final = 0x02
SINGLE: Final = 0x03
FORKID: Final = 0x40
ANYONECANPAY: Final = 0x80
ALL_FORKID: Final = ALL | FORKID
"""The sighash type that wallets sign with: every input, every output."""

_NOTHING = bytes(32)


class Unlock(msgspec.Struct, frozen=True):
    """What unlocks P2PKH: a DER signature, its sighash type (0 to 255), and the public key."""

    signature: bytes
    kind: int
    public_key: bytes


class Digests:
    """The digests that a transaction's inputs sign; what they share is hashed once.

    So checking every input is linear in the transaction, which a stranger made.
    """

    def __init__(self, tx: Tx) -> None:
        self.tx = tx
        self._outpoints = double_sha256(b"".join(serialize_outpoint(i.spends) for i in tx.inputs))
        self._sequences = double_sha256(
            b"".join(part.sequence.to_bytes(4, "little") for part in tx.inputs)
        )
        self._outputs = double_sha256(b"".join(map(serialize_output, tx.outputs)))

    def of(self, index: int, spent: Output, kind: int) -> bytes:
        """Give the digest (32 bytes) that input `index` signs when it spends `spent`."""
        tx, part = self.tx, self.tx.inputs[index]
        base, alone = kind & 0x1F, bool(kind & ANYONECANPAY)
        outputs = self._outputs
        if base == NONE or (base == SINGLE and index >= len(tx.outputs)):
            outputs = _NOTHING
        elif base == SINGLE:
            outputs = double_sha256(serialize_output(tx.outputs[index]))
        return double_sha256(
            b"".join(
                (
                    tx.version.to_bytes(4, "little", signed=True),
                    _NOTHING if alone else self._outpoints,
                    _NOTHING if alone or base in {NONE, SINGLE} else self._sequences,
                    serialize_outpoint(part.spends),
                    byte_string(spent.script),
                    spent.value.to_bytes(8, "little"),
                    part.sequence.to_bytes(4, "little"),
                    outputs,
                    tx.lock_time.to_bytes(4, "little"),
                    kind.to_bytes(4, "little"),
                )
            )
        )


def read_unlock(script: bytes) -> Unlock | None:
    """Read an unlocking script in the form of P2PKH; None for any other form.

    The form proves nothing: an output that asks for no signature can be spent with two such pushes
    by anybody.
    """
    pushes = pushes_only(script)
    if pushes is None or len(pushes) != 2 or not pushes[0] or not is_public_key(pushes[1]):
        return None
    return Unlock(pushes[0][:-1], pushes[0][-1], pushes[1])


def verify_input(digests: Digests, index: int, spent: Output) -> Unlock:
    """Return how input `index` unlocks `spent`, if nodes would take it as P2PKH.

    Raises `InputError`: `spend-form` (the output or what unlocks it is not P2PKH), `spend-key`
    (another key than the output asks for), `sighash-type` (undefined, or without FORKID),
    `signature-invalid` (not DER, high S, or not on this). That `spent` is the output that the
    input names, and unspent, is the caller's to know.
    """
    wanted = p2pkh_hash(spent.script)
    unlock = read_unlock(digests.tx.inputs[index].script)
    if wanted is None or unlock is None:
        what = "output spent by" if wanted is None else "unlocking script of"
        raise InputError("spend-form", f"the {what} input {index} is not P2PKH", "spend P2PKH")
    if hash160(unlock.public_key) != wanted:
        raise InputError(
            "spend-key", f"input {index} shows another key than it needs", "sign with the owner's"
        )
    if not is_defined(unlock.kind):
        raise InputError(
            "sighash-type",
            f"input {index} signs with type {unlock.kind:#04x}, which nodes refuse",
            f"sign with {ALL_FORKID:#04x}",
        )
    if not _verifies(unlock, digests.of(index, spent, unlock.kind)):
        raise InputError(
            "signature-invalid",
            f"the signature of input {index} is not on this transaction and this spent output",
            "sign the finished transaction, with the value and script of the spent output",
        )
    return unlock


def is_defined(kind: int) -> bool:
    """Tell whether nodes take a sighash type: ALL, NONE or SINGLE, FORKID, perhaps ANYONECANPAY."""
    return bool(kind & FORKID) and kind & ~(FORKID | ANYONECANPAY) in {ALL, NONE, SINGLE}


def covers_output(kind: int, input_index: int, output_index: int) -> bool:
    """Tell whether a signature of this type on an input commits to an output.

    NONE does not: whoever holds such a signature decides what the transaction says.
    """
    base = kind & 0x1F
    return base == ALL or (base == SINGLE and input_index == output_index)


def _verifies(unlock: Unlock, digest: bytes) -> bool:
    try:
        # libsecp256k1 refuses S above half the order here, as nodes do.
        return PublicKey(unlock.public_key).verify(unlock.signature, digest, hasher=None)
    except ValueError:  # no point of the curve, or no DER
        return False
