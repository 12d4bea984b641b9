"""`refold coverage`: what each command takes, prints, and ends with."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.sourced import build, leading_to, served, verify
from cli.terminal import is_plain, refold, refold_process
from coverage.receipts import EXAMPLE_TEXT, VALID, changed, consensus, example, source
from kernel.hostile import Peer, serving
from refold.cli.coverage_walks import _BUDGETS
from refold.coverage import CODES, REASONS, Budgets, read_plan, schema
from refold.kernel.canon import canonical
from refold.metaid.devnet.clock import WallClock
from refold.metaid.devnet.net import Devnet

NOW = ("--now", "2030-01-03T00:00:00Z")
LINK = {"Link": '</items?page=2>; rel="next"'}
LAST = {"get": "/items", "query": {"page": "2"}, "json": {"items": "range(3,3)"}}
LIST = [LAST, {"get": "/items", "headers": LINK, "json": {"items": "range(1,2)"}}]
URL = "https://api.example.test/items"
FLAGS = ("--url", URL, "--array-path", "items")
NEEDLE = ("--match", "name", "eq", "needle")
PLAN = f"""
question = "Is there a needle?"
[criterion]
match = {{ field = "name", op = "eq", value = "needle" }}
[[units]]
id = "list"
kind = "HTTP_JSON"
url = "{URL}"
arrayPath = "items"
"""
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


# validate


def test_validate_tells_every_error_with_its_remedy(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(EXAMPLE_TEXT)
    bad.write_text(json.dumps(example() | {"claim": "PRESENT", "extra\x1b": 1}))
    answer = refold("coverage", "validate", str(good), str(bad), *NOW)
    assert answer.code == 1
    assert is_plain(answer.out)
    assert answer.out.startswith("VALID")
    for code in ("E_CLAIM_RESULT at /claim", "E_UNKNOWN_FIELD at /extra"):
        assert code in answer.out
    assert CODES["E_CLAIM_RESULT"].remedy in answer.out
    told = refold("coverage", "validate", str(good), str(bad), *NOW, "--format", "json")
    first, second = map(json.loads, told.out.splitlines())
    assert (first["valid"], first["errors"], second["valid"]) == (True, [], False)
    assert [error["pointer"] for error in second["errors"]] == ["/claim", "/extra\x1b"]
    assert refold("coverage", "validate", str(good), *NOW).code == 0


def test_validate_as_sarif_has_a_run_a_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    log = refold("coverage", "validate", str(bad), str(bad), "--format", "sarif").json
    assert [len(run["results"]) for run in log["runs"]] == [len(log["runs"][0]["results"])] * 2
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in log["runs"][0]["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_file_larger_than_any_record_is_not_read_to_its_end() -> None:
    answer = refold("coverage", "validate", "-", stdin=b" " * (3 << 20))
    assert answer.code == 1
    assert "E_TOO_LARGE" in answer.out


records = st.one_of(
    st.binary(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*example(), "x"]), inner, max_size=4)
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
    st.tuples(st.sampled_from(sorted(VALID)), st.integers(0, 3_000), st.binary(max_size=3)).map(
        lambda cut: _cut(json.dumps(VALID[cut[0]]()).encode(), cut[1], cut[2])
    ),
)


def _cut(data: bytes, at: int, more: bytes) -> bytes:
    place = at % len(data)
    return data[:place] + more + data[place + len(more) :]


@settings(deadline=None, max_examples=60)
@given(data=records)
def test_whatever_the_bytes_are_there_is_a_verdict(data: bytes) -> None:
    answer = refold("coverage", "validate", "-", *NOW, stdin=data)
    assert answer.code in {0, 1}
    assert is_plain(answer.out + answer.err)
    again = verify(data, *NOW, "--retry-wait", "0", "--budget-request-seconds", "0.2")
    assert again.code in ({1} if answer.code else {0, 3, 4, 5})
    assert is_plain(again.out + again.err)


@pytest.mark.parametrize("depth", [65, 5_000, 100_000])
def test_nesting_of_any_depth_is_an_answer(depth: int) -> None:
    data = b"[" * depth + b"]" * depth
    for command in ("validate", "verify"):
        assert refold("coverage", command, "-", stdin=data).code == 1


# verify


def test_a_report_is_the_verdict_first_then_units_then_what_would_change_it() -> None:
    with served(LIST[:1]) as options:
        answer = verify(example(), *options, *NOW)
    assert answer.code == 5
    lines = answer.out.splitlines()
    assert lines[0].startswith("INCONCLUSIVE  coverage BROKEN")
    unit = next(at for at, line in enumerate(lines) if "unit acme-list" in line)
    change = lines.index("  what would change it:")
    assert unit < change
    assert "http_status" in answer.out
    assert is_plain(answer.out)


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_a_report_for_programs(form: str) -> None:
    with served(LIST[:1]) as options:
        answer = verify(example(), *options, *NOW, "--format", form)
    assert answer.code == 5
    if form == "json":
        assert jsonschema_rs.Draft7Validator(schema("report")).is_valid(answer.json)
        assert list(answer.json["origins"]) == ["https://api.example.test"]
    else:
        [result] = answer.json["runs"][0]["results"]
        assert result["ruleId"] == "http_status"
        place = result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
        assert place == "/corpus/units/0"


def test_stored_answers_do_not_verify_unless_they_are_accepted(tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    with served(LIST) as options:
        assert verify(example(), *options, *NOW, "--record", kept).code == 0
        assert verify(example(), *options, *NOW, "--record", kept).code == 2
    answer = verify(example(), "--from", kept, *NOW)
    assert answer.code == 5
    assert "recorded-not-accepted" in answer.err
    assert "stored responses" in answer.out
    accepted = verify(example(), "--from", kept, *NOW, "--accept-recorded", "--format", "json")
    assert (accepted.code, accepted.json["basis"]) == (0, "RECORDED")
    refuted = changed(example(), "/corpus/asOf", "2029-01-02T03:04:05Z")
    refuted |= {"validUntil": "2029-01-09T03:04:05Z"}
    assert verify(refuted, "--from", kept, *NOW).code == 4
    (tmp_path / "kept/answers.jsonl").write_text("{}\n")
    assert verify(example(), "--from", kept, *NOW).code == 2


def test_coverage_may_be_required(tmp_path: Path) -> None:
    routes = [{"get": "/items", "json": {"items": "range(1,10)"}}]
    with served(routes) as options:
        plan = PLAN.replace('"needle" }', '"item-3" }')
        answer, record = build(tmp_path, plan, *options)
        assert (answer.code, record["claim"]) == (0, "PRESENT")
        assert verify(record, *options).code == 0
        assert verify(record, *options, "--require-coverage", "PARTIAL").code == 0
        low = verify(record, *options, "--require-coverage", "FULL")
    assert low.code == 5
    assert "coverage-too-low" in low.err


@pytest.mark.parametrize(
    "options",
    [
        ("--now", "yesterday"),
        ("--now", "2030-02-30T00:00:00Z"),
        ("--map-origin", "nonsense"),
        ("--map-origin", "https://a.test=http://b.test"),
        ("--allow", "everything"),
        ("--from", "no-such-folder"),
        ("--from", "a", "--record", "b"),
        ("--budget-unit-pages", "0"),
        ("--budget-unit-seconds", "nan"),
        ("--require-coverage", "BEST"),
    ],
)
def test_wrong_usage_is_no_judgement(options: tuple[str, ...], tmp_path: Path) -> None:
    named = [str(tmp_path / one) if one in {"a", "b", "no-such-folder"} else one for one in options]
    answer = verify(example(), *named)
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1


def test_a_private_address_is_refused_unless_it_is_allowed() -> None:
    record = changed(example(), "/corpus/units/0/replay/url", "https://127.0.0.1:9/items")
    refused = verify(record, *NOW, "--retry-wait", "0")
    assert (refused.code, "address_refused" in refused.out) == (5, True)
    for allowed in (("--allow", "127.0.0.0/8"), ("--allow-private",)):
        answer = verify(record, *NOW, "--retry-wait", "0", *allowed)
        assert (answer.code, "source_unreachable" in answer.out) == (5, True)


def drip(peer: Peer) -> None:
    """Send a byte now and then, for ever."""
    peer.request()
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n")
    while True:
        peer.send(b" ")
        peer.sock.settimeout(0.02)
        try:
            peer.sock.recv(1)
        except TimeoutError:
            continue


def test_a_byte_now_and_then_ends_with_the_budget() -> None:
    with serving(drip) as server:
        limits = ("--budget-unit-seconds", "0.3", "--budget-request-seconds", "0.2")
        answer = verify(example(), *NOW, *leading_to(server.origin), *limits, "--format", "json")
    assert answer.code == 5
    assert answer.json["units"][0]["reasons"] == ["budget_exhausted"]


def endless(peer: Peer) -> None:
    """Answer every page with a row and a next one."""
    number = 0
    while peer.request():
        number += 1
        body = json.dumps({"items": [{"id": number, "name": "x"}]}).encode()
        head = f'Link: </items?n={number}>; rel="next"\r\nContent-Length: {len(body)}\r\n\r\n'
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + head.encode() + body)


@pytest.mark.parametrize(
    "limit",
    [
        ("unit-pages", "5"),
        ("unit-rows", "5"),
        ("unit-bytes", "300"),
        ("record-requests", "5"),
    ],
)
def test_a_list_without_end_ends_with_each_budget(limit: tuple[str, str]) -> None:
    with serving(endless) as server:
        options = (*leading_to(server.origin), f"--budget-{limit[0]}", limit[1])
        answer = verify(example(), *NOW, *options, "--format", "json")
    assert answer.code == 5
    [unit] = answer.json["units"]
    assert unit["reasons"] == ["budget_exhausted"]
    assert unit["pages"] <= 8


def test_the_limits_in_the_help_are_those_of_walks() -> None:
    assert Budgets(**{name.replace("-", "_"): value for name, value, _ in _BUDGETS}) == Budgets()
    assert len(_BUDGETS) == len(Budgets.__struct_fields__)


def test_sources_of_a_consensus_are_read_again_when_asked_for() -> None:
    record = example()
    marker = record["corpus"]["units"][0]["boundary"]["endMarker"]
    record["consensus"] = consensus(
        source(operator="Api", locator="https://api.example.test", setDigest=marker),
        source(operator="Bolt", locator="https://b.test", setDigest="ee" * 32),
        source(operator="Mine", locator="local:copy", role="LOCAL_COPY", setDigest=marker),
        mode="SPLIT",
    )["consensus"]
    with served(LIST) as options, served(LIST) as others:
        there = others[1].replace("https://api.example.test", "https://b.test")
        mapped = (*options, "--map-origin", there)
        quiet = verify(record, *mapped, *NOW, "--format", "json")
        told = verify(record, *mapped, *NOW, "--format", "json", "--sources")
        text = verify(record, *mapped, *NOW, "--sources")
    assert (quiet.code, told.code, quiet.json["sources"]) == (0, 0, [])
    found = [(one["operator"], one["recheck"]) for one in told.json["sources"]]
    assert found == [("Api", "MATCH"), ("Bolt", "DRIFT"), ("Mine", "NOT_RECHECKABLE")]
    assert "DRIFT Bolt, https://b.test" in text.out


# build and init


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


# compare, hash, canon, explain, schema


def test_compare_tells_succession_and_equivocation(tmp_path: Path) -> None:
    pin = "ab" * 32 + "i0"
    first, second = tmp_path / "first.json", tmp_path / "second.json"

    def compared(one: Any, other: Any, *options: str) -> int:
        first.write_text(json.dumps(one))
        second.write_text(json.dumps(other))
        named = ("--first-pin", pin, *options)
        answer = refold("coverage", "compare", str(first), str(second), *NOW, *named)
        assert is_plain(answer.out)
        told = refold("coverage", "compare", str(first), str(second), *NOW, *named)
        assert told.code == answer.code
        return answer.code

    later = changed(example(), "/corpus/asOf", "2030-01-02T04:00:00Z")
    assert compared(example(), later) == 0
    assert compared(example(), later | {"supersedes": pin}) == 0
    other = changed(later, "/corpus/units/0/id", "another")
    assert compared(example(), other | {"supersedes": pin}) == 3
    block = consensus()
    split = changed(block, "/consensus/sourceSet/1/setDigest", "ee" * 32)
    split = changed(split, "/consensus/mode", "SPLIT")
    assert compared(block, split) == 3
    assert compared(example(), {"v": 1}) == 1


def test_hash_and_canon_compute_what_is_hashed(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(EXAMPLE_TEXT)
    told = refold("coverage", "hash", str(file), "--format", "json").json
    assert told == {
        "receiptHash": "408db5dd37415710a2e7c99104373be5c49759533b82ab5426f84852688c7244",
        "queryHash": "6ccf86749a627a00881f79a240ae77f1b9e9d04910acbd72fd1a3484fa7f9423",
        "resultHash": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
    }
    canon = refold("coverage", "canon", str(file))
    assert canon.out.encode() == canonical(example())
    statement = refold("coverage", "hash", str(file), "--statement").json
    assert statement["subject"][0]["digest"] == {"sha256": told["receiptHash"]}
    ids = refold("coverage", "hash", "-", stdin=b'["a","b"]')
    assert ids.out.startswith("sha256 0473ef2dc0d324ab659d3580c1134e9d812035905c4781fdd6d529b0c686")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"{", "E_JSON"),
        (b"\xff", "E_ENCODING"),
        (b"1.5", "E_CANON_DOMAIN"),
        (b'{"a":1,"a":2}', "E_DUPLICATE_KEY"),
        (b" " * (2 << 20), "E_TOO_LARGE"),
    ],
)
def test_what_has_no_hash(data: bytes, code: str) -> None:
    for command in ("hash", "canon"):
        answer = refold("coverage", command, "-", stdin=data)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith(f"refold: {code}: ")


@pytest.mark.parametrize("code", [*CODES, *REASONS])
def test_every_code_is_explained(code: str) -> None:
    answer = refold("coverage", "explain", code)
    assert answer.code == 0
    assert answer.out.startswith(code)
    known = CODES.get(code) or REASONS[code]
    assert known.remedy in answer.out
    assert refold("coverage", "explain", code, "--format", "json").json["id"] == code


def test_explain_lists_all_and_knows_no_other() -> None:
    listed = [line.split()[0] for line in refold("coverage", "explain").out.splitlines()]
    assert listed == [*CODES, *REASONS]
    assert refold("coverage", "explain", "E_NOTHING").code == 2


@pytest.mark.parametrize("name", ["record", "report"])
def test_schemas_are_printed(name: str) -> None:
    assert refold("coverage", "schema", name).json == schema(name)  # type: ignore[arg-type]


def test_the_installed_command_verifies(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(EXAMPLE_TEXT)
    with served(LIST) as options:
        answer = refold_process("coverage", "verify", str(file), *options, *NOW)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("VERIFIED")
    with served([{"get": "/items", "drop": True}]) as options:
        away = refold_process("coverage", "verify", str(file), *options, *NOW)
    assert (away.code, away.err) == (5, "")
