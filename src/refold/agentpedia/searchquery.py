"""What somebody searches for, read.

A question is words, which must all be there, in any order; what stands in quotes must stand in the
text one after the other. A run of Chinese, Japanese or Korean characters must be there as it is.
Nothing else means anything, so nobody has to learn or to escape anything. Source: issue 6.
"""

import re
from typing import Final

import msgspec

from refold.agentpedia.scoring import needle_of
from refold.agentpedia.tokens import CJK, folded_pieces
from refold.kernel.errors import InputError

__all__ = ["MAX_QUERY", "MAX_QUERY_TERMS", "SearchQuery", "parse_query"]

MAX_QUERY: Final = 256
"""Longest question in characters: as long as a title may be, for which people search."""
MAX_QUERY_TERMS: Final = 64
"""Terms that a question may have: each is looked up. A run of n characters has n - 1."""

_QUOTED = re.compile('["\u201c\u201d\uff02]([^"\u201c\u201d\uff02]*)["\u201c\u201d\uff02]')
_RUN = re.compile(f"[{CJK}]")


class SearchQuery(msgspec.Struct, frozen=True):
    """A question: what must be in a document.

    `phrases` are pieces that must stand one after the other, most of them a single one. `terms` are
    those of all phrases, each once, in order. `needles` must be in the stream of a document
    (`scoring.Stream`): the phrases that say more than their terms do.
    """

    phrases: tuple[tuple[str, ...], ...]
    terms: tuple[str, ...]
    needles: tuple[str, ...]


def parse_query(text: str) -> SearchQuery:
    """Read a question.

    Raises InputError `search-empty` if there is nothing to search for in it, `search-too-long`
    above `MAX_QUERY` characters or `MAX_QUERY_TERMS` terms.
    """
    if len(text) > MAX_QUERY:
        raise _too_long(f"{len(text)} characters, at most {MAX_QUERY}")
    phrases = tuple(dict.fromkeys(_phrases(text)))
    if not phrases:
        raise InputError(
            "search-empty", "there is no word to search for", "write at least a letter or a digit"
        )
    terms = tuple(dict.fromkeys(t for phrase in phrases for part in phrase for t in _terms(part)))
    if len(terms) > MAX_QUERY_TERMS:
        raise _too_long(f"{len(terms)} terms, at most {MAX_QUERY_TERMS}")
    needles = tuple(needle_of(phrase) for phrase in phrases if _says_more(phrase))
    return SearchQuery(phrases, terms, needles)


def _phrases(text: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    # What stands outside of quotes and inside of them comes in turn.
    for number, part in enumerate(_QUOTED.split(text)):
        parts = folded_pieces(part)
        if number % 2 and parts:
            found.append(tuple(parts))
        else:
            found += ((piece,) for piece in parts)
    return found


def _terms(piece: str) -> list[str]:
    """Give the terms that every document has in which a piece stands."""
    if len(piece) == 1 or not _RUN.match(piece):
        return [piece]
    return [piece[at : at + 2] for at in range(len(piece) - 1)]


def _says_more(phrase: tuple[str, ...]) -> bool:
    return len(phrase) > 1 or (_RUN.match(phrase[0]) is not None and len(phrase[0]) > 2)


def _too_long(found: str) -> InputError:
    return InputError("search-too-long", f"the question has {found} are read", "ask for less")
