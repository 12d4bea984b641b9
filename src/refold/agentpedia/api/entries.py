"""Routes about entries and versions."""

from collections.abc import Sequence
from functools import partial

import msgspec

from refold.agentpedia.api.asked import (
    DiffAsked,
    EntriesAsked,
    EntryAsked,
    EntryNamed,
    GraphAsked,
    HistoryAsked,
    OfEntryAsked,
    OfVersionAsked,
    SearchAsked,
    VersionAsked,
)
from refold.agentpedia.api.asking import Asking, paged
from refold.agentpedia.queries import history, judging, lists, rulings, searching, texts
from refold.agentpedia.queries.entry import entry_of, key_of
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import (
    Backlink,
    Composition,
    Difference,
    Entry,
    EntryItem,
    Found,
    Graph,
    Step,
    VersionText,
)
from refold.agentpedia.queries.model_governance import (
    ChallengeItem,
    ContestItem,
    ReviewItem,
    Signalled,
)
from refold.agentpedia.store.search import Place
from refold.kernel.errors import InputError
from refold.serving.answers import Answer, Page
from refold.serving.call import Call
from refold.serving.operation import get

__all__ = ["EntriesApi"]

TEXT_TYPE = "text/plain; charset=utf-8"
_UNKNOWN = ("entry-unknown",)
_NO_VERSION = ("version-unknown",)
_EXAMPLE = {"key": "en:tides"}


