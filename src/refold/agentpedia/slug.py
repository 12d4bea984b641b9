"""Slugs: the name of an entry inside its language, made from a title (PRD §4.2).

In this order: Unicode NFKC, lower case, each space to `_`, everything outside the alphabet dropped.
The alphabet is `a-z 0-9 _ -`, U+4E00 to U+9FFF and U+3400 to U+4DBF, the length 1 to 96 characters.

What the PRD leaves open, and how it is read here:

- A space is U+0020 after NFKC, which makes one of the no-break, ideographic and other Unicode
  spaces. Tabs and line ends are no spaces; they are dropped like any other character.
- Every space becomes a `_` of its own, at the ends too, because the PRD neither trims nor folds.
  Callers who want that do it to the title.
- Nothing is cut: a result longer than 96 characters is an error.

A slug is a fixed point: no step changes a character of the alphabet. The way there loses
information (C, C++ and C# all give `c`) and depends on the Unicode tables of the running Python, so
writers show what was dropped, and no rule of the fold normalises.
"""

import re
import unicodedata
from typing import Final

import msgspec

from refold.kernel.errors import InputError, one_line

MAX_LENGTH: Final = 96
"""Longest slug, in code points (PRD §4.2)."""

MAX_TITLE_LENGTH: Final = 256
"""Longest text to make a slug of, in code points: the longest title that a rev may have. NFKC takes
time in the square of a run of combining marks (80,000 of them: 10 s), so it needs a bound."""

_OUTSIDE = re.compile(r"[^a-z0-9_\-\u4e00-\u9fff\u3400-\u4dbf]")


class SlugResult(msgspec.Struct, frozen=True):
    """A slug, and the characters that the way from the title to it dropped, in their order.

    `dropped` shows them after NFKC and lower-casing. Case and compatibility forms are not counted
    as lost: they are the same entry by intention.
    """

    slug: str
    dropped: str


def slug_of(title: str) -> SlugResult:
    """The slug of a title, with what was dropped on the way.

    InputError `title-too-long` above `MAX_TITLE_LENGTH`, `slug-empty` when nothing is left,
    `slug-too-long` when more than `MAX_LENGTH` is.
    """
    if len(title) > MAX_TITLE_LENGTH:
        raise InputError(
            "title-too-long",
            f"the title has {len(title)} characters, at most {MAX_TITLE_LENGTH} are allowed",
            hint="shorten the title",
        )
    text = unicodedata.normalize("NFKC", title).lower().replace(" ", "_")
    slug = _OUTSIDE.sub("", text)
    dropped = "".join(_OUTSIDE.findall(text))
    if not slug:
        lost = f", all of {one_line(dropped)} is dropped" if dropped else ""
        raise InputError(
            "slug-empty",
            f"the title leaves no slug{lost}",
            hint="use letters a to z, digits, _, - or Chinese characters",
        )
    if len(slug) > MAX_LENGTH:
        raise InputError(
            "slug-too-long",
            f"the slug has {len(slug)} characters, at most {MAX_LENGTH} are allowed",
            hint="shorten the title or give a slug",
        )
    return SlugResult(slug, dropped)


def normalize_slug(title: str) -> str:
    """The slug of a title, whatever was dropped; the errors of `slug_of`."""
    return slug_of(title).slug


def entry_key(lang: str, slug: str) -> str:
    """The key `lang:slug` of an entry (PRD §4.2), from parts that their schema has checked."""
    return f"{lang}:{slug}"
