"""What the pages are asked. `lang` is the language of the page, `in` that of entries."""

from typing import Annotated

from msgspec import Meta, field

from refold.agentpedia.api.asked import Key, Lang, PinId, VersionId
from refold.agentpedia.queries.lists import EntrySort
from refold.agentpedia.searchquery import MAX_QUERY
from refold.serving.asked import ListPageAsked, PageAsked

Part = Annotated[
    int, Meta(ge=0, le=2**31, description="The character of the text that its part begins with.")
]


class EntriesPageAsked(ListPageAsked, kw_only=True, frozen=True):
    """Entries in an order, perhaps of one language."""

    sort: EntrySort = "updated"
    within: Lang | None = field(default=None, name="in")


class SearchPageAsked(ListPageAsked, kw_only=True, frozen=True):
    """A question; an empty one finds nothing."""

    q: Annotated[str, Meta(max_length=MAX_QUERY)] = ""
    within: Lang | None = field(default=None, name="in")


class EntryPageAsked(PageAsked, kw_only=True, frozen=True):
    """One entry, perhaps from a later part of its text on."""

    key: Key
    at: Part = 0


class OfEntryPageAsked(ListPageAsked, kw_only=True, frozen=True):
    """A list of one entry."""

    key: Key


class VersionPageAsked(PageAsked, kw_only=True, frozen=True):
    """One version, perhaps from a later part of its text on."""

    id: VersionId
    at: Part = 0


class OfVersionPageAsked(ListPageAsked, kw_only=True, frozen=True):
    """A list of one version."""

    id: VersionId


class PinPageAsked(PageAsked, kw_only=True, frozen=True):
    """One pin."""

    id: PinId
