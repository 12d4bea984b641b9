"""Ed25519: the acceptance rules, each with inputs made by curve arithmetic of this file alone."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.kernel import keys
from refold.kernel.errors import InputError

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int]
ZERO: Point = (0, 1)

VECTORS = json.loads(
    (Path(__file__).parents[1] / "vectors" / "ed25519-rfc8032.json").read_text(encoding="utf-8")
)["vectors"]


def xs_of(y: int) -> list[int]:
    """Give every x with (x, y) on -x² + y² = 1 + dx²y²."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    roots = {root, root * pow(2, (P - 1) // 4, P) % P}
    return sorted({sign for r in roots if r * r % P == square for sign in (r, -r % P)})


def add(a: Point, b: Point) -> Point:
    k = D * a[0] * b[0] * a[1] * b[1] % P
    return (
        (a[0] * b[1] + b[0] * a[1]) * pow(1 + k, -1, P) % P,
        (a[1] * b[1] + a[0] * b[0]) * pow(1 - k, -1, P) % P,
    )


def times(n: int, point: Point) -> Point:
    total = ZERO
    while n:
        if n & 1:
            total = add(total, point)
        point, n = add(point, point), n >> 1
    return total


def encode(y: int, sign: int) -> bytes:
    return (y | sign << 255).to_bytes(32, "little")


def encode_point(point: Point) -> bytes:
    return encode(point[1], point[0] & 1)


def small_order_points() -> set[Point]:
    """Give the points p with 8p = 0: L times any point is one, one of order 8 makes all."""
    for y in range(2, 100):
        for x in xs_of(y):
            point = times(L, (x, y))
            if times(4, point) != ZERO:
                return {times(n, point) for n in range(8)}
    raise AssertionError("no point of order 8 found")


def small_order_encodings() -> Iterator[bytes]:
    """Give every encoding that decodes to a small-order point, y ≥ p and -0 taken as they come."""
    for x, y in small_order_points():
        signs = (x & 1,) if x else (0, 1)
        for written in (y, y + P):
            if written < 2**255:
                yield from (encode(written, sign) for sign in signs)


BASE: Point = next((x, y) for y in [4 * pow(5, -1, P) % P] for x in xs_of(y) if x % 2 == 0)
SMALL_ORDER = sorted(small_order_encodings())
TORSION = next(point for point in small_order_points() if times(4, point) != ZERO)
# y ≥ p, and not of small order: 2 to 18 as p + 2 to p + 18.
UNREDUCED = [encode(P + y, sign) for y in range(2, 19) for sign in (0, 1)]
OFF_CURVE = [encode(y, sign) for y in range(2, 30) if not xs_of(y) for sign in (0, 1)]

SEED = bytes(range(32))
PUBLIC = keys.public_of(SEED)
MESSAGE = b"a message"
SIGNATURE = keys.sign(SEED, MESSAGE)


