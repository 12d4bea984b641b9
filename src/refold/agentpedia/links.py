"""What a text refers to (spec §7)."""

import re

from refold.agentpedia.slug import entry_key, normalize_slug
from refold.kernel.errors import InputError

MAX_LINKS = 1_000
"""Distinct targets taken of one text: more than any text of 16 KiB that a person can read."""

_LINK = re.compile(r"\[\[(?:([a-z]{2,8}):)?([^\[\]|\n]{1,256})\]\]")
_CHAIN_URI = re.compile(r"(?:pin|metafile)://[0-9A-Za-z]+")


def refs_found(text: str) -> int:
    """Count the distinct pin:// and metafile:// URIs in a text; web addresses do not (AC-A4)."""
    if "://" not in text:
        return 0
    return len(set(_CHAIN_URI.findall(text)))


def utf8_length(text: str) -> int:
    """Give the length of a text in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def links_of(text: str, lang: str) -> list[str]:
    """Give the entry keys that a text links to, each once, in their order, at most `MAX_LINKS`.

    `[[slug]]` is of the text's own language, `[[lang:slug]]` of that one; what a reader sees may
    differ from the slug (`[[Tide Table]]`), so it is normalised (spec §7). What leaves no slug is
    no link.
    """
    found: dict[str, None] = {}
    for match in _LINK.finditer(text):
        try:
            key = entry_key(match[1] or lang, normalize_slug(match[2]))
        except InputError:
            continue
        found[key] = None
        if len(found) == MAX_LINKS:
            break
    return list(found)
