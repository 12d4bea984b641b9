"""Each case of the cases page through the command line: never a false ABSENT, never VERIFIED."""

import json
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

import pytest

from cases.receipts import NOW, absent_receipts
from cases.scripts import CASES, Case
from cases.walking import walk, walking
from cli.sourced import build, served, units_of, verify
from cli.terminal import refold, refold_process
from coverage.receipts import changed, consensus, example, present, sealed, source
from refold.coverage import set_hash, validate
from refold.coverage.plan_toml import plan_text

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
NAMED = {"match": {"field": "name", "op": "eq", "value": "needle"}}
BY_ID = {"match": {"field": "id", "op": "eq", "value": "needle"}}


def plan_of(case: Case) -> str:
    plan = {"question": "Is there a needle?", "criterion": case.canon, "units": units_of(case)}
    return plan_text(plan)


@every_case
def test_a_builder_claims_what_was_seen_and_it_verifies(case: Case, tmp_path: Path) -> None:
    with served(case.routes) as options:
        answer, record = build(tmp_path, plan_of(case), *options)
    if case.found:
        assert record["claim"] == "PRESENT"
        assert [match["id"] for match in record["result"]["matches"]] == list(case.found)
    elif case.coverage == "FULL":
        assert record["claim"] == "ABSENT"
    else:
        assert record["claim"] == "INCONCLUSIVE"
        assert answer.err.startswith("refold: absence-not-claimed: ")
        assert record["blindspots"]
    assert answer.code == (5 if record["claim"] == "INCONCLUSIVE" else 0)
    with served(case.routes) as options:
        again = verify(record, *options)
    assert again.code == answer.code
    assert again.out.split()[0] == ("INCONCLUSIVE" if answer.code else "VERIFIED")


@every_case
def test_a_careless_receipt_of_absence_is_not_verified(case: Case) -> None:
    with walking(case) as (transport, _):
        walked = walk(case, transport)
    records = list(absent_receipts(case, walked))
    record = next(one for one in records if validate(json.dumps(one).encode(), NOW).is_valid)
    with served(case.routes) as options:
        answer = verify(record, "--now", NOW, *options)
    if case.coverage == "FULL" and not case.found:
        assert answer.code == 0
    else:
        assert answer.code in ({3, 4} if case.found else {5})


@pytest.mark.parametrize(
    ("name", "wanted", "same"),
    [
        ("Straße", "STRASSE", True),
        ("\u1e9e", "ss", True),
        ("\ufb01", "fi", True),
        ("\u212a", "k", True),
        ("ΣΟΦΟΣ", "σοφος", True),
        ("\u0130", "i", False),
        ("\u0131", "i", False),
        ("I", "\u0131", False),
        ("\uff21", "a", False),
    ],
)
def test_d2_case_folding(name: str, wanted: str, same: bool, tmp_path: Path) -> None:
    unit = {"id": "u", "kind": "HTTP_JSON", "url": "https://api.example.test/i", "arrayPath": ""}
    for left, right in ((name, wanted), (wanted, name)):
        criterion = {"caseFold": True, "match": {"field": "name", "op": "eq", "value": right}}
        plan = plan_text({"question": "?", "criterion": criterion, "units": [unit]})
        with served([{"get": "/i", "json": [{"id": 1, "name": left}]}]) as options:
            answer, record = build(tmp_path, plan, *options)
        if is_normalized("NFC", right):
            assert answer.code == 0
            assert record["claim"] == ("PRESENT" if same else "ABSENT")
        else:
            assert "E_CANON_NOT_NFC" in answer.err


def test_d2_no_locale_changes_it() -> None:
    routes = [{"get": "/i", "json": [{"id": 1, "name": "TITLE"}, {"id": 2, "name": "t\u0131tle"}]}]
    flags = ["--url", "https://api.example.test/i", "--match", "name", "eq", "title", "--case-fold"]
    with served(routes) as options:
        here = refold_process(
            "coverage", "build", *flags, *options, env={"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR"}
        )
    assert [match["id"] for match in here.json["result"]["matches"]] == ["1"]


