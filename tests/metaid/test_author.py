"""Authors: who signed is proven, and every way to borrow a name is seen through.

`A` writes, `V` is the victim whose name is borrowed, `S` pays fees for others.
"""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import AUTHOR, REAL_TXS, REV, SPONSOR, TX_VECTORS, VICTIM, coin, parent
from refold.kernel.errors import InputError
from refold.metaid.address import Address, hash160
from refold.metaid.author import NOT_CHECKED, REASONS, AuthorCheck, check_author, outputs_of
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.envelope import pin_script
from refold.metaid.globalmetaid import encode_globalmetaid
from refold.metaid.script import p2pkh_script, push
from refold.metaid.signature import (
    ALL,
    ALL_FORKID,
    ANYONECANPAY,
    FORKID,
    NONE,
    SINGLE,
    read_unlock,
)
from refold.metaid.tx import Input, Outpoint, Output, Tx, parse_tx, serialize_tx, txid_of
from refold.metaid.wallet import Key, build_pin_tx, sign_tx

A, V, S = AUTHOR, VICTIM, SPONSOR
Who = tuple[Key, int]
"""Who owns and signs an input, and with which type."""

PARENT = parent(*(Output(50_000, key.script) for key in (A, V, S)), Output(50_000, b"\x51"))
PARENT_RAW = serialize_tx(PARENT)
PLACE = {A.key_hash: 0, V.key_hash: 1, S.key_hash: 2}
OPEN = Outpoint(txid_of(PARENT), 3)
"""An output that asks for no signature."""
PIN = Output(0, pin_script(REV))


def pinned(owner: Key, *signers: Who, pin_at: int = 1) -> Tx:
    """Give a pin whose first output pays `owner`, signed by the signers in their order."""
    places = [PLACE[key.key_hash] for key, _ in signers]
    inputs = tuple(Input(Outpoint(txid_of(PARENT), place), b"") for place in places)
    outputs = [Output(1, owner.script), Output(7_000, signers[0][0].script)]
    outputs.insert(pin_at, PIN)
    tx = Tx(10, inputs, tuple(outputs))
    spent = [PARENT.outputs[place] for place in places]
    for key, kind in signers:
        signed = sign_tx(tx, spent, [key], kind)
        tx = msgspec.structs.replace(
            tx,
            inputs=tuple(
                new if spends.script == key.script else old
                for old, new, spends in zip(tx.inputs, signed.inputs, spent, strict=True)
            ),
        )
    return tx


def check(tx: Tx, claimed: Key, *, known: bool = True) -> AuthorCheck:
    lookup = outputs_of([PARENT_RAW]) if known else None
    found = check_author(serialize_tx(tx), claimed.globalmetaid, lookup)
    assert set(found.reasons) <= set(REASONS)
    assert (found.verdict == "proven") == (found.reasons == ())
    assert found.not_checked == NOT_CHECKED
    return found


def verdict(tx: Tx, claimed: Key, *, known: bool = True) -> tuple[str, ...]:
    found = check(tx, claimed, known=known)
    return found.verdict, *found.reasons


HONEST = pinned(A, (A, ALL_FORKID))


def test_the_author_of_a_pin_is_proven() -> None:
    assert verdict(HONEST, A) == ("proven",)
    found = check(HONEST, A)
    assert found.named_by_output == found.named_by_last_input == A.globalmetaid
    assert (found.inputs[0].signature, found.inputs[0].covers_pin) == ("valid", True)


def test_without_the_spent_outputs_only_the_shown_key_is_said() -> None:
    assert verdict(HONEST, A, known=False) == ("signed-key", "spent-unknown")
    assert check(HONEST, A, known=False).inputs[0].signature == "unchecked"


def test_nobody_else_is() -> None:
    for key in (V, S):
        for known in (True, False):
            assert verdict(HONEST, key, known=known) == ("unproven", "key-absent")


# --- the output trick: one satoshi to the victim -------------------------------------------


@pytest.mark.parametrize("known", [True, False])
def test_a_satoshi_to_the_victim_proves_nothing(known: bool) -> None:
    forged = pinned(V, (A, ALL_FORKID))
    found = check(forged, V, known=known)
    assert found.named_by_output == V.globalmetaid
    assert (found.verdict, found.reasons) == ("unproven", ("key-absent", "output-only"))
    # The one who paid for it is found all the same.
    assert check(forged, A, known=known).verdict == ("proven" if known else "signed-key")


# --- foreign inputs: the victim's key without the victim -----------------------------------


def showing(key: Key, spends: Outpoint, script: bytes | None = None) -> Tx:
    """Give A's pin, paid by another output, with the victim's key in the unlocking script."""
    signature = A.unlock(bytes(32))[1:-34]
    script = script or push(signature) + push(key.public)
    inputs = (Input(spends, script), Input(Outpoint(txid_of(PARENT), 0), b""))
    tx = Tx(10, inputs, (Output(1, key.script), PIN))
    spent = [PARENT.outputs[spends.index], PARENT.outputs[0]]
    signed = sign_tx(tx, spent, [A])
    return msgspec.structs.replace(signed, inputs=(tx.inputs[0], signed.inputs[1]))


