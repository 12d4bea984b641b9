"""Hashes of proofs as text: 64 lower-case hex digits each."""

import re
from collections.abc import Iterable

__all__ = ["hashes_of", "is_hex"]

_HEX = re.compile("[0-9a-f]*")


def is_hex(text: str, digits: int) -> bool:
    """Tell whether a text is lower-case hex of so many digits."""
    return len(text) == digits and _HEX.fullmatch(text) is not None


def hashes_of(texts: Iterable[str]) -> list[bytes]:
    """Give hashes; one that is not spelled as such is empty, and fits no proof."""
    return [bytes.fromhex(each) if is_hex(each, 64) else b"" for each in texts]
