"""The search index: texts put in, questions answered, best first.

    with database.write() as connection:
        SearchIndex(connection).put(texts)
    with database.read() as connection:
        page = SearchIndex(connection).search(parse_query("tide table"), limit=20)

The same documents give the same answer on every database, whatever was put in and taken out before,
because all that decides is ours: the terms, their weights, the order (docs/decisions/0010).

What is derived may be behind the tables it was made from, never ahead (decision 0007): whoever puts
texts in notes how far it came, in the same transaction.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from heapq import heapify, heappop
from itertools import islice

import msgspec
from sqlalchemy import Connection, delete

from refold.agentpedia.scoring import MAX_RARITY, MAX_WEIGHT, rarity, weights_in
from refold.agentpedia.searchquery import SearchQuery
from refold.agentpedia.store.searchblocks import (
    MAX_BLOCK,
    NUMBER_BITS,
    POSTING_BYTES,
    TAG_SHIFT,
    decode,
    tag_of,
    weights_of,
)
from refold.agentpedia.store.searchsql import SearchSql, batches
from refold.agentpedia.store.searchtables import blocks, documents, terms
from refold.agentpedia.store.searchwriter import COUNT, SearchText, Writer, unpacked
from refold.kernel.errors import InputError

__all__ = [
    "MAX_CHECKED",
    "MAX_POSTINGS",
    "Hit",
    "Place",
    "SearchIndex",
    "SearchPage",
    "SearchText",
]

MAX_POSTINGS = 16_384
"""Postings that one question reads, so that none takes more than some milliseconds however many
documents there are. Of a single term any number can be listed: they are read as they are needed."""
MAX_CHECKED = 256
"""Documents that one page looks into for phrases; a page may end there, and the next one goes on.
Also the most that are looked into for the weight of a term that has more postings than may be
read."""

_CHUNK = 32
"""Documents that are looked into at a time."""
_LOOK = 64
"""Postings that are read in the time that looking into a document takes."""
_BLOCKS = 64
"""Blocks that one statement reads of a list that may end early."""
_NUMBER = (1 << NUMBER_BITS) - 1


class Place(msgspec.Struct, frozen=True):
    """Where in an answer a page ended.

    `scales` says how much each term counted on the first page: an answer is walked to its end by
    one measure, so no document is lost or told twice because others are written meanwhile.
    """

    score: int
    number: int
    scales: tuple[int, ...]


class Hit(msgspec.Struct, frozen=True):
    """A document that was found. Its score says something only beside others of the answer."""

    key: str
    score: int
    place: Place


class SearchPage(msgspec.Struct, frozen=True):
    """Documents that were found, best first.

    `next` is where the next page goes on, None behind the last; a page may have fewer hits than
    asked for and yet have a next one. `is_partial` tells that the terms are so frequent that not
    all of their documents were considered, only those in which they weigh most.
    """

    hits: tuple[Hit, ...]
    next: Place | None
    is_partial: bool


class _Term(msgspec.Struct, frozen=True):
    """A term of a question. `at` is its position among them."""

    at: int
    term: str
    documents: int
    head: bytes
    scale: int


class SearchIndex:
    """See the module; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sql = SearchSql(connection)

    def put(self, texts: Iterable[SearchText]) -> list[str]:
        """Take texts, each in place of the one with its key; the last one of a key counts.

        Gives the keys of those of which only the beginning can be found (`scoring.MAX_CHARACTERS`,
        `MAX_TERMS`). The more texts at once, the quicker: some 4,000 are merged at a time.
        """
        writer = Writer(self._connection)
        cut = writer.put(texts)
        writer.flush()
        return cut

    def drop(self, keys: Iterable[str]) -> int:
        """Take texts out; give how many there were."""
        writer = Writer(self._connection)
        dropped = writer.drop(keys)
        writer.flush()
        return dropped

    def forget(self) -> None:
        """Take everything out."""
        for table in (blocks, terms, documents):
            self._connection.execute(delete(table))

    def count(self) -> int:
        """Give the number of texts."""
        return sum(count for _, count, _ in self._sql.terms((COUNT,)))

    def search(
        self,
        query: SearchQuery,
        *,
        limit: int,
        lang: str | None = None,
        after: Place | None = None,
    ) -> SearchPage:
        """Give the texts in which all of a question is, at most `limit` (1 or more), best first.

        `after` is the `next` or a hit's `place` of an earlier answer to the same question. Raises
        InputError `search-after` for a place of another question.
        """
        if after is not None:
            _check(after, query)
        asked = self._asked(query, after)
        if asked is None:
            return SearchPage((), None, is_partial=False)
        best = MAX_WEIGHT * sum(term.scale for term in asked)
        last = -1 if after is None else (best - after.score) << NUMBER_BITS | after.number
        if len(asked) == 1:
            found, is_partial = self._listed(asked[0], last), False
        else:
            found, is_partial = self._ranked(asked, last, best, query.needles)
        if lang is not None:
            tag = tag_of(lang)
            found = (item for item in found if (item & _NUMBER) >> TAG_SHIFT == tag)
        scales = tuple(term.scale for term in sorted(asked, key=lambda term: term.at))
        return self._page(found, _Page(query.needles, lang, limit, best, scales), is_partial)

    def _asked(self, query: SearchQuery, after: Place | None) -> list[_Term] | None:
        """Give the terms of a question, the rarest first; None if one of them is nowhere."""
        rows = {row[0]: row for row in self._sql.terms((COUNT, *query.terms))}
        if any(term not in rows for term in query.terms):
            return None
        among = rows[COUNT][1]
        found = [
            _Term(
                at, term, rows[term][1], rows[term][2],
                after.scales[at] if after else rarity(rows[term][1], among),
            )
            for at, term in enumerate(query.terms)
        ]  # fmt: skip
        return sorted(found, key=lambda term: (term.documents, term.term))

    def _listed(self, term: _Term, last: int) -> Iterator[int]:
        """Give the documents of a term, best first, from behind the item `last`.

        Here and below a document is an item: what its score lacks to the best one, then its number.
        So items sort as documents shall be told.
        """
        # What a posting lacks grows with the scale, the number does not.
        lacking, number = last >> NUMBER_BITS, last & _NUMBER
        begin = -1 if last < 0 else lacking // term.scale << NUMBER_BITS | number
        for block in self._blocks(term, begin, _BLOCKS):
            for item in decode(block):
                if item > begin:
                    yield (item >> NUMBER_BITS) * term.scale << NUMBER_BITS | item & _NUMBER

    def _ranked(
        self, asked: list[_Term], last: int, best: int, needles: tuple[str, ...]
    ) -> tuple[Iterator[int], bool]:
        """Give the documents that have all of the terms, best first, from behind `last`.

        Also tells whether some were not considered. Those without a phrase may be among them.
        """
        left = MAX_POSTINGS
        is_partial = False
        numbers: AbstractSet[int] = frozenset()
        weighed: list[tuple[int, dict[int, int]]] = []
        for place, term in enumerate(asked):
            if place and not numbers:
                return iter(()), is_partial
            share = left // (len(asked) - place)
            read = share if term.documents > share else _LOOK * len(numbers)
            if place and len(numbers) <= MAX_CHECKED and term.documents > read:
                # The others are more frequent still.
                scores = self._scores_in(numbers, asked[place:], needles)
                numbers = scores.keys()
                weighed.append((1, scores))
                break
            weights = self._weights(term, share)
            left -= len(weights)
            is_partial |= len(weights) < term.documents
            numbers = numbers & weights.keys() if place else weights.keys()
            weighed.append((term.scale, weights))
        found = list(numbers)
        lacking = [best] * len(found)
        for scale, weights in weighed:
            pairs = zip(lacking, map(weights.__getitem__, found), strict=True)
            lacking = [before - scale * weight for before, weight in pairs]
        items = [lack << NUMBER_BITS | number for lack, number in zip(lacking, found, strict=True)]
        if last >= 0:
            items = [item for item in items if item > last]
        heapify(items)  # most callers want few of them
        return (heappop(items) for _ in range(len(items))), is_partial

    def _weights(self, term: _Term, most: int) -> dict[int, int]:
        """Give the weights of a term in the documents in which they are greatest, so many."""
        weights: dict[int, int] = {}
        for block in self._blocks(term, -1, max(1, most // (MAX_BLOCK // 2))):
            weights.update(weights_of(block))
            if len(weights) >= most:
                return dict(islice(weights.items(), most))
        return weights

    def _scores_in(
        self, numbers: AbstractSet[int], asked: list[_Term], needles: tuple[str, ...]
    ) -> dict[int, int]:
        """Give what terms add to the scores of those of the documents that have all of them."""
        names = [term.term for term in asked]
        scores: dict[int, int] = {}
        for number, stored in self._sql.streams(numbers):
            stream = unpacked(stored)
            weights = weights_in(stream, names) if all(n in stream for n in needles) else (0,)
            if all(weights):
                pairs = zip(asked, weights, strict=True)
                scores[number] = sum(term.scale * weight for term, weight in pairs)
        return scores

    def _blocks(self, term: _Term, begin: int, size: int) -> Iterator[bytes]:
        """Give the blocks of a term in their order, from about a posting on, so many at a time."""
        yield term.head
        if len(term.head) == term.documents * POSTING_BYTES:
            return
        first = (self._sql.first(term.term, begin) or 0) if begin >= 0 else 0
        size_of_last = size
        while size_of_last == size:
            rows = self._sql.blocks(term.term, first, size)
            for at, block in rows:
                yield block
                first = at + 1
            size_of_last = len(rows)

    def _page(self, found: Iterator[int], page: "_Page", is_partial: bool) -> SearchPage:
        """Give those of the documents that have the phrases and the language of a question."""
        hits: list[Hit] = []
        most = max(MAX_CHECKED, page.limit + 1)
        chunk = max(_CHUNK, page.limit + 1) if page.needles else page.limit + 1
        checked: Place | None = None
        for items in batches(islice(found, most + 1), chunk):
            fit = self._with_phrases([item & _NUMBER for item in items], page.needles)
            rows = {number: (key, lang) for number, key, lang in self._sql.keys(fit)}
            for item in items:
                if most == 0:
                    return SearchPage(tuple(hits), checked, is_partial)
                most -= 1
                number = item & _NUMBER
                place = Place(page.best - (item >> NUMBER_BITS), number, page.scales)
                key, lang = rows.get(number, ("", ""))
                if number in rows and page.lang in {None, lang}:
                    if len(hits) == page.limit:
                        return SearchPage(tuple(hits), hits[-1].place, is_partial)
                    hits.append(Hit(key, place.score, place))
                checked = place
        return SearchPage(tuple(hits), None, is_partial)

    def _with_phrases(self, numbers: list[int], needles: tuple[str, ...]) -> list[int]:
        """Give those of the documents in which all phrases stand."""
        if not needles:
            return numbers
        streams = ((number, unpacked(stream)) for number, stream in self._sql.streams(numbers))
        return [number for number, stream in streams if all(n in stream for n in needles)]


class _Page(msgspec.Struct, frozen=True):
    """What of a question is left when its terms are found."""

    needles: tuple[str, ...]
    lang: str | None
    limit: int
    best: int
    scales: tuple[int, ...]


def _check(after: Place, query: SearchQuery) -> None:
    """Refuse a place that no answer to this question gave, which strangers may send."""
    scales = after.scales
    if (
        len(scales) != len(query.terms)
        or not all(0 < scale <= MAX_RARITY for scale in scales)
        or not 0 < after.score <= MAX_WEIGHT * sum(scales)
        or not 0 <= after.number <= _NUMBER
    ):
        raise InputError(
            "search-after", "the place is one of another question", "ask for the first page"
        )
