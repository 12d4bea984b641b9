"""`refold trials export`, `import`, `verify`: two nodes that run, and files that are forged."""

import base64
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from cli.serving import running as serving
from cli.serving import stopped
from cli.terminal import Answer, is_plain, refold, refold_process
from refold.db import Database
from refold.kernel.errors import Exit
from refold.trials.api.office import open_writing
from refold.trials.archive.claims import NOT_PROVEN
from refold.trials.archive.codes import WRONGS
from refold.trials.checkpoint import LogKey, Signer, log_name
from refold.trials.node import Node
from refold.trials.signing import message_bytes
from refold.trials.store.keys import Keys
from trials.archives import HONEST, Tree, archive, message, note_of
from trials.logged import NAME, NOON, SIGNER, key_of, posting, signed
from trials.nodes import text

KEY = SIGNER.key.verifier
FORGER = Signer(NAME, b"somebody else's key.............")
EXITS = {code: row.exit for code, row in WRONGS.items()}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("REFOLD_"):
            monkeypatch.delenv(name)


def verified(raw: bytes, key: str = KEY, *options: str) -> Any:
    """Verify a file that is there, and standard input; give what is printed as JSON."""
    Path("given").write_bytes(raw)
    done = refold("trials", "verify", "given", "--key", key, "--format", "json", *options)
    piped = refold(
        *("trials", "verify", "-", "--key", key, "--format", "json", *options), stdin=raw
    )
    assert (piped.code, piped.out, piped.err) == (done.code, done.out, done.err)
    if done.code == Exit.DONE:
        return done.json
    error = msgspec.json.decode(done.err)["error"]
    assert EXITS[error["code"]] == done.code
    assert is_plain(done.err)
    return error["code"]


def record(**changes: Any) -> bytes:
    """Give a record as a node answers it, with some members of an item, or of it all, changed."""
    tree = Tree(HONEST)
    items = []
    for line in HONEST[:2]:
        content = getattr(line, "content", None)
        signed = message_bytes(line.room, line.reply_to, content or "")
        items.append(
            {
                "id": line.id,
                "kind": "message",
                "acceptedAt": line.accepted_at,
                "digest": line.digest,
                "room": line.room,
                "reply_to": line.reply_to,
                "signature": line.signature,
                "signed": base64.b64encode(signed).decode(),
                "index": line.id - 1,
                "proof": [each.hex() for each in tree.inclusion(line.id)],
                "untrusted": {"content": content},
            }
        )
    made = {
        "public_key": HONEST[0].public_key,
        "key": "admitted",
        "checkpoint": note_of(tree),
        "items": items[:1],
        "next_cursor": None,
        "untrusted": {"name": "an agent"},
    }
    items[0].update({name: value for name, value in changes.items() if name in items[0]})
    made.update({name: value for name, value in changes.items() if name in made})
    return msgspec.json.encode(made)


def test_an_archive_is_verified_and_what_is_not_proven_is_said() -> None:
    found = verified(archive())
    assert found["verified"] is True
    assert (found["kind"], found["origin"], found["size"]) == ("archive", "node.example", 7)
    assert found["root"] == Tree(HONEST).root(7).hex()
    assert (found["messages"], found["removed"]) == (7, 1)
    assert found["notProven"] == list(NOT_PROVEN["archive"])
    done = refold("trials", "verify", "given", "--key", KEY)
    assert done.code == Exit.DONE
    assert is_plain(done.out)
    for claim in NOT_PROVEN["archive"]:
        assert f"Not proven: {claim}\n" in done.out


def test_nothing_is_verified_without_a_key_from_outside() -> None:
    Path("given").write_bytes(archive())
    done = refold("trials", "verify", "given")
    assert (done.code, "--key" in done.err) == (Exit.USAGE, True)
    for key in ("x", KEY[:-1], KEY.replace("+", "-"), SIGNER.key.public.hex()):
        done = refold("trials", "verify", "given", "--key", key)
        assert (done.code, "log-key-form" in done.err) == (Exit.USAGE, True)
    assert verified(archive(), FORGER.key.verifier) == "archive-key"
    assert verified(archive(signer=FORGER)) == "archive-key"
    elsewhere = LogKey(log_name("https://other.example"), SIGNER.key.public)
    assert verified(archive(), elsewhere.verifier) == "archive-key"


