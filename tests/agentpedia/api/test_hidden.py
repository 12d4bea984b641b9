"""What the operator hides is in no answer, says why, and changes no digest."""

from collections.abc import Callable, Iterator
from typing import Any

import anyio
import msgspec
import pytest

from agentpedia.api.served import Served, Stored, demo
from refold.agentpedia.api.tools import agent_tools
from refold.agentpedia.queries.look import Hidings
from refold.agentpedia.store.hidden import MAX_REASON, Kind, SqlHidden
from refold.db import Database
from refold.kernel.errors import InputError
from refold.serving.codes import SERVING_CODES, Codes
from refold.serving.logs import make_log
from refold.serving.mcpserver import answer
from refold.serving.tools import ToolBox

V1 = "/v1/agentpedia"
WHY = "a court of Someland, case 12/345"
NOW = 1_800_000_000


@pytest.fixture(scope="module")
def wiki(demo_url: str, stored: Stored) -> Iterator[tuple[Database, Stored]]:
    """Give the demo wiki in a database that is written as well; nothing stays hidden in it."""
    with Database.open(demo_url, durability="normal") as opened:
        yield opened, stored


def hide(database: Database, kind: Kind, name: str, reason: str = WHY) -> None:
    with database.write() as connection:
        assert SqlHidden(connection).hide(kind, name, reason, NOW)


def unhide(database: Database, kind: Kind, name: str) -> None:
    with database.write() as connection:
        assert SqlHidden(connection).unhide(kind, name)


def a_reverted(stored: Stored) -> Any:
    """Give a version that a revert brought back, where another wrote the text."""
    versions = stored.fold.state.versions
    return next(
        v
        for v in versions.values()
        if v.id.endswith("::eq")
        and versions[v.text_pin].author != v.author
        and stored.fold.state.records[v.record].head == v.id
    )


def all_answers(server: Served, stored: Stored, key: str) -> str:
    """Give everything that is said of an entry, by every route."""
    names = stored.fold.state.records[stored.fold.state.keys[key]].history
    lang, slug = key.split(":")
    title = stored.view["entry", key]["versions"][-1]["title"]
    paths = [
        *(f"{V1}/entries/{key}", f"{V1}/entries/{key}/history?limit=100"),
        *(f"{V1}/entries/{key}/graph", f"{V1}/entries/{key}/composition"),
        *(f"{V1}/entries/{key}/signals", f"{V1}/audit.jsonl", f"{V1}/graveyard.jsonl"),
        *(f"{V1}/entries?sort=title&limit=100&lang={lang}", f"{V1}/graveyard?limit=100"),
        *(f"{V1}/search?q={title}", f"/api/agentpedia/entry?lang={lang}&slug={slug}"),
        "/api/agentpedia/entry_list?limit=200",
        *(f"{V1}/versions/{name}" for name in names),
        *(f"{V1}/versions/{name}/text" for name in names),
        *(f"{V1}/diff?before={names[0]}&after={name}" for name in names),
    ]
    return "\n".join(server.get(path).text for path in paths)


@pytest.mark.parametrize("kind", ["pin", "hash", "editor"])
def test_a_hidden_text_is_in_no_answer(
    wiki: tuple[Database, Stored], server: Served, kind: Kind
) -> None:
    database, stored = wiki
    version = a_reverted(stored)
    key = version.entry_key
    source = stored.fold.state.versions[version.text_pin]
    payload = next(e.payload for e in demo().events if e.pin == version.text_pin)
    text = str(payload["content"])
    name = {"pin": source.id, "hash": version.content_hash, "editor": source.author}[kind]
    sentence = msgspec.json.encode(text).decode()[1:-1]  # as it stands in an answer
    audit, digest = server.get(f"{V1}/audit.jsonl").text, server.json(f"{V1}/digest")
    etag = server.get(f"{V1}/entries?lang=en").headers["etag"]
    assert sentence in all_answers(server, stored, key)
    hide(database, kind, name)
    try:
        said = all_answers(server, stored, key)
        assert sentence not in said
        steps = server.walk(f"{V1}/entries/{key}/history?limit=100")
        concealed = [step for step in steps if step["version"] and step["version"]["withheld"]]
        assert version.id in [step["id"] for step in concealed]
        assert all(step["summary"] is None for step in concealed)
        entry = server.json(f"{V1}/entries/{key}")
        assert entry["displayHead"] == version.id
        assert (entry["version"]["text"], entry["version"]["title"]) == (None, None)
        assert "withheld" in entry["warnings"]
        why = {"kind": kind, "name": name, "reason": WHY, "since": "2027-01-15T08:00:00Z"}
        assert entry["version"]["withheld"] == why
        listed = server.walk(f"{V1}/entries?limit=50")
        assert next(item["title"] for item in listed if item["id"] == key) is None
        problem = server.problem(f"{V1}/versions/{version.id}/text", 451)
        assert (problem["code"], problem["detail"]) == ("text-withheld", WHY)
        lang, slug = key.split(":")
        old = server.json(f"/api/agentpedia/entry?lang={lang}&slug={slug}")
        assert (old["head"]["content"], old["withheld"]) == (None, why)
        assert server.walk(f"{V1}/hidden?limit=1") == [{"id": f"{kind}:{name}", **why}]
        assert server.json(f"{V1}/status")["hidden"] == 1
        assert server.json(f"{V1}/digest") == digest
        assert server.get(f"{V1}/entries?lang=en", if_none_match=etag).status_code == 200
        assert WHY in server.get(f"{V1}/audit.jsonl").text
        told = anyio.run(told_by_tool, database, "agentpedia_read", {"key": key})
        assert text not in told
        assert WHY in told
    finally:
        unhide(database, kind, name)
    assert server.get(f"{V1}/audit.jsonl").text == audit
    assert sentence in all_answers(server, stored, key)


