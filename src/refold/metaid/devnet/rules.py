"""What the node of the local chain takes: the checks of a transaction, without any database.

A subset of a real node's rules, each as strict: form, values, dust, P2PKH signatures. There is no
script interpreter: besides P2PKH only the script OP_1 can be spent, which asks for nothing, so
that keys can be shown without signing (`refold.metaid.author`). Coinbases can be spent at once.
"""

from collections.abc import Sequence
from typing import Final

from refold.kernel.errors import InputError
from refold.metaid.script import OP_0, OP_1, OP_RETURN, pushes_only
from refold.metaid.signature import Digests, verify_input
from refold.metaid.tx import FINAL_SEQUENCE, Outpoint, Output, Tx, parse_tx
from refold.metaid.wallet import DUST_LIMIT

MAX_TX_BYTES: Final = 10_000_000
"""Bytes of a transaction: the usual policy of nodes of this family."""
MAX_MEMPOOL_DEPTH: Final = 1_000
"""Unconfirmed transactions one over the other, before `too-long-mempool-chain`, if not set."""
NULL_OUTPOINT: Final = Outpoint("00" * 32, 0xFFFFFFFF)
"""What a coinbase spends."""

REJECTIONS: dict[str, tuple[int, str]] = {
    "tx-decode": (-22, "the bytes are no transaction"),
    "tx-size": (-26, "the transaction is larger than nodes relay"),
    "coinbase": (-26, "only a block can bring a coinbase"),
    "non-final": (-26, "the lock time has not come"),
    "dust": (-26, "an output that can be spent holds less than the dust limit"),
    "bad-txns-inputs-duplicate": (-26, "the transaction spends an output twice"),
    "bad-txns-in-belowout": (-26, "the transaction pays out more than it spends"),
    "mandatory-script-verify-flag-failed": (-26, "an input does not unlock what it spends"),
    "txn-mempool-conflict": (-26, "another transaction spends the same output"),
    "too-long-mempool-chain": (-26, "too many unconfirmed transactions stand above this one"),
    "missing-inputs": (-25, "an output that is spent does not exist"),
    "txn-already-known": (-27, "the node has the transaction, take it for a success"),
}
"""Codes of what the node refuses, with the number that it answers, and what each means."""

_LOCK_TIME_IS_TIME = 500_000_000


def rejected(code: str, detail: str = "") -> InputError:
    """Give the error for a code of `REJECTIONS`."""
    meaning = REJECTIONS[code][1]
    return InputError(code, f"{meaning}: {detail}" if detail else meaning)


def read_raw(raw: bytes) -> Tx:
    """Parse a transaction and check its form.

    Raises `InputError`: `tx-size`, `tx-decode`, `coinbase`, `bad-txns-inputs-duplicate`, `dust`.
    """
    if len(raw) > MAX_TX_BYTES:
        raise rejected("tx-size", f"{len(raw)} of {MAX_TX_BYTES} bytes")
    try:
        tx = parse_tx(raw)
    except InputError as error:
        raise rejected("tx-decode", str(error)) from error
    spends = [part.spends for part in tx.inputs]
    if NULL_OUTPOINT in spends:
        raise rejected("coinbase")
    if len(set(spends)) < len(spends):
        raise rejected("bad-txns-inputs-duplicate")
    for index, output in enumerate(tx.outputs):
        if output.value < DUST_LIMIT and not carries_data(output.script):
            raise rejected("dust", f"output {index} holds {output.value} satoshi")
    return tx


def carries_data(script: bytes) -> bool:
    """Tell whether an output can never be spent: it returns before it says anything."""
    return script[:1] == bytes((OP_RETURN,)) or script[:2] == bytes((OP_0, OP_RETURN))


def check_final(tx: Tx, height: int, time: int) -> None:
    """Refuse a transaction that may not stand in the block of this height and time; `non-final`."""
    now = time if tx.lock_time >= _LOCK_TIME_IS_TIME else height
    if tx.lock_time >= now and any(part.sequence != FINAL_SEQUENCE for part in tx.inputs):
        raise rejected("non-final", f"lock time {tx.lock_time}, now {now}")


def check_spends(tx: Tx, spent: Sequence[Output]) -> int:
    """Check values and unlocking scripts against the outputs that are spent; give the fee.

    Raises `InputError`: `bad-txns-in-belowout`, `mandatory-script-verify-flag-failed`.
    """
    fee = sum(output.value for output in spent) - sum(output.value for output in tx.outputs)
    if fee < 0:
        raise rejected("bad-txns-in-belowout", f"{-fee} satoshi more")
    digests = Digests(tx)
    for index, output in enumerate(spent):
        if output.script == bytes((OP_1,)) and pushes_only(tx.inputs[index].script) is not None:
            continue
        try:
            verify_input(digests, index, output)
        except InputError as error:
            raise rejected("mandatory-script-verify-flag-failed", str(error)) from error
    return fee
