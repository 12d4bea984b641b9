"""Transactions: parts, bytes and ids, against vectors, real ones and a second reading."""

import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid import slow
from metaid.samples import RAW_TXS, REAL_TXS, TX_VECTORS, txs
from refold.kernel.errors import InputError
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.tx import MAX_SATOSHI, Output, Tx, parse_tx, plain_txid_of, serialize_tx, txid_of

CODES = {"bytes-cut", "bytes-left", "size-not-minimal", "tx-empty", "value-range"}


@pytest.mark.parametrize("vector", TX_VECTORS, ids=lambda vector: vector["name"])
def test_the_vectors_reproduce(vector: dict[str, Any]) -> None:
    tx = parse_tx(bytes.fromhex(vector["raw_tx_hex"]))
    assert tx.version == vector["tx_version"]
    assert txid_of(tx) == vector["txid"]
    assert plain_txid_of(tx) == vector["double_sha256_id"]
    pin = pin_of_tx(tx)
    assert pin is not None
    assert (pin.id, pin.owner) == (vector["pinId"], vector["owner_address"])
    assert pin.alias == (f"{vector['double_sha256_id']}i0" if tx.version >= 10 else None)
    told = vector["tuple"]
    assert pin.raw.operation.decode() == told["operation"]
    assert pin.raw.path.decode() == told["path"]
    assert pin.envelope.encryption == told["encryption"]
    assert pin.envelope.version == told["version"]
    assert pin.envelope.content_type == told["contentType"]
    assert pin.envelope.payload.decode() == told["payload_utf8"]


@pytest.mark.parametrize("vector", REAL_TXS, ids=lambda vector: vector["name"])
def test_real_transactions_have_the_ids_that_the_chain_gave_them(vector: dict[str, Any]) -> None:
    assert txid_of(parse_tx(bytes.fromhex(vector["raw"]))) == vector["txid"]


@pytest.mark.parametrize("raw", RAW_TXS.values(), ids=list(RAW_TXS))
def test_bytes_come_back_the_same(raw: bytes) -> None:
    assert serialize_tx(parse_tx(raw)) == raw


@given(txs)
def test_parts_come_back_the_same_and_the_second_reading_gives_the_same_id(tx: Tx) -> None:
    raw = serialize_tx(tx)
    assert parse_tx(raw) == tx
    assert txid_of(tx) == slow.txid(raw)
    assert (txid_of(tx) == plain_txid_of(tx)) == (tx.version < 10)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_transaction_or_refused(data: bytes) -> None:
    try:
        again = serialize_tx(parse_tx(data))
    except InputError as error:
        again, code = b"", error.code
    else:
        code = "none"
    assert again == data or code in CODES


def test_the_owner_is_the_first_output_with_an_address() -> None:
    tx = parse_tx(RAW_TXS["v10-short"])
    owner, carrier, change = tx.outputs
    nobody = Output(5, b"\x51")
    places = {(owner, carrier): 0, (carrier, owner): 1, (nobody, carrier, change): 2}
    for outputs, place in places.items():
        pin = pin_of_tx(msgspec.structs.replace(tx, outputs=outputs), tx_index=4)
        assert pin is not None
        assert (pin.id, pin.output) == (f"{pin.txid}i{place}", f"{pin.txid}:{place}")
        assert (pin.owner_index, pin.owner_value) == (place, outputs[place].value)
        assert (pin.owner, pin.tx_index) == (AUTHOR_OF_VECTORS, 4)
        assert pin.tx_in_index == (0xFFFFFFFF if outputs[0] == carrier else 0)


def test_a_pin_without_any_address_belongs_to_nobody() -> None:
    tx = parse_tx(RAW_TXS["v10-short"])
    pin = pin_of_tx(msgspec.structs.replace(tx, outputs=(Output(5, b"\x51"), tx.outputs[1])))
    assert pin is not None
    assert (pin.id, pin.owner, pin.owner_value) == (f"{pin.txid}i0", "", 5)
    assert pin.named_author == ""


def test_only_the_first_pin_of_a_transaction_counts() -> None:
    tx = parse_tx(RAW_TXS["v10-short"])
    short = Output(0, b"\x6a\x06metaid\x06create")
    second = parse_tx(RAW_TXS["v10-hosted"]).outputs[1]
    outputs = (short, second, *tx.outputs)
    pin = pin_of_tx(msgspec.structs.replace(tx, outputs=outputs))
    assert pin is not None
    assert (pin.data_index, pin.envelope.path) == (1, "/protocols/simplenote")


RAW = RAW_TXS["v10-short"]
AUTHOR_OF_VECTORS = TX_VECTORS[0]["owner_address"]


def with_size(at: int, written: str) -> bytes:
    """Give the sample with the size byte at a place written otherwise."""
    return RAW[:at] + bytes.fromhex(written) + RAW[at + 1 :]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "bytes-cut"),
        (RAW + b"\x00", "bytes-left"),
        (with_size(4, "00"), "tx-empty"),
        (with_size(4, "fd0100"), "size-not-minimal"),
        (with_size(4, "fe01000000"), "size-not-minimal"),
        (with_size(4, "ff0100000000000000"), "size-not-minimal"),
        (with_size(41, "fd6a00"), "size-not-minimal"),
        (with_size(4, "ffffffffffffffffff"), "bytes-cut"),
        (with_size(41, "feffffffff"), "bytes-cut"),
        (bytes.fromhex("0200000000010000"), "tx-empty"),
    ],
)
def test_every_fault_has_its_code(raw: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_tx(raw)
    assert caught.value.code == code


@pytest.mark.parametrize(("value", "fits"), [(MAX_SATOSHI, True), (MAX_SATOSHI + 1, False)])
def test_an_output_holds_no_more_than_all_coins(value: int, *, fits: bool) -> None:
    pieces = RAW.replace((97_000_000).to_bytes(8, "little"), value.to_bytes(8, "little"))
    assert pieces != RAW
    if fits:
        assert parse_tx(pieces).outputs[2].value == value
    else:
        with pytest.raises(InputError, match="more satoshi than there are"):
            parse_tx(pieces)


@pytest.mark.parametrize("claim", ["fdffff", "feffffffff", "ffffffffffffffff7f"])
def test_a_claimed_count_allocates_nothing(claim: str) -> None:
    raw = RAW[:4] + bytes.fromhex(claim) + RAW[5:]
    tracemalloc.start()
    with pytest.raises(InputError):
        parse_tx(raw)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000
