"""`refold coverage draft`, `publish`, `import`, `export`, `demo`: to a chain and back."""

import json
import signal
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cases.servers import scripted
from cli.terminal import COMMAND, MINUTE, environment, is_plain, refold
from coverage.receipts import changed, check, example, manual
from refold.coverage import verify as walk_again
from refold.coverage.chainpin import PATH
from refold.coverage.demo import ORIGIN, SCENES, demo_receipts, demo_sources
from refold.metaid.devnet.net import Devnet

NOW = ("--now", "2030-01-03T00:00:00Z")
DEMO_NOW = "2026-12-01T00:00:00Z"
LOOPBACK = ("--allow", "127.0.0.0/8")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a receipt that is older than the blocks of a local chain."""
    record = changed(example(), "/corpus/asOf", "2022-01-01T00:00:00Z")
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(record))
    return path


@pytest.fixture
def chain() -> Iterator[tuple[Devnet, str]]:
    with Devnet() as net, net.serve() as url:
        yield net, url


def test_a_draft_is_the_tuple_that_a_wallet_writes(file: Path) -> None:
    told = refold("coverage", "draft", str(file), "--format", "json").json
    assert list(told) == [
        *("flag", "operation", "path", "encryption", "version", "contentType", "payload"),
    ]
    assert (told["path"], told["version"]) == (PATH, "1.2.1")
    payload = refold("coverage", "draft", str(file), "--payload").out
    assert payload == told["payload"]
    hashes = refold("coverage", "hash", str(file), "--format", "json").json
    assert sha256(payload.encode()).hexdigest() == hashes["receiptHash"]
    lines = refold("coverage", "draft", str(file)).out.splitlines()
    assert lines[0] == "flag metaid"
    assert lines[-1] == f"payload {payload}"
    strange = json.loads(file.read_bytes()) | {"question": "\x9b2J\u202e \U000e0001 ä"}
    told = refold("coverage", "draft", "-", stdin=json.dumps(strange).encode()).out
    assert is_plain(told)
    assert json.loads(told.splitlines()[-1].removeprefix("payload ")) == strange
    for command in ("draft", "publish"):
        refused = refold("coverage", command, "-", stdin=b"{}")
        assert (refused.code, refused.out) == (1, "")
        assert "E_MISSING_FIELD" in refused.err


def test_published_and_imported(file: Path, chain: tuple[Devnet, str], tmp_path: Path) -> None:
    net, url = chain
    database = ("--database", f"sqlite:///{tmp_path / 'refold.db'}")
    come = ("coverage", "import", "--indexer", url, *LOOPBACK, *database)
    said = refold("coverage", "publish", str(file), "--url", url, "--mine", "--format", "json").json
    pin = said["pinId"]
    assert said["height"] == net.height
    bad = b'{"v":"\x1b[2J"}'
    net.pin(net.key("stranger"), PATH, bad)
    net.mine()
    proved = ("--transactions", f"{url}/open-api-mvc")
    first = refold(*come, *proved, "--format", "json")
    assert first.code == 0, first.err
    told = first.json
    assert (told["new"], told["refused"], told["missing"]) == (1, 1, 0)
    assert [problem["code"] for problem in told["refusals"][0]["errors"]] == ["E_JSON"]
    net.pin(net.key("stranger"), PATH, bad)
    net.mine()
    again = refold(*come)
    assert again.code == 0
    assert is_plain(again.out)
    assert again.out.startswith("0 new, 0 again by another pin, 0 moved, 0 vanished, 1 known")
    assert "1 refused, 1 refused before" in again.out
    assert "E_JSON" in again.out
    text = refold("coverage", "publish", str(file), "--url", url, "--mine").out
    assert text.startswith("pinned as ")
    assert pin not in text
    # A source of transactions that knows none proves nothing: what is new is told as missing.
    unproved = refold(*come, "--transactions", f"{url}/nothing")
    assert unproved.code == 5
    assert "import-incomplete" in unproved.err
    assert "tx-unknown" in unproved.out
    assert refold(*come).out.startswith("0 new, 1 again")


def test_a_receipt_is_exported(tmp_path: Path) -> None:
    file = tmp_path / "a receipt.json"
    file.write_text(json.dumps(example()))
    name = check(example()).receipt_hash
    text = refold("coverage", "export", str(file), *NOW)
    assert (text.code, f"receiptHash `{name}`" in text.out) == (0, True)
    statement = refold("coverage", "export", str(file), *NOW, "--format", "intoto").json
    assert statement["subject"] == [{"name": file.name, "digest": {"sha256": name}}]
    log = refold("coverage", "export", str(file), *NOW, "--format", "sarif").json
    assert log["runs"][0]["properties"]["receiptHash"] == name

    for broken in (b"{}", b"\xff"):
        for form in ("intoto", "markdown"):
            refused = refold("coverage", "export", "-", "--format", form, stdin=broken)
            assert (refused.code, refused.out) == (1, "")
        log = refold("coverage", "export", "-", "--format", "sarif", stdin=broken).json
        assert log["runs"][0]["results"]


def test_a_report_goes_along_if_it_is_on_the_receipt(tmp_path: Path) -> None:
    shown = demo_receipts()[0]
    file, report = tmp_path / "receipt.json", tmp_path / "report.json"
    file.write_bytes(shown.data)
    now = ("--now", DEMO_NOW)

    def exported(told: Any) -> Any:
        report.write_bytes(told if isinstance(told, bytes) else msgspec.json.encode(told))
        return refold("coverage", "export", str(file), "--report", str(report), *now)

    verdict = walk_again(shown.data, demo_sources(), DEMO_NOW)
    assert "judged VERIFIED, coverage FULL" in exported(verdict).out
    other = walk_again(demo_receipts()[1].data, demo_sources(), DEMO_NOW)
    for told, code in ((other, "report-of-another"), (b"[]", "report-form"), (b"{", "report-form")):
        answer = exported(told)
        assert (answer.code, answer.out) == (2, "")
        assert f"refold: {code}: " in answer.err


def test_the_demo_shows_every_judgement(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    answer = refold("coverage", "demo", str(folder), "--now", DEMO_NOW)
    assert answer.code == 0
    assert is_plain(answer.out)
    for scene in SCENES:
        line = next(line for line in answer.out.splitlines() if f" {scene.name}" in line)
        assert line.split() == [scene.judgement, scene.coverage or "-", scene.name]
        data = (folder / f"{scene.name}.json").read_bytes()
        valid = refold("coverage", "validate", "-", "--now", DEMO_NOW, stdin=data)
        assert valid.code == (1 if scene.judgement == "INVALID" else 0)
    judgements = {scene.judgement for scene in SCENES}
    assert judgements == {"VERIFIED", "INVALID", "REFUTED", "STALE", "INCONCLUSIVE"}
    told = refold("coverage", "demo", "--now", DEMO_NOW, "--format", "json").out.splitlines()
    reports = [json.loads(line)["report"] for line in told]
    assert [report["judgement"] for report in reports] == [scene.judgement for scene in SCENES]
    assert all(ORIGIN in report["origins"] for report in reports if report["units"])


def test_the_demo_is_the_same_bytes_always() -> None:
    digest = sha256(b"".join(shown.data for shown in demo_receipts())).hexdigest()
    demo_receipts.cache_clear()
    assert sha256(b"".join(shown.data for shown in demo_receipts())).hexdigest() == digest


def test_a_statement_of_what_is_no_receipt_is_refused() -> None:
    for data in (b"[]", b"{}", json.dumps(manual() | {"claim": "ABSENT"}).encode()):
        answer = refold("coverage", "hash", "-", "--statement", stdin=data)
        assert (answer.code, answer.out) == (1, "")


def test_the_sources_of_the_demo_stay_to_be_walked(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    command = (COMMAND, "coverage", "demo", str(folder), "--serve")
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as process:
        try:
            assert process.stdout is not None
            line = next(line for line in process.stdout if "--map-origin" in line)
            option = line.split()[-1]
            file = str(folder / "registry.json")
            again = refold("coverage", "verify", file, "--map-origin", option)
            assert again.code == 3
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(MINUTE) == 130


@pytest.mark.parametrize(
    "answer",
    [{"status": 404, "json": {}}, {"json": []}, {"text": "<html>"}, {"json": {"openapi": "3.1.0"}}],
)
def test_self_of_what_is_no_node_is_told(answer: dict[str, Any]) -> None:
    with scripted({"routes": [{"get": "/openapi.json", **answer}]}) as (server, _):
        told = refold("coverage", "self", server.origin, "--contains", "x", "--retry-wait", "0")
    assert (told.code, told.out) == (2, "")
    assert "refold: own-" in told.err


def test_self_of_a_node_whose_list_does_not_end_is_not_full() -> None:
    text = {"type": "string"}
    page = {"properties": {"items": {"items": {"properties": {"id": text}}}, "nextCursor": text}}
    good = {"headers": {"Link": {}}, "content": {"application/json": {"schema": page}}}
    document = {
        "openapi": "3.1.0",
        "paths": {"/items": {"get": {"responses": {"200": good}}}},
    }
    routes = [
        {"get": "/openapi.json", "json": document},
        {"get": "/items", "json": {"items": "range(1,100)"}},
    ]
    with scripted({"routes": routes}) as (server, _):
        told = refold("coverage", "self", server.origin, "--contains", "x", "--retry-wait", "0")
    assert told.code == 5
    assert told.json["claim"] == "INCONCLUSIVE"
    assert "coverage-too-low" in told.err
