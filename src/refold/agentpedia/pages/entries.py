"""The list of entries, and the search.

Source: spec §12 (Reader). Neither loads a text that it does not show (PRD AC-F5).
"""

import re
from collections.abc import Iterator

import msgspec
from sqlalchemy import bindparam, func, select

from refold.agentpedia.api.asking import Asking
from refold.agentpedia.pages.asked import EntriesPageAsked, SearchPageAsked
from refold.agentpedia.queries import lists, searching
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import EntryItem, Found, FoundSnippet
from refold.agentpedia.queries.questions import Question
from refold.agentpedia.store import tables
from refold.agentpedia.store.search import Place
from refold.serving.answers import Answer, Page, View
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["EntriesPages", "languages_of", "marked"]

MAX_LANGUAGES = 12
"""Languages to choose from: strangers can make up thousands."""

_C = tables.entries.c
_NEXT_LANGUAGE = Question(lambda _: select(func.min(_C.lang)).where(_C.lang > bindparam("after")))
_MARKUP = re.compile(
    r"\[\[(?:[a-z]{2,8}:)?|\]\]|\*\*|`|\|(?:\s*:?-+:?\s*\|)*|(?<!\S)(?:#{1,6}|[->])(?!\S)"
)


class EntriesPages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @page("/agentpedia/entries", summary="The list of entries")
    def entries(self, asked: EntriesPageAsked, call: Call) -> Answer[View]:
        """List the entries: those changed last first, featured ones first, or by title."""
        after = call.place(asked, lists.PLACES[asked.sort])

        def ask(look: Look) -> View:
            rows = lists.entries_page(look, asked.sort, asked.limit + 1, after, asked.within)
            shown = rows[: asked.limit]
            following = lists.place_of(asked.sort, shown[-1]) if len(rows) > len(shown) else None
            found: Page[EntryItem] = call.page_to(asked, lists.items_of(look, shown), following)
            data = {
                "entries": found.items,
                "next": call.next_of(found),
                "sort": asked.sort,
                "within": asked.within,
                "languages_there": languages_of(look, asked.within),
                "last": (look.standing.tip or 0) - 1,
            }
            return View("agentpedia/entries.html", data, found)

        return self._asking.of_view(call, ask)

    @page(
        "/agentpedia/search", summary="Search the entries",
        codes=("search-too-long", "search-after"),
    )  # fmt: skip
    async def search(self, asked: SearchPageAsked, call: Call) -> View:
        """Show entries in which all words stand, best first, with windows of their texts."""
        place = call.place(asked, tuple[int, int, tuple[int, ...]])
        after = None if place is None else Place(*place)

        def ask(look: Look) -> tuple[Page[Found], list[str]]:
            found, following = searching.search(look, asked.q, asked.limit, after, asked.within)
            keyset = None if following is None else msgspec.structs.astuple(following)
            return call.page_to(asked, found, keyset), languages_of(look, asked.within)

        found, there = await self._asking.in_thread(call, ask)
        data = {
            "question": asked.q,
            "found": [(item, [list(marked(one)) for one in item.snippets]) for item in found.items],
            "next": call.next_of(found),
            "within": asked.within,
            "languages_there": there,
        }
        return View("agentpedia/search.html", data, found)


def languages_of(look: Look, chosen: str | None) -> list[str]:
    """Give the languages that entries are in, in their order, each at the cost of one row."""
    found: list[str] = []
    last = ""
    while len(found) < MAX_LANGUAGES:
        row = _NEXT_LANGUAGE.first(look.connection, after=last)
        if row is None or row[0] is None:
            break
        last = row[0]
        found.append(last)
    return sorted({*found, chosen} if chosen else found)


def marked(snippet: FoundSnippet) -> Iterator[tuple[str, bool]]:
    """Give a window of a text in pieces, and of each whether it was asked for.

    What is Markdown between them is left out, as far as it is seen at once.
    """
    done = 0
    for start, end in snippet.hits:
        yield _MARKUP.sub("", snippet.text[done:start]), False
        yield snippet.text[start:end], True
        done = end
    yield _MARKUP.sub("", snippet.text[done:]), False
