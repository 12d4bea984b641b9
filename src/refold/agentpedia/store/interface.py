"""The store of the encyclopedia: what it can do, whatever stands behind it.

    with database.write() as connection:
        views = open_views(connection)
        with views.writing() as writer:
            digest = live.at(tip, writer)
        views.marks.put_folded(Folded(..., tip, last, digest))

It stands in the database of `refold.metaid.store` and lives as long as the transaction it was made
in. Errors are those of `refold.db.errors`. Lists to be read page by page are in `reading`.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from refold.agentpedia.changes import Sink
from refold.agentpedia.common import Json
from refold.agentpedia.digest import Line
from refold.agentpedia.store.model import (
    Folded,
    FoundSnapshot,
    KeptDigest,
    KeptSnapshot,
    PackedSnapshot,
    StoredValue,
    Written,
)
from refold.agentpedia.store.reading import Reading


class Writer(Sink, Protocol):
    """Takes changes of the view, in any number, and writes them batch by batch.

    Of what is told of one key or one place the last word counts. `forget` drops the links too.
    """

    def put_links(self, entry_key: str, rev: str, targets: Iterable[str]) -> None:
        """Take the entry keys that the displayed text of an entry links to, in place of others.

        `rev` is the version displayed. The links of an entry go with it (`drop`).
        """

    @property
    def written(self) -> Written:
        """Rows written so far; all of them once the writing has ended."""


class Values(Protocol):
    """The values of the full view, as they were told."""

    def lines(self) -> Iterator[Line]:
        """Give what stands for each value in the digest, in no particular order."""

    def value(self, section: str, key: str) -> Json | None:
        """Give a whole value: its canonical JSON has the hash of its line. None for none."""

    def stored(self, section: str, key: str) -> StoredValue | None:
        """Give a value as it is stored, without its history if it has one; and its hash."""

    def wrong(self) -> Iterator[Line]:
        """Give the lines whose value, read from the tables, is not what was hashed. Reads all."""


class Marks(Protocol):
    """How far the fold came, and its digests."""

    def folded(self) -> Folded | None:
        """Give how far the fold came; None when nothing was ever folded."""

    def put_folded(self, folded: Folded) -> None:
        """Note how far the fold came."""

    def forget_folded(self) -> None:
        """Take back how far the fold came, and all digests: the view is to be made anew."""

    def put_digest(self, digest: KeptDigest) -> None:
        """Note the digest of a height, in place of what was noted of it."""

    def digest(self, height: int) -> KeptDigest | None:
        """Give the digest of a height; None when it is not kept."""

    def drop_digests(self, above: int) -> int:
        """Forget the digests above a height; give how many."""

    def prune_digests(self, tip: int) -> int:
        """Forget the digests that `retention.keeps_digest` does not keep; give how many."""


class Snapshots(Protocol):
    """Folds as bytes, at some heights."""

    def put(self, packed: PackedSnapshot) -> None:
        """Keep what `pack` made; drop those that `retention.kept_snapshots` does not keep."""

    def newest(self, below: int, snapshot_format: int, options: str) -> FoundSnapshot:
        """Give the newest at a height or below it, of a format and an `options_fingerprint`.

        One that is not what was hashed is damaged: it is passed over, and named.
        """

    def newest_height(self, below: int, snapshot_format: int, options: str) -> int | None:
        """Give the height of that one without reading it, damaged or not; None for none."""

    def kept(self) -> list[KeptSnapshot]:
        """Give what is known of each, the lowest first."""

    def drop(self, above: int) -> int:
        """Delete those above a height; give how many. All of them: above -1."""


class Views(Protocol):
    """All of it, in one transaction."""

    @property
    def values(self) -> Values:
        """The values."""

    @property
    def marks(self) -> Marks:
        """Position and digests."""

    @property
    def snapshots(self) -> Snapshots:
        """The snapshots."""

    @property
    def reading(self) -> Reading:
        """Lists and look-ups."""

    def writing(self) -> AbstractContextManager[Writer]:
        """Give a writer; at the end of the block all that it was told is in the tables."""