WHOLE = archive()
OTHER = (*HONEST[:3], message(4, "rewritten", at=NOON + 1), *HONEST[4:])


def sized(which: str, number: str) -> bytes:
    member = "id" if which == "message" else "size"
    pattern = f'("type":"{which}".*?"{member}":)[0-9]+'.encode()
    return re.sub(pattern, rb"\g<1>" + number.encode(), WHOLE, count=1)


FORGED: list[tuple[str, bytes, str]] = [
    ("own log key", archive(signer=FORGER), "archive-key"),
    ("swapped leaf", archive(OTHER, signs=HONEST), "archive-tree"),
    ("cut tail", WHOLE[: WHOLE.rindex(b'{"type":"end"')], "archive-cut"),
    ("cut line", WHOLE[:-5], "archive-cut"),
    ("nothing left of it", WHOLE[:20], "archive-cut"),
    ("other text", WHOLE.replace(b'"first"', b'"other"'), "archive-signature"),
    ("damaged line", WHOLE.replace(b'"type":"block"', b'"type":"blok"', 1), "archive-damaged"),
    ("damaged name", WHOLE.replace(b"agent 2", b"agent 9"), "archive-damaged"),
    ("more behind", WHOLE + b"\n", "archive-damaged"),
    *(
        (f"{which} {number}", sized(which, number), "archive-size")
        for which in ("head", "block", "end", "message")
        for number in ("4294967297", "-1", "1.5")
    ),
]


@pytest.mark.parametrize(("raw", "code"), [each[1:] for each in FORGED], ids=[e[0] for e in FORGED])
def test_each_kind_of_forgery_has_its_exit_code(raw: bytes, code: str) -> None:
    assert verified(raw) == code
    Path("given").write_bytes(raw)
    done = refold("trials", "import", "given", "--key", KEY, "--database", "sqlite:///x.db")
    assert (done.code, code in done.err) == (EXITS[code], True)


def test_exit_codes_are_told_by_the_commands() -> None:
    assert len(set(EXITS.values())) == len(EXITS)
    assert set(EXITS.values()).isdisjoint(Exit)
    for command in ("verify", "import"):
        told = refold("trials", command, "--help").out
        codes = set(map(int, re.findall(r"\b1[0-9]\b", told.partition("Exit codes")[2])))
        assert codes >= {each for each in EXITS.values() if command == "import" or each < 16}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, None),
        ({"index": 4294967297}, "archive-size"),
        ({"index": -1}, "archive-size"),
        ({"index": 0.5}, "archive-size"),
        ({"id": 4294967297}, "archive-size"),
        ({"id": -1}, "archive-size"),
        ({"id": 1.5}, "archive-size"),
        ({"id": 2, "index": 1}, "archive-tree"),
        ({"reply_to": -1}, "archive-size"),
        ({"reply_to": 4}, "archive-signature"),
        ({"room": "research"}, "archive-signature"),
        ({"untrusted": {"content": "other"}}, "archive-signature"),
        ({"signed": "Zmlyc3Q="}, "archive-signature"),
        ({"signed": None}, "archive-damaged"),
        ({"digest": "0" * 64}, "archive-signature"),
        ({"signature": HONEST[1].signature}, "archive-signature"),
        ({"public_key": key_of(2)}, "archive-signature"),
        ({"public_key": "01" + "0" * 62}, "archive-damaged"),
        ({"acceptedAt": "2030-03-17T17:46:41Z"}, "archive-tree"),
        ({"acceptedAt": "yesterday"}, "archive-damaged"),
        ({"proof": []}, "archive-tree"),
        ({"proof": ["AB" * 32] * 3}, "archive-tree"),
        ({"proof": None}, "archive-cut"),
        ({"checkpoint": note_of(Tree(HONEST), FORGER)}, "archive-key"),
        ({"checkpoint": note_of(Tree(HONEST)).replace("\n7\n", "\n4294967297\n")}, "archive-key"),
        ({"checkpoint": note_of(Tree(HONEST)).replace("\n7\n", "\n-1\n")}, "archive-size"),
        ({"checkpoint": note_of(Tree(HONEST)).replace("\n7\n", "\n1.5\n")}, "archive-size"),
        ({"items": []}, None),
        ({"items": 7}, "archive-damaged"),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, dict) else str(each),
)
def test_a_record_is_verified(changes: dict[str, Any], code: str | None) -> None:
    found = verified(record(**changes))
    if code is not None:
        assert found == code
        return
    assert (found["kind"], found["publicKey"], found["size"]) == ("record", key_of(1), 7)
    assert found["messages"] == len(changes.get("items", [1]))
    assert found["notProven"] == list(NOT_PROVEN["record"])