def judged(kind: str) -> tuple[Any, list[dict[str, Any]], tuple[str, ...]]:
    """Give a receipt, a source and options for each judgement."""
    receipt = example()
    rows = [{"id": n, "name": f"item-{n}"} for n in (1, 2, 3)]
    link = {"Link": '<{base}/items?page=2>; rel="next"'}

    def pages(first: Any, last: Any, **more: Any) -> list[dict[str, Any]]:
        return [
            {"get": "/items", "query": {"page": "2"}, "json": {"items": last}, **more},
            {"get": "/items", "headers": link, "json": {"items": first}},
        ]

    whole = pages(rows[:2], rows[2:])
    needle = {"id": 3, "name": "receipt"}
    cases: dict[str, tuple[Any, list[dict[str, Any]], tuple[str, ...]]] = {
        "VERIFIED": (receipt, whole, ()),
        "INVALID": (changed(receipt, "/result/matchCount", 1), whole, ()),
        "REFUTED": (by_id("3"), whole, ()),
        "STALE": (receipt, pages(rows[:2], [needle]), ()),
        "STALE expired": (receipt, whole, ("--now", "2030-01-09T03:04:06Z")),
        "INCONCLUSIVE": (receipt, pages(rows[:2], rows[2:], status=503), ()),
        "INCONCLUSIVE unreachable": (receipt, [{"get": "/items", "drop": True}], ()),
        "INCONCLUSIVE broken": (receipt, [], ()),
    }
    return cases[kind]


def by_id(wanted: str) -> Any:
    """The example with a criterion on ids, which an ABSENT over 1, 2, 3 gets wrong for them."""
    match = {"field": "id", "op": "eq", "value": int(wanted)}
    record = changed(example(), "/query/canon", {"match": match})
    return sealed(record)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("VERIFIED", 0),
        ("INVALID", 1),
        ("REFUTED", 3),
        ("STALE", 4),
        ("STALE expired", 4),
        ("INCONCLUSIVE", 5),
        ("INCONCLUSIVE unreachable", 5),
        ("INCONCLUSIVE broken", 5),
    ],
)
def test_e1_every_judgement_has_its_exit_code(kind: str, code: int) -> None:
    record, routes, more = judged(kind)
    with served(routes) as options:
        answer = verify(record, *options, *(more or ("--now", "2030-01-03T00:00:00Z")))
        told = verify(
            record, "--format", "json", *options, *(more or ("--now", "2030-01-03T00:00:00Z"))
        )
    assert answer.code == told.code == code
    assert answer.out.split()[0] == told.json["judgement"] == kind.split(maxsplit=1)[0]
    assert "what would change it" in answer.out or code in {0, 1}


@pytest.mark.parametrize(
    ("sources", "mode"),
    [
        ((source(), source(locator="https://b.test")), "SELF_CHECK"),
        (
            (source(), source(operator="B", locator="local:copy", role="LOCAL_COPY")),
            "SELF_CHECK",
        ),
        (
            (
                source(),
                source(operator="B", locator="https://b.test", digestFrame="MATCH_LIST"),
            ),
            "INCOMPARABLE",
        ),
        (
            (
                source(),
                source(operator="B", locator="https://b.test", setDigest="ee" * 32),
                source(operator="C", locator="https://c.test", digestFrame="MATCH_LIST"),
            ),
            "SPLIT",
        ),
        (
            (
                source(),
                source(operator="B", locator="https://b.test", outcome="UNREACHABLE", setDigest=""),
            ),
            "SINGLE",
        ),
        ((source(), source(operator="B", locator="https://b.test")), "AGREE"),
    ],
)
def test_e3_no_mode_but_the_recomputed_one(sources: tuple[Any, ...], mode: str) -> None:
    modes = ("SINGLE", "SELF_CHECK", "AGREE", "INCOMPARABLE", "SPLIT")
    for claimed in modes:
        answer = checked(consensus(*sources, mode=claimed))
        found = {error["code"] for error in answer["errors"]}
        assert found == (set() if claimed == mode else {"E_CONSENSUS_MODE"})


@pytest.mark.parametrize(
    "second",
    [
        source(operator="ACME ", locator="https://A.test/"),
        source(operator="Bolt", locator="https://a.test"),
    ],
)
def test_e3_nobody_counts_twice(second: Any) -> None:
    errors = checked(consensus(source(), second, mode="SELF_CHECK"))["errors"]
    assert "E_DUPLICATE_SOURCE" in {error["code"] for error in errors}


