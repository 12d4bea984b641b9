"""The criterion: its shape, and what it matches (spec §5.2)."""

import itertools
import json
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage.receipts import Json, codes, errors, example, sealed
from refold.coverage.criterion import MAX_CHILDREN, MAX_DEPTH, MAX_NODES, check_criterion, paths_of
from refold.coverage.match import compile_criterion, resolve
from refold.coverage.strictjson import read_page

MATCH = "/query/canon/match"


def leaf(field: str = "name", op: str = "eq", value: Any = "needle") -> Json:
    return {"field": field, "op": op, "value": value}


def matches(match: Json, item: Any, *, fold: bool = False) -> bool:
    canon = {"match": match} | ({"caseFold": True} if fold else {})
    return compile_criterion(canon).matches(item)


def faults(match: Any) -> list[tuple[str, str]]:
    record = example()
    record["query"]["canon"] = {"match": match}
    return errors(sealed(record))


# --- shape


@pytest.mark.parametrize(
    "match",
    [
        leaf(),
        leaf("", "eq", ""),
        leaf("a.b.c", "eq", None),
        leaf("0.1", "eq", True),
        leaf("x" * 64, "eq", 2**53 - 1),
        leaf("a b", "eq", -(2**53) + 1),
        leaf("@odata.type", "contains", "x"),
        leaf("名字", "prefix", "é"),
        leaf("a", "exists", False),
        leaf(".".join(["x" * 63] * 4), "eq", "x" * 256),
        {"all": [leaf()]},
        {"any": [leaf()] * MAX_CHILDREN},
        {"not": {"not": leaf()}},
    ],
)
def test_criteria_that_pass(match: Json) -> None:
    assert faults(match) == []


@pytest.mark.parametrize(
    ("match", "place"),
    [
        (None, ""),
        ([], ""),
        ("name", ""),
        ({}, ""),
        ({"all": [leaf()], "any": [leaf()]}, ""),
        ({"all": [leaf()], "field": "a"}, ""),
        ({"xor": [leaf()]}, ""),
        ({"field": "a", "op": "eq"}, ""),
        (leaf() | {"flags": "i"}, ""),
        ({"all": []}, "/all"),
        ({"any": [leaf()] * (MAX_CHILDREN + 1)}, "/any"),
        ({"all": leaf()}, "/all"),
        ({"all": [leaf(), None]}, "/all/1"),
        ({"not": [leaf()]}, "/not"),
        (leaf("a..b"), "/field"),
        (leaf(".a"), "/field"),
        (leaf("a."), "/field"),
        (leaf("a[0]"), "/field"),
        (leaf("*"), "/field"),
        (leaf("a\n"), "/field"),
        (leaf("a\x85"), "/field"),
        (leaf("x" * 65), "/field"),
        (leaf(".".join(["x" * 64] * 4)), "/field"),
        (leaf(op="matches"), "/op"),
        (leaf(op="EQ"), "/op"),
        (leaf(op="in", value=["a"]), "/op"),
        (leaf(value=["a"]), "/value"),
        (leaf(value={}), "/value"),
        (leaf(value="x" * 257), "/value"),
        (leaf(op="contains", value=""), "/value"),
        (leaf(op="prefix", value=""), "/value"),
        (leaf(op="contains", value=1), "/value"),
        (leaf(op="prefix", value=None), "/value"),
        (leaf(op="exists", value="true"), "/value"),
        (leaf(op="exists", value=1), "/value"),
    ],
)
def test_criteria_that_do_not(match: Any, place: str) -> None:
    assert faults(match) == [(f"{MATCH}{place}", "E_MATCH_SHAPE")]


@pytest.mark.parametrize("field", [1, None, ["a"]])
def test_a_path_is_a_text(field: Any) -> None:
    assert faults({"field": field, "op": "eq", "value": 1}) == [(f"{MATCH}/field", "E_MATCH_SHAPE")]


@pytest.mark.parametrize("value", [2**53, -(2**53), 1.5, 1.0])
def test_numbers_outside_of_the_domain(value: float) -> None:
    told = faults_unsealed(leaf(value=value))
    assert {(f"{MATCH}/value", "E_MATCH_SHAPE"), (f"{MATCH}/value", "E_CANON_DOMAIN")} <= told


def faults_unsealed(match: Any) -> set[tuple[str, str]]:
    record = example()
    record["query"]["canon"] = {"match": match}
    return set(errors(record))


def nested(depth: int) -> Json:
    """A criterion of so many nodes inside each other."""
    match = leaf()
    for number in range(depth - 1):
        match = {"not": match} if number % 2 else {"all": [match]}
    return match


