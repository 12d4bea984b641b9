"""`refold coverage validate` and `verify`: what they take, print, and end with."""

import json
import os
import subprocess
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.sourced import LIST, NOW, PLAN, build, leading_to, served, verify
from cli.terminal import COMMAND, MINUTE, environment, is_plain, refold, refold_process
from coverage.receipts import EXAMPLE_TEXT, VALID, changed, consensus, example, source
from kernel.hostile import Peer, serving
from refold.cli.coverage_walks import _BUDGETS
from refold.coverage import CODES, Budgets, schema

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
    bad = tmp_path / "a: bad é.json"
    bad.write_text("{}")
    log = refold("coverage", "validate", str(bad), str(bad), "--format", "sarif").json
    assert [len(run["results"]) for run in log["runs"]] == [len(log["runs"][0]["results"])] * 2
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in log["runs"][0]["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert place.endswith("/a%3A%20bad%20%C3%A9.json")  # a URI reference, not a file name


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


@settings(deadline=None)
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
    told = {name.replace("-", "_"): value for name, value, _ in _BUDGETS}
    assert told == msgspec.structs.asdict(Budgets())


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


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_a_reader_who_leaves_does_not_make_it_verified(form: str) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    for command in ("verify", "validate"):
        done = subprocess.run(
            [COMMAND, "coverage", command, "-", "--format", form],
            input=b"{}",
            stdout=theirs,
            env=environment(),
            timeout=MINUTE,
            check=False,
        )
        assert done.returncode == 1
    os.close(theirs)


def test_a_long_walk_tells_on_a_terminal_how_far_it_is(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(EXAMPLE_TEXT)
    ours, theirs = os.openpty()
    with served([route | {"delayMs": 300} for route in LIST]) as options:
        done = subprocess.run(
            [COMMAND, "coverage", "verify", str(file), *options, *NOW],
            stdout=subprocess.PIPE,
            stderr=theirs,
            env=environment(TERM="xterm", COLUMNS="120"),
            timeout=MINUTE,
            check=False,
        )
    os.close(theirs)
    told = os.read(ours, 65_536).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "acme-list: 1 page" in told
    assert is_plain(done.stdout.decode())
