"""Whatever is wrong is told in one shape, with a stable code, and without what is ours to know."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, quote_from_bytes

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from refold.db import Database
from refold.kernel.errors import InputError, Problem, SourceError, UsageError
from refold.serving.asked import AskedReader, ListAsked
from refold.serving.codes import SERVING_CODES, Code, Codes
from refold.serving.problem import MAX_ERRORS, fault_of
from serving.served import Served, problem_in, served

CODES = Codes(SERVING_CODES)


@pytest.fixture(scope="module")
def page() -> Iterator[Served]:
    with served(origin="") as found:
        yield found


@pytest.mark.parametrize(
    ("path", "status", "code", "pointer"),
    [
        ("/v1/library/books?limit=0", 400, "query-value", "/limit"),
        ("/v1/library/books?limit=101", 400, "query-value", "/limit"),
        ("/v1/library/books?limit=", 400, "query-value", "/limit"),
        ("/v1/library/books?limit=1.0", 400, "query-value", "/limit"),
        ("/v1/library/books?limit=01", 400, "query-value", "/limit"),
        ("/v1/library/books?limit=%2B1", 400, "query-value", "/limit"),
        ("/v1/library/books?limit=%D9%A3", 400, "query-value", "/limit"),
        ("/v1/library/books?limit=" + "9" * 5_000, 400, "query-value", "/limit"),
        ("/v1/library/books?limit=1&limit=1", 400, "query-repeated", "/limit"),
        ("/v1/library/books?Limit=1", 400, "query-unknown", "/Limit"),
        ("/v1/library/books?least_height=1", 400, "query-unknown", "/least_height"),
        ("/v1/library/books?=1", 400, "query-unknown", "/"),
        ("/v1/library/books?language=fr", 400, "query-value", "/language"),
        ("/v1/library/books?reverse=1", 400, "query-value", "/reverse"),
        ("/v1/library/books?word=a&word=b&word=c&word=d", 400, "query-value", "/word"),
        ("/v1/library/books?word=%00", 400, "query-encoding", ""),
        ("/v1/library/books?word=%ff", 400, "query-encoding", ""),
        ("/v1/library/books?word=%ED%A0%80", 400, "query-encoding", ""),
        ("/v1/library/books?word=%4", 400, "query-encoding", ""),
        ("/v1/library/books?" + "&".join(["word=a"] * 65), 400, "query-many", ""),
        ("/v1/library/books/nothing", 400, "path-value", "/id"),
        ("/v1/library/books/en:" + "x" * 61, 400, "path-value", "/id"),
        ("/v1/library/books/en%3Ax%0A", 404, "book-unknown", "/id"),
        ("/v1/library/books/%ff", 400, "path-encoding", ""),
        ("/v1/library/books/%00", 400, "path-encoding", ""),
        ("/v1/library/books/en:x?limit=1", 400, "query-unknown", "/limit"),
        ("/v1/library/books/en:x?id=en:x", 400, "query-unknown", "/id"),
        ("/v1/library/books/en:unknown", 404, "book-unknown", "/id"),
        ("/v1/library", 404, "route-unknown", ""),
        ("/v1/library/books/", 404, "route-unknown", ""),
        ("/v1//library/books", 404, "route-unknown", ""),
        ("/v1/library/books/en:book/1", 404, "route-unknown", ""),
        ("/v1/library/%62ooks", 404, "route-unknown", ""),
        ("/v1/errors/none", 404, "error-unknown", "/id"),
        ("/static/none.css", 404, "route-unknown", ""),
    ],
)
def test_what_is_wrong_in_an_address_has_its_code(
    server: Served, path: str, status: int, code: str, pointer: str
) -> None:
    problem = server.problem(path, status)
    assert (problem["code"], problem["pointer"]) == (code, pointer)


def test_all_problems_are_found_at_once(server: Served) -> None:
    path = "/v1/library/books?limit=0&language=fr&foo=1&reverse=1&foo=2&word=%ff"
    problem = server.problem(path, 400)
    found = [(error["code"], error.get("pointer", "")) for error in problem["errors"]]
    assert sorted(found) == [
        ("query-encoding", ""),
        ("query-unknown", "/foo"),
        ("query-unknown", "/foo"),
        ("query-value", "/language"),
        ("query-value", "/limit"),
        ("query-value", "/reverse"),
    ]
    assert problem["code"] == problem["errors"][0]["code"]


def test_a_near_name_is_suggested(server: Served) -> None:
    assert "limit" in server.problem("/v1/library/books?limits=1", 400)["hint"]


@pytest.mark.parametrize(
    ("content", "content_type", "status", "told"),
    [
        (b'{"title":"a","height":1', "application/json", 400, ("body-json", "")),
        (b"\xff", "application/json", 400, ("body-json", "")),
        (b"", "application/json", 400, ("body-json", "")),
        (b'{"title":"a"}', "application/json", 422, ("body-shape", "")),
        (b'{"title":"a","height":"1"}', "application/json", 422, ("body-shape", "/height")),
        (b'{"title":"a","height":1,"x":1}', "application/json", 422, ("body-shape", "")),
        (b"[" * 300 + b"]" * 300, "application/json", 400, ("too-deep", "")),
        (b'{"title":"a","height":1}', "text/plain", 415, ("body-type", "")),
        (b'{"title":"a","height":1}', "", 415, ("body-type", "")),
        (b" " * 2_001, "application/json", 413, ("body-large", "")),
    ],
)
def test_what_is_wrong_in_a_body_has_its_code(
    server: Served, content: bytes, content_type: str, status: int, told: tuple[str, str]
) -> None:
    answer = server.http.post(
        "/v1/library/drafts", content=content, headers={"content-type": content_type}
    )
    problem = problem_in(answer, status)
    assert (problem["code"], problem["pointer"]) == told


def test_a_body_without_a_length_is_counted_as_it_comes(server: Served) -> None:
    def chunks(count: int) -> Iterator[bytes]:
        yield from (b"x" * 1_000 for _ in range(count))

    assert server.http.post("/v1/library/raw", content=chunks(2)).json() == {"bytes": 2_000}
    answer = server.http.post("/v1/library/raw", content=chunks(3))
    assert problem_in(answer, 413)["code"] == "body-large"


def test_another_method_is_refused_with_those_allowed(server: Served) -> None:
    for method in ("DELETE", "PUT", "PATCH", "POST"):
        answer = server.http.request(method, "/v1/library/books")
        assert problem_in(answer, 405)["code"] == "method-unknown"
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    answer = server.get("/v1/library/drafts")
    assert problem_in(answer, 405)["code"] == "method-unknown"
    assert answer.headers["allow"] == "OPTIONS, POST"


def test_a_defect_is_told_by_a_reference_that_the_log_has(server: Served) -> None:
    problem = server.problem("/v1/library/broken", 500)
    assert problem["code"] == "internal"
    assert "secret" not in json.dumps(problem)
    assert "Traceback" not in json.dumps(problem)
    reference = problem["hint"].split()[-1]
    (line,) = [line for line in server.log_lines() if line.get("reference") == reference]
    assert line["error"] == "KeyError"
    assert any("broken" in frame for frame in line["at"])
    assert "secret" not in json.dumps(line)


def test_a_source_that_fails_is_a_503_and_its_place_stays_ours(server: Served) -> None:
    answer = server.get("/v1/library/away")
    problem = problem_in(answer, 503)
    assert problem["code"] == "database-busy"
    assert "secret" not in answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert any("/srv/secret/path.db" in line.get("message", "") for line in server.log_lines())


def test_every_type_of_a_problem_is_served(server: Served) -> None:
    items, _ = server.walk("/v1/errors?limit=100")
    assert {row.id for row in SERVING_CODES} | {"book-unknown"} <= {item["id"] for item in items}
    for item in items:
        assert server.get(f"/v1/errors/{item['id']}").json() == item


def test_problems_are_never_kept(server: Served) -> None:
    assert server.get("/v1/library/nothing").headers["cache-control"] == "no-store"


def test_browsers_get_a_page_and_programs_a_problem(page: Served) -> None:
    html = "text/html,application/xhtml+xml,*/*;q=0.8"
    for accept, language, word in (
        (html, "zh-CN,zh;q=0.9", "此地址没有内容"),
        (html, "fr", "There is nothing"),
    ):
        answer = page.get("/nothing", accept=accept, accept_language=language)
        assert (answer.status_code, answer.headers["content-type"]) == (
            404,
            "text/html; charset=utf-8",
        )
        assert word in answer.text
    for path, accept in (("/nothing", "*/*"), ("/nothing", ""), ("/v1/nothing", html)):
        assert page.problem(path, 404, accept=accept)["type"] == "/v1/errors/route-unknown"


def test_what_a_stranger_writes_is_escaped_in_the_page(page: Served) -> None:
    attack = "<script>alert(1)</script>"
    answer = page.get(f"/library?{quote(attack)}=1", accept="text/html")
    assert answer.status_code == 400
    assert "<script" not in answer.text
    assert "&lt;script&gt;" in answer.text


class Asked(ListAsked, kw_only=True, frozen=True):
    """All kinds of members."""

    name: Annotated[str, Meta(min_length=1, max_length=8)]
    kind: Literal["a", "b"] = "a"
    number: int = 0
    flag: bool = False
    many: tuple[int, ...] = ()


@given(
    st.one_of(
        st.binary(max_size=80),
        st.lists(
            st.tuples(
                st.sampled_from(["name", "kind", "number", "flag", "many", "limit", "x", ""]),
                st.binary(max_size=8).map(quote_from_bytes),
            ),
            max_size=6,
        ).map(lambda pairs: "&".join(f"{name}={value}" for name, value in pairs).encode()),
    )
)
def test_any_query_is_read_or_refused_with_codes(query: bytes) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        asked = AskedReader(Asked, frozenset()).read({}, query)
    except InputError as error:
        asked, problems = None, error.errors
    assert (asked is None) == bool(problems)
    assert all(problem.code in CODES for problem in problems)
    assert asked is None or 1 <= len(asked.name) <= 8


@given(
    st.builds(
        Asked,
        name=st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=8),
        kind=st.sampled_from(["a", "b"]),
        number=st.integers(-(10**18) + 1, 10**18 - 1),
        flag=st.booleans(),
        many=st.lists(st.integers(0, 9), max_size=4).map(tuple),
        limit=st.integers(1, 100),
        cursor=st.just(""),
    )
)
def test_what_is_written_is_what_is_read(asked: Asked) -> None:
    pairs = []
    for name, value in msgspec.to_builtins(asked).items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            text = json.dumps(one) if isinstance(one, bool) else str(one)
            pairs.append(f"{name}={quote(text, safe='')}")
    assert AskedReader(Asked, frozenset()).read({}, "&".join(pairs).encode()) == asked


def test_an_error_has_the_status_of_its_branch_or_of_its_row() -> None:
    own = Codes(SERVING_CODES, (Code("book-unknown", 404, "No such book", "None."),))
    for error, status, told in (
        (InputError("book-unknown", "words"), 404, True),
        (InputError("never-listed", "words"), 422, True),
        (SourceError("never-listed", "words"), 503, False),
        (SourceError("database-io", "words"), 503, False),
        (UsageError("never-listed", "words"), 500, False),
        (ValueError("words"), 500, False),
    ):
        fault = fault_of(error, own, "ref")
        details = fault.details("http://a.test")
        assert (details.status, details.detail == "words") == (status, told)


def test_a_thousand_problems_are_not_all_told() -> None:
    many = InputError.of([InputError("query-value", str(n)).errors[0] for n in range(1_000)])
    assert len(fault_of(many, CODES, "").details("").errors) == MAX_ERRORS


def test_a_code_has_one_row() -> None:
    with pytest.raises(UsageError, match="query-value"):
        Codes(SERVING_CODES, (Code("query-value", 400, "Again", "Again."),))


def test_a_time_limit_of_a_database_is_told_as_one(tmp_path: Path) -> None:
    with Database.open(f"sqlite:///{tmp_path}/a.db") as database:
        slow = (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        )
        with pytest.raises(SourceError) as caught, database.read(seconds=0.02) as connection:
            connection.exec_driver_sql(slow)
    details = fault_of(caught.value, CODES, "ref").details("")
    assert (details.status, details.code) == (503, "database-time-limit")
    assert str(tmp_path) not in details.detail
