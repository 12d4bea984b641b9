"""The search index: on both databases what a slow and obvious reading of all texts finds."""

import itertools
from collections.abc import Iterator, Mapping
from hashlib import sha256
from math import log1p
from random import Random

import msgspec
import pytest
from sqlalchemy import Engine, event, func, select

from refold.agentpedia.scoring import MAX_CHARACTERS
from refold.agentpedia.searchquery import SearchQuery, parse_query
from refold.agentpedia.store import search, searchmerge, searchwriter
from refold.agentpedia.store.search import Place, SearchIndex, SearchPage, SearchText
from refold.agentpedia.store.searchtables import blocks, documents, terms
from refold.agentpedia.tokens import pieces
from refold.db import Database
from refold.kernel.errors import InputError

WORDS = ("tide", "table", "tides", "a", "b", "c", "d", "e")
HAN = "潮汐表海水山"
QUESTIONS = (
    *(
        "tide",
        "TABLE a",
        "a b",
        "a b c d",
        "潮",
        "潮汐",
        "潮汐表",
        "a 潮汐",
        '"a b"',
        '"tide 潮汐"',
    ),
    *('"海水 a" b', "汐表海", "nowhere", "a nowhere", "山 海"),
)
ENTRY = dict[str, SearchText]


class Naive:
    """All texts, read through for every question."""

    def __init__(self, texts: Mapping[str, SearchText]) -> None:
        self._texts = texts
        self._parts = {
            key: [
                [(piece.folded, piece.is_run) for piece in pieces(part)]
                for part in (text.title, text.text)
            ]
            for key, text in texts.items()
        }
        self._among: dict[str, int] = {}
        self._most = search.MAX_POSTINGS

    def answer(self, query: SearchQuery, lang: str | None = None) -> list[str]:
        """Give the keys, best first."""
        found = []
        for key, text in self._texts.items():
            if lang in {None, text.lang} and all(self._has(key, p) for p in query.phrases):
                number = (
                    sha256(text.lang.encode()).digest()[0],
                    sha256(f"{key}\0000".encode()).digest()[:4],
                )
                found.append((-self._score(key, query), number, key))
        return [key for _, _, key in sorted(found)]

    def _has(self, key: str, phrase: tuple[str, ...]) -> bool:
        """Look for the phrase in a text written as |word| and |~run~|."""
        joined = [
            "".join(f"|~{folded}~|" if is_run else f"|{folded}|" for folded, is_run in part)
            for part in self._parts[key]
        ]
        runs = [any(char >= "\u2e80" for char in piece) for piece in phrase]
        needle = "||".join(f"~{p}~" if run else p for p, run in zip(phrase, runs, strict=True))
        needle = needle[1:] if runs[0] else f"|{needle}"
        needle = needle[:-1] if runs[-1] else f"{needle}|"
        return any(needle in part for part in joined)

    def _count(self, part: list[tuple[str, bool]], term: str) -> int:
        count = 0
        for folded, is_run in part:
            if is_run:
                count += sum(folded.startswith(term, at) for at in range(len(folded)))
            else:
                count += folded == term
        return count

    def _score(self, key: str, query: SearchQuery) -> int:
        title, text = self._parts[key]
        length = sum(len(f) if is_run else 1 for f, is_run in (*title, *text))
        while length.bit_length() > 4 and length % (1 << (length.bit_length() - 4)):
            length -= 1
        score = left = 0
        for term in sorted(query.terms, key=lambda term: (self._having(term), term)):
            left += self._having(term)
            if score and left > self._most:
                break
            count = 8 * self._count(title, term) + self._count(text, term)
            weight = max(1, int(255 * count / (count + 1.2 * (0.25 + 0.75 * length / 400))))
            having = self._having(term)
            odds = (len(self._texts) - having + 0.5) / (having + 0.5)
            score += weight * max(1, round(16 * log1p(odds)))
        return score

    def _having(self, term: str) -> int:
        if term not in self._among:
            self._among[term] = sum(
                any(self._count(part, term) for part in parts) for parts in self._parts.values()
            )
        return self._among[term]


