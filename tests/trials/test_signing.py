"""What keys sign: fixed vectors, openssl on the same bytes, and what a wrong signature is told."""

import base64
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.kernel import keys
from refold.trials.signing import (
    SignedMessage,
    digest,
    home_bytes,
    key_bytes,
    message_bytes,
    message_faults,
    message_slips,
    signature_fault,
)

FILE = Path(__file__).parents[1] / "vectors/trials/signatures.json"
VECTORS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
MESSAGES = [vector for vector in VECTORS if vector["kind"] == "message"]
ROOMS = ("commons", "research", "workshop")
SEED = bytes(range(32))
KEY = keys.public_of(SEED).hex()
# The head of a PKCS 8 key of Ed25519 (RFC 8410); the seed follows.
PKCS8 = bytes.fromhex("302e020100300506032b657004220420")

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here")
every_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])


def signed_bytes(vector: dict[str, Any]) -> bytes:
    if vector["kind"] == "message":
        return message_bytes(vector["room"], vector["replyTo"], vector["content"])
    if vector["kind"] == "key":
        return key_bytes(vector["challengeId"])
    return home_bytes(vector["origin"], vector["publicKey"], vector["minute"])


@every_vector
def test_vectors_signed_elsewhere(vector: dict[str, Any]) -> None:
    preimage = signed_bytes(vector)
    seed = bytes.fromhex(vector["seed"])
    assert preimage.hex() == vector["preimage"]
    assert keys.public_of(seed).hex() == vector["publicKey"]
    assert keys.sign(seed, preimage).hex() == vector["signature"]
    assert signature_fault(vector["publicKey"], preimage, vector["signature"]) is None
    if vector["kind"] == "message":
        assert digest(bytes.fromhex(vector["publicKey"]), preimage) == vector["digest"]


@needs_openssl
@every_vector
def test_openssl_signs_and_verifies_the_same(vector: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "key.der").write_bytes(PKCS8 + bytes.fromhex(vector["seed"]))
    (tmp_path / "bytes").write_bytes(signed_bytes(vector))
    command = ["openssl", "pkeyutl", "-sign", "-rawin", "-keyform", "DER"]
    command += ["-inkey", "key.der", "-in", "bytes"]
    made = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout
    assert made.hex() == vector["signature"]


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda vector: vector["name"])
@pytest.mark.parametrize("member", ["room", "replyTo", "content", "publicKey"])
def test_a_signature_is_for_one_message_only(vector: dict[str, Any], member: str) -> None:
    other = {"room": "commons2", "replyTo": 7, "content": "other", "publicKey": KEY}
    preimage = signed_bytes(vector | {member: other[member]})
    key = KEY if member == "publicKey" else vector["publicKey"]
    assert signature_fault(key, preimage, vector["signature"]) is not None


@given(
    st.lists(st.tuples(st.sampled_from(ROOMS), st.none() | st.integers(1), st.text()), min_size=2)
)
def test_no_two_messages_have_the_same_bytes(messages: list[tuple[str, int | None, str]]) -> None:
    fit = [each for each in messages if each[2].isprintable()]
    assert len({message_bytes(*each) for each in fit}) == len(set(fit))


# What people sign instead. Each takes the message and gives the bytes.
Sloppy = Callable[[SignedMessage], bytes]
SLIPS: dict[str, Sloppy] = {
    "newline was signed at the end": lambda m: m.preimage + b"\n",
    "content was signed with CRLF": lambda m: message_bytes(
        m.room, m.reply_to, m.content.replace("\n", "\r\n")
    ),
    "all lines were signed with CRLF": lambda m: m.preimage.replace(b"\n", b"\r\n"),
    "null was signed for no reply_to": lambda m: (
        message_bytes(m.room, None, "").replace(b"\n\n", b"\nnull\n") + m.content.encode()
    ),
    "None was signed for no reply_to": lambda m: (
        f"lockzone-message-v1\n{m.room}\nNone\n{m.content}".encode()
    ),
    "empty line of no reply_to was left out": lambda m: m.preimage.replace(b"\n\n", b"\n", 1),
    "room was signed with capitals": lambda m: message_bytes(
        m.room.capitalize(), m.reply_to, m.content
    ),
    "sha256 of the bytes was signed, not": lambda m: hashlib.sha256(m.preimage).digest(),
    "sha256 of the bytes was signed, in hex": lambda m: (
        hashlib.sha256(m.preimage).hexdigest().encode()
    ),
    "sha512 of the bytes was signed, not": lambda m: hashlib.sha512(m.preimage).digest(),
    "sha256 of the bytes and a newline": lambda m: hashlib.sha256(m.preimage + b"\n").digest(),
    "backslash and n": lambda m: m.preimage.replace(b"\n", b"\\n"),
    "signed as a JSON string": lambda m: message_bytes(
        m.room, m.reply_to, json.dumps(m.content, ensure_ascii=False)
    ),
    "only the content": lambda m: m.content.encode(),
    "first line was left out": lambda m: m.preimage.removeprefix(b"lockzone-message-v1\n"),
    "base64": lambda m: base64.b64encode(m.preimage),
    "Unicode form NFC": lambda m: message_bytes(m.room, m.reply_to, "caf\xe9\nline \u6771"),
}


