"""What one rev does to an entry, measured: the numbers that the conditions of a rule pack compare.

Everything here is a function of the rev and of the text before it (PRD §5.7, X11). A text costs a
fixed number of linear passes. Bytes are compared, not characters, and only ASCII changes its case,
so that no table of Unicode has a say: two machines measure the same.

A *word* is a run of ASCII letters, digits and letters of U+00C0–U+07FF, or one letter beyond (a
Chinese character, say); addresses are no words. Texts are compared by *pairs* of neighbouring
words: a word that moved, or stands in another text by chance, does not count as kept.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_BYTES = 65_536
"""Longest text that is read, four times the inline limit: a measure costs milliseconds at most."""
REMEMBERED = 8
"""Readings kept: most revs replace the text that was read last."""
SHORTEST_RUN = 8
"""Shortest run of one letter, or of one word, that is measured; no language has such."""
PERMILLE = 1000

TEXT_MEASURES = ("type", "claim")
"""Measures that are words of the protocol; `claim` is "" without one."""
NUMBER_MEASURES = (
    "unchanged",
    "restores",
    "ownBefore",
    "words",
    "wordsBefore",
    "wordsAdded",
    "wordsRemoved",
    "removedPermille",
    "changedPermille",
    "repeatedPermille",
    "runAdded",
    "refsLost",
    "refsGained",
    "refsOverclaimed",
    "linksAdded",
)
"""Measures that are whole numbers from 0 on; docs/agentpedia-signals.md defines each."""
PHRASES = "phrases/"
"""With the name of a group of the pack: its phrases in the text beyond those there before."""

Measures = dict[str, int | str | None]
"""Measures of one rev by name; None where a text that is not known would be needed."""


class Change(msgspec.Struct, frozen=True, gc=False, rename="camel", forbid_unknown_fields=True):
    """One applied rev as the rule pack sees it.

    `before` is the text that was the head, `after` the rev's own; None is an unknown one. A revert
    or redirect brings no text of its own: both stay empty. `unchanged`: the text before has the
    same hash; `restores`: it has not, but an older version of the entry has; `own_before`: the
    author wrote the version before, too.
    """

    type: str
    claim: str = ""
    claim_refs: int = 0
    before: str | None = ""
    after: str | None = ""
    unchanged: bool = False
    restores: bool = False
    own_before: bool = False


class Reading(msgspec.Struct, frozen=True, gc=False):
    """What one text holds. `lowered` is all of it, for phrases; `run` that of letters or words."""

    lowered: bytes
    words: int
    pairs: Counter[tuple[bytes, bytes]]
    run: int
    refs: frozenset[bytes]
    links: frozenset[bytes]


# Letters beyond U+07FF in UTF-8, without U+2000–U+303F (punctuation, symbols, frames of tables) and
# U+F000–U+FFFF. No two branches share a first byte, so that matching never backtracks.
_BEYOND = rb"[\xe0\xe1\xe4-\xee][\x80-\xbf]{2}|\xe3[\x81-\xbf][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{3}"
_ALPHABETIC = rb"[\xc3-\xdf][\x80-\xbf]"
_WORD = re.compile(rb"(?:[0-9a-z]|" + _ALPHABETIC + rb")+|" + _BEYOND)
_SPACED = bytes(c if c >= 0x80 or chr(c).isalnum() else 0x20 for c in range(256))
_LETTER_RUN = re.compile(rb"([a-z]|" + _ALPHABETIC + rb")\1{" + b"%d,}" % (SHORTEST_RUN - 1))
_REF = re.compile(rb"(?:pin|metafile)://[0-9A-Za-z]+")
_REST = rb"[^\s<>\"'()\[\]\x80-\xff]"
_LINK = re.compile(rb"(?:https?://|www\.)" + _REST + rb"+")
_ADDRESS = re.compile(rb"(?:(?:pin|metafile|https?)://|www\.)" + _REST + rb"*")


@lru_cache(REMEMBERED)
def read(text: str) -> Reading | None:
    """Read a text; None when it is longer than `MAX_BYTES`."""
    if len(text) > MAX_BYTES:
        return None
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MAX_BYTES:
        return None
    lowered = data.lower()
    words = _words(_ADDRESS.sub(b" ", lowered))
    return Reading(
        lowered=lowered,
        words=len(words),
        pairs=Counter(zip([b"", *words], words, strict=False)),
        run=max(_letter_run(words), _word_run(words)),
        refs=frozenset(_REF.findall(data)),
        links=frozenset(_LINK.findall(lowered)),
    )


def _words(prose: bytes) -> list[bytes]:
    words: list[bytes] = []
    for token in prose.translate(_SPACED).split():
        if token.isascii():  # most are, and a regular expression would take five times as long
            words.append(token)
        else:
            words += _WORD.findall(token)
    return words


def _letter_run(words: Sequence[bytes]) -> int:
    """Give the length in letters of the longest run of one letter, 0 below `SHORTEST_RUN`."""
    long = b" ".join(word for word in words if len(word) >= SHORTEST_RUN)
    return max((len(m[0]) // len(m[1]) for m in _LETTER_RUN.finditer(long)), default=0)


def _word_run(words: Sequence[bytes]) -> int:
    """Give how often the most repeated word stands in a row; in Chinese a word is a character."""
    doubled = [index for index, pair in enumerate(pairwise(words)) if pair[0] == pair[1]]
    longest, length, last = 0, 0, -1
    for index in doubled:
        length = length + 1 if index == last + 1 else 2
        longest, last = max(longest, length), index
    return longest if longest >= SHORTEST_RUN else 0


def measure(change: Change, phrases: Mapping[str, Sequence[bytes]]) -> Measures:
    """Give every measure of a change; `phrases` are the pack's, by group."""
    measures: Measures = dict.fromkeys(NUMBER_MEASURES)
    measures |= dict.fromkeys(PHRASES + group for group in phrases)
    measures["type"], measures["claim"] = change.type, change.claim
    measures["unchanged"] = int(change.unchanged)
    measures["restores"] = int(change.restores)
    measures["ownBefore"] = int(change.own_before)
    if change.claim_refs <= 0:
        measures["refsOverclaimed"] = 0  # whatever the text holds
    before = None if change.before is None else read(change.before)
    after = None if change.after is None else read(change.after)
    if before is not None:
        measures["wordsBefore"] = before.words
    if after is not None:
        measures["words"] = after.words
        measures["repeatedPermille"] = _permille(after.words - len(after.pairs), after.words)
        measures["refsOverclaimed"] = max(change.claim_refs - len(after.refs), 0)
    if before is not None and after is not None:
        measures |= _compare(before, after)
        for group, texts in phrases.items():
            measures[PHRASES + group] = _phrases_added(before, after, texts)
    return measures


def _compare(before: Reading, after: Reading) -> dict[str, int]:
    kept = _common(before.pairs, after.pairs)
    removed, added = before.words - kept, after.words - kept
    return {
        "wordsAdded": added,
        "wordsRemoved": removed,
        "removedPermille": _permille(removed, before.words),
        "changedPermille": _permille(removed + added, before.words + after.words),
        "runAdded": after.run if after.run > before.run else 0,
        "refsLost": len(before.refs - after.refs),
        "refsGained": len(after.refs - before.refs),
        "linksAdded": len(after.links - before.links),
    }


def _common(one: Counter[tuple[bytes, bytes]], other: Counter[tuple[bytes, bytes]]) -> int:
    """Count what two bags share."""
    if len(one) > len(other):
        one, other = other, one
    count_in = other.get
    return sum(min(count, count_in(pair, 0)) for pair, count in one.items())


def _permille(part: int, whole: int) -> int:
    return part * PERMILLE // whole if whole else 0


def _phrases_added(before: Reading, after: Reading, phrases: Sequence[bytes]) -> int:
    added = 0
    for phrase in phrases:
        count = after.lowered.count(phrase)
        if count:
            added += max(count - before.lowered.count(phrase), 0)
    return added
