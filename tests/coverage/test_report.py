"""The report: JSON by its schema, text for a person, SARIF for tools (spec §5.5 R-10, §6)."""

import json
from typing import Any, get_args

import jsonschema_rs
import msgspec
import pytest

from coverage.receipts import DIGEST, NOW, PIN, Json, check, consensus, example, manual, present
from refold.coverage.codes import CODES, REASONS
from refold.coverage.hashes import set_hash
from refold.coverage.judge import Judgement, judge
from refold.coverage.render import MAX_IDS, render
from refold.coverage.report import Report, report_of, report_unreplayed
from refold.coverage.sarif import sarif
from refold.coverage.schemas import schema
from refold.coverage.unit import Found, Traversal


def replayed(record: Json, *walks: Traversal, now: str = NOW, **more: Any) -> Report:
    validation = check(record)
    assert validation.receipt is not None
    return report_of(validation, walks, judge(validation.receipt, walks, now), now, **more)


def walk(**changes: Any) -> Traversal:
    whole: dict[str, Any] = {
        "pages": 2,
        "rows": 3,
        "ends": ("CURSOR_END",),
        "set_hash": set_hash(["1", "2", "3"]),
        "distinct": 3,
        "last_id": "3",
        "bytes": 512,
        "requests": 3,
        "first_at": NOW,
        "last_at": NOW,
    }
    return Traversal(unit="acme-list", **whole | changes)


def reports() -> dict[str, Report]:
    """One report of each judgement, and some more."""
    hostile = example() | {"question": "\x1b[31mred\n" + "x" * 250}
    hostile["extra\x1b"] = 1
    found = Found("ev\x1bil\n" + "y" * 400)
    return {
        "VERIFIED": replayed(example(), walk()),
        "STALE": replayed(example(), walk(matches=(found,)), basis="RECORDED"),
        "REFUTED": replayed(
            present(),
            walk(
                ends=("EXHAUSTED",),
                rows=2,
                matches=(Found(PIN, "ee" * 32),),
                set_hash=set_hash([PIN, "00" * 32 + "i0"]),
            ),
        ),
        "INCONCLUSIVE": replayed(
            example(),
            walk(ends=(), reasons=("budget_exhausted",), warnings=("a BOM\n was stripped",)),
            origins={"https://api.example.test": "http://127.0.0.1:1"},
            why=[{"budget_exhausted": "unit_pages", "page_loop": "not met"}],
        ),
        "INVALID": report_unreplayed(check(hostile | {"claim": "PRESENT", "judgement": 1}), NOW),
        "unreplayed": report_unreplayed(check(consensus() | {"coverage": "FULL"}), NOW),
        "manual": replayed(manual(), Traversal(unit="desk")),
        "bytes": report_unreplayed(check([]), NOW),
    }


@pytest.mark.parametrize("name", reports())
def test_a_report_fits_its_schema_and_comes_back(name: str) -> None:
    report = reports()[name]
    data = msgspec.json.encode(report)
    assert jsonschema_rs.Draft7Validator(schema("report")).is_valid(json.loads(data))
    assert msgspec.json.decode(data, type=Report) == report


@pytest.mark.parametrize("judgement", get_args(Judgement))
def test_each_judgement_is_the_first_word_of_its_text(judgement: str) -> None:
    report = reports()[judgement]
    assert report.judgement == judgement
    assert render(report).split(maxsplit=1)[0] == judgement


@pytest.mark.parametrize("name", reports())
def test_a_text_is_plain_lines(name: str) -> None:
    text = render(reports()[name])
    assert text.endswith("\n")
    assert text.replace("\n", "").isprintable()
    assert max(map(len, text.splitlines())) < 700


def test_a_text_names_units_ends_reasons_and_what_would_change_it() -> None:
    text = render(reports()["INCONCLUSIVE"])
    assert "unit acme-list  HTTP_JSON  PARTIAL" in text
    assert "2 pages, 3 rows (recorded 3), no end proved (recorded CURSOR_END)" in text
    assert "budget_exhausted: unit_pages" in text
    assert "not met" not in text
    assert REASONS["budget_exhausted"].remedy in text
    assert "https://api.example.test was asked at http://127.0.0.1:1" in text
    assert "what would change it" not in render(reports()["VERIFIED"])
    assert "stored responses" in render(reports()["STALE"])


