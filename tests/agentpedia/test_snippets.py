"""Windows of a text: what they show is there, marked where it is, and cut where it may be."""

import pytest
from hypothesis import given

from agentpedia.searchtexts import CHINESE, ENGLISH, QUESTIONS, TEXTS, WORDY
from refold.agentpedia import snippets as module
from refold.agentpedia.searchquery import SearchQuery, parse_query
from refold.agentpedia.snippets import MAX_READ, WINDOW, Snippet, snippets
from refold.agentpedia.tokens import classes, folded_pieces, pieces
from refold.kernel.errors import InputError


def marked(found: list[Snippet]) -> list[list[str]]:
    """Give what is marked in each window."""
    return [[snippet.text[start:end] for start, end in snippet.hits] for snippet in found]


def query_of(text: str) -> SearchQuery:
    try:
        return parse_query(text)
    except InputError:
        return parse_query("tide")


@pytest.mark.parametrize(
    ("text", "question", "hits"),
    [
        (ENGLISH, "TIDE", [["tide", "tide"]]),
        (ENGLISH, "tide high", [["tide", "tide", "high"]]),
        (ENGLISH, '"tide table"', [["tide table"]]),
        (ENGLISH, "harbour", [["harbour"]]),
        (ENGLISH, "en", [[]]),
        (CHINESE, "港口", [["港口"]]),
        (CHINESE, "口印刷", [["口印刷"]]),
        (CHINESE, "海港 港", [["港", "海港"]]),
        ("[[EN:x]]", "en", [["EN"]]),
        ("Straße ﬁord ｶﾞｽ", "strasse fiord ガス", [["Straße", "ﬁord", "ｶﾞｽ"]]),
        ("tide " + "x " * 500 + "table", "tide table", [["tide"], ["table"]]),
        ("tide " + "x " * 500 + "tide table", "tide table", [["tide", "table"], ["tide"]]),
        ("a\n\n \t b", "b", [["b"]]),
        ("", "b", []),
    ],
)
def test_these_places_are_marked(text: str, question: str, hits: list[list[str]]) -> None:
    assert marked(snippets(text, parse_query(question))) == hits


def test_white_space_is_one_space_and_the_rest_is_as_it_was() -> None:
    (snippet,) = snippets("  # A\n\n<b>tide</b> \t *b*\r\n", parse_query("tide"))
    assert snippet == Snippet("# A <b>tide</b> *b*", ((7, 11),), is_start=True, is_end=True)


@given(TEXTS | WORDY, TEXTS | QUESTIONS)
def test_windows_are_parts_of_the_text_and_marks_what_was_asked_for(
    text: str, question: str
) -> None:
    query = query_of(question)
    asked = {piece for phrase in query.phrases for piece in phrase}
    for snippet in snippets(text, query):
        assert snippet.text
        assert "".join(snippet.text.split()) in "".join(text.split())
        last = 0
        for start, end in snippet.hits:
            assert last <= start < end <= len(snippet.text)
            last = end
            shown = "".join(folded_pieces(snippet.text[start:end]))
            assert any(piece in shown for piece in asked)


@given(TEXTS | WORDY, QUESTIONS)
def test_the_quick_way_finds_what_the_slow_way_finds(text: str, question: str) -> None:
    query = parse_query(question)
    assert set(module._spans(text, query)) == set(module._slow(pieces(text), query))


def test_plain_characters_fold_by_lower_case_alone() -> None:
    plain = [char for char in map(chr, range(1, 0x11000)) if module._PLAIN.fullmatch(char)]
    assert len(plain) > 20_000
    assert all(char.translate(module._SHOWN) == char.lower() for char in plain)


@given(TEXTS.map(lambda text: text * 9), QUESTIONS)
def test_no_window_cuts_into_a_word_or_off_what_belongs_to_a_character(
    text: str, question: str
) -> None:
    for snippet in snippets(text, parse_query(question)):
        if not snippet.hits:
            at = text.find(snippet.text)
            end = at + len(snippet.text)
            if at >= 0 and end < len(text):
                assert classes(text[end]) != "m"
                assert classes(text[end - 1 : end + 1]) != "ww"
        elif snippet.hits[0][0] > 0 and not snippet.is_start:
            assert classes(snippet.text[0]) != "m"


@pytest.mark.parametrize("unit", ["👩\u200d🔬", "👍🏽", "🇩🇪", "e\u0301", "海\u0301", "क\u094dष"])
def test_what_looks_like_one_character_stays_whole(unit: str) -> None:
    for shift in range(8):
        text = "." * shift + unit * 60 + " tide " + unit * 60
        (snippet,) = snippets(text, parse_query("tide"))
        before, _, after = snippet.text.partition("tide")
        assert before.strip(" .").replace(unit, "") == ""
        assert after.strip(" .").replace(unit, "") == ""


@pytest.mark.parametrize(
    "text",
    [
        "tide " * 100_000,
        "潮汐" * 100_000,
        "tide" + "\u0301" * 100_000,
        "\u0301" * 100_000 + "tide",
        "x" * 100_000 + " tide",
        " " * MAX_READ + "tide",
        ("e\u0301" * 50 + " ") * 5_000,
    ],
)
def test_windows_are_small_whatever_the_text(text: str) -> None:
    found = snippets(text, parse_query("tide 潮汐"))
    assert len(found) <= 2
    assert all(len(snippet.text) <= 2 * WINDOW for snippet in found)