def challenge(r: bytes, public: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % L


def sign_by_hand(secret: int, public: bytes, nonce: int, r: bytes, message: bytes) -> bytes:
    """Sign with any key and any R, also such as no library makes."""
    s = (nonce + challenge(r, public, message) * secret) % L
    return r + s.to_bytes(32, "little")


def refusal(public: str | bytes, signature: str | bytes, message: bytes = MESSAGE) -> str:
    with pytest.raises(InputError) as caught:
        keys.verify(public, message, signature)
    return caught.value.code


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_vectors_of_rfc_8032(vector: dict[str, str]) -> None:
    seed, message = bytes.fromhex(vector["seed"]), bytes.fromhex(vector["message"])
    assert keys.public_of(seed).hex() == vector["public"]
    assert keys.sign(seed, message).hex() == vector["signature"]
    keys.verify(vector["public"], message, vector["signature"])
    assert refusal(vector["public"], vector["signature"], message + b"!") == "signature-invalid"


def test_all_vectors_are_there() -> None:
    assert len(VECTORS) == 5


@settings(deadline=None)
@given(st.binary(min_size=32, max_size=32), st.binary(), st.booleans())
def test_what_is_signed_is_accepted_as_bytes_and_as_hex(
    seed: bytes, message: bytes, as_hex: bool
) -> None:
    public, signature = keys.public_of(seed), keys.sign(seed, message)
    if as_hex:
        keys.verify(public.hex(), message, signature.hex())
    else:
        keys.verify(public, message, signature)
    assert keys.parse_public(public.hex()) == public


@settings(deadline=None)
@given(st.integers(0, 32 * 8 - 1), st.integers(0, 64 * 8 - 1), st.sampled_from([0, 1, 2]))
def test_any_changed_bit_is_refused(key_bit: int, signature_bit: int, part: int) -> None:
    public, message, signature = PUBLIC, MESSAGE, SIGNATURE
    if part == 0:
        public = (int.from_bytes(public, "little") ^ 1 << key_bit).to_bytes(32, "little")
    elif part == 1:
        signature = (int.from_bytes(signature, "little") ^ 1 << signature_bit).to_bytes(
            64, "little"
        )
    else:
        message = b"A message"
    assert refusal(public, signature, message).startswith(("key-", "signature-"))


def test_a_generated_seed_is_new_and_signs() -> None:
    seed = keys.generate()
    assert len(seed) == keys.SEED_BYTES
    assert seed != keys.generate()
    keys.verify(keys.public_of(seed), MESSAGE, keys.sign(seed, MESSAGE))


# Rule 1: form.


@pytest.mark.parametrize(
    "public",
    [
        b"",
        PUBLIC[:-1],
        PUBLIC + b"\0",
        PUBLIC.hex().encode(),
        PUBLIC.hex().upper(),
        PUBLIC.hex()[:-1],
        PUBLIC.hex() + "00",
        PUBLIC.hex()[:-1] + "g",
        PUBLIC.hex()[:-1] + "\n",
        PUBLIC.hex()[:-1] + "\uff11",  # a digit to int(), not to hex
        " " + PUBLIC.hex()[1:],
    ],
)
def test_another_form_of_key_is_refused(public: str | bytes) -> None:
    assert refusal(public, SIGNATURE) == "key-form"
    with pytest.raises(InputError, match="neither 32 bytes nor 64") as caught:
        keys.parse_public(public)
    assert caught.value.code == "key-form"


@pytest.mark.parametrize(
    "signature",
    [
        b"",
        SIGNATURE[:-1],
        SIGNATURE + b"\0",
        SIGNATURE.hex().upper(),
        SIGNATURE.hex()[:-2],
        "0x" + SIGNATURE.hex()[2:],
    ],
)
def test_another_form_of_signature_is_refused(signature: str | bytes) -> None:
    assert refusal(PUBLIC, signature) == "signature-form"


@pytest.mark.parametrize("seed", [b"", SEED[:-1], SEED + b"\0", SEED.hex().encode()])
def test_a_seed_of_another_size_is_refused_and_not_shown(seed: bytes) -> None:
    for use in (keys.public_of, lambda seed: keys.sign(seed, MESSAGE)):
        with pytest.raises(InputError) as caught:
            use(seed)
        assert caught.value.code == "seed-form"
        shown = f"{caught.value}{caught.value!r}"
        assert SEED.hex() not in shown
        assert repr(SEED[:8])[2:-1] not in shown


# Rule 2: small order.


def test_there_are_fourteen_encodings_of_the_eight_small_order_points() -> None:
    assert len(small_order_points()) == 8
    assert len(set(SMALL_ORDER)) == len(SMALL_ORDER) == 14


@pytest.mark.parametrize("encoding", SMALL_ORDER, ids=bytes.hex)
def test_a_small_order_key_is_refused(encoding: bytes) -> None:
    assert refusal(encoding, SIGNATURE) == "key-small-order"
    with pytest.raises(InputError) as caught:
        keys.parse_public(encoding)
    assert caught.value.code == "key-small-order"


@pytest.mark.parametrize("encoding", SMALL_ORDER, ids=bytes.hex)
def test_a_small_order_r_is_refused(encoding: bytes) -> None:
    assert refusal(PUBLIC, encoding + SIGNATURE[32:]) == "signature-small-order"


def test_a_small_order_r_is_refused_although_its_equation_holds() -> None:
    secret = 5
    public, r = encode_point(times(secret, BASE)), encode_point(ZERO)
    signature = sign_by_hand(secret, public, 0, r, MESSAGE)
    s, k = int.from_bytes(signature[32:], "little"), challenge(r, public, MESSAGE)
    assert times(s, BASE) == times(k * secret % L, BASE)
    assert refusal(public, signature) == "signature-small-order"


def test_the_key_of_nobody_is_refused_although_the_equation_holds_for_any_message() -> None:
    """With A = 0 the pair R = sB, S = s satisfies rule 5 for every message."""
    signature = encode_point(times(7, BASE)) + (7).to_bytes(32, "little")
    for message in (b"", b"anything"):
        assert refusal(encode_point(ZERO), signature, message) == "key-small-order"


# Rule 3: encodings.


@pytest.mark.parametrize("encoding", UNREDUCED, ids=bytes.hex)
def test_a_y_that_is_not_below_p_is_refused(encoding: bytes) -> None:
    assert refusal(encoding, SIGNATURE) == "key-encoding"
    assert refusal(PUBLIC, encoding + SIGNATURE[32:]) == "signature-encoding"
    with pytest.raises(InputError, match="not below p") as caught:
        keys.parse_public(encoding)
    assert caught.value.code == "key-encoding"


def test_every_y_from_p_on_is_refused_by_one_rule_or_the_other() -> None:
    beyond = {encode(y, sign) for y in range(P, 2**255) for sign in (0, 1)}
    assert beyond <= {*SMALL_ORDER, *UNREDUCED}


@pytest.mark.parametrize("encoding", OFF_CURVE, ids=bytes.hex)
def test_a_y_off_the_curve_is_refused(encoding: bytes) -> None:
    assert refusal(encoding, SIGNATURE) == "key-encoding"
    assert refusal(PUBLIC, encoding + SIGNATURE[32:]) == "signature-encoding"
    with pytest.raises(InputError, match="no point of the curve") as caught:
        keys.parse_public(encoding)
    assert caught.value.code == "key-encoding"


@pytest.mark.parametrize("y", range(2, 30))
def test_a_key_is_parsed_exactly_if_its_y_is_on_the_curve(y: int) -> None:
    if xs_of(y):
        assert keys.parse_public(encode(y, 0)) == encode(y, 0)
    else:
        assert encode(y, 0) in OFF_CURVE


# Rule 4: the scalar.


@pytest.mark.parametrize("more", range(1, 16))
def test_s_plus_a_multiple_of_l_is_refused(more: int) -> None:
    s = int.from_bytes(SIGNATURE[32:], "little") + more * L
    if s < 2**256:
        again = SIGNATURE[:32] + s.to_bytes(32, "little")
        assert refusal(PUBLIC, again) == "signature-scalar"


@pytest.mark.parametrize(
    ("s", "code"),
    [(L - 1, "signature-invalid"), (L, "signature-scalar"), (2**256 - 1, "signature-scalar")],
)
def test_the_limit_of_s_is_l(s: int, code: str) -> None:
    assert refusal(PUBLIC, SIGNATURE[:32] + s.to_bytes(32, "little")) == code


# Rule 5: the equation, without the cofactor.


def test_a_signature_that_only_the_cofactor_equation_takes_is_refused() -> None:
    secret, nonce = 1234567, 7654321
    public = encode_point(times(secret, BASE))
    r = encode_point(add(times(nonce, BASE), TORSION))
    signature = sign_by_hand(secret, public, nonce, r, MESSAGE)
    assert refusal(public, signature) == "signature-invalid"


def test_a_key_of_mixed_order_is_taken_where_the_equation_holds_and_only_there() -> None:
    """k times the small-order part of A vanishes for one message in eight."""
    secret, nonce = 1234567, 7654321
    public = encode_point(add(times(secret, BASE), TORSION))
    r = encode_point(times(nonce, BASE))
    assert keys.parse_public(public) == public
    seen = set()
    for number in range(64):
        message = b"%d" % number
        holds = challenge(r, public, message) % 8 == 0
        signature = sign_by_hand(secret, public, nonce, r, message)
        if holds:
            keys.verify(public, message, signature)
        else:
            assert refusal(public, signature, message) == "signature-invalid"
        seen.add(holds)
    assert seen == {True, False}


def test_each_code_is_named_where_callers_look_for_it() -> None:
    codes = set(re.findall(r"`((?:key|signature)-[a-z-]+)`", keys.verify.__doc__ or ""))
    assert codes == {
        "key-form",
        "key-small-order",
        "key-encoding",
        "signature-form",
        "signature-small-order",
        "signature-encoding",
        "signature-scalar",
        "signature-invalid",
    }
