"""Texts taken apart for searching: words, and runs of Chinese, Japanese and Korean characters.

One way of taking apart for documents, queries and snippets, so that they agree on both databases:

- a *word* is letters, digits and marks of other scripts, as far as they stand together; folded by
  NFKC and case folding. `_`, `-` and other punctuation end it;
- a *run* is Han characters (extensions included), kana, Hangul, as far as they stand together. It
  has no words that a program could see, so its pairs of neighbours stand for them;
- of Markdown nothing is special but the language in `[[lang:slug]]`, which is no word of the text.

Pieces point into the original text, whatever folding did to its length. Work grows with the length
of the text only: what folding sees at a time is bounded. Source: issue 6, PRD §11 (search).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

__all__ = [
    "CJK",
    "LINK_LANG",
    "MAX_WORD",
    "Piece",
    "classes",
    "fold",
    "folded_pieces",
    "pieces",
    "without_languages",
]

MAX_WORD: Final = 96
"""Folded characters of a word that count: the longest slug. Pin ids have 66. Two words that are
alike so far are the same word."""

_FOLDED_SPAN = 2 * MAX_WORD
"""Characters of the original that are folded for a word: NFKC takes time in the square of a run of
marks, so it sees no more of them. Twice the word leaves room for letters with a mark each."""
_CLUSTER_SPAN = 12
"""The same for a character of a run with what joins it: more marks do not change it."""
_KEPT_CLASSES = 65_536
"""Characters whose class is remembered: all that texts use, and not all that an attacker finds."""

# Without the fillers, which show nothing.
_JAMO = "\u1100-\u115e\u1161-\u11ff\ua960-\ua97c\ud7b0-\ud7fb"
CJK: Final = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003fffd" + _JAMO
)
"""The characters of runs, as the inside of a class of a regular expression.

Written out, so that no version of the Unicode tables moves what an index has stored.
"""
_ALL_CJK = re.compile(f"[{CJK}]+")
_NOT_CJK = re.compile(f"[^{CJK}]+")
_ALL_JAMO = re.compile(f"[{_JAMO}]+")

# What Unicode calls default ignorable: it shows nothing, and stands inside of words.
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)
_ASCII_WORD = re.compile("[0-9A-Za-z]+")
# Letters stand for classes, see `classes`.
_PIECE = re.compile("w[wm]*|[cj][cjm]*")
_CLUSTER = re.compile("(?:cj*|j+)m*")
LINK_LANG: Final = re.compile(r"\[\[[a-z]{2,8}:")
"""The beginning of a link to an entry of a language (spec §7)."""


class Piece(NamedTuple):
    """A word, or a run of characters, and where in the text it stands.

    `folded` is never empty and has no space. In a run each of its characters has a place of its
    own: `places`, or where that is None, one after the other from `start` on.
    """

    folded: str
    start: int
    end: int
    is_run: bool
    places: tuple[tuple[int, int], ...] | None = None

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Give where in the text the characters `first` to `last` (not included) stand."""
        if not self.is_run:
            return self.start, self.end
        if self.places is None:
            return self.start + first, self.start + last
        return self.places[first][0], self.places[last - 1][1]


def pieces(text: str) -> Iterator[Piece]:
    """Give the words and runs of a text in their order; none for one without letters or digits."""
    if text.isascii():
        shown = without_languages(text, text)
        for found in _ASCII_WORD.finditer(shown):
            yield Piece(found[0][:MAX_WORD].lower(), found.start(), found.end(), is_run=False)
        return
    for found in _PIECE.finditer(without_languages(classes(text), text)):
        start, end = found.span()
        if text[start:end].isascii():
            yield Piece(text[start : min(end, start + MAX_WORD)].lower(), start, end, is_run=False)
        elif found[0][0] == "w":
            yield from _words(text[start : min(end, start + _FOLDED_SPAN)], start, end)
        else:
            yield _run(text, found[0], start, end)