def test_a_record_of_which_readers_would_differ_is_refused() -> None:
    doubled = record().replace(b'"content":"first"', b'"content":"worst","content":"first"')
    assert verified(doubled) == "archive-damaged"
    assert verified(record()[:-1]) == "archive-damaged"
    assert verified(b'{"a":' * 50_000) == "archive-damaged"
    assert verified(b"{\xff") == "archive-damaged"


def test_a_checkpoint_is_verified_and_its_growth() -> None:
    tree = Tree(HONEST)
    note = note_of(tree).encode()
    found = verified(note)
    assert (found["kind"], found["size"], found["root"]) == ("checkpoint", 7, tree.root(7).hex())
    assert found["notProven"] == list(NOT_PROVEN["checkpoint"])
    assert verified(note, FORGER.key.verifier) == "archive-key"
    assert verified(note.replace(b"\n7\n", b"\n8\n")) == "archive-key"
    assert verified(note.replace(b"\n7\n", b"\n-1\n")) == "archive-size"
    assert verified(note.replace(b"\n7\n", b"\n1.5\n")) == "archive-size"
    assert verified(note[:-20]) in {"archive-damaged", "archive-key"}
    assert verified(b"") == "archive-size"
    Path("older").write_text(note_of(tree, size=3), encoding="utf-8")
    proof: dict[str, object] = {
        "first": 3,
        "second": 7,
        "proof": [each.hex() for each in tree.consistency(3)],
    }
    grown = ("--older", "older", "--consistency", "proof")
    changes: list[tuple[dict[str, object], str | None]] = [
        ({}, None),
        ({"first": 4}, "archive-size"),
        ({"second": 4294967297}, "archive-size"),
        ({"first": -1}, "archive-size"),
        ({"second": 1.5}, "archive-size"),
        ({"proof": []}, "archive-tree"),
        ({"proof": ["x"]}, "archive-tree"),
        ({"proof": 7}, "archive-damaged"),
    ]
    for change, code in changes:
        Path("proof").write_bytes(msgspec.json.encode(proof | change))
        found = verified(note, KEY, *grown)
        assert (found if code else found["since"]) == (code or 3)
    Path("proof").write_bytes(msgspec.json.encode(proof))
    Path("older").write_text(note_of(Tree(OTHER), size=5), encoding="utf-8")
    assert verified(note, KEY, *grown) == "archive-size"
    Path("older").write_text(note_of(Tree(OTHER[3:]), size=3), encoding="utf-8")
    assert verified(note, KEY, *grown) == "archive-tree"
    for options in (grown[:2], grown[2:]):
        done = refold("trials", "verify", "given", "--key", KEY, *options)
        assert done.code == Exit.USAGE
    Path("given").write_bytes(WHOLE)
    assert refold("trials", "verify", "given", "--key", KEY, *grown).code == Exit.USAGE


HERE = ("--allow", "127.0.0.0/8")


