"""The store of the encyclopedia: its view, how far the fold came, digests, snapshots, links.

See `interface` for what it does, `tables` for what stands where, `reading` for lists.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from refold.agentpedia.store.interface import Marks, Snapshots, Values, Views, Writer
from refold.agentpedia.store.marks import SqlMarks
from refold.agentpedia.store.model import (
    Cursor,
    EntryRow,
    Folded,
    FoundSnapshot,
    KeptDigest,
    KeptSnapshot,
    Link,
    PackedSnapshot,
    Page,
    Snapshot,
    StoredStep,
    StoredValue,
    StoredVersion,
    Written,
    options_fingerprint,
)
from refold.agentpedia.store.reading import Reading
from refold.agentpedia.store.shown import Due, SqlShown
from refold.agentpedia.store.snapshots import SqlSnapshots, pack
from refold.agentpedia.store.values import SqlValues
from refold.agentpedia.store.writer import SqlWriter

__all__ = [
    "Cursor",
    "Due",
    "EntryRow",
    "Folded",
    "FoundSnapshot",
    "KeptDigest",
    "KeptSnapshot",
    "Link",
    "Marks",
    "PackedSnapshot",
    "Page",
    "Reading",
    "Snapshot",
    "Snapshots",
    "SqlShown",
    "SqlViews",
    "StoredStep",
    "StoredValue",
    "StoredVersion",
    "Values",
    "Views",
    "Writer",
    "Written",
    "open_views",
    "options_fingerprint",
    "pack",
]


class SqlViews:
    """See `interface.Views`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self.values: Values = SqlValues(connection)
        self.marks: Marks = SqlMarks(connection)
        self.snapshots: Snapshots = SqlSnapshots(connection)
        self.reading = Reading(connection)
        self._connection = connection

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Give a writer; at the end of the block all that it was told is in the tables."""
        writer = SqlWriter(self._connection)
        yield writer
        writer.flush()


def open_views(connection: Connection) -> Views:
    """Give the store in the tables that a transaction is about (`refold.db.Database.write`)."""
    return SqlViews(connection)
