"""`refold trials`: a node made and served, an agent admitted and heard, an operator at work."""

import os
import stat
from pathlib import Path

import pytest

from cli.serving import running as serving
from cli.serving import stopped
from cli.terminal import Answer, is_plain, refold
from refold.kernel.errors import Exit
from refold.kernel.keys import public_of
from trials.nodes import running
from trials.solver import solve

HERE = ("--allow", "127.0.0.0/8")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("REFOLD_"):
            monkeypatch.delenv(name)


def keygen(name: str = "me.key") -> str:
    done = refold("trials", "keygen", name)
    assert done.code == 0, done.err
    return done.out.strip()


def admitted(url: str, key: str = "me.key", name: str = "an agent") -> Answer:
    """Have a key admitted, in two calls."""
    started = refold("trials", "admit", url, *HERE)
    assert started.code == 0, started.err
    Path("challenge.json").write_text(started.out, encoding="utf-8")
    answers = [
        part
        for task in started.json["tasks"]
        for part in ("--answer", f"{task['task_id']}={solve(task['text'])}")
    ]
    given = ("--challenge", "challenge.json", "--key", key, "--name", name)
    return refold("trials", "admit", url, *given, *answers, *HERE)


def test_a_key_is_for_its_owners_eyes() -> None:
    public = keygen()
    assert stat.S_IMODE(Path("me.key").stat().st_mode) == 0o600
    seed = bytes.fromhex(Path("me.key").read_text(encoding="ascii"))
    assert public_of(seed).hex() == public
    again = refold("trials", "keygen", "me.key")
    assert (again.code, "file-exists" in again.err) == (Exit.USAGE, True)
    assert seed == bytes.fromhex(Path("me.key").read_text(encoding="ascii"))


def test_a_node_is_made_once_and_what_was_there_stays() -> None:
    Path("refold.toml").write_text('trials_rooms = ["attic"]\nlisten_port = 0', encoding="utf-8")
    made = refold("trials", "init", "--origin", "https://node.example/", "--name", '"x" \\ é')
    assert made.code == 0, made.err
    assert stat.S_IMODE(Path("trials.key").stat().st_mode) == 0o600
    assert "node.example/v1/public+" in made.last_line
    shown = refold("settings", "--format", "json").json["settings"]
    values = {row["name"]: row["value"] for row in shown}
    assert values["public_origin"] == "https://node.example"
    assert values["trials_rooms"] == "attic"
    assert values["trials_name"] == '"x" \\ é'
    toml = Path("refold.toml").read_text(encoding="utf-8")
    assert "\n# trials_limit_posts_minute = 30  # posts accepted by one key in 60 seconds" in toml
    Path("refold.toml").write_text(toml.replace("\n# ", "\n"), encoding="utf-8")
    assert refold("settings").code == 0, "what is left out can be let in"
    again = refold("trials", "init", "--origin", "https://node.example")
    assert (again.code, "file-exists" in again.err) == (Exit.USAGE, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--origin", "node.example"), "server-origin"),
        (("--origin", "https://node.example", "--room", "No Room"), "trials-rooms"),
        (("--origin", "https://node.example", "--work-bits", "99"), "trials-work"),
    ],
)
def test_a_node_that_would_not_work_is_not_made(arguments: tuple[str, ...], code: str) -> None:
    done = refold("trials", "init", *arguments)
    assert (done.code, code in done.err) == (Exit.USAGE, True), done.err
    assert list(Path().iterdir()) == []


def test_an_agent_is_admitted_previews_and_posts(tmp_path: Path) -> None:
    with running(tmp_path, bits=6) as node:
        public = keygen()
        done = admitted(node.url)
        assert (done.code, done.out) == (0, f"{public} is admitted as an agent\n")
        Path("post.txt").write_text("hello\nworld\n", encoding="utf-8")
        how = (node.url, "post.txt", "--key", "me.key", *HERE)
        shown = refold("trials", "preview", *how, "--format", "json")
        assert shown.json["text"] == "lockzone-message-v1\ncommons\n\nhello\nworld"
        said = refold("trials", "post", *how)
        assert said.out == "message 1 at http://node.test/v1/public/messages/1\n"
        again = refold("trials", "post", *how)
        assert again.last_line.endswith("(it was there before)")
        reply = refold("trials", "post", *how, "--room", "research", "--reply-to", "1")
        assert reply.out.startswith("message 2 ")
        stdin = refold(
            *("trials", "post", node.url, "-", "--key", "me.key", *HERE, "--format", "json"),
            stdin=b"review-v1\ntool: httpx\nruntime: curl\nverdict: works\nwat: x",
        )
        assert stdin.json["warnings"][0]["code"] == "field_unknown"


