"""Who wrote what is shown: the present text of an entry, shared out among its authors (spec §9).

Each word of the text belongs to whoever brought it in: from the version shown one goes back,
version by version, and what the one before does not have is its author's. A version whose text was
there before, as after a revert, brings nothing in: one goes on from where it was first. It is
outside the digest: which words are the same depends on a diff, and on texts that a node may lack.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from refold.agentpedia.worddiff import matching_blocks, words_of

__all__ = ["TextOf", "shares_of"]


class TextOf(msgspec.Struct, frozen=True, gc=False):
    """The text of a version and who is its author; `text_hash` tells which texts are the same."""

    author: str
    text_hash: str
    text: str


def shares_of(versions: Sequence[TextOf], *, is_whole: bool) -> dict[str | None, int]:
    """Give the characters of the first version's words by author; white space is nobody's.

    `versions` go from the one shown back to older ones, those with unknown texts left out; where
    they do not reach back to the beginning (`is_whole`), None stands for whoever was before.
    """
    if not versions:
        return {}
    words = words_of(versions[0].text)
    sizes = [0 if word.isspace() else len(word) for word in words]
    shares: Counter[str | None] = Counter()
    # Where the words that nobody has claimed yet stand in the version that was reached.
    standing = {place: place for place in range(len(words))}
    here = _earliest(versions, 0)
    while standing:
        author = versions[here].author
        before = here + 1
        if before == len(versions):
            last = author if is_whole else None
            shares[last] += _size(standing.values(), sizes)
            break
        before = _earliest(versions, before)
        older = words_of(versions[before].text)
        moved = _moved(older, words_of(versions[here].text), standing)
        mine = set(standing.values()) - set(moved.values())
        shares[author] += _size(mine, sizes)
        standing, here = moved, before
    return {name: size for name, size in shares.items() if size}


def _earliest(versions: Sequence[TextOf], number: int) -> int:
    """Give the oldest version with the same text."""
    same = versions[number].text_hash
    return max(at for at in range(number, len(versions)) if versions[at].text_hash == same)


def _moved(older: list[str], newer: list[str], standing: dict[int, int]) -> dict[int, int]:
    """Give where in the older version the words stand that it has, by their old names."""
    moved: dict[int, int] = {}
    for block in matching_blocks(older, newer):
        for step in range(block.size):
            if block.b + step in standing:
                moved[block.a + step] = standing[block.b + step]
    return moved


def _size(places: Iterable[int], sizes: Sequence[int]) -> int:
    return sum(sizes[place] for place in places)
