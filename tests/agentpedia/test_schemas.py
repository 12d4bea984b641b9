"""The seven payload schemas (agentpedia spec §3) and the check against them (AC-A1, AC-A2).

The payloads are data: tests/vectors/agentpedia/payloads, whose README gives their format.
"""

import copy
import json
import random
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refold.agentpedia.schemas import PATHS, PREFIX, UNREADABLE, Violation, check, schema
from refold.agentpedia.schemas.validate import _EXPECTATIONS

VECTORS = Path(__file__).parents[1] / "vectors" / "agentpedia" / "payloads"

# Keywords that only describe.
ANNOTATIONS = {"$schema", "$comment", "title"}
# Keywords that constrain and go as a whole, and those that are an upper or lower bound.
WHOLE = {
    "$ref",
    "additionalProperties",
    "const",
    "else",
    "enum",
    "items",
    "pattern",
    "then",
    "type",
}
BOUNDS = {
    "minLength": -1,
    "minItems": -1,
    "minimum": -1,
    "maxLength": 1,
    "maxItems": 1,
    "maximum": 1,
}
PARTS = {"allOf", "definitions", "if", "properties", "required"}

# A type that the conditions decide as well, for every value of the member they look at.
DECIDED_BY_CONDITIONS = {
    ("rev", "/properties/contentRef/type"),
    ("rev", "/properties/contentHash/type"),
    ("rev", "/properties/redirectTo/type"),
    ("ruling", "/properties/approve/type"),
    ("constitution", "/properties/founders/type"),
    ("param-proposal", "/properties/changes/type"),
    ("param-proposal", "/properties/rationale/type"),
    ("param-proposal", "/properties/proposalPin/type"),
    ("param-proposal", "/properties/approve/type"),
}
# Without `action` a payload is refused for that, and no other pointer comes before /action.
NEVER_FIRST = {
    *(("ruling", f"/allOf/{index}/if/required/0") for index in range(2)),
    *(("editor", f"/allOf/{index}/if/required/0") for index in range(5)),
}


# --- The data ---------------------------------------------------------------------------------


def place(payload: Any, pointer: str) -> tuple[Any, str | int]:
    """Give the container that a pointer leads into, and the last step."""
    *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in steps:
        payload = payload[int(step)] if isinstance(payload, list) else payload[step]
    return payload, int(last) if isinstance(payload, list) else last


def built(case: dict[str, Any], bases: dict[str, Any]) -> Any:
    payload = copy.deepcopy(bases[case["from"]])
    for pointer in case.get("drop", ()):
        container, step = place(payload, pointer)
        del container[step]
    changes = [
        *case.get("set", {}).items(),
        *((pointer, text * count) for pointer, (text, count) in case.get("repeat", {}).items()),
        *((pointer, [item] * count) for pointer, (item, count) in case.get("fill", {}).items()),
    ]
    for pointer, value in changes:
        if not pointer:
            return value
        container, step = place(payload, pointer)
        container[step] = value
    return payload


