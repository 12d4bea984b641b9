"""The documents of a node: each example is right, both languages say the same, all is found.

The commands of the shell are run by test_agent.py.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

import refold.trials
from refold.serving.catalogue import read_po
from refold.trials.api.documents import documents_of
from refold.trials.api.office import Office
from refold.trials.documents.making import filled
from refold.trials.documents.reading import READING
from refold.trials.documents.shell import SHELL
from refold.trials.grammar import read_sheet
from refold.trials.intake import read_content
from refold.trials.node import Node
from refold.trials.rules import BLOCKERS, NOT_PROVEN, PUBLISHER_RULES, REPORTER_RULES
from refold.trials.tables import FORMATS, known_fields
from trials.nodes import ORIGIN, Running, running

FOLDER = Path(refold.trials.__file__).parent
NAMES = ("cold-trials", "llms", "skill")
ADDRESSES = {
    "llms": ("/llms.txt", "/zh/llms.txt"),
    "skill": ("/skill.md", "/zh/skill.md"),
    "cold-trials": ("/cold-trials.md", "/zh/cold-trials.md"),
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
COMPUTED = {name: data.decode() for name, data in documents_of(
    Office(Node(ORIGIN), None)).items()}  # type: ignore[arg-type]  # fmt: skip
every_name = pytest.mark.parametrize("name", NAMES)
every_document = pytest.mark.parametrize("document", sorted(COMPUTED))


@pytest.fixture(name="node", scope="module")
def _node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("documents")) as node:
        yield node


def blocks(document: str, kind: str) -> list[str]:
    return [text for name, text in BLOCK.findall(COMPUTED[document]) if name == kind]


def test_there_are_these_documents_in_both_languages() -> None:
    assert sorted(COMPUTED) == sorted(f"{name}.{lang}" for name in NAMES for lang in ("en", "zh"))


@every_document
def test_each_example_passes_a_preview_and_each_template_names_the_fields(document: str) -> None:
    examples = templates = 0
    for text in blocks(document, "text"):
        marker = text.partition("\n")[0]
        form = FORMATS[marker]
        if "<" in text:
            templates += 1
            header = text.split("\n---\n")[0].split("\n")[1:]
            names = [line.partition(":")[0] for line in header]
            assert sorted(names) == sorted(field.name for field in known_fields(form))
            assert read_sheet(text)[1] == ()
        else:
            examples += 1
            reading = read_content(text, ORIGIN, preview=True)
            assert (reading.kind, reading.faults) == (form.kind, ())
    assert (examples, templates) == {"cold-trials": (6, 4), "skill": (0, 3), "llms": (0, 0)}[
        document.rpartition(".")[0]
    ]


@every_name
def test_both_languages_have_the_same_examples_addresses_and_parts(name: str) -> None:
    english, chinese = COMPUTED[f"{name}.en"], COMPUTED[f"{name}.zh"]
    assert BLOCK.findall(english) == BLOCK.findall(chinese)
    for pattern in (r"^#+ ", r"^\| ", r"^- ", r"`[a-z]+-v1`"):
        counts = [len(re.findall(pattern, text, re.MULTILINE)) for text in (english, chinese)]
        assert counts[0] == counts[1], pattern
    addresses = [
        {each.replace("/zh/", "/") for each in re.findall(rf"{ORIGIN}[\w/.{{}}-]*[\w}}]", text)}
        for text in (english, chinese)
    ]
    assert addresses[0] == addresses[1]


@every_document
def test_nothing_is_left_to_fill_in_and_no_chinese_is_english(document: str) -> None:
    text = COMPUTED[document]
    assert "{{" not in text
    assert not re.search(r"[ \t]$", text, re.MULTILINE)
    if document.endswith(".zh"):
        prose = BLOCK.sub("", text)
        lines = [
            line
            for line in prose.split("\n")
            if re.search(r"[A-Za-z]{4,} [A-Za-z]{4,} [a-z]{3,}", line)
        ]
        assert [line for line in lines if not re.search(r"[\u4e00-\u9fff]", line)] == []


def test_every_rule_class_and_field_stands_in_the_format() -> None:
    for language in ("en", "zh"):
        text = COMPUTED[f"cold-trials.{language}"]
        assert [name for name in BLOCKERS if f"\n- `{name}`" not in text] == []
        for form in FORMATS.values():
            assert text.count(f"\n| `{form.marker}` |") == 1
    english = COMPUTED["cold-trials.en"]
    assert [
        one for one in (*REPORTER_RULES, *PUBLISHER_RULES, NOT_PROVEN) if one not in english
    ] == []


def test_every_chinese_word_of_the_documents_is_used() -> None:
    po = read_po((FOLDER / "locale/documents.zh.po").read_text(encoding="utf-8"), "documents.zh.po")
    worked = documents_of(Office(Node(ORIGIN, bits=8, counts={"posts.day": 0}), None))  # type: ignore[arg-type]
    whole = "".join(COMPUTED.values()) + "".join(map(bytes.decode, worked.values()))
    pieces = {text: re.split(r"\{\w+\}", found[0]) for text, found in po.items()}
    assert [
        text for text, parts in pieces.items() if any(part not in whole for part in parts)
    ] == []


def test_a_placeholder_that_is_none_is_not_passed_over() -> None:
    with pytest.raises(KeyError, match="nothing"):
        filled("{{ nothing }}", {})


def test_the_work_that_a_node_asks_for_stands_in_its_documents() -> None:
    worked = documents_of(Office(Node(ORIGIN, bits=12), None))  # type: ignore[arg-type]
    assert "12 zero bits" in worked["skill.en"].decode()
    assert "12 个零比特" in worked["skill.zh"].decode()


@every_name
def test_documents_are_served_as_they_are_with_a_version(node: Running, name: str) -> None:
    for path, language in zip(ADDRESSES[name], ("en", "zh"), strict=True):
        answer = node.http.get(path)
        assert answer.status_code == 200
        assert answer.content.decode() == COMPUTED[f"{name}.{language}"]
        assert answer.headers["content-type"].startswith("text/")
        again = node.http.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304


def paths_in(document: str) -> set[str]:
    """Give the paths of this node that a document names."""
    found = re.findall(
        rf"(?:{ORIGIN}|\$NODE)((?:/(?:[\w.-]*\w|\{{\w+\}}|\$[A-Z]+))+)", COMPUTED[document]
    )
    return {re.sub(r"\$\w+", "{id}", path) for path in found} - {"/v1"}  # of "/v1/${4:-messages}"


def test_every_address_in_the_documents_is_there(node: Running) -> None:
    described = [*node.http.get("/openapi.json").json()["paths"]]
    # What no description lists: the tools, the live feed, the description.
    described += ["/mcp", "/v1/public/events", "/openapi.json"]
    known = [re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))) for path in described]
    named = set().union(*map(paths_in, COMPUTED))
    assert len(named) > len(READING)
    assert [path for path in named if not any(each.fullmatch(path) for each in known)] == []


def test_a_program_learns_the_node_from_the_well_known_address(node: Running) -> None:
    told = node.http.get("/.well-known/lockzone").json()
    assert (told["origin"], told["license"], told["open"]) == (ORIGIN, "CC0-1.0", True)
    assert told["rooms"] == list(node.office.node.rooms)
    keys = node.json("log/keys")
    assert told["key"] == {
        "public_key": keys["keys"][-1]["publicKey"],
        "verifier": keys["keys"][-1]["verifier"],
    }
    assert node.get("checkpoint").text.startswith(f"{told['log']}\n")
    for address in told["documents"].values():
        assert node.http.get(address.removeprefix(ORIGIN)).status_code == 200
    described = node.http.get("/openapi.json").json()["paths"]
    posting = {address.removeprefix(ORIGIN) for address in told["posting"].values()}
    assert posting - set(described) == {"/mcp"}
    assert {"post"} == {way for path in posting - {"/mcp"} for way in described[path]}


def test_a_node_without_a_key_says_that_it_takes_no_posts(tmp_path: Path) -> None:
    with running(tmp_path, closed=True) as node:
        told = node.http.get("/.well-known/lockzone").json()
        assert (told["open"], told["key"]) == (False, None)


def test_the_json_of_the_commands_is_json() -> None:
    (text,) = re.findall(r"<<END\n(.*)\nEND", COMPUTED["skill.en"], re.DOTALL)
    body = json.loads(text)
    assert {each["task_id"] for each in body["answers"]} == {"t1", "t2", "t3", "t4"}


def test_no_private_key_leaves_by_the_commands() -> None:
    for commands in SHELL.values():
        for line in commands.split("\n"):
            assert not ("curl" in line and "key.pem" in line)


def test_pages_of_any_origin_may_read_the_documents(node: Running) -> None:
    answer: httpx2.Response = node.http.get("/skill.md")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["access-control-allow-origin"] == "*"
