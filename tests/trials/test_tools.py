"""Tools for agents over the protocol: what they say, what they take, and whose words are fenced."""

import base64
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from refold.db import Database
from refold.kernel.keys import public_of, sign
from refold.serving.application import application
from refold.serving.logs import make_log
from refold.serving.mcpserver import mcp_mount
from refold.serving.server import listen, serving, url_of
from refold.trials.api import trials_part
from refold.trials.api.office import Office, open_writing
from refold.trials.demo.playing import play_trials, seed_of
from refold.trials.node import Node
from refold.trials.signing import key_bytes
from trials.nodes import SEED, Time
from trials.solver import solve

NAMES = frozenset(
    f"trials_{name}"
    for name in (
        *("guide", "rooms", "messages", "thread", "admission_start", "admission_answer"),
        *("bytes_to_sign", "post", "home_bytes", "home", "list", "trial", "services", "service"),
        *("blockers", "record"),
    )
)
WRITES = frozenset({"trials_admission_start", "trials_admission_answer", "trials_post"})
TYPES = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
FENCED = re.compile(
    r"<<<UNTRUSTED ([0-9a-f]{32}) [^\n]*>>>\n(.*?)\n<<<END UNTRUSTED \1>>>", re.DOTALL
)
OWN = bytes(range(32))
KEY = public_of(OWN).hex()


class Client:
    """An agent's client of the protocol, as one behind a proxy."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http

    def ask(self, method: str, asker: str = "192.0.2.1", **params: Any) -> Any:
        answer = self._http.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            headers=TYPES | {"x-forwarded-for": asker},
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    def call(self, tool: str, asker: str = "192.0.2.1", **arguments: Any) -> str:
        """Call a tool that must work; give its text."""
        result = self.ask("tools/call", asker, name=f"trials_{tool}", arguments=arguments)
        assert not result.get("isError"), result
        return str(result["content"][0]["text"])

    def told(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.call(tool, **arguments))

    def wrong(self, tool: str, asker: str = "192.0.2.1", **arguments: Any) -> Any:
        """Call a tool that must refuse; give the problem."""
        result = self.ask("tools/call", asker, name=f"trials_{tool}", arguments=arguments)
        assert result["isError"], result
        return json.loads(result["content"][0]["text"])


@pytest.fixture(name="node", scope="module")
def _node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Run a node on which the demo was played."""
    url = f"sqlite:///{tmp_path_factory.mktemp('tools') / 'node.db'}"
    listener, time, log = listen("127.0.0.1", 0), Time(), make_log(io.BytesIO())
    node = Node(url_of(listener))
    with Database.open(url) as database:
        play_trials(database, node, SEED, int(time.unix))
        writing = open_writing(database, node, SEED, clock=lambda: time.unix)
        office = Office(node, database, writing, time.clocks())
        app = application(
            [trials_part(office)],
            log=log,
            origin=node.origin,
            proxies=("127.0.0.1",),
            mcp=mcp_mount(log),
        )
        with (
            serving(app, listener, log) as served,
            httpx2.Client(base_url=served, trust_env=False, timeout=30) as http,
        ):
            yield Client(http)


def test_the_tools_say_which_of_them_write_and_none_takes_a_private_key(node: Client) -> None:
    tools = {tool["name"]: tool for tool in node.ask("tools/list")["tools"]}
    assert set(tools) >= NAMES
    writing = {name for name, tool in tools.items() if not tool["annotations"]["readOnlyHint"]}
    assert writing == WRITES
    for tool in tools.values():
        members = set(tool["inputSchema"]["properties"])
        assert tool["inputSchema"]["additionalProperties"] is False
        assert not [name for name in members if re.search("private|secret|seed|token", name)]
        assert len(tool["description"]) > 20


def test_every_word_of_a_poster_is_fenced(node: Client) -> None:
    for text in (node.call("messages", limit=20), node.call("thread", id=2, limit=20)):
        outside = FENCED.sub("", text)
        assert len(FENCED.findall(text)) == len(re.findall(r"(?m)^message \d+:", text)) > 4
        assert "<<<" not in outside
        for word in ("outcome", "refold-demo", "wren", "curl", "Harbour"):
            assert word not in outside
    assert "refold-demo" in node.call("thread", id=2)


def test_a_thread_is_walked_to_its_end(node: Client) -> None:
    whole = node.call("thread", id=2, limit=20)
    ids = re.findall(r"^message (\d+):", whole, re.MULTILINE)
    walked, after = [], 0
    while True:
        text = node.call("thread", id=2, limit=2, after=after)
        walked += re.findall(r"^message (\d+):", text, re.MULTILINE)
        more = re.findall(r"after=(\d+)$", text)
        if not more:
            break
        after = int(more[0])
    assert walked == ids
    assert len(ids) > 4


def test_the_newest_messages_come_first_and_lead_to_older_ones(node: Client) -> None:
    text = node.call("messages", limit=3)
    ids = list(map(int, re.findall(r"^message (\d+):", text, re.MULTILINE)))
    assert ids == sorted(ids, reverse=True)
    (before,) = re.findall(r"before=(\d+)$", text)
    older = node.call("messages", limit=3, before=int(before), room="research")
    assert max(map(int, re.findall(r"^message (\d+):", older, re.MULTILINE))) < ids[-1]
    assert "There is nothing." in node.call("messages", after=10**6)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("list", {"state": None, "limit": 20}, ("tides.refold-demo.org", "Harbour tools")),
        ("trial", {"id": 2, "limit": 20}, ("error code: 1010", "edge rule 14", "passed")),
        ("services", {"limit": 20}, ("tides.refold-demo.org",)),
        ("services", {"unproven": True}, ("forum.refold-demo.org",)),
        ("service", {"service": "tides.refold-demo.org"}, ("error code: 1010", "curl")),
        ("blockers", {"days": 31}, ("docs_wrong", "python")),
        ("blockers", {"class": "docs_wrong"}, ("docs_wrong",)),
        ("record", {"public_key": public_of(seed_of("wren")).hex()}, ("lockzone-message-v1",)),
    ],
)
def test_indexes_are_told_and_whatever_posters_wrote_is_fenced(
    node: Client, tool: str, arguments: dict[str, Any], words: tuple[str, ...]
) -> None:
    text = node.call(tool, **arguments)
    ((_, fenced),) = FENCED.findall(text)
    assert json.loads(fenced)
    for word in words:
        assert word in fenced
    assert "refold-demo" not in FENCED.sub("", text)


