"""What of a document is kept for searching, and how much each of its terms weighs.

A document is kept as its *stream*: title and text as folded pieces with a space around each, and a
line end between the two. From the stream come its terms, so what was put into an index can be taken
out again, whatever tables of Unicode a later Python has; and a phrase stands in a document when
it stands in the stream.

Terms are words; of runs the single characters and the pairs of neighbours. The score of a document
is the sum over the terms of the question of

    rarity of the term (of the index, see `rarity`) × weight of the term (of the document alone)

which is BM25 in whole numbers, with one change: the length of a document is compared with a fixed
one instead of the average of all. So a weight changes only when its document does, may be stored,
and the best documents of a term may be stored first.
"""

import math
import re
from collections import Counter
from operator import add
from typing import Final, NamedTuple

from refold.agentpedia.tokens import CJK, folded_pieces

__all__ = [
    "MAX_CHARACTERS",
    "MAX_RARITY",
    "MAX_TERMS",
    "MAX_WEIGHT",
    "Stream",
    "needle_of",
    "rarity",
    "stream_of",
    "terms_of",
    "weight",
]

MAX_CHARACTERS: Final = 65_536
"""Characters of a text that can be found: four times the longest inline text. A page looks into
some hundred texts, so that a stranger's largest file, 5 MiB, must not be one of them as it is."""
MAX_TERMS: Final = 20_000
"""Different terms of a document that can be found, title first: so many rows a stranger's text may
change. A Chinese text of 16,384 characters has some 10,000."""
MAX_WEIGHT: Final = 255
"""A weight is 1 to 255, a byte."""
MAX_RARITY: Final = 1_000
"""A rarity is 1 to some 200; no number of documents gives more than this."""

_TITLE = 8
"""A term in the title counts as so many in the text."""
_MIDDLE_LENGTH = 400
"""Length that weighs as it is: words and characters of a text of 2 KB, half of them Chinese."""
_SATURATION = 1.2
_LENGTH_SHARE = 0.75
"""The usual k1 and b of BM25."""
_RARITY_STEPS = 16
"""Of 1 in the logarithm: the score of few terms fits into 16 bits, and a rarity is no fraction."""
_LENGTH_BITS = 4
"""Lengths are rounded to so many bits, so that a small edit leaves most weights as they were."""

_RUN = re.compile(f"[{CJK}]+")


class Stream(NamedTuple):
    """The stream of a document, and whether its text was too long for all of it to be in it."""

    text: str
    is_cut: bool


def stream_of(title: str, text: str) -> Stream:
    """Give the stream of a document."""
    head = folded_pieces(title[:MAX_CHARACTERS])
    body = folded_pieces(text[:MAX_CHARACTERS])
    is_cut = max(len(title), len(text)) > MAX_CHARACTERS
    # A character of a run brings two terms at most, one of a word less.
    if 2 * (sum(map(len, head)) + sum(map(len, body))) > MAX_TERMS:
        seen: set[str] = set()
        bounded = _bounded(head, seen), _bounded(body, seen)
        is_cut |= bounded != (head, body)
        head, body = bounded
    return Stream(f" {' '.join(head)} \n {' '.join(body)} ", is_cut)


def terms_of(stream: str) -> dict[str, int]:
    """Give the terms of a document with their weights."""
    title, _, text = stream.partition("\n")
    counts: Counter[str] = Counter()
    for term, count in _counted(title).items():
        counts[term] = count * _TITLE
    counts.update(_counted(text))
    length = _rounded(_length(stream))
    known = {count: weight(count, length) for count in set(counts.values())}
    return {term: known[count] for term, count in counts.items()}


def weight(count: int, length: int) -> int:
    """Give the weight of a term that a document of a (rounded) length has so often."""
    slowness = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / _MIDDLE_LENGTH)
    return max(1, int(MAX_WEIGHT * count / (count + slowness)))


def rarity(documents: int, among: int) -> int:
    """Give how much a term counts that so many of all documents have: 1 or more."""
    odds = (among - documents + 0.5) / (documents + 0.5)
    return max(1, round(_RARITY_STEPS * math.log1p(odds)))


def needle_of(phrase: tuple[str, ...]) -> str:
    """Give what stands in the stream of each document that has these pieces one after the other.

    A run may be part of a longer one at both ends; a word is whole.
    """
    before = "" if _RUN.match(phrase[0]) else " "
    after = "" if _RUN.match(phrase[-1]) else " "
    return f"{before}{' '.join(phrase)}{after}"


def _counted(part: str) -> Counter[str]:
    """Count the terms of a title or a text."""
    if part.isascii():
        return Counter(part.split())
    runs = _RUN.findall(part)
    counts = Counter(_RUN.sub("", part).split())
    for run in runs:
        counts.update(run)
        counts.update(map(add, run, run[1:]))
    return counts


def _bounded(pieces: list[str], seen: set[str]) -> list[str]:
    """Give so many of the pieces as bring the terms seen to `MAX_TERMS` at most."""
    for at, piece in enumerate(pieces):
        if _RUN.match(piece):
            for place, char in enumerate(piece):
                seen.update((char, piece[max(0, place - 1) : place + 1]))
                if len(seen) > MAX_TERMS:
                    return [*pieces[:at], *filter(None, [piece[:place]])]
        else:
            seen.add(piece)
            if len(seen) > MAX_TERMS:
                return pieces[:at]
    return pieces


def _length(stream: str) -> int:
    """Give the number of words, and of characters of runs."""
    if stream.isascii():
        return len(stream.split())
    runs = sum(map(len, _RUN.findall(stream)))
    return runs + len(_RUN.sub("", stream).split())


def _rounded(length: int) -> int:
    shift = max(0, length.bit_length() - _LENGTH_BITS)
    return length >> shift << shift
