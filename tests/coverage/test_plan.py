"""Plans: read, checked to the last problem, and written as TOML again."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.coverage.plan import plan_of, read_plan, seconds_of
from refold.coverage.plan_toml import plan_text
from refold.kernel.errors import InputError

UNIT = {"id": "u", "kind": "HTTP_JSON", "url": "https://a.test/items", "arrayPath": "items"}
PAGED = UNIT | {"url": "https://a.test/items?page=1", "pagesBy": "page"}
NEEDLE = {"match": {"field": "name", "op": "eq", "value": "needle"}}
GOOD: dict[str, Any] = {"question": "?", "criterion": NEEDLE, "units": [UNIT]}


def problems(value: Any) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        plan_of(value)
    return [(error.pointer, error.code) for error in caught.value.errors]


def test_a_plan_without_a_fault_has_defaults() -> None:
    plan = plan_of(GOOD)
    assert (plan.kind, plan.valid_for, plan.subset, plan.blindspots) == ("list", 604_800, False, ())


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"question": "x" * 281}, [("/question", "E_LENGTH")]),
        ({"kind": 3}, [("/kind", "E_TYPE")]),
        ({"validFor": "1 week"}, [("/validFor", "E_TYPE")]),
        ({"validFor": "0d"}, [("/validFor", "E_TYPE")]),
        ({"subset": 1}, [("/subset", "E_TYPE")]),
        ({"supersedes": "x"}, [("/supersedes", "E_SUPERSEDES")]),
        ({"claim": "ABSENT"}, [("/claim", "E_UNKNOWN_FIELD")]),
        ({"units": []}, [("/units", "E_LENGTH")]),
        ({"units": [UNIT, UNIT]}, [("/units/1/id", "E_DUPLICATE_UNIT")]),
        (
            {"units": [UNIT | {"url": "https://a.test/?token=x"}]},
            [("/units/0/url", "E_URL_SECRET")],
        ),
        ({"criterion": {"match": {}}}, [("/criterion/match", "E_MATCH_SHAPE")]),
        ({"criterion": {}}, [("/criterion/match", "E_MISSING_FIELD")]),
        ({"criterion": NEEDLE | {"fold": True}}, [("/criterion/fold", "E_UNKNOWN_FIELD")]),
        ({"blindspots": [{"what": "x", "why": "y"}] * 7}, [("/blindspots", "E_LENGTH")]),
        ({"blindspots": [{"what": "x"}]}, [("/blindspots/0/why", "E_MISSING_FIELD")]),
        ({"units": [PAGED | {"pagesBy": "number"}]}, [("/units/0/pagesBy", "E_REPLAY_FIELDS")]),
        ({"units": [PAGED | {"step": 2}]}, [("/units/0/pagesBy", "E_REPLAY_FIELDS")]),
        ({"units": [PAGED | {"step": 0}]}, [("/units/0/step", "E_RANGE")]),
        ({"units": [PAGED | {"id": "x" * 41}]}, [("/units/0/id", "E_LENGTH")]),
        (
            {"units": [PAGED | {"url": "https://a.test/?page=2"}]},
            [("/units/0/pagesBy", "E_REPLAY_FIELDS")],
        ),
        (
            {"units": [PAGED | {"url": "https://a.test/?page=1&page=1"}]},
            [("/units/0/pagesBy", "E_REPLAY_FIELDS")],
        ),
        (
            {"units": [UNIT | {"step": 1}]},
            [("/units/0/pagesBy", "E_MISSING_FIELD")],
        ),
        (
            {"units": [{"id": "d", "kind": "MANUAL", "pagesBy": "page"}]},
            [("/units/0/pagesBy", "E_REPLAY_FIELDS")],
        ),
    ],
)
def test_a_fault_is_told_at_its_place(changes: Any, found: list[tuple[str, str]]) -> None:
    assert [one for one in problems(GOOD | changes) if one in found] == found


def test_all_faults_are_told_at_once() -> None:
    bad = {"units": [UNIT | {"url": "http://a.test"}, 3], "validFor": "x", "extra": 1}
    assert problems(bad) == [
        ("/criterion", "E_MISSING_FIELD"),
        ("/extra", "E_UNKNOWN_FIELD"),
        ("/question", "E_MISSING_FIELD"),
        ("/units/0/url", "E_URL"),
        ("/units/1", "E_TYPE"),
        ("/validFor", "E_TYPE"),
    ]


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"x =", b"a = 1\na = 2", b"[" * 50_000, b"x" * (2 << 20)]
)
def test_what_is_no_plan_is_an_error_of_ours(data: bytes) -> None:
    with pytest.raises(InputError):
        read_plan(data)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*GOOD, *PAGED, "match", "all", "not", "validFor", "blindspots", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(base=st.booleans(), changes=st.dictionaries(st.sampled_from([*GOOD, "kind", "x"]), values))
def test_whatever_a_plan_holds_it_is_read_or_refused(base: bool, changes: Any) -> None:
    told: list[tuple[str, str]] = []
    try:
        plan_of((GOOD if base else {}) | changes)
    except InputError as error:
        told = [(one.pointer, one.code) for one in error.errors]
    assert told == sorted(set(told))


texts = st.text(st.characters(codec="utf-8", max_codepoint=0x1FFFF), max_size=20)


@given(question=texts, name=texts, value=texts, fold=st.booleans())
def test_a_plan_comes_back_from_its_text(question: str, name: str, value: str, fold: bool) -> None:
    plan = {
        "question": question,
        "validFor": "7d",
        "criterion": {
            "match": {"all": [{"field": name, "op": "eq", "value": value}]},
            "caseFold": fold,
        },
        "units": [UNIT, {"id": name, "kind": "MVC_PINS", "pageSize": 20, "filter": {value: name}}],
    }
    assert tomllib.loads(plan_text(plan)) == plan


@pytest.mark.parametrize(
    ("span", "seconds"), [("30m", 1_800), ("12h", 43_200), ("7d", 604_800), ("7", 0), ("-1d", 0)]
)
def test_spans(span: str, seconds: int) -> None:
    assert seconds_of(span) == seconds
