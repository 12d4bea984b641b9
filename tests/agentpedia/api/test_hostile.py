"""Whatever is asked, the answer is data or a problem with a code; nothing leads elsewhere."""

from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentpedia.api.served import Served, Stored, served
from refold.agentpedia.api.codes import CODES
from refold.db import Database
from refold.serving.codes import SERVING_CODES

V1 = "/v1/agentpedia"
KNOWN = {row.id for row in (*CODES, *SERVING_CODES)}
LISTS = (
    f"{V1}/entries",
    f"{V1}/editors",
    f"{V1}/proposals",
    f"{V1}/param-proposals",
    f"{V1}/constitutions",
    f"{V1}/graveyard",
    f"{V1}/hidden",
    f"{V1}/entries/en:anchor/history",
    f"{V1}/entries/en:anchor/contests",
    f"{V1}/entries/en:anchor/backlinks",
    f"{V1}/entries/en:anchor/challenges",
    f"{V1}/entries/en:anchor/signals",
    f"{V1}/editors/x/revs",
    f"{V1}/search?q=tide",
)
NAMED = (
    f"{V1}/entries/{{}}",
    f"{V1}/entries/{{}}/history",
    f"{V1}/entries/{{}}/graph",
    f"{V1}/entries/{{}}/composition",
    f"{V1}/entries/{{}}/backlinks",
    f"{V1}/entries/{{}}/signals",
    f"{V1}/versions/{{}}",
    f"{V1}/versions/{{}}/text",
    f"{V1}/versions/{{}}/signal",
    f"{V1}/versions/{{}}/reviews",
    f"{V1}/editors/{{}}",
    f"{V1}/editors/{{}}/revs",
    f"{V1}/proposals/{{}}",
    f"{V1}/proposals/{{}}/votes",
    f"{V1}/param-proposals/{{}}",
    f"{V1}/pins/{{}}",
    f"{V1}/diff?before={{}}&after={{}}",
    f"{V1}/search?q={{}}",
    f"{V1}/entries?lang={{}}",
    f"{V1}/graveyard?reason={{}}",
    f"{V1}/proposals?entry={{}}",
    "/api/agentpedia/entry?lang=en&slug={}",
    "/api/agentpedia/entry_list?lang={}",
    "/api/agentpedia/backlinks?lang={}&slug=x",
    "/api/agentpedia/editor?metaid={}",
)
HOSTILE = (
    *("", ".", "..", "../..", "%", "%zz", "%00", "%ff", "%c0%af", "%ed%a0%80", "::eq", "a::eq"),
    *("en:", ":", "::", "en:" + "x" * 600, "x" * 5_000, "'; DROP TABLE agentpedia_entries; --"),
    *("en:%2e%2e%2fetc", "en:a%2Fb", "%F0%9F%8F%B4", "%E2%80%AE", "1e999", "-1", "0x10", "null"),
    *("[]", "{}", "en:tide%20OR%201=1", "%22%22", "*", "tide*", "%25", "\\", "$(id)", "{{7*7}}"),
)


def check(server: Served, path: str) -> None:
    answer = server.get(path)
    assert answer.status_code in {200, 400, 404, 422, 451}, (path, answer.status_code, answer.text)
    if answer.status_code != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] in KNOWN
    assert "location" not in answer.headers


@pytest.mark.parametrize("template", NAMED)
def test_hostile_names(server: Served, template: str) -> None:
    for name in HOSTILE:
        check(server, template.replace("{}", name))


@settings(max_examples=60)
@given(text=st.text(max_size=60), template=st.sampled_from(NAMED))
def test_any_text_as_a_name(demo_server: Served, text: str, template: str) -> None:
    check(
        demo_server, template.replace("{}", quote(text.encode("utf-8", "surrogatepass"), safe=""))
    )


@pytest.fixture(scope="module")
def demo_server(server: Served) -> Served:
    """Give the server to a property, which wants a fixture that is never made anew."""
    return server


@pytest.mark.parametrize("path", LISTS)
def test_hostile_cursors_and_sizes(server: Served, path: str) -> None:
    start = f"{path}{'&' if '?' in path else '?'}"
    for cursor in ("x", "MQ", "a" * 2_048, "a" * 2_049, "%00", "é", "-", "=", "MDAwMDAwMDAw"):
        problem = server.problem(f"{start}cursor={cursor}", 404 if fits(cursor) else 400)
        assert problem["code"] in {"cursor-unknown", "query-value", "query-encoding"}
    for limit in ("0", "-1", "101", "999999999999999999999", "1.0", "x", "", "01", "%31%32a"):
        assert server.problem(f"{start}limit={limit}", 400)["code"] == "query-value"
    assert server.problem(f"{start}limits=3", 400)["code"] == "query-unknown"


def fits(cursor: str) -> bool:
    """Tell whether a text may be a cursor at all."""
    return (
        len(cursor) <= 2_048
        and cursor.replace("-", "x").replace("_", "x").isascii()
        and (cursor.replace("-", "x").isalnum())
    )


def test_a_cursor_is_of_its_list_and_its_filters(server: Served) -> None:
    cursor = server.json(f"{V1}/entries?limit=1")["nextCursor"]
    assert server.get(f"{V1}/entries?limit=5&cursor={cursor}").status_code == 200
    for path in ("entries?sort=title&", "entries?lang=en&", "editors?", "graveyard?"):
        assert server.problem(f"{V1}/{path}cursor={cursor}", 404)["code"] == "cursor-unknown"


def test_nothing_is_redirected_and_only_reading_is_known(server: Served) -> None:
    for path in (
        f"{V1}/entries/",
        f"{V1}//entries",
        f"{V1}/entries/en:anchor/",
        "/api/agentpedia/",
    ):
        assert server.problem(path, 404)["code"] == "route-unknown"
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        answer = server.http.request(method, f"{V1}/entries")
        assert answer.status_code == 405
        assert "location" not in answer.headers
    head = server.http.head(f"{V1}/entries/en:anchor")
    assert (head.status_code, head.content) == (200, b"")


def test_an_entry_is_named_by_language_and_slug(server: Served) -> None:
    for query in ("", "?lang=en", "?slug=tide"):
        assert server.problem(f"{V1}/entry{query}", 400)["code"] == "query-missing"


def test_a_database_in_which_nothing_was_folded_answers(database: Database) -> None:
    with served(database) as server:
        for path in LISTS[:7]:
            assert server.json(path) == {"items": [], "nextCursor": None}
        assert server.json(f"{V1}/search?q=tide")["items"] == []
        status = server.json(f"{V1}/status")
        assert (status["height"], status["digest"], status["lag"]) == (None, None, None)
        assert server.problem(f"{V1}/digest", 404)["code"] == "digest-unknown"
        assert server.problem(f"{V1}/constitution", 404)["code"] == "constitution-unknown"
        assert server.json("/api/agentpedia/entry_list") == {
            "total": 0, "items": [], "cursor": "", "sort": "updated",
        }  # fmt: skip
        assert server.json("/api/agentpedia/sync")["events"] == 0
        assert len(server.get(f"{V1}/audit.jsonl").content.splitlines()) == 1


def test_texts_of_strangers_never_are_markup(server: Served, stored: Stored) -> None:
    name = stored.view["entry", "en:anchor"]["displayHead"]
    answer = server.get(f"{V1}/versions/{name}/text")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
