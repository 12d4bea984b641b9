"""Pins on BTC: the envelope in the witness, one pin an input, each with its owner."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import AUTHOR, RAW_TXS, REV, VICTIM, raw_tuples, txs
from refold.kernel.errors import InputError
from refold.metaid.chainpin import ChainPin
from refold.metaid.envelope import RawTuple, normalise, pin_script
from refold.metaid.inscription import (
    MAX_PUSH,
    BtcTx,
    Witness,
    inscription_script,
    inscriptions_of,
    parse_btc_tx,
    read_inscription,
    script_of,
)
from refold.metaid.script import push
from refold.metaid.tx import Input, Outpoint, Output, Tx, parse_tx, serialize_tx
from refold.metaid.wire import byte_string, compact_size

CONTROL = b"\xc0" + bytes(32)
HEAD = push(bytes(32)) + b"\xac"
SCRIPT = inscription_script(REV, head=HEAD)
WITNESS: Witness = (bytes(64), SCRIPT, CONTROL)
P2TR = b"\x51\x20" + bytes(32)


def serialized(btc: BtcTx) -> bytes:
    """Give the bytes with witnesses (BIP 144)."""
    plain = serialize_tx(btc.tx)
    items = b"".join(
        compact_size(len(witness)) + b"".join(map(byte_string, witness))
        for witness in btc.witnesses
    )
    return plain[:4] + b"\x00\x01" + plain[4:-4] + items + plain[-4:]


def tx_of(*witnesses: Witness, outputs: tuple[int, ...] = (546, 546)) -> BtcTx:
    inputs = tuple(Input(Outpoint("77" * 32, index), b"") for index in range(len(witnesses)))
    return BtcTx(Tx(2, inputs, tuple(Output(value, P2TR) for value in outputs)), witnesses)


def lookup(_: Outpoint) -> Output | None:
    return Output(1_000, P2TR)


small_tuples = raw_tuples.filter(lambda raw: all(len(part) <= MAX_PUSH for part in raw.payload))


@given(small_tuples, st.sampled_from((b"", HEAD, b"\x51\x75")))
def test_a_tuple_comes_back_the_same(raw: RawTuple, head: bytes) -> None:
    again = read_inscription(inscription_script(raw, head=head))
    assert again is not None
    assert normalise(again) == normalise(raw)
    assert all(len(part) <= MAX_PUSH for part in again.payload)


@pytest.mark.parametrize("size", [0, 1, 520, 521, 1040, 5000])
def test_a_payload_is_cut_into_pushes_that_btc_takes(size: int) -> None:
    raw = RawTuple(b"create", b"/info/name", b"0", b"1", b"a/b", (b"x" * size,))
    again = read_inscription(inscription_script(raw))
    assert again is not None
    assert b"".join(again.payload) == b"x" * size
    assert len(again.payload) == max(1, -(-size // MAX_PUSH))


LONG = push(b"x" * 521)
OPEN = SCRIPT[:-1]


@pytest.mark.parametrize(
    "script",
    [
        OPEN,  # no OP_ENDIF
        OPEN + b"\x02\x68",  # nor here: it is pushed, and cut
        OPEN + LONG + b"\x68",
        SCRIPT.replace(b"\x00\x63", b"\x51\x63"),
        SCRIPT.replace(b"\x00\x63", b"\x00\x64"),
        SCRIPT.replace(b"\x06metaid", b"\x06testid"),
        b"\x00\x51" + SCRIPT,  # the first OP_FALSE begins no envelope
        HEAD + b"\x00\x63\x06metaid\x06create\x68",
        HEAD + b"\x00\x63\x06metaid",
        HEAD + b"\x00",
        push(SCRIPT),
        pin_script(REV),
        b"",
    ],
    ids=lambda script: script[-8:].hex(),
)
def test_scripts_that_carry_nothing(script: bytes) -> None:
    assert read_inscription(script) is None


def test_what_follows_the_envelope_does_not_matter() -> None:
    for after in (b"\x51", SCRIPT, b"\x4b", b"\x00"):
        assert read_inscription(SCRIPT + after) == REV
    assert read_inscription(OPEN + push(b"x" * 520) + b"\x68") is not None


@given(st.binary(max_size=300))
def test_any_script_is_read_or_carries_nothing(script: bytes) -> None:
    for text in (script, HEAD + b"\x00\x63\x06metaid" + script):
        raw = read_inscription(text)
        assert raw is None or len(raw.payload) <= len(text)


ANNEX = b"\x50annex"


@pytest.mark.parametrize(
    ("witness", "script"),
    [
        ((), b""),
        ((SCRIPT,), b""),
        ((SCRIPT, CONTROL), SCRIPT),
        ((b"a", SCRIPT, CONTROL), SCRIPT),
        ((b"a", SCRIPT, CONTROL, ANNEX), SCRIPT),
        ((SCRIPT, CONTROL, ANNEX), SCRIPT),
        ((SCRIPT, ANNEX), b""),  # a key path with an annex
        ((SCRIPT, b"\x01"), b""),
        ((SCRIPT, b""), b""),
    ],
)
def test_where_the_script_stands(witness: Witness, script: bytes) -> None:
    assert script_of(witness) == script


@given(txs, st.data())
def test_a_transaction_comes_back_the_same(tx: Tx, data: st.DataObject) -> None:
    assert parse_btc_tx(serialize_tx(tx)) == BtcTx(tx, ((),) * len(tx.inputs))
    items = st.lists(st.binary(max_size=80), max_size=3).map(tuple)
    witnesses = tuple(data.draw(items) for _ in tx.inputs)
    btc = BtcTx(tx, witnesses)
    raw = serialized(btc)
    with pytest.raises(InputError):
        parse_tx(raw)
    if not any(witnesses):
        with pytest.raises(InputError) as caught:
            parse_btc_tx(raw)
        assert caught.value.code == "witness-empty"
        return
    assert parse_btc_tx(raw) == btc
    assert inscriptions_of(btc) == []
    cut = data.draw(st.integers(0, len(raw) - 1))
    for damaged in (raw[:cut], raw + b"\x00"):
        with pytest.raises(InputError):
            parse_btc_tx(damaged)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_transaction_or_refused(data: bytes) -> None:
    for raw in (data, b"\x02\x00\x00\x00\x00\x01" + data):
        try:
            btc = parse_btc_tx(raw)
        except InputError:
            continue
        assert raw in {serialize_tx(btc.tx), serialized(btc)}


def test_the_id_leaves_the_witnesses_out_whatever_the_version() -> None:
    tx = parse_tx(RAW_TXS["v10-short"])
    plain = hashlib.sha256(hashlib.sha256(RAW_TXS["v10-short"]).digest()).digest()[::-1].hex()
    assert BtcTx(tx, (WITNESS,)).txid == BtcTx(tx, ((),)).txid == plain


def only(pins: list[ChainPin]) -> ChainPin:
    (pin,) = pins
    return pin


def test_a_pin_of_the_only_input_belongs_to_output_0() -> None:
    btc = tx_of(WITNESS)
    pin = only(inscriptions_of(parse_btc_tx(serialized(btc)), tx_index=9))
    assert (pin.id, pin.chain, pin.alias) == (f"{btc.txid}i0", "btc", None)
    assert (pin.tx_index, pin.data_index, pin.tx_in_index) == (9, 0, 0)
    assert pin.owner.startswith("bc1p")
    assert pin.named_author.startswith("idt1")
    assert pin.raw == REV


def test_every_input_may_carry_a_pin() -> None:
    btc = tx_of(WITNESS, (), WITNESS, outputs=(1_000, 900, 1_100))
    first, second = inscriptions_of(btc, lookup)
    assert [first.data_index, second.data_index] == [0, 2]
    # The third input begins at 2,000 satoshi, which is in the third output.
    assert [first.owner_index, second.owner_index] == [0, 2]
    assert second.output == f"{btc.txid}:2"


@pytest.mark.parametrize(
    ("outputs", "index"), [((1_001, 500), 0), ((1_000, 500), 1), ((400, 500), 0), ((500,), 0)]
)
def test_a_later_pin_belongs_to_the_output_that_its_first_satoshi_goes_to(
    outputs: tuple[int, ...], index: int
) -> None:
    assert only(inscriptions_of(tx_of((), WITNESS, outputs=outputs), lookup)).owner_index == index


def test_a_later_pin_needs_the_values_before_it() -> None:
    for missing in (None, lambda _: None):
        with pytest.raises(InputError) as caught:
            inscriptions_of(tx_of((), WITNESS), missing)
        assert caught.value.code == "spent-unknown"
    assert only(inscriptions_of(tx_of((), WITNESS, outputs=(5,)))).owner_index == 0


def test_an_owner_without_an_address_is_nobody_at_output_0() -> None:
    outputs = (Output(1_000, AUTHOR.script), Output(900, b"\x6a"), Output(9, VICTIM.script))
    inputs = tuple(Input(Outpoint("77" * 32, index), b"") for index in range(2))
    btc = BtcTx(Tx(2, inputs, outputs), ((), WITNESS))
    pin = only(inscriptions_of(btc, lookup))
    assert (pin.owner, pin.owner_index, pin.named_author) == ("", 0, "")
