import datetime as dt
import enum
import hashlib
import json
import random
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.kernel.canon import (
    MAX_DEPTH,
    MAX_INTEGER,
    MAX_PROBLEMS,
    canonical,
    digest,
    sha256_hex,
)
from refold.kernel.errors import InputError

# Characters on which writers of JSON differ: controls, DEL, separators, what HTML writers escape,
# the ends of the surrogate gap, astral ones.
ODD_CHARS = (
    "\x00\x08\x09\x0a\x0c\x0d\x1f\x7f\x80\u2028\u2029\"\\/<>&'"
    "\ud7ff\ue000\ufb33\uffff\U0001f600\U0010ffff"
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(ODD_CHARS))
NAME = st.text(
    st.characters(exclude_categories=["Cs"], max_codepoint=0xD7FF)
    | st.sampled_from([char for char in ODD_CHARS if char <= "\ud7ff"])
)
SCALAR = st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | TEXT
DOMAIN = st.recursive(SCALAR, lambda inner: st.lists(inner) | st.dictionaries(NAME, inner))

# coverage spec §5.4, "Vectors to pin".
VECTORS: list[tuple[object, str, str]] = [
    ([], "[]", "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
    (
        {"match": {"op": "eq", "value": "/protocols/example", "field": "doc.path"}},
        '{"match":{"field":"doc.path","op":"eq","value":"/protocols/example"}}',
        "98bb5879a4a1ec76f4209086166281a3139a320994f93c6a9173490352ccd1d3",
    ),
    (
        {
            "match": {
                "all": [
                    {"field": "full_name", "op": "contains", "value": "reçu"},
                    {"not": {"field": "archived", "op": "eq", "value": True}},
                ]
            },
            "caseFold": True,
        },
        (
            '{"caseFold":true,"match":{"all":[{"field":"full_name","op":"contains","value":"reçu"},'
            '{"not":{"field":"archived","op":"eq","value":true}}]}}'
        ),
        "703d7443a1bc24970c77a64a56ba418722d64d38169399370b3ab4e27a505957",
    ),
    (
        [{"id": "acme/one"}, {"id": "acme/two"}],
        '[{"id":"acme/one"},{"id":"acme/two"}]',
        "63c5f34eb1c8dc9aa1b0f96b1f1874fbc440250bb5e0a30d9b714b939d688ad3",
    ),
    (
        sorted(["b", "a"]),
        '["a","b"]',
        "0473ef2dc0d324ab659d3580c1134e9d812035905c4781fdd6d529b0c6860e13",
    ),
]
RECU = VECTORS[2][0]
MATCHES = VECTORS[3][0]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def problems_of(value: object) -> list[str]:
    """Give the pointers that the refusal of `value` names."""
    with pytest.raises(InputError) as caught:
        canonical(value)
    assert {problem.code for problem in caught.value.errors} == {"E_CANON_DOMAIN"}
    return [problem.pointer for problem in caught.value.errors]


@pytest.mark.parametrize(("value", "text", "sha256"), VECTORS)
def test_the_vectors_of_the_specification(value: object, text: str, sha256: str) -> None:
    assert canonical(value) == text.encode()
    assert digest(value) == sha256


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        pytest.param(
            RECU, json.dumps(RECU, sort_keys=True, separators=(",", ":")), id="ascii-escaped"
        ),
        pytest.param(RECU, json.dumps(RECU, sort_keys=True, ensure_ascii=False), id="spaced"),
        pytest.param(
            RECU, json.dumps(RECU, ensure_ascii=False, separators=(",", ":")), id="unsorted-keys"
        ),
        pytest.param(["a", "b"], '["b","a"]', id="other-order"),
        pytest.param(
            MATCHES, '[{"id":"acme/one","x":1},{"id":"acme/two","x":1}]', id="extra-members"
        ),
        pytest.param(
            MATCHES, '[{"digest":null,"id":"acme/one"},{"digest":null,"id":"acme/two"}]', id="null"
        ),
    ],
)
def test_the_negative_vectors_have_another_hash(value: object, wrong: str) -> None:
    assert digest(value) != sha256_hex(wrong.encode())


def test_order_is_kept_in_arrays() -> None:
    assert digest(["b", "a"]).startswith("02d8bc30")


def test_the_hashes_of_the_complete_example() -> None:
    """The receipt in the appendix of the coverage spec: a whole record, in another member order."""
    query = {
        "match": {"value": "receipt", "op": "contains", "field": "name"},
        "caseFold": True,
    }
    boundary = {
        "termination": "CURSOR_END",
        "observed": 3,
        "endMarkerKind": "SET_HASH",
        "endMarker": digest(["1", "2", "3"]),
    }
    replay = {"kind": "HTTP_JSON", "url": "https://api.example.test/items", "arrayPath": "items"}
    record = {
        "blindspots": [],
        "validUntil": "2030-01-09T03:04:05Z",
        "justification": "no_match_in_full_coverage",
        "result": {"matches": [], "matchCount": 0, "resultHash": digest([])},
        "corpus": {
            "units": [{"id": "acme-list", "replay": replay, "boundary": boundary}],
            "asOf": "2030-01-02T03:04:05Z",
            "kind": "repo-list",
        },
        "query": {"canon": query, "queryHash": digest(query)},
        "question": "Does any repository in the acme list mention receipts?",
        "claim": "ABSENT",
        "v": "1.2.1",
    }
    assert digest(query) == "6ccf86749a627a00881f79a240ae77f1b9e9d04910acbd72fd1a3484fa7f9423"
    assert digest(record) == "408db5dd37415710a2e7c99104373be5c49759533b82ab5426f84852688c7244"


