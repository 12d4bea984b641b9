"""Admission over HTTP: solved by Python and by a shell, idempotent, burnt, bounded."""

import hashlib
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2

from refold.kernel.keys import public_of, sign
from refold.trials.admission import CHALLENGE_SECONDS
from refold.trials.signing import key_bytes
from refold.trials.store.keys import Keys
from refold.trials.store.moderating import Moderation
from trials.logged import NOON, key_of, seed_of
from trials.nodes import ORIGIN, Running, codes, problem, running
from trials.solver import solve


def start(node: Running) -> dict[str, Any]:
    answer = node.http.post("/v1/admission/start")
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, Any] = answer.json()
    return found


def body(challenge: dict[str, Any], who: int = 1, **other: Any) -> dict[str, Any]:
    """Give the right answer to a challenge."""
    id_ = challenge["challenge_id"]
    return {
        "challenge_id": id_,
        "name": f"agent {who}",
        "answers": [
            {"task_id": task["task_id"], "result": solve(task["text"])}
            for task in challenge["tasks"]
        ],
        "public_key": public_of(seed_of(who)).hex(),
        "key_proof": sign(seed_of(who), key_bytes(id_)).hex(),
    } | other


def answer(node: Running, given: dict[str, Any]) -> httpx2.Response:
    return node.http.post("/v1/admission/answer", json=given)


def wrong(given: dict[str, Any]) -> dict[str, Any]:
    first, *rest = given["answers"]
    return given | {"answers": [{**first, "result": "no"}, *rest]}


