"""Posting over HTTP: what is kept, what is refused and how that is told, limits, previews."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import msgspec
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from refold.kernel.keys import sign
from refold.trials.posting import MAX_BODY
from refold.trials.signing import message_bytes
from refold.trials.store.moderating import Moderation
from trials.logged import NOON, key_of, seed_of, signed
from trials.nodes import ORIGIN, Running, codes, problem, running, text


def test_a_post_is_kept_and_told_of(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        answer = node.say("你好\nsecond line", room="research")
        assert answer.status_code == 201
        told = answer.json()
        digest = hashlib.sha256(
            bytes.fromhex(key_of(1)) + message_bytes("research", None, "你好\nsecond line")
        ).hexdigest()
        assert told == {
            "id": 1,
            "digest": digest,
            "acceptedAt": "2030-03-17T17:46:40Z",
            "kind": "message",
            "duplicate": False,
            "warnings": [],
            "url": f"{ORIGIN}/v1/public/messages/1",
            "thread": f"{ORIGIN}/v1/public/messages/1/thread",
        }
        kept = node.json("messages/1")
        assert kept["untrusted"] == {"content": "你好\nsecond line", "name": "agent 1"}


def test_the_same_post_again_is_the_first_one(tmp_path: Path) -> None:
    """Before limits and relations: even when the trial is closed, and the key over its limit."""
    with running(tmp_path, counts={"posts.minute": 2}) as node:
        node.admit(1, 2)
        trial = node.take(text("trial"), who=1)
        run = node.take(text("run"), who=2, reply_to=trial)
        node.take("withdraw-v1", who=1, reply_to=trial)
        node.take("a second post of key 2", who=2)
        again = node.say(text("run"), who=2, reply_to=trial)
        assert again.status_code == 200
        assert (again.json()["id"], again.json()["duplicate"]) == (run, True)
        assert problem(node.say("a third", who=2), 429)["code"] == "too-many"
        forged = node.send(signed(text("run"), who=2, reply_to=trial), signature="0" * 128)
        assert forged.json()["id"] == run, "it says nothing that is not public"


def test_a_form_is_as_good_as_json(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        first = signed("a & b = c + d\n%41 é")
        plain = {name: value or "" for name, value in msgspec.to_builtins(first).items()}
        answer = node.http.post("/v1/messages", data=plain)
        assert answer.status_code == 201, answer.text
        reply = signed("yes", reply_to=1)
        kind = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
        sent = urlencode(msgspec.to_builtins(reply)).encode()
        answer = node.http.post("/v1/messages", content=sent, headers=kind)
        assert answer.status_code == 201, answer.text
        assert node.json("messages/2")["reply_to"] == 1


@pytest.mark.parametrize(
    ("form", "code"),
    [
        (b"", "body-form"),
        (b"content=%ff", "body-form"),
        (b"content=%", "body-form"),
        (b"content=a&content=b", "body-form"),
        (b"room=a&content=b&public_key=c&signature=d&extra=e", "body-form"),
        (b"room=a&content=b&public_key=c&signature=d&reply_to=x", "body-form"),
        (b"room=a&content=b&public_key=c&signature=d&reply_to=%D9%A3", "body-form"),
        (b"room=a&content=b&public_key=c&signature=d&reply_to=007", "body-form"),
        (b"room=a&content=%00&public_key=c&signature=d", "body-form"),
    ],
)
def test_a_form_is_read_strictly(tmp_path: Path, form: bytes, code: str) -> None:
    with running(tmp_path) as node:
        kind = {"content-type": "application/x-www-form-urlencoded"}
        answer = node.http.post("/v1/messages", content=form, headers=kind)
        assert problem(answer, 400)["code"] == code


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        content = "run-v1\noutcome: stuck\nruntime:\nsecret: ghp_" + "a" * 36
        answer = node.send(signed(content, who=3), room="attic", reply_to=0)
        found = problem(answer)
        assert [each["code"] for each in found["errors"]] == [
            *("room_unknown", "reply_form", "value_unknown", "field_missing", "field_missing"),
            *("secret", "key_unknown"),
        ]
        first, _, outcome, runtime, _, secret, _ = found["errors"]
        assert (first["field"], first["pointer"]) == ("room", "/room")
        assert (outcome["line"], outcome["field"]) == (2, "outcome")
        assert runtime["field"] == "runtime"
        assert secret["line"] == 4
        for each in found["errors"]:
            assert each["detail"]
            assert each["hint"]
            docs = each["docs"].removeprefix(ORIGIN)
            assert node.http.get(docs).json()["id"] == each["code"]
        assert "aaaa" not in answer.text.replace(key_of(3), "")


@pytest.mark.parametrize(
    ("bytes_of", "slip"),
    [
        (lambda signed_: signed_ + b"\n", "a newline was signed at the end"),
        (lambda signed_: hashlib.sha256(signed_).digest(), "the sha256 of the bytes was signed"),
        (lambda _: b"something else", ""),
    ],
)
def test_a_wrong_signature_is_told_what_to_sign(tmp_path: Path, bytes_of: Any, slip: str) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        right = message_bytes("commons", None, "hello")
        given_ = sign(seed_of(1), bytes_of(right)).hex()
        found = problem(node.send(signed("hello"), signature=given_))
        assert found["code"] == "signature_wrong"
        assert base64.b64decode(found["preimage"]) == right
        assert found["sha256"] == hashlib.sha256(right).hexdigest()
        assert found["slip"].startswith(slip)
        assert bool(found["slip"]) == bool(slip)
        assert node.say("hello").status_code == 201, "what it says is right"


def test_limits_of_a_key_count_what_it_signed_and_was_taken(tmp_path: Path) -> None:
    with running(tmp_path, counts={"posts.minute": 2}) as node:
        node.admit(1, 2)
        for _ in range(4):  # signed by another, or refused: not counted against the key
            node.send(signed("hello"), signature="0" * 128)
            node.say("disposition-v1\nstatus: confirmed", who=1)
        node.take("one")
        node.take("two")
        refused = node.say("three")
        found = problem(refused, 429)
        assert found["limit"] == {"id": "posts.minute", "count": 2, "seconds": 60, "per": "key"}
        assert refused.headers["retry-after"] == "30"
        assert "posts.minute" in found["detail"]
        node.take("key 2 has its own", who=2)
        for _ in range(5):
            node.time.pass_(5)
            assert node.say("three").status_code == 429
        node.time.pass_(5)
        node.take("three")


def test_networks_are_limited_in_what_is_refused_and_admitted_keys_pass(tmp_path: Path) -> None:
    with running(tmp_path, counts={"refused.ten_minutes": 2}) as node:
        node.admit(1)
        assert codes(node.say("hello", who=9)) == ["key_unknown"]
        assert problem(node.send(signed("a"), signature="0" * 128))["code"] == "signature_wrong"
        for message in (signed("hello", who=9), signed("b\r")):
            assert problem(node.send(message), 429)["limit"]["id"] == "refused.ten_minutes"
        node.take("a good post passes")
        node.take("revoke-v1")
        again = node.say("a good post passes")
        assert (again.status_code, again.json()["duplicate"]) == (200, True), "and one kept before"


def test_a_network_is_what_a_trusted_proxy_says(tmp_path: Path) -> None:
    """An address of IPv4, or a /64; what anybody else says of it means nothing."""

    def refused(node: Running, address: str) -> int:
        message = msgspec.to_builtins(signed("hello", who=9))
        headers = {"x-forwarded-for": address}
        return node.http.post("/v1/messages", json=message, headers=headers).status_code

    one_each = {"refused.ten_minutes": 1}
    with running(tmp_path, counts=one_each, proxies=("127.0.0.1",)) as node:
        assert [refused(node, "192.0.2.1") for _ in range(2)] == [422, 429]
        assert refused(node, "192.0.2.2") == 422
        assert refused(node, "192.0.2.99, 192.0.2.2") == 429, "the proxy's own word counts"
        assert refused(node, "2001:db8:1:2::1") == 422
        assert refused(node, "2001:db8:1:2:ffff::9") == 429
        assert refused(node, "2001:db8:1:3::1") == 422
    with running(tmp_path, counts=one_each) as node:
        assert [refused(node, f"192.0.2.{number}") for number in range(2)] == [422, 429]


def test_keys_that_ended_post_no_more_and_their_posts_stand(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1, 2)
        node.take("before", who=1)
        node.take("before", who=2)
        node.take("revoke-v1\nnote: lost", who=1)
        with node.database.write() as connection:
            assert Moderation(connection).block(key_of(2), "floods the rooms", NOON)
        assert codes(node.say("after", who=1)) == ["key_revoked"]
        assert codes(node.say("after", who=2)) == ["key_blocked"]
        shown = [(each["id"], each["key"]) for each in node.json("messages")["items"]]
        assert shown == [(1, "revoked"), (2, "blocked"), (3, "revoked")]
        with node.database.write() as connection:
            assert Moderation(connection).unblock(key_of(2), "promised to behave", NOON)
        node.take("after", who=2)


def test_a_preview_gives_the_bytes_and_keeps_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        plain = msgspec.to_builtins(signed(text("trial")))
        del plain["signature"]
        shown = node.http.post("/v1/preview", json=plain)
        assert shown.status_code == 200, shown.text
        told = shown.json()
        right = message_bytes("commons", None, text("trial"))
        assert base64.b64decode(told["preimage"]) == right == told["text"].encode()
        assert (told["kind"], told["signature"], told["bytes"]) == ("trial", "missing", len(right))
        whole = plain | {"signature": sign(seed_of(1), right).hex()}
        assert node.http.post("/v1/preview", json=whole).json()["signature"] == "fits"
        wrong = node.http.post("/v1/preview", json=plain | {"signature": "0" * 128})
        assert codes(wrong) == ["signature_wrong"]
        assert node.json("messages")["items"] == []
        assert node.send(signed(text("trial"))).json()["digest"] == told["digest"]


def test_a_preview_says_all_that_a_post_would_be_refused_for(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        plain = {"room": "commons", "content": text("run"), "public_key": key_of(5), "reply_to": 7}
        found = problem(node.http.post("/v1/preview", json=plain))
        assert [each["code"] for each in found["errors"]] == ["key_unknown", "reply_unknown"]
        assert base64.b64decode(found["preimage"]) == message_bytes("commons", 7, text("run"))


def test_hosts_of_examples_are_previewed_with_a_warning_and_not_posted(tmp_path: Path) -> None:
    content = text(
        "trial",
        target="https://example.com/start",
        owner_proof="https://example.com/.well-known/lockzone-trials",
    )
    with running(tmp_path) as node:
        node.admit(1)
        shown = node.http.post("/v1/preview", json=msgspec.to_builtins(signed(content)))
        assert shown.status_code == 200, shown.text
        assert [each["code"] for each in shown.json()["warnings"]] == ["host_example"] * 2
        assert codes(node.say(content)) == ["host_example"] * 2


def test_previews_are_limited(tmp_path: Path) -> None:
    with running(tmp_path, counts={"previews.minute": 1}) as node:
        node.admit(1)
        whole = msgspec.to_builtins(signed("hello"))
        assert node.http.post("/v1/preview", json=whole).status_code == 200
        refused = problem(node.http.post("/v1/preview", json=whole), 429)
        assert refused["limit"]["id"] == "previews.minute"


def test_a_post_for_another_node_is_refused(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        assert codes(node.say(text("trial", node="https://other.example"))) == ["wrong_node"]
        node.take(text("trial", node=ORIGIN))


def test_warnings_come_with_what_was_kept(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        answer = node.say(text("review", verdit="works"))
        assert answer.status_code == 201
        (warning,) = answer.json()["warnings"]
        assert (warning["code"], warning["field"]) == ("field_unknown", "verdit")
        assert warning["docs"] == f"{ORIGIN}/v1/errors/field_unknown"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with running(tmp_path_factory.mktemp("node"), counts={"refused.ten_minutes": 0}) as found:
        found.admit(1)
        yield found


TYPES = ("application/json", "application/x-www-form-urlencoded", "text/plain", "")
GOOD = msgspec.json.encode(signed("hello"))
PATHS = ("/v1/messages", "/v1/preview", "/v1/admission/answer", "/v1/admission/start")


def is_told(answer: httpx2.Response) -> bool:
    """Tell whether an answer is a good one, or a problem that is not ours."""
    if answer.status_code < 300:
        return True
    return answer.status_code < 500 and bool(answer.json()["errors"])


@given(
    path=st.sampled_from(PATHS),
    media=st.sampled_from(TYPES),
    sent=st.binary(max_size=300)
    | st.tuples(st.integers(0, len(GOOD)), st.binary(max_size=3)).map(
        lambda cut: GOOD[: cut[0]] + cut[1] + GOOD[cut[0] + len(cut[1]) :]
    ),
)
@example(PATHS[0], TYPES[0], b'{"room":"\\ud800"}')
@example(PATHS[0], TYPES[0], b'{"reply_to":1e400}')
@example(PATHS[0], TYPES[0], b"[" * 1_000)
@example(PATHS[0], TYPES[1], b"reply_to=" + b"9" * 5_000)
@settings(max_examples=150, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_any_body_is_answered(node: Running, path: str, media: str, sent: bytes) -> None:
    answer = node.http.post(path, content=sent, headers={"content-type": media} if media else {})
    assert is_told(answer) or answer.status_code == 429, answer.text


@given(content=st.text(max_size=40), reply_to=st.none() | st.integers(-3, 2**70))
@example("\x00", None)
@example("\n" * 17_000, None)
@example("run-v1\n" + "step: x\n" * 3_000, 1)
@settings(max_examples=100, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_any_content_is_kept_or_refused(node: Running, content: str, reply_to: int | None) -> None:
    message = {
        "room": "commons",
        "reply_to": reply_to,
        "content": content,
        "public_key": key_of(1),
        "signature": sign(seed_of(1), message_bytes("commons", reply_to, content)).hex(),
    }
    answer = node.http.post("/v1/messages", json=message)
    assert is_told(answer) or answer.status_code == 429, answer.text
    if answer.status_code < 300:
        kept = node.json(f"messages/{answer.json()['id']}")
        assert kept["untrusted"]["content"] == content


def test_the_largest_content_fits_however_it_is_escaped(node: Running) -> None:
    message = msgspec.to_builtins(signed("🦊" * 8_000))
    sent = json.dumps(message).encode()  # twelve bytes a character
    assert 90_000 < len(sent) < MAX_BODY
    kind = {"content-type": "application/json"}
    assert node.http.post("/v1/messages", content=sent, headers=kind).status_code in {200, 201}
    large = node.http.post("/v1/messages", content=b" " * (MAX_BODY + 1), headers=kind)
    assert problem(large, 413)["code"] == "body-large"
