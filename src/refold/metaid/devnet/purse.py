"""Throw-away keys of the local chain, and the coins they write pins with.

A key follows from a seed and a name, so anybody can have it: keys are for play and worth nothing.
"""

from collections.abc import Iterable
from hashlib import sha256

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects.sqlite import insert

from refold.kernel.errors import InputError, UsageError
from refold.metaid.devnet.tables import KEYS, OUTPUTS
from refold.metaid.tx import MVC_VERSION, Input, Outpoint, Output, Tx, serialize_tx
from refold.metaid.wallet import Key, Utxo, fee_for, sign_tx

LEAST_COIN = 600
"""Satoshi below which wallets leave a coin alone (facts: metaid §5)."""
COINS_AT_ONCE = 100
"""How many coins a pin may be paid with; the largest come first."""

_COINS = (
    select(OUTPUTS.c.txid, OUTPUTS.c.index, OUTPUTS.c.value, OUTPUTS.c.script)
    .where(
        OUTPUTS.c.script == bindparam("lock"),
        OUTPUTS.c.spent_by.is_(None),
        OUTPUTS.c.value >= bindparam("least"),
    )
    .order_by(OUTPUTS.c.value.desc(), OUTPUTS.c.txid, OUTPUTS.c.index)
    .limit(COINS_AT_ONCE)
)
_PAYMENT_BYTES = 4 + 1 + 148 + 1 + 2 * 34 + 4


def throwaway_key(name: str, seed: str = "") -> Key:
    """Give the key that a seed and a name make. Everybody can make it: it is worth nothing."""
    return Key(sha256(f"refold devnet, a worthless key\n{seed}\n{name}".encode()).digest())


def remember(connection: Connection, name: str, key: Key) -> None:
    """Store a key under its name. Raises `UsageError` `key-name` when another has the name."""
    row = {"name": name, "address": key.address, "worthless_secret": key.secret}
    connection.execute(insert(KEYS).on_conflict_do_nothing(), row)
    stored = connection.scalar(select(KEYS.c.worthless_secret).where(KEYS.c.name == name))
    if stored != key.secret:
        raise UsageError(
            "key-name", f"the name {name} or this key is taken", "give each key a name of its own"
        )


def find(connection: Connection, name: str) -> Key | None:
    """Give the key of a name, None when there is none."""
    secret = connection.scalar(select(KEYS.c.worthless_secret).where(KEYS.c.name == name))
    return None if secret is None else Key(secret)


def names(connection: Connection) -> dict[str, str]:
    """Give the names of the keys with their addresses."""
    rows = connection.execute(select(KEYS.c.name, KEYS.c.address).order_by(KEYS.c.name))
    return {row.name: row.address for row in rows}


def coins(connection: Connection, script: bytes, least: int = LEAST_COIN) -> list[Utxo]:
    """Give the coins that a script locks and that nothing spends yet, the largest first.

    The change of a pin in the mempool is the largest as a rule, so pins of one key follow each
    other in one chain of coins.
    """
    rows = connection.execute(_COINS, {"lock": script, "least": least})
    return [Utxo(Outpoint(txid, index), Output(value, lock)) for txid, index, value, lock in rows]


def payment(payer: Key, to: Iterable[Output], funds: Iterable[Utxo], rate: int = 1) -> bytes:
    """Build and sign a payment that carries no pin; what is left goes back to the payer.

    Raises `InputError` `funds-short`.
    """
    outputs = list(to)
    paid = sum(output.value for output in outputs)
    fee = fee_for(_PAYMENT_BYTES + sum(9 + len(output.script) for output in outputs), rate)
    coin = next((coin for coin in funds if coin.output.value > paid + fee), None)
    if coin is None:
        raise InputError(
            "funds-short", f"no coin holds more than {paid + fee} satoshi", "pay less at once"
        )
    outputs.append(Output(coin.output.value - paid - fee, payer.script))
    tx = Tx(MVC_VERSION, (Input(coin.outpoint, b""),), tuple(outputs))
    return serialize_tx(sign_tx(tx, [coin.output], [payer]))
