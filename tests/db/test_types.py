"""Texts of strangers survive the databases, whatever is in them."""

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect

from refold.db import AnyText

ANY = st.text(st.characters(codec=None) | st.sampled_from("\\u0d\0\ud800\udfff"))
DIALECTS: tuple[Dialect, ...] = (sqlite.dialect(), postgresql.dialect())  # type: ignore[no-untyped-call]  # the library names no types here


@given(ANY)
def test_a_text_comes_back_as_it_was(text: str) -> None:
    for dialect in DIALECTS:
        stored = AnyText().bind_processor(dialect)(text)
        assert AnyText().result_processor(dialect, None)(stored) == text


@given(ANY)
def test_what_is_stored_is_text_that_every_database_takes(text: str) -> None:
    stored = AnyText().bind_processor(DIALECTS[0])(text)
    assert stored is not None
    assert "\0" not in stored
    stored.encode()


@given(ANY, ANY)
def test_different_texts_stay_different(one: str, other: str) -> None:
    escape = AnyText().bind_processor(DIALECTS[0])
    assert (escape(one) == escape(other)) == (one == other)


@given(st.text(st.characters(exclude_characters="\\\0", codec="utf-8")))
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert AnyText().bind_processor(DIALECTS[0])(text) == text


def test_no_text_stays_none() -> None:
    assert AnyText().bind_processor(DIALECTS[0])(None) is None
    assert AnyText().result_processor(DIALECTS[0], None)(None) is None
