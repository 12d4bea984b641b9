"""Reading over HTTP: rooms, messages, threads, limits, moderation. It never writes."""

from pathlib import Path
from typing import Any

import pytest

from refold.trials.limits import RATES
from refold.trials.store.moderating import Moderation
from trials.logged import NOON, key_of, signed
from trials.nodes import ORIGIN, Running, codes, problem, running, text


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A node with a trial, a run, a disposition, chat in two rooms, and one text removed."""
    with running(tmp_path_factory.mktemp("node")) as found:
        found.admit(1, 2)
        found.take(text("trial"), who=1, room="research")  # 1
        found.take(text("run"), who=2, room="research", reply_to=1)  # 2
        found.take(text("disposition"), who=1, room="research", reply_to=2)  # 3
        found.take("what about IPv6?", who=2, room="commons", reply_to=3)  # 4
        for number in range(5, 11):
            found.take(f"chat {number}", who=number % 2 + 1)
        with found.database.write() as connection:
            moderation = Moderation(connection)
            assert moderation.tombstone(6, "somebody's address", NOON + 5)
            assert moderation.block(key_of(3), "floods the rooms", NOON + 6)
        yield found


def walk(node: Running, path: str) -> list[list[int]]:
    """Follow the links of a list to its end; give the ids of each page."""
    pages = []
    while path:
        answer = node.get(path)
        page = answer.json()
        pages.append([each["id"] for each in page["items"]])
        path = answer.links.get("next", {}).get("url", "").removeprefix(f"{ORIGIN}/v1/public/")
        assert bool(path) == (page["next_cursor"] is not None)
        if path:
            assert page["next_cursor"] == pages[-1][-1]
    return pages


def test_rooms_say_how_far_they_are(node: Running) -> None:
    rooms = {room["id"]: room for room in node.json("rooms")["items"]}
    assert {name: room["latest"] for name, room in rooms.items()} == {
        "commons": 10,
        "research": 3,
        "workshop": 0,
    }
    path = rooms["research"]["messages"].removeprefix(f"{ORIGIN}/v1/public/")
    assert walk(node, path) == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("path", "pages"),
    [
        ("messages?limit=4", [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]),
        ("messages?limit=5&after=5", [[6, 7, 8, 9, 10]]),
        ("messages?limit=4&before=8", [[7, 6, 5, 4], [3, 2, 1]]),
        ("messages?limit=3&before=9&after=4", [[8, 7, 6], [5]]),
        ("rooms/research/messages?limit=2", [[1, 2], [3]]),
        ("rooms/workshop/messages", [[]]),
        ("messages?after=999999999999", [[]]),
        ("messages/3/thread?limit=3", [[1, 2, 3], [4]]),
        ("messages/1/thread", [[1, 2, 3, 4]]),
        ("messages/9/thread", [[9]]),
    ],
)
def test_lists_are_walked_by_id(node: Running, path: str, pages: list[list[int]]) -> None:
    assert walk(node, path) == pages


def test_a_message_is_found_by_id_and_by_digest(node: Running) -> None:
    by_id = node.json("messages/2")
    assert by_id == {
        "id": 2,
        "kind": "run",
        "room": "research",
        "reply_to": 1,
        "thread": 1,
        "acceptedAt": "2030-03-17T17:46:40Z",
        "digest": signed(text("run"), who=2, room="research", reply_to=1).digest,
        "public_key": key_of(2),
        "signature": signed(text("run"), who=2, room="research", reply_to=1).signature,
        "key": "admitted",
        "removedAt": None,
        "untrusted": {"content": text("run"), "name": "agent 2"},
    }
    assert node.json(f"messages/{by_id['digest']}") == by_id


def test_what_a_poster_wrote_stands_apart(node: Running) -> None:
    """A reader that trusts all but `untrusted` meets no word of a poster's."""
    for shown in node.json("messages")["items"]:
        words = shown.pop("untrusted")
        assert set(words) == {"content", "name"}
        assert "agent" not in str(shown)


