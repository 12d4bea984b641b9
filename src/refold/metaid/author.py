"""Who wrote a pin: the check of a claimed author against the signatures of the raw transaction.

Indexers name whoever the first output pays, or whoever owned what the last input spends (facts:
metaid §1.4). One satoshi forges the first, a fee sponsor becomes the second. What cannot be forged
is a signature that commits to the output with the pin. So the verdicts are

* `proven`: the claimed key signs input 0, and a signature of it covers the pin;
* `co-signed`: a signature of the claimed key covers the pin, but input 0 is not shown to be its
  own. So does a sponsor sign, who may not know what was written;
* `signed-key`: input 0 shows the claimed key and a signature that would cover the pin. Whether
  that signature holds was not checked, for the output that it spends is not known: an output that
  asks for no signature can be spent by showing anybody's key;
* `unproven`: none of these.

A signature covers value and script of the spent output. So a lookup that lies can hide a proof and
can never make one.
"""

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.address import Address, hash160
from refold.metaid.chainpin import ChainPin, pin_of_tx
from refold.metaid.envelope import FLAG
from refold.metaid.globalmetaid import decode_globalmetaid, encode_globalmetaid
from refold.metaid.signature import Digests, covers_output, is_defined, read_unlock, verify_input
from refold.metaid.tx import Outpoint, Output, Tx, parse_tx, txid_of

Verdict = Literal["proven", "co-signed", "signed-key", "unproven"]
Lookup = Callable[[Outpoint], Output | None]
"""Gives the output at an outpoint, None when it does not know it."""

REASONS = {
    "id-no-key": "the claimed id is not of a key (idq1…), and only keys sign",
    "key-absent": "no input shows the claimed key",
    "output-only": "the claimed id is only paid by the first output, which anybody can do",
    "pin-open": "a signature of the claimed key leaves open what the transaction says",
    "signature-fails": "a signature of the claimed key does not hold",
    "spent-unknown": "an output that the claimed key spends is not known, nor so its signature",
    "first-input-foreign": "input 0 does not show the claimed key: another one pays",
}
"""Why a verdict is not better, by code."""

NOT_CHECKED = (
    "that the transaction is in a block",
    "that the outputs it spends exist and were unspent",
)
"""What no verdict says."""


class Signer(msgspec.Struct, frozen=True, rename="camel"):
    """What one input shows.

    `signer` is the globalMetaId of the key in an unlocking script of the form of P2PKH, None for
    other forms; `sighash` the type of its signature. `signature` was checked for the claimed key
    alone; `problem` is the code of what `verify_input` refused.
    """

    index: int
    spends: str
    signer: str | None
    sighash: int | None
    covers_pin: bool
    signature: Literal["valid", "invalid", "unchecked"]
    problem: str | None = None


class AuthorCheck(msgspec.Struct, frozen=True, rename="camel"):
    """The verdict on a claim, with all that it rests on.

    `reasons` are codes of `REASONS`, none for `proven`. `named_by_output` is the author that
    manapi lists, "" for none; `named_by_last_input` the key of the last input, whom the metafile
    indexer lists, None where it shows none.
    """

    pin_id: str
    txid: str
    claimed: str
    verdict: Verdict
    reasons: tuple[str, ...]
    named_by_output: str
    named_by_last_input: str | None
    inputs: tuple[Signer, ...]
    not_checked: tuple[str, ...] = NOT_CHECKED


