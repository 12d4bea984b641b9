"""Feeds: Atom (RFC 4287) and JSON Feed 1.1, of the same entries.

In Atom everything is escaped, and what XML cannot hold is replaced.
"""

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec

from refold.serving.answers import json_bytes

__all__ = ["ATOM_TYPE", "JSON_FEED_TYPE", "MAX_ENTRIES", "Entry", "atom", "json_feed"]

ATOM_TYPE = "application/atom+xml; charset=utf-8"
JSON_FEED_TYPE = "application/feed+json"
MAX_ENTRIES = 50
"""Entries of a feed: readers ask again before more happens."""
_NS = "http://www.w3.org/2005/Atom"
# XML 1.0 §2.2: what no document may hold, not even escaped.
_UNFIT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Entry(msgspec.Struct, frozen=True):
    """One entry. `id` is a URI that never changes, `updated` RFC 3339, `summary` plain text."""

    id: str
    title: str
    link: str
    updated: str
    author: str
    summary: str = ""


def atom(
    *, id_: str, title: str, link: str, self_link: str, updated: str, entries: Iterable[Entry]
) -> bytes:
    """Give a feed; links are absolute, `updated` is that of the newest entry or of the feed."""
    feed = Element("feed", xmlns=_NS)
    _text(feed, "id", id_)
    _text(feed, "title", title)
    _text(feed, "updated", updated)
    SubElement(feed, "link", rel="alternate", href=_fit(link))
    SubElement(feed, "link", rel="self", href=_fit(self_link), type="application/atom+xml")
    for entry in list(entries)[:MAX_ENTRIES]:
        element = SubElement(feed, "entry")
        _text(element, "id", entry.id)
        _text(element, "title", entry.title)
        _text(element, "updated", entry.updated)
        SubElement(element, "link", rel="alternate", href=_fit(entry.link))
        _text(SubElement(element, "author"), "name", entry.author)
        if entry.summary:
            _text(element, "summary", entry.summary)
    return bytes(tostring(feed, encoding="utf-8", xml_declaration=True))


def json_feed(*, title: str, link: str, self_link: str, entries: Iterable[Entry]) -> bytes:
    """Give a feed as JSON; links are absolute."""
    return json_bytes(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": title,
            "home_page_url": link,
            "feed_url": self_link,
            "items": [
                {
                    "id": entry.id,
                    "url": entry.link,
                    "title": entry.title,
                    "content_text": entry.summary,
                    "date_modified": entry.updated,
                    "authors": [{"name": entry.author}],
                }
                for entry in list(entries)[:MAX_ENTRIES]
            ],
        }
    )


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = _fit(text)


def _fit(text: str) -> str:
    return _UNFIT.sub("\ufffd", text)