def test_six_deep_at_most() -> None:
    assert faults(nested(MAX_DEPTH)) == []
    assert [code for _, code in faults(nested(MAX_DEPTH + 1))] == ["E_MATCH_SHAPE"]


def wide(nodes: int) -> Json:
    """A criterion of exactly so many nodes, at most 16 children each."""
    groups: list[Json] = []
    left = nodes - 1
    while left > 1:
        size = min(left - 1, MAX_CHILDREN)
        groups.append({"any": [leaf()] * size})
        left -= size + 1
    return {"all": groups + [leaf()] * left}


def test_64_nodes_at_most() -> None:
    assert faults(wide(MAX_NODES)) == []
    assert [code for _, code in faults(wide(MAX_NODES + 1))] == ["E_MATCH_SHAPE"]


def test_a_criterion_of_a_hundred_thousand_nodes_is_told_once() -> None:
    huge = {"any": [{"any": [{"any": [leaf()] * 16}] * 16}] * 16}
    assert [code for _, code in faults(huge)] == ["E_MATCH_SHAPE"]


@pytest.mark.parametrize("text", ["cafe\u0301", "\u212b", "\u0344", "e\u0316\u0301\u0316"])
@pytest.mark.parametrize("place", ["field", "value"])
def test_d1_a_criterion_is_written_in_nfc(text: str, place: str) -> None:
    told = faults(leaf() | {place: text})
    assert told == [(f"{MATCH}/{place}", "E_CANON_NOT_NFC")]
    assert faults(leaf() | {place: unicodedata.normalize("NFC", text)}) == []


def test_two_members_and_no_more() -> None:
    record = example()
    record["query"]["canon"]["regex"] = True
    assert codes(sealed(record)) == {"E_UNKNOWN_FIELD"}
    record = example()
    record["query"]["canon"]["caseFold"] = "yes"
    assert codes(sealed(record)) == {"E_TYPE"}


