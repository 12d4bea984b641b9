"""The read API: one worker of `refold serve` over a wiki of many entries of 2 KB, and a small one.

Entries are asked for one after the other in no order, lists by 20 in each of their orders, from the
first page to far behind it, searches with the questions of `search.py`. Rates are by the clock, so
they are those of this machine at this time; `…_cpu_us` is what an answer costs the server, which is
what to compare. Flatness is the cost with many entries to that with few, of answers of equal size:
with few entries some searches find less than a page, so both are asked for that many.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import msgspec

from harness import Figure, arguments
from load import Load, Target, load, node, request
from refold.agentpedia.indexer import indexing
from refold.db import Database
from refold.metaid.pin import Pin
from refold.metaid.store import open_store
from search import Made
from streams import PARAMS, PREFIX, editor_id

ENTRIES, QUICK, FEW = 100_000, 5_000, 1_000
REQUESTS, SEARCHES = 4_000, 400
FOUNDERS = 12
A_BLOCK = 50
A_WRITING = 5_000
ALIKE = "search_alike"
"""Searches for no more than the small wiki has."""
GOALS = {"entry": 2_000, "entry_list": 1_500, "search": 200}
DATABASES = "REFOLD_BENCH_DATABASES"
"""A folder in which made databases are kept for the next run; none is kept without."""


def pins(made: Made, count: int) -> Iterator[Pin]:
    """Give a genesis and the creates of so many entries."""
    founders = [editor_id(number) for number in range(FOUNDERS)]
    genesis = {
        "v": 1,
        "revision": 0,
        "prevConstitution": None,
        "proposalPin": None,
        "founders": founders,
        "params": PARAMS,
        "algoVersions": {
            "adoption": "adoption-algo-v1",
            "reputation": "reputation-algo-v1",
            "arbiterDraw": "arbiter-draw-v1",
        },
    }
    yield pin(0, "constitution", founders[0], genesis)
    for number, text in enumerate(made.texts(count), 1):
        rev = {
            "v": 1,
            "lang": text.lang,
            "slug": text.key.partition(":")[2],
            "title": text.title[:200],
            "type": "create",
            "parentRev": None,
            "basedOn": None,
            "content": text.text,
            "contentRef": None,
            "contentHash": sha256(text.text.encode()).hexdigest(),
            "claim": {"changeType": "create", "refs": 0},
        }
        yield pin(number, "rev", founders[number % FOUNDERS], rev)


def pin(number: int, path: str, sender: str, payload: Mapping[str, object]) -> Pin:
    """Give a pin out of a block."""
    return Pin(
        id=sha256(b"pin %d" % number).hexdigest() + "i0",
        path=PREFIX + path,
        height=1_000 + number // A_BLOCK,
        tx_index=number % A_BLOCK,
        sender=sender,
        operation="create",
        encryption="0",
        version="1.0",
        content_type="application/json",
        timestamp=1_700_000_000 + number,
        body=msgspec.json.encode(payload),
    )


def make(path: Path, made: Made, count: int) -> None:
    """Make a database as a sync does."""
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        batch: list[Pin] = []
        for one in (*pins(made, count), None):
            if one is not None:
                batch.append(one)
            if one is None or len(batch) == A_WRITING:
                with database.write() as connection:
                    open_store(connection).pins.write(batch, "bench")
                batch = []
        with indexing(database) as indexer:
            indexer.catch_up()


def served(path: Path) -> AbstractContextManager[tuple[int, subprocess.Popen[bytes]]]:
    """Run one worker; gives its port and its process."""
    return node("--database", f"sqlite:///{path}", "--parts", "agentpedia")


def requests_of(made: Made, count: int) -> dict[str, list[bytes]]:
    """Give the requests of each kind."""
    choose = random.Random(1)
    numbers = [choose.randrange(count) for _ in range(REQUESTS)]
    keys = [f"{'en' if number % 2 else 'zh'}:e{number}" for number in numbers]
    orders = ("updated", "featured", "title")
    lists = [
        f"/v1/agentpedia/entries?sort={orders[n % 3]}" + ("&lang=en" if n % 2 else "")
        for n in range(REQUESTS)
    ]
    asked = searches(made)
    return {
        "entry": [request(f"/v1/agentpedia/entries/{key}") for key in keys],
        "entry_list": [request(path) for path in lists],
        "search": [request(asked[n % len(asked)]) for n in range(SEARCHES)],
        "health": [request("/health")] * REQUESTS,
    }


def searches(made: Made) -> list[str]:
    """Give a search of each kind."""
    questions = made.questions(list(made.texts(20))).values()
    return [f"/v1/agentpedia/search?q={quote(question)}" for question in questions]


def alike(port: int) -> list[bytes]:
    """Give the searches again, each for as many hits as there are on its first page here."""
    limited: list[str] = []
    for path in searches(Made()):
        with urlopen(f"http://127.0.0.1:{port}{path}") as answer:
            found = len(msgspec.json.decode(answer.read())["items"])
        limited += [f"{path}&limit={found}"] if found else []
    return [request(limited[n % len(limited)]) for n in range(SEARCHES)]


def made_in(folder: Path, count: int) -> Path:
    """Give a database with so many entries; it is made if it is not there."""
    path = folder / f"wiki-{count}.db"
    if not path.exists():
        started = time.perf_counter()
        begun = path.with_suffix(".begun")
        make(begun, Made(), count)
        begun.rename(path)
        print(f"# {count:,} entries made in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return path


def measure(folder: Path, counts: Sequence[int]) -> list[dict[str, Load]]:
    """Give what each kind of request comes to with few and with many entries."""
    found: list[dict[str, Load]] = [{} for _ in counts]
    with ExitStack() as stack:
        running = [stack.enter_context(served(made_in(folder, count))) for count in counts]
        asked = [requests_of(Made(), count) for count in counts]
        for requests in asked:
            requests[ALIKE] = alike(running[0][0])
        for kind in asked[0]:
            targets = [
                Target(port, server, requests[kind])
                for (port, server), requests in zip(running, asked, strict=True)
            ]
            for told, one in zip(found, load(targets), strict=True):
                told[kind] = one
    return found


def figures(few: dict[str, Load], many: dict[str, Load]) -> Sequence[Figure]:
    """Give the figures."""
    bare = many["health"]
    told = [Figure("api.health_rps", bare.rps, "answers/s", f"{bare.cpu_us:.0f} CPU µs each")]
    for kind, goal in GOALS.items():
        one = many[kind]
        same = ALIKE if kind == "search" else kind
        flat, base = many[same].cpu_us, few[same].cpu_us
        of = f"{bare.rps:,.0f} answers of /health, {one.bytes:,} bytes each"
        told += [
            Figure(f"api.{kind}_rps", one.rps, "answers/s", of, f"≥ {goal:,}"),
            Figure(f"api.{kind}_cpu_us", one.cpu_us, "CPU µs", f"{bare.cpu_us:.0f} for /health"),
            Figure(
                f"api.{kind}_flatness", flat / base, "×",
                f"{flat:.0f} CPU µs to {base:.0f} with {FEW:,} entries", "≤ 1.3",
            ),
        ]  # fmt: skip
    return told


def main() -> None:
    """Print the figures."""
    given = arguments(__doc__ or "")
    count = QUICK if given.quick else ENTRIES
    kept = os.environ.get(DATABASES)
    with tempfile.TemporaryDirectory() as name:
        few, many = measure(Path(kept or name), (FEW, count))
    for figure in figures(few, many):
        figure.print(as_json=given.json)


if __name__ == "__main__":
    main()
