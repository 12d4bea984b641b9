"""Receipts on chain: the pin that carries one, and what a pin that came back is taken for.

    pin = draft(validate(data, now))         # the 7-tuple, for any wallet
    read = read_pin(pin_of_an_indexer, now)  # a `Pinned`, or a `Refused` with its codes
    sorted(found, key=chain_order)

The payload is the record and nothing else, in its canonical bytes: its SHA-256 is the receiptHash.
Whoever pins may format it otherwise; the hash stays. A record has no checksum over its free texts,
so only the transaction that a pin's id names can show that an indexer changed a letter of them.
Source: coverage spec P0-9, F-34, §5.6; facts: metaid §1.1, §1.3.
"""

from typing import Final, Literal

import msgspec

from refold.coverage.checks import Validation, validate
from refold.coverage.record import Receipt
from refold.kernel.canon import canonical
from refold.kernel.errors import InputError, Problem
from refold.kernel.utc import later
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.envelope import FLAG, RawTuple, new_tuple
from refold.metaid.pin import Pin
from refold.metaid.tx import parse_tx

__all__ = [
    "BLOCK_TIME_SECONDS",
    "PATH",
    "Draft",
    "Pinned",
    "Refused",
    "chain_order",
    "draft",
    "payload_of",
    "read_pin",
    "tuple_of_draft",
]

PATH: Final = "/protocols/coveragereceipt"
"""Where receipts are pinned."""
CONTENT_TYPE: Final = "application/json"
PLAIN: Final = "0"
"""The encryption of what is not encrypted."""
BLOCK_TIME_SECONDS: Final = 7_200
"""How far the time of a block may be off, as in rule 2a of V-8."""

_EPOCH: Final = "1970-01-01T00:00:00Z"
_LAST_SECOND: Final = 253_402_300_799 - BLOCK_TIME_SECONDS
"""The last Unix second that has a text, less what is added to it."""


class Draft(msgspec.Struct, frozen=True, rename="camel"):
    """The 7-tuple of a pin that carries a receipt; `payload` is text, and goes as UTF-8."""

    flag: str
    operation: Literal["create"]
    path: str
    encryption: str
    version: str
    content_type: str
    payload: str


class Pinned(msgspec.Struct, frozen=True, rename="camel"):
    """A receipt that stands on chain.

    `author` is whom the indexer names, which proves nothing (`refold.metaid.author`). `height` is
    None in the mempool. `is_proved` tells whether the bytes were held against the transaction.
    """

    pin_id: str
    height: int | None
    tx_index: int
    author: str
    timestamp: int
    receipt_hash: str
    receipt: Receipt
    body: bytes
    is_proved: bool = False


class Refused(msgspec.Struct, frozen=True, rename="camel"):
    """A pin at the path that is no receipt, and why: codes of records, or `pin-…` of this module.

    `pin-encrypted`, `pin-operation`: it is no plain create. `pin-altered`: the transaction that its
    id names says something else. `pin-unproved`: what was given is not that transaction.
    """

    pin_id: str
    height: int | None
    author: str
    errors: tuple[Problem, ...]


def payload_of(validation: Validation) -> bytes:
    """Give the bytes to pin: the canonical form of a record. Raises InputError with its errors."""
    if validation.receipt is None:
        raise InputError.of(validation.errors)
    return canonical(validation.value)


def draft(validation: Validation) -> Draft:
    """Give the pin of a valid record; raises InputError with every error of another one."""
    payload = payload_of(validation)
    version = validation.receipt.v if validation.receipt else ""
    return Draft(FLAG.decode(), "create", PATH, PLAIN, version, CONTENT_TYPE, payload.decode())


def tuple_of_draft(drafted: Draft) -> RawTuple:
    """Give a draft as a wallet of ours writes it (`refold.metaid.wallet.build_pin_tx`)."""
    return new_tuple(
        drafted.operation,
        drafted.path,
        drafted.payload.encode(),
        version=drafted.version,
        content_type=drafted.content_type,
        encryption=drafted.encryption,
    )


def read_pin(pin: Pin, now: str, raw: bytes | None = None) -> Pinned | Refused:
    """Say what a pin at `PATH` is. Raises InputError `time-form`, `time-range` for `now` alone.

    A confirmed record is checked at its block's time, and some: whoever imports it, and whenever,
    comes to the same. One in the mempool is checked at `now`. With `raw`, the transaction that the
    id names, every byte is held against it.
    """
    problems = _envelope(pin)
    if raw is not None:
        problems += _proof(pin, raw)
    validation = validate(pin.body, _moment(pin, now))
    if problems or validation.receipt is None:
        return Refused(pin.id, pin.height, pin.sender, (*problems, *validation.errors))
    return Pinned(
        pin_id=pin.id,
        height=pin.height,
        tx_index=pin.tx_index,
        author=pin.sender,
        timestamp=pin.timestamp,
        receipt_hash=validation.receipt_hash,
        receipt=validation.receipt,
        body=pin.body,
        is_proved=raw is not None,
    )


def chain_order(pinned: Pinned) -> tuple[int, int, str]:
    """Give the key that orders receipts: height, then pin id, never asOf (P0-9).

    Those in no block stand behind all others.
    """
    return int(pinned.height is None), pinned.height or 0, pinned.pin_id


def _envelope(pin: Pin) -> list[Problem]:
    problems = []
    if pin.operation != "create" or pin.path != PATH:
        said = f"pin {pin.id} is a {pin.operation or 'pin without operation'} at {pin.path}"
        problems.append(Problem("pin-operation", said, f"a receipt is a create at {PATH}"))
    if pin.encryption != PLAIN:
        said = f"pin {pin.id} is encrypted ({pin.encryption})"
        problems.append(Problem("pin-encrypted", said, "a receipt is for anybody to read"))
    return problems


def _proof(pin: Pin, raw: bytes) -> list[Problem]:
    """Hold a pin against the transaction that its id names."""
    try:
        found = pin_of_tx(parse_tx(raw))
    except InputError as error:
        return [Problem("pin-unproved", f"pin {pin.id}: {error.message}", "fetch it again")]
    if found is None or pin.id not in {found.id, found.alias}:
        what = "carries no pin" if found is None else f"carries {found.id}"
        said = f"the transaction for pin {pin.id} {what}"
        return [Problem("pin-unproved", said, "fetch the transaction that the id begins with")]
    pushed = found.envelope
    truth = (pushed.operation, pushed.path, pushed.encryption, pushed.payload)
    if truth != (pin.operation, pin.path, pin.encryption, pin.body):
        why = f"pin {pin.id} is not what its transaction says"
        return [Problem("pin-altered", why, "ask another indexer")]
    return []


def _moment(pin: Pin, now: str) -> str:
    if pin.height is None or not 0 < pin.timestamp <= _LAST_SECOND:
        return now
    return later(_EPOCH, pin.timestamp + BLOCK_TIME_SECONDS)