def checked(record: Any) -> Any:
    data = json.dumps(record).encode()
    now = "2030-01-03T00:00:00Z"
    answer = refold("coverage", "validate", "-", "--now", now, "--format", "json", stdin=data)
    assert answer.code == (0 if answer.json["valid"] else 1)
    return answer.json


def test_e5_weak_markers_do_not_dodge_refutation() -> None:
    """A hundred rows, ITEM_ID as the only marker, a needle among them."""
    rows = [{"id": f"row-{n}", "name": f"item-{n}"} for n in range(100)]
    rows[40] = {"id": "needle", "name": "needle"}
    ids = changed(example(), "/query/canon", BY_ID)
    boundary = {
        "termination": "SINGLE_PAGE",
        "observed": 100,
        "endMarkerKind": "ITEM_ID",
        "endMarker": "row-99",
    }
    ids = sealed(changed(ids, "/corpus/units/0/boundary", boundary))
    names = sealed(changed(ids, "/query/canon", NAMED))
    now = ("--now", "2030-01-03T00:00:00Z")
    page = {"items": rows, "has_more": False}
    with served([{"get": "/items", "json": page}]) as options:
        assert verify(ids, *options, *now).code == 3
        stale = verify(names, *options, *now)
    assert stale.code == 4
    assert "unit_unchanged" in stale.out
    assert "weak evidence: ITEM_ID" in stale.out
    grown = {"items": [*rows, {"id": "row-100", "name": "new"}], "has_more": False}
    with served([{"get": "/items", "json": grown}]) as options:
        assert verify(ids, *options, *now).code == 4


def test_e8_the_version_gate() -> None:
    withdrawn = checked(example() | {"v": "1.1.0"})["errors"]
    assert [error["code"] for error in withdrawn] == ["E_VERSION_GATE"]
    assert "re-issue" in withdrawn[0]["message"]
    pins = checked(present() | {"v": "1.0.0"})["errors"]
    assert {error["code"] for error in pins} == {"E_VERSION_GATE"}
    sourced = checked(consensus() | {"v": "1.2.0"})["errors"]
    assert {error["code"] for error in sourced} == {"E_VERSION_GATE"}
    assert checked(example() | {"v": "1.1.1"})["valid"]
    unknown = checked(example() | {"v": "1.3.0"})["errors"]
    assert [error["code"] for error in unknown] == ["E_VERSION_UNKNOWN"]


def test_e8_a_version_that_is_only_validated_is_never_verified() -> None:
    record, routes, _ = judged("VERIFIED")
    with served(routes) as options:
        answer = verify(record | {"v": "1.0.0"}, *options, "--now", "2030-01-03T00:00:00Z")
    assert answer.code == 5


def test_c14_digests_and_documents_need_details() -> None:
    record = changed(present(), "/corpus/units/0/replay/fetch", "LIST_ONLY")
    places = {(error["code"], error["pointer"]) for error in checked(record)["errors"]}
    assert places == {
        ("E_DIGEST_SOURCE", "/corpus/units/0/replay/fetch"),
        ("E_DIGEST_SOURCE", "/result/matches/0/digest"),
    }
    left_out = sealed(changed(present(), "/result/matches/0/digest", ...))
    assert [error["code"] for error in checked(left_out)["errors"]] == ["E_BLINDSPOT_MISSING"]
    spot = {"what": "the body", "why": "the indexer lost it"}
    assert checked(changed(left_out, "/blindspots/0", spot))["valid"]


def test_the_example_of_the_appendix_verifies_against_its_source() -> None:
    record, routes, _ = judged("VERIFIED")
    marker = record["corpus"]["units"][0]["boundary"]["endMarker"]
    assert marker == set_hash(["1", "2", "3"])
    with served(routes) as options:
        answer = verify(record, *options, "--now", "2030-01-03T00:00:00Z", "--format", "json")
    assert answer.code == 0
    assert answer.json["receiptHash"] == (
        "408db5dd37415710a2e7c99104373be5c49759533b82ab5426f84852688c7244"
    )
    assert answer.json["units"][0]["drift"] == "unit_unchanged"
