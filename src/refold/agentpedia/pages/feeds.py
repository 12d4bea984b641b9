"""Atom feeds: what changed last, of all, of one entry, and by one editor.

Times are those that the pins carry; the fold itself knows block heights only. Source: issue 11.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from sqlalchemy import select

from refold.agentpedia.api.asked import EditorId, Key
from refold.agentpedia.api.asking import Asking
from refold.agentpedia.queries import history, lists, people
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import EntryItem, VersionItem, utc_of
from refold.agentpedia.queries.questions import Question, named_in
from refold.agentpedia.queries.texts import item_of, versions_named
from refold.metaid.store.tables import pins
from refold.serving.answers import Answer
from refold.serving.call import Call
from refold.serving.feeds import ATOM_TYPE, MAX_ENTRIES, Entry, atom
from refold.serving.here import Here
from refold.serving.operation import get

__all__ = ["FeedPages"]

NEVER = "1970-01-01T00:00:00Z"
"""What a feed without entries, or a pin without a time, is dated."""
_MAX_SECONDS = 253_402_300_799
"""The end of the year 9999: what a date can say. Pins carry any number."""
_TIMES = Question(
    lambda kind: select(pins.c.pin, pins.c.timestamp).where(named_in(kind, pins.c.pin, "pins"))
)
_Lang = Annotated[Literal["en", "zh"], Meta(description="Language of what is around the texts.")]


class FeedAsked(msgspec.Struct, kw_only=True, frozen=True):
    """The feed of all."""

    lang: _Lang | None = None


class EntryFeedAsked(FeedAsked, kw_only=True, frozen=True):
    """The feed of an entry."""

    key: Key


class EditorFeedAsked(FeedAsked, kw_only=True, frozen=True):
    """The feed of an editor."""

    id: EditorId


class FeedPages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @get("/agentpedia/feed", summary="Feed of all changes", media_type=ATOM_TYPE, listed=False)
    def all(self, asked: FeedAsked, call: Call) -> Answer[bytes]:
        """Give the entries that changed last, each with its newest version."""
        del asked

        def ask(look: Look) -> bytes:
            rows = lists.entries_page(look, "updated", MAX_ENTRIES, None, None)
            items = lists.items_of(look, rows)
            versions = versions_named(look, [item.head for item in items])
            shown = [item_of(look, versions[one.head]) for one in items if one.head in versions]
            titles = {item.head: _title(item) for item in items}
            told = _entries(look, call.here, shown, titles)
            return _feed(call, "Agentpedia", "/agentpedia", told)

        return self._of_view(call, ask)

    @get(
        "/agentpedia/entries/{key}/feed", summary="Feed of an entry", codes=("entry-unknown",),
        media_type=ATOM_TYPE, listed=False,
    )  # fmt: skip
    def entry(self, asked: EntryFeedAsked, call: Call) -> Answer[bytes]:
        """Give the newest versions of an entry."""

        def ask(look: Look) -> bytes:
            steps = history.history_of(look, asked.key, MAX_ENTRIES, None, newest_first=True).items
            shown = [step.version for step in steps if step.version is not None]
            said = {
                step.id: f"{step.type or 'ruling'}: {step.summary or asked.key}" for step in steps
            }
            told = _entries(look, call.here, shown, said)
            home = call.here.to("/agentpedia/entries", asked.key)
            return _feed(call, f"Agentpedia: {asked.key}", home, told)

        return self._of_view(call, ask)

    @get(
        "/agentpedia/editors/{id}/feed", summary="Feed of an editor", codes=("editor-unknown",),
        media_type=ATOM_TYPE, listed=False,
    )  # fmt: skip
    def editor(self, asked: EditorFeedAsked, call: Call) -> Answer[bytes]:
        """Give the newest versions by an editor."""

        def ask(look: Look) -> bytes:
            shown = people.revs_of(look, asked.id, MAX_ENTRIES, None).items
            said = {one.id: f"{one.title or '…'} ({one.entry_key})" for one in shown}
            told = _entries(look, call.here, shown, said)
            home = call.here.to("/agentpedia/editors", asked.id)
            return _feed(call, f"Agentpedia: {asked.id}", home, told)

        return self._of_view(call, ask)

    def _of_view(self, call: Call, ask: Callable[[Look], bytes]) -> Answer[bytes]:
        return replace(self._asking.of_view(call, ask), media_type=ATOM_TYPE)


def _title(item: EntryItem) -> str:
    return f"{item.title or '…'} ({item.id})"


def _entries(
    look: Look, here: Here, versions: Sequence[VersionItem], said: dict[str, str]
) -> list[Entry]:
    """Give versions as entries of a feed; `said` are their titles by id."""
    named = {version.id: version.id.partition("::")[0] for version in versions}
    rows = _TIMES.rows(look.connection, pins=list(named.values())) if named else ()
    times: dict[str, int] = {row[0]: row[1] for row in rows}
    return [
        Entry(
            id=f"pin://{named[version.id]}",
            title=said.get(version.id, version.id),
            link=here.origin + here.to("/agentpedia/versions", version.id),
            updated=_when(times.get(named[version.id], 0)),
            author=version.author,
        )
        for version in versions
    ]


def _when(seconds: int) -> str:
    return utc_of(seconds) if 0 < seconds <= _MAX_SECONDS else NEVER


def _feed(call: Call, title: str, home: str, entries: Iterable[Entry]) -> bytes:
    entries = list(entries)
    here = call.here
    return atom(
        id_=here.whole,
        title=title,
        link=here.origin + home,
        self_link=here.origin + here.again(),
        updated=max((entry.updated for entry in entries), default=NEVER),
        entries=entries,
    )
