"""C-10, C-16, C-17, C-19, C-20: what single members may be; and the bytes of a record."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage.receipts import (
    EXAMPLE_TEXT,
    NOW,
    PIN,
    VALID,
    Json,
    changed,
    check,
    codes,
    consensus,
    errors,
    example,
    http_unit,
    manual,
    pins_unit,
    present,
    sealed,
    source,
    warnings,
)
from refold.coverage.checks import MAX_PER_CODE, validate, validate_value
from refold.coverage.codes import CODES
from refold.coverage.record import MAX_RECORD_BYTES
from refold.kernel.errors import InputError

UNIT = "/corpus/units/0"


@pytest.mark.parametrize("name", VALID)
def test_every_kind_of_record_passes(name: str) -> None:
    validation = check(VALID[name]())
    assert validation.errors == validation.warnings == ()
    assert validation.receipt is not None


def test_the_example_of_the_spec_has_its_hashes() -> None:
    validation = validate(EXAMPLE_TEXT.encode(), NOW)
    assert validation.errors == ()
    assert (
        validation.receipt_hash
        == "408db5dd37415710a2e7c99104373be5c49759533b82ab5426f84852688c7244"
    )


# --- bytes


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "E_JSON"),
        (b"{", "E_JSON"),
        (b"{}{}", "E_JSON"),
        (b"{'v':1}", "E_JSON"),
        (b"\xef\xbb\xbf" + EXAMPLE_TEXT.encode(), "E_ENCODING"),
        (EXAMPLE_TEXT.encode("utf-16"), "E_ENCODING"),
        (EXAMPLE_TEXT.replace("acme", "\xe9").encode("latin-1"), "E_ENCODING"),
        (b'{"v":"\xed\xa0\x80"}', "E_ENCODING"),
        (b"[" * 100_000, "E_JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "E_JSON"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "E_JSON"),
        (b"[" * 65 + b"]" * 65, "E_JSON"),
        (b" " * (MAX_RECORD_BYTES + 1), "E_TOO_LARGE"),
        (b"\xff" * (MAX_RECORD_BYTES + 1), "E_TOO_LARGE"),
    ],
)
def test_bytes_that_are_no_record_have_one_error(data: bytes, code: str) -> None:
    validation = validate(data, NOW)
    assert [(error.pointer, error.code) for error in validation.errors] == [("", code)]
    assert validation.receipt is None


def test_what_is_nested_64_deep_is_read_and_as_large_as_allowed_too() -> None:
    assert [e.code for e in validate(b"[" * 64 + b"]" * 64, NOW).errors] == ["E_TYPE"]
    padded = EXAMPLE_TEXT.encode().ljust(MAX_RECORD_BYTES)
    assert validate(padded, NOW).is_valid
    assert not validate(padded + b" ", NOW).is_valid


@pytest.mark.parametrize("value", [None, True, 1, "x", [], [example()]])
def test_a_record_is_an_object(value: Any) -> None:
    assert errors(value) == [("", "E_TYPE")]


@given(st.binary(max_size=200))
def test_bytes_never_raise(data: bytes) -> None:
    assert not validate(data, NOW).is_valid


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def pointers_of(value: Any, prefix: str = "") -> list[str]:
    """Every place in a value but the root."""
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)  # type: ignore[assignment]
    else:
        return []
    found = []
    for name, member in inner:
        found += [f"{prefix}/{name}", *pointers_of(member, f"{prefix}/{name}")]
    return found


PLACES = [(name, pointer) for name in VALID for pointer in pointers_of(VALID[name]())]


@settings(max_examples=300)
@given(st.sampled_from(PLACES), JSON)
def test_any_value_at_any_place_raises_nothing_and_is_told_in_order(
    place: tuple[str, str], value: Any
) -> None:
    name, pointer = place
    validation = validate_value(changed(VALID[name](), pointer, value), NOW)
    told = [(error.pointer, error.code) for error in validation.errors]
    assert told == sorted(set(told))
    assert {code for _, code in told} <= set(CODES)
    assert (validation.receipt is None) == bool(told)


@settings(max_examples=300)
@given(st.sampled_from(PLACES), st.binary(min_size=1, max_size=4), st.integers(0, 10_000))
def test_a_record_with_bytes_pushed_in_raises_nothing(
    place: tuple[str, str], noise: bytes, at: int
) -> None:
    data = json.dumps(VALID[place[0]]()).encode()
    at %= len(data)
    validate(data[:at] + noise + data[at:], NOW)
    validate(data[:at], NOW)


@pytest.mark.parametrize(
    "now", ["", "2030-01-03", "2030-01-03T00:00:00+00:00", "2030-02-30T00:00:00Z"]
)
@pytest.mark.parametrize("data", [b"{}", b"", EXAMPLE_TEXT.encode()])
def test_a_clock_that_shows_no_time_is_the_callers_error(now: str, data: bytes) -> None:
    with pytest.raises(InputError):
        validate(data, now)


def test_a_storm_of_errors_is_told_up_to_a_bound() -> None:
    record = example() | {f"x{number}": 0 for number in range(2 * MAX_PER_CODE)}
    told = errors(record)
    assert len(told) == MAX_PER_CODE
    assert ("/x0", "E_UNKNOWN_FIELD") in told


# --- C-20


@pytest.mark.parametrize(
    ("text", "pointer", "code"),
    [
        ('{"v":"1.2.1","v":"1.2.1",', "/v", "E_DUPLICATE_KEY"),
        ('{"v":"1.2.1","\\u0076":"1.2.1",', "/v", "E_DUPLICATE_KEY"),
        ('{"note":NaN,"v":"1.2.1",', "/note", "E_CANON_DOMAIN"),
        ('{"note":-Infinity,"v":"1.2.1",', "/note", "E_CANON_DOMAIN"),
        ('{"note":1e999,"v":"1.2.1",', "/note", "E_CANON_DOMAIN"),
        ('{"note":1.0,"v":"1.2.1",', "/note", "E_CANON_DOMAIN"),
        ('{"note":9007199254740992,"v":"1.2.1",', "/note", "E_CANON_DOMAIN"),
        ('{"note":-9007199254740992,"v":"1.2.1",', "/note", "E_CANON_DOMAIN"),
        ('{"note":' + "9" * 5000 + ',"v":"1.2.1",', "/note", "E_CANON_DOMAIN"),
        ('{"note":"\\ud800","v":"1.2.1",', "/note", "E_CANON_DOMAIN"),
        ('{"coverage":{"\\ufb33":1},"v":"1.2.1",', "/coverage/\ufb33", "E_CANON_DOMAIN"),
    ],
)
def test_c20_what_has_no_one_canonical_form(text: str, pointer: str, code: str) -> None:
    data = EXAMPLE_TEXT.replace('{"v":"1.2.1",', text, 1).encode()
    told = [(error.pointer, error.code) for error in validate(data, NOW).errors]
    assert (pointer, code) in told
    assert {told_code for _, told_code in told} <= {code, "E_TYPE"}


@pytest.mark.parametrize("note", ["\U0001f600", "\u0000", "\ue000", "\\ud83d\\ude00", "9" * 200])
def test_c20_texts_of_any_characters_have_one(note: str) -> None:
    data = EXAMPLE_TEXT.replace('{"v"', f'{{"note":{json.dumps(note)},"v"', 1).encode()
    assert validate(data, NOW).is_valid
    assert validate(
        EXAMPLE_TEXT.replace('{"v"', '{"note":"\\ud83d\\ude00","v"').encode(), NOW
    ).is_valid


def test_c20_repeated_names_are_all_told_and_the_rest_is_checked_too() -> None:
    text = EXAMPLE_TEXT.replace('"what"', '"why"').replace('"claim"', '"claim":"x","claim"')
    text = text.replace('"blindspots":[]', '"blindspots":[{"what":"a","what":"b","why":"c"}]')
    text = text.replace('"matchCount":0', '"matchCount":1')
    told = [(error.pointer, error.code) for error in validate(text.encode(), NOW).errors]
    assert told == [
        ("/blindspots/0/what", "E_DUPLICATE_KEY"),
        ("/claim", "E_CLAIM_RESULT"),
        ("/claim", "E_DUPLICATE_KEY"),
        ("/result/matchCount", "E_MATCH_COUNT"),
    ]


# --- C-10


@pytest.mark.parametrize("unit", [http_unit(), pins_unit(), manual()["corpus"]["units"][0]])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("url", "https://a.test"),
        ("arrayPath", ""),
        ("endpoint", "https://a.test"),
        ("path", "/x"),
        ("pageSize", 1),
        ("fetch", "LIST_PLUS_DETAIL"),
        ("dedupe", "NONE"),
        ("filter", {}),
        ("instructions", ""),
    ],
)
def test_c10_each_kind_has_its_own_members(unit: Json, name: str, value: Any) -> None:
    own = {
        "HTTP_JSON": {"url", "arrayPath"},
        "MVC_PINS": {"endpoint", "path", "pageSize", "fetch", "dedupe", "filter"},
        "MANUAL": {"instructions"},
    }[unit["replay"]["kind"]]
    record = changed(manual(), "/corpus/units/0", unit)
    record["justification"] = "access_restricted"
    assert errors(record) == []
    told = errors(changed(record, f"{UNIT}/replay/{name}", value))
    assert told == ([] if name in own else [(f"{UNIT}/replay/{name}", "E_REPLAY_FIELDS")])


@pytest.mark.parametrize("record", [example(), present()])
def test_c10_required_members_are_there(record: Json) -> None:
    for name in record["corpus"]["units"][0]["replay"]:
        if name != "kind":
            place = f"{UNIT}/replay/{name}"
            told = errors(changed(record, place, ...))
            assert told == [(place, "E_MISSING_FIELD"), (place, "E_REPLAY_FIELDS")]


def test_c10_the_optional_ones_need_not_be() -> None:
    record = changed(manual(), f"{UNIT}/replay/instructions", ...)
    assert errors(record) == []


def test_c10_a_kind_that_does_not_exist() -> None:
    place = f"{UNIT}/replay/kind"
    assert errors(changed(example(), place, "FTP")) == [(place, "E_ENUM")]
    assert errors(changed(example(), place, ...)) == [(place, "E_MISSING_FIELD")]
    assert errors(changed(example(), place, 1)) == [(place, "E_TYPE")]


def test_c10_a_misspelled_member_breaks_c17_too() -> None:
    place = f"{UNIT}/replay/dedup"
    told = errors(changed(present(), place, "NONE"))
    assert told == [(place, "E_REPLAY_FIELDS"), (place, "E_UNKNOWN_FIELD")]


# --- C-16 and C-17

OBJECTS = [
    "",
    "/query",
    "/query/canon",
    "/corpus",
    UNIT,
    f"{UNIT}/replay",
    f"{UNIT}/boundary",
    "/result",
    "/result/matches/0",
    "/consensus",
    "/consensus/sourceSet/0",
    "/blindspots/0",
]


def rich() -> Json:
    """A record with every kind of object in it."""
    record = present() | {"consensus": consensus()["consensus"]}
    record["blindspots"] = [{"what": "a", "why": "b"}]
    return record


@pytest.mark.parametrize("place", OBJECTS)
def test_c16_and_c17_objects_are_closed(place: str) -> None:
    assert errors(rich()) == []
    for name in ("verifiedBy", "checkedAt", "signature"):
        told = errors(changed(rich(), f"{place}/{name}", "me"))
        assert (f"{place}/{name}", "E_FORBIDDEN_FIELD") in told
        assert {code for _, code in told} <= {"E_FORBIDDEN_FIELD", "E_QUERY_HASH"}
    told = errors(changed(rich(), f"{place}/matchs", 1))
    assert (f"{place}/matchs", "E_UNKNOWN_FIELD") in told
    assert {code for _, code in told} <= {"E_UNKNOWN_FIELD", "E_REPLAY_FIELDS", "E_QUERY_HASH"}


@pytest.mark.parametrize("name", ["judgement", "coverage"])
@pytest.mark.parametrize("value", ["VERIFIED", None, {"any": [1]}])
def test_c16_self_grading_is_ignored_with_a_warning(name: str, value: Any) -> None:
    record = changed(example(), f"/{name}", value)
    assert errors(record) == []
    assert warnings(record) == [(f"/{name}", "W_IGNORED_FIELD")]
    assert check(record).receipt == check(example()).receipt
    assert check(record).receipt_hash != check(example()).receipt_hash


def test_c16_self_grading_elsewhere_is_an_unknown_member() -> None:
    place = f"{UNIT}/coverage"
    assert errors(changed(example(), place, "FULL")) == [(place, "E_UNKNOWN_FIELD")]


def test_c17_status_counts_belong_to_pins() -> None:
    place = f"{UNIT}/boundary/statusCounts"
    assert errors(changed(example(), place, {"0": 3})) == [(place, "E_UNKNOWN_FIELD")]
    assert errors(changed(manual(), place, {})) == [(place, "E_UNKNOWN_FIELD")]
    assert errors(changed(present(), place, ...)) == []


# --- C-19


def required_of(record: Json) -> list[str]:
    """The places of members that the record cannot do without."""
    optional = {
        "caseFold",
        "statusCounts",
        "dedupe",
        "filter",
        "digest",
        "instructions",
        "consensus",
    }
    places = pointers_of(record)
    return [
        place
        for place in places
        if not place.rpartition("/")[2].isdigit()
        and place.rpartition("/")[2] not in optional
        and "/match/" not in place
        and "/replay/" not in place
        and place != "/justification"
    ]


@pytest.mark.parametrize("name", VALID)
def test_c19_required_members(name: str) -> None:
    for place in required_of(VALID[name]()):
        told = errors(changed(VALID[name](), place, ...))
        assert (place, "E_MISSING_FIELD") in told


@pytest.mark.parametrize("name", VALID)
def test_c19_types(name: str) -> None:
    for place in pointers_of(VALID[name]()):
        if "/match/" in place or place.endswith("/match"):
            continue
        others: list[Any] = [None, 1.5, [[]], {"": 0}]
        for wrong in others:
            told = errors(changed(VALID[name](), place, wrong))
            inside = [code for where, code in told if where.startswith(place)]
            assert inside, (place, wrong)


LONG = "x" * 600
BOUNDS = [
    ("example", "/question", 0, 280),
    ("example", "/corpus/kind", 0, 64),
    ("example", f"{UNIT}/id", 0, 64),
    ("manual", f"{UNIT}/replay/instructions", 0, 512),
    ("manual", "/blindspots/0/what", 0, 128),
    ("manual", "/blindspots/0/why", 0, 256),
    ("example", "/note", 0, 256),
    ("consensus", "/consensus/sourceSet/0/operator", 1, 64),
]


@pytest.mark.parametrize(("name", "place", "least", "most"), BOUNDS)
def test_c19_lengths_count_code_points(name: str, place: str, least: int, most: int) -> None:
    for char in ("x", "\U0001f600", "e\u0301"[1]):
        for length in {least, most}:
            assert errors(changed(VALID[name](), place, char * length)) == []
        for length in {least - 1, most + 1} - {-1}:
            told = errors(changed(VALID[name](), place, char * length))
            assert told == [(place, "E_LENGTH")]


def test_c19_lengths_that_need_a_form() -> None:
    def match(length: int) -> set[str]:
        return codes(present({"id": "x" * length, "digest": "ab" * 32}))

    assert match(256) == set()
    assert match(257) == {"E_LENGTH"}
    url = f"{UNIT}/replay/url"
    path = f"{UNIT}/replay/path"
    marker = f"{UNIT}/boundary"
    cursor = changed(example(), f"{marker}/endMarkerKind", "CURSOR")
    local = source(operator="B", role="LOCAL_COPY", locator="local:" + "a" * 64)
    assert codes(changed(example(), url, "https://a.test/".ljust(512, "x"))) == set()
    assert codes(changed(example(), url, "https://a.test/".ljust(513, "x"))) == {"E_LENGTH"}
    assert codes(changed(present(), path, "/".ljust(128, "x"))) == set()
    assert codes(changed(present(), path, "/".ljust(129, "x"))) == {"E_LENGTH"}
    assert codes(changed(cursor, f"{marker}/endMarker", "c=".ljust(512, "x"))) == set()
    assert codes(changed(cursor, f"{marker}/endMarker", "c=".ljust(513, "x"))) == {"E_LENGTH"}
    assert codes(consensus(source(), local, mode="SELF_CHECK")) == set()
    far = changed(consensus(), "/consensus/sourceSet/0/locator", "https://" + "a." * 122 + "test")
    assert codes(far) == set()
    far = changed(consensus(), "/consensus/sourceSet/0/locator", "https://" + "a." * 130 + "test")
    assert codes(far) == {"E_LENGTH"}


def test_c19_counts_of_items() -> None:
    def units(count: int) -> Json:
        record = changed(example(), "/corpus/units", [http_unit(f"u{n}") for n in range(count)])
        return changed(record, "/justification", "no_match_in_full_coverage")

    def sources(count: int) -> Json:
        made = [source(locator=f"https://s{n}.test", operator=f"o{n}") for n in range(count)]
        record = consensus(mode="AGREE" if count > 1 else "SINGLE")
        return changed(record, "/consensus/sourceSet", made)

    def blindspots(count: int) -> Json:
        return changed(example(), "/blindspots", [{"what": "a", "why": "b"}] * count)

    assert codes(units(1)) == codes(units(64)) == set()
    assert codes(units(0)) == codes(units(65)) == {"E_LENGTH"}
    assert codes(sources(1)) == codes(sources(16)) == set()
    assert codes(sources(0)) == codes(sources(17)) == {"E_LENGTH"}
    assert codes(blindspots(0)) == codes(blindspots(8)) == set()
    assert codes(blindspots(9)) == {"E_LENGTH"}


def test_c19_ranges() -> None:
    place = f"{UNIT}/replay/pageSize"
    for size in (1, 100):
        assert errors(changed(present(), place, size)) == []
    for size in (0, 101, -1):
        assert errors(changed(present(), place, size)) == [(place, "E_RANGE")]
    place = "/result/matchCount"
    assert ("/result/matchCount", "E_RANGE") in errors(changed(example(), place, -1))
    assert errors(changed(example(), f"{UNIT}/boundary/observed", 2**53 - 1)) == []
    assert codes(changed(example(), f"{UNIT}/boundary/observed", 2**53)) == {
        "E_RANGE",
        "E_CANON_DOMAIN",
    }
    assert errors(changed(consensus(), "/consensus/sourceSet/0/observed", 0)) == []
    place = "/consensus/sourceSet/0/observed"
    assert errors(changed(consensus(), place, -1)) == [(place, "E_RANGE")]


@pytest.mark.parametrize(
    ("name", "place", "word"),
    [
        ("example", "/claim", "absent"),
        ("example", "/claim", "VERIFIED"),
        ("example", f"{UNIT}/boundary/termination", "END"),
        ("example", f"{UNIT}/boundary/endMarkerKind", "HASH"),
        ("present", f"{UNIT}/replay/fetch", "LIST"),
        ("present", f"{UNIT}/replay/dedupe", "NEWEST"),
        ("consensus", "/consensus/mode", "agree"),
        ("consensus", "/consensus/epochBasis", "UTC_WEEK"),
        ("consensus", "/consensus/sourceSet/0/role", "FRIEND"),
        ("consensus", "/consensus/sourceSet/0/digestFrame", "ALL"),
        ("consensus", "/consensus/sourceSet/0/outcome", "OK"),
        ("example", "/justification", "I looked everywhere"),
    ],
)
def test_c19_words(name: str, place: str, word: str) -> None:
    told = errors(changed(VALID[name](), place, word))
    assert (place, "E_ENUM") in told
    assert {where for where, _ in told} == {place}


@pytest.mark.parametrize("path", ["", "items", "hits.hits", "0", "a b.c", "x" * 64])
def test_c19_an_array_path_is_a_dot_path(path: str) -> None:
    assert errors(changed(example(), f"{UNIT}/replay/arrayPath", path)) == []


@pytest.mark.parametrize("path", [".", "a.", ".a", "a..b", "items[0]", "*", "a.*", "x" * 65, "a\n"])
def test_c19_an_array_path_has_no_indexes_and_wildcards(path: str) -> None:
    place = f"{UNIT}/replay/arrayPath"
    assert errors(changed(example(), place, path)) == [(place, "E_TYPE")]


@pytest.mark.parametrize("path", ["protocols", "", "https://a.test/"])
def test_c19_a_pin_path_starts_with_a_slash(path: str) -> None:
    place = f"{UNIT}/replay/path"
    assert errors(changed(present(), place, path)) == [(place, "E_TYPE")]


@pytest.mark.parametrize("digest", ["ab" * 31, "AB" * 32, "ab" * 33, "", "zz" * 32])
def test_c19_digests_are_64_lower_hex(digest: str) -> None:
    told = errors(present({"id": PIN, "digest": digest}))
    assert [where for where, _ in told] == ["/result/matches/0/digest"]
    assert told[0][1] in {"E_LENGTH", "E_TYPE"}


def test_c19_an_omitted_digest_is_not_null() -> None:
    told = errors(sealed(present({"id": PIN, "digest": None})))
    assert ("/result/matches/0/digest", "E_TYPE") in told
