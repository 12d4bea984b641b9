"""Unicode forms for comparing text, in time that grows with the text and no faster.

CPython sorts combining marks by insertion: a megabyte of them in alternating classes takes minutes
to normalise. Here long runs are put in order first; the result is the same. Source: spec §5.2,
Text; Unicode Standard §3.11 (canonical ordering), §3.13 (caseless matching).
"""

import re
import sys
from functools import cache
from unicodedata import combining, is_normalized, normalize

__all__ = ["folded", "is_nfc", "nfc"]

# Runs up to this many marks are sorted by insertion, at some 16 steps a mark.
_SHORT = 64


def nfc(text: str) -> str:
    """Give `text` in Unicode form NFC."""
    if text.isascii():
        return text
    return normalize("NFC", _ordered(text))


def is_nfc(text: str) -> bool:
    """Tell whether `text` is in Unicode form NFC."""
    # Marks out of order answer at once, and marks in order are not sorted.
    return text.isascii() or is_normalized("NFC", text)


def folded(text: str) -> str:
    """Give the form of `text` that canonical caseless matching compares: NFC(casefold(NFD))."""
    if text.isascii():
        return text.lower()
    decomposed = normalize("NFD", _ordered(text))
    return normalize("NFC", _ordered(decomposed.casefold()))


def _ordered(text: str) -> str:
    """Give a canonical equivalent of `text` whose long runs of combining marks are in order."""
    if len(text) <= _SHORT or is_normalized("NFC", text):
        return text
    return _long_runs().sub(_in_order, text)


def _in_order(run: re.Match[str]) -> str:
    """Decompose and order a run of marks; both halves keep the order of equal classes."""
    marks = run[0]
    pieces = (marks[at : at + _SHORT] for at in range(0, len(marks), _SHORT))
    return "".join(sorted("".join(normalize("NFD", piece) for piece in pieces), key=combining))


@cache
def _long_runs() -> re.Pattern[str]:
    """Give the pattern of runs that are too long to sort by insertion.

    A mark is what decomposes to marks only: U+0F73 does, and has itself the class of a letter.
    """
    marks = (
        char
        for char in map(chr, range(0x300, sys.maxunicode + 1))
        if combining(normalize("NFD", char)[0])
    )
    return re.compile(f"[{''.join(marks)}]{{{_SHORT + 1},}}")
