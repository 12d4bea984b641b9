"""Building pins: every satoshi accounted for, the fee at its rate, the signatures good."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import AUTHOR, REV, VICTIM, coin, raw_tuples
from refold.kernel.errors import InputError
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.envelope import TEST_FLAG, RawTuple, new_tuple, pin_script, read_tuple
from refold.metaid.signature import Digests, verify_input
from refold.metaid.tx import Outpoint, Output, parse_tx, serialize_output, txid_of
from refold.metaid.wallet import BuiltTx, Key, Utxo, build_pin_tx, fee_for, sign_tx

rates = st.integers(0, 5) | st.fractions(0, 3, max_denominator=1000)
values = st.lists(st.integers(1, 4_000), min_size=1, max_size=12)


def coins(amounts: list[int]) -> list[Utxo]:
    return [coin(AUTHOR, value, index=index) for index, value in enumerate(amounts)]


def refused(code: str, raw: RawTuple, utxos: list[Utxo], **options: int) -> str:
    with pytest.raises(InputError) as caught:
        build_pin_tx(AUTHOR, raw, utxos, **options)  # type: ignore[arg-type]
    assert caught.value.code == code
    return caught.value.message


@given(raw_tuples, values, rates, st.integers(1, 600), st.booleans())
def test_a_built_pin_adds_up(
    raw: RawTuple, amounts: list[int], rate: int | Fraction, owner_value: int, op_false: bool
) -> None:
    utxos = coins(amounts)
    try:
        built = build_pin_tx(
            AUTHOR, raw, utxos, rate=rate, owner_value=owner_value, op_false=op_false
        )
    except InputError as error:
        code = error.code
    else:
        check_built(built, raw, owner_value, rate)
        check_selection(built, utxos, rate)
        return
    assert code == "funds-short"
    bare = full_size(
        len(utxos), (Output(0, AUTHOR.script), Output(0, pin_script(raw, op_false=op_false)))
    )
    assert sum(amounts) < owner_value + ceil(bare * rate)


def check_built(built: BuiltTx, raw: RawTuple, owner_value: int, rate: int | Fraction) -> None:
    tx = parse_tx(built.raw)
    assert tx == built.tx
    assert txid_of(tx) == built.txid
    assert pin_of_tx(tx) == built.pin
    assert (built.pin.id, built.pin.owner_index) == (f"{built.txid}i0", 0)
    assert (built.pin.owner, built.pin.owner_value) == (AUTHOR.address, owner_value)
    assert built.pin.named_author == AUTHOR.globalmetaid
    assert (built.pin.raw, built.pin.data_index) == (raw, 1)
    assert tx.outputs[1].value == 0
    paid_in = sum(utxo.output.value for utxo in built.spent)
    assert paid_in == sum(output.value for output in tx.outputs) + built.fee
    assert built.fee >= ceil(len(built.raw) * rate)
    for index, utxo in enumerate(built.spent):
        assert tx.inputs[index].spends == utxo.outpoint
        verify_input(Digests(tx), index, utxo.output)
    check_change(built, rate)


def full_size(inputs: int, outputs: Sequence[Output]) -> int:
    """Give the size with the longest signatures, for less than 253 of each."""
    return 4 + 1 + 148 * inputs + 1 + sum(len(serialize_output(part)) for part in outputs) + 4


def check_change(built: BuiltTx, rate: int | Fraction) -> None:
    """Change is all that the full fee leaves; without it the rest would not make an output."""
    tx, count = built.tx, len(built.spent)
    if built.change is not None:
        assert built.change == Utxo(Outpoint(built.txid, 2), tx.outputs[2])
        assert built.change.output.script == AUTHOR.script
        assert built.change.output.value >= 1
        assert built.fee == ceil(full_size(count, tx.outputs) * rate)
    else:
        assert len(tx.outputs) == 2
        with_change = (*tx.outputs, Output(0, AUTHOR.script))
        assert built.fee - ceil(full_size(count, with_change) * rate) < 1


def check_selection(built: BuiltTx, utxos: list[Utxo], rate: int | Fraction) -> None:
    """Coins are taken in their order, and the last one was needed."""
    count = len(built.spent)
    assert list(built.spent) == utxos[:count]
    less = sum(utxo.output.value for utxo in utxos[: count - 1])
    bare = full_size(count - 1, built.tx.outputs[:2])
    assert count == 1 or less < built.pin.owner_value + ceil(bare * rate)


@pytest.mark.parametrize(("count", "count_bytes"), [(252, 1), (253, 3), (254, 3)])
def test_many_coins_are_counted_exactly(count: int, count_bytes: int) -> None:
    built = build_pin_tx(AUTHOR, REV, coins([1_000] * 300), owner_value=count * 850 - 400)
    assert (len(built.spent), len(built.tx.outputs)) == (count, 3)
    assert built.fee == full_size(count, built.tx.outputs) - 1 + count_bytes


def test_coins_are_not_looked_at_beyond_what_is_needed() -> None:
    utxos = iter(coins([5_000, 5_000, 5_000]))
    assert len(build_pin_tx(AUTHOR, REV, utxos).spent) == 1
    assert len(list(utxos)) == 2


def change_of(value: int, dust_limit: int = 1) -> int | None:
    built = build_pin_tx(AUTHOR, REV, [coin(AUTHOR, value)], owner_value=600, dust_limit=dust_limit)
    return built.change.output.value if built.change else None


def test_change_below_the_dust_limit_is_left_to_the_fee() -> None:
    poorest = next(value for value in range(874, 2_000) if change_of(value) is not None)
    assert change_of(poorest) == 1
    assert change_of(poorest - 1) is None
    assert change_of(poorest + 544, dust_limit=546) is None
    assert change_of(poorest + 545, dust_limit=546) == 546


def test_what_cannot_be_built_is_refused_by_its_code() -> None:
    assert "the coins hold 300 satoshi" in refused("funds-short", REV, coins([100, 200]))
    refused("funds-short", REV, [])
    refused("coin-foreign", REV, [coin(VICTIM)])
    refused("dust", REV, coins([9_000]), owner_value=0)
    refused("dust", REV, coins([9_000]), owner_value=545, dust_limit=546)
    refused("rate-range", REV, coins([9_000]), rate=-1)
    short = RawTuple(b"create", b"/info/name", b"0", b"1", b"text/plain")
    refused("tuple-short", short, coins([9_000]))


def test_a_revoke_needs_no_payload() -> None:
    raw = RawTuple(b"revoke", b"@" + b"ab" * 32 + b"i0", b"0", b"1.0", b"application/json")
    assert build_pin_tx(AUTHOR, raw, coins([9_000])).pin.envelope.payload == b""


def test_versions_flags_and_forms() -> None:
    old = build_pin_tx(AUTHOR, REV, coins([9_000]), version=1)
    assert old.pin.alias is None
    assert build_pin_tx(AUTHOR, REV, coins([9_000])).pin.alias is not None
    assert old.tx.outputs[1].script.startswith(b"\x00\x6a")
    bare = build_pin_tx(AUTHOR, REV, coins([9_000]), op_false=False)
    assert bare.tx.outputs[1].script.startswith(b"\x6a\x06metaid")
    test = build_pin_tx(AUTHOR, REV, coins([9_000]), flag=TEST_FLAG)
    assert read_tuple(test.tx.outputs[1].script) is None
    assert test.pin.raw == REV


def test_the_change_can_be_spent_next() -> None:
    first = build_pin_tx(AUTHOR, REV, [coin(AUTHOR)])
    assert first.change is not None
    target = f"@{first.pin.id}"
    second = build_pin_tx(AUTHOR, new_tuple("modify", target, b"{}"), [first.change])
    verify_input(Digests(second.tx), 0, first.tx.outputs[second.tx.inputs[0].spends.index])
    assert second.pin.envelope.path == target


@given(st.integers(0, 10**6), st.integers(0, 100) | st.fractions(0, 100))
def test_a_fee_is_the_least_whole_number_at_the_rate(size: int, rate: int | Fraction) -> None:
    assert size * rate <= fee_for(size, rate) < size * rate + 1


def test_sign_tx_signs_what_the_keys_own_and_needs_every_spent_output() -> None:
    built = build_pin_tx(AUTHOR, REV, coins([200, 900]))
    spent = [built.spent[0].output, Output(700, VICTIM.script)]
    tx = sign_tx(built.tx, spent, [VICTIM])
    assert tx.inputs[0] == built.tx.inputs[0]
    verify_input(Digests(tx), 1, spent[1])
    with pytest.raises(InputError) as caught:
        sign_tx(built.tx, spent[:1], [AUTHOR])
    assert caught.value.code == "spent-count"


def test_a_key_shows_its_address_and_hides_its_secret() -> None:
    key = Key.generate()
    assert repr(key) == f"Key({key.address})"
    assert key.secret.hex() not in repr(vars(type(key)))
    assert Key(key.secret).address == key.address != Key.generate().address
    assert key.globalmetaid.startswith("idq1")
