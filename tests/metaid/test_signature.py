"""Signatures: real ones hold, both readings agree, and each type covers what it says."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid import slow
from metaid.samples import AUTHOR, REAL_TXS, VICTIM, txs
from refold.kernel.errors import InputError
from refold.metaid.address import hash160
from refold.metaid.script import p2pkh_script, push
from refold.metaid.signature import (
    ALL,
    ALL_FORKID,
    ANYONECANPAY,
    FORKID,
    NONE,
    SINGLE,
    Digests,
    covers_output,
    is_defined,
    read_unlock,
    verify_input,
)
from refold.metaid.tx import Input, Outpoint, Output, Tx, parse_tx, serialize_tx
from refold.metaid.wallet import Key, sign_tx

SPENT = [Output(5_000, AUTHOR.script), Output(7_000, AUTHOR.script)]
UNSIGNED = Tx(
    10,
    (Input(Outpoint("22" * 32, 0), b""), Input(Outpoint("33" * 32, 5), b"", 7)),
    (Output(1, AUTHOR.script), Output(0, b"\x6a\x01a"), Output(9_000, VICTIM.script)),
    8,
)
TYPES = [base | FORKID | alone for base in (ALL, NONE, SINGLE) for alone in (0, ANYONECANPAY)]


def code_of(tx: Tx, index: int, spent: Output) -> str:
    try:
        verify_input(Digests(tx), index, spent)
    except InputError as error:
        return error.code
    return ""


@pytest.mark.parametrize("vector", REAL_TXS, ids=lambda vector: vector["name"])
def test_signatures_of_the_chain_hold_in_both_readings(vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["raw"])
    tx = parse_tx(raw)
    unlock = read_unlock(tx.inputs[0].script)
    assert unlock is not None
    assert unlock.kind == ALL_FORKID
    spent = Output(vector["spentValue"], p2pkh_script(hash160(unlock.public_key)))
    assert verify_input(Digests(tx), 0, spent) == unlock
    digest = slow.digest_all(raw, 0, spent.value, spent.script.hex())
    assert Digests(tx).of(0, spent, ALL_FORKID).hex() == digest
    assert slow.signed_by(unlock.public_key, unlock.signature, bytes.fromhex(digest))
    for other in (spent.value - 1, spent.value + 1):
        assert code_of(tx, 0, Output(other, spent.script)) == "signature-invalid"


@given(txs, st.integers(0, 21 * 10**14), st.binary(max_size=250), st.data())
def test_both_readings_give_the_same_digest(
    tx: Tx, value: int, script: bytes, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(tx.inputs) - 1))
    digest = Digests(tx).of(index, Output(value, script), ALL_FORKID)
    assert digest.hex() == slow.digest_all(serialize_tx(tx), index, value, script.hex())


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_signatures_are_low_der_and_hold_in_the_second_reading(
    secret: bytes, digest: bytes
) -> None:
    if not 0 < int.from_bytes(secret, "big") < slow.N:
        with pytest.raises(InputError, match="no secret"):
            Key(secret)
        return
    key = Key(secret)
    unlock = read_unlock(key.unlock(digest))
    assert unlock is not None
    assert unlock.public_key == key.public
    assert slow.signature_numbers(unlock.signature)[1] <= slow.N // 2
    assert len(unlock.signature) <= 71
    assert key.unlock(digest) == Key(secret).unlock(digest)


def test_a_made_signature_holds_in_the_second_reading() -> None:
    tx = sign_tx(UNSIGNED, SPENT, [AUTHOR])
    raw = serialize_tx(tx)
    for index, spent in enumerate(SPENT):
        unlock = verify_input(Digests(tx), index, spent)
        digest = bytes.fromhex(slow.digest_all(raw, index, spent.value, spent.script.hex()))
        assert slow.signed_by(unlock.public_key, unlock.signature, digest)
        assert not slow.signed_by(VICTIM.public, unlock.signature, digest)


Change = Callable[[Tx], Tx]


def with_output(index: int) -> Change:
    def change(tx: Tx) -> Tx:
        outputs = list(tx.outputs)
        outputs[index] = Output(outputs[index].value + 1, outputs[index].script)
        return msgspec.structs.replace(tx, outputs=tuple(outputs))

    return change


def with_sequence(index: int) -> Change:
    def change(tx: Tx) -> Tx:
        inputs = list(tx.inputs)
        inputs[index] = msgspec.structs.replace(inputs[index], sequence=1)
        return msgspec.structs.replace(tx, inputs=tuple(inputs))

    return change


def one_more_input(tx: Tx) -> Tx:
    return msgspec.structs.replace(tx, inputs=(*tx.inputs, Input(Outpoint("44" * 32, 0), b"")))


CHANGES: dict[str, tuple[Change, set[int]]] = {
    # what is changed, and the types that still hold on input 0 afterwards
    "nothing": (lambda tx: tx, set(TYPES)),
    "version": (lambda tx: msgspec.structs.replace(tx, version=9), set()),
    "lock time": (lambda tx: msgspec.structs.replace(tx, lock_time=0), set()),
    "own sequence": (with_sequence(0), set()),
    "other sequence": (
        with_sequence(1),
        {kind for kind in TYPES if kind & ANYONECANPAY or kind & 3 != ALL},
    ),
    "another input": (one_more_input, {kind for kind in TYPES if kind & ANYONECANPAY}),
    "same output": (with_output(0), {kind for kind in TYPES if kind & 3 == NONE}),
    "other output": (with_output(2), {kind for kind in TYPES if kind & 3 != ALL}),
}


@pytest.mark.parametrize("kind", TYPES, ids=hex)
@pytest.mark.parametrize(("change", "holding"), CHANGES.values(), ids=list(CHANGES))
def test_a_type_covers_what_it_says(change: Change, holding: set[int], kind: int) -> None:
    tx = change(sign_tx(UNSIGNED, SPENT, [AUTHOR], kind))
    assert code_of(tx, 0, SPENT[0]) == ("" if kind in holding else "signature-invalid")


def test_single_without_an_output_of_its_own_signs_no_output() -> None:
    inputs = tuple(Input(Outpoint(f"{index:02x}" * 32, 0), b"") for index in range(4))
    unsigned = msgspec.structs.replace(UNSIGNED, inputs=inputs)
    tx = sign_tx(unsigned, [SPENT[0]] * 4, [AUTHOR], SINGLE | FORKID)
    for change in (with_output(0), with_output(2)):
        assert code_of(change(tx), 3, SPENT[0]) == ""
    assert not covers_output(SINGLE | FORKID, 3, 1)


def test_which_types_cover_an_output() -> None:
    for kind in TYPES:
        covered = [covers_output(kind, 1, index) for index in range(3)]
        assert (
            covered
            == {
                ALL: [True, True, True],
                NONE: [False, False, False],
                SINGLE: [False, True, False],
            }[kind & 3]
        )


def test_nodes_take_six_types() -> None:
    assert [kind for kind in range(256) if is_defined(kind)] == sorted(TYPES)


def unlocked_by(script: bytes) -> Tx:
    inputs = (msgspec.structs.replace(UNSIGNED.inputs[0], script=script), UNSIGNED.inputs[1])
    return msgspec.structs.replace(UNSIGNED, inputs=inputs)


DIGEST = Digests(UNSIGNED).of(0, SPENT[0], ALL_FORKID)
SIGNED = AUTHOR.unlock(DIGEST)[1:-34]
DER = SIGNED[:-1]


def high_s(der: bytes) -> bytes:
    r, s = slow.signature_numbers(der)
    parts = b"".join(
        b"\x02" + bytes((len(part),)) + part
        for part in (n.to_bytes(n.bit_length() // 8 + 1, "big") for n in (r, slow.N - s))
    )
    return b"\x30" + bytes((len(parts),)) + parts


FAULTS = {
    "spend-form": [
        b"",
        push(SIGNED),
        push(SIGNED) + push(AUTHOR.public) + b"\x51",
        push(b"") + push(AUTHOR.public),
        push(SIGNED) + push(b"\x06" + AUTHOR.public[1:]),
        push(SIGNED) + push(AUTHOR.public)[:-1],
        push(SIGNED) + push(AUTHOR.public) + push(b""),
    ],
    "spend-key": [push(SIGNED) + push(VICTIM.public)],
    "sighash-type": [
        push(DER + bytes((kind,))) + push(AUTHOR.public)
        for kind in (0x00, 0x01, 0x40, 0x44, 0x61, 0x81)
    ],
    "signature-invalid": [
        push(DER + b"\x42") + push(AUTHOR.public),
        push(b"\x41") + push(AUTHOR.public),
        push(b"0\x06\x02\x01\x01\x02\x01\x01\x41") + push(AUTHOR.public),
        push(DER + b"\x00\x41") + push(AUTHOR.public),
        push(high_s(DER) + b"\x41") + push(AUTHOR.public),
        VICTIM.unlock(DIGEST).replace(VICTIM.public, AUTHOR.public),
    ],
}


@pytest.mark.parametrize(
    ("code", "script"), [(code, script) for code, scripts in FAULTS.items() for script in scripts]
)
def test_every_fault_has_its_code(code: str, script: bytes) -> None:
    assert code_of(unlocked_by(AUTHOR.unlock(DIGEST)), 0, SPENT[0]) == ""
    assert code_of(unlocked_by(script), 0, SPENT[0]) == code


def test_the_mirrored_signature_is_one_to_mathematics() -> None:
    assert slow.signed_by(AUTHOR.public, high_s(DER), DIGEST)


def test_only_p2pkh_is_checked() -> None:
    tx = unlocked_by(AUTHOR.unlock(DIGEST))
    for script in (b"\x51", push(AUTHOR.public) + b"\xac", AUTHOR.script + b"\x61"):
        assert code_of(tx, 0, Output(5_000, script)) == "spend-form"


def test_a_key_that_is_no_point_signs_nothing() -> None:
    nowhere = b"\x02" + bytes(31) + b"\x05"  # x = 5 is on no point
    tx = unlocked_by(push(SIGNED) + push(nowhere))
    assert code_of(tx, 0, Output(5_000, p2pkh_script(hash160(nowhere)))) == "signature-invalid"


@given(st.binary(max_size=200))
def test_any_unlocking_script_is_read_or_not(script: bytes) -> None:
    code = code_of(unlocked_by(script), 0, SPENT[0])
    assert code in FAULTS


@pytest.mark.parametrize(
    "secret", [bytes(32), slow.N.to_bytes(32, "big"), b"\xff" * 32, b"", b"\x01", bytes(31) + b"ab"]
)
def test_secrets_out_of_range_are_refused(secret: bytes) -> None:
    with pytest.raises(InputError) as caught:
        Key(secret)
    assert caught.value.code == "key-range"
