"""Pages read item by item: the same as whole, and never what parsers disagree on."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.coverage.walk import page as page_module
from refold.coverage.walk.page import Page, PageError, is_json_type

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
ITEMS = st.lists(VALUES, max_size=5)
PIECES = st.lists(
    st.sampled_from(
        [*'{}[]:,"0123456789.-+eE tfn', '"items"', "true", "null", '"a":', "\\u12", "\ufeff", "\n"]
    ),
    max_size=20,
).map("".join)


def read(body: bytes, path: str = "items") -> tuple[list[Any], dict[str, Any]]:
    page = Page(body, path)
    return list(page.items()), page.root


def outcome(body: bytes, path: str) -> Any:
    try:
        return read(body, path)
    except PageError as error:
        return error.reason


@pytest.fixture(params=["at once", "one by one"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "one by one":
        monkeypatch.setattr(page_module, "AT_ONCE", -1)


@settings(deadline=None)
@given(
    ITEMS,
    st.dictionaries(st.text().filter(lambda name: name != "items"), VALUES, max_size=3),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_items_and_the_rest_are_those_of_the_parsed_page(
    items: list[Any], rest: dict[str, Any], place: int, ascii_only: bool, indent: int | None
) -> None:
    members = list(rest.items())
    members.insert(place, ("items", items))
    text = json.dumps(dict(members), ensure_ascii=ascii_only, indent=indent)
    for at_once in (-1, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(page_module, "AT_ONCE", at_once)
            assert read(text.encode()) == (items, rest)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60) | PIECES.map(str.encode), st.sampled_from(["", "items", "a.items"]))
def test_bytes_of_any_kind_are_read_alike_in_both_ways_or_refused(body: bytes, path: str) -> None:
    outcomes = []
    for at_once in (-1, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(page_module, "AT_ONCE", at_once)
            outcomes.append(outcome(body, path))
    assert outcomes[0] == outcomes[1]


@settings(deadline=None)
@given(ITEMS, st.floats(0, 1, exclude_max=True))
def test_a_page_that_is_cut_is_refused(items: list[Any], share: float) -> None:
    body = json.dumps({"total": 3, "items": items}).encode()
    with pytest.raises(PageError) as refused:
        read(body[: int(share * len(body))])
    # A pair of surrogates may be cut into its halves.
    assert refused.value.reason in {"not_json", "json_ambiguous"}


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(
    ("body", "path", "reason"),
    [
        (b'{"items":[],"items":[]}', "items", "json_ambiguous"),
        (b'{"a":1,"items":[],"a":1}', "items", "json_ambiguous"),
        (b'{"items":[{"a":1,"a":1}]}', "items", "json_ambiguous"),
        (b'{"x":{"a":1,"a":1},"items":[]}', "items", "json_ambiguous"),
        (b'{"d":{"items":[]},"d":{"items":[]}}', "d.items", "json_ambiguous"),
        (b'{"d":{"items":[],"t":1,"t":2}}', "d.items", "json_ambiguous"),
        (b'{"items":[NaN]}', "items", "json_ambiguous"),
        (b'{"items":[1e9999999999999999999]}', "items", "json_ambiguous"),
        (b'{"items":[%s]}' % (b"1" * 4301), "items", "json_ambiguous"),
        (b'{"items":["\\udc00\\ud800"]}', "items", "json_ambiguous"),
        (b'{"items":["\\uD800x"]}', "items", "json_ambiguous"),
        (b'{"items":["\\\\\\ud800"]}', "items", "json_ambiguous"),
        (b'{"items":%s}' % (b"[" * 64 + b"]" * 64), "items", "json_ambiguous"),
        (b'{"items":[1,]}', "items", "not_json"),
        (b'{"items":[,1]}', "items", "not_json"),
        (b'{"items":[1 2]}', "items", "not_json"),
        (b'{"items":[1]]}', "items", "not_json"),
        (b'{"items":[1],}', "items", "not_json"),
        (b'{"items":[1]', "items", "not_json"),
        (b'{"items":[1]}x', "items", "not_json"),
        (b'{"items" [1]}', "items", "not_json"),
        (b"{'items':[1]}", "items", "not_json"),
        (b'{"items":[01]}', "items", "not_json"),
        (b'{"items":["\xff"]}', "items", "not_json"),
        (b'{"items":["\xed\xa0\x80"]}', "items", "not_json"),
        (b"", "", "not_json"),
        (b" ", "items", "not_json"),
        (b"\xef\xbb\xbf\xef\xbb\xbf[]", "", "not_json"),
        (b"[]", "items", "array_path_missing"),
        (b"{}", "items", "array_path_missing"),
        (b'{"a":1}', "items", "array_path_missing"),
        (b'{"items":null}', "items", "array_path_missing"),
        (b'{"items":"a"}', "items", "array_path_missing"),
        (b'{"items":{"0":1}}', "items", "array_path_missing"),
        (b'{"d":[{"items":[]}]}', "d.items", "array_path_missing"),
        (b'{"items":[]}', "", "array_path_missing"),
        (b"[[]]", "0", "array_path_missing"),
        (b"null", "", "array_path_missing"),
    ],
)
def test_what_is_refused(body: bytes, path: str, reason: str) -> None:
    assert outcome(body, path) == reason


@pytest.mark.usefixtures("_way")
def test_what_is_read() -> None:
    assert read(b'{"items":[1.50,1e2,-0]}')[0] == [Decimal("1.50"), Decimal(100), 0]
    assert read(b'{"items":["\\ud83d\\ude00","\\\\ud800"]}')[0] == ["\U0001f600", "\\ud800"]
    assert read(b'{"items":%s}' % (b"[" * 63 + b"]" * 63))[0]
    assert read(b'\xef\xbb\xbf [ {"a" : [ ] } ,\n"" ] \r\n', "") == ([{"a": []}, ""], {})
    assert read(b'{"t":1,"d":{"u":2,"items":[3],"v":4},"w":5}', "d.items") == (
        [3],
        {"t": 1, "d": {"u": 2, "v": 4}, "w": 5},
    )
    assert Page(b"\xef\xbb\xbf[]", "").bom
    assert not Page(b"[]", "").bom


def test_one_value_of_too_many_parts_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "AT_ONCE", -1)
    monkeypatch.setattr(page_module, "MAX_NODES", 10)
    monkeypatch.setattr(page_module, "MAX_ARRAYS", 12)
    many = b",".join([b"{}"] * 11)
    fractions = b",".join([b"1.5"] * 11)
    assert outcome(b'{"items":[{"a":[%s]}]}' % many, "items") == "budget_exhausted"
    assert outcome(b'{"items":[[%s]]}' % fractions, "items") == "budget_exhausted"
    assert outcome(b'{"a":[%s],"items":[]}' % many, "items") == "budget_exhausted"
    assert outcome(b'{"items":[%s]}' % b",".join([b"[]"] * 12), "items") == "budget_exhausted"


def test_items_that_are_forgotten_do_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MAX_NODES", 10)
    monkeypatch.setattr(page_module, "AT_ONCE", -1)
    assert len(read(b'{"items":[%s]}' % b",".join([b"{}"] * 100))[0]) == 100


@pytest.mark.parametrize(
    ("content_type", "says"),
    [
        ("application/json", True),
        ("application/json; charset=utf-8", True),
        ("Application/JSON;charset=UTF-8", True),
        ("application/vnd.api+json", True),
        ("application/problem+json; a=b", True),
        ("text/json", True),
        ("text/plain", False),
        ("text/html; application/json", False),
        ("application/json, text/html", False),
        ("application/jsonp", False),
        ("application/x-ndjson", False),
        ("+json", False),
        ("json", False),
        ("", False),
        (None, False),
    ],
)
def test_content_types(content_type: str | None, says: bool) -> None:
    assert is_json_type(content_type) is says
