"""Feeds, sitemap and the rest that browsers and crawlers ask for. Source: issue 11."""

from collections.abc import Iterator
from urllib.parse import quote
from xml.etree.ElementTree import Element, fromstring

import pytest

from agentpedia.api.reading import WIKI, Reader, entry_path, reader_of
from agentpedia.api.served import ORIGIN, Stored
from refold.db import Database
from serving.htmltree import page_of

ATOM = {"a": "http://www.w3.org/2005/Atom"}
MAPS = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}


@pytest.fixture(scope="module")
def reader(demo_url: str, stored: Stored) -> Iterator[Reader]:
    assert stored.tip
    with Database.open(demo_url, readonly=True) as opened, reader_of(opened) as found:
        yield found


def xml(reader: Reader, path: str) -> Element:
    answer = reader.server.get(path)
    assert answer.status_code == 200, answer.text
    return fromstring(answer.content)  # noqa: S314 (our own)


def links_of(feed: Element) -> list[str]:
    found = feed.findall("a:entry/a:link", ATOM)
    return [link.attrib["href"].removeprefix(ORIGIN) for link in found]


def test_the_feed_of_an_entry_has_its_versions_the_newest_first(
    reader: Reader, stored: Stored
) -> None:
    feed = xml(reader, entry_path("en:tide", "feed"))
    versions = [one["id"] for one in stored.view["entry", "en:tide"]["versions"]]
    assert links_of(feed) == [f"{WIKI}/versions/{name}" for name in reversed(versions)][:50]
    ids = [one.text for one in feed.findall("a:entry/a:id", ATOM)]
    assert len(set(ids)) == len(ids)
    times = [one.text or "" for one in feed.findall("a:entry/a:updated", ATOM)]
    assert times == sorted(times, reverse=True)
    assert feed.findtext("a:updated", None, ATOM) == times[0]


def test_the_feed_of_an_editor_has_his_versions_only(reader: Reader, stored: Stored) -> None:
    author = stored.view["entry", "en:tide"]["versions"][-1]["author"]
    feed = xml(reader, f"{WIKI}/editors/{quote(author)}/feed")
    assert {one.text for one in feed.findall("a:entry/a:author/a:name", ATOM)} == {author}


def test_the_feed_of_all_has_the_entries_that_changed_last(reader: Reader) -> None:
    items = reader.server.json(f"/v1{WIKI}/entries?limit=50")["items"]
    titles = [
        one.text or "" for one in xml(reader, f"{WIKI}/feed").findall("a:entry/a:title", ATOM)
    ]
    assert len(titles) > 40
    assert all(any(item["id"] in title for item in items) for title in titles)


def test_pages_name_their_feeds_and_what_they_are_called_by_others(reader: Reader) -> None:
    path = entry_path("zh:潮汐")
    page = page_of(reader.text(f"{path}?lang=zh"))
    links = {
        (link.get("rel"), link.get("type") or link.get("hreflang")): link
        for link in page.all("link")
    }
    feed = links["alternate", "application/atom+xml"]["href"].partition("?")[0]
    assert feed == f"{path}/feed"
    assert links["canonical", ""]["href"] == ORIGIN + path
    assert links["alternate", "en"]["href"] == f"{ORIGIN}{path}?lang=en"
    about = {
        meta.get("property"): meta["content"] for meta in page.all("meta") if meta.get("property")
    }
    assert about["og:title"] == page.one("title").text
    assert about["og:type"] == "article"
    assert len(about["og:description"]) > 50
    assert "<" not in about["og:description"]


def test_crawlers_find_every_entry_and_are_kept_from_what_has_no_end(
    reader: Reader, stored: Stored
) -> None:
    robots = reader.server.get("/robots.txt").text
    index = f"{ORIGIN}/sitemap.xml"
    assert f"Sitemap: {index}" in robots
    assert "Disallow: /v1/" in robots
    (sitemap,) = [
        one.text or "" for one in xml(reader, "/sitemap.xml").findall("s:sitemap/s:loc", MAPS)
    ]
    listed = [
        one.text for one in xml(reader, sitemap.removeprefix(ORIGIN)).findall("s:url/s:loc", MAPS)
    ]
    keys = [key for section, key in stored.view if section == "entry"]
    assert {ORIGIN + entry_path(key) for key in keys} <= set(listed)
    for path in (
        f"{WIKI}/search?q=tide",
        f"{WIKI}/versions/{stored.view['entry', 'en:tide']['head']}",
    ):
        assert '<meta name="robots" content="noindex">' in reader.text(path)


def test_the_mark_is_there_under_the_name_that_browsers_guess(reader: Reader) -> None:
    answer = reader.server.get("/favicon.ico")
    assert answer.headers["content-type"] == "image/svg+xml"