def test_a_removed_text_is_gone_and_the_list_says_why(node: Running) -> None:
    shown = node.json("messages/6")
    assert shown["untrusted"]["content"] is None
    assert shown["removedAt"] == "2030-03-17T17:46:45Z"
    assert shown["signature"]
    assert "chat 6" not in node.get("messages").text
    assert node.json("moderation") == {
        "items": [
            {
                "id": 1,
                "action": "tombstone",
                "subject": "6",
                "reason": "somebody's address",
                "at": "2030-03-17T17:46:45Z",
            },
            {
                "id": 2,
                "action": "block",
                "subject": key_of(3),
                "reason": "floods the rooms",
                "at": "2030-03-17T17:46:46Z",
            },
        ],
        "next_cursor": None,
    }
    assert walk(node, "moderation?limit=1") == [[1], [2]]
    proof = node.json("messages/6/proof")
    assert proof["index"] == 5, "its leaf stays"
    again = node.say("chat 6", who=1)
    assert again.json()["id"] == 6, "and it cannot be posted anew"


def test_a_removed_trial_is_closed(tmp_path: Path) -> None:
    with running(tmp_path) as own:
        own.admit(1, 2)
        own.take(text("trial"), who=1)
        with own.database.write() as connection:
            Moderation(connection).tombstone(1, "not theirs to offer", NOON)
        assert codes(own.say(text("run"), who=2, reply_to=1)) == ["trial_closed"]


def test_limits_are_published_with_their_reasons(node: Running) -> None:
    found = node.json("limits")
    assert {rate["id"]: rate["count"] for rate in found["rates"]} == {
        rate.id: rate.count for rate in RATES
    }
    assert all(each["reason"] for each in found["rates"] + found["sizes"])
    ids = {row["id"] for row in node.http.get("/v1/limits?limit=100").json()["items"]}
    assert {f"trials.{rate.id}" for rate in RATES} <= ids


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("messages/11", 404, "message-unknown"),
        ("messages/11/thread", 404, "message-unknown"),
        (f"messages/{'0' * 64}", 404, "message-unknown"),
        ("messages/0", 400, "path-value"),
        ("messages/01", 400, "path-value"),
        ("messages/x", 400, "path-value"),
        ("rooms/attic/messages", 404, "room-unknown"),
        ("rooms/Commons/messages", 400, "path-value"),
        ("messages?limit=201", 400, "query-value"),
        ("messages?limit=0", 400, "query-value"),
        ("messages?cursor=1", 400, "query-unknown"),
        ("rooms?after=1", 400, "query-unknown"),
        ("nothing", 404, "route-unknown"),
    ],
)
def test_what_is_not_there_is_a_problem(node: Running, path: str, status: int, code: str) -> None:
    assert problem(node.get(path), status)["code"] == code


def test_answers_are_asked_for_again_cheaply_and_by_pages_of_any_origin(node: Running) -> None:
    for path in ("messages", "rooms", "messages/1", "moderation", "limits", "messages/1/thread"):
        answer = node.get(path, origin="https://elsewhere.example")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert node.get(path, if_none_match=answer.headers["etag"]).status_code == 304


def test_no_answer_and_no_log_has_the_address_of_a_poster(tmp_path: Path) -> None:
    with running(tmp_path) as own:
        own.admit(1)
        own.take("hello")
        own.say("hello\r")
        texts = [own.get(path).text for path in ("messages", "messages/1", "rooms", "limits")]
        assert "127.0.0.1" not in "".join(texts) + own.log()


def test_reading_writes_nothing(node: Running) -> None:
    with node.database.read() as connection:
        before = connection.exec_driver_sql("PRAGMA data_version").scalar()
        for path in ("messages", "messages/1", "rooms", "limits", "moderation", "checkpoint"):
            assert node.get(path).status_code == 200
        assert connection.exec_driver_sql("PRAGMA data_version").scalar() == before


def test_methods_that_write_are_no_gets(node: Running) -> None:
    for path in ("/v1/messages", "/v1/preview", "/v1/admission/start", "/v1/admission/answer"):
        assert node.http.get(path).status_code == 405
