"""`refold agentpedia signals`, `rulepack` and `registry`: results, and the codes they end with."""

import json
from functools import cache
from pathlib import Path

import pytest

from cli.terminal import refold
from refold.agentpedia import replay

ROOT = Path(__file__).parents[2]
PACK_VECTORS = ROOT / "tests/vectors/agentpedia/rulepack-vectors.json"


@cache
def demo() -> bytes:
    return refold("agentpedia", "demo").out.encode()


def test_the_demo_is_the_same_for_the_same_seed() -> None:
    assert refold("agentpedia", "demo", "--seed", "1").out.encode() == demo()
    assert refold("agentpedia", "demo", "--seed", "2").out.encode() != demo()


def test_the_text_of_a_report_shows_what_its_json_says() -> None:
    report = refold("agentpedia", "signals", "--format", "json", stdin=demo()).json
    text = refold("agentpedia", "signals", stdin=demo()).out
    scored = [rev for rev in report["revs"] if rev["score"]]
    fired = {one["rule"] for rev in scored for one in rev["fired"]}
    assert f"Scored revs ({len(scored)})" in text
    assert f"Marks between editors ({len(report['marks'])})" in text
    assert fired
    assert [rule for rule in fired if rule not in text] == []


def test_signals_do_not_touch_the_view() -> None:
    report = refold("agentpedia", "signals", "--format", "json", stdin=demo()).json
    full = refold("agentpedia", "replay", "--view", "full", stdin=demo()).json
    assert full["digest"] == replay(demo()).digest()
    assert full["rulePack"]["digest"] == report["pack"]["digest"]


def test_the_vectors_of_the_rule_pack_pass() -> None:
    answer = refold("agentpedia", "rulepack", "--vectors", str(PACK_VECTORS))
    count = len(json.loads(PACK_VECTORS.read_bytes())["vectors"])
    assert answer.code == 0
    assert answer.last_line == f"{count}/{count} rule vectors"


def test_a_vector_of_the_rule_pack_that_is_not_met_ends_with_1(tmp_path: Path) -> None:
    published = json.loads(PACK_VECTORS.read_bytes())
    published["vectors"] = published["vectors"][:2]
    published["vectors"][0]["score"] += 1
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(published))
    answer = refold("agentpedia", "rulepack", "--vectors", str(broken))
    assert answer.code == 1
    assert answer.last_line == "1/2 rule vectors"


def test_the_registry_documents_are_exported_link_by_link(tmp_path: Path) -> None:
    def export(data: bytes, *options: str) -> dict[str, dict[str, object]]:
        arguments = ("agentpedia", "registry", "export", "--format", "json", *options)
        answer = refold(*arguments, stdin=data)
        assert (answer.code, answer.err) == (0, "")
        documents: dict[str, dict[str, object]] = answer.json
        return documents

    whole = json.loads(demo())
    half = json.dumps({**whole, "events": whole["events"][: len(whole["events"]) // 2]}).encode()
    pin = "ab" * 32 + "i0"
    assert export(half)["root"]["index"] is None
    assert export(half, "--index-pin", pin)["root"]["index"] == pin
    text = refold("agentpedia", "registry", "export", stdin=half).out
    body = next(line for line in text.splitlines() if line.startswith("registry-index "))
    (tmp_path / "index.json").write_text(body.removeprefix("registry-index "))
    second = export(demo(), "--previous", str(tmp_path / "index.json"), "--previous-pin", pin)
    assert second["index"]["sequence"] == 1
    assert second["index"]["prevIndex"] == pin


@pytest.mark.parametrize("half", [["--previous", "x"], ["--previous-pin", "x"]])
def test_half_of_a_previous_index_is_wrong_usage(half: list[str]) -> None:
    answer = refold("agentpedia", "registry", "export", *half, stdin=demo())
    assert answer.code == 2
    assert answer.err.startswith("refold: registry-previous-half: ")