# --- paths


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("", [{"a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}], "0": "zero"}, "e": [], "f": [[1], 2]}]),
        ("a.b.c", [1, 2]),
        ("a.b.d", [3]),
        ("a.0", ["zero"]),
        ("a.b.0", []),
        ("x", []),
        ("a.x.c", []),
        ("e", [[]]),
        ("f", [[[1], 2], [1], 1, 2]),
        ("e.a", []),
    ],
)
def test_a_path_walks_members_and_into_every_element(path: str, values: list[Any]) -> None:
    item = {"a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}], "0": "zero"}, "e": [], "f": [[1], 2]}
    assert sorted(map(str, resolve(item, path.split(".") if path else []))) == sorted(
        map(str, values)
    )


@pytest.mark.parametrize(
    ("match", "item", "expected"),
    [
        (leaf("", "eq", "x"), "x", True),
        (leaf("", "eq", "x"), ["y", "x"], True),
        (leaf("topics", "eq", "receipt"), {"topics": ["a", "receipt"]}, True),
        (leaf("topics", "eq", "receipt"), {"topics": ["a"]}, False),
        (leaf("topics", "exists", True), {"topics": []}, True),
        (leaf("topics", "exists", False), {"topics": []}, False),
        (leaf("a.b", "exists", True), {"a": {"b": None}}, True),
        (leaf("a.b", "exists", False), {"a": {}}, True),
        (leaf("a.b", "exists", False), {"a": [{}, {"b": 1}]}, False),
        (leaf("a.b", "exists", False), 7, True),
        ({"not": leaf("a", "eq", 1)}, {}, True),
        (leaf("a", "eq", None), {}, False),
        (leaf("a", "eq", None), {"a": None}, True),
        (leaf("a.b", "eq", 1), {"a": [[{"b": 1}]]}, True),
    ],
)
def test_a_leaf_is_true_for_any_value(match: Json, item: Any, expected: bool) -> None:
    assert matches(match, item) is expected


@pytest.mark.parametrize(
    ("value", "found", "expected"),
    [
        ("1", "1", False),
        ("1", '"1"', True),
        (1, "1", True),
        (1, "1.0", True),
        (100, "1e2", True),
        (1, "true", False),
        (True, "1", False),
        (True, "true", True),
        (False, "0", False),
        (False, "null", False),
        (None, "null", True),
        (None, "false", False),
        (0, "-0", True),
        (0, "-0.0", True),
        (0, "0e999999", True),
        (1, "1e999999", False),
        (1, "1e-999999", False),
        (2**53 - 1, "9007199254740991", True),
        (2**53 - 1, "9007199254740991.0", True),
        (2**53 - 1, "9007199254740991.00000000000000000001", False),
        (2**53 - 1, "9007199254740992", False),
        ("[]", "[]", False),
    ],
)
def test_d3_eq_compares_by_json_type_and_numbers_exactly(
    value: Any, found: str, expected: bool
) -> None:
    assert matches(leaf("n", "eq", value), read_page(f'{{"n":{found}}}'.encode())) is expected


def test_d3_large_numbers_stay_apart() -> None:
    page = read_page(b'{"items":[{"id":9007199254740993,"n":1.0},{"id":9007199254740992,"n":1e0}]}')
    assert [item["id"] for item in page["items"]] == [9007199254740993, 9007199254740992]
    assert all(matches(leaf("n", "eq", 1), item) for item in page["items"])


@pytest.mark.parametrize("op", ["contains", "prefix"])
@pytest.mark.parametrize(
    "item", [{"name": 1}, {"name": True}, {"name": None}, {"name": {"x": "x"}}]
)
def test_contains_and_prefix_look_at_texts_only(op: str, item: Json) -> None:
    assert not matches(leaf("name", op, "1"), item)
    assert not matches(leaf("name", op, "x"), item)


def test_contains_and_prefix() -> None:
    item = {"name": "a needle in hay"}
    assert matches(leaf("name", "contains", "needle"), item)
    assert not matches(leaf("name", "prefix", "needle"), item)
    assert matches(leaf("name", "prefix", "a needle"), item)
    assert not matches(leaf("name", "contains", "Needle"), item)
    assert matches(leaf("name", "contains", "Needle"), item, fold=True)


# --- text


def test_d1_items_may_be_in_any_normal_form() -> None:
    for fold in (False, True):
        for form in ("NFC", "NFD"):
            item = {"name": unicodedata.normalize(form, "café")}
            assert matches(leaf(value="café"), item, fold=fold)
            assert matches(leaf(op="prefix", value="caf"), item, fold=fold)
            assert not matches(leaf(op="contains", value="cafe"), item, fold=fold)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Straße", "STRASSE", True),
        ("ẞ", "ss", True),
        ("ﬁ", "fi", True),
        ("\u212a", "k", True),
        ("ΣΟΦΟΣ", "σοφος", True),
        ("ΣΟΦΟΣ", "σοφοσ", True),
        ("CAFÉ", "cafe\u0301", True),
        ("İ", "i", False),
        ("ı", "i", False),
        ("I", "ı", False),
        ("I", "i", True),
        ("Ａ", "a", False),
        ("Ａ", "ａ", True),
        ("\u0345", "ι", True),
    ],
)
def test_d2_caseless_is_unicodes_and_no_locales(one: str, other: str, same: bool) -> None:
    one = unicodedata.normalize("NFC", one)
    assert matches(leaf(value=one), {"name": other}, fold=True) is same
    assert matches(leaf(value=one), {"name": other}) is (one == unicodedata.normalize("NFC", other))


# --- the field-never-seen rule

SEEN = {"field": "seen", "op": "eq", "value": "no"}
UNSEEN = {"field": "unseen", "op": "eq", "value": "no"}


@pytest.mark.parametrize(
    ("match", "addressed"),
    [
        (SEEN, True),
        (UNSEEN, False),
        ({"not": UNSEEN}, False),
        ({"not": SEEN}, True),
        ({"all": [SEEN, UNSEEN]}, False),
        ({"any": [SEEN, UNSEEN]}, True),
        ({"any": [UNSEEN, {"not": UNSEEN}]}, False),
        ({"all": [SEEN, {"any": [UNSEEN, SEEN]}]}, True),
        (UNSEEN | {"op": "exists", "value": False}, False),
        (SEEN | {"field": "empty"}, True),
        (SEEN | {"field": "null"}, True),
        (SEEN | {"field": ""}, True),
    ],
)
def test_d4_a_criterion_is_addressed_when_its_paths_were_seen(match: Json, addressed: bool) -> None:
    scan = compile_criterion({"match": match}).scan()
    assert not scan.addressed
    assert not scan.matches({"other": 1}) or True
    scan.matches({"seen": "yes", "empty": [], "null": None})
    scan.matches({"other": 1})
    assert scan.addressed is addressed


def test_d4_each_path_may_be_seen_on_another_item() -> None:
    scan = compile_criterion({"match": {"all": [SEEN, UNSEEN]}}).scan()
    scan.matches({"seen": 1})
    assert not scan.addressed
    scan.matches({"unseen": 1})
    assert scan.addressed