async def told_by_tool(database: Database, name: str, arguments: dict[str, Any]) -> str:
    """Give what a tool says."""
    box = ToolBox(agent_tools(database, Hidings()))
    text, failed = await answer(box, Codes(SERVING_CODES), make_log(), name, arguments)
    assert not failed, text
    return text


def test_the_titles_of_refused_pins_are_hidden_too(
    wiki: tuple[Database, Stored], server: Served
) -> None:
    database, stored = wiki
    grave = next(g for g in stored.fold.state.graveyard if g.title)
    sender = next(e.sender for e in demo().events if e.pin == grave.pin)
    for kind, name in (("pin", grave.pin), ("editor", sender)):
        hide(database, kind, name)  # type: ignore[arg-type]  # of a tuple
        try:
            (item,) = [g for g in server.walk(f"{V1}/graveyard?limit=90") if g["id"] == grave.pin]
            assert (item["title"], item["withheld"]["kind"]) == (None, kind)
            lines = server.get(f"{V1}/graveyard.jsonl").text + server.get(f"{V1}/audit.jsonl").text
            here = [line for line in lines.splitlines() if grave.pin in line]
            assert not any(f'"title":"{grave.title}"' in line for line in here)
        finally:
            unhide(database, kind, name)  # type: ignore[arg-type]  # of a tuple


Step = Callable[[SqlHidden], object]


def test_what_is_hidden_is_a_set_with_reasons(database: Database) -> None:
    pin, text = f"{'ab' * 32}i0", "cd" * 32
    with database.write() as connection:
        hidden = SqlHidden(connection)
        assert hidden.hide("hash", text, " one ", NOW)
        assert hidden.hide("pin", pin, "two", NOW + 1)
        assert not hidden.hide("hash", text, "three", NOW + 2)
        assert not hidden.unhide("editor", pin)
        rows = [(row.kind, row.name, row.reason, row.since) for row in hidden.page(10)]
        assert rows == [("hash", text, "three", NOW), ("pin", pin, "two", NOW + 1)]
        assert hidden.page(1, ("hash", text)) == hidden.page(10)[1:]
        assert (hidden.count(), hidden.changes()) == (2, 3)
        assert hidden.unhide("hash", text)
        assert (hidden.count(), hidden.changes()) == (1, 4)
        everything = hidden.all()
    assert everything.of([f"{pin}::eq"]) is not None
    assert everything.of(["other"], text, ["E1"]) is None


@pytest.mark.parametrize(
    ("kind", "name", "reason", "code"),
    [
        ("pin", "x", "why", "hidden-name"),
        ("pin", f"{'AB' * 32}i0", "why", "hidden-name"),
        ("hash", "cd" * 31, "why", "hidden-name"),
        ("editor", "", "why", "hidden-name"),
        ("editor", "two words", "why", "hidden-name"),
        ("hash", "cd" * 32, "  ", "hidden-reason"),
        ("hash", "cd" * 32, "x" * (MAX_REASON + 1), "hidden-reason"),
    ],
)
def test_what_cannot_be_hidden(
    database: Database, kind: Kind, name: str, reason: str, code: str
) -> None:
    with database.write() as connection, pytest.raises(InputError) as caught:
        SqlHidden(connection).hide(kind, name, reason, NOW)
    assert caught.value.code == code


def test_a_title_before_a_redirect_is_hidden_in_lists(
    wiki: tuple[Database, Stored], server: Served
) -> None:
    """The list shows the title of the last version when the head is a redirect."""
    database, stored = wiki
    view, versions = stored.view, stored.fold.state.versions
    key = next(k for k in stored.names() if view["entry", k]["displayHead"] not in versions)
    last = view["entry", key]["versions"][-1]
    path = f"{V1}/entries?limit=100&lang={key[:2]}&sort=title"
    assert {item["id"]: item["title"] for item in server.walk(path)}[key] == last["title"]
    pin = last["id"].partition("::")[0]
    hide(database, "pin", pin)
    try:
        assert {item["id"]: item["title"] for item in server.walk(path)}[key] is None
    finally:
        unhide(database, "pin", pin)
