"""Pins as lines: what is written is read back as it was."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.metaid.pin import MODIFIED, Pin, Row, pin_of_row
from refold.metaid.pinline import pin_line

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
