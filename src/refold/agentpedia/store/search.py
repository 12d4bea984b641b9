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

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import heapify, heappop
from itertools import islice
from operator import add

import msgspec
from sqlalchemy import Connection, delete

from refold.agentpedia.scoring import MAX_RARITY, MAX_WEIGHT, needle_of, rarity
from refold.agentpedia.searchquery import SearchQuery
from refold.agentpedia.store.searchblocks import (
    NUMBER_BITS,
    POSTING_BYTES,
    TAG_SHIFT,
    decode,
    decode_all,
    has_tag,
    tag_of,
)
from refold.agentpedia.store.searchsql import SearchSql
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
"""Postings that one question adds up, so that none takes more than some milliseconds however many
documents there are. A term that has more of them than are left must be there, and counts nothing.
Of a single term any number can be listed: they are read as they are needed."""
MAX_CHECKED = 256
"""Documents that one page looks into for phrases, and for terms that count nothing; a page may end
there, and the next one goes on."""

MAX_NARROWING = 65_536
"""Postings that are read only to know which documents have a term, in some milliseconds. Of terms
that are more frequent and yet seldom together, a page may end before it has a hit."""

_CHUNK = 32
"""Documents that are looked into at a time, after the first ones."""
_PATIENCE = 64
"""Documents that are looked into before a list is read."""
_BLOCKS = 64
"""Blocks that one statement reads of a list that may end early."""
_ALL = 1 << 31
_NUMBER = (1 << NUMBER_BITS) - 1


class Place(msgspec.Struct, frozen=True):
    """Where in an answer a page ended.

    `scales` says how much each term counted on the first page, 0 for one that only must be there:
    an answer is walked to its end by one measure, so no document is lost or told twice because
    others are written meanwhile.
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
    asked for and yet have a next one.
    """

    hits: tuple[Hit, ...]
    next: Place | None


