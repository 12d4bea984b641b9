"""The statements of the search index, as each of the two databases has them.

Given to the driver as they are, and questions past the library: it would spend more time on them
than the database does. Many values go as one: a JSON array on SQLite, arrays on
PostgreSQL. No value ever stands in a statement.
"""
# ruff: noqa: S608 - all parts of the statements stand in this file

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection

from refold.db.errors import error_of

__all__ = ["SearchSql", "batches"]

T = TypeVar("T")
Rows = Sequence[Sequence[Any]]

_ROWS = 2_000
"""Rows that one statement writes."""


class _Statements(msgspec.Struct, frozen=True):
    terms: str
    streams: str
    keys: str
    held: str
    blocks: str
    first: str
    firsts: str
    seek: str
    read: str
    put_terms: str
    put_blocks: str
    put_documents: str
    drop_terms: str
    drop_blocks: str
    drop_documents: str


_TERMS = "agentpedia_search_terms"
_BLOCKS = "agentpedia_search_blocks"
_DOCUMENTS = "agentpedia_search_documents"


def _statements(mark: str, among: dict[str, str], pairs: str, rows: dict[str, str]) -> _Statements:
    """Spell the statements with the mark of a value, and the ways to give many of them."""
    texts, numbers = among["text"], among["number"]
    return _Statements(
        terms=f"SELECT term, documents, head FROM {_TERMS} WHERE term {texts}",
        streams=f"SELECT number, key, lang, stream FROM {_DOCUMENTS} WHERE number {numbers}",
        keys=f"SELECT number, key, lang FROM {_DOCUMENTS} WHERE number {numbers}",
        held=f"SELECT key, number, lang, stream FROM {_DOCUMENTS} WHERE key {texts}",
        blocks=f"SELECT first, block FROM {_BLOCKS} WHERE term = {mark} AND first >= {mark}"
        f" ORDER BY first LIMIT {mark}",
        first=f"SELECT max(first) FROM {_BLOCKS} WHERE term = {mark} AND first <= {mark}",
        firsts=f"SELECT first FROM {_BLOCKS} WHERE term = {mark} ORDER BY first",
        seek=f"SELECT wanted.term, wanted.posting, (SELECT max(b.first) FROM {_BLOCKS} AS b"
        f" WHERE b.term = wanted.term AND b.first <= wanted.posting) FROM {pairs}",
        read=f"SELECT b.term, b.first, b.block FROM {pairs} CROSS JOIN {_BLOCKS} AS b"
        " WHERE b.term = wanted.term AND b.first = wanted.posting",
        put_terms=f"INSERT INTO {_TERMS} (term, documents, head) {rows['terms']}"
        " ON CONFLICT (term) DO UPDATE SET documents = excluded.documents, head = excluded.head",
        put_blocks=f"INSERT INTO {_BLOCKS} (term, first, block) {rows['blocks']}"
        " ON CONFLICT (term, first) DO UPDATE SET block = excluded.block",
        put_documents=f"INSERT INTO {_DOCUMENTS} (number, key, lang, stream) {rows['documents']}"
        " ON CONFLICT (number) DO UPDATE SET stream = excluded.stream",
        drop_terms=f"DELETE FROM {_TERMS} WHERE term {texts}",
        drop_blocks=f"DELETE FROM {_BLOCKS} WHERE term = {mark} AND first = {mark}",
        drop_documents=f"DELETE FROM {_DOCUMENTS} WHERE number {numbers}",
    )


_OF = {
    "sqlite": _statements(
        "?",
        dict.fromkeys(("text", "number"), "IN (SELECT value FROM json_each(?))"),
        "(SELECT json_extract(value, '$[0]') AS term, json_extract(value, '$[1]') AS posting"
        " FROM json_each(?)) AS wanted",
        {
            "terms": "VALUES (?, ?, ?)",
            "blocks": "VALUES (?, ?, ?)",
            "documents": "VALUES (?, ?, ?, ?)",
        },
    ),
    "postgresql": _statements(
        "%s",
        {"text": "= ANY(%s::text[])", "number": "= ANY(%s::bigint[])"},
        "(SELECT value ->> 0 AS term, (value ->> 1)::bigint AS posting"
        " FROM json_array_elements(%s::json)) AS wanted",
        {
            "terms": "SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bytea[])",
            "blocks": "SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bytea[])",
            "documents": "SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bytea[])",
        },
    ),
}


