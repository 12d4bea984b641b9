"""Scripts: pushes of every size, and the addresses that outputs lock to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import AUTHOR
from refold.kernel.errors import InputError
from refold.metaid.address import hash160, p2pkh_address, p2sh_address
from refold.metaid.script import (
    OP_PUSHDATA1,
    OP_PUSHDATA2,
    OP_PUSHDATA4,
    address_of,
    p2pkh_hash,
    p2pkh_script,
    push,
    pushes_only,
    tokens,
)

KEY_HASH = AUTHOR.key_hash


@pytest.mark.parametrize(
    ("size", "head"),
    [
        (0, "00"),
        (1, "01"),
        (75, "4b"),
        (76, "4c4c"),
        (255, "4cff"),
        (256, "4d0001"),
        (65_535, "4dffff"),
        (65_536, "4e00000100"),
        (70_000, "4e70110100"),
    ],
)
def test_a_push_takes_the_shortest_form(size: int, head: str) -> None:
    data = bytes(size)
    assert push(data) == bytes.fromhex(head) + data
    assert pushes_only(push(data)) == [data]


@given(st.lists(st.binary(max_size=300), max_size=6))
def test_pushes_come_back_the_same(pushes: list[bytes]) -> None:
    assert pushes_only(b"".join(map(push, pushes))) == pushes


@given(st.binary(min_size=1, max_size=20), st.sampled_from((1, 2, 4)))
def test_longer_forms_of_a_push_mean_the_same(data: bytes, width: int) -> None:
    opcode = {1: OP_PUSHDATA1, 2: OP_PUSHDATA2, 4: OP_PUSHDATA4}[width]
    script = bytes((opcode,)) + len(data).to_bytes(width, "little") + data
    assert list(tokens(script)) == [(opcode, data)]


@given(st.binary(min_size=1, max_size=300).map(push), st.data())
def test_a_cut_push_is_refused(script: bytes, data: st.DataObject) -> None:
    cut = script[: data.draw(st.integers(1, len(script) - 1))]
    with pytest.raises(InputError, match="ends beyond the script") as caught:
        list(tokens(cut))
    assert caught.value.code == "script-cut"
    assert pushes_only(cut) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_tokens_or_cut(script: bytes) -> None:
    address_of(script, segwit=True)
    try:
        found = list(tokens(script))
    except InputError:
        return
    assert sum(len(data) for _, data in found) + len(found) <= len(script)


def test_opcodes_that_push_nothing_are_no_pushes() -> None:
    assert list(tokens(b"\x51\x76\x00")) == [(0x51, b""), (0x76, b""), (0, b"")]
    assert pushes_only(b"\x51") is None


@given(st.binary(min_size=20, max_size=20))
def test_p2pkh_and_its_hash(key_hash: bytes) -> None:
    assert p2pkh_hash(p2pkh_script(key_hash)) == key_hash
    assert address_of(p2pkh_script(key_hash)) == p2pkh_address(key_hash)


ADDRESSES = {
    "p2sh": (b"\xa9\x14" + KEY_HASH + b"\x87", p2sh_address(KEY_HASH)),
    "p2pk": (push(AUTHOR.public) + b"\xac", AUTHOR.address),
    "p2pk-long": (
        push(b"\x04" + bytes(64)) + b"\xac",
        p2pkh_address(hash160(b"\x04" + bytes(64))),
    ),
    "no-key": (push(b"\x05" + bytes(32)) + b"\xac", ""),
    "data": (b"\x00\x6a\x01a", ""),
    "empty": (b"", ""),
    "nearly": (p2pkh_script(KEY_HASH)[:-1] + b"\xad", ""),
    "longer": (p2pkh_script(KEY_HASH) + b"\x61", ""),
    "segwit-on-mvc": (b"\x00\x14" + KEY_HASH, ""),
}


@pytest.mark.parametrize(("script", "address"), ADDRESSES.values(), ids=list(ADDRESSES))
def test_the_address_of_an_output(script: bytes, address: str) -> None:
    assert address_of(script) == address


@pytest.mark.parametrize(
    ("script", "address"),
    [  # BIP 173, BIP 350
        (
            "0014751e76e8199196d454941c45d1b3a323f1433bd6",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        ),
        (
            "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
        ),
        ("5114751e76e8199196d454941c45d1b3a323f1433bd6", ""),
        ("5220" + "00" * 32, ""),
    ],
)
def test_witness_programs_have_addresses_on_btc(script: str, address: str) -> None:
    assert address_of(bytes.fromhex(script), segwit=True) == address
