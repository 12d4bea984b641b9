"""A second reading of transactions, slow and plain: hex text cut into pieces, curve arithmetic."""

import hashlib
from typing import NamedTuple

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
Point = tuple[int, int] | None


class Pieces(NamedTuple):
    """A transaction as hex: each input is outpoint, script, sequence; each output value, script."""

    version: str
    inputs: list[tuple[str, str, str]]
    outputs: list[tuple[str, str]]
    lock_time: str


def sha256(hexes: str) -> str:
    return hashlib.sha256(bytes.fromhex(hexes)).hexdigest()


def turned(hexes: str) -> str:
    return bytes.fromhex(hexes)[::-1].hex()


def number(hexes: str) -> int:
    return int(turned(hexes), 16)


def size(text: str, at: int) -> tuple[int, int]:
    """Give the compact size at a place of the hex text, and where it ends."""
    width = {"fd": 2, "fe": 4, "ff": 8}.get(text[at : at + 2], 0)
    if width == 0:
        return int(text[at : at + 2], 16), at + 2
    return number(text[at + 2 : at + 2 + 2 * width]), at + 2 + 2 * width


def cut(raw: bytes) -> Pieces:
    text = raw.hex()
    at = 8
    count, at = size(text, at)
    inputs = []
    for _ in range(count):
        outpoint, at = text[at : at + 72], at + 72
        length, at = size(text, at)
        script, at = text[at : at + 2 * length], at + 2 * length
        inputs.append((outpoint, script, text[at : at + 8]))
        at += 8
    count, at = size(text, at)
    outputs = []
    for _ in range(count):
        value, at = text[at : at + 16], at + 16
        length, at = size(text, at)
        outputs.append((value, text[at : at + 2 * length]))
        at += 2 * length
    assert len(text) == at + 8
    return Pieces(text[:8], inputs, outputs, text[at:])


def txid(raw: bytes) -> str:
    pieces = cut(raw)
    version = number(pieces.version)
    if version < 10 or version >= 2**31:
        return turned(sha256(sha256(raw.hex())))
    text = pieces.version + pieces.lock_time
    text += turned(f"{len(pieces.inputs):08x}") + turned(f"{len(pieces.outputs):08x}")
    text += sha256("".join(outpoint + sequence for outpoint, _, sequence in pieces.inputs))
    text += sha256("".join(sha256(script) for _, script, _ in pieces.inputs))
    text += sha256("".join(value + sha256(script) for value, script in pieces.outputs))
    assert len(text) == 2 * 112
    return turned(sha256(sha256(text)))


def digest_all(raw: bytes, index: int, value: int, script: str) -> str:
    """Give what an input signs with type 0x41, for a spent script of less than 253 bytes."""

    def twice(hexes: str) -> str:
        return sha256(sha256(hexes))

    def with_size(hexes: str) -> str:
        length = len(hexes) // 2
        if length < 0xFD:
            return f"{length:02x}{hexes}"
        return "fd" + turned(f"{length:04x}") + hexes

    pieces = cut(raw)
    outpoint, _, sequence = pieces.inputs[index]
    text = pieces.version
    text += twice("".join(part[0] for part in pieces.inputs))
    text += twice("".join(part[2] for part in pieces.inputs))
    text += outpoint + with_size(script) + turned(f"{value:016x}") + sequence
    text += twice("".join(worth + with_size(lock) for worth, lock in pieces.outputs))
    text += pieces.lock_time + "41000000"
    return twice(text)


def add(a: Point, b: Point) -> Point:
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    slope = (
        3 * a[0] * a[0] * pow(2 * a[1], -1, P)
        if a == b
        else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    )
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def times(n: int, point: Point) -> Point:
    total: Point = None
    while n:
        if n & 1:
            total = add(total, point)
        point, n = add(point, point), n >> 1
    return total


def point_of(key: bytes) -> Point:
    x = int.from_bytes(key[1:33], "big")
    if key[0] == 4:
        return x, int.from_bytes(key[33:], "big")
    y = pow(x**3 + 7, (P + 1) // 4, P)
    return x, y if y % 2 == key[0] % 2 else P - y


def signature_numbers(der: bytes) -> tuple[int, int]:
    length = der[3]
    return int.from_bytes(der[4 : 4 + length], "big"), int.from_bytes(der[6 + length :], "big")


def signed_by(key: bytes, der: bytes, digest: bytes) -> bool:
    """Tell whether the ECDSA equation holds."""
    r, s = signature_numbers(der)
    if not (0 < r < N and 0 < s < N):
        return False
    inverse = pow(s, -1, N)
    z = int.from_bytes(digest, "big")
    point = add(times(z * inverse % N, G), times(r * inverse % N, point_of(key)))
    return point is not None and point[0] % N == r
