"""Identities: metaid and globalMetaId (facts: metaid §2).

A `metaid` hangs on the text of one chain's address. A globalMetaId (`idq1…`) hangs on what the
address locks to and so is one id for one key on every chain: bech32 with the prefix `id` + a
letter for the kind, no witness version in front, and always the checksum of BIP 173.
"""

from hashlib import sha256

from refold.kernel.errors import InputError
from refold.metaid import bech32
from refold.metaid.address import Address, Kind, parse_address

_LETTERS: dict[Kind, str] = {
    "p2pkh": "q",
    "p2sh": "p",
    "p2wpkh": "z",
    "p2wsh": "r",
    "p2ms": "y",
    "p2tr": "t",
}
_KINDS: dict[str, Kind] = {f"id{letter}": kind for kind, letter in _LETTERS.items()}
_SIZES: dict[Kind, int] = {"p2pkh": 20, "p2sh": 20, "p2wpkh": 20, "p2wsh": 32, "p2tr": 32}
_KEY_BYTES = 33
_MAX_KEYS = 15


def encode_globalmetaid(address: Address) -> str:
    """Give the globalMetaId; `InputError` `globalmetaid-payload` for a payload of another size."""
    _check_payload(address)
    prefix = "id" + _LETTERS[address.kind]
    return bech32.encode_symbols(prefix, bech32.symbols_of(address.payload), bech32.BECH32)


def decode_globalmetaid(text: str) -> Address:
    """Read a globalMetaId; capitals are taken as small letters, as everywhere in the network.

    Raises `InputError`: `globalmetaid-form` (prefix, characters, padding),
    `globalmetaid-checksum`, `globalmetaid-payload`. A shortened id is not an id.
    """
    if not text.isascii():  # before lower-casing: the Kelvin sign lower-cases to k
        raise InputError("globalmetaid-form", "a globalMetaId is ASCII", "copy it whole")
    try:
        prefix, symbols = bech32.decode_symbols(text.lower(), bech32.BECH32)
        payload = bech32.bytes_of(symbols)
    except InputError as error:
        part = "checksum" if error.code == "bech32-checksum" else "form"
        raise InputError(f"globalmetaid-{part}", error.message, error.hint) from error
    kind = _KINDS.get(prefix)
    if kind is None:
        raise InputError(
            "globalmetaid-form",
            f"a globalMetaId begins with one of {', '.join(f'{known}1' for known in _KINDS)}",
            "copy it whole",
        )
    address = Address(kind, payload)
    _check_payload(address)
    return address


def globalmetaid_of(address: str) -> str:
    """Give the globalMetaId of an address's text; `InputError` as `parse_address` does."""
    return encode_globalmetaid(parse_address(address))


def metaid_of(address: str) -> str:
    """Give the metaid: SHA-256 of the address's text, in hex. Whether it is one is not checked."""
    return sha256(address.encode()).hexdigest()


def _check_payload(address: Address) -> None:
    payload = address.payload
    if address.kind == "p2ms":
        threshold, keys = (*payload[:2], 0, 0)[:2]
        fits = 1 <= threshold <= keys <= _MAX_KEYS and len(payload) == 2 + keys * _KEY_BYTES
    else:
        fits = len(payload) == _SIZES[address.kind]
    if not fits:
        raise InputError(
            "globalmetaid-payload",
            f"{len(payload)} bytes are no payload of {address.kind}",
            "copy the id whole",
        )
