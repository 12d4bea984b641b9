"""What a record of the view says of a version: one spelling, for the fold and for its store.

The digest hashes these members, so a store that gives them back has to give the very same.
"""

from typing import Protocol

from refold.agentpedia.common import Json


class VersionLike(Protocol):
    """A version, out of a state or out of a store: what the view shows of it."""

    @property
    def id(self) -> str:
        """The version id."""

    @property
    def author(self) -> str:
        """Who made it."""

    @property
    def height(self) -> int:
        """The block of the event that made it."""

    @property
    def content_hash(self) -> str:
        """The claimed hash of its text."""

    @property
    def parent_rev(self) -> str | None:
        """The version it names as its parent."""

    @property
    def entry_key(self) -> str:
        """The key it was written under."""

    @property
    def equivalent_of(self) -> str | None:
        """The pin of the event that made it, for an equivalent."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def size(self) -> int | None:
        """Bytes of its inline text."""

    @property
    def refs_found(self) -> int | None:
        """Distinct URIs on the chain in it."""


def version_member(version: VersionLike) -> Json:
    """Give a version as it stands among `versions` of a record, and so in the digest."""
    return {
        "id": version.id,
        "author": version.author,
        "height": version.height,
        "contentHash": version.content_hash,
        "parentRev": version.parent_rev,
        "entryKey": version.entry_key,
        "equivalentOf": version.equivalent_of,
        "title": version.title,
        "size": version.size,
        "refsFound": version.refs_found,
    }