@settings(deadline=None)
@given(DOMAIN)
def test_in_the_domain_the_bytes_are_those_of_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


def test_every_character_is_written_as_rfc_8785_writes_it() -> None:
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert canonical(every) == rfc8785.dumps(every)


@settings(deadline=None)
@given(DOMAIN)
def test_nothing_is_lost_in_the_canonical_form(value: object) -> None:
    assert json.loads(canonical(value)) == value


@settings(deadline=None)
@given(st.dictionaries(NAME, SCALAR), st.randoms(use_true_random=False))
def test_the_order_of_members_makes_no_difference(
    members: dict[str, object], order: random.Random
) -> None:
    items = list(members.items())
    order.shuffle(items)
    assert canonical(dict(items)) == canonical(members)


def test_a_tuple_is_an_array() -> None:
    assert canonical((1, ("a",))) == canonical([1, ["a"]]) == b'[1,["a"]]'


class Small(enum.IntEnum):
    ONE = 1


class Word(enum.StrEnum):
    WORD = "word"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(1.0, id="float"),
        pytest.param(-0.0, id="negative-zero"),
        pytest.param(float("nan"), id="nan"),
        pytest.param(float("inf"), id="infinity"),
        pytest.param(MAX_INTEGER + 1, id="integer"),
        pytest.param(-MAX_INTEGER - 1, id="negative-integer"),
        pytest.param(10**5000, id="integer-that-has-no-decimal-text"),
        pytest.param("a\ud800", id="high-surrogate"),
        pytest.param("\udfffb", id="low-surrogate"),
        pytest.param("\ud83d\ude00", id="surrogate-pair"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param({1, 2}, id="set"),
        pytest.param(Decimal(1), id="decimal"),
        pytest.param(dt.date(2031, 5, 9), id="date"),
        pytest.param(OrderedDict(a=1), id="dict-subclass"),
        pytest.param(Small.ONE, id="int-subclass"),
        pytest.param(Word.WORD, id="str-subclass"),
        pytest.param(object(), id="object"),
    ],
)
def test_what_is_outside_the_domain_is_refused_where_it_stands(value: object) -> None:
    assert problems_of(value) == [""]
    assert problems_of([True, {"a/b": value}]) == ["/1/a~1b"]


@pytest.mark.parametrize(
    ("value", "pointers"),
    [
        ({"\ue000": 1}, ["/\ue000"]),
        ({"a": {"x\U0001f600": 1}}, ["/a/x\U0001f600"]),
        ({"\ud800": 1}, ["/\ufffd"]),
        ({"a": {1: 2, "b": 1.5}}, ["/a"]),
        ({None: 1}, [""]),
        ({10**5000: 1.5}, [""]),
    ],
)
def test_member_names_outside_the_domain_are_refused(value: object, pointers: list[str]) -> None:
    assert problems_of(value) == pointers


def test_the_ends_of_the_domain_are_in_it() -> None:
    value = {"\ud7ff": [MAX_INTEGER, -MAX_INTEGER]}
    assert canonical(value) == '{"\ud7ff":[9007199254740991,-9007199254740991]}'.encode()


def offences(value: object, pointer: str = "") -> list[str]:
    """Tell slowly and plainly which pointers are outside the domain."""
    if isinstance(value, list):
        return [at for i, item in enumerate(value) for at in offences(item, f"{pointer}/{i}")]
    if isinstance(value, dict):
        found = []
        for name, member in value.items():
            inner = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            if any(char > "\ud7ff" for char in name):
                found.append(inner)
            found += offences(member, inner)
        return found
    if isinstance(value, str):
        return [pointer] if any("\ud800" <= char <= "\udfff" for char in value) else []
    if isinstance(value, int):
        return [] if abs(value) < 2**53 else [pointer]
    return [] if value is None else [pointer]


WILD = st.recursive(
    SCALAR | st.floats() | st.integers() | st.text(st.sampled_from("a\ud800\udfff\U0001f600")),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.sampled_from("a~/\ud7ff\ue000")), inner)
    ),
)


@settings(deadline=None)
@given(WILD)
def test_every_offending_value_is_reported_sorted_by_pointer(value: object) -> None:
    expected = sorted(offences(value))
    if expected:
        assert problems_of(value) == expected[:MAX_PROBLEMS]
    else:
        assert canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type] # JSON


def test_the_report_is_bounded() -> None:
    assert len(problems_of([1.5] * (MAX_PROBLEMS + 1))) == MAX_PROBLEMS


def test_nesting_is_refused_beyond_its_limit_only() -> None:
    assert canonical(nested(MAX_DEPTH)) == b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert problems_of(nested(MAX_DEPTH + 1)) == ["/0" * MAX_DEPTH]
    assert problems_of(nested(200_000)) == ["/0" * MAX_DEPTH]


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[Any] = []
    value += [value, value]
    assert len(problems_of(value)) == MAX_PROBLEMS


def test_sha256_is_sha256_in_lower_case_hex() -> None:
    assert sha256_hex(b"abc") == hashlib.sha256(b"abc").hexdigest()
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
