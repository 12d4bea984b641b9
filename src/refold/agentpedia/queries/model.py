"""The answers of the reading side, as Structs.

Heights are block heights, `id` is what a coverage walk goes by: a pin id, an entry key or an
editor's globalMetaId. Reputation is in tenths, as in the view. Of lists that strangers can make as
long as they like only the first `MAX_INLINE` stand in an answer, beside their whole number; a list
of their own has the rest.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from refold.agentpedia.worddiff import Piece
from refold.kernel.utc import format_utc

MAX_INLINE = 100
"""Members of a list inside of an answer; the whole list is paged."""

Json = dict[str, Any]


def utc_of(seconds: int) -> str:
    """Give the text of a moment in Unix seconds."""
    return format_utc(datetime.fromtimestamp(seconds, UTC))


class Withheld(msgspec.Struct, frozen=True, rename="camel"):
    """Why a text is not shown: the operator hides this pin, hash or editor since then."""

    kind: Literal["pin", "hash", "editor"]
    name: str
    reason: str
    since: str


class HiddenItem(msgspec.Struct, frozen=True, rename="camel"):
    """One thing that the operator hides; `id` is `kind:name`."""

    id: str
    kind: Literal["pin", "hash", "editor"]
    name: str
    reason: str
    since: str


class VersionItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A version without its text. `title` is null when it is withheld."""

    id: str
    author: str
    height: int
    content_hash: str
    parent_rev: str | None
    entry_key: str
    equivalent_of: str | None
    title: str | None
    size: int | None
    refs_found: int | None
    content_ref: str | None
    text_pin: str
    withheld: Withheld | None


class VersionText(VersionItem, frozen=True, rename="camel", kw_only=True):
    """A version with its text.

    `text` is null where it is withheld, or longer than is put into an answer (`is_long`), or where
    this node has not seen it verified (`is_unverified`).
    """

    text: str | None
    is_unverified: bool
    is_long: bool


class Redirect(msgspec.Struct, frozen=True, rename="camel"):
    """Where the plate of an entry leads.

    `to` is the slug on the plate, `chain` the entry keys one comes through, the last of them where
    it ends; `end` is null when that is no entry, or the chain is a loop or too long.
    """

    to: str
    chain: tuple[str, ...]
    end: str | None
    is_loop: bool


class AuthorCount(msgspec.Struct, frozen=True):
    """How many versions of an entry are an editor's."""

    editor: str
    versions: int


Warned = Literal[
    "disputed",
    "frozen",
    "protected",
    "awaiting-review",
    "redirect",
    "unverified",
    "withheld",
    "not-authoritative",
]
"""What a reader of an entry has to be told."""


class Entry(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An entry as readers see it. `version` is the one displayed, null for the pin of a redirect.

    `height` is the last that was folded, `digest` that of the view there.
    """

    id: str
    lang: str
    slug: str
    status: str
    quality: str
    display_mode: str
    head: str
    display_head: str
    version: VersionText | None
    warnings: tuple[Warned, ...]
    redirect: Redirect | None
    disputed: tuple[str, ...]
    disputed_count: int
    contest_count: int
    awaiting_review: tuple[str, ...]
    awaiting_review_count: int
    frozen_at: str | None
    baseline_rev: str | None
    composition: tuple[AuthorCount, ...]
    author_count: int
    version_count: int
    height: int
    digest: str


class EntryItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True, gc=False):
    """An entry in a list; `title` is that of the version displayed, null when it is withheld."""

    id: str
    lang: str
    slug: str
    title: str | None
    status: str
    quality: str
    head: str
    display_head: str
    updated_at: int


class Step(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One step of a history: a version, or the pin of a redirect (`version` is null).

    `type` and `summary` are those of the rev; of what a ruling made there are none.
    """

    id: str
    place: int
    type: str | None
    summary: str | None
    based_on: str | None
    version: VersionItem | None


class Node(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A node of the graph of versions; `kind` says what made it."""

    id: str
    place: int
    kind: Literal["rev", "revert", "ruling", "redirect"]
    author: str | None
    height: int | None
    is_head: bool
    is_displayed: bool
    is_disputed: bool


class Edge(msgspec.Struct, frozen=True, rename="camel"):
    """From a version to its parent, to what it went back to, or to what it declared (`contest`)."""

    source: str
    target: str
    kind: Literal["parent", "revert", "contest"]


class Graph(msgspec.Struct, frozen=True, rename="camel"):
    """The newest versions of an entry before a place, oldest first, and what leads where.

    Edges may lead to versions that are not among the nodes. `earlier` is the place to ask with for
    the nodes before these, null when there are none.
    """

    id: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    earlier: int | None


class AuthorShare(msgspec.Struct, frozen=True):
    """An editor's versions, and the characters of the present text that are the editor's."""

    editor: str
    versions: int
    characters: int


class Composition(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Who wrote an entry. Characters are those of words; `unknown` are those of earlier authors.

    Versions are looked through from the one displayed back, `versions_read` of them.
    """

    id: str
    display_head: str
    authors: tuple[AuthorShare, ...]
    author_count: int
    characters: int
    unknown: int
    versions_read: int


class Difference(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Two versions compared by word; `pieces` are null when a text is not to be had.

    `is_coarse`: they differ in so much that not all of it was compared; words within what is gone
    and new may be the same.
    """

    before: VersionItem
    after: VersionItem
    pieces: tuple[Piece, ...] | None
    is_coarse: bool = False


class Backlink(msgspec.Struct, frozen=True, rename="camel"):
    """An entry whose displayed text links to another; `from_rev` is that version."""

    id: str
    from_rev: str


class Found(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What a search found. `hits` of a snippet are places in its text: from, to."""

    id: str
    title: str | None
    status: str
    quality: str
    display_head: str
    score: int
    snippets: tuple["FoundSnippet", ...]


class FoundSnippet(msgspec.Struct, frozen=True, rename="camel"):
    """A window of the text with the places of what was asked for."""

    text: str
    hits: tuple[tuple[int, int], ...]
    is_start: bool
    is_end: bool


def first(items: Sequence[str]) -> tuple[str, ...]:
    """Give what of a list stands inside of an answer."""
    return tuple(items[:MAX_INLINE])
