"""What the store of the encyclopedia takes and gives, besides values and histories."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Generic, NamedTuple, TypeVar

import msgspec

from refold.agentpedia.common import Json
from refold.agentpedia.rules import Rules
from refold.agentpedia.state import Options
from refold.metaid.store import FactState, Position

T = TypeVar("T")

Cursor = tuple[str | int, ...]
"""The sort values of the last item of a page: the next page begins behind it."""


class Written(msgspec.Struct, frozen=True):
    """How many rows were put (inserted or replaced) and how many were deleted, by kind."""

    values_put: int = 0
    values_dropped: int = 0
    steps_put: int = 0
    steps_cut: int = 0
    links_put: int = 0
    links_dropped: int = 0

    @property
    def rows(self) -> int:
        """All of them."""
        return sum(msgspec.structs.astuple(self))


class Folded(msgspec.Struct, frozen=True):
    """How far a fold came: what the tables of the view are, and of which height.

    `options` is `options_fingerprint`, `last` the position of the last event that was folded,
    `height` the tip that the view was taken at, `digest` its view digest (hex).
    """

    rules: str
    options: str
    height: int
    last: Position
    digest: str


class KeptDigest(msgspec.Struct, frozen=True):
    """The view digest at a height, with the events folded and the lines at that height."""

    height: int
    digest: str
    events: int
    lines: int


class Snapshot(msgspec.Struct, frozen=True):
    """A fold as bytes (`Fold.snapshot`), in which all up to `height` has happened."""

    height: int
    format: int
    options: str
    data: bytes


class PackedSnapshot(msgspec.Struct, frozen=True):
    """A snapshot ready to be kept: its hash (hex), its bytes, and the chunks that are stored."""

    height: int
    format: int
    options: str
    sha256: str
    size: int
    chunks: list[bytes]


class KeptSnapshot(msgspec.Struct, frozen=True):
    """What is known of a snapshot without reading it: bytes as they were and as they are stored."""

    height: int
    format: int
    options: str
    sha256: str
    size: int
    stored: int


class FoundSnapshot(msgspec.Struct, frozen=True):
    """The newest snapshot that can be read, if any; heights of newer ones that are damaged."""

    snapshot: Snapshot | None
    damaged: list[int]


class StoredVersion(msgspec.Struct, frozen=True):
    """A version as it stands in a history: the members of the view, and what is found through it.

    `record` and `place` say where; `text_pin` is the rev that brought its text, `content_ref`
    where that text is when it is not inline, `seq` the events folded before it.
    """

    record: int
    place: int
    id: str
    seq: int
    height: int
    author: str
    content_hash: str
    parent_rev: str | None
    entry_key: str
    equivalent_of: str | None
    title: str
    size: int | None
    refs_found: int | None
    content_ref: str | None
    text_pin: str


class StoredStep(msgspec.Struct, frozen=True):
    """One step of a history; the version is None for the pin of a redirect."""

    place: int
    name: str
    version: StoredVersion | None


class EntryRow(msgspec.Struct, frozen=True):
    """An entry in a list.

    `title` is that of the displayed version, its first 256 characters; `updated` the height of the
    last version.
    """

    key: str
    record: int
    title: str
    status: str
    quality: str
    head: str
    display_head: str
    updated: int


class StoredValue(msgspec.Struct, frozen=True):
    """A value of the view with the hash in its line.

    Of an `entry` or `displaced` the members `history` and `versions` are left out, and `record` is
    set: they are read page by page.
    """

    section: str
    key: str
    sha256: str
    value: Json
    record: int | None = None


class Link(NamedTuple):
    """A link from the text that an entry displays."""

    from_entry: str
    from_rev: str


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Items of a list in its order; `cursor` is where the next page begins, None after the last."""

    items: Sequence[T]
    cursor: Cursor | None


_encode = msgspec.json.Encoder(order="sorted").encode


def options_fingerprint(rules: Rules, options: Options, snapshot_format: int) -> str:
    """Give a hash (hex) of all that makes another view out of the same pins and facts.

    Facts are left out: they are stored beside the pins, and change from day to day. That stakes are
    looked up at all is not.
    """
    looked_up: dict[str, FactState] | None = None if options.stake_facts is None else {}
    without = msgspec.structs.replace(options, content_facts={}, stake_facts=looked_up)
    set_by_caller = msgspec.to_builtins(without)
    return sha256(_encode([msgspec.to_builtins(rules), set_by_caller, snapshot_format])).hexdigest()