def test_a_key_shown_to_an_output_that_asks_for_none_is_no_signature() -> None:
    forged = showing(V, OPEN)
    assert verdict(forged, V) == ("unproven", "signature-fails")
    assert check(forged, V).inputs[0].problem == "spend-form"
    # Nobody can tell without the spent output, and the verdict says no more than that.
    assert verdict(forged, V, known=False) == ("signed-key", "spent-unknown")


def test_a_signature_from_elsewhere_is_none_here() -> None:
    elsewhere = pinned(V, (V, ALL_FORKID)).inputs[0]
    forged = showing(V, elsewhere.spends, elsewhere.script)
    assert verdict(forged, V) == ("unproven", "signature-fails")
    assert check(forged, V).inputs[0].problem == "signature-invalid"


@pytest.mark.parametrize("alone", [0, ANYONECANPAY])
def test_a_presigned_coin_does_not_speak_for_its_owner(alone: int) -> None:
    # The uploader's funding transactions: whoever holds one decides the outputs.
    forged = pinned(V, (V, NONE | FORKID | alone))
    found = check(forged, V)
    assert found.inputs[0].signature == "valid"
    assert (found.verdict, found.reasons) == ("unproven", ("pin-open",))
    assert verdict(forged, V, known=False) == ("unproven", "pin-open", "spent-unknown")


@pytest.mark.parametrize("alone", [0, ANYONECANPAY])
def test_a_signature_on_one_output_speaks_for_that_output(alone: int) -> None:
    kind = SINGLE | FORKID | alone
    assert verdict(pinned(V, (V, kind)), V) == ("unproven", "pin-open")
    assert verdict(pinned(A, (A, kind), pin_at=0), A) == ("proven",)


def test_a_victims_presigned_coin_behind_the_authors_own_input() -> None:
    forged = pinned(V, (A, ALL_FORKID), (V, NONE | FORKID | ANYONECANPAY))
    assert verdict(forged, V) == ("unproven", "pin-open", "first-input-foreign")
    assert verdict(forged, A) == ("proven",)


@pytest.mark.parametrize("kind", [ALL, 0, 0x44, 0xFF])
def test_a_type_that_nodes_refuse_covers_nothing(kind: int) -> None:
    forged = pinned(V, (V, kind))
    assert verdict(forged, V) == ("unproven", "pin-open", "signature-fails")
    assert verdict(forged, V, known=False) == ("unproven", "pin-open", "spent-unknown")


# --- the sponsor: somebody else pays the fee -----------------------------------------------

SPONSORED = pinned(A, (A, ALL_FORKID), (S, ALL_FORKID))


def test_a_sponsor_appended_last_is_no_author() -> None:
    found = check(SPONSORED, S)
    assert found.named_by_last_input == S.globalmetaid
    assert (found.verdict, found.reasons) == ("co-signed", ("first-input-foreign",))
    assert verdict(SPONSORED, S, known=False) == (
        "unproven",
        "spent-unknown",
        "first-input-foreign",
    )


def test_a_sponsor_takes_nothing_from_the_author() -> None:
    assert verdict(SPONSORED, A) == ("proven",)
    assert verdict(SPONSORED, A, known=False) == ("signed-key", "spent-unknown")


def test_a_sponsor_who_is_paid_the_first_output_too_is_no_author() -> None:
    forged = pinned(S, (A, ALL_FORKID), (S, ALL_FORKID))
    found = check(forged, S)
    assert found.named_by_output == found.named_by_last_input == S.globalmetaid
    assert (found.verdict, found.reasons) == ("co-signed", ("first-input-foreign",))


def test_a_first_input_that_only_shows_the_sponsors_key_changes_nothing() -> None:
    signature = A.unlock(bytes(32))[1:-34]
    shown = Input(OPEN, push(signature) + push(S.public))
    tx = Tx(10, (shown, Input(Outpoint(txid_of(PARENT), 2), b"")), (Output(1, S.script), PIN))
    signed = sign_tx(tx, [PARENT.outputs[3], PARENT.outputs[2]], [S])
    assert verdict(signed, S) == ("co-signed", "signature-fails")


def test_two_inputs_of_the_author_prove_it_even_if_the_first_leaves_the_pin_open() -> None:
    spends = [Outpoint(txid_of(PARENT), 0), Outpoint("55" * 32, 0)]
    spent = [PARENT.outputs[0], Output(9_000, A.script)]
    tx = Tx(10, tuple(Input(spend, b"") for spend in spends), (Output(1, A.script), PIN))
    opened = sign_tx(tx, spent, [A], NONE | FORKID)
    closed = sign_tx(tx, spent, [A])
    both = msgspec.structs.replace(tx, inputs=(opened.inputs[0], closed.inputs[1]))
    found = check_author(
        serialize_tx(both), A.globalmetaid, dict(zip(spends, spent, strict=True)).get
    )
    assert found.verdict == "proven"
    unknown_first = check_author(serialize_tx(both), A.globalmetaid, {spends[1]: spent[1]}.get)
    assert unknown_first.verdict == "co-signed"
    assert unknown_first.reasons == ("pin-open", "spent-unknown")


