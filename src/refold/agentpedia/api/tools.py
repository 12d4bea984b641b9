"""Tools for agents (MCP): what strangers wrote is fenced in, what this node says is not."""

from collections.abc import Callable
from typing import Annotated, Concatenate, ParamSpec, TypeVar

import msgspec
from msgspec import Meta

from refold.agentpedia.api.asked import Key, Lang, PinId
from refold.agentpedia.queries.entry import entry_of
from refold.agentpedia.queries.history import history_of
from refold.agentpedia.queries.look import Hidings, Look
from refold.agentpedia.queries.model import Entry, Found, Step
from refold.agentpedia.queries.model_governance import PinFate, Status
from refold.agentpedia.queries.people import editor_of
from refold.agentpedia.queries.records import fate_of, status_of
from refold.agentpedia.queries.searching import search
from refold.agentpedia.searchquery import MAX_QUERY
from refold.db import Database
from refold.serving.reading import Threads, read_in_thread
from refold.serving.tools import Tool, fence

__all__ = ["agent_tools"]

MAX_RESULTS = 20
"""Results of one call: an agent reads all of them."""
MAX_CHARACTERS = 24_000
"""Characters of a text in one answer, some 6,000 tokens; the inline limit is 16 KiB."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Count = Annotated[int, Meta(ge=1, le=MAX_RESULTS)]


class Search(msgspec.Struct, frozen=True):
    """Words that must all be in an entry; what is in quotes stands together."""

    query: Annotated[str, Meta(min_length=1, max_length=MAX_QUERY)]
    lang: Lang | None = None
    limit: _Count = 5


class EntryNamed(msgspec.Struct, frozen=True):
    """An entry key, `lang:slug`, as a search gives it; `start` is where in a long text to begin."""

    key: Key
    start: Annotated[int, Meta(ge=0, le=100_000_000)] = 0


class HistoryNamed(msgspec.Struct, frozen=True):
    """An entry key, and how many of the newest steps."""

    key: Key
    limit: _Count = 10


class EditorNamed(msgspec.Struct, frozen=True):
    """A globalMetaId."""

    id: Annotated[str, Meta(min_length=1, max_length=128)]


class PinNamed(msgspec.Struct, frozen=True):
    """A pin id."""

    id: PinId


class Nothing(msgspec.Struct, frozen=True):
    """No arguments."""


class AgentTools:
    """The functions behind the tools."""

    def __init__(self, database: Database, hidings: Hidings) -> None:
        self._database = database
        self._hidings = hidings
        self._threads = Threads()

    async def search(self, given: Search) -> str:
        """Say which entries were found."""

        def ask(look: Look) -> list[Found]:
            return search(look, given.query, given.limit, None, given.lang)[0]

        found = await self._ask(ask)
        return "\n\n".join(map(_found, found)) or "Nothing was found."

    async def read(self, given: EntryNamed) -> str:
        """Give the text of an entry with what to know about it."""
        return _entry(await self._ask(entry_of, given.key), given.start)

    async def history(self, given: HistoryNamed) -> str:
        """Give the newest steps of an entry."""

        def ask(look: Look) -> list[Step]:
            return list(history_of(look, given.key, given.limit, None, newest_first=True).items)

        steps = await self._ask(ask)
        return "\n".join(_step(step) for step in steps)

    async def editor(self, given: EditorNamed) -> str:
        """Give an editor: facts, and no words of his but titles."""
        found = await self._ask(editor_of, given.id)
        return fence(msgspec.json.format(msgspec.json.encode(found)).decode(), "editor as JSON")

    async def fate(self, given: PinNamed) -> PinFate:
        """Say what became of a pin."""
        return await self._ask(fate_of, given.id)

    async def status(self, given: Nothing) -> Status:
        """Say what this node holds."""
        del given
        return await self._ask(status_of)

    async def _ask(
        self,
        question: Callable[Concatenate[Look, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        return await read_in_thread(
            self._threads,
            self._database,
            lambda connection: question(Look(connection, self._hidings), *args, **kwargs),
        )


def _found(found: Found) -> str:
    told = [found.title or "(title withheld)", *(f"... {one.text} ..." for one in found.snippets)]
    about = f"{found.id}: {found.status}, {found.quality}"
    return f"{about}\n{fence(chr(10).join(told), f'title and text of {found.id}')}"


def _entry(entry: Entry, start: int) -> str:
    version = entry.version
    lines = [
        f"Entry {entry.id}, height {entry.height}, view digest {entry.digest}",
        f"status {entry.status}, quality {entry.quality}",
        f"{entry.version_count} versions by {entry.author_count} editors",
        f"warnings: {', '.join(entry.warnings) or 'none'}",
    ]
    if entry.redirect is not None:
        lines.append(f"redirect: leads to {entry.redirect.end or 'nothing'}")
    if version is None:
        return "\n".join(lines)
    lines.append(f"version {version.id} by {version.author}, height {version.height}")
    if version.withheld is not None:
        lines.append(f"The operator withholds the text: {version.withheld.reason}")
        return "\n".join(lines)
    if version.text is None:
        why = "it is too long for one answer" if version.is_long else "it was not seen verified"
        return "\n".join([*lines, f"The text is not here: {why}."])
    piece = version.text[start : start + MAX_CHARACTERS]
    end = start + len(piece)
    if end < len(version.text):
        lines.append(f"characters {start} to {end} of {len(version.text)}; go on with start={end}")
    body = piece if start else f"{version.title}\n\n{piece}"
    return "\n".join([*lines, fence(body, f"text of {entry.id} by {version.author}")])


def _step(step: Step) -> str:
    version = step.version
    if version is None:
        return f"{step.place}. {step.id}: redirect"
    about = f"{step.place}. {version.id}: {step.type or 'ruling'} by {version.author}"
    about += f" at height {version.height}"
    if version.withheld is not None:
        return f"{about}\n(title and summary withheld: {version.withheld.reason})"
    words = f"{version.title}\n{step.summary or ''}".strip()
    return f"{about}\n{fence(words, f'title and summary of {version.id}')}"


def agent_tools(database: Database, hidings: Hidings) -> tuple[Tool, ...]:
    """Give the tools over a database."""
    tools = AgentTools(database, hidings)
    return (
        Tool(
            "agentpedia_search",
            "Search the encyclopedia: entries in which all words stand, best first.",
            Search,
            tools.search,
        ),
        Tool(
            "agentpedia_read",
            "Read an entry as readers see it, with its status and warnings.",
            EntryNamed,
            tools.read,
        ),
        Tool(
            "agentpedia_history",
            "Give the newest versions of an entry: who, what kind, and the summaries.",
            HistoryNamed,
            tools.history,
        ),
        Tool(
            "agentpedia_editor",
            "Give an editor: tier, reputation in tenths, the ladder, who stood for whom.",
            EditorNamed,
            tools.editor,
        ),
        Tool(
            "agentpedia_why",
            "Say what became of a pin, and for a refused one by which rule, with the remedy.",
            PinNamed,
            tools.fate,
        ),
        Tool(
            "agentpedia_status",
            "Say what this node holds: heights, lag, digest, counts.",
            Nothing,
            tools.status,
        ),
    )
