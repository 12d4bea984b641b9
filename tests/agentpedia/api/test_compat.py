"""The routes of the existing L2: its shapes as they are known, and none of its faults."""

from typing import Any

from agentpedia.api.served import Served, Stored

API = "/api/agentpedia"
ENTRY = {
    *("entryKey", "head", "status", "disputed", "featured", "history", "backlinks"),
    *("editorBreakdown", "contests", "redirect", "lastReviewedRevId"),
}


def test_shapes_are_those_that_readers_know(server: Served, stored: Stored) -> None:
    entry = server.json(f"{API}/entry?lang=en&slug=anchor")
    assert set(entry) == ENTRY
    assert set(entry["head"]) == {"pin", "author", "height", "content", "contentRef", "title"}
    assert set(entry["history"][0]) == {
        *("pin", "author", "height", "txIndex", "type", "parentRev", "basedOn", "summary"),
    }
    assert set(entry["editorBreakdown"][0]) == {"editor", "revisions"}
    assert set(entry["contests"][0]) == {"pin", "expected", "declared"}
    page = server.json(f"{API}/entry_list?lang=en&sort=featured&limit=2")
    assert set(page) == {"total", "items", "cursor", "sort"}
    assert set(page["items"][0]) == {
        *("lang", "slug", "entryKey", "head", "status", "title", "featured", "updatedAt"),
    }
    links = server.json(f"{API}/backlinks?lang=en&slug=tide")
    assert set(links) == {"entryKey", "backlinks"}
    assert set(links["backlinks"][0]) == {"fromEntry", "fromRev"}
    name = next(iter(stored.fold.state.editors))
    assert set(server.json(f"{API}/editor?metaid={name}")) == {
        *("metaid", "status", "tier", "reputation", "validRevs", "registeredAt", "revoked"),
        *("banned", "recentRevs", "endorsedBy"),
    }
    assert set(server.json(f"{API}/sync")) == {"lastCursor", "applied", "events"}
    assert server.json("/healthz") == server.json(f"{API}/healthz") == {"ok": True}


def test_after_a_revert_the_entry_shows_its_text(server: Served, stored: Stored) -> None:
    view = stored.view
    reverted = [k for k in stored.names() if view["entry", k]["head"].endswith(("::eq", "::rev"))]
    assert reverted
    for key in reverted:
        lang, slug = key.split(":")
        assert server.json(f"{API}/entry?lang={lang}&slug={slug}")["head"]["content"]


def pages(server: Served, query: str) -> list[Any]:
    found: list[Any] = []
    cursor = ""
    while True:
        page = server.json(f"{API}/entry_list?{query}&cursor={cursor}")
        found += page["items"]
        cursor = page["cursor"]
        if not cursor:
            assert page["total"] == len(found)
            return found


def test_the_list_walks_to_its_end_and_past_it(server: Served, stored: Stored) -> None:
    found: list[Any] = []
    for sort in ("updated", "featured"):
        found = pages(server, f"sort={sort}&limit=9")
        assert len({item["entryKey"] for item in found}) == len(found) == len(stored.names())
        new = server.walk(f"/v1/agentpedia/entries?sort={sort}&limit=100")
        assert [item["entryKey"] for item in found] == [item["id"] for item in new]
        assert pages(server, f"sort={sort}&limit=9") == found
    for offset in (len(found), len(found) + 1, 999_999_999):
        page = server.json(f"{API}/entry_list?cursor={offset}")
        assert (page["items"], page["cursor"]) == ([], "")


def test_a_cursor_is_the_next_offset_too(server: Served) -> None:
    """For readers that count by themselves."""
    first = server.json(f"{API}/entry_list?limit=10")
    offset = first["cursor"].partition(".")[0]
    assert offset == "10"
    by_offset = server.json(f"{API}/entry_list?limit=10&cursor={offset}")
    assert (
        by_offset["items"]
        == server.json(f"{API}/entry_list?limit=10&cursor={first['cursor']}")["items"]
    )


def test_a_limit_that_is_none_counts_as_fifty(server: Served) -> None:
    for limit in (0, -1, 201):
        assert len(server.json(f"{API}/entry_list?limit={limit}")["items"]) == 50
    assert len(server.json(f"{API}/entry_list?limit=200")["items"]) > 50


def test_what_is_wrong_is_told_in_both_forms(server: Served) -> None:
    for path, status in (
        ("entry", 400),
        ("entry?lang=en", 400),
        ("entry?slug=x", 400),
        ("entry?lang=en&slug=none_such", 404),
        ("backlinks?lang=en", 400),
        ("editor", 400),
        ("editor?metaid=nobody", 404),
        ("entry_list?cursor=x", 404),
        ("entry_list?cursor=1.x", 404),
    ):
        answer = server.get(f"{API}/{path}")
        assert answer.status_code == status, path
        assert answer.headers["content-type"] == "application/problem+json"
        said = answer.json()
        assert said["error"] == said["detail"]
        assert said["status"] == status
    assert server.get(f"{API}/entry?lang=en&slug=none_such").json()["entryKey"] == "en:none_such"
