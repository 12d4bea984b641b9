"""Pages of texts that somebody made as large or as deep as he could. Source: issue 11.

Each answers with a page of bounded size, and what does not fit is on the next one.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
import pytest

from agentpedia.api.reading import WIKI, Reader, entry_path, reader_of
from agentpedia.api.served import Stored, store
from agentpedia.wiki import FOUNDERS, NO_WAR, Wiki
from refold.agentpedia.rules import DEPLOYED
from refold.agentpedia.store import tables
from refold.db import Database
from refold.metaid.author import Verdict
from refold.metaid.pin import Pin
from refold.metaid.store import ContentFact, open_store

MAX_PAGE_BYTES = 640 * 1024
"""Twice what the longest Markdown comes to, with links looked up."""
LONG = "# Chapter\n\n" + "a long word " * (5 * 1024 * 1024 // 12)
BACKLINKS = 5_000
TEXTS = {
    "quotes": ">" * 16_000 + " deep",
    "lists": "".join(" " * 2 * n + "- a\n" for n in range(150)),
    "table": "|a" * 2_000 + "\n" + "|-" * 2_000 + "\n" + "|b" * 2_000,
    "links": "[[never]] [[text]] " * 700,
    "ampersands": "&" * 16_384,
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}{% raw %}",
}
TITLE = '"><script>alert(1)</script>{{ 7 * 7 }}'


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Reader, Stored]]:
    """Give pages of such texts, over a file."""
    wiki = Wiki(DEPLOYED, NO_WAR)
    for number, (slug, text) in enumerate(TEXTS.items()):
        wiki.create(FOUNDERS[number % 6], slug, text, title=TITLE, summary=TITLE)
    hashed = sha256(LONG.encode()).hexdigest()
    pin = wiki.create("E1", "text", None, contentHash=hashed)
    wiki.create("E2", "away", None)
    facts = [ContentFact(pin=pin, uri="", expected=hashed, state="verified", sha256=hashed)]
    path = Path(tmp_path_factory.mktemp("hostile")) / "a.db"
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        with database.write() as connection:
            open_store(connection).pins.put_body(LONG.encode())
        pins = [pin_of(wiki, number) for number in range(len(wiki.events))]
        stored = store(database, pins, rules=DEPLOYED, facts=facts)
        many_links(database, "en:text")
        with reader_of(database) as reader:
            yield reader, stored


def pin_of(wiki: Wiki, number: int) -> Pin:
    event = wiki.events[number]
    return Pin(
        id=event.pin,
        path=event.path,
        height=event.height,
        tx_index=event.tx_index,
        sender=event.sender,
        operation="create",
        encryption="0",
        version="1.0",
        content_type="application/json",
        timestamp=2**52,  # what a pin carries is nobody's word
        body=msgspec.json.encode(event.payload),
    )


def many_links(database: Database, key: str) -> None:
    """Let entries that are copies of one link to a key: rows as the indexer writes them."""
    with database.write() as connection:
        one = connection.execute(tables.entries.select()).mappings().first()
        assert one is not None
        rows: list[dict[str, Any]] = [
            dict(one) | {"key": f"en:l{n:05}", "record": 10_000 + n} for n in range(BACKLINKS)
        ]
        connection.execute(tables.entries.insert(), rows)
        links = [{"from_entry": row["key"], "to_key": key, "from_rev": "x"} for row in rows]
        connection.execute(tables.links.insert(), links)


@pytest.mark.parametrize("slug", TEXTS)
def test_a_page_of_any_text_is_a_page_and_bounded(
    hostile: tuple[Reader, Stored], slug: str
) -> None:
    reader, _ = hostile
    text = reader.text(entry_path(f"en:{slug}"))
    assert len(text) < MAX_PAGE_BYTES
    page = reader.page(entry_path(f"en:{slug}"))
    assert page.one("h1").text == TITLE
    assert not page.all("script")
    assert page.one("title").text == TITLE
    is_cut = slug in {"quotes", "lists", "table", "links"}
    assert bool(page.one("main").all("div", "notice")) == is_cut


def test_links_to_nothing_are_marked_and_their_page_says_who_wants_it(
    hostile: tuple[Reader, Stored],
) -> None:
    reader, _ = hostile
    article = reader.main(entry_path("en:links")).one("article")
    shown = {link.text: link for link in article.all("a", "wiki")}
    assert "missing" in shown["never"].classes
    assert "missing" not in shown["text"].classes
    missing = reader.main(shown["never"]["href"], status=404)
    assert entry_path("en:links") in [link["href"] for link in missing.all("a")]


def test_a_text_of_five_megabytes_is_read_in_parts_to_its_end(
    hostile: tuple[Reader, Stored],
) -> None:
    reader, _ = hostile
    path = entry_path("en:text")
    starts = []
    for _ in range(3):
        text = reader.text(path)
        assert len(text) < MAX_PAGE_BYTES
        main = reader.main(path)
        starts.append(len(main.one("article").text))
        path = next(link["href"] for link in main.all("a") if link.get("rel") == "next")
    assert min(starts) > 10_000
    last = reader.main(f"{entry_path('en:text')}?at={len(LONG) - 100}")
    assert not [link for link in last.all("a") if link.get("rel") == "next"]
    reader.main(f"{entry_path('en:text')}?at={len(LONG)}", status=404)


def test_a_text_that_nobody_saw_verified_is_not_shown(hostile: tuple[Reader, Stored]) -> None:
    reader, _ = hostile
    for lang, said in (("en", "Not verified"), ("zh", "未核实")):
        main = reader.main(entry_path("en:away"), lang=lang)
        assert said in main.text
        assert not main.all("article")


VERDICTS: dict[Verdict, str] = {
    "proven": "proven by signature",
    "co-signed": "not proven",
    "signed-key": "not proven",
    "unproven": "not proven: the signatures do not show this editor",
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_what_is_known_of_an_author_is_said(
    hostile: tuple[Reader, Stored], verdict: Verdict
) -> None:
    reader, stored = hostile
    pin = stored.view["entry", "en:markup"]["head"]
    with stored.database.write() as connection:
        open_store(connection).pins.put_authors({pin: verdict})
    said = reader.main(entry_path("en:markup")).all("dl", "facts")[0].text
    assert VERDICTS[verdict] in said
    assert (verdict == "proven") == ("not proven" not in said)


def test_five_thousand_backlinks_come_in_pages(hostile: tuple[Reader, Stored]) -> None:
    reader, _ = hostile
    assert len(reader.text(entry_path("en:text"))) < MAX_PAGE_BYTES
    seen: list[str] = []
    for main in reader.walk(entry_path("en:text", "backlinks") + "?limit=100"):
        found = [link["href"] for link in main.one("ul", "rows").all("a")]
        assert len(found) <= 100
        seen += found
        if len(seen) == 300:
            break
    assert [unquote(href.rpartition(":")[2]) for href in seen] == [f"l{n:05}" for n in range(300)]


def test_feeds_and_pages_bear_any_time_that_a_pin_carries(
    hostile: tuple[Reader, Stored],
) -> None:
    reader, _ = hostile
    for path in (f"{WIKI}/feed", entry_path("en:markup", "feed"), f"{WIKI}/editors/E1/feed"):
        answer = reader.server.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("application/atom+xml")
        assert "<script>" not in answer.text
