"""`refold coverage build` and `init`: plans and options in, receipts of what was seen out."""

import json
import tomllib
from pathlib import Path

import pytest

from cli.sourced import FLAGS, LIST, NEEDLE, PLAN, URL, build, leading_to, served, verify
from cli.terminal import refold
from refold.coverage import read_plan
from refold.metaid.devnet.clock import WallClock
from refold.metaid.devnet.net import Devnet

PINS = """
question = "Has anybody written a note called Ebb?"
[criterion]
match = { field = "doc.title", op = "eq", value = "Ebb" }
[[units]]
id = "notes"
kind = "MVC_PINS"
endpoint = "https://man.example.test"
path = "/protocols/simplenote"
pageSize = 20
fetch = "LIST_PLUS_DETAIL"
"""
DESK = '[[units]]\nid = "desk"\nkind = "MANUAL"\ninstructions = "Look."\n'


def test_a_receipt_from_options_alone(tmp_path: Path) -> None:
    with served(LIST) as options:
        answer = refold("coverage", "build", *FLAGS, *NEEDLE, *options)
        assert answer.code == 0
        assert answer.json["claim"] == "ABSENT"
        assert verify(answer.json, *options).code == 0
        out = tmp_path / "r.json"
        told = refold(
            *("coverage", "build", *FLAGS, "--match", "name", "prefix", "ITEM"),
            *("--case-fold", *options, "--out", str(out), "--format", "json"),
        )
    assert told.code == 0
    assert (told.json["claim"], told.json["matchCount"]) == ("PRESENT", 3)
    assert told.json["receiptHash"] in refold("coverage", "hash", str(out)).out


def test_what_was_not_seen_is_not_claimed(tmp_path: Path) -> None:
    routes = [{"get": "/items", "json": {"items": "range(1,3)", "truncated": True}}]
    with served(routes) as options:
        answer, record = build(tmp_path, PLAN, *options)
    assert answer.code == 5
    assert (record["claim"], record["justification"]) == ("INCONCLUSIVE", "source_truncated")
    [line] = answer.err.splitlines()
    assert line.startswith("refold: absence-not-claimed: ")
    assert "source_truncated" in line


def test_a_part_may_be_declared(tmp_path: Path) -> None:
    with served(LIST) as options:
        answer, record = build(tmp_path, PLAN + DESK, *options)
        assert (answer.code, record["justification"]) == (5, "termination_not_proven")
        answer, record = build(tmp_path, "subset = true\n" + PLAN + DESK, *options)
        assert (answer.code, record["claim"]) == (0, "ABSENT")
        assert record["justification"] == "no_match_in_declared_subset"
        assert [spot["what"] for spot in record["blindspots"]] == ["unit desk"]
        assert verify(record, *options).code == 5


