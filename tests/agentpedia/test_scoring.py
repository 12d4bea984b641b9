"""What of a document is kept for searching, what its terms weigh, and that questions find it."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentpedia.searchtexts import CHINESE, ENGLISH, TEXTS, WORDY
from refold.agentpedia import scoring
from refold.agentpedia.scoring import (
    MAX_CHARACTERS,
    MAX_RARITY,
    MAX_TERMS,
    MAX_WEIGHT,
    needle_of,
    rarity,
    stream_of,
    terms_of,
    weight,
)
from refold.agentpedia.searchquery import MAX_QUERY, MAX_QUERY_TERMS, SearchQuery, parse_query
from refold.agentpedia.tokens import folded_pieces, pieces
from refold.kernel.errors import InputError


def refusal(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_query(text)
    return caught.value


def finds(query: SearchQuery, stream: str) -> bool:
    return all(term in terms_of(stream) for term in query.terms) and all(
        needle in stream for needle in query.needles
    )


@given(TEXTS, TEXTS)
def test_every_piece_of_a_document_finds_it(title: str, text: str) -> None:
    stream = stream_of(title, text).text
    for part in (title, text):
        for piece in pieces(part):
            asked = part[piece.start : piece.end]
            assume(len(asked) <= MAX_QUERY and len(piece.folded) <= MAX_QUERY_TERMS)
            assert finds(parse_query(asked), stream)


@given(TEXTS)
def test_every_character_of_a_run_and_every_pair_finds_it(text: str) -> None:
    stream = stream_of("", text).text
    for piece in pieces(text):
        if piece.is_run:
            for part in (*piece.folded, *map("".join, pairwise(piece.folded))):
                assert finds(parse_query(part), stream)


@given(TEXTS)
def test_two_pieces_side_by_side_are_a_phrase_of_the_document(text: str) -> None:
    stream = stream_of("", text).text
    for one, other in pairwise(folded_pieces(text)):
        assert needle_of((one, other)) in stream
        assert needle_of((one[-1:], other)) in stream or not scoring._RUN.match(one)


@pytest.mark.parametrize(
    ("question", "title", "text", "is_found"),
    [
        ("潮汐", "", CHINESE, True),
        ("汐表是", "", CHINESE, True),
        ("潮表", "", CHINESE, False),
        ("潮 资料", "", CHINESE, True),
        ("海", "", CHINESE, True),
        ("zh", "", CHINESE, False),
        ("HARBOUR", "", ENGLISH, True),
        ("harbour tide", "", ENGLISH, True),
        ("harb", "", ENGLISH, False),
        ('"tide table"', "", ENGLISH, True),
        ('"table tide"', "", ENGLISH, False),
        ('"ide table"', "", ENGLISH, False),
        ("“the tide is high”", "", ENGLISH, True),
        ('"tide table"', "tide", "table", False),
        ('"潮汐 table"', "", "海潮汐table", True),
        ('"潮汐 table"', "", "潮汐 tables", False),
        ('"table 潮汐"', "", "table潮汐表", True),
        ("汐港", "潮汐", "港口", False),
    ],
)
def test_a_question_finds_a_document_or_not(
    question: str, title: str, text: str, *, is_found: bool
) -> None:
    assert finds(parse_query(question), stream_of(title, text).text) == is_found


@given(TEXTS | WORDY, TEXTS | WORDY)
def test_weights_are_a_byte_and_each_term_is_found_as_a_phrase(title: str, text: str) -> None:
    stream = stream_of(title, text).text
    weights = terms_of(stream)
    assert all(1 <= found <= MAX_WEIGHT for found in weights.values())
    assert all(needle_of((term,)) in stream for term in weights)


def test_the_title_counts_more_and_so_does_a_shorter_text() -> None:
    in_title = terms_of(stream_of("tide", "a b c").text)
    in_text = terms_of(stream_of("a", "tide b c").text)
    in_long_text = terms_of(stream_of("a", "tide " + "b c " * 500).text)
    assert in_title["tide"] > in_text["tide"] > in_long_text["tide"]


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_more_is_more_and_longer_is_less(count: int, length: int) -> None:
    assert weight(count, length) <= weight(count + 1, length)
    assert weight(count, length) >= weight(count, length + 1)


@given(st.integers(1, 10**9), st.data())
def test_a_rarer_term_counts_no_less(among: int, data: st.DataObject) -> None:
    documents = data.draw(st.integers(1, among))
    assert 1 <= rarity(documents, among) <= rarity(max(1, documents - 1), among) <= MAX_RARITY


def test_a_small_edit_leaves_most_weights_alone() -> None:
    text = " ".join(f"w{number}" for number in range(300))
    before, after = (terms_of(stream_of("", t).text) for t in (text, text + " another word"))
    assert len(before.items() ^ after.items()) == 2


def test_of_a_long_text_the_beginning_is_found_and_it_says_so() -> None:
    text = "tide " * (MAX_CHARACTERS // 5) + "later"
    stream = stream_of("", text)
    assert stream.is_cut
    assert not finds(parse_query("later"), stream.text)
    assert finds(parse_query("tide"), stream.text)


@pytest.mark.parametrize("joint", [" ", ""], ids=["words", "a run"])
def test_of_a_text_with_too_many_terms_the_first_are_found(joint: str) -> None:
    parts = [chr(0x4E00 + number) for number in range(MAX_TERMS)]
    stream = stream_of("the title", joint.join(parts))
    assert stream.is_cut
    assert len(terms_of(stream.text)) <= MAX_TERMS
    assert len(terms_of(stream.text)) > MAX_TERMS - 3
    assert finds(parse_query("title"), stream.text)
    assert finds(parse_query(parts[0]), stream.text)
    assert not finds(parse_query(parts[-1]), stream.text)


@given(st.text(st.characters(codec=None)) | TEXTS)
def test_a_question_is_read_or_refused_with_a_code(text: str) -> None:
    try:
        query = parse_query(text)
    except InputError:
        error = refusal(text)
        assert error.code in {"search-empty", "search-too-long"}
        assert error.hint
        assert str(error).isprintable()
    else:
        assert 1 <= len(query.terms) <= MAX_QUERY_TERMS
        assert len(set(query.terms)) == len(query.terms)
        assert all(query.phrases)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "search-empty"),
        ("  \t ", "search-empty"),
        ('""', "search-empty"),
        ("*** ??", "search-empty"),
        ("[[en:", "search-empty"),
        ("a" * (MAX_QUERY + 1), "search-too-long"),
        ("".join(chr(0x4E00 + n) for n in range(MAX_QUERY_TERMS + 2)), "search-too-long"),
        (" ".join(f"w{n}" for n in range(MAX_QUERY_TERMS + 1))[:MAX_QUERY], "search-too-long"),
    ],
)
def test_these_questions_are_refused(text: str, code: str) -> None:
    assert refusal(text).code == code


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("a b a", (("a",), ("b",))),
        ('"a b" c', (("a", "b"), ("c",))),
        ('a "b', (("a",), ("b",))),
        ('a" b "c" d', (("a",), ("b",), ("c",), ("d",))),
        ("“潮汐 table”", (("潮汐", "table"),)),
        ("AND or NOT -x x* (y)", (("and",), ("or",), ("not",), ("x",), ("y",))),
        ("title:z ^ ~", (("title",), ("z",))),
    ],
)  # fmt: skip
def test_only_quotes_mean_something(text: str, phrases: tuple[tuple[str, ...], ...]) -> None:
    assert parse_query(text).phrases == phrases