def test_scans_of_one_criterion_know_nothing_of_each_other() -> None:
    criterion = compile_criterion({"match": SEEN})
    first, second = criterion.scan(), criterion.scan()
    first.matches({"seen": 1})
    assert first.addressed
    assert not second.addressed


def test_what_a_criterion_reads() -> None:
    match = {"all": [leaf("b"), {"not": leaf("a.c")}, {"any": [leaf("b"), leaf("d")]}]}
    criterion = compile_criterion({"match": match})
    assert criterion.paths == paths_of(match) == ("b", "a.c", "d")
    assert not criterion.reads_only("b")
    assert compile_criterion({"match": {"not": leaf("id")}}).reads_only("id")


# --- totality, and a second evaluator

SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([Decimal("1.0"), Decimal("1e2"), Decimal("0.5")])
    | st.sampled_from(["", "a", "A", "é", "e\u0301", "ab", "ß", "SS"])
)
NAMES = st.sampled_from(["a", "b", "0", "é"])
ITEMS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=10,
)
FIELDS = st.lists(NAMES, max_size=3).map(".".join)
LEAVES = (
    st.builds(leaf, FIELDS, st.just("eq"), st.none() | st.booleans() | st.integers(-3, 100))
    | st.builds(leaf, FIELDS, st.just("eq"), st.sampled_from(["", "a", "é", "ss"]))
    | st.builds(leaf, FIELDS, st.sampled_from(["contains", "prefix"]), st.sampled_from("aéb"))
    | st.builds(leaf, FIELDS, st.just("exists"), st.booleans())
)
MATCHES = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda p: {"not": p}, inner)
        | st.builds(
            lambda w, ps: {w: ps},
            st.sampled_from(["all", "any"]),
            st.lists(inner, min_size=1, max_size=3),
        )
    ),
    max_leaves=6,
)


def plainly(match: Json, item: Any, fold: bool) -> bool:
    """The criterion once more, by the text of §5.2."""
    if "not" in match:
        return not plainly(match["not"], item, fold)
    if "all" in match:
        return all(plainly(child, item, fold) for child in match["all"])
    if "any" in match:
        return any(plainly(child, item, fold) for child in match["any"])
    found = list(walk(item, match["field"].split(".") if match["field"] else []))
    op, value = match["op"], match["value"]
    if op == "exists":
        return value is (found != [])
    return any(compare(op, value, each, fold) for each in found)


def walk(value: Any, steps: list[str]) -> Any:
    if not steps:
        yield value
        if isinstance(value, list):
            for each in value:
                yield from walk(each, [])
    elif isinstance(value, list):
        for each in value:
            yield from walk(each, steps)
    elif isinstance(value, dict) and steps[0] in value:
        yield from walk(value[steps[0]], steps[1:])


def text(value: str, fold: bool) -> str:
    if fold:
        value = unicodedata.normalize("NFD", value).casefold()
    return unicodedata.normalize("NFC", value)


def compare(op: str, value: Any, found: Any, fold: bool) -> bool:
    if isinstance(value, str):
        if not isinstance(found, str):
            return False
        value, found = text(value, fold), text(found, fold)
        return bool(
            {"eq": found == value, "contains": value in found, "prefix": found.startswith(value)}[
                op
            ]
        )
    if isinstance(value, bool) or value is None:
        return found is value
    return isinstance(found, (int, Decimal)) and not isinstance(found, bool) and found == value


@settings(max_examples=400)
@given(MATCHES, ITEMS, st.booleans())
def test_the_evaluator_agrees_with_the_text(match: Json, item: Any, fold: bool) -> None:
    reported: list[Any] = []
    assert check_criterion(match, (), lambda *fault: reported.append(fault))
    assert reported == []
    assert matches(match, item, fold=fold) is plainly(match, item, fold)


@given(MATCHES)
def test_what_the_shape_passes_can_be_compiled_and_is_hashed_alike(match: Json) -> None:
    assert compile_criterion({"match": json.loads(json.dumps(match))}).paths == paths_of(match)


def test_every_pair_of_operator_and_item_type_has_an_answer() -> None:
    items: list[Any] = [None, True, 1, Decimal("1.5"), "x", [], {}, [[]], {"a": {}}, {"a": []}]
    values: dict[str, list[Any]] = {
        "eq": [None, True, 0, "x"],
        "contains": ["x"],
        "prefix": ["x"],
        "exists": [True, False],
    }
    for (op, value), item in itertools.product(
        [(op, value) for op, several in values.items() for value in several], items
    ):
        assert matches(leaf("a", op, value), item) in {True, False}