def test_every_problem_of_a_plan_is_told_at_once(tmp_path: Path) -> None:
    plan = PLAN.replace(URL, "http://x").replace('"eq"', '"like"') + DESK + "extra = 1\n" + DESK
    answer, record = build(tmp_path, plan)
    assert (answer.code, record) == (2, None)
    assert {line.split(": ")[1] for line in answer.err.splitlines()} >= {
        *("E_URL", "E_MATCH_SHAPE", "E_UNKNOWN_FIELD", "E_DUPLICATE_UNIT"),
    }
    assert "at /units/0/url" in answer.err
    assert "at /units/1/extra" in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("plan.toml", *FLAGS, *NEEDLE),
        FLAGS,
        (*FLAGS, *NEEDLE, "--endpoint", "https://a.test"),
        (*FLAGS, "--match", "name", "exists", "maybe"),
        (*FLAGS, *NEEDLE, "--valid-for", "soon"),
        (*FLAGS, *NEEDLE, "--pages-by", "page"),
        ("no-such-plan.toml",),
    ],
)
def test_a_build_of_nothing_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    answer = refold("coverage", "build", *arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("refold: ")


@pytest.mark.parametrize("value", ["7", "true", "-12", "0"])
@pytest.mark.parametrize("quoted", [False, True])
def test_eq_on_the_command_line_finds_a_number_and_its_text(value: str, *, quoted: bool) -> None:
    item = {"id": "a", "n": value if quoted else json.loads(value)}
    with served([{"get": "/items", "json": {"items": [item]}}]) as options:
        found = refold("coverage", "build", *FLAGS, "--match", "n", "eq", value, *options)
        other = refold("coverage", "build", *FLAGS, "--match", "n", "eq", "01", *options)
    assert (found.code, found.json["claim"]) == (0, "PRESENT")
    assert (other.code, other.json["claim"]) == (0, "ABSENT")


def test_pages_are_counted_until_one_is_empty() -> None:
    routes = [
        *(
            {"get": "/items", "query": {"page": str(n)}, "json": {"items": f"range({n}0,{n}4)"}}
            for n in (1, 2, 3)
        ),
        {"get": "/items", "json": {"items": []}},
    ]
    flags = ("--url", f"{URL}?page=1", "--array-path", "items", "--pages-by", "page")
    with served(routes) as options:
        answer = refold("coverage", "build", *flags, *NEEDLE, *options)
        assert answer.code == 0
        assert verify(answer.json, *options).code == 0
    units = answer.json["corpus"]["units"]
    assert [unit["id"] for unit in units] == [f"source page={n}" for n in (1, 2, 3, 4)]
    assert answer.json["claim"] == "ABSENT"


def test_init_asks_and_writes_a_plan(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    answers = [
        *('Is "it" there\\?', "list", "12h", "name", "contains", "née\x7f", "y", "id", "exists"),
        *("true", "n", "y", "first", "HTTP_JSON", URL, "items", "", "y"),
        *("pins", "MVC_PINS", "https://man.example.test", "/protocols/x", "50", "y", "y"),
        *("desk", "MANUAL", "Look.", "n"),
    ]
    typed = "".join(f"{line}\n" for line in answers).encode()
    asked = refold("coverage", "init", str(plan), stdin=typed)
    assert asked.code == 0, asked.out + asked.err
    assert f"refold coverage build {plan}" in asked.out
    written = read_plan(plan.read_bytes())
    assert written.question == 'Is "it" there\\?'
    assert [unit.id for unit in written.units] == ["first", "pins", "desk"]
    assert written.canon["caseFold"] is True
    assert written.canon["match"]["all"][0]["value"] == "née\x7f"
    assert written.valid_for == 12 * 3600
    assert refold("coverage", "init", str(plan)).code == 2


def test_init_writes_what_was_answered_even_if_it_is_wrong(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    answers = ["?", "", "", "name", "", "x", "", "", "", "", "http://a.test", "items", "", ""]
    typed = "".join(f"{line}\n" for line in answers).encode()
    asked = refold("coverage", "init", str(plan), stdin=typed)
    assert asked.code == 2
    assert "E_URL" in asked.err
    assert tomllib.loads(plan.read_text())["units"][0]["url"] == "http://a.test"


@pytest.mark.parametrize(
    ("clock", "code"), [(WallClock(), 4), (None, 3)], ids=["mined now", "mined long before asOf"]
)
def test_pins_of_a_local_chain_are_built_and_verified(
    clock: WallClock | None, code: int, tmp_path: Path
) -> None:
    """A pin that comes later makes a receipt stale; one of an old block was there, and refutes."""
    with Devnet(None, base_height=100, clock=clock) as net, net.serve() as origin:
        options = leading_to(origin, "https://man.example.test")
        anna = net.key("anna")
        for number in range(25):
            net.pin(anna, "/protocols/simplenote", {"title": f"Tide {number}"})
        net.mine()
        answer, record = build(tmp_path, PINS, *options)
        assert (answer.code, record["claim"]) == (0, "ABSENT")
        boundary = record["corpus"]["units"][0]["boundary"]
        assert (boundary["observed"], boundary["endMarkerKind"]) == (25, "SET_HASH")
        assert boundary["statusCounts"] == {"0": 25}
        assert verify(record, *options).code == 0
        ebb = net.pin(anna, "/protocols/simplenote", {"title": "Ebb"})
        net.mine()
        again = verify(record, *options)
        assert (again.code, ebb in again.out) == (code, True)
        answer, found = build(tmp_path, PINS, *options)
        assert (answer.code, found["claim"]) == (0, "PRESENT")
        assert found["result"]["matches"][0].keys() == {"id", "digest"}
        assert found["blindspots"] == []
        assert verify(found, *options).code == 0
