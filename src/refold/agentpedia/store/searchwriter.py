"""Documents put into the search index and taken out of it.

What documents change is collected term by term, and written for many of them at once: a first fold
would otherwise read and write the postings of frequent words for every text.
"""

import zlib
from collections.abc import Collection, Iterable
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from refold.agentpedia.scoring import stream_of, terms_of
from refold.agentpedia.store.searchblocks import number_of
from refold.agentpedia.store.searchmerge import Changes, merge
from refold.agentpedia.store.searchsql import SearchSql, batches

__all__ = ["COUNT", "SearchText", "Writer", "packed", "unpacked"]

COUNT = ""
"""The term whose row counts all documents; no text has it."""

_BATCH = 500
"""Documents that one statement names."""
_WAITING = 2_000_000
"""Postings that wait to be written at most: some 4,000 texts of 2 KB, half of them Chinese."""
_LEVEL = 1
"""Of compression: 2 KB become 1 KB in 40 µs; the best level saves another 4 %."""


class SearchText(msgspec.Struct, frozen=True):
    """A document as it is to be found. `key` is that of its row in `agentpedia_entries`."""

    key: str
    lang: str
    title: str
    text: str


class _Held(NamedTuple):
    number: int
    lang: str
    stream: str


class Writer:
    """One writing of many documents, which `flush` ends."""

    def __init__(self, connection: Connection) -> None:
        self._sql = SearchSql(connection)
        self._changes = Changes()
        self._fresh: set[int] = set()  # numbers of documents of which postings wait
        self._more = 0

    def put(self, given: Iterable[SearchText]) -> list[str]:
        """Take documents, each in place of the one with its key; give the keys of those cut."""
        cut: list[str] = []
        for batch in batches(given, _BATCH):
            streams: dict[str, tuple[str, str]] = {}
            for text in batch:
                stream = stream_of(text.title, text.text)
                streams[text.key] = text.lang, stream.text
                if stream.is_cut:
                    cut.append(text.key)
            self._replace(streams)
        return cut

    def drop(self, keys: Iterable[str]) -> int:
        """Take documents out; give how many there were."""
        dropped = 0
        for batch in batches(keys, _BATCH):
            held = self._held(batch)
            self._remove(held.values())
            dropped += len(held)
        return dropped

    def flush(self) -> None:
        """Write what waits."""
        merge(self._sql, self._changes)
        if self._more:
            count = sum(count for _, count, _ in self._sql.terms((COUNT,))) + self._more
            self._sql.put_terms([(COUNT, count, b"")])
        self._changes = Changes()
        self._fresh = set()
        self._more = 0

    def _replace(self, streams: dict[str, tuple[str, str]]) -> None:
        held = self._held(streams)
        moved = [old for key, old in held.items() if old.lang != streams[key][0]]
        self._remove(moved)
        stay = {key: old for key, old in held.items() if old.lang == streams[key][0]}
        new = self._numbered(streams, [key for key in streams if key not in stay])
        changed = {key: old for key, old in stay.items() if old.stream != streams[key][1]}
        for key, old in changed.items():
            before, after = terms_of(old.stream), terms_of(streams[key][1])
            self._changes.take_out(old.number, before.items() - after.items())
            self._changes.put_in(old.number, after.items() - before.items())
        for key, number in new.items():
            self._changes.put_in(number, terms_of(streams[key][1]).items())
        numbers = new | {key: old.number for key, old in changed.items()}
        self._sql.put_documents(
            [
                (number, key, lang, packed(stream))
                for key, number in numbers.items()
                for lang, stream in (streams[key],)
            ]
        )
        self._more += len(new)
        self._fresh.update(numbers.values())
        if self._changes.count >= _WAITING:
            self.flush()

    def _held(self, keys: Collection[str]) -> dict[str, _Held]:
        """Give the documents with these keys, whose postings are written then."""
        held = {
            key: _Held(number, lang, unpacked(stream).decode())
            for key, number, lang, stream in self._sql.held(keys)
        }
        if any(old.number in self._fresh for old in held.values()):
            self.flush()  # what waits must be there before it can be taken out
        return held

    def _remove(self, held: Collection[_Held]) -> None:
        for old in held:
            self._changes.take_out(old.number, terms_of(old.stream).items())
        self._sql.drop_documents([old.number for old in held])
        self._more -= len(held)

    def _numbered(self, streams: dict[str, tuple[str, str]], keys: list[str]) -> dict[str, int]:
        """Give new documents a number each that no other one has."""
        found: dict[str, int] = {}
        taken: set[int] = set()
        attempt = 0
        while keys:
            wanted = {key: number_of(key, streams[key][0], attempt) for key in keys}
            taken.update(number for number, _, _ in self._sql.keys(list(wanted.values())))
            keys = []
            for key, number in wanted.items():
                if number in taken:
                    keys.append(key)
                else:
                    found[key] = number
                    taken.add(number)
            attempt += 1
        return found


def packed(stream: str) -> bytes:
    """Give a stream as it is stored."""
    return zlib.compress(stream.encode(), _LEVEL)


def unpacked(stored: bytes) -> bytes:
    """Give a stream that was stored, in UTF-8."""
    return zlib.decompress(stored)