def check_author(
    raw: bytes,
    claimed: str,
    lookup: Lookup | None = None,
    *,
    pin_id: str | None = None,
    flag: bytes = FLAG,
) -> AuthorCheck:
    """Check that the key of a globalMetaId wrote the pin in a raw transaction of MVC.

    `lookup` gives the outputs that are spent (`outputs_of` makes one from parent transactions);
    without it no verdict is better than `signed-key`. With `pin_id` the transaction must be that
    pin's. Raises `InputError`: as `parse_tx` and `decode_globalmetaid` do, `tx-no-pin`,
    `tx-is-another`.
    """
    author = decode_globalmetaid(claimed)
    tx = parse_tx(raw)
    pin = pin_of_tx(tx, flag=flag)
    if pin is None:
        raise InputError("tx-no-pin", "the transaction carries no pin", "give the pin's own")
    if pin_id is not None and pin_id not in {pin.id, pin.alias}:
        raise InputError(
            "tx-is-another",
            f"the transaction carries {pin.id}, not {pin_id}",
            "fetch the transaction that the pin's id begins with",
        )
    claimed_id = encode_globalmetaid(author)
    inputs = _look_at_inputs(tx, pin, claimed_id, lookup)
    verdict, reasons = _judge(author, claimed_id, pin, inputs)
    return AuthorCheck(
        pin_id=pin.id,
        txid=pin.txid,
        claimed=claimed_id,
        verdict=verdict,
        reasons=reasons,
        named_by_output=pin.named_author,
        named_by_last_input=inputs[-1].signer,
        inputs=inputs,
    )


def outputs_of(parents: Iterable[bytes]) -> Lookup:
    """Give a lookup into raw transactions, each under the id that its own bytes make.

    Raises `InputError` as `parse_tx` does.
    """
    parsed = {txid_of(tx): tx for tx in map(parse_tx, parents)}

    def lookup(outpoint: Outpoint) -> Output | None:
        parent = parsed.get(outpoint.txid)
        if parent is None or outpoint.index >= len(parent.outputs):
            return None
        return parent.outputs[outpoint.index]

    return lookup


def _look_at_inputs(
    tx: Tx, pin: ChainPin, claimed: str, lookup: Lookup | None
) -> tuple[Signer, ...]:
    digests = Digests(tx)
    return tuple(_look_at(digests, index, pin, claimed, lookup) for index in range(len(tx.inputs)))


def _look_at(
    digests: Digests, index: int, pin: ChainPin, claimed: str, lookup: Lookup | None
) -> Signer:
    part = digests.tx.inputs[index]
    unlock = read_unlock(part.script)
    if unlock is None:
        return Signer(index, str(part.spends), None, None, False, "unchecked")
    signer = encode_globalmetaid(Address("p2pkh", hash160(unlock.public_key)))
    covers = is_defined(unlock.kind) and covers_output(unlock.kind, index, pin.data_index)
    seen = Signer(index, str(part.spends), signer, unlock.kind, covers, "unchecked")
    spent = lookup(part.spends) if lookup is not None and signer == claimed else None
    if spent is None:
        return seen
    try:
        verify_input(digests, index, spent)
    except InputError as error:
        return msgspec.structs.replace(seen, signature="invalid", problem=error.code)
    return msgspec.structs.replace(seen, signature="valid")


def _judge(
    author: Address, claimed: str, pin: ChainPin, inputs: tuple[Signer, ...]
) -> tuple[Verdict, tuple[str, ...]]:
    if author.kind != "p2pkh":
        return "unproven", ("id-no-key",)
    own = [part for part in inputs if part.signer == claimed]
    if not own:
        paid = ("output-only",) if pin.named_author == claimed else ()
        return "unproven", ("key-absent", *paid)
    first = inputs[0]
    covered = any(part.signature == "valid" and part.covers_pin for part in own)
    if covered and first.signer == claimed and first.signature == "valid":
        return "proven", ()
    reasons = _shortcomings(own, first_is_own=first.signer == claimed)
    if covered:
        return "co-signed", reasons
    shown = first.signer == claimed and first.signature == "unchecked" and first.covers_pin
    return ("signed-key" if shown else "unproven"), reasons


def _shortcomings(own: list[Signer], *, first_is_own: bool) -> tuple[str, ...]:
    found = {
        "pin-open": any(not part.covers_pin for part in own),
        "signature-fails": any(part.signature == "invalid" for part in own),
        "spent-unknown": any(part.signature == "unchecked" for part in own),
        "first-input-foreign": not first_is_own,
    }
    return tuple(code for code, holds in found.items() if holds)
