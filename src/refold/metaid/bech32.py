"""Bech32: bytes in 5-bit symbols with a checksum (BIP 173, BIP 350).

Segwit addresses and globalMetaIds share the alphabet and the checksum; they differ in what the
symbols hold.
"""

from collections.abc import Iterable, Sequence

from refold.kernel.errors import InputError

BECH32 = 1
BECH32M = 0x2BC830A3
"""What the checksum comes out as: BIP 173 and BIP 350."""

_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_VALUES = {symbol: value for value, symbol in enumerate(_ALPHABET)}
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKSUM_SYMBOLS = 6
_MAX_LENGTH = 1000
"""Characters read at all: the longest id, of 15 keys, has 807."""


def encode_symbols(prefix: str, symbols: Sequence[int], constant: int) -> str:
    """Give `prefix`, "1", the symbols (0 to 31 each) and their checksum."""
    tail = [0] * _CHECKSUM_SYMBOLS
    checksum = _polymod((*_expand(prefix), *symbols, *tail)) ^ constant
    check = ((checksum >> 5 * (5 - place)) & 31 for place in range(_CHECKSUM_SYMBOLS))
    return prefix + "1" + "".join(_ALPHABET[symbol] for symbol in (*symbols, *check))


def decode_symbols(text: str, constant: int) -> tuple[str, list[int]]:
    """Give prefix and symbols of a lower-case text, without the checksum.

    Raises `InputError`: `bech32-form` (no prefix, a foreign character, too long or short),
    `bech32-checksum`.
    """
    prefix, separator, data = text.rpartition("1")
    symbols = [_VALUES.get(char, -1) for char in data[:_MAX_LENGTH]]
    if not (separator and prefix and prefix.isascii() and len(text) <= _MAX_LENGTH) or (
        len(symbols) < _CHECKSUM_SYMBOLS or -1 in symbols
    ):
        raise InputError("bech32-form", "the text is not in the form of bech32", "copy it whole")
    if _polymod((*_expand(prefix), *symbols)) != constant:
        raise InputError("bech32-checksum", "the checksum does not fit", "copy it whole, unchanged")
    return prefix, symbols[:-_CHECKSUM_SYMBOLS]


def symbols_of(data: bytes) -> list[int]:
    """Give bytes as 5-bit symbols, most significant first, zero bits at the end."""
    bits = len(data) * 8
    padded = -bits % 5
    number = int.from_bytes(data, "big") << padded
    return [(number >> shift) & 31 for shift in range(bits + padded - 5, -1, -5)]


def bytes_of(symbols: Sequence[int]) -> bytes:
    """Give the bytes in 5-bit symbols; fewer than 5 bits may be left over, all of them zero.

    Raises `InputError` `bech32-padding` otherwise: so one string of bytes has one text.
    """
    number = 0
    for symbol in symbols:
        number = number << 5 | symbol
    size, padded = divmod(len(symbols) * 5, 8)
    if padded >= 5 or number & ((1 << padded) - 1):
        raise InputError(
            "bech32-padding", "the last symbols hold bits that mean nothing", "copy it"
        )
    return (number >> padded).to_bytes(size, "big")


def _expand(prefix: str) -> list[int]:
    """Give the prefix as the checksum takes it: high bits, a zero, low bits."""
    codes = prefix.encode("ascii")
    return [code >> 5 for code in codes] + [0] + [code & 31 for code in codes]


def _polymod(values: Iterable[int]) -> int:
    remainder = 1
    for value in values:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value
        for bit, term in enumerate(_GENERATOR):
            if top >> bit & 1:
                remainder ^= term
    return remainder
