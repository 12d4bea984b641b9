"""Two texts compared by word: what stayed, what went, what came.

A *word* is a run of letters and digits, a run of white space, or a single sign; a Chinese, Japanese
or Korean character is a word of its own. First what is the same at both ends is taken off; then
words that stand once on either side are matched where they stand in one order (as patience diff
does), and between those the shortest way is looked for (Myers), as far as the bounds allow. So the
cost is bounded whatever the texts are; where the bounds end, a stretch counts as replaced.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

__all__ = [
    "Block",
    "Compared",
    "Piece",
    "compare_texts",
    "diff_texts",
    "matching_blocks",
    "words_of",
]

MAX_STEPS: Final = 200
"""Words that a stretch between two anchors may differ in, before it counts as replaced: the time
goes with the square."""
MAX_LOOKS: Final = 400_000
"""How often all stretches of a text together may look for how far a way comes: a quarter of a
second. A stretch at its `MAX_STEPS` takes 20,000 of them."""
MAX_WORK: Final = 40
"""How often each word is looked at, on the average: texts made to hurt are not split for ever."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|\s+|.", re.DOTALL)

Op = Literal["same", "gone", "new"]


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A stretch of text: `same` in both, `gone` from the first, `new` in the second."""

    op: Op
    text: str


class Compared(NamedTuple):
    """Two texts compared.

    `is_coarse`: a bound was met, so that words within what is gone and new may be the same.
    """

    pieces: list[Piece]
    is_coarse: bool


class Block(NamedTuple):
    """`size` words that are the same from `a` on in the first text and from `b` on in the other."""

    a: int
    b: int
    size: int


class _Range(NamedTuple):
    a: int
    a_end: int
    b: int
    b_end: int


def words_of(text: str) -> list[str]:
    """Give the words of a text; joined they are the text."""
    return _WORD.findall(text)


def diff_texts(before: str, after: str) -> list[Piece]:
    """Give the pieces that lead from one text to the other; of a place what is gone comes first.

    The `same` and `gone` ones joined are `before`, the `same` and `new` ones `after`.
    """
    return compare_texts(before, after).pieces


def compare_texts(before: str, after: str) -> Compared:
    """Give the pieces as `diff_texts`, and whether some of them say more than differs."""
    a, b = words_of(before), words_of(after)
    blocks, is_coarse = _matched(a, b)
    pieces: list[Piece] = []
    at_a = at_b = 0
    for block in (*blocks, Block(len(a), len(b), 0)):
        _add(pieces, "gone", a[at_a : block.a])
        _add(pieces, "new", b[at_b : block.b])
        at_a, at_b = block.a + block.size, block.b + block.size
        _add(pieces, "same", a[block.a : at_a])
    return Compared(pieces, is_coarse)


def _add(pieces: list[Piece], op: Op, words: Sequence[str]) -> None:
    if words:
        pieces.append(Piece(op, "".join(words)))


def matching_blocks(a: Sequence[str], b: Sequence[str]) -> list[Block]:
    """Give the stretches that are the same, in order; none touches the next on both sides."""
    return _matched(a, b)[0]


def _matched(a: Sequence[str], b: Sequence[str]) -> tuple[list[Block], bool]:
    """Give the stretches that are the same, and whether a bound kept others from being found."""
    found: list[Block] = []
    is_coarse = False
    work = MAX_WORK * (len(a) + len(b))
    looks = MAX_LOOKS
    left = [_Range(0, len(a), 0, len(b))]
    while left:
        here = left.pop()
        work -= here.a_end - here.a + here.b_end - here.b
        if work < 0:
            is_coarse = True
            break
        here = _trimmed(a, b, here, found)
        if here.a == here.a_end or here.b == here.b_end:
            continue
        anchors = _anchors(a, b, here)
        if anchors:
            left += _between(here, anchors)
        else:
            blocks, looked = _shortest(a[here.a : here.a_end], b[here.b : here.b_end], here, looks)
            found += blocks or ()
            is_coarse = is_coarse or blocks is None
            looks -= looked
    return _joined(sorted(found)), is_coarse


def _trimmed(a: Sequence[str], b: Sequence[str], here: _Range, found: list[Block]) -> _Range:
    """Take off what is the same at both ends."""
    first_a, end_a, first_b, end_b = here
    while first_a < end_a and first_b < end_b and a[first_a] == b[first_b]:
        first_a += 1
        first_b += 1
    if first_a > here.a:
        found.append(Block(here.a, here.b, first_a - here.a))
    while first_a < end_a and first_b < end_b and a[end_a - 1] == b[end_b - 1]:
        end_a -= 1
        end_b -= 1
    if end_a < here.a_end:
        found.append(Block(end_a, end_b, here.a_end - end_a))
    return _Range(first_a, end_a, first_b, end_b)


def _anchors(a: Sequence[str], b: Sequence[str], here: _Range) -> list[tuple[int, int]]:
    """Give the longest rising run of words that stand once on either side."""
    once_a = _once(a, here.a, here.a_end)
    once_b = _once(b, here.b, here.b_end)
    pairs = [(at, once_b[word]) for word, at in once_a.items() if word in once_b]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, at_b) in enumerate(pairs):
        place = bisect_left(ends, at_b)
        ends[place : place + 1] = [at_b]
        last[place : place + 1] = [number]
        before.append(last[place - 1] if place else -1)
    run: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _once(words: Sequence[str], first: int, end: int) -> dict[str, int]:
    """Give where the words stand that are there once, in their order."""
    counts = Counter(words[first:end])
    return {words[at]: at for at in range(first, end) if counts[words[at]] == 1}


def _between(here: _Range, anchors: list[tuple[int, int]]) -> Iterator[_Range]:
    """Give the ranges from each anchor to the next: an anchor begins what trimming then takes."""
    ends = [*anchors[1:], (here.a_end, here.b_end)]
    yield _Range(here.a, anchors[0][0], here.b, anchors[0][1])
    for (at_a, at_b), (end_a, end_b) in zip(anchors, ends, strict=True):
        yield _Range(at_a, end_a, at_b, end_b)


def _shortest(
    a: Sequence[str], b: Sequence[str], here: _Range, most: int
) -> tuple[list[Block] | None, int]:
    """Give what is the same on a shortest way, None if it is too long, and how often was looked.

    `most` is how often it may be. Myers, "An O(ND) Difference Algorithm": how far each diagonal
    comes with so many changes.
    """
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    looked = 0
    for steps in range(min(len(a) + len(b), MAX_STEPS) + 1):
        looked += steps + 1
        if looked > most:
            break
        trace.append(furthest.copy())
        for diagonal in range(-steps, steps + 1, 2):
            down = diagonal == -steps or (
                diagonal != steps and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x += 1
                y += 1
            furthest[diagonal] = x
            if x >= len(a) and y >= len(b):
                return _way_back(trace, len(a), len(b), here), looked
    return None, looked


def _way_back(trace: list[dict[int, int]], x: int, y: int, here: _Range) -> list[Block]:
    blocks: list[Block] = []
    for steps in range(len(trace) - 1, -1, -1):
        furthest = trace[steps]
        diagonal = x - y
        down = diagonal == -steps or (
            diagonal != steps and furthest[diagonal - 1] < furthest[diagonal + 1]
        )
        at = diagonal + 1 if down else diagonal - 1
        from_x = furthest[at]
        start = from_x if down else from_x + 1
        if steps == 0:
            start = 0
        if x > start:
            blocks.append(Block(here.a + start, here.b + start - diagonal, x - start))
        x, y = from_x, from_x - at
    return blocks


def _joined(blocks: list[Block]) -> list[Block]:
    """Join stretches that touch on both sides."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and last.a + last.size == block.a and last.b + last.size == block.b:
            joined[-1] = Block(last.a, last.b, last.size + block.size)
        else:
            joined.append(block)
    return joined
