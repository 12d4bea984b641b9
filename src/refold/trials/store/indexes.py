"""The indexes kept with the log: folded in the transaction of the append, rebuilt, compared.

indexes = Indexes(sites)
Log(database, signer, (standings.fold, indexes.fold))
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, select

from refold.trials.indexes.fold import Fold
from refold.trials.indexes.memory import MemoryState
from refold.trials.indexes.rows import Entry
from refold.trials.intake import read_content
from refold.trials.posts import Post
from refold.trials.sites import SITES, Site
from refold.trials.store import indextables as tables
from refold.trials.store.indexstate import SqlState, run_values, service_values
from refold.trials.store.model import Message
from refold.trials.store.reading import Messages

__all__ = ["Difference", "Indexes"]

PAGE = 1_000
"""Messages, or rows, that are read at once."""


class Difference(msgspec.Struct, frozen=True):
    """A row that is not what the log says: its table, its key, and both as text, "" for none."""

    table: str
    key: str
    kept: str
    folded: str


class Indexes:
    """`sites` are the shared hosts of the node: they decide which service a target is."""

    def __init__(self, sites: tuple[Site, ...] = SITES) -> None:
        self._sites = sites

    def fold(self, connection: Connection, message: Message, post: Post | None) -> None:
        """Take a message that was just appended into account; None for a text that was removed."""
        Fold(SqlState(connection), self._sites).add(_entry(message), post)

    def remove(self, connection: Connection, message: Message) -> None:
        """Take the text of a message away, in the transaction of its tombstone."""
        Fold(SqlState(connection), self._sites).remove(_entry(message))

    def rebuild(self, connection: Connection) -> int:
        """Fold the log anew, put that in place of what the tables hold; give how many rows."""
        rows = _rows(self.folded(connection))
        for table, given in rows.items():
            connection.execute(table.delete())
            for begin in range(0, len(given), PAGE):
                connection.execute(table.insert(), given[begin : begin + PAGE])
        return sum(map(len, rows.values()))

    def folded(self, connection: Connection) -> MemoryState:
        """Give what the log comes to, folded from scratch in memory: some KB a format post."""
        state = MemoryState()
        fold = Fold(state, self._sites)
        for message, post in self._log(connection):
            entry = _entry(message)
            state.heard(entry)
            fold.add(entry, post)
        return state

    def check(self, connection: Connection, most: int = 20) -> list[Difference]:
        """Fold the log from scratch and compare every row; give the differences, `most` of them."""
        found: list[Difference] = []
        for table, rows in _rows(self.folded(connection)).items():
            for difference in _differences(connection, table, rows):
                found.append(difference)
                if len(found) >= most:
                    return found
        return found

    def _log(self, connection: Connection) -> Iterator[tuple[Message, Post | None]]:
        """Give all messages, each with its post, None if its text was removed."""
        messages, after = Messages(connection), 0
        while page := messages.since(after, PAGE):
            after = page[-1].id
            for message in page:
                post = None
                if message.content is not None:
                    post = read_content(message.content, None, self._sites, preview=True).post
                yield message, post


def _entry(message: Message) -> Entry:
    return Entry(
        message.id, message.kind, message.public_key, message.reply_to, message.accepted_at
    )


def _rows(state: MemoryState) -> dict[Table, list[dict[str, Any]]]:
    """Give the rows of all tables that a state comes to."""
    as_is = msgspec.structs.asdict
    return {
        tables.posts: [as_is(row) for row in state.posts.values()],
        tables.trials: [as_is(row) for row in state.trials.values()],
        tables.runs: [run_values(row) for row in state.runs.values()],
        tables.reviews: [as_is(row) for row in state.standing.values()],
        tables.services: [service_values(row) for row in state.services.values()],
        tables.replies: [{"public_key": key, "id": id_} for key, id_ in state.replies],
        tables.cells: [
            {"cell": cell, "ranked": ranked, "posts": posts, "keys": keys}
            for cell, (ranked, posts, keys) in state.cells.items()
        ],
        tables.marks: [
            {"public_key": key, "cell": cell, "posts": posts}
            for (cell, key), posts in state.marks.items()
        ],
    }


def _differences(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    columns = list(table.c)
    keys = [column.name for column in table.primary_key]
    wanted = {
        tuple(row[name] for name in keys): tuple(row[column.name] for column in columns)
        for row in rows
    }
    asked = select(*columns).order_by(*table.primary_key).execution_options(yield_per=PAGE)
    places = [columns.index(column) for column in table.primary_key]
    for row in connection.execute(asked):
        kept = tuple(row)
        key = tuple(kept[place] for place in places)
        folded = wanted.pop(key, None)
        if folded != kept:
            yield _difference(table, key, kept, folded)
    for key in sorted(wanted):
        yield _difference(table, key, None, wanted[key])


def _difference(
    table: Table, key: tuple[Any, ...], kept: object | None, folded: object | None
) -> Difference:
    texts = ["" if each is None else repr(each) for each in (kept, folded)]
    return Difference(str(table.name), " ".join(map(str, key)), *texts)
