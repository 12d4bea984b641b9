"""Shares of a whole as a bar shows them: a few by name, the rest together.

Source: spec §9 (composition of editors), PRD AC-F1.
"""

from collections.abc import Sequence

import msgspec

from refold.agentpedia.queries.model import AuthorCount

__all__ = ["WIDTH", "Share", "shares_of"]

NAMED = 5
"""Editors with a colour of their own: more are not told apart."""
WIDTH = 1_000
"""What a bar is wide, in units of its drawing."""


class Share(msgspec.Struct, frozen=True):
    """A piece of a bar, from `start` on. `editor` is "" for all the others, `others` of them."""

    editor: str
    count: int
    percent: int
    start: int
    width: int
    others: int = 0


def shares_of(authors: Sequence[AuthorCount], whole: int) -> list[Share]:
    """Give the pieces of a bar, the largest first; `whole` is the sum of all."""
    named = [(one.editor, one.versions) for one in authors[: NAMED + (len(authors) == NAMED + 1)]]
    rest = whole - sum(count for _, count in named)
    if rest > 0:
        named.append(("", rest))
    shares: list[Share] = []
    start = 0
    for editor, count in named:
        end = start + round(count * WIDTH / whole)
        others = 0 if editor else len(authors) - len(named) + 1
        percent = round(count * 100 / whole)
        shares.append(Share(editor, count, percent, start, max(1, end - start - 2), others))
        start = end
    return shares
