"""Receipts as pins: what is drafted comes back, and what was altered on the way does not."""

import json
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from coverage.receipts import NOW, VALID, changed, check, example
from refold.coverage.chainpin import (
    BLOCK_TIME_SECONDS,
    PATH,
    Pinned,
    Refused,
    chain_order,
    draft,
    payload_of,
    read_pin,
    tuple_of_draft,
)
from refold.kernel.canon import sha256_hex
from refold.kernel.errors import InputError
from refold.kernel.utc import parse_utc
from refold.metaid.pin import Pin
from refold.metaid.tx import Outpoint, Output
from refold.metaid.wallet import BuiltTx, Key, Utxo, build_pin_tx

KEY = Key(b"\x07" * 32)
COIN = Utxo(Outpoint("ab" * 32, 0), Output(10_000_000, KEY.script))
BLOCK_TIME = int(parse_utc(NOW).timestamp())
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
QUICK = settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def written(record: Any) -> tuple[BuiltTx, Pin]:
    """Give a transaction that pins a record, and the pin as an honest indexer lists it."""
    built = build_pin_tx(KEY, tuple_of_draft(draft(check(record))), [COIN])
    said = built.pin.envelope
    pin = Pin(
        id=built.pin.id,
        path=said.path,
        height=100,
        tx_index=3,
        sender=built.pin.named_author,
        operation=said.operation,
        encryption=said.encryption,
        version=said.version,
        content_type=said.content_type,
        timestamp=BLOCK_TIME,
        body=said.payload,
    )
    return built, pin


def codes(read: Pinned | Refused) -> list[str]:
    return [problem.code for problem in read.errors] if isinstance(read, Refused) else []


@pytest.mark.parametrize("make", VALID.values(), ids=VALID)
def test_a_pin_carries_the_record_and_nothing_else(make: Callable[[], Any]) -> None:
    validation = check(make())
    drafted = draft(validation)
    assert (drafted.flag, drafted.operation, drafted.path) == ("metaid", "create", PATH)
    assert (drafted.encryption, drafted.version) == ("0", "1.2.1")
    assert sha256_hex(drafted.payload.encode()) == validation.receipt_hash
    assert json.loads(drafted.payload) == make()


@QUICK
@given(st.sampled_from(list(VALID.values())), TEXT, TEXT)
def test_what_is_drafted_comes_back_through_a_transaction(
    make: Callable[[], Any], question: str, note: str
) -> None:
    record = make() | {"question": question, "note": note}
    built, pin = written(record)
    for raw in (None, built.raw):
        read = read_pin(pin, NOW, raw)
        assert isinstance(read, Pinned)
        assert read.receipt_hash == check(record).receipt_hash
        assert (read.pin_id, read.height, read.tx_index) == (built.pin.id, 100, 3)
        assert (read.author, read.is_proved) == (KEY.globalmetaid, raw is not None)
        assert read.receipt.question == question


@QUICK
@given(st.sampled_from(list(VALID.values())), st.randoms(use_true_random=False))
def test_a_changed_byte_never_passes_for_the_receipt(
    make: Callable[[], Any], dice: random.Random
) -> None:
    """With the transaction it is refused for what it is; without one it has another name."""
    built, pin = written(make())
    at, flip = dice.randrange(len(pin.body)), dice.randrange(1, 256)
    body = bytearray(pin.body)
    body[at] ^= flip
    altered = msgspec.structs.replace(pin, body=bytes(body))
    assert "pin-altered" in codes(read_pin(altered, NOW, built.raw))
    alone = read_pin(altered, NOW)
    if isinstance(alone, Pinned):
        assert alone.receipt_hash != check(make()).receipt_hash
    else:
        assert all(code.startswith("E_") for code in codes(alone))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"operation": "modify"}, "pin-operation"),
        ({"path": "/protocols/simplenote"}, "pin-operation"),
        ({"encryption": "1"}, "pin-encrypted"),
        ({"body": b"{}"}, "E_MISSING_FIELD"),
        ({"body": b"{"}, "E_JSON"),
    ],
)
def test_what_is_no_receipt_is_refused_with_its_code(change: dict[str, Any], code: str) -> None:
    _, pin = written(example())
    assert code in codes(read_pin(msgspec.structs.replace(pin, **change), NOW))


def test_only_the_transaction_of_the_pin_itself_proves_it() -> None:
    _, pin = written(example())
    other, _ = written(example() | {"note": "another"})
    assert codes(read_pin(pin, NOW, other.raw)) == ["pin-unproved"]
    assert codes(read_pin(pin, NOW, b"\x00" * 40)) == ["pin-unproved"]


def test_a_record_in_a_block_is_checked_at_its_time_and_not_at_the_readers() -> None:
    _, pin = written(example())
    as_of = int(parse_utc(example()["corpus"]["asOf"]).timestamp())
    for now in (NOW, "2020-01-01T00:00:00Z", "2090-01-01T00:00:00Z"):
        late = msgspec.structs.replace(pin, timestamp=as_of - BLOCK_TIME_SECONDS)
        early = msgspec.structs.replace(pin, timestamp=as_of - BLOCK_TIME_SECONDS - 301)
        assert isinstance(read_pin(late, now), Pinned)
        assert codes(read_pin(early, now)) == ["E_ASOF_FUTURE"]
    pending = msgspec.structs.replace(pin, height=None)
    assert codes(read_pin(pending, "2020-01-01T00:00:00Z")) == ["E_ASOF_FUTURE"]
    assert isinstance(read_pin(pending, NOW), Pinned)


@pytest.mark.parametrize("timestamp", [-1, 0, 253_402_300_799, 1 << 62])
def test_a_time_of_a_block_that_is_none_does_no_harm(timestamp: int) -> None:
    _, pin = written(example())
    assert isinstance(read_pin(msgspec.structs.replace(pin, timestamp=timestamp), NOW), Pinned)


def test_the_chain_orders_and_not_the_writer() -> None:
    def pinned(height: int | None, number: int, as_of: str) -> Pinned:
        _, pin = written(changed(example(), "/corpus/asOf", as_of))
        moved = msgspec.structs.replace(pin, height=height, id=f"{number:064x}i0")
        read = read_pin(moved, NOW)
        assert isinstance(read, Pinned)
        return read

    late, early = "2030-01-02T23:00:00Z", "2029-01-01T00:00:00Z"
    places = [(5, 9, late), (6, 1, early), (6, 2, late), (7, 0, early), (None, 0, early)]
    found = [pinned(*place) for place in places]
    shuffled = found[::-1]
    random.Random(1).shuffle(shuffled)
    assert sorted(shuffled, key=chain_order) == found


def test_an_invalid_record_has_no_pin() -> None:
    for make in (draft, payload_of):
        with pytest.raises(InputError) as caught:
            make(check({"v": "1.2.1"}))
        assert caught.value.code == "E_MISSING_FIELD"
