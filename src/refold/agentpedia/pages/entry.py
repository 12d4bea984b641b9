"""An entry, a version of it, and what links to it.

Source: spec §12 (Reader), PRD AC-F1, AC-F2.
"""

from typing import NamedTuple

from refold.agentpedia.api.asking import Asking, paged
from refold.agentpedia.pages.article import Known, Reader
from refold.agentpedia.pages.asked import (
    EntryPageAsked,
    OfEntryPageAsked,
    OfVersionPageAsked,
    VersionPageAsked,
)
from refold.agentpedia.pages.linking import FROM_ENTRY, FROM_REV, linking
from refold.agentpedia.pages.origin import Origin, origin_of
from refold.agentpedia.pages.shares import WIDTH, shares_of
from refold.agentpedia.queries import rulings, texts
from refold.agentpedia.queries.entry import entry_of
from refold.agentpedia.queries.lists import items_of
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Backlink, Entry, EntryItem, VersionText
from refold.agentpedia.queries.model_governance import ReviewItem
from refold.kernel.errors import InputError
from refold.serving.answers import Answer, Page, View
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["EntryPages"]

BACKLINKS = 10
"""Entries that link to one, below it; the list of them is paged."""
REVIEWS = 10
"""Reviews below a version; the list of them is paged."""
_NO_ENTRY = ("entry-unknown", "part-unknown")
_NO_VERSION = ("version-unknown", "part-unknown")


class _Entry(NamedTuple):
    """What one look at the database gives for an entry."""

    entry: Entry
    origin: Origin
    linking: tuple[EntryItem, ...]
    known: Known | None


class _Version(NamedTuple):
    """What one look gives for a version; `entry` is the one it is of, by the key it had then."""

    version: VersionText
    entry: Entry | None
    origin: Origin
    reviews: list[ReviewItem]
    known: Known | None


class EntryPages:
    """See the module."""

    def __init__(self, asking: Asking, reader: Reader) -> None:
        self._asking = asking
        self._reader = reader

    @page("/agentpedia/entries/{key}", summary="An entry", codes=_NO_ENTRY)
    async def entry(self, asked: EntryPageAsked, call: Call) -> Answer[View]:
        """Show what readers see of an entry, and what to warn them of."""
        if call.wants_json:
            found = self._asking.inline(entry_of, asked.key)
            return Answer(View("agentpedia/entry.html", {}, found))
        try:
            seen = self._asking.inline(self._entry, asked.key, asked.at)
        except InputError as error:
            if error.code != "entry-unknown":
                raise
            return self._missing(asked.key)
        entry = seen.entry
        known = await self._known(call, entry.version, entry.lang, asked.at, seen.known)

        def data() -> dict[str, object]:
            return {
                "entry": entry,
                "version": entry.version,
                "origin": seen.origin,
                "article": known and self._reader.article(call.here, known, entry.lang),
                "shares": shares_of(entry.composition, entry.version_count),
                "bar_width": WIDTH,
                "linking": seen.linking[:BACKLINKS],
                "has_more_links": len(seen.linking) > BACKLINKS,
            }

        made_of = entry, seen.origin, seen.linking, known and known.made_of
        return Answer(View("agentpedia/entry.html", data, entry, made_of))

    def _entry(self, look: Look, key: str, at: int) -> _Entry:
        entry = entry_of(look, key)
        version = entry.version
        return _Entry(
            entry,
            Origin() if version is None else origin_of(look, version),
            tuple(items_of(look, linking(look, key, BACKLINKS + 1))),
            self._reader.known(look, version, entry.lang, at),
        )

    def _missing(self, key: str) -> Answer[View]:
        """Say that there is no such entry, and which others wish for it."""

        def ask(look: Look) -> list[EntryItem]:
            return items_of(look, linking(look, key, BACKLINKS))

        data = {"key": key, "linking": self._asking.inline(ask)}
        return Answer(View("agentpedia/missing.html", data, None), status=404)

    async def _known(
        self, call: Call, version: VersionText | None, lang: str, at: int, known: Known | None
    ) -> Known | None:
        """Give the text of a version as it is read, None where there is none to show."""
        if known is not None or version is None or version.withheld is not None:
            return known
        text = version.text
        if version.is_long:
            text = await self._asking.in_thread(call, _long_text, version.id)
        return None if text is None else await self._reader.read(text, lang, at)

    @page("/agentpedia/versions/{id}", summary="A version of an entry", codes=_NO_VERSION)
    async def version(self, asked: VersionPageAsked, call: Call) -> View:
        """Show a version, displayed or not, with its reviews."""
        if call.wants_json:
            found = self._asking.inline(texts.version_of, asked.id)
            return View("agentpedia/version.html", {}, found)
        seen = self._asking.inline(self._version, asked.id, asked.at)
        version = seen.version
        lang = version.entry_key.partition(":")[0]
        known = await self._known(call, version, lang, asked.at, seen.known)
        data = {
            "entry": seen.entry,
            "version": version,
            "origin": seen.origin,
            "article": known and self._reader.article(call.here, known, lang),
            "reviews": seen.reviews[:REVIEWS],
            "has_more_reviews": len(seen.reviews) > REVIEWS,
        }
        return View("agentpedia/version.html", data, version)

    def _version(self, look: Look, name: str, at: int) -> _Version:
        version = texts.version_of(look, name)
        lang = version.entry_key.partition(":")[0]
        return _Version(
            version,
            _entry_at(look, version.entry_key),
            origin_of(look, version),
            list(rulings.reviews_of(look, version.id, REVIEWS + 1, None).items),
            self._reader.known(look, version, lang, at),
        )

    @page(
        "/agentpedia/versions/{id}/reviews", summary="Reviews of a version", codes=_NO_VERSION
    )  # fmt: skip
    def reviews(self, asked: OfVersionPageAsked, call: Call) -> Answer[View]:
        """List the reviews of a version, by id."""
        after = call.place(asked, tuple[str])

        def ask(look: Look) -> View:
            found = paged(call, asked, rulings.reviews_of(look, asked.id, asked.limit, after))
            data = {
                "version": texts.item_of(look, texts.named_version(look, asked.id)),
                "reviews": found.items,
                "next": call.next_of(found),
            }
            return View("agentpedia/reviews.html", data, found)

        return self._asking.of_view(call, ask)

    @page("/agentpedia/entries/{key}/backlinks", summary="What links to an entry")
    def backlinks(self, asked: OfEntryPageAsked, call: Call) -> View:
        """List the entries whose displayed text links to a key, which need not have an entry."""
        after = call.place(asked, tuple[str])

        def ask(look: Look) -> View:
            rows = linking(look, asked.key, asked.limit + 1, after[0] if after else None)
            found: Page[Backlink] = call.page(
                asked,
                rows,
                keyset=lambda row: (row[FROM_ENTRY],),
                item=lambda row: Backlink(row[0], row[FROM_REV]),
            )
            data = {
                "key": asked.key,
                "linking": items_of(look, rows[: asked.limit]),
                "last": (look.standing.tip or 0) - 1,
                "next": call.next_of(found),
            }
            return View("agentpedia/backlinks.html", data, found)

        return self._asking.inline(ask)


def _long_text(look: Look, name: str) -> str | None:
    """Give a text that is too long for an answer."""
    return texts.text_of(look, texts.named_version(look, name))[0]


def _entry_at(look: Look, key: str) -> Entry | None:
    """Give the entry under a key; there is none any more where a ruling moved it."""
    try:
        return entry_of(look, key)
    except InputError:
        return None
