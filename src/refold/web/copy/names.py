"""Addresses of ours, and the file that each is copied to.

A name of a file says what its address says where every file system can hold that: lower-case ASCII
letters, digits, `-` and `_`, no name of a device, not too long. Everything else keeps what of it
can be read, and ends in a digest of the whole: no two addresses share a file, not even where case
does not count, and no name of a stranger is a path.
"""

import base64
import re
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["Address", "address_of", "file_of", "is_file_name", "relative"]

MAX_PLAIN = 72
"""Characters of a name that is kept as it is: a pin id has 66. A whole path stays below the 260 of
Windows, with some room for the folder."""
MAX_READABLE = 32
"""Characters that are kept of another name, before its digest."""
DIGEST_CHARS = 26
"""Base32 for 130 bits: nobody finds two names of one file."""

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?")
_DEVICE = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
_UNREADABLE = re.compile(r"[^a-z0-9]+")
_NAME = re.compile(r"(?:[a-z0-9][a-z0-9_-]*/)*[a-z0-9][a-z0-9._-]*")
_OF_PAGES = {"lang", "format"}


class Address(NamedTuple):
    """A page, feed or list of ours: its path in percent-encoding, and its query in one order.

    Neither says in which language, nor whether as a page or as data.
    """

    path: str
    query: str = ""

    def __str__(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


@lru_cache(maxsize=16_384)
def address_of(link: str) -> tuple[Address, str, bool]:
    """Give the address that a link of ours leads to, the language it names, and whether as data."""
    path, _, query = link.partition("?")
    pieces = [piece for piece in query.split("&") if piece]
    members = dict(piece.partition("=")[::2] for piece in pieces)
    rest = sorted(piece for piece in pieces if piece.partition("=")[0] not in _OF_PAGES)
    address = Address(path, "&".join(rest))
    return address, members.get("lang", ""), members.get("format") == "json"


@lru_cache(maxsize=16_384)
def file_of(address: Address, ending: str, folder: str = "") -> str:
    """Give the name of the file for an address, `/` between folders, below `folder`."""
    *above, last = address.path.strip("/").split("/")
    name = _named(str(address), f"{last}-{address.query}") if address.query else _segment(last)
    return "/".join([*([folder] if folder else []), *map(_segment, above), name]) + ending


def _segment(raw: str) -> str:
    text = unquote(raw) or "index"
    is_plain = _PLAIN.fullmatch(text) and len(text) <= MAX_PLAIN and "--" not in text
    return text if is_plain and not _DEVICE.fullmatch(text) else _named(raw, text)


def _named(whole: str, readable: str) -> str:
    kept = _UNREADABLE.sub("-", unquote(readable).lower())[:MAX_READABLE].strip("-")
    digest = base64.b32encode(sha256(whole.encode()).digest()).decode().lower()[:DIGEST_CHARS]
    return f"{kept or 'x'}--{digest}"


def relative(target: str, seen_from: str) -> str:
    """Give the link from one file to another."""
    to, here = target.split("/"), seen_from.split("/")
    most = min(len(to), len(here)) - 1
    same = next((at for at in range(most) if to[at] != here[at]), most)
    return "/".join([*[".."] * (len(here) - 1 - same), *to[same:]])


def is_file_name(name: str) -> bool:
    """Tell whether a name may be one that `file_of` gave: below the folder, and no hidden file."""
    return _NAME.fullmatch(name) is not None
