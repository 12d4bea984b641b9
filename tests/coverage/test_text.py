"""Unicode forms: the same as the library's, in time that grows with the text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.coverage.text import folded, is_nfc, nfc

MARKS = "\u0f73\u0f81\u0301\u0316\u0344\u0345\u0327\u3099\u05b0"
TEXTS = st.text() | st.text(st.sampled_from(MARKS + "aé\u1100\u1161\uac00"), max_size=600)


def plainly_folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


@given(TEXTS)
def test_forms_are_unicodes(text: str) -> None:
    assert nfc(text) == unicodedata.normalize("NFC", text)
    assert folded(text) == plainly_folded(text)
    assert is_nfc(text) == (unicodedata.normalize("NFC", text) == text)


@given(st.text(st.sampled_from(MARKS + "aé"), min_size=2, max_size=8), st.integers(40, 120))
def test_long_runs_of_marks_too(text: str, times: int) -> None:
    long = text * times
    assert nfc(long) == unicodedata.normalize("NFC", long)
    assert folded(long) == plainly_folded(long)


@given(TEXTS)
def test_a_folded_text_is_folded_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert folded(nfc(text)) == folded(text)


@pytest.mark.parametrize("form", [nfc, folded])
def test_long_runs_of_marks_take_no_minutes(form: object) -> None:
    """Sorted by insertion, each of these would take minutes."""
    assert callable(form)
    formed = form("a" + "\u0301\u0316" * 100_000)
    assert len(formed) == 200_000
    assert formed == form("a" + "\u0316" * 100_000 + "\u0301" * 100_000)
    assert form("a" + "\u0f73" * 100_000) == form("a" + "\u0f71\u0f72" * 100_000)
