"""Rows and details of an indexer: what counts as an answer, and what filters compare."""

import json
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest

from refold.coverage.record import MvcPins
from refold.coverage.walk.page import PageError
from refold.coverage.walk.pin_rows import (
    Filter,
    block_time,
    identities,
    read_detail,
    read_list,
    status_of,
)

RECIPE = MvcPins("https://man.example.test", "/protocols/x", 9, "LIST_ONLY")


def envelope(data: Any, code: Any = 1) -> bytes:
    return json.dumps({"code": code, "message": "ok", "data": data}).encode()


def listing(rows: Any, cursor: Any = "") -> bytes:
    return envelope({"list": rows, "nextCursor": cursor, "total": 7})


def reason(read: Any, *arguments: Any) -> str:
    with pytest.raises(PageError) as refused:
        read(*arguments)
    return refused.value.reason


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (envelope({"list": [], "nextCursor": ""}, 100), "source_error"),
        (envelope({"list": [], "nextCursor": ""}, "1"), "source_error"),
        (envelope({"list": [], "nextCursor": ""}, True), "source_error"),
        (envelope({"list": [], "nextCursor": ""}, None), "source_error"),
        (envelope(None), "source_error"),
        (envelope([]), "source_error"),
        (b"[]", "source_error"),
        (b'{"data":{"list":[],"nextCursor":""}}', "source_error"),
        (listing([], None), "source_error"),
        (listing([], 0), "source_error"),
        (envelope({"list": []}), "source_error"),
        (envelope({"nextCursor": ""}), "array_path_missing"),
        (listing(None, "k1"), "array_path_missing"),
        (listing({}), "array_path_missing"),
        (listing("none"), "array_path_missing"),
        (listing([{}]), "item_without_id"),
        (listing([{"id": 1}]), "item_without_id"),
        (listing([{"id": ""}]), "item_without_id"),
        (listing(["a"]), "item_without_id"),
        (b'{"code":1,"code":1,"data":{"list":[],"nextCursor":""}}', "json_ambiguous"),
        (b"<html>", "not_json"),
        (b"", "not_json"),
    ],
)
def test_what_is_no_page_of_a_list(body: bytes, expected: str) -> None:
    assert reason(read_list, body) == expected


def test_pages_of_a_list() -> None:
    assert read_list(listing(None)).rows == ()
    page = read_list(listing([{"id": "a"}, {"id": "b", "x": [1]}], "k1"))
    assert [row["id"] for row in page.rows] == ["a", "b"]
    assert page.next_cursor == "k1"
    assert read_list(b'\xef\xbb\xbf{"code":1.0,"data":{"list":[],"nextCursor":""}}').rows == ()


def detail(**members: Any) -> bytes:
    body = b64encode(b'{"n":1}').decode()
    return envelope({"id": "a", "contentBody": body, "contentLength": 7} | members)


FIRST = b64encode(b"first").decode()


@pytest.mark.parametrize(
    ("members", "body", "is_json"),
    [
        ({}, b'{"n":1}', True),
        ({"originalContentBody": FIRST}, b"first", False),
        ({"originalContentBody": None}, b'{"n":1}', True),
        ({"originalContentBody": ""}, b'{"n":1}', True),
        ({"contentBody": "", "contentLength": 0}, b"", False),
        ({"contentBody": None, "originalContentBody": FIRST}, b"first", False),
        ({"contentBody": b64encode(b'{"a":1,"a":2}').decode()}, b'{"a":1,"a":2}', False),
    ],
)
def test_the_bytes_of_a_pin_are_those_that_were_pinned_first(
    members: dict[str, Any], body: bytes, is_json: bool
) -> None:
    read = read_detail(detail(**members), "a")
    assert (read.digest, read.is_json) == (sha256(body).hexdigest(), is_json)


@pytest.mark.parametrize(
    "body",
    [
        detail(id="b"),
        detail(id=""),
        detail(contentBody=""),
        detail(contentBody=None),
        detail(contentBody="?"),
        detail(contentBody=7),
        detail(originalContentBody="AA="),
        envelope(None, 100),
        b"fail",
        b"",
    ],
)
def test_what_is_no_detail_of_the_pin(body: bytes) -> None:
    assert reason(read_detail, body, "a") == "detail_mismatch"


def test_identities_of_a_row() -> None:
    row = {"id": "a", "modify_history": ["a", "b", "c"]}
    alone = MvcPins("https://man.example.test", "/protocols/x", 9, "LIST_ONLY", "NONE")
    assert list(identities(row, RECIPE)) == ["a", "a", "b", "c"]
    assert list(identities(row, alone)) == ["a"]
    assert list(identities({"id": "a", "modify_history": None}, RECIPE)) == ["a"]
    for history in ("abc", [1], [""], {"b": 1}, [["b"]]):
        broken = {"id": "a", "modify_history": history}
        assert reason(lambda row: list(identities(row, RECIPE)), broken) == "source_error"
        assert list(identities(broken, alone)) == ["a"]


@pytest.mark.parametrize(
    ("row", "when"),
    [
        ({"genesisHeight": 7, "timestamp": 5}, 5),
        ({"genesisHeight": -1, "timestamp": 5}, None),
        ({"genesisHeight": 0, "timestamp": 5}, None),
        ({"genesisHeight": "7", "timestamp": 5}, None),
        ({"genesisHeight": 7, "timestamp": "5"}, None),
        ({"genesisHeight": True, "timestamp": 5}, None),
        ({}, None),
    ],
)
def test_the_block_of_a_row(row: dict[str, Any], when: int | None) -> None:
    assert block_time(row) == when


def test_status_is_counted_as_text() -> None:
    statuses: list[Any] = [-2, 0, "1", None, [], 1]
    texts = [status_of({"status": status}) for status in statuses]
    assert texts == ["-2", "0", "1", "null", "", "1"]
    assert status_of({}) == ""


ITEM = {
    "chain": {"id": "a", "n": 1, "yes": True, "none": None, "list": ["x", "y"], "deep": {"k": "v"}},
    "doc": {"path": "/x", "tags": [{"t": "u"}]},
}


@pytest.mark.parametrize(
    ("key", "wanted", "passes"),
    [
        ("chain.id", "a", True),
        ("chain.id", "A", False),
        ("chain.n", "1", True),
        ("chain.n", "01", False),
        ("chain.yes", "true", True),
        ("chain.none", "null", True),
        ("chain.none", "", False),
        ("chain.list", "y", True),
        ("chain.deep.k", "v", True),
        ("chain.deep", "v", False),
        ("chain.missing", "", False),
        ("doc.path", "/x", True),
        ("doc.tags.t", "u", True),
    ],
)
def test_filters_compare_scalars_as_text(key: str, wanted: str, passes: bool) -> None:
    ours = Filter({key: wanted})
    assert ours.passes(ITEM, doc=key.startswith("doc")) is passes
    assert ours.passes(ITEM, doc=not key.startswith("doc"))  # of the other half it says nothing
    assert list(ours.unseen) == ([key] if key == "chain.missing" else [])
    assert ours.reads_doc is key.startswith("doc")
