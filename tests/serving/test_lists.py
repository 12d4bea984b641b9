"""Lists are walked whole, whatever the page size, and cursors are their own."""

import string
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refold.kernel.errors import InputError
from refold.serving.cursor import MAX_CURSOR_LENGTH, read_cursor, write_cursor
from serving.library import BOOKS, Library, all_books
from serving.served import Served, served

KEYSETS = st.tuples(st.integers(-(2**63), 2**64 - 1), st.text(max_size=100))
ALPHABET = string.ascii_letters + string.digits + "-_"


@pytest.mark.parametrize("limit", [1, 2, 7, BOOKS - 1, BOOKS, BOOKS + 1, 100])
def test_a_list_is_walked_whole(server: Served, limit: int) -> None:
    items, pages = server.walk(f"/v1/library/books?limit={limit}")
    assert sorted(item["id"] for item in items) == sorted(book.id for book in all_books())
    assert pages == -(-BOOKS // limit)


def test_filters_go_along_with_the_cursor(server: Served) -> None:
    items, _ = server.walk("/v1/library/books?limit=2&language=zh&word=%E4%B9%A6&word=more")
    wanted = {book.id for book in all_books() if book.id.startswith("zh")}
    assert {item["id"] for item in items} == wanted
    assert len(items) == len(wanted)


def test_an_empty_list_is_one_page_without_a_next_one() -> None:
    library = Library()
    library.books = []
    with served(library) as server:
        assert server.walk("/v1/library/books") == ([], 1)


def test_what_was_there_all_along_is_given_once_while_others_write() -> None:
    with served() as server:
        path, seen = "/v1/library/books?limit=1", []
        there = {book.id for book in server.library.books}
        while path:
            answer = server.get(path)
            seen += [item["id"] for item in answer.json()["items"]]
            number = len(seen)
            server.library.books = [*all_books(BOOKS + number % 7)]
            path = answer.links.get("next", {}).get("url", "").removeprefix("http://library.test")
        assert len(seen) == len(set(seen))
        assert there <= set(seen)


def test_a_cursor_of_another_list_or_filter_is_refused(server: Served) -> None:
    cursor = server.get("/v1/library/books?limit=1").json()["nextCursor"]
    assert server.get(f"/v1/library/books?limit=3&cursor={cursor}").status_code == 200
    for path in ("/v1/errors?", "/v1/library/books?language=zh&"):
        problem = server.problem(f"{path}cursor={cursor}", 404)
        assert (problem["code"], problem["pointer"]) == ("cursor-unknown", "/cursor")


@pytest.mark.parametrize(
    "cursor", ["x", "AAAA", "null", "0", "-1", "MQ", "A" * MAX_CURSOR_LENGTH, "_-_-_-_-"]
)
def test_garbage_in_the_form_of_a_cursor_is_not_found(server: Served, cursor: str) -> None:
    assert server.problem(f"/v1/library/books?cursor={cursor}", 404)["code"] == "cursor-unknown"


@pytest.mark.parametrize("cursor", ["é", "a b", "../..", "A" * (MAX_CURSOR_LENGTH + 1), "a=", "\n"])
def test_what_has_not_the_form_of_a_cursor_is_a_bad_value(server: Served, cursor: str) -> None:
    problem = server.problem(f"/v1/library/books?cursor={quote(cursor)}", 400)
    assert problem["code"] == "query-value"


def test_an_empty_cursor_is_the_beginning(server: Served) -> None:
    assert server.get("/v1/library/books?cursor=").json() == server.get("/v1/library/books").json()


@given(KEYSETS, st.binary(max_size=40))
def test_a_cursor_gives_its_keyset_back(keyset: tuple[int, str], scope: bytes) -> None:
    cursor = write_cursor(scope, keyset)
    assert set(cursor) <= set(ALPHABET)
    assert read_cursor(cursor, scope, tuple[int, str]) == keyset


@given(KEYSETS, st.binary(max_size=9), st.binary(max_size=9))
def test_a_cursor_belongs_to_its_scope(keyset: tuple[int, str], one: bytes, two: bytes) -> None:
    cursor = write_cursor(one, keyset)
    if one != two:
        with pytest.raises(InputError, match="cursor"):
            read_cursor(cursor, two, tuple[int, str])


@given(st.text(ALPHABET, max_size=60) | st.text(max_size=60))
@example("M")
@example("====")
@example("\ud800")
def test_no_other_text_is_a_cursor(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_cursor(text, b"scope", tuple[int, str])
    assert caught.value.code == "cursor-unknown"


@given(KEYSETS, st.data())
def test_a_cursor_with_one_character_changed_is_none(
    keyset: tuple[int, str], data: st.DataObject
) -> None:
    cursor = write_cursor(b"scope", keyset)
    place = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.sampled_from(ALPHABET).filter(lambda char: char != cursor[place]))
    with pytest.raises(InputError):
        read_cursor(cursor[:place] + other + cursor[place + 1 :], b"scope", tuple[int, str])


def test_a_keyset_of_another_type_is_none() -> None:
    cursor = write_cursor(b"scope", ("text", 1))
    with pytest.raises(InputError):
        read_cursor(cursor, b"scope", tuple[int, str])
