"""The reader: one worker of `refold serve` over entries with 6 KB of Markdown.

Warm is a page whose text was read before, as nearly all are; cold one whose text nobody has asked
for since the server started, so that its Markdown is read, cleaned and kept. Everything else of a
page is made anew for each answer: what is looked up may have changed. `…_cpu_us` is what an answer
costs the server. Sizes are those before compression, which is the proxy's job.

A blocking resource is what a browser must have before it shows the page: style sheets and scripts
in its head that are neither deferred nor for other media. The one style sheet is counted apart: it
stands behind `Link: rel=preload` in the first bytes of the answer, and its address holds its
digest, so that it is fetched once and never asked for again. Inlined it would block no less, and
would need a hole in the policy of the pages.
"""

import http.client
import random
import re
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

from api import FOUNDERS, pin, pins, served
from harness import Figure, arguments
from load import Load, Target, load, request
from refold.agentpedia.indexer import indexing
from refold.db import Database
from refold.metaid.pin import Pin
from refold.metaid.store import open_store
from search import Made
from streams import editor_id

BYTES = 6_144
ROUNDS = 5
COLD, QUICK_COLD = 300, 60
"""Entries of a cold round: no text is asked for twice."""
WARM, HOT = 3_000, 100
"""Requests of a warm round, for so many entries."""
GOALS = {"warm": "≥ 800", "cold": "≥ 150"}
_WORDS = (
    *("tide", "harbour", "rope", "the", "of", "a", "water", "slow", "rise", "ship", "knot"),
    *("quay", "night", "log", "chart", "is", "and", "when"),
)


def text_of(number: int, count: int) -> str:
    """Give 6 KB of Markdown as articles have it: headings, links, emphasis, lists, a table."""
    choose = random.Random(number)
    parts: list[str] = []
    size = 0
    while size < BYTES:
        words = [choose.choice(_WORDS) for _ in range(60)]
        words[7] = f"**{words[7]}**"
        words[19] = f"[[e{choose.randrange(2 * count)}]]"
        words[31] = f"*{words[31]}*"
        words[43] = f"[{words[43]}](https://example.org/{number})"
        block = " ".join(words) + ".\n\n"
        if len(parts) % 4 == 0:
            block = f"## Part {len(parts)} of {number}\n\n{block}"
        if len(parts) % 5 == 2:
            block += "".join(f"- {choose.choice(_WORDS)} [[en:e{n}]]\n" for n in range(4)) + "\n"
        if len(parts) == 6:
            rows = "".join(f"| {n} | {choose.choice(_WORDS)} |\n" for n in range(6))
            block += f"| n | word |\n|---|---|\n{rows}\n"
        parts.append(block)
        size += len(block)
    return "".join(parts)[:BYTES]


def wiki(count: int) -> Iterator[Pin]:
    """Give a genesis and the creates of so many entries."""
    yield next(iter(pins(Made(), 0)))
    for number in range(1, count + 1):
        text = text_of(number, count)
        rev = {
            "v": 1,
            "lang": "en",
            "slug": f"e{number}",
            "title": f"Entry {number}",
            "type": "create",
            "parentRev": None,
            "basedOn": None,
            "content": text,
            "contentRef": None,
            "contentHash": sha256(text.encode()).hexdigest(),
            "claim": {"changeType": "create", "refs": 0},
        }
        yield pin(number, "rev", editor_id(number % FOUNDERS), rev)


def make(path: Path, count: int) -> None:
    """Make a database as a sync does."""
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        with database.write() as connection:
            open_store(connection).pins.write(list(wiki(count)), "bench")
        with indexing(database) as indexer:
            indexer.catch_up()


class Resources(HTMLParser):
    """What of a page blocks it."""

    def __init__(self) -> None:
        super().__init__()
        self.styles = 0
        self.others = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count what loads."""
        given = dict(attrs)
        if tag == "link" and given.get("rel") == "stylesheet":
            self.styles += 1
        elif tag == "style" or (tag == "script" and not {"defer", "async"} & set(given)):
            self.others += 1


def got(port: int, path: str) -> bytes:
    """Ask for a page."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path, headers={"Accept": "text/html"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != 200:
        raise ValueError(f"{path}: {answer.status}")
    return body


def sizes(port: int, key: str) -> list[Figure]:
    """Give how much a first visit loads, without what is written in an entry."""
    page = got(port, f"/agentpedia/entries/{key}")
    content = page[page.index(b"<article") : page.index(b"</article>")]
    style = re.search(rb'href="(/static/refold\.[^"]+)"', page)
    sheet = got(port, style[1].decode()) if style else b""
    home = got(port, "/agentpedia")
    resources = Resources()
    resources.feed(page.decode())
    frame = len(page) - len(content)
    return [
        Figure(
            "web.page_kb", (max(frame, len(home)) + len(sheet)) / 1024, "KB",
            f"{len(home):,} B home, {frame:,} B around an entry, {len(sheet):,} B style", "≤ 60",
        ),
        Figure("web.blocking_resources", resources.others, "files", "beside one style sheet", "0"),
        Figure("web.style_sheets", resources.styles, "files", "", "1"),
    ]  # fmt: skip


def figures(kind: str, one: Load, bare: Load) -> list[Figure]:
    """Give the figures of a kind of page, beside an answer that does nothing."""
    of = f"{bare.rps:,.0f} answers of /health, {one.bytes:,} bytes each"
    return [
        Figure(f"web.entry_{kind}_rps", one.rps, "pages/s", of, GOALS[kind]),
        Figure(f"web.entry_{kind}_cpu_us", one.cpu_us, "CPU µs", f"{bare.cpu_us:.0f} for /health"),
    ]


def main() -> None:
    """Print the figures."""
    given = arguments(__doc__ or "")
    each = QUICK_COLD if given.quick else COLD
    count = each * ROUNDS + HOT
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "wiki.db"
        make(path, count)
        with served(path) as (port, server):
            paths = [f"/agentpedia/entries/{quote(f'en:e{n}')}" for n in range(1, count + 1)]
            hot = [request(path) for path in paths[-HOT:]]
            many = hot * (WARM // HOT)
            warm, bare = load(
                [Target(port, server, many), Target(port, server, [request("/health")] * WARM)]
            )
            rounds = [paths[n * each : (n + 1) * each] for n in range(ROUNDS)]
            cold = [
                load(
                    [Target(port, server, [request(path) for path in some])],
                    rounds=1,
                    warm_up=False,
                )[0]
                for some in rounds
            ]
            middle = sorted(cold, key=lambda one: one.rps)[ROUNDS // 2]
            told = [*figures("warm", warm, bare), *figures("cold", middle, bare)]
            told += sizes(port, "en:e1")
    for figure in told:
        figure.print(as_json=given.json)


if __name__ == "__main__":
    main()