class Place:
    """A folder with a node in it, and the command line of whoever is there."""

    def __init__(self, folder: Path, name: str, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        self.origin = f"http://{name}.test"
        self.host = f"{name}.test"
        self.database = f"sqlite:///{self.folder / 'refold.db'}"
        self._patch = patch
        made = self.run("init", "--origin", self.origin, "--format", "json")
        self.key: str = made.json["verifier"]

    def run(self, *arguments: str, stdin: bytes = b"") -> Answer:
        self._patch.chdir(self.folder)
        return refold("trials", *arguments, stdin=stdin)

    @contextmanager
    def served(self) -> Iterator[tuple[str, httpx2.Client]]:
        self._patch.chdir(self.folder)
        with serving("--parts", "trials") as (http, process):
            yield str(http.base_url), http
            stopped(process)

    def write(self, *contents: str) -> None:
        """Post by a key as the node does, without serving it."""
        self.admit(1)
        seed = bytes.fromhex((self.folder / "trials.key").read_text(encoding="ascii"))
        with Database.open(self.database) as database:
            writing = open_writing(database, Node(self.origin), seed)
            with writing.log as log:
                for content in contents:
                    done = log.append(posting(content), writing.standings.judge).result()
                    assert not done.problems

    def admit(self, *who: int) -> None:
        with Database.open(self.database) as database, database.write() as connection:
            for each in who:
                Keys(connection).admit(key_of(each), f"agent {each}", NOON - 86_400)


def say(http: httpx2.Client, content: str, **how: Any) -> int:
    answer = http.post("/v1/messages", json=msgspec.to_builtins(signed(content, **how)))
    assert answer.status_code in {200, 201}, answer.text
    found: int = answer.json()["id"]
    return found


def trial_at(http: httpx2.Client, who: int) -> None:
    """Post a trial, a run on it, an answer: the same ids at every node, by other keys."""
    trial = say(http, text("trial"), who=who)
    run = say(http, text("run"), who=who + 1, reply_to=trial)
    say(http, text("disposition", note=f"by {who}"), who=who, reply_to=run)


def test_archives_of_two_running_nodes_cross_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (Place(tmp_path, name, monkeypatch) for name in ("one", "two"))
    with first.served() as (_, one), second.served() as (_, two):
        first.admit(1, 2)
        second.admit(3, 4)
        trial_at(one, 1)
        trial_at(two, 3)
        before = [node.get("/v1/public/messages").json() for node in (one, two)]
        for here, there in ((first, second), (second, first)):
            assert here.run("export", str(here.folder / "archive")).code == 0
            file = str(here.folder / "archive")
            done = there.run("import", file, "--key", here.key, "--format", "json")
            assert (done.code, done.json["added"], done.json["own"]) == (0, 3, False), done.err
            assert there.run("import", file).code == EXITS["archive-key"], "its own key by default"
            assert there.run("verify", file, "--key", here.key).code == 0
            assert there.run("verify", file, "--key", there.key).code == EXITS["archive-key"]
        assert [node.get("/v1/public/messages").json() for node in (one, two)] == before
        for http, there, who in ((one, second, 3), (two, first, 1)):
            origins = http.get("/v1/public/foreign").json()["items"]
            assert [(each["id"], each["size"], each["verifier"]) for each in origins] == [
                (there.host, 3, there.key)
            ]
            path = f"/v1/public/foreign/{there.host}/messages"
            items = http.get(path).json()["items"]
            assert [(each["id"], each["kind"]) for each in items] == [
                *((1, "trial"), (2, "run"), (3, "disposition")),
            ]
            assert items[0]["public_key"] == key_of(who)
            assert http.get(f"{path}/2").json() == items[1]
            assert http.get(f"{path}?after=1&limit=1").json()["next_cursor"] == 2
            assert http.get(f"{path}/9").json()["code"] == "message-unknown"
            unknown = http.get("/v1/public/foreign/nobody.test/messages")
            assert (unknown.status_code, unknown.json()["code"]) == (404, "origin-unknown")
            # A key of another node is nobody here, and nothing of it counts.
            mine = http.get(f"/v1/public/keys/{key_of(who)}/record").json()
            assert (mine["items"], mine["key"]) == ([], "unknown")
            assert len(http.get("/v1/public/trials").json()["items"]) == 1
            refused = http.post("/v1/messages", json=msgspec.to_builtins(signed("hello", who=who)))
            assert refused.json()["code"] == "key_unknown"
        for http, place, who in ((one, first, 1), (two, second, 3)):
            record = http.get(f"/v1/public/keys/{key_of(who)}/record").content
            done = place.run("verify", "-", "--key", place.key, "--format", "json", stdin=record)
            assert (done.code, done.json["messages"]) == (0, 2), done.err
            other = second if place is first else first
            done = other.run("verify", "-", "--key", other.key, stdin=record)
            assert done.code == EXITS["archive-key"]
            note = http.get("/v1/public/checkpoint").content
            assert place.run("verify", "-", "--key", place.key, stdin=note).code == 0
            Path("older").write_bytes(note)
            say(http, "one more", who=who)
            newer = http.get("/v1/public/checkpoint").content
            Path("proof").write_bytes(http.get("/v1/public/log/consistency?first=3").content)
            grown = ("--older", "older", "--consistency", "proof")
            done = refold("trials", "verify", "-", "--key", place.key, *grown, stdin=newer)
            assert (done.code, "grew from: 3" in done.out) == (0, True), done.err


def test_a_node_is_restored_where_its_key_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, "one", monkeypatch)
    place.write(text("trial"), "hello", "again")
    assert place.run("export", "archive").code == 0
    again = place.run("export", "archive")
    assert (again.code, "is whole already" in again.err) == (Exit.USAGE, True)
    piped = place.run("export", "-")
    assert piped.out == (place.folder / "archive").read_text(encoding="utf-8")
    (place.folder / "refold.db").unlink()
    whole = (place.folder / "archive").read_bytes()
    cut = place.run("import", "-", stdin=whole[: whole.rindex(b'{"type":"message"')])
    assert cut.code == EXITS["archive-cut"]
    refused = refold_process("serve", "--port", "0", "--parts", "trials")
    assert (refused.code, "log-restoring" in refused.err) == (Exit.SOURCE, True), refused.err
    done = place.run("import", "archive", "--format", "json")
    assert (done.code, done.json["own"], done.json["size"]) == (0, True, 3), done.err
    with place.served() as (_, http):
        assert http.get("/v1/public/checkpoint").text.split("\n")[1] == "3"
        assert len(http.get("/v1/public/trials").json()["items"]) == 1
        assert http.get("/v1/public/foreign").json()["items"] == []
        assert say(http, "goes on") == 4
    assert place.run("export", "later").code == 0
    assert (place.folder / "later").read_bytes().count(b'"type":"message"') == 4


def test_an_export_that_was_killed_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, "one", monkeypatch)
    place.write("0", "1", "2")
    assert place.run("export", "archive").code == 0
    whole = Path("archive").read_bytes()
    for at in (0, 1, 100, whole.index(b"\n") + 5, len(whole) - 30):
        Path("archive").write_bytes(whole[:at])
        assert place.run("export", "archive").code == 0
        assert Path("archive").read_bytes() == whole
    for other in (b"my thesis", b'{"type":"heed"', b"\n", whole.replace(b"message", b"massage")):
        Path("archive").write_bytes(other)
        done = place.run("export", "archive")
        assert (done.code, "file-exists" in done.err) == (Exit.USAGE, True)
        assert Path("archive").read_bytes() == other
    missing = place.run("export", "no/folder")
    assert (missing.code, "file-unwritable" in missing.err) == (Exit.USAGE, True)
    absent = place.run("import", "none", "--key", place.key)
    assert (absent.code, "file-unreadable" in absent.err) == (Exit.USAGE, True)


def test_without_any_key_nothing_is_imported(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(WHOLE)
    done = refold("trials", "import", "archive", "--database", "sqlite:///x.db")
    assert (done.code, "import-key" in done.err) == (Exit.USAGE, True)
