"""`refold agentpedia`: what each command prints, and the code it ends with."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli.terminal import COMMAND, MINUTE, environment, is_plain, refold, refold_process
from refold.agentpedia import PROFILES, REASONS, Summary, replay

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests/vectors/agentpedia/replay-vectors.v1.json"
ROWS: dict[str, dict[str, Any]] = json.loads((ROOT / "tests/vectors/metaid/rows.json").read_bytes())
EXAMPLE = ROOT / "docs/examples/edit-war.json"
EVENTS: list[dict[str, Any]] = json.loads(EXAMPLE.read_bytes())["events"]
GENESIS, CREATE, REVIEW, EDIT = (event["pin"] for event in EVENTS[:4])
FROZEN_EDIT, DECIDING_VOTE, WRONG_LANGUAGE = (EVENTS[i]["pin"] for i in (7, 11, 17))

rules_profiles = pytest.mark.parametrize("rules", sorted(PROFILES))


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in an empty folder, with no setting of refold in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in set(os.environ) - set(environment()):
        monkeypatch.delenv(name)


def document(events: list[dict[str, Any]], **options: object) -> bytes:
    return msgspec.json.encode({"events": events, "options": options})


def lines_of(*names: str) -> bytes:
    """Give rows by name as JSON lines."""
    return b"".join(msgspec.json.encode(ROWS[name]) + b"\n" for name in names)


def genesis_row() -> bytes:
    """Give a row, in the shape of the others, of a genesis that the authors of all rows found."""
    payload = {
        **EVENTS[0]["payload"],
        "founders": sorted({row["globalMetaId"] for row in ROWS.values() if "globalMetaId" in row}),
    }
    body = msgspec.json.encode(payload).decode()
    place = {"id": "ab" * 32 + "i0", "genesisHeight": 191_000, "txIndex": 1}
    path = {"path": "/protocols/agentpedia/constitution"}
    content = {"contentBody": "", "contentSummary": body, "contentLength": len(body)}
    return msgspec.json.encode(ROWS["plain"] | place | path | content) + b"\n"


# vectors


@rules_profiles
def test_the_published_vectors_pass_under_both_profiles(rules: str) -> None:
    answer = refold_process("agentpedia", "vectors", str(VECTORS), "--rules", rules)
    assert answer.code == 0
    assert answer.last_line == "25/25 pipeline, 12/12 supplementary"
    assert len(answer.out.splitlines()) == 25 + 12 + 1
    assert answer.err == ""


def test_a_vector_that_is_not_met_says_what_was_expected_and_found(tmp_path: Path) -> None:
    published = json.loads(VECTORS.read_bytes())
    published["vectors"][2]["expect"] = {"params.rulingQuorum": 77}
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(published))
    answer = refold("agentpedia", "vectors", str(broken))
    failed = [line for line in answer.out.splitlines() if line.startswith("FAIL")]
    assert answer.code == 1
    assert answer.last_line == "24/25 pipeline, 12/12 supplementary"
    assert len(failed) == 1
    assert "params.rulingQuorum: expected 77, found " in failed[0]


def test_a_result_of_a_vector_is_a_json_object_a_line() -> None:
    lines = refold("agentpedia", "vectors", str(VECTORS), "--format", "json").out.splitlines()
    results = [json.loads(line) for line in lines[:-1]]
    assert [result["difference"] for result in results] == [""] * 37


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b"[" * 100_000])
def test_what_is_no_file_of_vectors_is_invalid_input(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "vectors.json").write_bytes(content)
    answer = refold("agentpedia", "vectors", "vectors.json")
    assert answer.code == 3
    assert answer.err.startswith("refold: vectors-unreadable: ")
    assert len(answer.err.splitlines()) == 1


# replay of a document


@rules_profiles
@pytest.mark.parametrize("gates", [[], ["--no-schema"]])
def test_the_views_of_a_document_belong_together(rules: str, gates: list[str]) -> None:
    def view(kind: str, *more: str) -> str:
        given = ["agentpedia", "replay", str(EXAMPLE), "--rules", rules, "--view", kind, *gates]
        answer = refold(*given, *more)
        assert (answer.code, answer.err) == (0, "")
        return answer.out

    expected = replay(EXAMPLE.read_bytes(), PROFILES[rules], schema=not gates)
    summary = msgspec.json.decode(view("summary", "--format", "json"), type=Summary)
    assert view("digest") == expected.digest() + "\n"
    full = json.loads(view("full"))
    pack = full.pop("rulePack")
    assert f"{pack['version']} {pack['digest']}" in refold("agentpedia", "rulepack").out
    assert full == msgspec.to_builtins(expected.full())
    assert json.loads(view("common")) == msgspec.to_builtins(expected.common())
    assert summary == expected.summary()
    table = view("summary")
    shown = [summary.digest, rules, *summary.graveyard, *summary.proposals, *summary.editors]
    assert [text for text in (*shown, *(e.key for e in summary.entries)) if text not in table] == []


def test_a_summary_shows_twenty_entries_and_says_how_many_more() -> None:
    create = EVENTS[1]
    others = [
        {
            **create,
            "pin": f"{number:064x}i0",
            "sender": EVENTS[0]["payload"]["founders"][number % 7],
            "payload": {**create["payload"], "slug": f"entry-{number}"},
        }
        for number in range(25)
    ]
    out = refold("agentpedia", "replay", stdin=document([EVENTS[0], *others])).out
    assert out.count("en:entry-") == 20
    assert "5 more" in out


def test_a_document_is_read_from_a_file_or_from_standard_input() -> None:
    from_file = refold_process("agentpedia", "replay", str(EXAMPLE))
    data = EXAMPLE.read_bytes()
    assert from_file == refold_process("agentpedia", "replay", "-", stdin=data)
    assert from_file == refold_process("agentpedia", "replay", stdin=data)


def test_events_may_come_in_any_order_and_twice() -> None:
    shuffled = document([*EVENTS[::-1], *EVENTS[3:7]])
    one = refold("agentpedia", "replay", str(EXAMPLE))
    assert one == refold("agentpedia", "replay", stdin=shuffled)


def test_without_the_gates_a_pin_of_wrong_form_counts() -> None:
    graves = {"gated": [], "--no-schema": ["--no-schema"]}
    found = {
        name: {
            grave["pin"]: grave["reason"]
            for grave in refold(
                "agentpedia", "replay", str(EXAMPLE), "--view", "common", *options
            ).json["graveyard"]
        }
        for name, options in graves.items()
    }
    assert found["gated"][WRONG_LANGUAGE] == "schema-invalid"
    assert WRONG_LANGUAGE not in found["--no-schema"]


def test_only_the_genesis_that_was_named_counts() -> None:
    named = refold("agentpedia", "replay", str(EXAMPLE), "--genesis", GENESIS)
    assert named == refold("agentpedia", "replay", str(EXAMPLE))
    other = refold("agentpedia", "replay", str(EXAMPLE), "--genesis", CREATE)
    assert other.code == 0
    assert "no genesis" in other.out


def test_a_view_can_be_taken_at_a_later_tip() -> None:
    def full(*options: str) -> Any:
        return refold("agentpedia", "replay", str(EXAMPLE), "--view", "full", *options).json

    last = EVENTS[-1]["height"]
    assert full() == full("--tip", str(last + 1))
    later = full("--tip", str(last + 10_000))
    assert later["tip"] == last + 10_000
    assert later["digest"] != full()["digest"]  # signals have settled, the bootstrap is over


def test_a_tip_below_the_last_event_is_refused() -> None:
    answer = refold("agentpedia", "replay", str(EXAMPLE), "--tip", "1003")
    assert answer.code == 2
    assert answer.err.startswith("refold: tip-below-events: ")


# settings


def test_the_profile_comes_from_flag_environment_or_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def digest(*options: str) -> str:
        return refold("agentpedia", "replay", str(EXAMPLE), "--view", "digest", *options).out

    prd, deployed = digest("--rules", "prd"), digest("--rules", "deployed")
    assert digest() == prd != deployed
    (tmp_path / "refold.toml").write_text('agentpedia_rules = "deployed"\n')
    assert digest() == deployed
    monkeypatch.setenv("REFOLD_AGENTPEDIA_RULES", "prd")
    assert digest() == prd
    assert digest("--rules", "deployed") == deployed


def test_settings_are_printed_with_their_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFOLD_AGENTPEDIA_GENESIS", GENESIS)
    monkeypatch.setenv("REFOLD_NO_SUCH", "x")
    text = refold("settings").out
    assert f"agentpedia_genesis = {GENESIS}    [REFOLD_AGENTPEDIA_GENESIS]" in text
    assert "REFOLD_NO_SUCH is set and is no setting of refold" in text
    described = refold("settings", "--format", "json").json
    sources = {row["name"]: row["source"] for row in described["settings"]}
    assert sources["agentpedia_rules"] == "default"
    assert described["ignored"] == ["REFOLD_NO_SUCH"]


def test_a_setting_that_is_wrong_stops_every_command(tmp_path: Path) -> None:
    (tmp_path / "refold.toml").write_text('agentpedia_rules = "none"\nagentpedia_genesys = ""\n')
    answer = refold("agentpedia", "replay", str(EXAMPLE))
    assert answer.code == 2
    codes = [line.split(": ")[1] for line in answer.err.splitlines()]
    assert codes == ["setting-choice", "setting-unknown"]


# batch


def test_in_a_batch_a_bad_document_costs_only_its_own_line(tmp_path: Path) -> None:
    good = [msgspec.json.encode({"id": "x", "mode": "y", "events": EVENTS[:n]}) for n in (4, 7)]
    bad = [
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"events": 1}',
        document([{**EVENTS[0]}, {**EVENTS[0], "height": 5}]),
    ]
    (tmp_path / "documents.jsonl").write_bytes(b"\n".join([good[0], *bad, b"", good[1], b""]))
    answer = refold_process("agentpedia", "replay", "documents.jsonl", "--batch", "--view", "full")
    results = [json.loads(line) for line in answer.out.splitlines()]
    alone = [refold("agentpedia", "replay", "--view", "full", stdin=data).json for data in good]
    assert answer.code == 0
    assert answer.err == ""
    assert [results[0], results[-1]] == alone
    assert [result["error"]["code"] for result in results[1:-1]] == [
        "document-unreadable",
        "document-unreadable",
        "document-unreadable",
        "document-invalid",
        "conflicting-pin",
    ]


def test_a_batch_is_the_same_from_a_file_and_from_standard_input(tmp_path: Path) -> None:
    # A carriage return is white space to JSON, and no end of a line.
    data = document(EVENTS[:4]).replace(b",", b",\r") + b"\r\n\n" + document(EVENTS[:9])
    (tmp_path / "documents.jsonl").write_bytes(data)
    options = ("--batch", "--view", "digest")
    from_file = refold("agentpedia", "replay", "documents.jsonl", *options)
    assert from_file == refold("agentpedia", "replay", "-", *options, stdin=data)
    assert [len(line) for line in from_file.out.splitlines()] == [64, 64]


def test_a_batch_of_nothing_prints_nothing() -> None:
    answer = refold("agentpedia", "replay", "--batch", stdin=b"\n \n")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


# replay of indexer rows


def test_rows_of_an_indexer_fold_like_a_document() -> None:
    data = genesis_row() + lines_of("mempool", "plain", "modified", "cut_detail")
    view = refold_process("agentpedia", "replay", "--view", "full", stdin=data).json
    assert sorted(view["entry"]) == ["en:harbour_pilot", "en:lighthouse", "en:tide_table"]
    assert view["pending"] == [ROWS["mempool"]["id"]]
    assert "grave" not in view


def test_a_list_row_and_the_detail_of_a_pin_are_the_same_pin() -> None:
    def digest(*names: str) -> str:
        stdin = genesis_row() + lines_of(*names)
        answer = refold("agentpedia", "replay", "--view", "digest", stdin=stdin)
        assert answer.code == 0
        return answer.out

    assert digest("plain") == digest("plain_detail") == digest("plain", "plain_detail")
    assert digest("cut_detail") == digest("cut_before_september_2026")


@pytest.mark.parametrize("row", ["modified", "modified_detail"])
def test_of_a_modified_pin_the_first_body_counts(row: str) -> None:
    stdin = genesis_row() + lines_of(row)
    entry = refold("agentpedia", "replay", "--view", "full", stdin=stdin).json["entry"]
    assert entry["en:harbour_pilot"]["versions"][0]["size"] == len(
        "A harbour pilot guides ships thru port."
    )


def test_a_modify_pin_is_no_record_of_the_protocol() -> None:
    stdin = genesis_row() + lines_of("modify")
    graves = refold("agentpedia", "replay", "--view", "full", stdin=stdin).json["grave"]
    assert [grave["reason"] for grave in graves.values()] == [
        "unknown-path"
    ]  # its path is its target


def test_a_row_that_was_cut_is_refused_by_pin_and_line() -> None:
    nobodys = {**ROWS["plain"], "globalMetaId": "", "creator": "", "address": ""}
    data = genesis_row() + b"\n" + lines_of("plain", "cut") + msgspec.json.encode(nobodys)
    answer = refold_process("agentpedia", "replay", stdin=data)
    cut, without_sender = answer.err.splitlines()
    assert answer.code == 3
    assert answer.out == ""
    assert cut.startswith("refold: body-cut: ")
    assert ROWS["cut"]["id"] in cut
    assert " in line 4" in cut
    assert without_sender.startswith("refold: sender-missing: ")
    assert " in line 5" in without_sender


# errors


def _bad_inputs() -> Iterator[tuple[str, bytes, list[str]]]:
    def event(**members: object) -> dict[str, Any]:
        return {**EVENTS[1], **members}

    yield "nothing", b"", ["input-empty"]
    yield "blank", b" \n\t\n", ["input-empty"]
    yield "no JSON", b"hello\n", ["document-unreadable"]
    yield "byte order mark", b"\xef\xbb\xbf{}", ["document-unreadable"]
    yield "no UTF-8", b'{"events": ["\xff"]}', ["document-unreadable"]
    yield "an array", b"[]", ["document-invalid"]
    yield "events no array", b'{"events": {}}', ["document-invalid"]
    yield "an option nobody knows", document([], nosuch=1), ["options-invalid"]
    yield "an option out of range", document([], blocksPerDay=0), ["options-invalid"]
    yield "NUL in a pin id", document([event(pin="a\0")]), ["event-invalid"]
    yield "a fraction as height", document([event(height=1.5)]), ["event-invalid"]
    yield "no txIndex", document([event(txIndex=None)]), ["event-invalid"]
    yield (
        "two events, three problems",
        document([event(sender=1), event(path=None, pin=None)]),
        ["event-invalid"] * 3,
    )
    yield "conflict", document([event(), event(height=7)]), ["conflicting-pin"]
    yield "a row, then none", lines_of("plain") + b"{}\n", ["row-invalid"]


@pytest.mark.parametrize("name", ["replay", "explain", "diff"])
@pytest.mark.parametrize(("data", "codes"), [pytest.param(d, c, id=n) for n, d, c in _bad_inputs()])
def test_each_problem_of_an_input_is_one_line(name: str, data: bytes, codes: list[str]) -> None:
    command = ["agentpedia", name, *([CREATE] if name == "explain" else []), "-"]
    answer = refold(*command, stdin=data)
    lines = answer.err.splitlines()
    assert answer.code == 3
    assert answer.out == ""
    assert [line.split(": ")[:2] for line in lines] == [["refold", code] for code in codes]
    assert is_plain(answer.err)

    as_json = refold(*command, "--format", "json", stdin=data)
    error = json.loads(as_json.err)["error"]
    assert (as_json.code, as_json.out) == (3, "")
    assert error["code"] == codes[0]
    assert [problem["code"] for problem in error["errors"]] == codes


def test_a_conflict_names_both_sources() -> None:
    changed = {**EVENTS[2], "payload": {**EVENTS[2]["payload"], "score": 1}}
    answer = refold("agentpedia", "replay", stdin=document([*EVENTS[:3], changed]))
    assert (
        f"pin {REVIEW} differs in payload between /events/2 and /events/3; "
        "keep the copy that the chain has"
    ) in answer.err


def test_a_hostile_input_gets_a_bounded_answer() -> None:
    answer = refold("agentpedia", "replay", stdin=document([{}] * 5000))
    assert answer.code == 3
    assert len(answer.err.splitlines()) <= 100


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["frob"], "usage"),
        (["agentpedia", "frob"], "usage"),
        (["agentpedia", "replay", "--frob"], "usage"),
        (["agentpedia", "replay", "--rules", "none"], "usage"),
        (["agentpedia", "replay", "--tip", "x"], "usage"),
        (["agentpedia", "replay", "--tip", str(2**53)], "usage"),
        (["agentpedia", "replay", "a", "b"], "usage"),
        (["agentpedia", "explain"], "usage"),
        (["agentpedia", "vectors"], "usage"),
        (["agentpedia", "replay", "no-such-file"], "file-unreadable"),
        (["agentpedia", "replay", "."], "file-unreadable"),
        (["agentpedia", "vectors", "no-such-file"], "file-unreadable"),
    ],
)
def test_a_wrong_call_is_one_line_that_says_where_help_is(arguments: list[str], code: str) -> None:
    answer = refold(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith(f"refold: {code}: ")
    assert len(answer.err.splitlines()) == 1
    assert "; " in answer.err
    as_json = refold(*arguments, "--format", "json")
    assert as_json.code == 2
    if code != "usage" or "replay" in arguments:  # elsewhere the option itself is the first fault
        assert json.loads(as_json.err)["error"]["code"] == code


@pytest.mark.parametrize("arguments", [[], ["agentpedia"]])
def test_without_a_command_the_help_is_shown(arguments: list[str]) -> None:
    answer = refold(*arguments)
    assert answer.code == 2
    assert answer.err.startswith("Usage: refold")


@pytest.mark.parametrize("command", [[], ["agentpedia"], ["agentpedia", "diff"], ["settings"]])
def test_help_is_an_answer(command: list[str]) -> None:
    answer = refold(*command, "--help")
    assert answer.code == 0
    assert answer.out.startswith("Usage: " + " ".join(["refold", *command]))


def test_a_defect_is_a_line_and_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("made\nfor this test")

    # The package exports the function under the name of its module.
    monkeypatch.setattr(sys.modules["refold.agentpedia.replay"], "replay", broken)
    answer = refold("agentpedia", "replay", str(EXAMPLE))
    assert answer.code == 70
    assert answer.err.startswith(r"refold: internal: ZeroDivisionError: made\nfor this test; ")
    assert len(answer.err.splitlines()) == 1


# pipes and signals


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_bytes((document(EVENTS) + b"\n") * 200)
    with subprocess.Popen(
        [COMMAND, "agentpedia", "replay", "many.jsonl", "--batch", "--view", "full"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"tip":1018')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(MINUTE) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["agentpedia", "replay", str(EXAMPLE)],
        ["agentpedia", "replay", str(EXAMPLE), "--view", "digest"],
        ["agentpedia", "explain", CREATE, str(EXAMPLE)],
        ["agentpedia", "diff", str(EXAMPLE)],
        ["--help"],
    ],
)
def test_a_reader_that_never_came_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        command = [COMMAND, *arguments]
        done = subprocess.run(
            command, stdout=pipe, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("options", [["--view", "digest"], ["--view", "summary"], ["--batch"]])
def test_a_result_that_cannot_be_written_is_an_error(options: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMAND, "agentpedia", "replay", "-", *options],
            input=document(EVENTS),
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=MINUTE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"refold: output-unwritable: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_ctrl_c_ends_with_130_and_one_line(tmp_path: Path, form: str) -> None:
    os.mkfifo(tmp_path / "endless")
    command = [COMMAND, "agentpedia", "replay", "endless", "--format", form]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stderr is not None
        with (tmp_path / "endless").open("wb"):  # opens when the command reads it
            process.send_signal(signal.SIGINT)
            error = process.stderr.read()
        assert process.wait(MINUTE) == 130
    assert len(error.splitlines()) == 1
    assert b"interrupted" in error
    assert form == "text" or json.loads(error)["error"]["code"] == "interrupted"


def test_a_terminal_that_knows_only_ascii_gets_the_table_all_the_same() -> None:
    env = environment(PYTHONIOENCODING="ascii")
    answer = refold_process("agentpedia", "diff", str(EXAMPLE), env=env)
    assert (answer.code, answer.err) == (1, "")
    assert answer.out.isascii()


# explain


def explained(pin: str, *options: str, data: bytes | None = None) -> Any:
    given = EXAMPLE.read_bytes() if data is None else data
    answer = refold("agentpedia", "explain", pin, "-", "--format", "json", *options, stdin=given)
    assert (answer.code, answer.err) == (0, "")
    return answer.json


def test_an_applied_pin_is_explained_by_what_it_changed() -> None:
    said = explained(DECIDING_VOTE)
    changed = {(c["section"], c["member"]): c["after"] for c in said["changes"]}
    assert said["outcome"] == "applied"
    assert changed["proposal", "state"] == "effective"
    assert changed["entry", "status"] == "normal"
    assert said["entry"]["status"] == "frozen"  # before it


def test_a_refused_pin_is_explained_by_what_its_rule_compared() -> None:
    said = explained(FROZEN_EDIT)
    assert said["outcome"] == "frozen-unauthorized"
    assert said["source"] == REASONS["frozen-unauthorized"].source
    assert said["remedy"]
    assert said["sender"]["id"] not in said["values"]["writers"]
    assert said["changes"] == []
    assert said["standing"]["grave"]["reason"] == "frozen-unauthorized"


def test_a_pin_in_the_mempool_is_explained_as_pending() -> None:
    data = document([{**event, "height": None} for event in EVENTS[:1]])
    assert explained(GENESIS, data=data)["outcome"] == "pending"


def test_a_pin_that_is_not_there_cannot_be_explained() -> None:
    answer = refold("agentpedia", "explain", "nosuch", str(EXAMPLE))
    assert answer.code == 3
    assert answer.err.startswith("refold: pin-unknown: ")


@pytest.mark.parametrize(
    "pin", [event["pin"] for event in EVENTS], ids=[f"event {n}" for n in range(len(EVENTS))]
)
def test_the_text_of_an_explanation_says_what_its_json_says(pin: str) -> None:
    said = explained(pin)
    text = refold("agentpedia", "explain", pin, str(EXAMPLE)).out
    whole = " ".join(text.split())
    assert text.splitlines()[0] == f"{said['outcome']}  {pin}"
    for part in (said["says"], said["remedy"], said["source"], *said["values"]):
        assert part in whole


# diff


def test_a_stream_on_which_the_profiles_agree_has_no_difference() -> None:
    data = document(EVENTS[:4])
    answer = refold("agentpedia", "diff", stdin=data)
    assert answer.code == 0
    assert answer.out == "the two profiles give the same view\n"
    compared = refold("agentpedia", "diff", "--format", "json", stdin=data).json
    assert compared == {"outcomes": [], "differences": [], "says": {}}


def test_a_difference_is_shown_with_both_values_and_its_cause() -> None:
    answer = refold("agentpedia", "diff", str(EXAMPLE))
    compared = refold("agentpedia", "diff", str(EXAMPLE), "--format", "json").json
    outcomes = {o["pin"]: (o["deployed"], o["prd"]) for o in compared["outcomes"]}
    status = next(
        d for d in compared["differences"] if d["path"] == ["entries", "en:tide_table", "status"]
    )
    assert answer.code == 1
    assert outcomes[WRONG_LANGUAGE] == ("applied", "schema-invalid")
    assert (status["deployed"], status["prd"]) == ("frozen", "normal")
    assert "aliases" in status["causes"]
    assert "aliases" in compared["says"]
    line = next(line for line in answer.out.splitlines() if "en:tide_table status" in line)
    assert '"frozen"' in line
    assert '"normal"' in line


# hostile pins; test_hostile.py has more of them


COMMANDS: list[Callable[[str], list[str]]] = [
    lambda _: ["replay", "-"],
    lambda _: ["replay", "-", "--view", "full"],
    lambda pin: ["explain", pin, "-"],
    lambda _: ["diff", "-"],
    lambda _: ["signals", "-"],
    lambda _: ["registry", "export", "-"],
]


@pytest.mark.parametrize(
    "command", COMMANDS, ids=["summary", "full", "explain", "diff", "signals", "registry"]
)
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="deep array"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="deep object"),
        pytest.param(b"1" + b"0" * 400, id="10^400"),
        pytest.param(b"1" + b"0" * 100_000, id="10^100000"),
        pytest.param(b"1e400", id="1e400"),
        pytest.param(b'"\\u0000"', id="NUL"),
        pytest.param(b'"\\ud800"', id="lone surrogate"),
    ],
)
@pytest.mark.parametrize("member", ["slug", "score", "outcome"])
def test_a_payload_harms_only_its_own_pin(
    command: Callable[[str], list[str]], value: bytes, member: str
) -> None:
    hurt = {**EVENTS[3], "pin": "f" * 64 + "i0", "payload": {member: "HERE"}}
    data = document([*EVENTS[:4], hurt]).replace(b'"HERE"', value)
    for gates in ([], ["--no-schema"]):
        answer = refold("agentpedia", *command(hurt["pin"]), *gates, stdin=data)
        assert answer.code in {0, 1}
        assert answer.err == ""
        assert is_plain(answer.out)
