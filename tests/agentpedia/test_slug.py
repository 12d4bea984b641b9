"""Slugs (PRD §4.2): what the way from a title keeps, drops and refuses."""

import unicodedata

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from refold.agentpedia import schemas
from refold.agentpedia.slug import (
    MAX_LENGTH,
    MAX_TITLE_LENGTH,
    SlugResult,
    entry_key,
    normalize_slug,
    slug_of,
)
from refold.kernel.errors import InputError

# A first run builds Hypothesis's tables of Unicode, which takes longer than it allows for.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SLUG_IN_REV = jsonschema_rs.Draft7Validator(schemas.schema("rev")["properties"]["slug"])
# Lone surrogates too: a writer's title may hold anything that Python can.
TITLES = st.text(st.characters(codec=None), max_size=MAX_TITLE_LENGTH)
SLUGS = st.text(
    st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789_-")
    | st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)
    | st.characters(min_codepoint=0x3400, max_codepoint=0x4DBF),
    min_size=1,
    max_size=MAX_LENGTH,
)


def refusal(title: str) -> InputError:
    with pytest.raises(InputError) as caught:
        slug_of(title)
    return caught.value


@pytest.mark.parametrize(
    ("title", "slug", "dropped"),
    [
        ("Tide table", "tide_table", ""),
        ("潮汐表", "潮汐表", ""),
        ("㐀䶿一鿿", "㐀䶿一鿿", ""),
        ("a  b", "a__b", ""),
        (" a ", "_a_", ""),
        ("a\u00a0b\u3000c\u2003d\u202fe", "a_b_c_d_e", ""),
        ("a\tb\nc\u1680d", "abcd", "\t\n\u1680"),
        ("C++", "c", "++"),
        ("C#", "c", "#"),
        ("Ｔｉｄｅ－１", "tide-1", ""),
        ("ﬁord Ⅳ", "fiord_iv", ""),
        ("\u212a and \u017f", "k_and_s", ""),
        ("İ", "i", "\u0307"),
        ("e\u0301té", "t", "éé"),
        ("en:tide", "entide", ":"),
        ("\U00020000水", "水", "\U00020000"),
        ("\uf9d1", "六", ""),
        ("ab\ud800", "ab", "\ud800"),
    ],
)
def test_a_title_gives_this_slug_and_loses_this(title: str, slug: str, dropped: str) -> None:
    assert slug_of(title) == SlugResult(slug, dropped)
    assert normalize_slug(title) == slug


@patient
@given(TITLES)
def test_every_title_gives_a_slug_that_the_rev_schema_takes_or_a_clear_error(title: str) -> None:
    try:
        slug = normalize_slug(title)
    except InputError:
        error = refusal(title)
        assert error.code in {"slug-empty", "slug-too-long"}
        assert str(error).isprintable()
        assert error.hint
    else:
        assert SLUG_IN_REV.is_valid(slug)


@patient
@given(SLUGS)
def test_a_slug_is_its_own_slug_and_nothing_is_dropped(slug: str) -> None:
    assert slug_of(slug) == SlugResult(slug, "")


@patient
@given(TITLES)
def test_normalising_twice_is_normalising_once(title: str) -> None:
    try:
        slug = normalize_slug(title)
    except InputError:
        assume(False)
    else:
        assert slug_of(slug) == SlugResult(slug, "")


@patient
@given(TITLES)
def test_every_character_is_kept_or_reported(title: str) -> None:
    try:
        result = slug_of(title)
    except InputError:
        assume(False)
    else:
        text = unicodedata.normalize("NFKC", title).lower().replace(" ", "_")
        assert sorted(result.slug + result.dropped) == sorted(text)


def test_the_alphabet_is_that_of_the_schema_for_every_character_there_is() -> None:
    everything = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    kept = [char for char in everything if normalize_slug(f"_{char}") == f"_{char}"]
    assert kept == [char for char in everything if SLUG_IN_REV.is_valid(char)]
    assert len(kept) == 26 + 10 + 2 + (0x9FFF - 0x4E00 + 1) + (0x4DBF - 0x3400 + 1)


@pytest.mark.parametrize("title", ["", "!?", "العربية", "\u202e\n", "\U00020000"])
def test_a_title_that_leaves_nothing_is_an_error_that_names_what_was_dropped(title: str) -> None:
    error = refusal(title)
    assert error.code == "slug-empty"
    assert str(error).isprintable()
    for char in title:
        assert char in str(error) or f"{ord(char):x}" in str(error) or char == "\n"


def test_a_slug_may_have_96_characters_and_not_97() -> None:
    assert normalize_slug("水" * 96) == "水" * 96
    assert refusal("水" * 97).code == "slug-too-long"
    # U+FDFA is one character that NFKC makes eighteen of, three of them spaces.
    assert normalize_slug("\ufdfa" * 32) == "_" * 96
    assert refusal("\ufdfa" * 33).code == "slug-too-long"


def test_nothing_is_cut_in_silence() -> None:
    assert "97 characters" in str(refusal("a" * 97))


def test_the_title_has_the_bound_of_the_rev_schema() -> None:
    assert schemas.schema("rev")["properties"]["title"]["maxLength"] == MAX_TITLE_LENGTH
    assert normalize_slug("a" + "!" * (MAX_TITLE_LENGTH - 1)) == "a"
    assert refusal("a" * (MAX_TITLE_LENGTH + 1)).code == "title-too-long"


def test_an_entry_key_is_language_and_slug() -> None:
    assert entry_key("zh", "潮汐表") == "zh:潮汐表"
