"""What one edit does to a draft: add a unit, better a wording, slip, mend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from refold.agentpedia.demo.articles import Draft, Piece

if TYPE_CHECKING:
    from collections.abc import Container

    from refold.agentpedia.demo.articles import Article
    from refold.agentpedia.demo.dice import Dice

Deed = Literal["grow", "link", "better", "mend"]
NEAR = 3
"""Additions mostly take the next missing unit, sometimes one of the few after it."""

_LONG_WORD = re.compile(r"(?<![\[:/_])\b[a-z]{6,}\b(?![\]:/_])")
_FIGURE = re.compile(r"\d{2,}")
_HANZI_RUN = re.compile(r"[\u4e00-\u9fff]{4,}")


class Change(msgspec.Struct, frozen=True):
    """A draft after an edit, and what the edit did to which unit."""

    draft: Draft
    deed: Deed
    unit: int


def first_draft(article: Article, units: int) -> Draft:
    """Give the opening units of an article in their first wording."""
    opening = [index for index, unit in enumerate(article.units) if not unit.cites]
    return tuple(Piece(index) for index in opening[:units])


def put(draft: Draft, piece: Piece) -> Draft:
    """Put a piece in its place, or in place of the one of its unit."""
    others = [other for other in draft if other.unit != piece.unit]
    return tuple(sorted([*others, piece], key=lambda one: one.unit))


def grow(article: Article, draft: Draft, written: Container[str], dice: Dice) -> Change | None:
    """Add a missing unit that cites nothing unwritten; None when nothing is missing."""
    present = {piece.unit for piece in draft}
    missing = [
        index
        for index, unit in enumerate(article.units)
        if index not in present and all(key in written for key in unit.cites)
    ]
    if not missing:
        return None
    index = missing[0] if dice.chance(65) else dice.pick(missing[:NEAR])
    return Change(put(draft, Piece(index)), "grow", index)


def better(article: Article, draft: Draft, dice: Dice) -> Change | None:
    """Better one rough part of one piece; None when none is left."""
    open_parts = [
        (piece, part)
        for piece in draft
        if not piece.text
        for part in article.units[piece.unit].open_parts(piece.done)
    ]
    if not open_parts:
        return None
    piece, part = dice.pick(open_parts)
    linked = article.units[piece.unit].parts[part].fine.startswith("[[")
    bettered = msgspec.structs.replace(piece, done=piece.done | 1 << part)
    return Change(put(draft, bettered), "link" if linked else "better", piece.unit)


def mend(draft: Draft) -> Change | None:
    """Mend the first slip; None when there is none."""
    for piece in draft:
        if piece.wrong:
            mended = msgspec.structs.replace(piece, text="", wrong=False)
            return Change(put(draft, mended), "mend", piece.unit)
    return None


def slip(article: Article, change: Change, dice: Dice) -> Change:
    """Spoil the unit that a change touched: two digits, letters or characters change places.

    A unit that holds nothing to spoil is left as it is.
    """
    piece = next(piece for piece in change.draft if piece.unit == change.unit)
    text = article.piece_text(piece)
    for pattern in (_FIGURE, _LONG_WORD, _HANZI_RUN):
        words = [found for found in pattern.finditer(text) if _swapped(found[0]) != found[0]]
        if words and "://" not in text:
            word = dice.pick(words)
            spoiled = text[: word.start()] + _swapped(word[0]) + text[word.end() :]
            wrong = Piece(piece.unit, piece.done, spoiled, wrong=True)
            return Change(put(change.draft, wrong), change.deed, change.unit)
    return change


def _swapped(word: str) -> str:
    """Change the places of the last two letters but one; of two digits when there are only two."""
    middle = max(len(word) - 3, 0)
    return word[:middle] + word[middle + 1] + word[middle] + word[middle + 2 :]


def overlay(article: Article, draft: Draft, unit: int, text: str) -> Draft:
    """Put a text of a bot's own in place of a unit, which is added when it is missing."""
    there = next((piece for piece in draft if piece.unit == unit), Piece(unit))
    if text == article.units[unit].text(there.done):
        text = ""
    return put(draft, msgspec.structs.replace(there, text=text, wrong=False))
