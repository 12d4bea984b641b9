"""Texts as pages show them: Markdown made once and kept, links looked up each time.

A text longer than is read at once is shown in parts; each part says where the next one begins.
Source: spec §7 (links), §12 (Reader).
"""

import re
from collections.abc import Callable
from functools import lru_cache
from html import unescape
from typing import NamedTuple

import msgspec
from markupsafe import Markup
from sqlalchemy import select

from refold.agentpedia.api.asking import Asking
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import VersionText
from refold.agentpedia.queries.questions import Question, named_in
from refold.agentpedia.slug import entry_key, normalize_slug
from refold.agentpedia.store import tables
from refold.agentpedia.store.rows import indexed
from refold.kernel.errors import InputError
from refold.metaid.store.tables import pins
from refold.serving.here import Here
from refold.serving.markdown import MAX_CHARS, Cut, Document, Link, Markdown
from refold.serving.markdownhtml import Heading
from refold.serving.reading import Threads

__all__ = ["ENTRIES", "PINS", "SCHEMES", "Article", "Known", "Reader", "key_of_link"]

SCHEMES = ("pin", "metafile")
"""What a text may refer to besides the web (AC-A4)."""
ENTRIES = "/agentpedia/entries"
PINS = "/agentpedia/pins"

ABOUT = 200
"""Characters of a text that stand for it elsewhere."""
_LOOKED_AT = 1_500
_TAG = re.compile("<[^>]*>")

_KEYS = Question(
    lambda kind: select(tables.entries.c.key).where(named_in(kind, tables.entries.c.key, "keys"))
)
_PINS = Question(lambda kind: select(pins.c.pin).where(named_in(kind, pins.c.pin, "pins")))


class Article(msgspec.Struct, frozen=True):
    """A part of a text as HTML: characters `start` to `end` of `length`.

    `about` is its beginning as plain text.
    """

    html: Markup
    about: str
    toc: tuple[Heading, ...]
    cuts: tuple[Cut, ...]
    start: int
    end: int
    length: int


class There(msgspec.Struct, frozen=True):
    """Which of the entries and pins that a text refers to are there."""

    entries: frozenset[str]
    pins: frozenset[str]


class Known(NamedTuple):
    """A text that was read, and what of its links is there."""

    document: Document
    there: There
    start: int
    length: int

    @property
    def made_of(self) -> tuple[object, ...]:
        """What the HTML is made of, besides the text."""
        return self.there, self.start, self.length


class Reader:
    """Makes articles, and keeps what it made. `version` is that of the whitelist."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._markdown = Markdown(SCHEMES)
        # One, as it is all work of the interpreter: two would only take turns, at a price.
        self._thread = Threads(1)
        self.version = self._markdown.version

    def known(self, look: Look, version: VersionText | None, lang: str, at: int) -> Known | None:
        """Give a text with its links if it is in memory, in a look that asks for more.

        Raises InputError `part-unknown` behind its end.
        """
        if version is None or version.text is None:
            return None
        document = self._markdown.kept(_part(version.text, at))
        if document is None:
            return None
        return Known(document, there_of(look, document, lang), at, len(version.text))

    async def read(self, text: str, lang: str, at: int) -> Known:
        """Read a text from a character on, in a thread.

        Raises InputError `part-unknown` behind its end.
        """
        part = _part(text, at)
        document = await self._thread.run(self._markdown.document, part)
        return Known(document, self._asking.inline(there_of, document, lang), at, len(text))

    def article(self, here: Here, known: Known, lang: str) -> Article:
        """Give a text that was read as HTML."""
        document, there, start, length = known
        html = document.html(_wiki(here, lang, there), _uri(here, there))
        return Article(
            html=html,
            about=_about(html),
            toc=document.toc,
            cuts=tuple(cut for cut in document.cuts if cut.kind not in {"length", "output"}),
            start=start,
            end=start + document.read,
            length=length,
        )


def _about(html: str) -> str:
    """Give the beginning of a text without its markup, for those who show a link to it."""
    said = unescape(_TAG.sub("", html[:_LOOKED_AT].rpartition("<")[0] or html[:_LOOKED_AT]))
    return " ".join(said.split())[:ABOUT]


def _part(text: str, at: int) -> str:
    """Give as much of a text as tells where its part from a character on ends."""
    if at and at >= len(text):
        raise InputError("part-unknown", "the text ends before", "begin at 0", "/at")
    return text[at : at + MAX_CHARS + 1]


@lru_cache(maxsize=16_384)
def key_of_link(lang: str, slug: str) -> str | None:
    """Give the entry key that a link leads to, as `refold.agentpedia.links` reads it."""
    try:
        return entry_key(lang, normalize_slug(slug))
    except InputError:
        return None


def there_of(look: Look, document: Document, lang: str) -> There:
    """Look up what a text refers to, all of it in two questions."""
    keys = {key_of_link(named or lang, slug) for named, slug in document.entries} - {None}
    ids = [pin for pin in map(_pin_in, document.uris) if pin]
    entries = (
        _KEYS.rows(look.connection, keys=[indexed(key) for key in keys if key]) if keys else ()
    )
    found = _PINS.rows(look.connection, pins=ids) if ids else ()
    return There(frozenset(row[0] for row in entries), frozenset(row[0] for row in found))


def _pin_in(uri: str) -> str:
    return uri.partition("://")[2]


def _wiki(here: Here, lang: str, there: There) -> Callable[[str, str], Link | None]:
    def wiki(named: str, slug: str) -> Link | None:
        key = key_of_link(named or lang, slug)
        if key is None:
            return None
        return Link(here.to(ENTRIES, key), is_missing=indexed(key) not in there.entries)

    return wiki


def _uri(here: Here, there: There) -> Callable[[str], Link | None]:
    def uri(target: str) -> Link | None:
        pin = _pin_in(target)
        return Link(here.to(PINS, pin)) if pin in there.pins else None

    return uri