@pytest.mark.parametrize("said", SLIPS)
def test_a_wrong_signature_is_told_the_bytes_and_the_slip(said: str) -> None:
    message = SignedMessage("commons", None, "cafe\u0301\nline \u6771", KEY, "")
    message = msgspec.structs.replace(
        message, signature=keys.sign(SEED, SLIPS[said](message)).hex()
    )
    wrong = signature_fault(KEY, message.preimage, message.signature, message_slips(message))
    assert wrong is not None
    assert said in wrong.slip
    assert said in wrong.fault.detail
    assert base64.b64decode(wrong.preimage) == message.preimage
    assert wrong.sha256 == hashlib.sha256(message.preimage).hexdigest()


def test_a_signature_of_something_else_has_no_slip() -> None:
    message = SignedMessage("commons", 5, "hi", KEY, keys.sign(SEED, b"else").hex())
    wrong = signature_fault(KEY, message.preimage, message.signature, message_slips(message))
    assert wrong is not None
    assert (wrong.slip, wrong.fault.code) == ("", "signature_wrong")


def test_a_reply_that_was_left_out_is_told() -> None:
    message = SignedMessage(
        "commons", 5, "hi", KEY, keys.sign(SEED, message_bytes("commons", None, "hi")).hex()
    )
    wrong = signature_fault(KEY, message.preimage, message.signature, message_slips(message))
    assert wrong is not None
    assert "reply_to was left out" in wrong.slip


def test_a_key_proof_is_told_too() -> None:
    preimage = key_bytes("c1")
    wrong = signature_fault(KEY, preimage, keys.sign(SEED, preimage + b"\n").hex())
    assert wrong is not None
    assert "newline" in wrong.slip


@given(st.text(max_size=140), st.binary(max_size=50), st.text(max_size=140))
def test_whatever_is_no_signature_is_told_so(key: str, preimage: bytes, signature: str) -> None:
    assert signature_fault(key, preimage, signature) is not None


IDENTITY = "01" + "00" * 31


@pytest.mark.parametrize(
    ("changed", "code", "hint"),
    [
        ({}, "", ""),
        ({"reply_to": 2**63 - 1}, "", ""),
        ({"room": "lobby"}, "room_unknown", "commons, research, workshop"),
        ({"room": "Commons"}, "room_unknown", "commons"),
        ({"reply_to": 0}, "reply_form", ""),
        ({"reply_to": -1}, "reply_form", ""),
        ({"reply_to": 2**63}, "reply_form", ""),
        ({"public_key": KEY.upper()}, "key_form", "lower case"),
        ({"public_key": f" {KEY}"}, "key_form", "without spaces"),
        ({"public_key": f"0x{KEY}"}, "key_form", "0x"),
        ({"public_key": base64.b64encode(bytes.fromhex(KEY)).decode()}, "key_form", "base64"),
        ({"public_key": KEY[:-1]}, "key_form", ""),
        ({"public_key": IDENTITY}, "key_unsafe", ""),
        ({"public_key": "ff" * 32}, "key_unsafe", ""),
        ({"signature": "AB" * 64}, "signature_form", "lower case"),
        ({"signature": "é" * 128}, "signature_form", ""),
        ({"signature": ""}, "signature_form", ""),
    ],
)
def test_the_form_of_a_message(changed: dict[str, Any], code: str, hint: str) -> None:
    message = SignedMessage("commons", None, "hi", KEY, "ab" * 64)
    faults = message_faults(msgspec.structs.replace(message, **changed), ROOMS)
    assert [each.code for each in faults] == [code] * bool(code)
    assert all(hint in each.hint for each in faults)


def test_a_key_of_small_order_signs_nothing_here() -> None:
    assert signature_fault(IDENTITY, b"any message", IDENTITY + "00" * 32) is not None
