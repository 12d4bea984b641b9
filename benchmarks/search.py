"""The search index: texts put in, one block more, questions of every kind, snippets.

Texts of 2 KB, half of them Chinese, made of words that are as unevenly frequent as real ones.
Questions are asked of 1,000 texts and of many. Baselines of the same run: for questions, Python's
`in` over all texts, without ranking; for writing and size, FTS5 of SQLite given the same pieces.
Times are CPU seconds; of PostgreSQL those of the server are counted too.
"""

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import accumulate
from pathlib import Path
from random import Random

import psutil  # type: ignore[import-untyped]  # it ships no types
import psycopg

from harness import Figure, arguments
from refold.agentpedia.searchquery import SearchQuery, parse_query
from refold.agentpedia.snippets import snippets
from refold.agentpedia.store.search import SearchIndex, SearchText
from refold.agentpedia.tokens import pieces
from refold.db import Database

TEXTS, QUICK, FEW = 100_000, 5_000, 1_000
ON_POSTGRES = 20_000
"""It is to show that both agree in kind; another 80,000 would only take time."""
BODY = 2_048
A_WRITING = 10_000
A_BLOCK = 50
ROUNDS = 30

Seconds = Callable[[], float]


class Made:
    """Texts from a seed, and the questions that fit them."""

    def __init__(self) -> None:
        self._random = random = Random(7)
        letters = "etaoinshrdlucmfwypvbgk"
        han = [chr(0x4E00 + 5 * number) for number in range(3_500)]
        uneven = list(accumulate(1 / (rank + 8) for rank in range(len(han))))
        self.words = [
            "".join(random.choices(letters, k=random.choice((2, 3, 4, 5, 5, 6, 6, 7, 8, 9))))
            for _ in range(60_000)
        ]
        self.chinese = [
            "".join(random.choices(han, cum_weights=uneven, k=random.choice((1, 2, 2, 2, 3, 4))))
            for _ in range(40_000)
        ]
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(60_000)))

    def texts(self, count: int) -> Iterator[SearchText]:
        """Give texts, English and Chinese in turn."""
        for number in range(count):
            if number % 2:
                text = " ".join(self._some(self.words, BODY // 5))[:BODY]
                title = " ".join(self._some(self.words, 3))
                yield SearchText(f"en:e{number}", "en", title, text)
            else:
                some = self._some(self.chinese, BODY // 6)
                text = "，".join("".join(some[at : at + 8]) for at in range(0, len(some), 8))
                title = "".join(self._some(self.chinese, 2))
                yield SearchText(f"zh:e{number}", "zh", title, text[: BODY // 3])

    def questions(self, texts: Sequence[SearchText]) -> dict[str, str]:
        """Give questions of every kind."""
        english, chinese = texts[1].text.split(), texts[0].text
        run = max(chinese.split("，"), key=len)
        pair = next(word for word in self.chinese if len(word) == 2)
        return {
            "rare": self.words[20_000],
            "middle": f"{self.words[300]} {self.words[400]}",
            "common": self.words[0],
            "two_common": f"{self.words[0]} {self.words[1]}",
            "rare_common": f"{self.words[20_000]} {self.words[0]}",
            "phrase": f'"{" ".join(english[9:12])}"',
            "chinese": pair,
            "chinese_character": pair[0],
            "chinese_run": run[:5],
        }

    def _some(self, words: Sequence[str], count: int) -> list[str]:
        weights = self._weights[: len(words)]
        return self._random.choices(words, cum_weights=weights, k=count)


def seconds_of(job: Callable[[], object], now: Seconds) -> float:
    """Give the CPU seconds of a job."""
    start = now()
    job()
    return now() - start


def write(database: Database, texts: Sequence[SearchText]) -> None:
    """Put texts in as a first fold does."""
    for start in range(0, len(texts), A_WRITING):
        with database.write() as connection:
            SearchIndex(connection).put(texts[start : start + A_WRITING])


def ask(database: Database, query: SearchQuery) -> None:
    """Ask a question as a server does, in a transaction of its own."""
    with database.read() as connection:
        SearchIndex(connection).search(query, limit=20)


def each(job: Callable[[], object], now: Seconds, rounds: int = ROUNDS) -> float:
    """Give the median of the CPU seconds of a job."""
    return statistics.median(seconds_of(job, now) for _ in range(rounds))


def scan(texts: Sequence[SearchText], question: str) -> int:
    """Find texts as a program without an index does."""
    parts = [question.strip('"')] if '"' in question else question.split()
    return sum(all(part in text.text for part in parts) for text in texts)


def asked(
    kind: str, database: Database, made: Made, texts: Sequence[SearchText], now: Seconds
) -> Iterator[Figure]:
    """Measure questions."""
    size = f"{len(texts) // 1000}k"
    for name, question in made.questions(texts).items():
        took = each(partial(ask, database, parse_query(question)), now)
        plain = each(partial(scan, texts, question), time.process_time, 3)
        base = f"{1 / plain:,.1f} by `in` over all texts"
        yield Figure(f"search.{name}_per_s.{kind}.{size}", 1 / took, "questions/CPU s", base)


def figures(
    kind: str, database: Database, made: Made, texts: Sequence[SearchText], now: Seconds
) -> Iterator[Figure]:
    """Measure one kind of database."""
    few = texts[:FEW]
    write(database, few)
    yield from asked(kind, database, made, few, now)
    with database.write() as connection:
        SearchIndex(connection).forget()
    took = seconds_of(lambda: write(database, texts), now)
    yield Figure(f"search.texts_per_s.{kind}", len(texts) / took, "texts/CPU s")
    yield from asked(kind, database, made, texts, now)
    again = [SearchText(t.key, t.lang, t.title, t.text + " tide") for t in texts[:A_BLOCK]]
    took = seconds_of(lambda: write(database, again), now)
    yield Figure(f"search.block_ms.{kind}", took * 1e3, "CPU ms", f"{A_BLOCK} texts edited")
    new = list(made.texts(2 * A_BLOCK))
    new = [SearchText(f"{t.key}.new", t.lang, t.title, t.text) for t in new[:A_BLOCK]]
    took = seconds_of(lambda: write(database, new), now)
    yield Figure(f"search.new_block_ms.{kind}", took * 1e3, "CPU ms", f"{A_BLOCK} texts more")


def size_of(texts: Sequence[SearchText]) -> int:
    """Give the bytes of texts."""
    return sum(len(text.text.encode()) for text in texts)


def pieces_of(text: str) -> str:
    """Give the terms of a text for FTS5, but the single characters, which cost it a third more."""
    found: list[str] = []
    for piece in pieces(text):
        size = max(1, len(piece.folded) - 1) if piece.is_run else 1
        width = 2 if piece.is_run else len(piece.folded)
        found += (piece.folded[at : at + width] for at in range(size))
    return " ".join(found)


def fts5(path: Path, texts: Sequence[SearchText]) -> float:
    """Write the same into FTS5; give the CPU seconds."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "PRAGMA page_size = 16384",
        "PRAGMA journal_mode = WAL",
        "CREATE VIRTUAL TABLE f USING fts5 (title, text, content='', tokenize='unicode61')",
    ):
        connection.execute(statement)
    start = time.process_time()
    for at in range(0, len(texts), A_WRITING):
        rows = (
            (number, pieces_of(text.title), pieces_of(text.text))
            for number, text in enumerate(texts[at : at + A_WRITING], at)
        )
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO f (rowid, title, text) VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    took = time.process_time() - start
    connection.close()
    return took


def sqlite(made: Made, texts: Sequence[SearchText], folder: Path) -> Iterator[Figure]:
    """Measure SQLite."""
    path, other = folder / "ours.db", folder / "fts5.db"
    url = f"sqlite:///{path}"
    with Database.open(url, durability="normal") as database:
        found = list(figures("sqlite", database, made, texts, time.process_time))
    yield from found
    plain = fts5(other, texts)
    ours = next(f.value for f in found if f.name == "search.texts_per_s.sqlite")
    yield Figure("search.write_ratio.sqlite", len(texts) / ours / plain, "×", "FTS5")
    each_byte = path.stat().st_size / size_of(texts)
    base = f"{other.stat().st_size / size_of(texts):.2f} by FTS5, which keeps no texts"
    yield Figure("search.bytes_per_byte.sqlite", each_byte, "bytes", base)


def postgres(made: Made, texts: Sequence[SearchText]) -> Iterator[Figure]:
    """Measure PostgreSQL, on the server that the tests use."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from contract.databases import fresh_schema, postgres_server  # noqa: PLC0415 - path just set

    with ExitStack() as stack:
        server = stack.enter_context(postgres_server())
        url = stack.enter_context(fresh_schema(server))
        with psycopg.connect(server) as connection:
            process = psutil.Process(connection.info.backend_pid).parent()

        def now() -> float:
            spent = [p.cpu_times() for p in (process, *process.children())]
            ended = spent[0].children_user + spent[0].children_system
            total: float = time.process_time() + ended + sum(s.user + s.system for s in spent)
            return total

        database = stack.enter_context(Database.open(url, durability="normal"))
        yield from figures("postgres", database, made, texts, now)
        with database.read() as reading:
            size = reading.exec_driver_sql(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
                " AND relname LIKE 'agentpedia_search%%'"
                " AND relnamespace = current_schema()::regnamespace"
            ).scalar_one()
        yield Figure("search.bytes_per_byte.postgres", float(size) / size_of(texts), "bytes")


def all_shown(texts: Sequence[SearchText], query: SearchQuery) -> None:
    """Make the snippets of texts."""
    for text in texts:
        snippets(text.text, query)


def shown(made: Made, texts: Sequence[SearchText]) -> Iterator[Figure]:
    """Measure snippets."""
    for name in ("common", "chinese", "phrase"):
        query = parse_query(made.questions(texts)[name])
        job = partial(all_shown, texts[:FEW], query)
        took = seconds_of(job, time.process_time)
        base = f"a text of {BODY} bytes each"
        yield Figure(f"search.snippets_per_s.{name}", FEW / took, "texts/CPU s", base)


def main() -> None:
    """Print the figures of both."""
    given = arguments(__doc__ or "")
    made = Made()
    texts = list(made.texts(QUICK if given.quick else TEXTS))
    for figure in shown(made, texts):
        figure.print(as_json=given.json)
    with tempfile.TemporaryDirectory() as folder:
        for figure in sqlite(made, texts, Path(folder)):
            figure.print(as_json=given.json)
    for figure in postgres(made, texts[:ON_POSTGRES]):
        figure.print(as_json=given.json)


if __name__ == "__main__":
    main()
