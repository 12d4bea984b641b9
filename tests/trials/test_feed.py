"""The live feed over HTTP: what was stored, a mark, what comes; leaving, late readers, the end."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from refold.serving import events
from refold.trials.api import feed
from refold.trials.api.feed import Hub
from refold.trials.api.reading import shown_messages
from trials.logged import signed
from trials.nodes import Running, problem, running

Event = tuple[str, int, Any]


@pytest.fixture(autouse=True)
def _looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """See sooner that a listener left: nothing else depends on it."""
    monkeypatch.setattr(events, "LOOK_SECONDS", 0.02)


@contextmanager
def listening(node: Running, path: str = "events", **headers: str) -> Iterator[Iterator[Event]]:
    """Listen; give the events as they come: name, id, data."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    with node.http.stream("GET", f"/v1/public/{path}", headers=names) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["access-control-allow-origin"] == "*"
        yield parsed(answer.iter_lines())


def parsed(lines: Iterator[str]) -> Iterator[Event]:
    held: dict[str, str] = {}
    for line in lines:
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            held[name] = value
        elif held:
            yield held["event"], int(held["id"]), json.loads(held["data"])
            held = {}


def test_it_begins_with_the_mark_and_tells_what_comes(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        node.take("before")
        with listening(node) as told:
            assert next(told) == ("stored", 1, {"latest": 1})
            node.take("hello")
            name, id_, data = next(told)
            assert (name, id_) == ("message", 2)
            assert data == node.json("messages/2")


@pytest.mark.parametrize("how", ["header", "query"])
def test_who_comes_back_misses_nothing(tmp_path: Path, how: str) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        for number in range(1, 6):
            node.take(f"post {number}")
        asked: dict[str, str] = {"last_event_id": "2"} if how == "header" else {}
        path = "events" if how == "header" else "events?after=2"
        with listening(node, path, **asked) as told:
            assert [next(told)[:2] for _ in range(4)] == [
                *(("message", number) for number in (3, 4, 5)),
                ("stored", 5),
            ]
            node.take("post 6")
            assert next(told)[:2] == ("message", 6)


def test_a_room_alone(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        node.take("elsewhere")
        node.take("here", room="research")
        with listening(node, "events?after=0&room=research") as told:
            assert [next(told)[:2] for _ in range(2)] == [("message", 2), ("stored", 2)]
            node.take("elsewhere again")
            node.take("here again", room="research")
            assert next(told)[:2] == ("message", 4)


def test_pages_of_stored_messages_and_new_ones_meet_without_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "PAGE", 3)
    with running(tmp_path, counts={"posts.minute": 0}) as node:
        node.admit(1)
        for number in range(10):
            node.take(f"post {number}")
        with listening(node, "events?after=0") as told:
            answers = node.together([signed(f"new {number}") for number in range(12)])
            assert {each.status_code for each in answers} == {201}
            ids: list[int] = []
            while len(ids) < 22:
                name, id_, _ = next(told)
                ids += [id_] if name == "message" else []
            assert ids == list(range(1, 23))


def test_what_another_process_posts_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "LOOK_SECONDS", 0.05)
    with running(tmp_path) as node, running(tmp_path, closed=True) as reader:
        node.admit(1)
        with listening(reader) as told:
            assert next(told)[0] == "stored"
            node.take("hello")
            assert next(told)[:2] == ("message", 1)


def test_listeners_are_bounded_and_make_room_when_they_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_LISTENERS", 1)
    with running(tmp_path) as node:
        with listening(node) as told:
            assert next(told)[0] == "stored"
            assert problem(node.get("events"), 503)["code"] == "busy"
            assert node.http.head("/v1/public/events").status_code == 200
        while True:  # until the server has seen that the first one left
            with node.http.stream("GET", "/v1/public/events") as answer:
                if answer.status_code == 200:
                    break


def test_one_network_leaves_room_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_OF_NETWORK", 1)
    with (
        running(tmp_path, proxies=("127.0.0.1",)) as node,
        listening(node, x_forwarded_for="192.0.2.1") as told,
    ):
        assert next(told)[0] == "stored"
        refused = problem(node.get("events", x_forwarded_for="192.0.2.1"), 503)
        assert "your network" in refused["detail"]
        with listening(node, x_forwarded_for="192.0.2.2") as other:
            assert next(other)[0] == "stored"


