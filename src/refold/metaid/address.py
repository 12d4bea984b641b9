"""Addresses: base58check and segwit, as a kind and its payload (facts: metaid §2.2)."""

from hashlib import new as new_hash
from hashlib import sha256
from typing import Literal

import msgspec

from refold.kernel.errors import InputError
from refold.metaid import bech32
from refold.metaid.wire import double_sha256

Kind = Literal["p2pkh", "p2sh", "p2wpkh", "p2wsh", "p2ms", "p2tr"]

HASH160_BYTES = 20
MAX_LENGTH = 90
"""Characters of an address: BIP 173 allows 90, base58check needs 34 here."""

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE58_VALUES = {char: value for value, char in enumerate(_BASE58)}
_CHECKSUM_BYTES = 4
_KIND_OF_VERSION: dict[int, Kind] = {
    0x00: "p2pkh",  # BTC and MVC
    0x6F: "p2pkh",  # their test networks
    0x1E: "p2pkh",  # DOGE
    0x05: "p2sh",
    0xC4: "p2sh",
    0x16: "p2sh",  # DOGE
}
_SEGWIT_PREFIXES = ("bc", "tb")
_KIND_OF_PROGRAM: dict[tuple[int, int], Kind] = {
    (0, 20): "p2wpkh",
    (0, 32): "p2wsh",
    (1, 32): "p2tr",
}


class Address(msgspec.Struct, frozen=True):
    """What an address locks to, whatever the chain: 20 bytes of hash, 32 for p2wsh and p2tr.

    For p2ms, which no address spells: threshold, number of keys, then 33 bytes a key.
    """

    kind: Kind
    payload: bytes


def hash160(data: bytes) -> bytes:
    """Give RIPEMD-160 of SHA-256 of `data` (20 bytes)."""
    return new_hash("ripemd160", sha256(data).digest()).digest()


def parse_address(text: str) -> Address:
    """Read an address of BTC, MVC or DOGE, or of a test network of BTC and MVC.

    Raises `InputError`: `address-form`, `address-checksum`, `address-kind`.
    """
    if not 0 < len(text) <= MAX_LENGTH or not text.isascii():
        raise InputError("address-form", "the text is no address", "copy it whole")
    if text.lower().startswith(tuple(f"{prefix}1" for prefix in _SEGWIT_PREFIXES)):
        return _parse_segwit(text)
    return _parse_base58(text)


def p2pkh_address(key_hash: bytes) -> str:
    """Give the P2PKH address of a hash160 on MVC and BTC."""
    return _base58check(b"\x00" + key_hash)


def p2sh_address(script_hash: bytes) -> str:
    """Give the P2SH address of a hash160 on MVC and BTC."""
    return _base58check(b"\x05" + script_hash)


def segwit_address(version: int, program: bytes) -> str:
    """Give the BTC address of a witness program (BIP 173; BIP 350 from version 1 on)."""
    constant = bech32.BECH32 if version == 0 else bech32.BECH32M
    return bech32.encode_symbols("bc", [version, *bech32.symbols_of(program)], constant)


def _parse_base58(text: str) -> Address:
    number = 0
    for char in text:
        value = _BASE58_VALUES.get(char)
        if value is None:
            raise InputError("address-form", "a character is none of base58", "copy it whole")
        number = number * 58 + value
    zeros = len(text) - len(text.lstrip("1"))
    data = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    body, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if not body or double_sha256(body)[:_CHECKSUM_BYTES] != checksum:
        raise InputError("address-checksum", "the checksum does not fit", "copy it whole")
    kind = _KIND_OF_VERSION.get(body[0])
    if kind is None or len(body) != 1 + HASH160_BYTES:
        raise InputError(
            "address-kind",
            f"no kind of address has version {body[0]:#04x} and {len(body) - 1} bytes",
            "give an address of MVC, BTC or DOGE",
        )
    return Address(kind, body[1:])


def _base58check(body: bytes) -> str:
    data = body + double_sha256(body)[:_CHECKSUM_BYTES]
    number = int.from_bytes(data, "big")
    chars = []
    while number:
        number, value = divmod(number, 58)
        chars.append(_BASE58[value])
    zeros = len(data) - len(data.lstrip(b"\x00"))
    return "1" * zeros + "".join(reversed(chars))


def _parse_segwit(text: str) -> Address:
    if text not in {text.lower(), text.upper()}:
        raise InputError("address-form", "the address mixes capitals and small letters", "copy it")
    text = text.lower()
    # The witness version, the first symbol, decides which checksum it must be (BIP 350).
    version = "qp".find(text[3:4])
    constant = bech32.BECH32 if version == 0 else bech32.BECH32M
    try:
        prefix, symbols = bech32.decode_symbols(text, constant)
        program = bech32.bytes_of(symbols[1:])
    except InputError as error:
        code = "address-checksum" if error.code == "bech32-checksum" else "address-form"
        raise InputError(code, error.message, error.hint) from error
    kind = _KIND_OF_PROGRAM.get((version, len(program)))
    if kind is None or prefix not in _SEGWIT_PREFIXES:
        raise InputError(
            "address-kind",
            f"no kind of address has a witness program of {len(program)} bytes of this version",
            "give a P2WPKH, P2WSH or P2TR address",
        )
    return Address(kind, program)