@pytest.mark.parametrize("tool", ["trial", "record"])
def test_runs_of_a_trial_and_records_are_walked_to_their_end(node: Client, tool: str) -> None:
    wren = public_of(seed_of("wren")).hex()
    asked: dict[str, Any] = {"id": 2} if tool == "trial" else {"public_key": wren}

    def ids(limit: int) -> list[int]:
        found, after = [], ["0"]
        while after:
            text = node.call(tool, **asked, limit=limit, after=int(after[0]))
            ((_, fenced),) = FENCED.findall(text)
            told = json.loads(fenced)
            found += [each["id"] for each in (told["runs"] if tool == "trial" else told)]
            after = re.findall(r"^There may be more: after=(\d+)$", text, re.MULTILINE)
        return found

    assert ids(2) == ids(20)
    assert len(ids(20)) > 3


def test_home_is_told_to_whoever_signs_for_it(node: Client) -> None:
    seed = seed_of("finch")
    key = public_of(seed).hex()
    told = node.told("home_bytes", public_key=key)
    signature = sign(seed, told["text"].encode()).hex()
    asked = {"public_key": key, "minute": told["minute"]}
    text = node.call("home", **asked, signature=signature)
    ((_, fenced),) = FENCED.findall(text)
    assert len(json.loads(fenced)["rechecks"]["items"]) >= 1
    wrong = node.wrong("home", **asked, signature=sign(OWN, told["text"].encode()).hex())
    assert wrong["errors"][0]["code"] == "signature_wrong"


def test_documents_and_rooms_are_told(node: Client) -> None:
    assert node.call("guide").startswith("---\nname: cold-trials")
    assert "运营者" in node.call("guide", document="cold-trials", language="zh")
    assert node.call("rooms").split() == ["commons", "research", "workshop"]


def test_an_agent_is_admitted_gets_the_bytes_signs_and_posts(node: Client) -> None:
    post = {"room": "commons", "content": "Hello, 世界.", "public_key": KEY}
    assert node.wrong("bytes_to_sign", **post)["errors"][0]["code"] == "key_unknown"
    challenge = node.told("admission_start")
    answers = {task["task_id"]: solve(task["text"]) for task in challenge["tasks"]}
    proof = sign(OWN, key_bytes(challenge["challenge_id"])).hex()
    admitted = node.told(
        "admission_answer",
        challenge_id=challenge["challenge_id"],
        name="a tool user",
        answers=answers,
        public_key=KEY,
        key_proof=proof,
    )
    assert admitted["admitted"]
    told = node.told("bytes_to_sign", **post)
    signed = base64.b64decode(told["preimage"])
    assert signed.decode() == told["text"]
    accepted = node.told("post", **post, signature=sign(OWN, signed).hex())
    again = node.told("post", **post, signature=sign(OWN, signed).hex())
    assert (again["id"], again["duplicate"]) == (accepted["id"], True)
    other = post | {"content": "Hello again, 世界."}
    signed = base64.b64decode(node.told("bytes_to_sign", **other)["preimage"])
    wrong = node.wrong("post", **other, signature=sign(OWN, signed + b"\n").hex())
    assert wrong["slip"] == "a newline was signed at the end"
    reply = node.told("bytes_to_sign", **post | {"reply_to": accepted["id"]})
    assert f"\n{accepted['id']}\n" in reply["text"]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("post", {"room": "commons", "content": "x", "public_key": KEY}, "tool-arguments"),
        ("bytes_to_sign", {"room": "x", "content": "x", "public_key": "x"}, "tool-arguments"),
        ("post", {"private_key": "00"}, "tool-arguments"),
        ("messages", {"room": "nowhere"}, "room-unknown"),
        ("messages", {"limit": 21}, "tool-arguments"),
        ("thread", {"id": 10**9}, "message-unknown"),
        ("trial", {"id": 1}, "trial-unknown"),
        ("service", {"service": "nowhere.example"}, "service-unknown"),
        ("bytes_to_sign", {"room": "x", "content": "x", "public_key": KEY}, "room_unknown"),
    ],
)
def test_what_is_wrong_is_told_with_its_code(
    node: Client, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert node.wrong(tool, **arguments)["errors"][0]["code"] == code


def test_the_text_for_home_is_that_of_the_protocol(node: Client) -> None:
    told = node.told("home_bytes", public_key=KEY)
    mark, origin, key, minute = told["text"].split("\n")
    assert (mark, key) == ("lockzone-home-v1", KEY)
    assert told["address"].startswith(f"{origin}/v1/home?public_key={KEY}&minute={minute}&")


def test_limits_count_whoever_asks_and_not_all_agents_together(node: Client) -> None:
    for _ in range(60):
        node.call("admission_start", asker="192.0.2.7")
    refused = node.wrong("admission_start", asker="192.0.2.7")
    assert refused["errors"][0]["code"] == "too-many"
    assert node.call("admission_start", asker="192.0.2.8")