# --- lookups -------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from((A.script, V.script, b"\x51", b"")))
def test_a_lying_lookup_can_hide_a_proof_but_make_none(value: int, script: bytes) -> None:
    lie = Output(value, script)
    for tx in (showing(V, OPEN), pinned(V, (A, ALL_FORKID)), pinned(V, (V, NONE | FORKID))):
        found = check_author(serialize_tx(tx), V.globalmetaid, lambda _: lie)
        assert found.verdict == "unproven"
    found = check_author(serialize_tx(HONEST), A.globalmetaid, lambda _: lie)
    assert found.verdict == ("proven" if lie == PARENT.outputs[0] else "unproven")


def test_parents_are_known_by_the_id_that_their_bytes_make() -> None:
    lookup = outputs_of([PARENT_RAW])
    assert lookup(Outpoint(txid_of(PARENT), 0)) == PARENT.outputs[0]
    assert lookup(Outpoint(txid_of(PARENT), 4)) is None
    assert lookup(Outpoint("00" * 32, 0)) is None
    other = msgspec.structs.replace(PARENT, lock_time=1)
    assert outputs_of([serialize_tx(other)])(Outpoint(txid_of(PARENT), 0)) is None
    with pytest.raises(InputError):
        outputs_of([b"\x00"])


@pytest.mark.parametrize("vector", REAL_TXS[:2], ids=lambda vector: vector["name"])
def test_real_authors_are_proven(vector: dict[str, str]) -> None:
    raw = bytes.fromhex(vector["raw"])
    unlock = read_unlock(parse_tx(raw).inputs[0].script)
    assert unlock is not None
    key_hash = hash160(unlock.public_key)
    author = encode_globalmetaid(Address("p2pkh", key_hash))
    spent = Output(int(vector["spentValue"]), p2pkh_script(key_hash))
    found = check_author(raw, author, lambda _: spent)
    assert (found.verdict, found.named_by_output) == ("proven", author)
    assert check_author(raw, author).verdict == "signed-key"
    assert check_author(raw, A.globalmetaid, lambda _: spent).verdict == "unproven"


@pytest.mark.parametrize("vector", TX_VECTORS, ids=lambda vector: vector["name"])
def test_the_made_up_vectors_name_an_owner_who_never_signed(vector: dict[str, str]) -> None:
    raw = bytes.fromhex(vector["raw_tx_hex"])
    named = check_author(raw, A.globalmetaid).named_by_output
    assert check_author(raw, named).reasons == ("key-absent", "output-only")


# --- the claim and the transaction ----------------------------------------------------------


def test_only_an_id_of_a_key_can_be_proven() -> None:
    script_id = encode_globalmetaid(Address("p2sh", A.key_hash))
    found = check_author(serialize_tx(HONEST), script_id, outputs_of([PARENT_RAW]))
    assert (found.verdict, found.reasons) == ("unproven", ("id-no-key",))


def test_the_claim_is_read_like_any_id() -> None:
    found = check_author(serialize_tx(HONEST), A.globalmetaid.upper(), outputs_of([PARENT_RAW]))
    assert (found.verdict, found.claimed) == ("proven", A.globalmetaid)


def test_both_ids_of_a_pin_name_its_transaction_and_no_other_does() -> None:
    raw = serialize_tx(HONEST)
    pin, other = pin_of_tx(HONEST), build_pin_tx(A, REV, [coin(A)]).pin
    assert pin is not None
    assert pin.alias is not None
    for pin_id in (pin.id, pin.alias):
        assert check_author(raw, A.globalmetaid, pin_id=pin_id).pin_id == pin.id
    for pin_id in (other.id, f"{pin.txid}i1", pin.txid, ""):
        with pytest.raises(InputError) as caught:
            check_author(raw, A.globalmetaid, pin_id=pin_id)
        assert caught.value.code == "tx-is-another"


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return caught.value.code


def test_what_cannot_be_judged_is_refused() -> None:
    raw = serialize_tx(HONEST)
    assert code_of(lambda: check_author(PARENT_RAW, A.globalmetaid)) == "tx-no-pin"
    assert code_of(lambda: check_author(raw[:-1], A.globalmetaid)) == "bytes-cut"
    assert code_of(lambda: check_author(raw, A.address)) == "globalmetaid-form"


def test_a_check_is_ready_for_json() -> None:
    found = msgspec.to_builtins(check(SPONSORED, S))
    assert found["namedByOutput"] == A.globalmetaid
    assert [part["coversPin"] for part in found["inputs"]] == [True, True]
    assert found["inputs"][1] == {
        "index": 1,
        "spends": f"{txid_of(PARENT)}:2",
        "signer": S.globalmetaid,
        "sighash": ALL_FORKID,
        "coversPin": True,
        "signature": "valid",
        "problem": None,
    }
