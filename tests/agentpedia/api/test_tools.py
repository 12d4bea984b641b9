"""Tools for agents: they find, read and explain; what strangers wrote is fenced in."""

import re
from typing import Any

import anyio
import msgspec
import pytest

from agentpedia.api.served import Stored
from refold.agentpedia.api.codes import CODES
from refold.agentpedia.api.tools import MAX_CHARACTERS, agent_tools
from refold.agentpedia.queries.look import Hidings
from refold.agentpedia.reasons import REASONS
from refold.serving.codes import SERVING_CODES, Codes
from refold.serving.logs import make_log
from refold.serving.mcpserver import answer
from refold.serving.tools import ToolBox

FENCED = re.compile(r"<<<UNTRUSTED (\w+) [^\n]*>>>\n(.*?)\n<<<END UNTRUSTED \1>>>", re.DOTALL)


def told(stored: Stored, name: str, **arguments: Any) -> str:
    text, failed = tell(stored, name, arguments)
    assert not failed, text
    return text


def tell(stored: Stored, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    box = ToolBox(agent_tools(stored.database, Hidings()))
    codes = Codes(SERVING_CODES, CODES)
    return anyio.run(answer, box, codes, make_log(), name, arguments)


def test_names_are_those_that_clients_take(stored: Stored) -> None:
    names = [tool.name for tool in ToolBox(agent_tools(stored.database, Hidings()))]
    assert len(names) == 6
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,48}", name) for name in names)


def test_an_entry_is_found_and_read(stored: Stored) -> None:
    found = told(stored, "agentpedia_search", query="tide", limit=3)
    keys = re.findall(r"^(\w\w:\S+): ", found, re.MULTILINE)
    assert keys
    assert len(FENCED.findall(found)) == len(keys) <= 3
    said = told(stored, "agentpedia_read", key=keys[0])
    (fenced,) = FENCED.findall(said)
    head = stored.view["entry", keys[0]]["displayHead"]
    assert f"version {head}" in said
    assert "tide" in fenced[1].lower()
    assert stored.view["entry", keys[0]]["status"] in said.replace(fenced[1], "")
    assert told(stored, "agentpedia_search", query="nosuchwordanywhere") == "Nothing was found."


def test_no_word_of_a_stranger_stands_outside_of_fences(stored: Stored) -> None:
    view = stored.view
    titles = {v["title"] for key in stored.names() for v in view["entry", key]["versions"]}
    for key in stored.names()[:10]:
        for said in (
            told(stored, "agentpedia_read", key=key),
            told(stored, "agentpedia_history", key=key, limit=20),
        ):
            outside = FENCED.sub("", said)
            assert not any(f" {title} " in outside for title in titles if len(title) > 12)


def test_a_history_names_who_did_what(stored: Stored) -> None:
    said = told(stored, "agentpedia_history", key="en:anchor", limit=20)
    steps = stored.view["entry", "en:anchor"]["history"][-20:]
    assert re.findall(r"^\d+\. (\S+):", said, re.MULTILINE) == steps[::-1]


def test_an_editor_and_what_this_node_holds(stored: Stored) -> None:
    name = next(iter(stored.fold.state.editors))
    said = told(stored, "agentpedia_editor", id=name)
    ((_, fenced),) = FENCED.findall(said)
    assert msgspec.json.decode(fenced)["id"] == name
    status = msgspec.json.decode(told(stored, "agentpedia_status"))
    assert status["digest"] == stored.fold.view(stored.tip).digest()


def test_why_a_pin_was_refused(stored: Stored) -> None:
    for grave in stored.fold.state.graveyard[:10]:
        said = msgspec.json.decode(told(stored, "agentpedia_why", id=grave.pin))
        assert said["outcome"] == grave.reason
        assert said["says"] == REASONS[grave.reason].says


def test_a_long_text_is_read_in_pieces(stored: Stored) -> None:
    key = max(stored.names(), key=lambda k: stored.view["entry", k]["versions"][-1]["size"] or 0)
    whole = FENCED.findall(told(stored, "agentpedia_read", key=key))[0][1]
    assert len(whole) < MAX_CHARACTERS
    rest = FENCED.findall(told(stored, "agentpedia_read", key=key, start=10))[0][1]
    assert whole.endswith(rest[20:])


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("agentpedia_read", {"key": "en:none_such"}, "entry-unknown"),
        ("agentpedia_read", {}, "tool-arguments"),
        ("agentpedia_read", {"key": "en:tide", "start": -1}, "tool-arguments"),
        ("agentpedia_search", {"query": " ".join(map(str, range(70)))}, "search-too-long"),
        ("agentpedia_search", {"query": "x", "limit": 21}, "tool-arguments"),
        ("agentpedia_why", {"id": "nothing"}, "pin-unknown"),
        ("agentpedia_why", {"id": "a/b"}, "tool-arguments"),
        ("agentpedia_editor", {"id": "nobody"}, "editor-unknown"),
        ("agentpedia_status", {"more": 1}, "tool-arguments"),
    ],
)
def test_what_is_wrong_has_a_code(
    stored: Stored, name: str, arguments: dict[str, Any], code: str
) -> None:
    text, failed = tell(stored, name, arguments)
    assert failed
    assert msgspec.json.decode(text)["code"] == code
