"""Markdown of strangers, as HTML that can do nothing.

Two locks, one behind the other: a parser that knows no HTML and a writer that makes only what the
whitelist names (`markdownrules`, `markdownhtml`), then a cleaner that takes out all else
(`whitelist`). Everything a stranger can make large has a limit, and whatever a limit kept out is
told. Nothing of it depends on who reads or when, so it is kept by the digest of the text; links
whose targets change (entries that come to be) are looked up anew each time. Source: agentpedia.md
§7 and §12 (Reader), architecture.md (Stack: Markdown).
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import sha256
from threading import Lock
from typing import Final

import msgspec
from markdown_it.token import Token
from markupsafe import Markup

from refold.serving.limits import Limit
from refold.serving.markdownhtml import (
    MAX_HTML,
    MAX_MARKS,
    MAX_SLOTS,
    REL,
    SLOT,
    Heading,
    Slot,
    Writer,
    attribute,
    headings,
)
from refold.serving.markdownrules import (
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_URL,
    CutKind,
    Cuts,
    Parser,
    kept_out,
)
from refold.serving.whitelist import built_in, cleaner

__all__ = [
    "MARKDOWN_LIMITS",
    "MAX_CACHE_CHARS",
    "MAX_CHARS",
    "MAX_HEADINGS",
    "Cut",
    "Document",
    "Link",
    "Markdown",
]

MAX_CHARS: Final = 32 * 1024
"""Characters read of a text at once: twice the longest inline text. The costliest of them that are
known take under a second; longer texts are read in parts."""
MAX_HEADINGS: Final = 200
"""Lines of a table of contents."""
MAX_CACHE_CHARS: Final = 32 * 1024 * 1024
"""Characters of HTML that are kept."""

MARKDOWN_LIMITS: tuple[Limit, ...] = (
    Limit("markdown.text", MAX_CHARS, "characters", "read at once; more is in the next part"),
    Limit("markdown.html", MAX_HTML, "characters", "made of one part, without looked-up links"),
    Limit("markdown.depth", MAX_DEPTH, "levels", "quotes and lists inside each other"),
    Limit("markdown.marks", MAX_MARKS, "levels", "emphasis inside emphasis"),
    Limit("markdown.columns", MAX_COLUMNS, "columns", "of a table"),
    Limit("markdown.cells", MAX_CELLS, "cells", "of all tables"),
    Limit("markdown.links", MAX_SLOTS, "links", "to entries and pins"),
    Limit("markdown.url", MAX_URL, "characters", "of an address"),
    Limit("markdown.headings", MAX_HEADINGS, "headings", "in a table of contents"),
)
_VALUES: dict[CutKind, int] = {
    "length": MAX_CHARS,
    "output": MAX_HTML,
    "blocks": MAX_HTML,
    "nesting": MAX_DEPTH,
    "tables": MAX_CELLS,
    "links": MAX_SLOTS,
    "images": 0,
    "headings": MAX_HEADINGS,
}

_LINES = re.compile(r"\r\n?|\n")
# An address of the web; a path from the root, which is never //host; or one beside this page, with
# no colon in its first part. Browsers forget controls and white space, and take \ for /.
_REST = r"[^\0-\x20\x7f\\]*"
_HREF = re.compile(
    rf"https?://[^\0-\x20\x7f/?#@\\]+(?:[/?#]{_REST})?"
    rf"|/(?!/){_REST}|[?#]{_REST}|[^\0-\x20\x7f\\:/?#]+(?:[/?#]{_REST})?"
)


class Link(msgspec.Struct, frozen=True):
    """Where a link goes: a path, or an http address; `is_missing` for an entry not yet written."""

    href: str
    is_missing: bool = False


class Cut(msgspec.Struct, frozen=True):
    """What a limit kept out, and how much of it.

    length, output: characters that are in the next part (`Document.read`). blocks: too large as
    HTML, shown as source. nesting: quotes, lists and emphasis shown flat. tables: shown as source.
    links: not looked up, shown as text. images: inside a link, shown as their description.
    headings: not in the table of contents.
    """

    kind: CutKind
    limit: int
    count: int


Wiki = Callable[[str, str], Link | None]
"""Of a language ("" for the text's own) and what stands as slug, makes a link; None: there is no
such entry and can be none."""
Uri = Callable[[str], Link | None]
"""Of a URI, makes a link; None when there is nowhere to go."""


class Document(msgspec.Struct, frozen=True):
    """A text as HTML, but for the links that `html` looks up.

    `read` is where in the text reading ended: when it is not its length, the next part begins
    there. `entries` (language, slug) and `uris` are what `html` will ask for, each once, so that
    all can be looked up together beforehand.
    """

    toc: tuple[Heading, ...]
    cuts: tuple[Cut, ...]
    read: int
    entries: tuple[tuple[str, str], ...]
    uris: tuple[str, ...]
    clean: str
    slots: tuple[Slot, ...]

    def html(self, wiki: Wiki, uri: Uri) -> Markup:
        """Give the HTML. Links that get None, or an address that none may have, stay text."""

        def fill(match: re.Match[str]) -> str:
            slot = self.slots[int(match[1])]
            is_wiki = slot.kind == "wiki"
            link = wiki(slot.lang, slot.target) if is_wiki else uri(slot.target)
            return _filled(slot, link, match[2])

        return Markup(SLOT.sub(fill, self.clean))  # noqa: S704 (cleaned, and filled with escaped)


def _filled(slot: Slot, link: Link | None, said: str) -> str:
    target = f"{slot.lang}:{slot.target}" if slot.lang else slot.target
    if link is None or len(link.href) > MAX_URL or not _HREF.fullmatch(link.href):
        return f'<span class="unresolved" title="{attribute(target)}">{said}</span>'
    kinds = [slot.kind]
    rel = ""
    if link.is_missing:
        kinds.append("missing")
    if "://" in link.href:
        kinds.append("external")
        rel = f' rel="{REL}"'
    title = f' title="{attribute(target)}"' if link.is_missing or slot.kind == "uri" else ""
    return f'<a href="{attribute(link.href)}" class="{" ".join(kinds)}"{rel}{title}>{said}</a>'


class Markdown:
    """Reads texts, and keeps what it made of them. May be used from several threads.

    `schemes` are those of URIs that are links, in the text as well as in `<…>` and `[…](…)`.
    """

    def __init__(self, schemes: Iterable[str], *, cache_chars: int = MAX_CACHE_CHARS) -> None:
        whitelist = built_in()
        self.version = whitelist.version
        self._prefix = whitelist.id_prefix
        self._cleaner = cleaner(whitelist)
        self._parser = Parser(schemes)
        self._kept: OrderedDict[bytes, Document] = OrderedDict()
        self._room = cache_chars
        self._lock = Lock()

    def document(self, text: str) -> Document:
        """Give what a text is as HTML, from memory if it was read before.

        A text longer than `MAX_CHARS` is read as far as it is told (`Document.read`).
        """
        key = _key(text)
        found = self._remembered(key)
        if found is not None:
            return found
        made = self._read(text)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._room -= _size(made)
            while self._room < 0:
                self._room += _size(self._kept.popitem(last=False)[1])
        return made

    def kept(self, text: str) -> Document | None:
        """Give what `document` gives where it is in memory: that takes no thread."""
        return self._remembered(_key(text))

    def _remembered(self, key: bytes) -> Document | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def _read(self, text: str) -> Document:
        end = _end_of_part(text)
        part = text[:end]
        env: dict[str, object] = {}
        tokens = self._parser.parse(part, env)
        kept = kept_out(env)
        counted: Cuts = {"nesting": len(kept.deep), "tables": len(kept.tables)}
        found = headings(tokens, self._prefix)
        writer = Writer(self._parser.uri, found, self._prefix, counted)
        lines = _LINES.split(part)
        written = len(tokens)
        for first, last in _blocks(tokens):
            if writer.block(tokens, first, last):
                continue
            start, stop = tokens[first].map or (0, len(lines))
            if first:
                written = first
                end = _offset(part, start)
                counted["output"] = len(text) - end
                break
            counted["blocks"] = 1
            writer.source("\n".join(lines[start:stop]))
        if end < len(text) and "output" not in counted:
            counted["length"] = len(text) - end
        toc = [one for at, one in found.items() if at < written and not tokens[at].level]
        if len(toc) > MAX_HEADINGS:
            counted["headings"] = len(toc) - MAX_HEADINGS
        slots = tuple(writer.slots)
        return Document(
            toc=tuple(toc[:MAX_HEADINGS]),
            cuts=tuple(_cuts(counted)),
            read=end,
            entries=tuple(dict.fromkeys((s.lang, s.target) for s in slots if s.kind == "wiki")),
            uris=tuple(dict.fromkeys(s.target for s in slots if s.kind == "uri")),
            clean=self._cleaner.clean(writer.html()),
            slots=slots,
        )


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _cuts(counted: Cuts) -> Iterable[Cut]:
    return (Cut(kind, _VALUES[kind], count) for kind, count in sorted(counted.items()) if count)


def _size(document: Document) -> int:
    return len(document.clean) + 1_000  # and what else a document takes


def _end_of_part(text: str) -> int:
    """Give where the first part of a text ends: best between two blocks, else between two lines."""
    if len(text) <= MAX_CHARS:
        return len(text)
    for mark in ("\n\n", "\n\r\n", "\n"):
        at = text.rfind(mark, MAX_CHARS // 2, MAX_CHARS)
        if at >= 0:
            return at + len(mark)
    return MAX_CHARS


def _blocks(tokens: list[Token]) -> Iterable[tuple[int, int]]:
    """Give where the outermost blocks begin and end among tokens."""
    first = 0
    for at, token in enumerate(tokens):
        if not token.level and token.nesting <= 0:
            yield first, at + 1
            first = at + 1


def _offset(text: str, line: int) -> int:
    """Give where a line begins, counted from 0."""
    for number, match in enumerate(_LINES.finditer(text), 1):
        if number == line:
            return match.end()
    return 0
