"""Addresses: base58check and segwit, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import load
from refold.kernel.errors import InputError
from refold.metaid import bech32
from refold.metaid.address import (
    Address,
    _base58check,
    p2pkh_address,
    p2sh_address,
    parse_address,
    segwit_address,
)

hashes = st.binary(min_size=20, max_size=20)
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@given(hashes)
def test_base58_comes_back_the_same(payload: bytes) -> None:
    assert parse_address(p2pkh_address(payload)) == Address("p2pkh", payload)
    assert parse_address(p2sh_address(payload)) == Address("p2sh", payload)


@given(hashes | st.binary(min_size=32, max_size=32))
def test_segwit_comes_back_the_same(program: bytes) -> None:
    kind = "p2wpkh" if len(program) == 20 else "p2wsh"
    address = segwit_address(0, program)
    assert parse_address(address) == parse_address(address.upper())
    assert parse_address(address) == Address(kind, program)  # type: ignore[arg-type]
    if len(program) == 32:
        assert parse_address(segwit_address(1, program)) == Address("p2tr", program)


@pytest.mark.parametrize("vector", load("globalmetaid_vectors.json")["valid"])
def test_the_addresses_of_one_key_lock_to_the_same(vector: dict[str, str]) -> None:
    expected = Address("p2pkh", bytes.fromhex(vector["hash160"]))
    assert parse_address(vector["btc_or_mvc_address"]) == expected
    assert p2pkh_address(expected.payload) == vector["btc_or_mvc_address"]
    if "doge_address" in vector:
        assert parse_address(vector["doge_address"]) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "p2wpkh"),  # BIP 173
        ("mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "p2pkh"),  # test network
        ("2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc", "p2sh"),
    ],
)
def test_test_networks_are_read(text: str, kind: str) -> None:
    assert parse_address(text).kind == kind


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "address-form"),
        ("errorAddr", "address-checksum"),
        ("1" * 91, "address-form"),
        ("1JFgdjyqcTJwjxzQD4McJDNn1EVrY4o3Qé", "address-form"),
        (" 1JFgdjyqcTJwjxzQD4McJDNn1EVrY4o3QU", "address-form"),
        ("1JFgdjyqcTJwjxzQD4McJDNn1EVrY4o3Q0", "address-form"),
        ("1JFgdjyqcTJwjxzQD4McJDNn1EVrY4o3Qu", "address-checksum"),
        ("11JFgdjyqcTJwjxzQD4McJDNn1EVrY4o3QU", "address-checksum"),
        (_base58check(b"\x30" + bytes(20)), "address-kind"),
        (_base58check(bytes(22)), "address-kind"),
        (_base58check(bytes(20)), "address-kind"),
        # BIP 173 and BIP 350, invalid addresses
        ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "address-checksum"),
        ("bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", "address-checksum"),
        ("BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL", "address-checksum"),
        ("bc1pw5dgrnzv", "address-kind"),
        ("bc1gmk9yu", "address-checksum"),
        ("BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P", "address-kind"),
        ("tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty", "address-form"),
        ("tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq", "address-form"),
    ],
)
def test_what_is_no_address_is_refused_by_its_code(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_address(text)
    assert caught.value.code == code


def test_the_prefix_ends_at_the_last_one_and_is_the_whole_prefix() -> None:
    text = bech32.encode_symbols("bc1q", [0, *bech32.symbols_of(bytes(20))], bech32.BECH32)
    with pytest.raises(InputError) as caught:
        parse_address(text)
    assert caught.value.code == "address-kind"


@given(hashes, st.integers(0, 33), st.sampled_from(BASE58))
def test_another_character_anywhere_is_refused(payload: bytes, at: int, char: str) -> None:
    address = p2pkh_address(payload)
    changed = address[:at] + char + address[at + 1 :]
    if changed != address:
        with pytest.raises(InputError):
            parse_address(changed)


@given(st.text(max_size=100) | st.text("bct1qp023456789acdefhj", max_size=70))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = parse_address(text)
    except InputError:
        return
    assert len(address.payload) in {20, 32}