def folded_pieces(text: str) -> list[str]:
    """Give what `pieces` gives, without the places, in a third of the time."""
    if text.isascii():
        shown = without_languages(text, text).lower()
        return [word[:MAX_WORD] for word in _ASCII_WORD.findall(shown)]
    found: list[str] = []
    for match in _PIECE.finditer(without_languages(classes(text), text)):
        start, end = match.span()
        part = text[start:end]
        if part.isascii():
            found.append(part[:MAX_WORD].lower())
        elif match[0][0] == "w":
            found += (piece.folded for piece in _words(part[:_FOLDED_SPAN], start, end))
        else:
            found.append(_run(text, match[0], start, end).folded)
    return found


def fold(text: str) -> str:
    """Give a text as words are compared: NFKC, case folding, without what shows nothing."""
    if text.isascii():
        return text.lower()
    # What shows nothing goes first: it may keep a letter and its mark from becoming one.
    folded = unicodedata.normalize("NFKC", _IGNORED.sub("", text)).casefold()
    return unicodedata.normalize("NFKC", _IGNORED.sub("", folded))


def classes(text: str) -> str:
    """Give a letter for each character: what part of a piece it is.

    `w` letter or digit of a word, `c` character of a run, `j` letter of Hangul that joins others,
    `m` what belongs to the character before it: marks, joiners. All else is a space.
    """
    return text.translate(_CLASSES)


class _Classes(dict[int, str]):
    """The class of each character that was met, by code point."""

    def __missing__(self, code: int) -> str:
        found = _class(chr(code))
        if len(self) < _KEPT_CLASSES:
            self[code] = found
        return found


def _class(char: str) -> str:
    folded = fold(char)
    if not folded:
        return "m"
    if _ALL_JAMO.fullmatch(folded):
        return "j"
    if _ALL_CJK.fullmatch(folded):
        return "c"
    kinds = {unicodedata.category(part)[0] for part in folded}
    if kinds & {"L", "N"}:
        return "w"
    return "m" if kinds == {"M"} else " "


_CLASSES = _Classes()


def without_languages(shown: str, text: str) -> str:
    """Give what is searched for pieces, with the languages of links blanked out."""
    if "[[" not in text:
        return shown
    parts: list[str] = []
    done = 0
    for found in LINK_LANG.finditer(text):
        parts += (shown[done : found.start()], " " * len(found[0]))
        done = found.end()
    return "".join((*parts, shown[done:]))


def _words(text: str, start: int, end: int) -> Iterator[Piece]:
    """Give what a word of the text is when folded: nearly always one word.

    ½ is two numbers with a slash between them, and a letter with a mark may become anything.
    """
    folded = fold(text)
    shown = classes(folded)
    for found in _PIECE.finditer(shown):
        part = folded[found.start() : found.end()]
        if found[0][0] == "w":
            yield Piece(part[:MAX_WORD], start, end, is_run=False)
        elif kept := _NOT_CJK.sub("", part):
            yield Piece(kept, start, end, is_run=True, places=((start, end),) * len(kept))


def _run(text: str, shown: str, start: int, end: int) -> Piece:
    run = text[start:end]
    if _ALL_CJK.fullmatch(run) and unicodedata.is_normalized("NFKC", run):
        return Piece(run, start, end, is_run=True)
    folded: list[str] = []
    places: list[tuple[int, int]] = []
    for first, last in _clusters(shown):
        part = fold(text[start + first : start + min(last, first + _CLUSTER_SPAN)])
        kept = _NOT_CJK.sub("", part)
        folded.append(kept)
        places += [(start + first, start + last)] * len(kept)
    return Piece("".join(folded), start, end, is_run=True, places=tuple(places))


def _clusters(shown: str) -> Iterable[tuple[int, int]]:
    """Give where each character of a run stands, with what joins it."""
    return (found.span() for found in _CLUSTER.finditer(shown))
