"""Where a page stands: its address and language, and how it writes the addresses of others.

Nothing is kept about readers, so a language that was asked for by name goes along in every link;
one that the browser prefers does not have to.
"""

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote

from litestar.types import Scope

from refold.serving.asked import query_pieces
from refold.serving.language import LANGUAGES, language_of

__all__ = ["Here", "here_of", "joined", "wants_json"]

_OF_PAGES = {"lang", "format"}
"""Members of a query that every page takes: links to others have their own."""


class Here:
    """An address of ours, `path` in percent-encoding, with the language its page is in.

    `named` is the language when the address names it, else "".
    """

    __slots__ = ("_pieces", "lang", "named", "origin", "path")

    def __init__(
        self, path: str, query: bytes = b"", *, lang: str, named: str = "", origin: str = ""
    ) -> None:
        self.path = path
        self.lang = lang
        self.named = named
        self.origin = origin
        self._pieces = query_pieces(query)

    def to(self, base: str, *parts: object, **members: object) -> str:
        """Give the address of another page of ours.

        `base` is a path as it is written, `parts` are encoded and set behind it, one a slash.
        Members that are None are left out.
        """
        path = joined(base, *parts)
        if self.named:
            members["lang"] = self.named
        if not members:
            return path
        query = _query(members)
        return f"{path}?{query}" if query else path

    def again(self, **members: object) -> str:
        """Give the address of this page with other members of its query; None takes one out."""
        kept = [f"{name}={value}" for name, value in self._pieces if name not in members]
        query = "&".join([*(quote(piece, safe="=%~+") for piece in kept), _query(members)])
        return f"{self.path}?{query.strip('&')}".rstrip("?")

    def member(self, name: str) -> str:
        """Give a member of the query as it was sent, "" for none."""
        return dict(self._pieces).get(name, "")

    @property
    def address(self) -> tuple[object, ...]:
        """What of this the links of a page are made from: the same gives the same links."""
        return (self.origin, self.path, self.lang, self.named, *self._pieces)

    @property
    def whole(self) -> str:
        """The address of this page with its origin, for others to name it by."""
        kept = [piece for piece in self._pieces if piece[0] not in _OF_PAGES]
        query = "&".join(quote(f"{name}={value}", safe="=%~+") for name, value in kept)
        return f"{self.origin}{self.path}" + (f"?{query}" if query else "")

    def in_section(self, base: str) -> bool:
        """Tell whether this page stands at a path or below it."""
        return self.path == base or self.path.startswith(f"{base}/")


@lru_cache(maxsize=16_384)
def joined(base: str, *parts: object) -> str:
    """Give a path with parts behind it, each in percent-encoding."""
    return "/".join([base, *(quote(str(part), safe=":~") for part in parts)]) if parts else base


def _query(members: Mapping[str, object]) -> str:
    return "&".join(
        f"{name}={quote(str(value), safe='~')}"
        for name, value in members.items()
        if value is not None
    )


def here_of(scope: Scope, accept_language: str, origin: str) -> Here:
    """Give where a request leads, in a language of ours whatever it asks for."""
    query = scope["query_string"]
    named = dict(query_pieces(query)).get("lang", "")
    named = named if named in LANGUAGES else ""
    lang = language_of(named, accept_language)
    # Whoever asks for //other.example is told that it is not there, by a page of our own links.
    path = quote(str(scope["path"]), safe="/%:;,@!$&'()*+=~")
    path = "/" if path.startswith("//") else path
    return Here(path, query, lang=lang, named=named, origin=origin)


def wants_json(query: bytes) -> bool:
    """Tell whether a page is asked for as data (`?format=json`)."""
    return b"format=json" in query and dict(query_pieces(query)).get("format") == "json"
