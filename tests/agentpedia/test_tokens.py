"""Texts taken apart: what is a piece, where it stands, and that hostile texts cost no more."""

import sys
from collections import Counter
from types import FrameType

import pytest
from hypothesis import given

from agentpedia.searchtexts import TEXTS
from refold.agentpedia import tokens
from refold.agentpedia.tokens import MAX_WORD, Piece, classes, fold, folded_pieces, pieces


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("tide_table north-west 3.14", ["tide", "table", "north", "west", "3", "14"]),
        ("[[en:Tide_table]] [[tide]] [a](b) **c**", ["tide", "table", "tide", "a", "b", "c"]),
        ("[[EN:x]] [en:y]", ["en", "x", "en", "y"]),
        ("潮汐表and港口", ["潮汐表", "and", "港口"]),
        ("潮汐，港口。[[zh:海港]]", ["潮汐", "港口", "海港"]),
        ("naïve STRASSE Straße ﬁord", ["naïve", "strasse", "strasse", "fiord"]),
        ("e\u0301te\u0301 été", ["été", "été"]),
        ("½ ① Ⅳ ㎏", ["1", "2", "1", "iv", "kg"]),
        ("ｶﾞｷﾞ か\u3099 ㍿ 六", ["ガギ", "が", "株式会社", "六"]),
        ("\u1112\u1161\u11ab글 한글", ["한글", "한글"]),
        ("葛\U000e0100飾区 soft\u00adhyphen", ["葛飾区", "softhyphen"]),
        ("\U00020000㐀々ー", ["\U00020000㐀々ー"]),
        ("a\u115f\u0301", ["á"]),
        ("", []),
        ("--- *** 👍🏽 \u0301\u0301 \ud800 \0", []),
    ],
)
def test_a_text_has_these_pieces(text: str, folded: list[str]) -> None:
    assert folded_pieces(text) == folded


@given(TEXTS)
def test_pieces_with_and_without_places_are_the_same(text: str) -> None:
    assert folded_pieces(text) == [piece.folded for piece in pieces(text)]


@given(TEXTS)
def test_pieces_stand_in_the_text_in_their_order(text: str) -> None:
    last = Piece("", 0, 0, is_run=False)
    for piece in pieces(text):
        assert piece.folded
        assert " " not in piece.folded
        assert 0 <= piece.start < piece.end <= len(text)
        # What one character folds to may be several pieces, all at its place.
        assert piece.start >= last.end or (piece.start, piece.end) == (last.start, last.end)
        last = piece


@given(TEXTS)
def test_places_lead_back_to_what_stands_there(text: str) -> None:
    for piece in pieces(text):
        assert piece.folded in folded_pieces(text[piece.start : piece.end])
        for at, char in enumerate(piece.folded):
            start, end = piece.span(at, at + 1)
            assert piece.start <= start < end <= piece.end
            assert char in fold(text[start:end])


@given(TEXTS)
def test_no_letter_or_digit_is_lost(text: str) -> None:
    covered = Counter(at for piece in pieces(text) for at in range(piece.start, piece.end))
    shown = classes(text)
    languages = {
        at for link in tokens.LINK_LANG.finditer(text) for at in range(link.start(), link.end())
    }
    for at, kind in enumerate(shown):
        if kind in "wcj" and at not in languages:
            assert covered[at]


@given(TEXTS)
def test_a_folded_text_has_the_same_pieces(text: str) -> None:
    again = " ".join(folded_pieces(text))
    assert folded_pieces(again) == again.split()


def test_a_long_word_is_known_by_its_beginning() -> None:
    one, other = "x" * MAX_WORD + "one", "x" * MAX_WORD + "other"
    assert folded_pieces(one) == folded_pieces(other) == ["x" * MAX_WORD]
    assert folded_pieces("é" * 1000) == ["é" * MAX_WORD]
    (piece,) = pieces(one)
    assert (piece.start, piece.end) == (0, len(one))


HOSTILE = {
    "marks": "\u0301",
    "marks on one letter": "\u0301\u0323",
    "marks on many letters": "e\u0301\u0323\u0301",
    "marks in a run": "海\u0301\u0323",
    "no space": "é",
    "no space, Chinese": "潮",
    "jamo": "\u1112\u1161",
    "eighteen for one": "\ufdfa",
    "brackets": "[[a",
    "links": "[[en:é",
    "joiners": "a\u200d",
}


class Work:
    """What a call does: how many functions run, and the longest text that is folded at once."""

    def __init__(self) -> None:
        self.calls = self.longest = 0

    def __call__(self, frame: FrameType, what: str, _argument: object) -> None:
        self.calls += what in {"call", "c_call"}
        if what == "call" and frame.f_code is fold.__code__:
            self.longest = max(self.longest, len(frame.f_locals["text"]))


def work_on(text: str) -> Work:
    work = Work()
    sys.setprofile(work)
    try:
        folded_pieces(text)
        for _ in pieces(text):
            pass
    finally:
        sys.setprofile(None)
    return work


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("before", ["", "e", "海"])
def test_work_grows_with_the_text_and_folding_sees_little_at_a_time(part: str, before: str) -> None:
    work_on(before + part)  # classes of characters are found once
    small = work_on(before + part * 250)
    large = work_on(before + part * 2_000)
    assert large.calls <= 8 * small.calls + 100
    assert large.longest <= 2 * MAX_WORD