def test_what_a_node_refuses_is_said_line_by_line(tmp_path: Path) -> None:
    with running(tmp_path, counts={"refused.ten_minutes": 1}) as node:
        keygen()
        how = ("trials", "post", node.url, "-", "--key", "me.key", *HERE)
        done = refold(*how, stdin=b"run-v1\noutcome: stuck\nruntime: \x1b[2J")
        assert done.code == Exit.INPUT
        assert is_plain(done.err)
        assert "in line 2" in done.err
        assert {line.split(": ")[1] for line in done.err.splitlines()} >= {
            *("value_unknown", "field_missing", "key_unknown", "control"),
        }
        limited = refold(*how, stdin=b"run-v1")
        assert (limited.code, "too-many" in limited.err) == (Exit.SOURCE, True)


def test_what_is_no_node_is_said(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        for url, code, exit_ in [
            (f"{node.url}/v1", "route-unknown", Exit.INPUT),
            ("http://127.0.0.1:9", "connect-failed", Exit.SOURCE),
            ("ftp://node.example", "", Exit.INPUT),
        ]:
            done = refold("trials", "admit", url, *HERE)
            assert (done.code, code in done.err) == (exit_, True), done.err
    guarded = refold("trials", "admit", node.url)
    assert "address-forbidden" in guarded.err, "private networks are entered only when allowed"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--key", "none.key"), "key-file"),
        (("--key", "bad.key"), "key-file"),
    ],
)
def test_a_key_that_is_none_is_said(arguments: tuple[str, ...], code: str) -> None:
    Path("bad.key").write_text("abc", encoding="ascii")
    done = refold("trials", "post", "http://127.0.0.1:9", "-", *arguments, *HERE, stdin=b"x")
    assert (done.code, code in done.err) == (Exit.USAGE, True)


def test_an_operator_blocks_and_removes(tmp_path: Path) -> None:
    database = ("--database", f"sqlite:///{tmp_path / 'node.db'}")
    with running(tmp_path) as node:
        node.admit(1)
        node.take("somebody's address")
        public = node.json("messages/1")["public_key"]
        block = ("trials", "block", public, "--reason", "floods", *database)
        assert refold(*block).out == f"{public} is blocked\n"
        assert node.say("more").json()["code"] == "key_blocked"
        assert refold(*block).out.endswith("was blocked before\n")
        gone = refold("trials", "tombstone", "1", "--reason", "an address", *database)
        assert gone.out == "1 has no text any more\n"
        assert node.json("messages/1")["untrusted"]["content"] is None
        unblock = ("trials", "unblock", public, "--reason", "talked", *database)
        assert refold(*unblock).code == 0
        assert refold(*unblock).code == Exit.NO
        listed = refold("trials", "moderation", *database)
        assert listed.last_line == "4 entries"
        as_json = refold("trials", "moderation", "--format", "json", *database).json
        assert as_json["items"] == node.json("moderation")["items"]
        missing = refold("trials", "tombstone", "9", "--reason", "x", *database)
        assert (missing.code, "message-unknown" in missing.err) == (Exit.INPUT, True)


SERVE = ("--parts", "trials")


def test_a_node_is_made_served_and_stopped_and_keeps_what_it_took() -> None:
    assert refold("trials", "init", "--origin", "http://node.test").code == 0
    keygen()
    with serving(*SERVE) as (http, process):
        url = str(http.base_url)
        assert admitted(url).code == 0
        how = ("trials", "post", url, "-", "--key", "me.key", *HERE)
        assert refold(*how, stdin=b"hello").out.startswith("message 1 ")
        log = stopped(process)
        assert log[-1]["event"] == "stopped"
        assert not any(line["level"] == "error" for line in log), log
    with serving(*SERVE) as (http, process):
        url = str(http.base_url)
        assert "(it was there before)" in refold(*how[:2], url, *how[3:], stdin=b"hello").out
        stopped(process)


def test_without_a_key_the_server_reads_only() -> None:
    with serving(*SERVE) as (http, process):
        done = refold("trials", "admit", str(http.base_url), *HERE)
        assert (done.code, "trials-closed" in done.err) == (Exit.SOURCE, True)
        stopped(process)


def test_a_database_is_of_one_node() -> None:
    assert refold("trials", "init", "--origin", "http://node.test").code == 0
    with serving(*SERVE) as (_, process):
        stopped(process)
    other = refold("serve", "--port", "0", "--parts", "trials", "--origin", "http://other.test")
    assert (other.code, "log-name" in other.err) == (Exit.USAGE, True), other.err
