"""The document describes what the server does: schemathesis, as anybody would run it, agrees."""

from pathlib import Path
from typing import Any

import pytest

from refold.kernel.errors import UsageError
from refold.serving.answers import Page, View
from refold.serving.asked import ListAsked
from refold.serving.operation import get, operations, page
from serving.conformance import assert_conforms
from serving.library import Book, BookAsked
from serving.served import Served, served

METHODS = ("get", "post")


@pytest.fixture(scope="module")
def document(server: Served) -> Any:
    return server.get("/openapi.json").json()


def routes(document: Any) -> list[tuple[str, str, Any]]:
    return [
        (path, method, about)
        for path, item in document["paths"].items()
        for method, about in item.items()
    ]


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """With its own defaults, so that others who try it find the same."""
    with served(origin="") as server:
        assert_conforms(server.url, tmp_path, "--max-examples", "15")


def test_every_route_has_summary_description_and_codes(document: Any) -> None:
    assert document["openapi"] == "3.1.0"
    found = routes(document)
    assert {path for path, _, _ in found} >= {"/health", "/v1/limits", "/v1/library/books"}
    for path, method, about in found:
        assert about["summary"], path
        assert about["description"], path
        assert method in METHODS
        problems = {status for status in about["responses"] if status >= "400"}
        assert {"400", "404", "500", "503"} <= problems
        for status in problems:
            content = about["responses"][status]["content"]["application/problem+json"]
            assert content["schema"] == {"$ref": "#/components/schemas/ProblemDetails"}
            assert about["responses"][status]["description"].startswith("`")
    ids = [about["operationId"] for _, _, about in found]
    assert len(set(ids)) == len(ids)


def test_members_are_described_with_their_bounds(document: Any) -> None:
    found = document["paths"]["/v1/library/books"]["get"]["parameters"]
    parameters = {parameter["name"]: parameter for parameter in found}
    assert list(parameters) == ["limit", "cursor", "language", "leastHeight", "word", "reverse"]
    limit = parameters["limit"]
    assert (limit["in"], limit["required"], limit["example"]) == ("query", False, 3)
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
    assert parameters["language"]["schema"] == {"enum": ["en", "zh"]}
    (book,) = document["paths"]["/v1/library/books/{id}"]["get"]["parameters"]
    assert (book["name"], book["in"], book["required"]) == ("id", "path", True)


def test_all_references_are_there(document: Any) -> None:
    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if "$ref" in value:
                name = value["$ref"].removeprefix("#/components/schemas/")
                assert name in document["components"]["schemas"]
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document)


def test_routes_that_could_not_work_are_refused_at_the_start() -> None:
    class NoMember:
        @get("/v1/a/{key}", summary="A")
        def a(self, asked: BookAsked) -> Book:
            raise NotImplementedError

    class NoId:
        @get("/v1/a", summary="A")
        def a(self, asked: ListAsked) -> Page[BookAsked]:
            raise NotImplementedError

    class NoListAsked:
        @get("/v1/a/{id}", summary="A")
        def a(self, asked: BookAsked) -> Page[Book]:
            raise NotImplementedError

    class NoPageAsked:
        @page("/a", summary="A")
        def a(self, asked: ListAsked) -> View:
            raise NotImplementedError

    class Stranger:
        @get("/v1/a", summary="A")
        def a(self, database: object) -> Book:
            raise NotImplementedError

    for api, word in (
        (NoMember, "key"),
        (NoListAsked, "list"),
        (NoPageAsked, "page"),
        (Stranger, "database"),
    ):
        with pytest.raises(UsageError, match=word):
            operations(api())
    operations(NoId())  # the id of a book: any member of that name will do
    for path in ("v1", "/v1/", "/v1//a", "/v1/{a b}"):
        with pytest.raises(UsageError, match="path"):
            get(path, summary="A")
