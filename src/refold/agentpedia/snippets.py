"""Where in a text the answer to a question stands: a few windows of it, with the places marked.

Windows are the original text, with each stretch of white space as one space and nothing else
changed: what of Markdown is in it stays, and whoever shows it escapes it. A window never begins or
ends inside a word or between a character and what belongs to it. Source: issue 6.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from refold.agentpedia.searchquery import SearchQuery
from refold.agentpedia.tokens import MAX_WORD, Piece, classes, fold, pieces, without_languages

__all__ = ["MAX_READ", "WINDOW", "Snippet", "snippets"]

MAX_READ: Final = 65_536
"""Characters in which places are looked for: four times the longest inline text."""
WINDOW: Final = 160
"""Characters of a window: two lines of a list."""

_AROUND = 40
"""Characters shown before the first place, where there are any."""
_MAX_PLACES = 500
"""Places that windows are chosen from; a frequent word stands in the first of them well enough."""
_MAX_PLACE = 256
"""Longest place: a letter with thousands of marks is a word that nobody wants to see."""
_JOINER = "\u200d"
_UNCLEAR = "\0"

_PLAIN = re.compile(
    "[\0-\x7f\u2010-\u2027\u3001-\u3003\u3008-\u3011\u4e00-\u9fff\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]*"
)
"""What nearly all English and Chinese texts are of, folded by lower case alone."""
_APART = frozenset(["", *" \n.,;:!?'\"()"])
"""What mostly stands beside a word, so that its class need not be looked up."""

_Span = tuple[int, int, int]  # from, to, and which of the phrases stands there


class Snippet(msgspec.Struct, frozen=True):
    """A window. `hits` are the places in `text` (from, to), in order, none over another.

    `is_start` and `is_end` tell whether the window reaches to the ends of the whole text.
    """

    text: str
    hits: tuple[tuple[int, int], ...]
    is_start: bool
    is_end: bool


def snippets(text: str, query: SearchQuery, *, count: int = 2) -> list[Snippet]:
    """Give windows of a text, `count` at most, the one that shows most of the question first.

    Without a place in the text, as when only the title has one, it is the beginning of the text;
    nothing if that is empty, or a single thing too long to be shown.
    """
    read = text if len(text) <= MAX_READ else text[: _whole(text, MAX_READ, 0)]
    spans = _spans(read, query)
    windows: list[tuple[int, int, Sequence[_Span]]] = []
    for _ in range(count):
        best = _best(spans, {span[2] for _, _, shown in windows for span in shown})
        if not best:
            break
        start, end = _around(read, best[0][0], best[-1][1])
        windows.append((start, end, best))
        spans = [span for span in spans if span[1] <= start or span[0] >= end]
    if not windows:
        windows.append((0, _around(read, 0, 0)[1], []))
    cut = [_snippet(text, start, end, shown) for start, end, shown in windows]
    return [snippet for snippet in cut if snippet.text]


def _spans(text: str, query: SearchQuery) -> list[_Span]:
    """Give where the phrases of a question stand, in order."""
    is_plain = text.isascii() or _PLAIN.fullmatch(text) is not None
    shown = text.lower() if is_plain else text.translate(_SHOWN)
    # Where each character folds to one, and no mark joins any, looking for words is enough.
    is_clear = is_plain or _UNCLEAR not in shown
    if is_clear and all(len(piece) < MAX_WORD for phrase in query.phrases for piece in phrase):
        found = _quick(without_languages(shown, text), query)
    else:
        found = _slow(pieces(text), query)
    spans = sorted(span for span in found if span[1] - span[0] <= _MAX_PLACE)
    return spans[:_MAX_PLACES]


class _Shown(dict[int, str]):
    """Each character as it folds; `_UNCLEAR` where that takes more than itself."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind, folded = classes(char), fold(char)
        if kind == " ":
            shown = char if char != _UNCLEAR else " "
        elif kind in "wc" and len(folded) == 1:
            shown = folded
        else:
            shown = _UNCLEAR
        if len(self) < MAX_READ:
            self[code] = shown
        return shown


_SHOWN = _Shown()


def _quick(shown: str, query: SearchQuery) -> Iterator[_Span]:
    """Find phrases in a text of which every character is folded."""
    for number, phrase in enumerate(query.phrases):
        first = phrase[0]
        is_word = _kind(first[0]) == "w"
        found = 0
        at = shown.find(first)
        while at >= 0 and found < _MAX_PLACES:
            end = at + len(first)
            if is_word and (_kind(shown[at - 1 : at]) == "w" or _kind(shown[end : end + 1]) == "w"):
                at = shown.find(first, at + 1)
                continue
            if len(phrase) > 1:
                end = _following(shown, end, phrase)
            if end:
                yield at, end, number
                found += 1
            at = shown.find(first, end if len(phrase) == 1 else at + 1)


def _following(shown: str, end: int, phrase: Sequence[str]) -> int:
    """Give where a phrase ends of which the first piece ends at a place; 0 if the rest differs."""
    for before, piece in pairwise(phrase):
        # A piece is as long as its characters are alike.
        if _kind(shown[end : end + 1]) == _kind(before[0]):
            return 0
        furthest = min(len(shown), end + _MAX_PLACE)
        while end < furthest and _kind(shown[end]) == " ":
            end += 1
        if not shown.startswith(piece, end):
            return 0
        end += len(piece)
    is_whole = _kind(piece[0]) == "c" or _kind(shown[end : end + 1]) != "w"
    return end if is_whole else 0


