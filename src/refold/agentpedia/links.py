"""What a text refers to (spec §7)."""

import re

_CHAIN_URI = re.compile(r"(?:pin|metafile)://[0-9A-Za-z]+")


def refs_found(text: str) -> int:
    """Count the distinct pin:// and metafile:// URIs in a text; web addresses do not (AC-A4)."""
    if "://" not in text:
        return 0
    return len(set(_CHAIN_URI.findall(text)))


def utf8_length(text: str) -> int:
    """Give the length of a text in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode())