@cache
def document(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    return content


@cache
def good(name: str) -> tuple[tuple[str, Any], ...]:
    bases = document(name)["bases"]
    cases = ((f"{case['from']}: {case['why']}", case) for case in document(name)["good"])
    return (*bases.items(), *((label, built(case, bases)) for label, case in cases))


@cache
def bad(name: str) -> tuple[tuple[str, Any, tuple[str, str]], ...]:
    bases = document(name)["bases"]
    return tuple(
        (f"{case['from']}: {case['why']}", built(case, bases), (case["pointer"], case["rule"]))
        for case in document(name)["bad"]
    )


GOOD = [
    pytest.param(name, payload, id=f"{name} {why}") for name in PATHS for why, payload in good(name)
]
BAD = [
    pytest.param(name, payload, *expected, id=f"{name} {why}")
    for name in PATHS
    for why, payload, expected in bad(name)
]


def outcome(name: str, payload: object) -> tuple[str, str] | None:
    violation = check(name, payload)
    return None if violation is None else (violation.pointer, violation.rule)


# --- The payloads -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "payload"), GOOD)
def test_a_good_payload_passes(name: str, payload: Any) -> None:
    assert check(name, payload) is None


@pytest.mark.parametrize(("name", "payload", "pointer", "rule"), BAD)
def test_a_bad_payload_is_refused_for_its_own_reason(
    name: str, payload: Any, pointer: str, rule: str
) -> None:
    violation = check(name, payload)
    assert violation is not None
    assert (violation.pointer, violation.rule) == (pointer, rule)
    assert violation.message.isprintable()
    assert len(violation.message) < 400


@pytest.mark.parametrize("name", PATHS)
def test_there_is_data_enough_and_no_case_twice(name: str) -> None:
    assert len(good(name)) >= 12
    assert len(bad(name)) >= 12
    labels = [label for label, *_ in (*good(name), *bad(name))]
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize(("name", "payload"), GOOD)
def test_an_absent_nullable_member_equals_null(name: str, payload: dict[str, Any]) -> None:
    required = schema(name)["required"]
    sparse = {
        member: value
        for member, value in payload.items()
        if value is not None or member in required
    }
    assert check(name, sparse) is None
    nullable = {member for member in schema(name)["properties"] if member not in required}
    assert check(name, {**dict.fromkeys(nullable), **sparse}) is None


# --- The schemas ------------------------------------------------------------------------------


def nodes(node: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Walk every subschema of a schema, with its pointer. Fails on a keyword it does not know."""
    unknown = set(node) - ANNOTATIONS - WHOLE - set(BOUNDS) - PARTS
    assert not unknown, f"{pointer} {unknown}"
    yield pointer, node
    for keyword in ("if", "then", "else", "items"):
        if keyword in node:
            yield from nodes(node[keyword], f"{pointer}/{keyword}")
    for keyword in ("properties", "definitions"):
        for member, part in node.get(keyword, {}).items():
            yield from nodes(part, f"{pointer}/{keyword}/{member}")
    for index, part in enumerate(node.get("allOf", ())):
        yield from nodes(part, f"{pointer}/allOf/{index}")


@pytest.mark.parametrize("name", PATHS)
def test_a_schema_is_draft_07_and_uses_none_of_what_engines_read_differently(name: str) -> None:
    document = schema(name)
    assert document["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert jsonschema_rs.meta.is_valid(document)
    for pointer, node in nodes(document):  # which refuses format and multipleOf as unknown
        if node.get("type") in ("object", ["object", "null"]) and "/then" not in pointer:
            assert node["additionalProperties"] is False, pointer
        if "$ref" in node:
            assert node.keys() == {"$ref"}, f"{pointer}: draft-07 ignores what stands beside $ref"
        pattern = node.get("pattern", "^$")
        assert pattern.startswith("^"), pointer
        assert pattern.endswith("$"), pointer
        assert not any(escape in pattern for escape in ("\\d", "\\w", "\\s", "\\S", "\\b")), pointer


@pytest.mark.parametrize("name", PATHS)
def test_every_condition_has_a_title_for_messages(name: str) -> None:
    assert all(condition["title"] for condition in schema(name).get("allOf", ()))


def test_one_name_means_one_thing_in_all_seven() -> None:
    patterns: dict[str, set[str]] = {}
    definitions: dict[str, set[str]] = {}
    for name in PATHS:
        for member, part in schema(name).get("definitions", {}).items():
            definitions.setdefault(member, set()).add(json.dumps(part))
        for pointer, node in nodes(schema(name)):
            if "pattern" in node:
                member = pointer.rsplit("/", 1)[1]
                patterns.setdefault(member, set()).add(node["pattern"])
    assert {name: len(forms) for name, forms in definitions.items() if len(forms) > 1} == {}
    assert patterns["slug"] == patterns["redirectTo"]
    assert patterns["targetRev"] == patterns["targetConstitution"] == patterns["pinOrNull"]
    assert patterns["contentHash"] == patterns["txid"]
    assert patterns["editor"] == patterns["items"]


def test_every_keyword_has_a_message() -> None:
    keywords = {
        keyword for name in PATHS for _, node in nodes(schema(name)) for keyword in node
    } - ANNOTATIONS
    structural = {"$ref", "allOf", "definitions", "else", "if", "items", "properties", "then"}
    assert keywords - structural == {*_EXPECTATIONS, "required", "additionalProperties"}


def test_the_seven_paths_are_those_of_the_protocol() -> None:
    assert PREFIX == "/protocols/agentpedia/"
    assert len(PATHS) == len(set(PATHS)) == 7
    assert {path.stem for path in VECTORS.glob("*.json")} == set(PATHS)


@pytest.mark.parametrize("name", ["", "rev.json", "../schemas/rev", "registry-root"])
def test_another_name_is_a_misuse(name: str) -> None:
    with pytest.raises(KeyError):
        schema(name)
    with pytest.raises(KeyError):
        check(name, {})


def test_a_schema_is_the_callers_own() -> None:
    schema("rev")["properties"].clear()
    assert schema("rev")["properties"]


# --- No part of a schema is idle --------------------------------------------------------------


def looser(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every way to take one constraint out of a node, or to move one bound by one."""
    for keyword in node.keys() & WHOLE:
        yield f"/{keyword}", {key: value for key, value in node.items() if key != keyword}
    for keyword in node.keys() & BOUNDS.keys():
        yield f"/{keyword}", {**node, keyword: node[keyword] + BOUNDS[keyword]}
    for keyword in node.keys() & {"required", "allOf"}:
        for index in range(len(node[keyword])):
            rest = node[keyword][:index] + node[keyword][index + 1 :]
            yield f"/{keyword}/{index}", {**node, keyword: rest}


def tighter(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every way to forbid one value or type of a list, or to move one bound by one."""
    for keyword in node.keys() & BOUNDS.keys():
        yield f"/{keyword}", {**node, keyword: node[keyword] - BOUNDS[keyword]}
    for keyword in node.keys() & {"enum", "type"}:
        if isinstance(node[keyword], list):
            for index in range(len(node[keyword])):
                rest = node[keyword][:index] + node[keyword][index + 1 :]
                yield f"/{keyword}/{index}", {**node, keyword: rest}


def replaced(document: dict[str, Any], pointer: str, node: dict[str, Any]) -> dict[str, Any]:
    """Give a copy of a schema with another node at the pointer."""
    if not pointer:
        return node
    mutant = copy.deepcopy(document)
    container, step = place(mutant, pointer)
    container[step] = node
    return mutant


def smallest(validator: jsonschema_rs.Draft7Validator, payload: object) -> tuple[str, str] | None:
    """Give pointer and rule of the smallest violation, worked out apart from `check`."""
    found = []
    for error in validator.iter_errors(payload):
        members = {"required": [error.kind.value], "additionalProperties": error.kind.value}
        for member in members.get(error.kind.name, [None]):
            steps = [*error.instance_path, *([] if member is None else [member])]
            escaped = (str(step).replace("~", "~0").replace("/", "~1") for step in steps)
            found.append(("".join(f"/{step}" for step in escaped), error.kind.name))
    return min(found, default=None)


def survivors(name: str) -> Iterator[str]:
    """Give the mutants of a schema that no payload tells from it."""
    document = schema(name)
    good_ones = [payload for _, payload in good(name)]
    bad_ones = [(payload, expected) for _, payload, expected in bad(name)]
    for pointer, node in nodes(document):
        condition = "/if" in pointer
        for where, mutant in looser(node):
            changed = jsonschema_rs.Draft7Validator(replaced(document, pointer, mutant))
            if any(changed.is_valid(payload) for payload, _ in bad_ones):
                continue
            if condition and (
                not all(changed.is_valid(payload) for payload in good_ones)
                or any(smallest(changed, payload) != expected for payload, expected in bad_ones)
            ):
                continue
            yield f"{pointer}{where}"
        for where, mutant in tighter(node):
            changed = jsonschema_rs.Draft7Validator(replaced(document, pointer, mutant))
            if all(changed.is_valid(payload) for payload in good_ones) and not (
                condition and any(changed.is_valid(payload) for payload, _ in bad_ones)
            ):
                yield f"{pointer}{where} tightened"


@pytest.mark.parametrize("name", PATHS)
def test_every_constraint_is_needed_by_a_bad_payload_and_every_freedom_by_a_good_one(
    name: str,
) -> None:
    known = {pointer for path, pointer in DECIDED_BY_CONDITIONS | NEVER_FIRST if path == name}
    assert set(survivors(name)) == known


# --- Any value at all -------------------------------------------------------------------------

# A first run builds Hypothesis's tables of Unicode, which takes longer than it allows for.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

ODD = st.sampled_from(
    [
        10**400,
        -(10**400),
        2**64,
        1e308,
        -0.0,
        float("inf"),
        float("nan"),
        "\ud800",
        "a\x00b",
        "\u202e\u2028",
        {"__proto__": {"v": 1}},
        {"\ud800": 1},
        {1: 2},
        (1, 2),
        b"x",
        "x" * 20_000,
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | ODD,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=4) | st.sampled_from(["__proto__", "v"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, Any]:
    """Draw a good payload with any values in some of its members, known or not."""
    name = draw(st.sampled_from(PATHS))
    _, base = draw(st.sampled_from(good(name)))
    payload = copy.deepcopy(base)
    members = st.sampled_from([*schema(name)["properties"], "__proto__", "~/"])
    for member, value in draw(st.dictionaries(members, VALUES, max_size=3)).items():
        inner = payload.get(member)
        if isinstance(inner, dict) and inner and draw(st.booleans()):
            inner[draw(st.sampled_from([*inner, "__proto__"]))] = value
        else:
            payload[member] = value
    return name, payload


def fits(payload: object, violation: Violation) -> bool:
    """Tell whether the pointer leads to what the violation is about."""
    if violation.pointer == "":
        return violation.rule == UNREADABLE or not isinstance(payload, dict)
    container, step = place(payload, violation.pointer)
    there = step in container if isinstance(container, dict) else int(step) < len(container)
    return there == (violation.rule != "required")


@patient
@given(damaged())
def test_any_values_in_any_members_give_none_or_a_violation_that_fits(
    case: tuple[str, Any],
) -> None:
    name, payload = case
    violation = check(name, payload)
    if violation is not None:
        assert fits(payload, violation)
        assert violation.message.isprintable()
        assert len(violation.message) < 400


@patient
@given(st.sampled_from(PATHS), VALUES)
def test_any_value_as_payload_gives_none_or_a_violation(name: str, payload: object) -> None:
    violation = check(name, payload)
    assert violation is not None
    assert isinstance(payload, dict) or (violation.pointer, violation.rule) in {
        ("", "type"),
        ("", UNREADABLE),
    }


@patient
@given(damaged(), st.randoms(use_true_random=False))
def test_the_violation_does_not_depend_on_the_order_of_members(
    case: tuple[str, Any], order: random.Random
) -> None:
    name, payload = case
    members = list(payload.items())
    order.shuffle(members)
    assert outcome(name, dict(members)) == outcome(name, payload)


@patient
@given(damaged())
def test_the_violation_is_the_smallest_of_all(case: tuple[str, Any]) -> None:
    name, payload = case
    found = outcome(name, payload)
    if found != ("", UNREADABLE):
        assert found == smallest(jsonschema_rs.Draft7Validator(schema(name)), payload)


@pytest.mark.parametrize("depth", [64, 255, 256, 5_000, 200_000])
def test_depth_crashes_nothing(depth: int) -> None:
    deep: Any = None
    for _ in range(depth):
        deep = [deep]
    for name in PATHS:
        violation = check(name, deep)
        assert violation is not None
        assert violation.pointer == ""
        assert violation.rule == ("type" if depth <= 255 else UNREADABLE)
    _, vote = good("param-proposal")[0]
    assert check("param-proposal", {**vote, "changes": [deep]}) is None


@pytest.mark.parametrize("text", ["\ud800", "a\udfff"])
def test_a_lone_surrogate_where_a_pattern_reads_is_a_violation(text: str) -> None:
    _, create = good("rev")[0]
    assert outcome("rev", {**create, "slug": text}) == ("", UNREADABLE)
    assert outcome("rev", {**create, text: 1}) == ("", UNREADABLE)


def test_integers_are_judged_up_to_what_decoders_yield() -> None:
    """The validator misreads integers of more than 4300 digits; no decoder yields one."""
    _, create = good("rev")[0]
    largest: int = msgspec.json.decode("9" * 4300)
    for refs, rule in ((largest, "maximum"), (-largest, "minimum")):
        payload = {**create, "claim": {"changeType": "create", "refs": refs}}
        assert outcome("rev", payload) == ("/claim/refs", rule)
    assert sys.get_int_max_str_digits() == 4300
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode("9" * 4301)
    with pytest.raises(ValueError, match="4300"):
        json.loads("9" * 4301)


# --- The message ------------------------------------------------------------------------------


ESCAPED = "\\n"
CREATE_OPENS = "create opens an entry: there is nothing before it"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"v": True}, "must be 1, not true"),
        ({"lang": "zh-Hans"}, "must match ^[a-z]{2,8}$, not 'zh-Hans'"),
        ({"lang": 10**400}, "must be of type string, not an integer of 1329 bits"),
        ({"title": ["a", "b"]}, "must be of type string, not an array of 2 items"),
        (
            {"title": "\n" * 300},
            f"must have at most 256 characters, not '{ESCAPED * 40}'… of 300 characters",
        ),
        ({"type": {}}, "must be create or edit or revert or redirect, not an object of 0 members"),
        ({"summary": 1.5}, "must be of type null or string, not 1.5"),
        ({"note": 1}, "is not a known member"),
        ({"claim": {"changeType": "create"}}, "is required"),
        (
            {"basedOn": "0" * 64 + "i0"},
            f"must be of type null, not '{'0' * 40}'… of 66 characters ({CREATE_OPENS})",
        ),
    ],
)
def test_a_message_says_what_must_hold_what_stands_there_and_why(
    change: dict[str, Any], message: str
) -> None:
    _, create = good("rev")[0]
    violation = check("rev", {**create, **change})
    assert violation is not None
    assert violation.message == message
