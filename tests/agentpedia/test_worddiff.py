"""Texts compared by word: pieces make both texts, shortest ways are found, bounds hold."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refold.agentpedia import worddiff
from refold.agentpedia.worddiff import (
    Block,
    Piece,
    compare_texts,
    diff_texts,
    matching_blocks,
    words_of,
)

TEXTS = st.text(alphabet="ab \n茶灯。", max_size=40) | st.text(max_size=40)


def shortest(a: list[str], b: list[str]) -> int:
    """Give the length of a longest common subsequence, by the book."""
    row = [0] * (len(b) + 1)
    for one in a:
        above = row
        row = [0]
        for at, other in enumerate(b):
            row.append(above[at] + 1 if one == other else max(above[at + 1], row[at]))
    return row[-1]


@given(text=TEXTS)
def test_words_joined_are_the_text(text: str) -> None:
    assert "".join(words_of(text)) == text


def test_words_are_runs_of_letters_spaces_and_single_signs() -> None:
    assert words_of("Tide, 2x \n茶灯é") == ["Tide", ",", " ", "2x", " \n", "茶", "灯", "é"]


@given(before=TEXTS, after=TEXTS)
@example(before="", after="")
@example(before="a", after="")
def test_pieces_make_both_texts(before: str, after: str) -> None:
    pieces = diff_texts(before, after)
    assert "".join(piece.text for piece in pieces if piece.op != "new") == before
    assert "".join(piece.text for piece in pieces if piece.op != "gone") == after
    assert all(piece.text for piece in pieces)
    ops = [piece.op for piece in pieces]
    assert all(one != other for one, other in pairwise(ops))
    assert ("gone" in ops or "new" in ops) == (before != after)


@given(a=st.lists(st.sampled_from("abc")), b=st.lists(st.sampled_from("abc")))
def test_blocks_are_the_same_in_both_and_rise(a: list[str], b: list[str]) -> None:
    at_a = at_b = 0
    for block in matching_blocks(a, b):
        assert block.size > 0
        assert block.a >= at_a
        assert block.b >= at_b
        assert a[block.a : block.a + block.size] == b[block.b : block.b + block.size]
        at_a, at_b = block.a + block.size, block.b + block.size


def test_without_words_that_stand_once_the_shortest_way_is_found() -> None:
    before = list("abcabcabcabcabc")
    after = before[:4] + list("ca") + before[7:]
    covered = sum(block.size for block in matching_blocks(before, after))
    assert covered == shortest(before, after)


def test_one_word_that_changed_is_all_that_differs() -> None:
    before = " ".join(f"w{number}" for number in range(2_000))
    after = before.replace("w77 ", "other ")
    assert [piece for piece in diff_texts(before, after) if piece.op != "same"] == [
        Piece("gone", "w77"),
        Piece("new", "other"),
    ]


def test_what_is_beyond_the_bounds_counts_as_replaced() -> None:
    size = worddiff.MAX_STEPS * 5
    a, b = ["a", "b"] * size, ["b", "b", "a", "c", "a"] * size
    covered = sum(block.size for block in matching_blocks(a, b))
    assert covered <= len(a)
    pieces = diff_texts("".join(a), "".join(b))
    assert "".join(piece.text for piece in pieces if piece.op != "new") == "".join(a)


def test_all_stretches_of_a_text_share_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def stretches(letters: str) -> list[str]:
        return [word for n in range(30) for word in (f"w{n}", *letters)]

    a, b = stretches("xyxyxxyxyy"), stretches("yxxyxyyxxy")
    exact, is_coarse = compare_texts("\n".join(a), "\n".join(b))
    assert not is_coarse
    monkeypatch.setattr(worddiff, "MAX_LOOKS", 500)
    pieces, is_coarse = compare_texts("\n".join(a), "\n".join(b))
    assert is_coarse
    same = [sum(len(one.text) for one in many if one.op == "same") for many in (exact, pieces)]
    assert same[0] > same[1] > 30  # the words that stand once are found all the same
    assert "".join(one.text for one in pieces if one.op != "new") == "\n".join(a)
    assert "".join(one.text for one in pieces if one.op != "gone") == "\n".join(b)
    assert any("w29" in one.text for one in pieces if one.op == "same")


def test_touching_stretches_are_one() -> None:
    words = [f"w{number}" for number in range(50)]
    assert matching_blocks(words, words) == [Block(0, 0, 50)]
