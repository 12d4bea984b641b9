"""What the routes are asked: members of paths and queries, with their bounds."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from refold.agentpedia.queries.lists import EntrySort
from refold.agentpedia.searchquery import MAX_QUERY
from refold.serving.asked import ListAsked

MAX_NAME = 512
"""Characters of an entry key or an editor's id: four times what the gates let through."""
MAX_HEIGHT = 2**53 - 1

Key = Annotated[
    str, Meta(min_length=1, max_length=MAX_NAME, description="An entry key, `lang:slug`.")
]
Lang = Annotated[str, Meta(pattern="^[a-z]{2,8}$", description="A language.")]
Slug = Annotated[
    str, Meta(min_length=1, max_length=MAX_NAME, description="A slug, or a title to make one of.")
]
VersionId = Annotated[
    str,
    Meta(
        pattern="^[0-9A-Za-z_-]{1,80}(::eq|::rev)?$",
        description="The pin of a rev; that of a revert or ruling stands for what it made.",
    ),
]
PinId = Annotated[str, Meta(pattern="^[0-9A-Za-z_-]{1,80}$", description="A pin id.")]
EditorId = Annotated[
    str, Meta(min_length=1, max_length=MAX_NAME, description="The globalMetaId of an editor.")
]
Reason = Annotated[str, Meta(pattern="^[a-z0-9-]{1,60}$", description="A reason code.")]
Height = Annotated[int, Meta(ge=0, le=MAX_HEIGHT)]
ProposalState = Literal["open", "effective", "voided"]


class EntriesAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """Entries in an order, perhaps of one language."""

    sort: EntrySort = "updated"
    lang: Lang | None = None


class EntryAsked(msgspec.Struct, frozen=True):
    """One entry."""

    key: Key


class EntryNamed(msgspec.Struct, frozen=True):
    """One entry, by language and slug."""

    lang: Lang
    slug: Slug


class OfEntryAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """A list of one entry."""

    key: Key


class HistoryAsked(OfEntryAsked, kw_only=True, frozen=True, rename="camel"):
    """The history of an entry."""

    order: Literal["newest", "oldest"] = "newest"


class GraphAsked(msgspec.Struct, frozen=True):
    """The graph of an entry; `before` is the `earlier` of another answer."""

    key: Key
    before: Height | None = None


class VersionAsked(msgspec.Struct, frozen=True):
    """One version."""

    id: VersionId


class OfVersionAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """A list of one version."""

    id: VersionId


class DiffAsked(msgspec.Struct, frozen=True):
    """Two versions."""

    before: VersionId
    after: VersionId


class SearchAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """A question: words that must all be there; what is in quotes stands together."""

    q: Annotated[str, Meta(min_length=1, max_length=MAX_QUERY)]
    lang: Lang | None = None


class EditorAsked(msgspec.Struct, frozen=True):
    """One editor."""

    id: EditorId


class OfEditorAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """A list of one editor."""

    id: EditorId


class ProposalsAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """Proposals for rulings, perhaps in a state, or about an entry."""

    state: ProposalState | None = None
    entry: Key | None = None


class ParamProposalsAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """Proposals to change parameters, perhaps in a state."""

    state: ProposalState | None = None


class PinAsked(msgspec.Struct, frozen=True):
    """One pin."""

    id: PinId


class OfPinAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """A list of one pin."""

    id: PinId


class GravesAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """Refused pins, perhaps for one reason."""

    reason: Reason | None = None


class GraveExportAsked(msgspec.Struct, frozen=True):
    """All refused pins, perhaps for one reason."""

    reason: Reason | None = None


class DigestAsked(msgspec.Struct, frozen=True):
    """The digest of a height, by default the last."""

    height: Height | None = None