def test_a_text_says_what_of_the_record_itself_keeps_it_open() -> None:
    record = example() | {"justification": "no_match_in_declared_subset"}
    record["blindspots"] = [{"what": "the rest", "why": "no end was seen"}]
    record["corpus"]["units"][0]["boundary"]["termination"] = "UNKNOWN"
    text = render(replayed(record, walk(ends=(), reasons=("source_truncated",))))
    assert "(UNKNOWN, SET_HASH): PARTIAL at most" in text
    changes = text.partition("what would change it:")[2]
    assert "Issue a receipt whose units state a proved end." in changes
    assert REASONS["source_truncated"].remedy in changes
    record |= {"claim": "INCONCLUSIVE", "justification": "termination_not_proven"}
    assert "a proved end." not in render(replayed(record, walk(ends=())))
    assert "only a person can look" in render(reports()["manual"])
    unwalked = render(reports()["unreplayed"])
    assert "nothing was walked" in unwalked.splitlines()[0]
    assert "version 1.2.1" in unwalked


def test_a_text_tells_errors_with_place_and_remedy() -> None:
    text = render(reports()["INVALID"])
    assert "E_CLAIM_RESULT at /claim" in text
    assert CODES["E_CLAIM_RESULT"].remedy in text
    assert "W_IGNORED_FIELD at /judgement" in text
    assert "E_TYPE at the record" in render(reports()["bytes"])


def test_a_text_tells_some_ids_and_counts_the_rest() -> None:
    many = tuple(Found(str(number)) for number in range(MAX_IDS + 5))
    text = render(replayed(example(), walk(matches=many)))
    assert "and 5 more" in text
    one = render(replayed(example(), walk(matches=many[:1])))
    assert "more" not in one.split("matches now")[1].splitlines()[0]


def test_weak_evidence_is_printed() -> None:
    record = example()
    record["corpus"]["units"][0]["boundary"] |= {"endMarkerKind": "ITEM_ID", "endMarker": "3"}
    report = replayed(record, walk())
    assert report.units[0].weak_evidence
    assert "weak evidence: ITEM_ID" in render(report)
    assert "weak evidence" not in render(reports()["VERIFIED"])


def test_a_report_tells_what_r10_lists() -> None:
    report = reports()["REFUTED"]
    assert (report.coverage, report.basis) == ("FULL", "LIVE")
    assert report.receipt_hash == check(present()).receipt_hash
    [unit] = report.units
    assert (unit.observed_recorded, unit.observed_replayed) == (2, 2)
    assert (unit.pages, unit.bytes, unit.requests, unit.drift) == (2, 512, 3, "unit_unchanged")
    assert report.tool.startswith("refold ")
    unreplayed = reports()["unreplayed"]
    assert (unreplayed.coverage, unreplayed.mode, unreplayed.basis) == (None, "AGREE", "NONE")
    assert unreplayed.warnings[0].code == "W_IGNORED_FIELD"
    assert reports()["STALE"].added == ("ev\x1bil\n" + "y" * 400,)
    gone = replayed(present({"id": PIN, "digest": DIGEST}), walk(ends=("EXHAUSTED",), rows=2))
    assert gone.removed == (PIN,)


def test_every_unit_has_its_words() -> None:
    with pytest.raises(ValueError, match="zip"):
        replayed(example(), walk(), why=[{}, {}])


# --- SARIF


@pytest.mark.parametrize("name", reports())
def test_sarif_has_a_rule_for_each_code_and_results_that_point_to_them(name: str) -> None:
    report = reports()[name]
    log = json.loads(json.dumps(sarif(report, "receipt.json")))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(ids) == len(set(ids))
    assert set(ids) == set(CODES) | set(REASONS)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        [location] = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "receipt.json"
        [place] = location["logicalLocations"]
        assert place["fullyQualifiedName"] == "" or place["fullyQualifiedName"][0] == "/"
    expected = [finding.code for finding in (*report.errors, *report.warnings)]
    expected += [reason for unit in report.units for reason in unit.reasons]
    assert [result["ruleId"] for result in run["results"]] == [*expected, *report.reasons]
    assert run["properties"]["judgement"] == report.judgement


def test_sarif_points_at_members_and_units() -> None:
    def places(name: str) -> list[str]:
        results = sarif(reports()[name])["runs"][0]["results"]
        return [
            each["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for each in results
        ]

    assert "/claim" in places("INVALID")
    assert places("INCONCLUSIVE") == ["/corpus/units/0"]
    assert places("STALE") == ["", ""]  # result_drift and unit_unchanged
    assert (
        "physicalLocation" not in sarif(reports()["STALE"])["runs"][0]["results"][0]["locations"][0]
    )
