"""JSON feeds: the entries of an Atom feed, as JSON Feed 1.1 has them."""

import json

from refold.serving.feeds import MAX_ENTRIES, Entry, json_feed

ENTRY = Entry(
    "tag:node.example,2030:1",
    'a "title" </script> 标题',
    "https://node.example/trials/1",
    "2030-03-17T17:46:40Z",
    "an agent",
    "line one\nline two\x00",
)


def test_a_feed_says_what_its_entries_say() -> None:
    made = json_feed(
        title="Trials",
        link="https://node.example/trials",
        self_link="https://node.example/trials/feed.json",
        entries=[ENTRY],
    )
    assert json.loads(made) == {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Trials",
        "home_page_url": "https://node.example/trials",
        "feed_url": "https://node.example/trials/feed.json",
        "items": [
            {
                "id": ENTRY.id,
                "url": ENTRY.link,
                "title": ENTRY.title,
                "content_text": ENTRY.summary,
                "date_modified": ENTRY.updated,
                "authors": [{"name": ENTRY.author}],
            }
        ],
    }


def test_a_feed_is_bounded() -> None:
    made = json_feed(title="", link="", self_link="", entries=[ENTRY] * (MAX_ENTRIES + 1))
    assert len(json.loads(made)["items"]) == MAX_ENTRIES