class _Term(msgspec.Struct, frozen=True):
    """A term of a question. `at` is its position among them; a scale of 0 counts nothing."""

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
            return SearchPage((), None)
        counted = [term for term in asked if term.scale]
        best = MAX_WEIGHT * sum(term.scale for term in counted)
        last = -1 if after is None else (best - after.score) << NUMBER_BITS | after.number
        tag = None if lang is None else tag_of(lang)
        # A phrase says more than the terms in it.
        others = {needle_of((term.term,)): term for term in asked if not term.scale}
        for phrase in query.needles:
            others = {needle: term for needle, term in others.items() if needle not in phrase}
        if len(counted) == 1:
            found = self._listed(counted[0], last, tag, next(iter(others.values()), None))
        else:
            found = self._ranked(counted, last)
        if tag is not None:
            found = (item for item in found if (item & _NUMBER) >> TAG_SHIFT == tag)
        sought = tuple(needle.encode() for needle in (*query.needles, *others))
        scales = tuple(term.scale for term in sorted(asked, key=lambda term: term.at))
        return self._page(found, _Page(sought, lang, limit, best, scales))

    def _asked(self, query: SearchQuery, after: Place | None) -> list[_Term] | None:
        """Give the terms of a question, the rarest first; None if one of them is nowhere."""
        rows = {row[0]: row for row in self._sql.terms((COUNT, *query.terms))}
        if any(term not in rows for term in query.terms):
            return None
        among = rows[COUNT][1]
        asked: list[_Term] = []
        left = MAX_POSTINGS
        for count, term, at in sorted((rows[t][1], t, at) for at, t in enumerate(query.terms)):
            left -= count
            if after is not None:
                scale = after.scales[at]
            else:
                # The rarest one always counts: alone it is listed as far as it is needed.
                scale = rarity(count, among) if left >= 0 or not asked else 0
            asked.append(_Term(at, term, count, rows[term][2], scale))
        counted = [term.documents for term in asked if term.scale]
        # Others may have written meanwhile, but not as much as this.
        if len(counted) > 1 and sum(counted) > 2 * MAX_POSTINGS:
            raise _other_place()
        return asked

    def _listed(
        self, term: _Term, last: int, tag: int | None, other: _Term | None
    ) -> Iterator[int]:
        """Give the documents of a term, best first, from behind the item `last`.

        Here and below a document is an item: what its score lacks to the best one, then its number.
        So items sort as documents shall be told. Those of another `tag`, or without the `other`
        term, may be left out.
        """
        # What a posting lacks grows with the scale, the number does not.
        lacking, number = last >> NUMBER_BITS, last & _NUMBER
        begin = -1 if last < 0 else lacking // term.scale << NUMBER_BITS | number
        # Few documents are looked into sooner than a long list is read.
        may_narrow = other and term.documents > MAX_CHECKED and other.documents <= MAX_NARROWING
        left = _PATIENCE if may_narrow else _ALL
        having: AbstractSet[int] | None = None
        for block in self._blocks(term, begin, _BLOCKS):
            if tag is not None and not has_tag(block, tag):
                continue
            postings: Sequence[int] = decode(block)
            if having is not None:
                postings = [posting for posting in postings if posting & _NUMBER in having]
            for posting in postings:
                number = posting & _NUMBER
                if posting > begin and (having is None or number in having):
                    yield (posting >> NUMBER_BITS) * term.scale << NUMBER_BITS | number
                    left -= 1
                    if left == 0 and other is not None:
                        having = set(self._postings(other)[0])

    def _postings(self, term: _Term) -> tuple[Sequence[int], bytes]:
        """Give the documents of a term, and what each weight lacks to the greatest."""
        return decode_all(list(self._blocks(term, -1, _ALL)))

    def _ranked(self, counted: list[_Term], last: int) -> Iterator[int]:
        """Give the documents that have all of the terms, best first, from behind `last`."""
        held: dict[int, int] = {}
        for place, term in enumerate(counted):
            numbers, lacks = self._postings(term)
            # What is lacking at each weight, where it stands in an item.
            lacking = [term.scale * lack << NUMBER_BITS for lack in range(MAX_WEIGHT)]
            if place:
                pairs = zip(numbers, lacks, strict=True)
                held = {n: held[n] + lacking[lack] for n, lack in pairs if n in held}
            else:
                held = dict(zip(numbers, map(lacking.__getitem__, lacks), strict=True))
            if not held:
                break
        items = list(map(add, held.keys(), held.values()))
        if last >= 0:
            items = [item for item in items if item > last]
        heapify(items)  # most callers want few of them
        return (heappop(items) for _ in range(len(items)))

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

    def _page(self, found: Iterator[int], page: "_Page") -> SearchPage:
        """Give those of the documents that have what is sought and the language of a question."""
        hits: list[Hit] = []
        left = max(MAX_CHECKED, page.limit + 1)
        size = page.limit + 1
        checked: Place | None = None
        while items := list(islice(found, min(size, left + 1))):
            rows = self._fit([item & _NUMBER for item in items], page.sought)
            for item in items:
                if left == 0:
                    return SearchPage(tuple(hits), checked)
                left -= 1
                number = item & _NUMBER
                place = Place(page.best - (item >> NUMBER_BITS), number, page.scales)
                key, lang = rows.get(number, ("", ""))
                if number in rows and page.lang in {None, lang}:
                    if len(hits) == page.limit:
                        return SearchPage(tuple(hits), hits[-1].place)
                    hits.append(Hit(key, place.score, place))
                checked = place
            size = max(_CHUNK, size)
        return SearchPage(tuple(hits), None)

    def _fit(self, numbers: list[int], sought: tuple[bytes, ...]) -> dict[int, tuple[str, str]]:
        """Give (key, lang) of those of the documents in which all that is sought stands."""
        if not sought:
            return {number: (key, lang) for number, key, lang in self._sql.keys(numbers)}
        fit: dict[int, tuple[str, str]] = {}
        for number, key, lang, stored in self._sql.streams(numbers):
            stream = unpacked(stored)
            if all(needle in stream for needle in sought):
                fit[number] = key, lang
        return fit


class _Page(msgspec.Struct, frozen=True):
    """What of a question is left when its terms are found."""

    sought: tuple[bytes, ...]
    lang: str | None
    limit: int
    best: int
    scales: tuple[int, ...]


def _check(after: Place, query: SearchQuery) -> None:
    """Refuse a place that no answer to this question gave, which strangers may send."""
    scales = after.scales
    if (
        len(scales) != len(query.terms)
        or not all(0 <= scale <= MAX_RARITY for scale in scales)
        or not 0 < after.score <= MAX_WEIGHT * sum(scales)
        or not 0 <= after.number <= _NUMBER
    ):
        raise _other_place()


def _other_place() -> InputError:
    return InputError(
        "search-after", "the place is one of another question", "ask for the first page"
    )