def _kind(char: str) -> str:
    """Give the class of a character, a space for none."""
    return " " if char in _APART else classes(char)


def _slow(found: Iterable[Piece], query: SearchQuery) -> Iterator[_Span]:
    """Find phrases in the pieces of a text."""
    longest = max(map(len, query.phrases))
    recent: list[Piece] = []
    counts = [0] * len(query.phrases)
    for piece in found:
        recent = [*recent[-longest + 1 :], piece] if longest > 1 else [piece]
        for number, phrase in enumerate(query.phrases):
            if counts[number] < _MAX_PLACES:
                for start, end in _ending(recent[-len(phrase) :], phrase):
                    counts[number] += 1
                    yield start, end, number


def _ending(recent: Sequence[Piece], phrase: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Give where a phrase stands in the last pieces."""
    if len(recent) < len(phrase):
        return
    first, last = recent[0], recent[-1]
    if len(phrase) > 1:
        ends = (
            (first.folded.endswith if first.is_run else first.folded.__eq__)(phrase[0])
            and (last.folded.startswith if last.is_run else last.folded.__eq__)(phrase[-1])
            and all(p.folded == part for p, part in zip(recent[1:-1], phrase[1:-1], strict=True))
        )
        if ends:
            size = len(first.folded)
            yield (
                first.span(size - len(phrase[0]), size)[0],
                last.span(0, len(phrase[-1]))[1],
            )
    elif not first.is_run:
        if first.folded == phrase[0]:
            yield first.start, first.end
    else:
        at = first.folded.find(phrase[0])
        while at >= 0:
            yield first.span(at, at + len(phrase[0]))
            at = first.folded.find(phrase[0], at + len(phrase[0]))


def _best(spans: Sequence[_Span], shown: set[int]) -> Sequence[_Span]:
    """Give the neighbours that fit into a window and show most of a question.

    First counts what no other window shows, then all that is shown, then how often; at last, that
    it comes first.
    """
    best, best_worth = (0, 0), (0, 0, 0)
    counts: dict[int, int] = {}
    distinct = fresh = end = 0
    for at, (start, _, number) in enumerate(spans):
        known = end
        while end < len(spans) and (end == at or spans[end][1] - start <= WINDOW - _AROUND):
            added = spans[end][2]
            counts[added] = counts.get(added, 0) + 1
            if counts[added] == 1:
                distinct += 1
                fresh += added not in shown
            end += 1
        # Without another one a window is a part of the one before it.
        if end > known and (worth := (fresh, distinct, end - at)) > best_worth:
            best, best_worth = (at, end), worth
        counts[number] -= 1
        if not counts[number]:
            distinct -= 1
            fresh -= number not in shown
    return spans[slice(*best)]


def _around(text: str, first: int, last: int) -> tuple[int, int]:
    """Give the window around what stands from `first` to `last`."""
    start = max(0, first - _AROUND)
    start = next((at for at in range(start, first) if _may_cut(text, at)), first)
    return start, _whole(text, max(last, min(len(text), start + WINDOW)), last)


def _whole(text: str, at: int, least: int) -> int:
    """Give the last place at or before `at` where the text may be cut; `least` if there is none."""
    floor = max(least, at - WINDOW)
    return next((place for place in range(at, floor, -1) if _may_cut(text, place)), least)


def _may_cut(text: str, at: int) -> bool:
    """Tell whether a text may be cut before the character at a place."""
    if at in {0, len(text)}:
        return True
    before, after = text[at - 1], text[at]
    if (before + after).isascii():
        return not (before.isalnum() and after.isalnum())
    kinds = classes(before + after)
    if kinds[1] in "mj" or before == _JOINER or kinds in {"ww", "mw"}:
        return False
    # Colours of skin change the character before; flags are pairs of letters.
    return not ("\U0001f3fb" <= after <= "\U0001f3ff" or (_is_flag(before) and _is_flag(after)))


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _snippet(text: str, start: int, end: int, spans: Sequence[_Span]) -> Snippet:
    """Cut a window out, with each stretch of white space as one space."""
    window = text[start:end].lstrip()
    begin = end - len(window)
    window = window.rstrip()
    if window == " ".join(window.split()):
        marks = tuple((first - begin, last - begin) for first, last in _joined(spans))
        return Snippet(window, marks, start == 0, end >= len(text))
    parts: list[str] = []
    hits: list[tuple[int, int]] = []
    size = 0
    done = start
    for first, last in _joined(spans):
        for part in (_spaced(text[done:first], is_first=done == start), _spaced(text[first:last])):
            parts.append(part)
            size += len(part)
        hits.append((size - len(parts[-1]), size))
        done = last
    parts.append(_spaced(text[done:end], is_first=done == start).rstrip())
    return Snippet("".join(parts), tuple(hits), start == 0, end >= len(text))


def _joined(spans: Iterable[_Span]) -> list[tuple[int, int]]:
    """Give places without their phrases; those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end, _ in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _spaced(text: str, *, is_first: bool = False) -> str:
    """Give a text with each stretch of white space as one space, and none at the very beginning."""
    words = text.split()
    spaced = " ".join(words)
    if not words:
        return "" if is_first or not text else " "
    before = "" if is_first or not text[0].isspace() else " "
    return f"{before}{spaced}{' ' if text[-1].isspace() else ''}"
