"""Stakes of registrations: which registers wait for a look, and what a transaction says of one.

The PRD names neither a recipient nor a custodian of a stake, so none is demanded. What is demanded
is that the money is the applicant's: an output of at least `amountSat` in a transaction that one of
his keys' inputs funds, or that output pays himself. One satoshi that strangers move is nobody
else's stake (spec §4; docs/decisions/0008-facts.md). Bytes prove themselves: the id is their hash.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from refold.agentpedia.event import integer
from refold.agentpedia.schemas import check
from refold.kernel.errors import InputError
from refold.metaid.address import Address, hash160, p2pkh_address
from refold.metaid.globalmetaid import decode_globalmetaid
from refold.metaid.script import address_of
from refold.metaid.signature import read_unlock
from refold.metaid.tx import Tx, parse_tx, plain_txid_of, txid_of

StakeState = Literal["verified", "mismatch", "unavailable"]

REASONS = {
    "": "the transaction is the applicant's, and an output of it is worth the stake",
    "not-asked": "nobody was asked yet",
    "no-source": "there is no source to ask",
    "tx-unknown": "no source knows the transaction",
    "tx-is-another": "the bytes are those of another transaction",
    "tx-alias": "the id is not the transaction's own, but that of its plain double hash",
    "applicant-no-key": "the applicant's id is not one of a key",
    "stake-foreign": "the transaction neither pays the applicant nor shows his key in an input",
    "stake-short": "no output that counts is worth the stake",
}
"""Reasons besides the codes of errors of a source."""


class WantedStake(msgspec.Struct, frozen=True):
    """A stake that a register names: transaction id (hex) and satoshi."""

    txid: str
    amount: int


class StakeFinding(msgspec.Struct, frozen=True):
    """What a transaction says of a stake; `found` is the most that an output is worth that counts.

    `found` is None when no transaction was had.
    """

    state: StakeState
    reason: str
    found: int | None = None
    detail: str = ""


def wanted_stake(sender: str, payload: Mapping[str, object]) -> WantedStake | None:
    """Give the stake that an editor pin names, None for any pin but an applicant's own register.

    What its schema or the rule of registers refuses names none: it is in the graveyard anyway.
    """
    stake = payload.get("stake")
    if payload.get("action") != "register" or payload.get("editor") != sender:
        return None
    if not isinstance(stake, dict) or check("editor", dict(payload)) is not None:
        return None
    txid, amount = stake.get("txid"), integer(stake.get("amountSat"))
    return WantedStake(txid, amount) if isinstance(txid, str) and amount is not None else None


def judge_stake(wanted: WantedStake, applicant: str, raw: bytes | None) -> StakeFinding:
    """Look whether a transaction is the stake of an applicant (globalMetaId).

    `raw` is what a source gave under the id, None when none knows it. Whether it is in a block, and
    whether the signatures in it hold, is not looked at.
    """
    if raw is None:
        return StakeFinding("unavailable", "tx-unknown")
    try:
        tx = parse_tx(raw)
    except InputError as error:
        return StakeFinding("unavailable", error.code, detail=error.message)
    if wanted.txid != txid_of(tx):
        if wanted.txid == plain_txid_of(tx):
            # Under two names one transaction would be the stake of two applicants.
            return StakeFinding("mismatch", "tx-alias", detail=txid_of(tx))
        return StakeFinding("unavailable", "tx-is-another", detail=txid_of(tx))
    try:
        key = decode_globalmetaid(applicant)
    except InputError as error:
        return StakeFinding("unavailable", "applicant-no-key", detail=error.message)
    if key.kind != "p2pkh":
        return StakeFinding("unavailable", "applicant-no-key", detail=key.kind)
    return _weighed(tx, key, wanted.amount)


def _weighed(tx: Tx, key: Address, amount: int) -> StakeFinding:
    own = p2pkh_address(key.payload)
    funded = any(
        unlock is not None and hash160(unlock.public_key) == key.payload
        for unlock in (read_unlock(part.script) for part in tx.inputs)
    )
    worth = [out.value for out in tx.outputs if funded or address_of(out.script) == own]
    if not worth:
        return StakeFinding("mismatch", "stake-foreign", 0)
    found = max(worth)
    if found < amount:
        return StakeFinding("mismatch", "stake-short", found)
    return StakeFinding("verified", "", found)