def test_silence_has_a_heartbeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.05)
    with running(tmp_path) as node, node.http.stream("GET", "/v1/public/events") as answer:
        lines = answer.iter_lines()
        while next(lines) != ":":
            pass


def test_the_end_of_the_server_is_the_end_of_the_feed(tmp_path: Path) -> None:
    with ExitStack() as after:
        with running(tmp_path) as node:
            client = after.enter_context(httpx2.Client(trust_env=False, timeout=30))
            answer = after.enter_context(client.stream("GET", f"{node.url}/v1/public/events"))
            lines = answer.iter_lines()
            while next(lines) != 'data: {"latest":0}':
                pass
        assert list(lines) == [""], "it ends, and is not cut"


def test_a_listener_that_takes_nothing_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub keeps a bounded number of messages for each."""
    monkeypatch.setattr(feed, "MAX_QUEUED", 3)
    with running(tmp_path) as node:
        node.admit(1)
        database = node.office.database

        async def listen() -> int:
            hub = Hub(database, shown_messages)
            slow, quick = hub.listen(None, None, "a"), hub.listen(None, None, "b")
            await anext(slow)
            await anext(quick)
            for number in range(5):
                await asyncio.to_thread(node.take, f"post {number}")
                hub.tell()
                await anext(quick)
            told = 0
            async for _ in slow:
                told += 1
            await quick.aclose()
            return told

        assert asyncio.run(listen()) <= 4


@pytest.mark.parametrize("given", ["", "x", "-1", "٣", "1" * 400])
def test_any_last_event_id_is_taken(tmp_path: Path, given: str) -> None:
    with running(tmp_path) as node:
        raw = {b"last-event-id": given.encode()}
        with node.http.stream("GET", "/v1/public/events", headers=raw) as answer:
            name, _, _ = next(parsed(answer.iter_lines()))
            assert name == "stored"


@pytest.mark.parametrize("after", ["4", "999999999999999999", "9" * 30])
def test_an_id_that_is_not_there_yet_misses_nothing_that_comes(tmp_path: Path, after: str) -> None:
    """As after a backup was restored: who comes back with a higher id hears what is new."""
    with running(tmp_path) as node:
        node.admit(1)
        node.take("before")
        with listening(node, last_event_id=after) as told:
            assert next(told) == ("stored", 1, {"latest": 1})
            node.take("hello")
            assert next(told)[:2] == ("message", 2)


def test_a_room_that_is_not_there_is_told(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        assert problem(node.get("events?room=attic"), 404)["code"] == "room-unknown"


def test_a_quiet_room_is_found_without_reading_the_loud_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop is not held up by what the listener does not want."""
    monkeypatch.setattr(feed, "PAGE", 2)
    reads: list[int] = []
    with running(tmp_path, counts={"posts.minute": 0}) as node:
        node.admit(1)
        node.take("quiet", room="research")
        for number in range(12):
            node.take(f"loud {number}")
        hub = Hub(node.office.database, shown_messages)
        ask = hub._read

        def counted(*args: Any) -> Any:
            found = ask(*args)
            reads.append(len(found))
            return found

        monkeypatch.setattr(hub, "_read", counted)

        async def listen() -> list[bytes]:
            told = hub.listen(0, "research", "a")
            found = [await anext(told), await anext(told)]
            await told.aclose()
            return found

        message, mark = asyncio.run(listen())
        assert b"quiet" in message
        assert b"event: stored\nid: 13\n" in mark
        assert reads == [1]


def test_listeners_that_come_at_once_are_bounded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_OF_NETWORK", 2)
    with running(tmp_path) as node:

        async def listen() -> list[bytes | None]:
            hub = Hub(node.office.database, shown_messages)
            for _ in range(5):  # the routes ask this before the feed begins
                hub.require_room("a")
            told = [hub.listen(None, None, "a") for _ in range(5)]
            first = [await anext(each, None) for each in told]
            for each in told:
                await each.aclose()
            hub.require_room("a")
            return first

        assert [each is not None for each in asyncio.run(listen())] == [True] * 2 + [False] * 3
