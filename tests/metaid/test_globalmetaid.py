"""Identities: the vectors, and that one payload has one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import load
from refold.kernel.errors import InputError
from refold.metaid import bech32
from refold.metaid.address import Address, Kind
from refold.metaid.globalmetaid import (
    decode_globalmetaid,
    encode_globalmetaid,
    globalmetaid_of,
    metaid_of,
)

VECTORS = load("globalmetaid_vectors.json")
ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def multisig(threshold: int, keys: list[bytes]) -> bytes:
    return bytes((threshold, len(keys))) + b"".join(keys)


key_lists = st.lists(st.binary(min_size=33, max_size=33), min_size=1, max_size=15)
addresses = st.one_of(
    st.builds(
        Address,
        st.sampled_from(("p2pkh", "p2sh", "p2wpkh")),
        st.binary(min_size=20, max_size=20),
    ),
    st.builds(Address, st.sampled_from(("p2wsh", "p2tr")), st.binary(min_size=32, max_size=32)),
    key_lists.flatmap(
        lambda keys: st.integers(1, len(keys)).map(
            lambda threshold: Address("p2ms", multisig(threshold, keys))
        )
    ),
)


@pytest.mark.parametrize("vector", VECTORS["valid"], ids=lambda vector: vector["hash160"][:8])
def test_the_vectors_reproduce(vector: dict[str, str]) -> None:
    address = Address("p2pkh", bytes.fromhex(vector["hash160"]))
    text = vector["globalMetaId"]
    assert encode_globalmetaid(address) == text
    assert decode_globalmetaid(text) == decode_globalmetaid(text.upper()) == address
    assert globalmetaid_of(vector["btc_or_mvc_address"]) == text
    assert metaid_of(vector["btc_or_mvc_address"]) == vector["metaid_of_btc_or_mvc_address"]
    if "doge_address" in vector:
        assert globalmetaid_of(vector["doge_address"]) == text
        assert metaid_of(vector["doge_address"]) == vector["metaid_of_doge_address"]


@pytest.mark.parametrize("vector", VECTORS["other_versions"], ids=lambda vector: vector["kind"])
def test_the_vectors_of_other_kinds_reproduce(vector: dict[str, str]) -> None:
    kind: Kind = vector["kind"]  # type: ignore[assignment]
    address = Address(kind, bytes.fromhex(vector["payload_hex"]))
    assert encode_globalmetaid(address) == vector["globalMetaId"]
    assert decode_globalmetaid(vector["globalMetaId"]) == address


@pytest.mark.parametrize("vector", VECTORS["invalid"], ids=lambda vector: vector["why"])
def test_the_invalid_vectors_are_refused(vector: dict[str, str]) -> None:
    with pytest.raises(InputError):
        decode_globalmetaid(vector["globalMetaId"])


@given(addresses)
def test_an_id_comes_back_the_same(address: Address) -> None:
    text = encode_globalmetaid(address)
    assert decode_globalmetaid(text) == address
    assert len(text) == 42 or address.kind not in {"p2pkh", "p2sh", "p2wpkh"}


@given(addresses.filter(lambda address: address.kind != "p2ms"), st.data())
def test_up_to_four_wrong_characters_are_always_found(
    address: Address, data: st.DataObject
) -> None:
    text = encode_globalmetaid(address)
    places = data.draw(st.lists(st.integers(4, len(text) - 1), min_size=1, max_size=4, unique=True))
    changed = list(text)
    for place in places:
        others = [char for char in ALPHABET if char != text[place]]
        changed[place] = data.draw(st.sampled_from(others))
    with pytest.raises(InputError) as caught:
        decode_globalmetaid("".join(changed))
    assert caught.value.code == "globalmetaid-checksum"


def written(prefix: str, symbols: list[int], constant: int = bech32.BECH32) -> str:
    return bech32.encode_symbols(prefix, symbols, constant)


GOOD = bech32.symbols_of(bytes(20))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "globalmetaid-form"),
        ("idq1", "globalmetaid-form"),
        ("idq", "globalmetaid-form"),
        (written("idx", GOOD), "globalmetaid-form"),
        (written("id", GOOD), "globalmetaid-form"),
        (written("idqq", GOOD), "globalmetaid-form"),
        (written("bc", GOOD), "globalmetaid-form"),
        (written("idq", GOOD, bech32.BECH32M), "globalmetaid-checksum"),
        (written("idq", [0, *GOOD]), "globalmetaid-form"),  # five loose bits: a witness version
        (written("idq", bech32.symbols_of(bytes(21))), "globalmetaid-payload"),
        (written("idq", bech32.symbols_of(bytes(32))), "globalmetaid-payload"),
        (written("idr", [*bech32.symbols_of(bytes(32))[:-1], 1]), "globalmetaid-form"),
        (written("idt", GOOD), "globalmetaid-payload"),
        (written("idy", []), "globalmetaid-payload"),
        (written("idy", bech32.symbols_of(bytes((2, 1, *bytes(33))))), "globalmetaid-payload"),
        (written("idy", bech32.symbols_of(bytes((1, 16, *bytes(528))))), "globalmetaid-payload"),
        (VECTORS["valid"][0]["globalMetaId"] + " ", "globalmetaid-form"),
        # U+212A lower-cases to k
        ("idq1w508d6qejxtdg4y5r3zarvary0c5xw7\u212ay30xwh", "globalmetaid-form"),
        ("idq1" + "q" * 2000, "globalmetaid-form"),
    ],
)
def test_every_fault_has_its_code(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        decode_globalmetaid(text)
    assert caught.value.code == code


@given(st.text(max_size=60) | st.text(ALPHABET + "1id", max_size=60).map("idq1".__add__))
def test_any_text_is_an_id_or_refused(text: str) -> None:
    try:
        address = decode_globalmetaid(text)
    except InputError:
        return
    assert encode_globalmetaid(address) == text.lower()


@given(st.binary(max_size=100))
def test_symbols_hold_bytes_exactly(data: bytes) -> None:
    assert bech32.bytes_of(bech32.symbols_of(data)) == data


@given(st.lists(st.integers(0, 31), max_size=60))
def test_one_string_of_bytes_has_one_row_of_symbols(symbols: list[int]) -> None:
    try:
        data = bech32.bytes_of(symbols)
    except InputError:
        return
    assert bech32.symbols_of(data) == symbols


@pytest.mark.parametrize("address", ["", "errorAddr", "idq1w508d6qejxtdg4y5r3zarvary0c5xw7ky30xwh"])
def test_what_is_no_address_has_no_id(address: str) -> None:
    with pytest.raises(InputError):
        globalmetaid_of(address)