def made(random: Random, key: str) -> SearchText:
    """Give some text in which the questions stand now and then."""

    def text(most: int) -> str:
        return " ".join(
            random.choice(WORDS)
            if random.random() < 0.6
            else "".join(random.choices(HAN, k=random.randrange(1, 6)))
            for _ in range(random.randrange(most))
        )

    return SearchText(key, random.choice(("en", "zh")), text(3), text(25))


def texts_of(count: int, seed: int = 1) -> ENTRY:
    random = Random(seed)
    return {f"k{number}": made(random, f"k{number}") for number in range(count)}


def put(database: Database, texts: ENTRY) -> None:
    with database.write() as connection:
        SearchIndex(connection).put(texts.values())


def pages(
    database: Database, query: SearchQuery, limit: int, lang: str | None = None
) -> Iterator[SearchPage]:
    """Give page after page, each in a transaction of its own."""
    after: Place | None = None
    while True:
        with database.read() as connection:
            page = SearchIndex(connection).search(query, limit=limit, lang=lang, after=after)
        yield page
        if page.next is None:
            return
        after = page.next


def walked(
    database: Database, question: str, limit: int = 1000, lang: str | None = None
) -> list[str]:
    """Give the keys of a whole answer."""
    query = parse_query(question)
    return [hit.key for page in pages(database, query, limit, lang) for hit in page.hits]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few texts fill many blocks, many statements and many writings."""
    monkeypatch.setattr(searchmerge, "MAX_BLOCK", 8)
    monkeypatch.setattr(searchmerge, "_FILLED", 6)
    monkeypatch.setattr(searchmerge, "_TERMS", 10)
    monkeypatch.setattr(searchmerge, "_SOUGHT", 7)
    monkeypatch.setattr(searchwriter, "_BATCH", 20)
    monkeypatch.setattr(searchwriter, "_WAITING", 500)
    monkeypatch.setattr(search, "_BLOCKS", 3)


def check(database: Database, texts: ENTRY) -> None:
    """Compare every answer with the naive one."""
    naive = Naive(texts)
    for question in QUESTIONS:
        query = parse_query(question)
        for lang in (None, "en"):
            assert walked(database, question, lang=lang) == naive.answer(query, lang), question
    with database.read() as connection:
        assert SearchIndex(connection).count() == len(texts)


@pytest.mark.usefixtures("small")
def test_whatever_is_put_in_and_taken_out_the_answers_are_those_of_a_plain_reading(
    database: Database,
) -> None:
    random = Random(7)
    held: ENTRY = {}
    for _ in range(6):
        new = [
            made(random, f"k{random.randrange(120)}") for _ in range(random.choice((1, 8, 90, 90)))
        ]
        gone = [f"k{random.randrange(120)}" for _ in range(random.choice((0, 1, 30)))]
        with database.write() as connection:
            index = SearchIndex(connection)
            index.put(new)
            held |= {text.key: text for text in new}
            assert index.drop(gone) == len(held.keys() & set(gone))
            for key in gone:
                held.pop(key, None)
        check(database, held)


def test_with_blocks_of_the_usual_size_too(database: Database) -> None:
    texts = texts_of(700)
    put(database, texts)
    check(database, texts)


@pytest.mark.usefixtures("small")
def test_the_answer_does_not_depend_on_what_was_there_before(database: Database) -> None:
    texts = texts_of(80)
    put(database, texts_of(150, seed=2))
    with database.write() as connection:
        SearchIndex(connection).drop(f"k{number}" for number in range(40, 150))
    put(database, dict(reversed(texts.items())))
    check(database, texts)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("limit", [1, 3])
def test_pages_of_any_size_are_the_whole_answer(database: Database, limit: int) -> None:
    texts = texts_of(60)
    put(database, texts)
    for question in ("a", "a b", "潮汐", "汐表海", '"a b"'):
        for lang in (None, "zh"):
            found = list(pages(database, parse_query(question), limit, lang))
            keys = [hit.key for page in found for hit in page.hits]
            assert keys == walked(database, question, lang=lang)
            assert all(len(page.hits) == limit for page in found[:-1])
            assert found[-1].hits or len(found) == 1


def test_a_page_may_begin_behind_any_hit(database: Database) -> None:
    put(database, texts_of(60))
    with database.read() as connection:
        index = SearchIndex(connection)
        for question in ("a", "a b"):
            query = parse_query(question)
            hits = index.search(query, limit=100).hits
            assert len(hits) > 5
            for at, hit in enumerate(hits):
                assert index.search(query, limit=100, after=hit.place).hits == hits[at + 1 :]


@pytest.mark.usefixtures("small")
def test_what_stays_is_told_once_and_in_order_while_others_write(database: Database) -> None:
    random = Random(3)
    texts = texts_of(40)
    put(database, texts)
    for question in ("a", "a b", "潮汐"):
        before = walked(database, question)
        told = []
        for number, page in enumerate(pages(database, parse_query(question), 1)):
            told += [hit.key for hit in page.hits]
            if number % 3 == 0:
                with database.write() as connection:
                    index = SearchIndex(connection)
                    index.put(made(random, f"new{random.randrange(20)}") for _ in range(5))
                    index.drop([f"new{random.randrange(20)}"])
        stay = [key for key in before if key in texts]
        assert [key for key in told if key in texts] == stay != []


def test_a_page_ends_after_so_many_documents_and_the_next_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_CHECKED", 4)
    texts = {
        f"k{n}": SearchText(f"k{n}", "en", "", "a b" if n % 9 == 0 else "b a") for n in range(60)
    }
    put(database, texts)
    found = list(pages(database, parse_query('"a b"'), 2))
    assert any(not page.hits and page.next for page in found)
    keys = [hit.key for page in found for hit in page.hits]
    assert keys == Naive(texts).answer(parse_query('"a b"'))


@pytest.mark.parametrize("most", [1, 60, 300, 700])
def test_frequent_terms_must_be_there_and_count_as_far_as_lists_are_read(
    database: Database, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(search, "MAX_POSTINGS", most)
    monkeypatch.setattr(search, "MAX_CHECKED", 50)
    monkeypatch.setattr(search, "_PATIENCE", 5)
    texts = texts_of(300) | {
        f"r{n}": SearchText(f"r{n}", "en", "", f"rare {'a ' * n} 潮汐表") for n in range(9)
    }
    put(database, texts)
    naive = Naive(texts)
    for question in (*QUESTIONS, "rare a 潮汐表", 'rare "a 潮" b', "tide a b 潮"):
        query = parse_query(question)
        for lang in (None, "en"):
            assert walked(database, question, lang=lang) == naive.answer(query, lang), question
        found = list(pages(database, query, 2))
        assert [hit.key for page in found for hit in page.hits] == naive.answer(query)


def test_no_question_reads_more_than_its_share(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database, texts_of(300))
    query = parse_query("a b c")
    with database.read() as connection:
        index = SearchIndex(connection)
        place = index.search(query, limit=1).next
        assert place is not None
        monkeypatch.setattr(search, "MAX_POSTINGS", 200)
        page = index.search(query, limit=1)
        assert page.next is not None
        assert sorted(scale > 0 for scale in page.next.scales) == [False, False, True]
        # A place that says that all of them count is none of ours, or very old.
        with pytest.raises(InputError) as caught:
            index.search(query, limit=1, after=place)
    assert caught.value.code == "search-after"


def test_keys_and_languages_with_the_same_hash_stay_apart(database: Database) -> None:
    first, second = "en:e14687", "en:e49076"
    hashes = {sha256(f"{key}\0000".encode()).digest()[:4] for key in (first, second)}
    assert len(hashes) == 1
    langs = ("".join(pair) for pair in itertools.product("abcdefghij", repeat=3))
    by_tag: dict[int, str] = {}
    for other in langs:
        lang = by_tag.setdefault(sha256(other.encode()).digest()[0], other)
        if lang != other:
            break
    else:
        pytest.fail("no two languages with the same tag")
    texts = [SearchText(first, lang, "", "tide"), SearchText(second, lang, "", "tide")]
    with database.write() as connection:
        index = SearchIndex(connection)
        index.put([*texts, SearchText("third", other, "", "tide")])
        index.put([msgspec.structs.replace(texts[1], text="table")])
    assert walked(database, "tide", lang=lang) == [first]
    assert walked(database, "table") == [second]
    assert walked(database, "tide", lang=other) == ["third"]
    with database.write() as connection:
        SearchIndex(connection).drop([first])
    assert walked(database, "tide") == ["third"]


def test_a_text_in_another_language_moves(database: Database) -> None:
    put(database, {"k": SearchText("k", "en", "", "tide")})
    put(database, {"k": SearchText("k", "zh", "", "tide")})
    assert walked(database, "tide", lang="en") == []
    assert walked(database, "tide", lang="zh") == ["k"]


def test_the_title_counts_more_than_the_text(database: Database) -> None:
    texts = {
        "text": SearchText("text", "en", "north", "the tide of the tide"),
        "title": SearchText("title", "en", "tide", "the north and so on"),
        "neither": SearchText("neither", "en", "north", "south"),
    }
    put(database, texts)
    assert walked(database, "tide") == ["title", "text"]


def test_putting_the_same_again_writes_nothing(database: Database) -> None:
    texts = texts_of(30)
    put(database, texts)
    written = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith(("SELECT", "BEGIN")):
            written.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        put(database, texts)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert written == []


@pytest.mark.usefixtures("small")
def test_nothing_is_left_of_what_was_dropped_or_forgotten(database: Database) -> None:
    texts = texts_of(80)
    for forget in (False, True):
        put(database, texts)
        with database.write() as connection:
            index = SearchIndex(connection)
            if forget:
                index.forget()
            else:
                assert index.drop([*texts, "never there"]) == len(texts)
            assert index.count() == 0
            for table in (documents, blocks):
                assert connection.scalar(select(func.count()).select_from(table)) == 0
            assert connection.scalar(select(func.count()).where(terms.c.term != "")) == 0
        assert walked(database, "a") == []


def test_an_empty_index_has_no_answer(database: Database) -> None:
    with database.read() as connection:
        index = SearchIndex(connection)
        assert index.search(parse_query("tide"), limit=1) == SearchPage((), None)
        assert index.count() == 0


def test_texts_of_strangers_are_found_as_they_are(database: Database) -> None:
    hostile = "tide\0 \ud800 %s ? ' \" ; DROP TABLE \\ :x $1 \U0010ffff " + "\u0301" * 5000
    cut = "é" * (MAX_CHARACTERS + 1)
    with database.write() as connection:
        given = [SearchText("k'%s", "en", hostile, hostile), SearchText("cut", "en", "", cut)]
        assert SearchIndex(connection).put(given) == ["cut"]
    for question in ("drop table", "' ; DROP", "%s", "x :x $1"):
        assert walked(database, question) == ["k'%s"]


@pytest.mark.parametrize(
    "change",
    [
        {"scales": ()},
        {"scales": (1, 1, 1)},
        {"scales": (0, 0)},
        {"scales": (-1, 5)},
        {"scales": (10**9, 5)},
        {"score": -1},
        {"score": 0},
        {"score": 10**30},
        {"number": -1},
        {"number": 2**40},
    ],
)
def test_a_place_of_another_question_is_refused(
    database: Database, change: dict[str, object]
) -> None:
    put(database, texts_of(60))
    query = parse_query("a b")
    with database.read() as connection:
        index = SearchIndex(connection)
        place = index.search(query, limit=1).next
        assert place is not None
        with pytest.raises(InputError) as caught:
            index.search(query, limit=1, after=msgspec.structs.replace(place, **change))
    assert caught.value.code == "search-after"
