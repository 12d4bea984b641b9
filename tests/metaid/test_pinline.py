"""Pins as lines: what is written is read back as it was."""

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refold.kernel.errors import InputError
from refold.metaid.pin import MODIFIED, Pin, Row, pin_of_row
from refold.metaid.pinline import pin_line, pin_of_line

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBER = st.integers(0, 2**53 - 1)


@st.composite
def pins(draw: st.DrawFn) -> Pin:
    pin_id = draw(TEXT.filter(bool))
    modified = draw(st.booleans())
    body = draw(st.binary(min_size=1 if modified else 0, max_size=60))
    return Pin(
        id=pin_id,
        path=draw(TEXT),
        height=draw(st.none() | NUMBER),
        tx_index=draw(NUMBER),
        sender=draw(TEXT.filter(bool)),
        operation=draw(TEXT),
        encryption=draw(TEXT),
        version=draw(TEXT),
        content_type=None if modified else draw(TEXT),
        timestamp=draw(NUMBER),
        body=body,
        status=MODIFIED if modified else 0,
        history=(pin_id, "other") if modified else (),
        target=draw(TEXT),
        host=draw(TEXT),
        address=draw(TEXT),
        chain=draw(TEXT),
    )


@given(pins())
def test_a_line_is_read_back_as_the_pin(pin: Pin) -> None:
    line = pin_line(pin)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert pin_of_row(msgspec.json.decode(line, type=Row)) == pin


@pytest.mark.parametrize("body", [b"", b"\xff\x00", b"{}\n", "潮".encode()])
def test_any_body_stays_byte_for_byte(body: bytes) -> None:
    pin = Pin("a", "/p", 1, 0, "s", "create", "0", "1.0", "text/plain", 0, body)
    assert pin_of_row(msgspec.json.decode(pin_line(pin), type=Row)).body == body


@given(
    pins(),
    st.sampled_from([0, MODIFIED, -1, -2]),
    st.sampled_from([(), ("me",), ("me", "other"), ("other", "me")]),
    st.none() | TEXT,
    st.binary(max_size=9),
)
def test_a_pin_that_was_modified_keeps_what_is_known_of_its_first_body(
    pin: Pin, status: int, history: tuple[str, ...], content_type: str | None, body: bytes
) -> None:
    """The chain, or an earlier look at the indexer, can say more than a row of today."""
    known = msgspec.structs.replace(
        pin, id="me", status=status, history=history, content_type=content_type, body=body
    )
    assume(content_type is not None or body)  # else nothing is known that a line could hold
    assert pin_of_line(pin_line(known)) == known
    assert pin_of_row(msgspec.json.decode(pin_line(known), type=Row)) == known


HOSTILE = st.text(st.characters(codec=None) | st.sampled_from('\0\ud800\udfff"\\\n\u2028'))


@given(pins(), HOSTILE, HOSTILE)
def test_a_line_holds_any_text_of_python(pin: Pin, one: str, other: str) -> None:
    hostile = msgspec.structs.replace(
        pin, path=one, operation=other, host=one, target=other, history=(one, other)
    )
    line = pin_line(hostile)
    assert line.count(b"\n") == 1
    assert pin_of_line(line) == hostile


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "row-invalid"),
        (b"hello", "row-invalid"),
        (b"[]", "row-invalid"),
        (b"{}", "row-invalid"),
        (b'{"id": "\xff"}', "row-invalid"),
        (b"[" * 100_000, "row-invalid"),
        (b'{"id":' * 50_000, "row-invalid"),
        (pin_line(Pin("a", "/p", 1, 0, "s", "c", "0", "1", "t", 0, b""))[:-3], "row-invalid"),
        (pin_line(Pin("", "/p", 1, 0, "s", "c", "0", "1", "t", 0, b"")), "pin-empty"),
        (pin_line(Pin("a", "/p", 1, 0, "", "c", "0", "1", "t", 0, b"")), "sender-missing"),
        (b'{"id":"a","path":"","genesisHeight":1,"txIndex":' + b"9" * 5000 + b"}", "row-invalid"),
    ],
)
def test_what_is_no_pin_is_an_error_with_a_code(line: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        pin_of_line(line)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)