class EntriesApi:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @get("/v1/agentpedia/entries", summary="List entries", example={"limit": 3, "sort": "title"})
    def entries(self, asked: EntriesAsked, call: Call) -> Answer[Page[EntryItem]]:
        """Give the entries: those changed last first, featured ones first, or by title."""
        after = call.place(asked, lists.PLACES[asked.sort])
        return self._asking.of_view(call, partial(self._entries, asked, call, after))

    def _entries(
        self, asked: EntriesAsked, call: Call, after: Sequence[object] | None, look: Look
    ) -> Page[EntryItem]:
        rows = lists.entries_page(look, asked.sort, asked.limit + 1, after, asked.lang)
        shown = rows[: asked.limit]
        following = lists.place_of(asked.sort, shown[-1]) if len(rows) > len(shown) else None
        return call.page_to(asked, lists.items_of(look, shown), following)

    @get(
        "/v1/agentpedia/entry", summary="Give an entry by language and slug",
        example={"lang": "en", "slug": "tides"}, codes=_UNKNOWN,
    )  # fmt: skip
    def named(self, asked: EntryNamed) -> Entry:
        """Give an entry as `/v1/agentpedia/entries/{key}` does; a title will do for the slug."""
        return self._asking.inline(entry_of, key_of(asked.lang, asked.slug))

    @get("/v1/agentpedia/entries/{key}", summary="Give an entry", codes=_UNKNOWN, example=_EXAMPLE)
    def entry(self, asked: EntryAsked) -> Entry:
        """Give what readers see: the version displayed with its text, and what to warn them of."""
        return self._asking.inline(entry_of, asked.key)

    @get(
        "/v1/agentpedia/entries/{key}/history", summary="List the history of an entry",
        codes=_UNKNOWN, example=_EXAMPLE,
    )  # fmt: skip
    def history(self, asked: HistoryAsked, call: Call) -> Answer[Page[Step]]:
        """Give the steps of an entry, redirects included, without texts."""
        after = call.place(asked, tuple[int])
        newest_first = asked.order == "newest"

        def ask(look: Look) -> Page[Step]:
            found = history.history_of(
                look, asked.key, asked.limit, after, newest_first=newest_first
            )
            return paged(call, asked, found)

        return self._asking.of_view(call, ask)

    @get(
        "/v1/agentpedia/entries/{key}/graph", summary="Give the graph of versions",
        codes=_UNKNOWN, example=_EXAMPLE,
    )  # fmt: skip
    async def graph(self, asked: GraphAsked, call: Call) -> Graph:
        """Give nodes and edges: parents, what reverts went back to, what was declared."""
        return await self._asking.in_thread(call, history.graph_of, asked.key, asked.before)

    @get(
        "/v1/agentpedia/entries/{key}/composition", summary="Say who wrote an entry",
        codes=_UNKNOWN, example=_EXAMPLE,
    )  # fmt: skip
    async def composition(self, asked: EntryAsked, call: Call) -> Composition:
        """Give shares of versions and of the present text by author."""
        return await self._asking.in_thread(call, history.composition_of, asked.key)

    @get(
        "/v1/agentpedia/entries/{key}/backlinks", summary="List what links to an entry",
        example=_EXAMPLE,
    )  # fmt: skip
    def backlinks(self, asked: OfEntryAsked, call: Call) -> Page[Backlink]:
        """Give the entries whose displayed text links to a key, which need not have an entry."""
        after = call.place(asked, tuple[str])

        def ask(look: Look) -> Page[Backlink]:
            page = look.reading.backlinks(asked.key, asked.limit, after)
            found = [Backlink(link.from_entry, link.from_rev) for link in page.items]
            return call.page_to(asked, found, page.cursor)

        return self._asking.inline(ask)

    @get(
        "/v1/agentpedia/entries/{key}/contests", summary="List contested edits of an entry",
        codes=_UNKNOWN, example=_EXAMPLE,
    )  # fmt: skip
    def contests(self, asked: OfEntryAsked, call: Call) -> Answer[Page[ContestItem]]:
        """Give the edits that declared another head than they met, in order."""
        after = call.place(asked, tuple[int])

        def ask(look: Look) -> Page[ContestItem]:
            start = 0 if after is None else after[0]
            found = history.contests_of(look, asked.key)
            rows = list(enumerate(found[start : start + asked.limit + 1], start + 1))
            return call.page(asked, rows, keyset=lambda row: (row[0],), item=lambda row: row[1])

        return self._asking.of_view(call, ask)

    @get(
        "/v1/agentpedia/entries/{key}/challenges", summary="List challenges of an entry",
        codes=_UNKNOWN, example=_EXAMPLE,
    )  # fmt: skip
    def challenges(self, asked: OfEntryAsked, call: Call) -> Answer[Page[ChallengeItem]]:
        """Give the challenges of its versions, those of the newest version first."""
        after = call.place(asked, tuple[int, str])

        def ask(look: Look) -> Page[ChallengeItem]:
            found = rulings.challenges_of(look, asked.key, asked.limit, after)
            return paged(call, asked, found)

        return self._asking.of_view(call, ask)

    @get(
        "/v1/agentpedia/entries/{key}/signals", summary="List the signals of an entry's revs",
        codes=_UNKNOWN, example=_EXAMPLE,
    )  # fmt: skip
    async def signals(self, asked: OfEntryAsked, call: Call) -> Page[Signalled]:
        """Give what the rule pack says of each rev, the newest first."""
        after = call.place(asked, tuple[int])
        found = await self._asking.in_thread(
            call, judging.signals_of, asked.key, asked.limit, after
        )
        return paged(call, asked, found)

    @get("/v1/agentpedia/versions/{id}", summary="Give a version", codes=_NO_VERSION)
    def version(self, asked: VersionAsked) -> VersionText:
        """Give a version with its text."""
        return self._asking.inline(texts.version_of, asked.id)

    @get(
        "/v1/agentpedia/versions/{id}/text", summary="Give the text of a version",
        codes=("version-unknown", "text-unavailable", "text-withheld"), media_type=TEXT_TYPE,
    )  # fmt: skip
    async def text(self, asked: VersionAsked, call: Call) -> Answer[bytes]:
        """Give the text alone, however long it is."""
        text = await self._asking.in_thread(call, _text, asked.id)
        return Answer(text, media_type=TEXT_TYPE)

    @get("/v1/agentpedia/versions/{id}/signal", summary="Judge a rev", codes=("rev-unknown",))
    async def signal(self, asked: VersionAsked, call: Call) -> Signalled:
        """Give what the rule pack says of one rev."""
        return await self._asking.in_thread(call, judging.signal_of, asked.id)

    @get(
        "/v1/agentpedia/versions/{id}/reviews", summary="List the reviews of a version",
        codes=_NO_VERSION,
    )  # fmt: skip
    def reviews(self, asked: OfVersionAsked, call: Call) -> Answer[Page[ReviewItem]]:
        """Give the reviews of a version, by id."""
        after = call.place(asked, tuple[str])

        def ask(look: Look) -> Page[ReviewItem]:
            found = rulings.reviews_of(look, asked.id, asked.limit, after)
            return paged(call, asked, found)

        return self._asking.of_view(call, ask)

    @get(
        "/v1/agentpedia/diff", summary="Compare two versions by word",
        codes=("version-unknown", "diff-too-long"),
    )  # fmt: skip
    async def diff(self, asked: DiffAsked, call: Call) -> Difference:
        """Give what stayed, what went and what came; nothing where a text is not to be had."""
        return await self._asking.in_thread(call, history.difference_of, asked.before, asked.after)

    @get(
        "/v1/agentpedia/search", summary="Search the displayed texts",
        codes=("search-too-long", "search-after"), example={"q": "tides"},
    )  # fmt: skip
    async def search(self, asked: SearchAsked, call: Call) -> Page[Found]:
        """Give entries in which all words stand, best first, with windows of their texts.

        Where there is no word in the question, nothing is found.
        """
        place = call.place(asked, tuple[int, int, tuple[int, ...]])
        after = None if place is None else Place(*place)
        found, following = await self._asking.in_thread(
            call, searching.search, asked.q, asked.limit, after, asked.lang
        )
        keyset = None if following is None else msgspec.structs.astuple(following)
        return call.page_to(asked, found, keyset)


def _text(look: Look, name: str) -> bytes:
    """Give a text; raises InputError `version-unknown`, `text-unavailable`, `text-withheld`."""
    version = texts.named_version(look, name)
    hidden = texts.hidden_of(look, version)
    if hidden is not None:
        raise InputError("text-withheld", hidden.reason, "see /v1/agentpedia/hidden", "/id")
    text, _ = texts.text_of(look, version)
    if text is None:
        raise InputError(
            "text-unavailable", "this node has not seen the text verified", "try again later", "/id"
        )
    return text.encode()