def test_a_key_is_admitted_once_and_may_post(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        assert codes(node.say("hello")) == ["key_unknown"]
        given = body(start(node))
        first = answer(node, given)
        assert first.status_code == 200, first.text
        assert first.json() == {
            "admitted": True,
            "public_key": key_of(1),
            "name": "agent 1",
            "admittedAt": "2030-03-17T17:46:40Z",
        }
        assert answer(node, given).json() == first.json(), "the same answer, the same result"
        assert codes(answer(node, wrong(given))) == ["challenge_burnt"]
        node.time.pass_(60)
        again = answer(node, body(start(node), name="another name"))
        assert again.json() == first.json(), "once, for good"
        assert node.say("hello").status_code == 201


def test_a_wrong_result_burns_the_challenge(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        given = body(start(node))
        refused = answer(node, wrong(given))
        assert codes(refused) == ["answers_wrong"]
        assert "t1" in problem(refused)["detail"]
        assert answer(node, wrong(given)).json() == refused.json(), "the same answer again"
        assert codes(answer(node, given)) == ["challenge_burnt"]
        assert codes(node.say("hello")) == ["key_unknown"]
        assert answer(node, body(start(node))).status_code == 200


def test_what_is_wrong_with_the_form_burns_nothing_and_is_said_at_once(tmp_path: Path) -> None:
    with running(tmp_path, bits=4) as node:
        challenge = start(node)
        id_ = challenge["challenge_id"]
        refused = answer(
            node,
            body(challenge, name="a\u200b", answers=[], key_proof="00" * 64),
        )
        found = problem(refused)
        assert [each["code"] for each in found["errors"]] == [
            *("name_form", "answers_form", "work_missing", "signature_wrong"),
        ]
        assert found["errors"][0]["field"] == "name"
        assert found["sha256"] == hashlib.sha256(key_bytes(id_)).hexdigest()
        assert challenge["proof_of_work"]["bits"] == 4
        nonce = next(
            str(number)
            for number in range(10_000)
            if hashlib.sha256(f"{id_}\n{number}".encode()).digest()[0] < 16
        )
        assert answer(node, body(challenge, proof_of_work=nonce)).status_code == 200


def test_challenges_of_others_and_old_ones_are_refused(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        given = body(start(node))
        other = given | {"challenge_id": given["challenge_id"].replace("node.test", "evil.test")}
        assert codes(answer(node, other)) == ["challenge_elsewhere"]
        (told,) = problem(answer(node, given | {"challenge_id": "x"}))["errors"]
        assert (told["code"], told["field"]) == ("challenge_unknown", "challenge_id")
        assert node.http.get(told["docs"].removeprefix(ORIGIN)).status_code == 200
        node.time.pass_(CHALLENGE_SECONDS)
        assert codes(answer(node, given)) == ["challenge_expired"]


def test_starting_keeps_nothing_and_old_answers_are_dropped(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        for _ in range(3):
            assert answer(node, wrong(body(start(node)))).status_code == 422
        node.time.pass_(CHALLENGE_SECONDS)
        last = start(node)
        assert answer(node, body(last)).status_code == 200
        with node.database.read() as connection:
            kept = connection.exec_driver_sql("SELECT id FROM trials_challenges").scalars().all()
        assert kept == [last["challenge_id"]]


def test_of_many_answers_at_once_to_one_challenge_one_counts(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        challenge = start(node)
        given = [body(challenge, who) for who in range(1, 9)]
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda each: answer(node, each), given))
        taken = [each for each in answers if each.status_code == 200]
        assert len(taken) == 1
        assert {code for each in answers if each not in taken for code in codes(each)} == {
            "challenge_burnt"
        }
        with node.database.read() as connection:
            states = [Keys(connection).state(key_of(who)).admitted for who in range(1, 9)]
        assert sum(states) == 1


def test_keys_that_ended_are_not_admitted_again(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        node.take("revoke-v1", who=1)
        with node.database.write() as connection:
            Moderation(connection).block(key_of(2), "floods the rooms", NOON)
        assert codes(answer(node, body(start(node), 1))) == ["key_revoked"]
        assert codes(answer(node, body(start(node), 2))) == ["key_blocked"]


def test_limits_are_of_networks_and_name_themselves(tmp_path: Path) -> None:
    counts = {"challenges.ten_minutes": 2, "answers.ten_minutes": 1}
    with running(tmp_path, counts=counts) as node:
        challenge = start(node)
        start(node)
        refused = node.http.post("/v1/admission/start")
        found = problem(refused, 429)
        assert found["code"] == "too-many"
        assert found["limit"] == {
            "id": "challenges.ten_minutes",
            "count": 2,
            "seconds": 600,
            "per": "network",
        }
        assert refused.headers["retry-after"] == str(found["retryAfter"]) == "300"
        assert answer(node, body(challenge)).status_code == 200
        assert problem(answer(node, body(challenge)), 429)["limit"]["id"] == "answers.ten_minutes"
        node.time.pass_(300)
        start(node)


def test_without_its_key_a_node_only_reads(tmp_path: Path) -> None:
    with running(tmp_path):
        pass
    with running(tmp_path, closed=True) as node:
        given = {"room": "a", "content": "b", "public_key": "c", "signature": "d"}
        for answer_ in (
            node.http.post("/v1/admission/start"),
            node.http.post("/v1/messages", json=given),
        ):
            assert problem(answer_, 503)["code"] == "trials-closed"
        assert node.json("messages") == {"items": [], "next_cursor": None}


SHELL = """
set -eu
words=$(printf '%s\\n' "$TEXT" | tail -n 1)
joined=$(printf '%s\\n' $words | LC_ALL=C sort | paste -sd, -)
printf '%s' "$joined" | sha256sum | cut -c1-12
"""


def test_a_shell_is_enough_for_a_task(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        found: list[dict[str, str]] = []
        challenge: dict[str, Any] = {}
        while not found:
            challenge = start(node)
            found = [each for each in challenge["tasks"] if each["kind"] == "sorted_hash"]
        (task,) = found
        done = subprocess.run(
            ["sh", "-c", SHELL],
            env={"TEXT": task["text"], "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        given = body(challenge)
        for each in given["answers"]:
            if each["task_id"] == task["task_id"]:
                each["result"] = done.stdout.strip()
        assert answer(node, given).status_code == 200
