"""A difference as it is read: one column with what went and what came, or two beside each other.

From the pieces of `worddiff` to lines, pure. Stretches that stayed are folded to a few lines around
what changed; what is longer than a page may be is cut, and the answer says so.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import NamedTuple

from refold.agentpedia.worddiff import Piece

__all__ = ["CONTEXT", "MAX_PAIRS", "MAX_SHOWN", "Column", "Pair", "Sides", "column_of", "sides_of"]

CONTEXT = 2
"""Lines that stayed and are shown before and after a change."""
MAX_SHOWN = 60_000
"""Characters of a difference on a page: nearly four times the longest inline text. Each may bring
ten more of markup."""

MAX_PAIRS = 1_000
"""Lines beside each other on a page: with its markup one takes a hundred bytes."""
_FOLDED = 2
"""Lines that are worth a fold."""

Cell = tuple[Piece, ...]


class Pair(NamedTuple):
    """Two lines beside each other, None where a side has none; or `folded` lines that stayed."""

    before: Cell | None
    after: Cell | None
    folded: int = 0


class Sides(NamedTuple):
    """Lines in pairs; `is_cut` where more would follow."""

    pairs: tuple[Pair, ...]
    is_cut: bool


class Part(NamedTuple):
    """A piece in one column, or `folded` lines that stayed."""

    piece: Piece | None
    folded: int = 0


class Column(NamedTuple):
    """Pieces in one column; `is_cut` where more would follow."""

    parts: tuple[Part, ...]
    is_cut: bool


def column_of(pieces: Sequence[Piece], most: int = MAX_SHOWN) -> Column:
    """Give pieces for one column, at most so many characters of them."""
    shown: list[Part] = []
    left = most
    for part in _folded_pieces(pieces):
        if part.piece is None:
            shown.append(part)
            continue
        if left <= 0:
            return Column(tuple(shown), is_cut=True)
        cut = part.piece.text[:left]
        left -= len(cut)
        shown.append(Part(Piece(part.piece.op, cut)))
        if len(cut) < len(part.piece.text):
            return Column(tuple(shown), is_cut=True)
    return Column(tuple(shown), is_cut=False)


def _folded_pieces(pieces: Sequence[Piece]) -> Iterator[Part]:
    """Give pieces, of a long one that stayed the lines beside its neighbours and a fold.

    Its first line ends the line of a change before it, its last one begins that of one behind it,
    so the context is counted without them.
    """
    for number, piece in enumerate(pieces):
        before = CONTEXT + 1 if number else 0
        after = CONTEXT + 1 if number < len(pieces) - 1 else 0
        lines = piece.text.split("\n") if piece.op == "same" and before + after else []
        hidden = len(lines) - before - after
        if hidden < _FOLDED:
            yield Part(piece)
            continue
        if before:
            yield Part(Piece("same", "\n".join(lines[:before]) + "\n"))
        yield Part(None, hidden)
        if after:
            yield Part(Piece("same", "\n".join(lines[-after:])))


def sides_of(pieces: Sequence[Piece], most: int = MAX_SHOWN) -> Sides:
    """Give lines in pairs: at most so many characters of them, and at most `MAX_PAIRS`."""
    shown: list[Pair] = []
    left = most
    for pair in _pairs(_folded_pieces(pieces)):
        if left <= 0 or len(shown) == MAX_PAIRS:
            return Sides(tuple(shown), is_cut=True)
        half = max(1, left // 2)
        before, after = _cut(pair.before, half), _cut(pair.after, half)
        shown.append(Pair(before, after, pair.folded))
        left -= _size(before) + _size(after)
        if (before, after) != (pair.before, pair.after):
            return Sides(tuple(shown), is_cut=True)
    return Sides(tuple(shown), is_cut=False)


def _pairs(parts: Iterator[Part]) -> Iterator[Pair]:
    """Give the lines of both texts: what stands between two line ends that stayed is paired."""
    sides: tuple[list[list[Piece]], list[list[Piece]]] = ([[]], [[]])
    is_open = True
    for piece, folded in parts:
        is_open = piece is not None
        if piece is None:
            yield Pair(None, None, folded)
            continue
        touched = [
            side
            for side, op in zip(sides, ("gone", "new"), strict=True)
            if piece.op in {"same", op}
        ]
        for number, line in enumerate(piece.text.split("\n")):
            if number and piece.op == "same":
                yield from _paired(*sides)
                sides[0][:], sides[1][:] = [[]], [[]]
            elif number:
                touched[0].append([])
            for side in touched:
                side[-1] += [Piece(piece.op, line)] if line else []
    if is_open:
        yield from _paired(*sides)


def _paired(before: list[list[Piece]], after: list[list[Piece]]) -> Iterator[Pair]:
    """Pair lines, the last ones with each other: both end where a line end stayed.

    One line against several stands beside that of them which it has more in common with.
    """
    if min(len(before), len(after)) == 1 < max(len(before), len(after)):
        first, last = _in_common(before[0], after[0]), _in_common(before[-1][::-1], after[-1][::-1])
        if first > last:
            yield from _beside(before, after)
            return
    yield from _beside(before[:-1], after[:-1])
    yield Pair(tuple(before[-1]), tuple(after[-1]))


def _beside(before: list[list[Piece]], after: list[list[Piece]]) -> Iterator[Pair]:
    """Pair lines in their order, the last ones of the longer side with nothing."""
    for one, other in zip_longest(before, after):
        yield Pair(None if one is None else tuple(one), None if other is None else tuple(other))


def _in_common(one: list[Piece], other: list[Piece]) -> int:
    """Count the characters that stayed at the beginning of two lines."""
    pairs = takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False))
    return sum(len(piece.text) for piece, _ in pairs)


def _cut(cell: Cell | None, most: int) -> Cell | None:
    if cell is None or _size(cell) <= most:
        return cell
    kept: list[Piece] = []
    for piece in cell:
        kept.append(Piece(piece.op, piece.text[:most]))
        most -= len(kept[-1].text)
        if most <= 0:
            break
    return tuple(kept)


def _size(cell: Cell | None) -> int:
    return sum(len(piece.text) for piece in cell or ())