class SearchSql:
    """The statements, run in the transaction of `connection`. Names are those of `_Statements`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_sqlite = connection.dialect.name == "sqlite"
        self._spelled = _OF[connection.dialect.name]

    def terms(self, names: Collection[str]) -> Rows:
        """Give (term, documents, head) of terms."""
        return self._among(self._spelled.terms, names)

    def streams(self, numbers: Collection[int]) -> Rows:
        """Give (number, key, lang, stream) of documents."""
        return self._among(self._spelled.streams, numbers)

    def keys(self, numbers: Collection[int]) -> Rows:
        """Give (number, key, lang) of documents."""
        return self._among(self._spelled.keys, numbers)

    def held(self, keys: Collection[str]) -> Rows:
        """Give (key, number, lang, stream) of documents."""
        return self._among(self._spelled.held, keys)

    def blocks(self, term: str, first: int, limit: int) -> Rows:
        """Give (first, block) of a term, in order, from a posting on."""
        return self._run(self._spelled.blocks, (term, first, limit))

    def first(self, term: str, posting: int) -> int | None:
        """Give the `first` of the block of a term into which a posting falls; None for the head."""
        found: int | None = self._run(self._spelled.first, (term, posting))[0][0]
        return found

    def firsts(self, term: str) -> list[int]:
        """Give the `first` of all blocks of a term, in order."""
        return [first for (first,) in self._run(self._spelled.firsts, (term,))]

    def seek(self, wanted: Sequence[tuple[str, int]]) -> Rows:
        """Give (term, posting, first) for terms and postings, as `first` does."""
        return self._run(self._spelled.seek, (json.dumps(wanted),))

    def read(self, wanted: Sequence[tuple[str, int]]) -> Rows:
        """Give (term, first, block) for terms and `first`s."""
        return self._run(self._spelled.read, (json.dumps(wanted),))

    def put_terms(self, rows: Sequence[tuple[str, int, bytes]]) -> None:
        """Write (term, documents, head), over those that are there."""
        self._put(self._spelled.put_terms, rows)

    def put_blocks(self, rows: Sequence[tuple[str, int, bytes]]) -> None:
        """Write (term, first, block), over those that are there."""
        self._put(self._spelled.put_blocks, rows)

    def put_documents(self, rows: Sequence[tuple[int, str, str, bytes]]) -> None:
        """Write (number, key, lang, stream); of those that are there the stream."""
        self._put(self._spelled.put_documents, rows)

    def drop_terms(self, names: Collection[str]) -> None:
        """Delete terms."""
        if names:
            self._connection.exec_driver_sql(self._spelled.drop_terms, (self._many(names),))

    def drop_blocks(self, names: Sequence[tuple[str, int]]) -> None:
        """Delete blocks (term, first)."""
        if names:
            self._connection.exec_driver_sql(self._spelled.drop_blocks, list(names))

    def drop_documents(self, numbers: Collection[int]) -> None:
        """Delete documents."""
        if numbers:
            self._connection.exec_driver_sql(self._spelled.drop_documents, (self._many(numbers),))

    def _run(self, statement: str, values: tuple[object, ...]) -> Rows:
        driver: Any = self._connection.connection.driver_connection
        dialect = self._connection.dialect
        try:
            rows: Rows = driver.execute(statement, values).fetchall()
        except dialect.loaded_dbapi.Error as error:
            raise error_of(error, dialect.name) from error
        return rows

    def _among(self, statement: str, values: Collection[str] | Collection[int]) -> Rows:
        return self._run(statement, (self._many(values),))

    def _many(self, values: Collection[str] | Collection[int]) -> object:
        return json.dumps(list(values)) if self._is_sqlite else list(values)

    def _put(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        for part in batches(rows, _ROWS):
            # PostgreSQL takes columns.
            values: Any = part if self._is_sqlite else tuple(map(list, zip(*part, strict=True)))
            self._connection.exec_driver_sql(statement, values)


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut into lists of at most `size`."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
