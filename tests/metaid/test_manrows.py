"""Answers of indexers: what counts as one, what says "unknown", and that nothing else passes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid import samples
from metaid.mans import HTML, NO_PIN, PATH, load, one, page, pin_id, row, whole
from refold.kernel.dial import TransientError
from refold.kernel.errors import SourceError
from refold.metaid.man.rows import NoRouteError, read_heights, read_page, read_pin

WHERE = "https://indexer.example.test/api"
SAMPLE = samples.load("pins_path_list.json")
UNKNOWN = samples.load("pin_not_found.json")
ID = pin_id(1)


def encoded(answer: Any) -> bytes:
    return answer if isinstance(answer, bytes) else json.dumps(answer).encode()


def code_of(read: Any, status: int, answer: Any, *more: Any) -> tuple[str, bool]:
    """Give the code of the refusal, and whether asking again may help."""
    with pytest.raises(SourceError) as caught:
        read(WHERE, status, encoded(answer), *more)
    assert WHERE in caught.value.message
    return caught.value.code, isinstance(caught.value, TransientError)


# --- pages -----------------------------------------------------------------------------------


def test_a_page_gives_rows_cursor_and_total() -> None:
    found = read_page(WHERE, 200, encoded(SAMPLE))
    assert [r.id for r in found.rows] == [r["id"] for r in SAMPLE["data"]["list"]]
    assert found.next_cursor == SAMPLE["data"]["nextCursor"]
    assert (found.total, found.broken, found.listed) == (SAMPLE["data"]["total"], [], 5)
    assert found.body == encoded(SAMPLE)


@pytest.mark.parametrize("rows", [None, []])
def test_an_empty_list_is_null_or_empty(rows: list[object] | None) -> None:
    found = read_page(WHERE, 200, encoded(page(rows)))
    assert (found.rows, found.next_cursor, found.total) == ([], "", None)


def test_the_end_of_a_walk_is_an_empty_page_behind_the_one_with_the_last_rows() -> None:
    ending = load("last_full_page_then_empty.json")
    last = read_page(WHERE, 200, encoded(ending["page_n"]))
    assert (last.listed, bool(last.next_cursor)) == (1, True)
    empty = read_page(WHERE, 200, encoded(ending["page_n_plus_1"]))
    assert (empty.listed, empty.next_cursor) == (0, "")
    assert read_page(WHERE, 200, encoded(load("empty_page.json"))).listed == 0


@pytest.mark.parametrize("odd", ["cursor", "total", "extra"])
def test_members_of_an_odd_type_cost_no_row(odd: str) -> None:
    answer = page([row(1, 5)], "next", 7)
    answer["data"] |= {"cursor": {"nextCursor": None}, "total": {"total": "many"}, "extra": {}}[odd]
    found = read_page(WHERE, 200, encoded(answer))
    assert [r.id for r in found.rows] == [ID]
    assert found.next_cursor == ("" if odd == "cursor" else "next")
    assert found.total == (None if odd == "total" else 7)


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        (row(2) | {"contentBody": {"v": 1}}, True),  # pitfall 14: a body that is parsed already
        (row(2) | {"genesisHeight": "5"}, True),
        ({"id": pin_id(2)}, True),
        (row(2) | {"id": ""}, False),
        (row(2) | {"id": "../../x"}, False),
        (row(2) | {"id": 7}, False),
        ("text", False),
        (None, False),
        ([[]], False),
    ],
)
def test_an_entry_that_is_no_row_costs_no_other(entry: object, named: bool) -> None:
    found = read_page(WHERE, 200, encoded(page([row(1, 5), entry, row(3, 4)], "next", 3)))
    assert [r.id for r in found.rows] == [pin_id(1), pin_id(3)]
    assert [b.id for b in found.broken] == [pin_id(2) if named else ""]
    assert found.broken[0].why
    assert (found.listed, found.next_cursor, found.total) == (3, "next", 3)


@pytest.mark.parametrize(
    ("status", "answer", "code", "passing"),
    [
        (200, b"", "man-unreadable", True),
        (200, HTML, "man-unreadable", True),
        (200, encoded(SAMPLE)[:-40], "man-unreadable", True),
        (200, [], "man-shape", True),
        (200, {"data": {"list": []}}, "man-shape", True),
        (200, {"code": "1", "data": {"list": []}}, "man-shape", True),
        (200, {"code": 1, "data": None}, "man-shape", True),
        (200, {"code": 1, "data": {"rows": []}}, "man-shape", True),
        (200, {"code": 1, "data": {"list": {}}}, "man-shape", True),
        (200, NO_PIN, "man-error", True),  # of a list this is an error, and no emptiness
        (200, {"code": 404, "message": "service exception."}, "man-error", True),
        (200, {"code": 0, "data": {"list": []}}, "man-error", True),
        (200, load("error_response.json"), "man-refused", False),
        (200, {"code": 101, "message": "page parameter error"}, "man-refused", False),
        (500, HTML, "man-status", True),
        (502, HTML, "man-status", True),
        (500, page([row(1)]), "man-status", True),
        (203, page([row(1)]), "man-status", True),
        (404, b"404 page not found", "man-no-route", False),
        (404, {"error": "not found"}, "man-no-route", False),
    ],
)
def test_status_and_code_must_both_say_success(
    status: int, answer: Any, code: str, passing: bool
) -> None:
    assert code_of(read_page, status, answer) == (code, passing)


def test_another_route_may_help_where_there_is_none() -> None:
    with pytest.raises(NoRouteError):
        read_page(WHERE, 404, HTML)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_page_or_a_refusal(body: bytes) -> None:
    for status in (200, 404, 500):
        with pytest.raises(SourceError):
            read_page(WHERE, status, body)


@given(st.data())
def test_a_cut_answer_is_never_a_page(data: st.DataObject) -> None:
    body = encoded(SAMPLE)
    end = data.draw(st.integers(0, len(body) - 1))
    assert code_of(read_page, 200, body[:end]) == ("man-unreadable", True)


def test_an_answer_nested_without_end_is_refused() -> None:
    deep = b'{"code":1,"data":{"list":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    assert code_of(read_page, 200, deep)[0] in {"man-shape", "man-unreadable"}


# --- details ---------------------------------------------------------------------------------


def test_a_detail_gives_the_row() -> None:
    found = read_pin(WHERE, 200, encoded(one(whole(row(1, 5)))), ID)
    assert found is not None
    assert (found.id, found.path, found.genesis_height) == (ID, PATH, 5)


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, UNKNOWN["production_man_http_200"]),
        (404, UNKNOWN["man_p2p_http_404"]),
        (200, UNKNOWN["v1_http_200"]),
    ],
)
def test_three_answers_say_unknown(status: int, answer: Any) -> None:
    assert read_pin(WHERE, status, encoded(answer), ID) is None


@pytest.mark.parametrize(
    ("status", "answer", "code", "passing"),
    [
        (404, HTML, "man-no-route", False),
        (404, one(row(1)), "man-status", True),
        (500, NO_PIN, "man-error", True),
        (200, {"code": 1, "data": None}, "man-shape", True),
        (200, {"code": 1, "data": []}, "man-shape", True),
        (200, {"code": 404, "message": "service exception."}, "man-error", True),
        (200, one(row(2)), "man-other-pin", False),
        (200, one(row(1) | {"txIndex": "x"}), "man-shape", True),
        (200, b"", "man-unreadable", True),
    ],
)
def test_no_other_answer_does(status: int, answer: Any, code: str, passing: bool) -> None:
    assert code_of(read_pin, status, answer, ID) == (code, passing)


# --- heights ---------------------------------------------------------------------------------


def test_heights_are_text_numbers_or_null() -> None:
    heights = read_heights(WHERE, 200, encoded(load("debug_sync.json")))
    assert (heights["mvc"], heights["btc"], heights["doge"]) == (191702, 921204, None)
    assert set(heights) == {"btc", "btc_mrc20", "doge", "doge_mrc20", "mvc", "mvc_mrc20"}
    assert read_heights(WHERE, 200, b'{"mvc_sync_height":5,"x":""}') == {"mvc": 5}
    assert read_heights(WHERE, 200, b'{"mvc_sync_height":""}') == {"mvc": None}


@pytest.mark.parametrize(
    ("status", "answer", "code"),
    [
        (200, {}, "man-shape"),
        (200, {"mvc_sync_height": "high"}, "man-shape"),
        (200, {"mvc_sync_height": [5]}, "man-shape"),
        (200, one(row(1)), "man-shape"),
        (200, HTML, "man-unreadable"),
        (200, b"", "man-unreadable"),
        (404, b"404 page not found", "man-no-route"),
        (500, {"mvc_sync_height": "5"}, "man-status"),
    ],
)
def test_heights_that_are_none(status: int, answer: Any, code: str) -> None:
    assert code_of(read_heights, status, answer)[0] == code
