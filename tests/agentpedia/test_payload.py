"""Payloads: whatever bytes come, one object or none, the same by either way of reading."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.agentpedia.payload import MAX_DEPTH, Shallow, decode_payload

FINE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1)), FINE))
def test_every_object_is_read_as_it_is(value: dict[str, object]) -> None:
    text = json.dumps(value)
    if "\\u0000" not in text:
        assert decode_payload(text.encode()) == json.loads(text)


@given(st.binary(max_size=60))
def test_any_bytes_give_an_object_or_none(data: bytes) -> None:
    payload = decode_payload(data)
    assert payload is None or isinstance(payload, dict)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{} {}",
        b"\xef\xbb\xbf{}",
        b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 01}',
        b'{"a": "\x00"}',
        b'{"a": "\\u0000"}',
        b'{"\\u0000": 1}',
        b'{"a": {"b": ["\\u0000"]}}',
        b'{"a": "\\ud800"}',
        b'{"a": "\\udc00\\ud800"}',
        b'{"\\udfff": 1}',
        '{"a": 1}'.encode("utf-16"),
        b"{'a': 1}",
        b'{"a": 1,}',
    ],
)
def test_malformed(body: bytes) -> None:
    assert decode_payload(body) is None


def nested(depth: int) -> bytes:
    """Give a payload nested `depth` deep, its own object counted."""
    return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def test_the_depth_that_is_read() -> None:
    assert decode_payload(nested(MAX_DEPTH)) is not None
    assert decode_payload(nested(MAX_DEPTH + 1)) is None
    assert decode_payload(nested(100_000)) is None


@pytest.mark.parametrize("frames", [0, 700])
def test_depth_does_not_depend_on_the_stack(frames: int) -> None:
    def deeper(left: int) -> object:
        return deeper(left - 1) if left else decode_payload(nested(MAX_DEPTH))

    assert deeper(frames) is not None


def test_numbers_too_large_are_no_integers_and_harm_nothing_else() -> None:
    for number in (b"1e400", b"9" * 5000):
        payload = decode_payload(b'{"a": ' + number + b', "b": 1}')
        assert payload == {"a": float("inf"), "b": 1}


def test_the_last_of_duplicates_counts_on_both_ways() -> None:
    assert decode_payload(b'{"a": 1, "a": 2}') == {"a": 2}
    assert decode_payload(b'{"a": 1, "a": 2, "b": 1e400}') == {"a": 2, "b": float("inf")}


@given(st.dictionaries(st.text(max_size=3), FINE, max_size=4))
def test_both_ways_agree(value: dict[str, object]) -> None:
    """What msgspec reads is what the standard library reads."""
    text = json.dumps(value).encode()
    try:
        fast = msgspec.json.decode(text, type=Shallow)
    except (msgspec.ValidationError, RecursionError):
        return
    if b"\\u0000" not in text:
        assert fast == json.loads(text) == decode_payload(text)
