"""Ed25519, with acceptance rules of our own.

Libraries differ on odd keys and signatures, and each difference is a record that one reader takes
and another refuses. Here a signature (R, S) by the key A on a message is accepted if and only if

1. A is 32 bytes and the signature 64; as text, lower-case hex of these;
2. A and R are not of small order, for such a key signs any message. The eight points have fourteen
   encodings, all refused here; the sign bit on x = 0 is among them;
3. A and R are canonical: y < p = 2²⁵⁵-19, and the curve has a point with this y;
4. S < L, the order of the base point, so that no second signature can be made from a first;
5. [S]B = R + [k]A with k = SHA-512(R ‖ A ‖ message), compared as the bytes of R: the equation
   without the cofactor (RFC 8032 §5.1.7).

A key of mixed order, a small-order part added to a usual one, passes rules 1 to 4, and rule 5 gives
one answer on it. Sources: RFC 8032 §5.1; cold trials spec, keys refused for A and R.
"""

import re
import secrets
from typing import NoReturn

from nacl.bindings import crypto_sign, crypto_sign_open, crypto_sign_seed_keypair
from nacl.exceptions import BadSignatureError

from refold.kernel.errors import InputError

__all__ = [
    "KEY_BYTES",
    "SEED_BYTES",
    "SIGNATURE_BYTES",
    "generate",
    "parse_public",
    "public_of",
    "sign",
    "verify",
]

SEED_BYTES = 32
KEY_BYTES = 32
SIGNATURE_BYTES = 64

# RFC 8032 §5.1: the field, the curve, the order of the base point.
_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_L = 2**252 + 27742317777372353535851937790883648493

# The lower 255 bits of an encoding are y, the top one is the sign of x.
_Y_MASK = 2**255 - 1
# y of a point of order 8; the other y of this order is its negative.
_Y8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
# Every y below 2²⁵⁵ whose points have small order; each with both signs makes the fourteen.
_SMALL_ORDER_Y = frozenset({0, 1, _Y8, _P - _Y8, _P - 1, _P, _P + 1})

_LOWER_HEX = re.compile("[0-9a-f]*")


def generate() -> bytes:
    """Give a new secret seed (32 bytes) from the system's random source."""
    return secrets.token_bytes(SEED_BYTES)


def public_of(seed: bytes) -> bytes:
    """Give the public key (32 bytes) of `seed`; InputError `seed-form` if that is not 32 bytes."""
    return _key_pair(seed)[0]


def sign(seed: bytes, message: bytes) -> bytes:
    """Give the signature (64 bytes) on `message` by `seed`; InputError `seed-form` as above.

    The same seed and message always give the same signature (RFC 8032 §5.1.6).
    """
    return crypto_sign(message, _key_pair(seed)[1])[:SIGNATURE_BYTES]


def parse_public(public: str | bytes) -> bytes:
    """Give the 32 bytes of a public key that rules 1 to 3 accept; text is hex, bytes are raw.

    Raises InputError `key-form`, `key-small-order` or `key-encoding`. Whether anybody holds the
    seed is not checked.
    """
    key = _parse_form("key", public, KEY_BYTES)
    _check_encoding("key", key)
    _check_on_curve("key", key)
    return key


def verify(public: str | bytes, message: bytes, signature: str | bytes) -> None:
    """Return if rules 1 to 5 accept `signature` on `message` by the key `public`.

    Text is hex, bytes are raw. Raises InputError by the rule that failed: 1 `key-form` or
    `signature-form`, 2 `key-small-order` or `signature-small-order`, 3 `key-encoding` or
    `signature-encoding`, 4 `signature-scalar`, 5 `signature-invalid`.
    """
    key = _parse_form("key", public, KEY_BYTES)
    signed = _parse_form("signature", signature, SIGNATURE_BYTES)
    _check_encoding("key", key)
    _check_encoding("signature", signed[:KEY_BYTES])
    if int.from_bytes(signed[KEY_BYTES:], "little") >= _L:
        raise InputError("signature-scalar", "S of the signature is not below L", "sign again")
    try:
        crypto_sign_open(signed + message, key)
    except BadSignatureError:
        # Off the curve no equation holds, so only a failure needs the costly look.
        _check_on_curve("key", key)
        _check_on_curve("signature", signed[:KEY_BYTES])
        raise InputError(
            "signature-invalid",
            "the signature does not fit the key and the message",
            "sign exactly the bytes that are checked, with the seed of this key",
        ) from None


def _key_pair(seed: bytes) -> tuple[bytes, bytes]:
    """Give the public and the secret key of `seed`; an error shows only the seed's length."""
    if len(seed) != SEED_BYTES:
        raise InputError(
            "seed-form",
            f"a seed has {SEED_BYTES} bytes, this one {len(seed)}",
            "give the raw bytes",
        )
    return crypto_sign_seed_keypair(seed)


def _parse_form(what: str, given: str | bytes, size: int) -> bytes:
    """Give the `size` bytes of a key or signature (rule 1)."""
    if isinstance(given, str) and len(given) == 2 * size and _LOWER_HEX.fullmatch(given):
        return bytes.fromhex(given)
    if isinstance(given, bytes) and len(given) == size:
        return given
    raise InputError(
        f"{what}-form",
        f"the {what} is neither {size} bytes nor {2 * size} lower-case hex digits",
        "leave out prefixes, spaces and capitals",
    )


def _check_encoding(what: str, point: bytes) -> None:
    """Refuse an encoded point for small order (rule 2) or y ≥ p (rule 3)."""
    y = int.from_bytes(point, "little") & _Y_MASK
    if y in _SMALL_ORDER_Y:
        raise InputError(
            f"{what}-small-order",
            f"the {what} has a point of small order, which fits any message",
            "make a new key and sign with it",
        )
    if y >= _P:
        _refuse_encoding(what, "its y is not below p")


def _check_on_curve(what: str, point: bytes) -> None:
    """Refuse an encoded point whose y no point of the curve has (rule 3)."""
    y = int.from_bytes(point, "little") & _Y_MASK
    # x² = (y²-1) / (dy²+1): a square if this product is one (Euler's criterion).
    if pow((y * y - 1) * (_D * y * y + 1), (_P - 1) // 2, _P) == _P - 1:
        _refuse_encoding(what, "no point of the curve has its y")


def _refuse_encoding(what: str, why: str) -> NoReturn:
    raise InputError(
        f"{what}-encoding", f"the {what} does not encode a point: {why}", "make it with a library"
    )
