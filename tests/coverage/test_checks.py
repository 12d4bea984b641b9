"""C-1 to C-15, C-18, C-21, C-24 and the version gate: what must fit together in a record."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage.receipts import (
    DIGEST,
    NOW,
    PIN,
    Json,
    changed,
    check,
    codes,
    consensus,
    errors,
    example,
    http_unit,
    manual,
    manual_unit,
    pins_unit,
    present,
    sealed,
    warnings,
)
from refold.coverage.hashes import EMPTY_SET, set_hash
from refold.coverage.record import JUSTIFICATIONS
from refold.kernel.canon import digest

UNIT = "/corpus/units/0"
END = f"{UNIT}/boundary"
OTHER_PIN = "12" * 32 + "i1"


def over(*units: Json, **members: Any) -> Json:
    """The example over other units."""
    record = example() | members
    record["corpus"] = record["corpus"] | {"units": list(units)}
    return record


# --- F-1


@pytest.mark.parametrize("version", ["1.0.0", "1.1.1", "1.2.0", "1.2.1"])
def test_f1_versions_that_pass(version: str) -> None:
    assert errors(changed(example(), "/v", version)) == []


@pytest.mark.parametrize(
    "version", ["", "1", "1.2", "1.2.2", "2.0.0", "v1.2.1", "1.2.1 ", "01.2.1"]
)
def test_f1_versions_that_do_not_exist(version: str) -> None:
    assert errors(changed(example(), "/v", version)) == [("/v", "E_VERSION_UNKNOWN")]


def test_f1_1_1_0_was_withdrawn_and_the_remedy_is_a_new_receipt() -> None:
    [error] = check(changed(example(), "/v", "1.1.0")).errors
    assert (error.pointer, error.code) == ("/v", "E_VERSION_GATE")
    assert "re-issue" in error.message
    assert "new receipt" in error.hint


@pytest.mark.parametrize(
    ("version", "passes"), [("1.0.0", False), ("1.1.1", True), ("1.2.0", True)]
)
def test_f1_1_0_0_may_not_walk_pins(version: str, passes: bool) -> None:
    told = errors(changed(present(), "/v", version))
    assert told == ([] if passes else [("/v", "E_VERSION_GATE")])


@pytest.mark.parametrize("version", ["1.0.0", "1.1.1", "1.2.0"])
def test_f1_a_source_set_needs_1_2_1(version: str) -> None:
    assert errors(changed(consensus(), "/v", version)) == [("/v", "E_VERSION_GATE")]


def test_f1_other_checks_run_on_records_behind_the_gate() -> None:
    record = changed(changed(example(), "/v", "1.1.0"), "/result/matchCount", 1)
    assert codes(record) == {"E_VERSION_GATE", "E_MATCH_COUNT", "E_CLAIM_RESULT"}


# --- C-1 to C-4


@pytest.mark.parametrize(("count", "passes"), [(0, False), (1, True), (2, False)])
def test_c1_match_count_is_the_number_of_matches(count: int, passes: bool) -> None:
    told = errors(changed(present(), "/result/matchCount", count))
    assert (("/result/matchCount", "E_MATCH_COUNT") in told) is not passes


@pytest.mark.parametrize("record", [example(), present(), manual()])
def test_c2_the_result_hash_recomputes(record: Json) -> None:
    place = "/result/resultHash"
    assert errors(changed(record, place, "0" * 64)) == [(place, "E_RESULT_HASH")]
    upper = record["result"]["resultHash"].upper()
    assert errors(changed(record, place, upper)) == [(place, "E_RESULT_HASH"), (place, "E_TYPE")]
    short = changed(record, place, record["result"]["resultHash"][:63])
    assert errors(short) == [(place, "E_LENGTH"), (place, "E_RESULT_HASH")]


def test_c2_hashes_id_and_digest_in_their_order_and_nothing_else() -> None:
    both = [{"id": PIN, "digest": DIGEST}, {"id": OTHER_PIN, "digest": DIGEST}]
    record = present(*both)
    assert errors(record) == []
    for wrong in (
        digest(both[::-1]),
        digest([{"id": match["id"]} for match in both]),
        digest([match | {"at": 1} for match in both]),
        digest([[match["id"], match["digest"]] for match in both]),
    ):
        told = errors(changed(record, "/result/resultHash", wrong))
        assert told == [("/result/resultHash", "E_RESULT_HASH")]


def test_c2_a_digest_left_out_is_no_member() -> None:
    record = present({"id": PIN})
    record["blindspots"] = [{"what": PIN, "why": "the indexer keeps no bytes"}]
    assert errors(record) == []
    wrong = digest([{"id": PIN, "digest": None}])
    assert codes(changed(record, "/result/resultHash", wrong)) == {"E_RESULT_HASH"}


@pytest.mark.parametrize("record", [example(), present(), manual()])
def test_c3_the_query_hash_recomputes(record: Json) -> None:
    place = "/query/queryHash"
    assert errors(changed(record, place, "0" * 64)) == [(place, "E_QUERY_HASH")]
    assert codes(changed(record, place, record["query"]["queryHash"].upper())) == {
        "E_QUERY_HASH",
        "E_TYPE",
    }


def test_c3_the_question_takes_no_part_in_it_and_case_fold_does() -> None:
    assert errors(changed(example(), "/question", "Something else?")) == []
    for fold in (False, ...):
        told = errors(changed(example(), "/query/canon/caseFold", fold))
        assert told == [("/query/queryHash", "E_QUERY_HASH")]


@pytest.mark.parametrize("claim", ["ABSENT", "PRESENT", "INCONCLUSIVE"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_c4_the_claim_fits_the_matches(claim: str, count: int) -> None:
    record = present(*[{"id": f"{n}" + PIN[1:], "digest": DIGEST} for n in range(count)])
    record["result"] |= {"matchCount": count, "matches": record["result"]["matches"][:count]}
    record = sealed(record | {"claim": claim})
    record["justification"] = JUSTIFICATIONS.get(claim, ("under_investigation",))[-1]
    record["corpus"]["units"].append(manual_unit())
    record["blindspots"] = [{"what": "a", "why": "b"}]
    fits = (count > 0) == (claim == "PRESENT")
    assert errors(record) == ([] if fits else [("/claim", "E_CLAIM_RESULT")])


# --- C-5 to C-7


def test_c5_unit_ids_are_unique() -> None:
    assert errors(over(http_unit("a"), http_unit("A"))) == []
    told = errors(over(http_unit("a"), http_unit("b"), http_unit("a"), http_unit("a")))
    assert told == [(f"/corpus/units/{n}/id", "E_DUPLICATE_UNIT") for n in (2, 3)]


@pytest.mark.parametrize("name", ["", " ", "一个单位", "a\tb", "\U0001f600", "a/b~c"])
def test_c5_unit_ids_hold_any_characters(name: str) -> None:
    assert errors(changed(example(), f"{UNIT}/id", name)) == []


@pytest.mark.parametrize("name", ["a\nb", "a\n", "\r", "a\r\nb"])
def test_c5_but_no_line_break(name: str) -> None:
    told = errors(changed(example(), f"{UNIT}/id", name))
    assert told == [(f"{UNIT}/id", "E_DUPLICATE_UNIT")]


TIMES = ["/corpus/asOf", "/validUntil"]


@pytest.mark.parametrize("place", TIMES)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "2030-01-02",
        "2030-01-02T03:04:05",
        "2030-01-02T03:04:05z",
        "2030-01-02t03:04:05Z",
        "2030-01-02 03:04:05Z",
        "2030-01-02T03:04:05+00:00",
        "2030-01-02T03:04:05.0Z",
        "2030-01-02T03:04:60Z",
        "2030-01-02T24:00:00Z",
        "2030-02-29T00:00:00Z",
        "2030-13-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2030-01-02T03:04:05Z\n",
        "٢٠٣٠-01-02T03:04:05Z",
    ],
)
def test_c6_times_have_one_form(place: str, text: str) -> None:
    assert errors(changed(example(), place, text)) == [(place, "E_TIME_FORMAT")]


@pytest.mark.parametrize(
    ("now", "passes"),
    [
        ("2030-01-02T02:59:04Z", False),
        ("2030-01-02T02:59:05Z", True),
        ("2030-01-02T03:04:05Z", True),
        ("2040-01-01T00:00:00Z", True),
        ("0001-01-01T00:00:00Z", False),
    ],
)
def test_c6_as_of_may_be_300_seconds_ahead_of_the_clock(now: str, passes: bool) -> None:
    assert errors(example(), now) == ([] if passes else [("/corpus/asOf", "E_ASOF_FUTURE")])


@pytest.mark.parametrize(
    ("until", "passes"),
    [
        ("2030-01-02T03:04:04Z", False),
        ("2030-01-02T03:04:05Z", False),
        ("2030-01-02T03:04:06Z", True),
        ("9999-12-31T23:59:59Z", True),
    ],
)
def test_c7_valid_until_is_after_as_of(until: str, passes: bool) -> None:
    told = errors(changed(example(), "/validUntil", until))
    assert told == ([] if passes else [("/validUntil", "E_VALID_UNTIL")])


def test_c7_an_expired_record_is_still_valid() -> None:
    assert errors(example(), "2031-01-01T00:00:00Z") == []


# --- C-8 and C-9


@pytest.mark.parametrize(
    ("counts", "passes"),
    [
        ({"0": 1, "1": 1}, True),
        ({"0": 2}, True),
        ({"0": 2, "-1": 0}, True),
        ({"0": 1}, False),
        ({"0": 2, "1": 1}, False),
        ({}, False),
    ],
)
def test_c8_the_status_counts_add_up(counts: dict[str, int], passes: bool) -> None:
    told = errors(changed(present(), f"{END}/statusCounts", counts))
    assert told == ([] if passes else [(f"{END}/statusCounts", "E_STATUS_SUM")])


def test_c8_a_count_below_zero_cannot_balance_another() -> None:
    told = errors(changed(present(), f"{END}/statusCounts", {"0": 3, "1": -1}))
    assert told == [(f"{END}/statusCounts/1", "E_RANGE")]


def listed(*ids: str, observed: int = 3) -> Json:
    """PRESENT over one HTTP_JSON unit."""
    record = present(*[{"id": name} for name in ids])
    record["query"]["canon"] = example()["query"]["canon"]
    record["corpus"]["units"] = [http_unit(observed=observed)]
    return sealed(record)


def test_c9_match_ids_are_unique() -> None:
    assert errors(listed("a", "A", "á")) == []
    told = errors(listed("a", "b", "a"))
    assert told == [("/result/matches/2/id", "E_DUPLICATE_MATCH")]


@pytest.mark.parametrize(("observed", "passes"), [(1, False), (2, True), (3, True)])
def test_c9_a_list_has_no_more_matches_than_rows(observed: int, passes: bool) -> None:
    told = errors(listed("a", "b", observed=observed))
    assert told == ([] if passes else [("/result/matches", "E_MATCH_OVERFLOW")])


def test_c9_the_rows_of_all_units_count_and_pins_have_more_identities_than_rows() -> None:
    record = listed("a", "b", "c", "d")
    record["corpus"]["units"].append(http_unit("more", observed=1))
    assert errors(record) == []
    many = present(*[{"id": f"{n:064x}i0", "digest": DIGEST} for n in range(6)])
    assert errors(many) == []
    many["corpus"]["units"].append(http_unit())
    assert errors(many) == []


# --- C-11, C-12, C-21


@pytest.mark.parametrize("kind", ["CURSOR", "ITEM_ID", "TOTAL_COUNT", "NONE"])
def test_c11_pins_take_set_hash(kind: str) -> None:
    marker = {"CURSOR": "c=", "ITEM_ID": PIN, "TOTAL_COUNT": "total=2", "NONE": ""}[kind]
    record = changed(changed(present(), f"{END}/endMarkerKind", kind), f"{END}/endMarker", marker)
    assert (f"{END}/endMarkerKind", "E_END_MARKER") in errors(record)


@pytest.mark.parametrize("marker", ["", "ab", "AB" * 32, "ab" * 32 + "\n", "0x" + "ab" * 31])
@pytest.mark.parametrize("record", [example(), present()])
def test_c11_a_set_hash_is_64_lower_hex(record: Json, marker: str) -> None:
    told = errors(changed(record, f"{END}/endMarker", marker))
    assert told == [(f"{END}/endMarker", "E_END_MARKER")]


MARKERS = {
    "SET_HASH": (["ab" * 32], ["", "total=3"]),
    "TOTAL_COUNT": (
        ["total_count=39", "hits.total=0", "a=b=3", "t=9007199254740991"],
        [
            "",
            "total",
            "total=",
            "=3",
            "total=-1",
            "total=03",
            "total=3.0",
            "total=1e3",
            "total= 3",
            "total=9007199254740992",
            "a..b=3",
            "a[0]=3",
            "*=3",
            "total=٣",
            "total=" + "9" * 400,
        ],
    ),
    "ITEM_ID": (["acme/one", " ", "3"], [""]),
    "CURSOR": (["link:next=", "cursor=abc", "c=d=e"], ["", "=abc", "cursor"]),
    "NONE": ([""], [" ", "x"]),
}


@pytest.mark.parametrize("kind", MARKERS)
def test_the_end_marker_has_the_form_of_its_kind(kind: str) -> None:
    termination = "COUNT_MATCHED" if kind == "TOTAL_COUNT" else "CURSOR_END"
    good, bad = MARKERS[kind]
    for marker in good + bad:
        unit = http_unit(endMarkerKind=kind, endMarker=marker, termination=termination)
        record = over(unit, justification="no_match_in_full_coverage")
        if kind == "NONE":
            record |= {"justification": "no_match_in_declared_subset"}
            record["blindspots"] = [{"what": "a", "why": "b"}]
        told = errors(record)
        assert told == ([] if marker in good else [(f"{END}/endMarker", "E_END_MARKER")]), marker


@pytest.mark.parametrize("char", ["\n", "\t", "\x00", "\x1f", "\x7f", "\x85", "\x9f"])
def test_the_end_marker_has_no_control_characters(char: str) -> None:
    unit = http_unit(endMarkerKind="CURSOR", endMarker=f"c={char}")
    assert errors(over(unit)) == [(f"{END}/endMarker", "E_END_MARKER")]


@pytest.mark.parametrize(
    "termination", ["EXHAUSTED", "CURSOR_END", "SINGLE_PAGE", "COUNT_MATCHED", "UNKNOWN"]
)
@pytest.mark.parametrize("kind", ["CURSOR", "ITEM_ID", "TOTAL_COUNT", "SET_HASH", "NONE"])
def test_c12_count_matched_and_total_count_go_together(termination: str, kind: str) -> None:
    marker = MARKERS[kind][0][0]
    unit = http_unit(termination=termination, endMarkerKind=kind, endMarker=marker)
    record = over(unit, claim="INCONCLUSIVE", justification="under_investigation")
    fits = kind == "NONE" or (termination == "COUNT_MATCHED") == (kind == "TOTAL_COUNT")
    assert errors(record) == ([] if fits else [(f"{END}/termination", "E_TERMINATION_MARKER")])


@pytest.mark.parametrize(
    ("termination", "passes"),
    [
        ("EXHAUSTED", True),
        ("CURSOR_END", True),
        ("UNKNOWN", True),
        ("SINGLE_PAGE", False),
        ("COUNT_MATCHED", False),
    ],
)
def test_c12_pins_never_end_on_one_page_or_by_a_count(termination: str, passes: bool) -> None:
    told = errors(changed(present(), f"{END}/termination", termination))
    assert told == ([] if passes else [(f"{END}/termination", "E_TERMINATION_MARKER")])


@pytest.mark.parametrize(("observed", "passes"), [(0, False), (1, True)])
def test_c21_no_item_has_no_id(observed: int, passes: bool) -> None:
    unit = http_unit(observed=observed, endMarkerKind="ITEM_ID", endMarker="x")
    assert errors(over(unit)) == ([] if passes else [(f"{END}/endMarkerKind", "E_END_MARKER")])


@pytest.mark.parametrize("unit", [http_unit, pins_unit])
@pytest.mark.parametrize("observed", [0, 1])
@pytest.mark.parametrize("empty", [False, True])
def test_c21_the_hash_of_no_ids_goes_with_no_rows(unit: Any, observed: int, empty: bool) -> None:
    made = unit()
    made["boundary"] |= {
        "observed": observed,
        "endMarker": EMPTY_SET if empty else set_hash(["x"]),
    }
    made["boundary"].pop("statusCounts", None)
    fits = empty == (observed == 0)
    assert errors(over(made)) == ([] if fits else [(f"{END}/endMarker", "E_END_MARKER")])


# --- C-13


WEAK = {
    "manual": manual_unit(),
    "unknown": http_unit(termination="UNKNOWN"),
    "none": http_unit("none", endMarkerKind="NONE", endMarker=""),
}
EMPTY = http_unit("empty", observed=0, endMarker=EMPTY_SET, termination="EXHAUSTED")
BLIND = [{"what": "a", "why": "b"}]


@pytest.mark.parametrize("claim", ["ABSENT", "INCONCLUSIVE"])
def test_c13_a_justification_is_there_and_is_the_claims_own(claim: str) -> None:
    record = over(manual_unit(), claim=claim, blindspots=BLIND)
    assert errors(changed(record, "/justification", ...)) == [("/justification", "E_JUSTIFICATION")]
    for owner, labels in JUSTIFICATIONS.items():
        for label in labels:
            if owner != claim:
                told = errors(changed(record, "/justification", label))
                assert told == [("/justification", "E_JUSTIFICATION")]
    for wrong, code in (("it is not there", "E_ENUM"), (None, "E_TYPE"), ([], "E_TYPE")):
        told = errors(changed(record, "/justification", wrong))
        assert told == sorted([("/justification", "E_JUSTIFICATION"), ("/justification", code)])


def test_c13_present_needs_none() -> None:
    assert warnings(present()) == []
    record = changed(present(), "/justification", "no_match_in_full_coverage")
    assert errors(record) == []
    assert warnings(record) == [("/justification", "W_JUSTIFICATION_UNUSED")]


def test_c13_full_coverage_needs_units_that_can_reach_it() -> None:
    record = over(http_unit(), justification="no_match_in_full_coverage")
    assert errors(record) == []
    for unit in WEAK.values():
        told = errors(over(http_unit("a"), unit, justification="no_match_in_full_coverage"))
        assert told == [("/justification", "E_JUSTIFICATION")]


def test_c13_all_sources_empty() -> None:
    record = over(EMPTY, EMPTY | {"id": "b"}, justification="all_sources_empty")
    assert errors(record) == []
    for unit in (http_unit(), *WEAK.values()):
        told = errors(over(EMPTY, unit, justification="all_sources_empty"))
        assert told == [("/justification", "E_JUSTIFICATION")]


def test_c13_a_declared_subset_needs_a_unit_without_end_and_a_blindspot() -> None:
    for unit in WEAK.values():
        record = over(unit, justification="no_match_in_declared_subset", blindspots=BLIND)
        assert errors(record) == []
        assert errors(record | {"blindspots": []}) == [("/justification", "E_JUSTIFICATION")]
    record = over(http_unit(), justification="no_match_in_declared_subset", blindspots=BLIND)
    assert errors(record) == [("/justification", "E_JUSTIFICATION")]


@pytest.mark.parametrize("label", JUSTIFICATIONS["INCONCLUSIVE"])
def test_c13_labels_of_inconclusive(label: str) -> None:
    def passes(*units: Json, blindspots: list[Json]) -> bool:
        members = {"claim": "INCONCLUSIVE", "justification": label, "blindspots": blindspots}
        told = errors(over(*units, **members))
        assert told in ([], [("/justification", "E_JUSTIFICATION")])
        return not told

    unknown, ended, desk = WEAK["unknown"], http_unit("ended"), manual_unit()
    free = label not in {
        "termination_not_proven",
        "manual_source_only",
        "criterion_not_expressible",
    }
    assert passes(ended, blindspots=[]) is free
    assert passes(ended, blindspots=BLIND) is (free or label == "criterion_not_expressible")
    assert passes(ended, unknown, blindspots=[]) is (free or label == "termination_not_proven")
    assert passes(ended, desk, blindspots=BLIND) is (label != "manual_source_only")
    assert passes(desk, blindspots=BLIND)


# --- C-14 and C-15


def test_c14_a_digest_needs_the_pins_details() -> None:
    assert errors(present()) == []
    told = errors(changed(present(), f"{UNIT}/replay/fetch", "LIST_ONLY"))
    assert told == [
        (f"{UNIT}/replay/fetch", "E_DIGEST_SOURCE"),  # the criterion reads doc.path
        ("/result/matches/0/digest", "E_DIGEST_SOURCE"),
    ]


def test_c14_an_http_match_never_has_a_digest() -> None:
    record = listed("a")
    assert errors(record) == []
    record["result"]["matches"][0]["digest"] = DIGEST
    assert errors(sealed(record)) == [("/result/matches/0/digest", "E_DIGEST_SOURCE")]


def test_c14_a_person_may_have_seen_the_bytes() -> None:
    record = listed("a")
    record["corpus"]["units"] = [manual_unit()]
    record["result"]["matches"][0]["digest"] = DIGEST
    assert errors(sealed(record)) == []


def test_c14_among_other_units_one_with_details_is_enough() -> None:
    record = listed("a", PIN)
    record["corpus"]["units"].append(pins_unit())
    record["result"]["matches"][1]["digest"] = DIGEST
    assert errors(sealed(record)) == []


@pytest.mark.parametrize("field", ["doc.path", "doc", "doc.a.b"])
@pytest.mark.parametrize("wrap", ["", "not", "any", "all"])
def test_c14_doc_paths_of_the_criterion_need_details(field: str, wrap: str) -> None:
    leaf: Json = {"field": field, "op": "exists", "value": True}
    match = leaf if not wrap else {wrap: leaf if wrap == "not" else [leaf]}
    record = over(pins_unit(), query={"canon": {"match": match}, "queryHash": ""})
    assert errors(sealed(record)) == []
    told = errors(changed(record, f"{UNIT}/replay/fetch", "LIST_ONLY"))
    assert told == [(f"{UNIT}/replay/fetch", "E_DIGEST_SOURCE")]


@pytest.mark.parametrize("field", ["chain.path", "document", "a.doc.b", ""])
def test_c14_other_paths_do_not(field: str) -> None:
    canon = {"match": {"field": field, "op": "exists", "value": True}}
    record = sealed(over(pins_unit(fetch="LIST_ONLY"), query={"canon": canon, "queryHash": ""}))
    assert errors(record) == []
    canon = {"match": {"field": "doc.x", "op": "exists", "value": True}}
    assert errors(sealed(over(http_unit(), query={"canon": canon, "queryHash": ""}))) == []


def test_c14_an_omitted_digest_of_a_pin_needs_a_blindspot() -> None:
    record = present({"id": PIN, "digest": DIGEST}, {"id": OTHER_PIN})
    assert errors(record) == [("/blindspots", "E_BLINDSPOT_MISSING")]
    assert errors(record | {"blindspots": BLIND}) == []
    assert errors(listed("a")) == []


@pytest.mark.parametrize(
    ("key", "passes"),
    [
        ("chain.operation", True),
        ("chain.id", True),
        ("doc.path", True),
        ("doc.a.b", True),
        ("chain.contentSummary", False),
        ("chain.status", False),
        ("chain.", False),
        ("chain", False),
        ("chain.a.b", False),
        ("doc.", False),
        ("doc", False),
        ("path", False),
        ("", False),
        ("Chain.id", False),
        ("doc.a[0]", False),
        ("doc.*", False),
        ("chain.status ", True),
    ],
)
def test_c15_filter_keys(key: str, passes: bool) -> None:
    told = errors(over(pins_unit(filter={key: "x"})))
    assert told == ([] if passes else [(f"{UNIT}/replay/filter/{key}", "E_FILTER_KEY")])


@pytest.mark.parametrize(("count", "passes"), [(0, True), (8, True), (9, False)])
def test_c15_at_most_eight_keys(count: int, passes: bool) -> None:
    told = errors(over(pins_unit(filter={f"doc.x{n}": "" for n in range(count)})))
    assert told == ([] if passes else [(f"{UNIT}/replay/filter", "E_FILTER_KEY")])


def test_c15_values_are_texts_and_doc_keys_need_details() -> None:
    place = f"{UNIT}/replay/filter"
    assert errors(over(pins_unit(filter={"doc.a": 1}))) == [(f"{place}/doc.a", "E_TYPE")]
    told = errors(over(pins_unit(fetch="LIST_ONLY", filter={"doc.a": "1", "chain.id": "2"})))
    assert (f"{place}/doc.a", "E_DIGEST_SOURCE") in told


# --- C-18


@pytest.mark.parametrize(
    "url",
    [
        "https://a.test",
        "https://a.test/",
        "https://a.test:8443/x?y=z&page=1",
        "https://A.test/x%20y?keys=1&tokens=2&monkey=3",
        "https://192.0.2.1/x",
        "https://[2001:db8::1]/x",
        "https://a.test/signature/key",
        "https://a.test/?se=1&sp=2&sv=3",
        "https://xn--bcher-kva.test/?q=a@b",
    ],
)
def test_c18_urls_that_pass(url: str) -> None:
    assert errors(changed(example(), f"{UNIT}/replay/url", url)) == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://a.test/",
        "ftp://a.test/",
        "HTTPS://a.test/",
        "https:/a.test",
        "https://",
        "https:///x",
        "https://user@a.test/",
        "https://user:pass@a.test/",
        "https://a.test/#x",
        "https://a.test/ x",
        "https://a.test/\n",
        "https://bücher.test/",
        "https://a..test/",
        "https://a.test:0/",
        "https://a.test:65536/",
        "https://a.test:x/",
        "https://a.test\\@b.test/",
        "https://0x7f.1/",
        "//a.test/",
    ],
)
def test_c18_urls_that_do_not(url: str) -> None:
    assert errors(changed(example(), f"{UNIT}/replay/url", url)) == [
        (f"{UNIT}/replay/url", "E_URL")
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("token", "access_token", "api_key", "apikey", "key", "sig", "signature", "auth"),
        *("password", "X-Amz-Signature", "X-Amz-Credential", "X-Goog-Signature", "Expires"),
        *("TOKEN", "Key", "expires", "x-amz-date", "%74oken", "to%6Ben"),
    ],
)
@pytest.mark.parametrize("form", ["?{}=1", "?a=b&{}=1", "?{}", "?a=b;{}=1", "?{}=&c=d"])
def test_c18_secrets(name: str, form: str) -> None:
    place = f"{UNIT}/replay/url"
    told = errors(changed(example(), place, "https://a.test/x" + form.format(name)))
    assert told == [(place, "E_URL_SECRET")]


@pytest.mark.parametrize(
    ("endpoint", "passes"),
    [
        ("https://man.example.test", True),
        ("https://man.example.test:8443", True),
        ("https://man.example.test/", False),
        ("https://man.example.test/api", False),
        ("https://man.example.test?x=1", False),
        ("https://man.example.test#x", False),
        ("https://me@man.example.test", False),
        ("http://man.example.test", False),
        ("man.example.test", False),
        ("https://", False),
        ("https://a..test", False),
    ],
)
def test_c18_an_endpoint_is_a_bare_origin(endpoint: str, passes: bool) -> None:
    place = f"{UNIT}/replay/endpoint"
    told = errors(changed(present(), place, endpoint))
    assert told == ([] if passes else [(place, "E_URL")])


# --- C-24


@pytest.mark.parametrize(
    ("pin", "passes"),
    [
        ("ab" * 32 + "i0", True),
        ("00" * 32 + "i9", True),
        ("ab" * 32 + "i10", False),
        ("AB" * 32 + "i0", False),
        ("ab" * 32, False),
        ("ab" * 31 + "i0", False),
        ("ab" * 32 + "i0\n", False),
        ("", False),
    ],
)
def test_c24_supersedes_is_a_pin_id(pin: str, passes: bool) -> None:
    told = errors(example() | {"supersedes": pin})
    assert told == ([] if passes else [("/supersedes", "E_SUPERSEDES")])
    assert errors(example() | {"supersedes": 1}) == [("/supersedes", "E_TYPE")]


# --- all of them


def test_all_errors_are_told_sorted_by_pointer_and_code() -> None:
    record = changed(example(), "/claim", "PRESENT")
    record = changed(record, "/corpus/asOf", "2031-01-01T00:00:00Z")
    record = changed(record, "/result/matchCount", 3)
    record = changed(record, f"{UNIT}/replay/url", "http://me@a.test/?token=1")
    record["signature"] = record["extra"] = 1
    assert errors(record) == [
        ("/corpus/asOf", "E_ASOF_FUTURE"),
        (f"{UNIT}/replay/url", "E_URL"),
        (f"{UNIT}/replay/url", "E_URL_SECRET"),
        ("/extra", "E_UNKNOWN_FIELD"),
        ("/result/matchCount", "E_MATCH_COUNT"),
        ("/signature", "E_FORBIDDEN_FIELD"),
        ("/validUntil", "E_VALID_UNTIL"),
    ]


@given(st.permutations(list(example())))
def test_the_order_of_members_changes_nothing(names: list[str]) -> None:
    record = example()
    shuffled = {name: record[name] for name in names}
    assert check(shuffled).receipt_hash == check(record).receipt_hash
    assert errors(shuffled, NOW) == []
