"""Addresses that pages write: of ours, encoded, in the language that was asked for."""

from collections.abc import Hashable
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.serving.answers import View
from refold.serving.here import Here
from refold.serving.pages import Pages
from serving.htmltree import page_of
from serving.served import Served, served

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
FOLDER = Path(__file__).parent / "pages"


@given(TEXT, st.one_of(TEXT, st.integers()), st.sampled_from(["", "zh"]))
def test_an_address_holds_what_was_put_into_it_and_is_of_ours(
    part: str, member: str | int, named: str
) -> None:
    here = Here("/here", b"", lang="en", named=named, origin="http://a.test")
    address = here.to("/wiki", part, "more", q=member, none=None)
    split = urlsplit(address)
    assert (split.scheme, split.netloc, split.fragment) == ("", "", "")
    assert unquote(split.path) == f"/wiki/{part}/more"
    assert split.path.count("/") == 3
    wanted = {"q": [str(member)]} | ({"lang": [named]} if named else {})
    assert parse_qs(split.query, keep_blank_values=True) == wanted


@given(st.dictionaries(st.sampled_from("abc"), TEXT), TEXT)
def test_the_same_page_keeps_its_other_members(members: dict[str, str], given_: str) -> None:
    plain = Here("/x", b"", lang="en").to("/x", **members)
    here = Here("/x", urlsplit(plain).query.encode(), lang="en")
    again = parse_qs(urlsplit(here.again(a=given_, b=None)).query, keep_blank_values=True)
    kept = {name: [text] for name, text in members.items() if name not in "ab"}
    assert again == kept | {"a": [given_]}


@pytest.mark.parametrize("path", ["//evil.test", "/\\evil.test", "//evil.test/%2e%2e", "/%0a/x"])
def test_a_page_that_is_not_there_links_nowhere_else(path: str) -> None:
    with served() as server:
        page = page_of(_asked(server, path))
        for link in page.all("a"):
            assert link["href"].startswith(("/", "#"))
            assert link["href"][1:2] not in {"/", "\\"}


def _asked(server: Served, path: str) -> str:
    answer = server.http.get(server.url + path, headers={"accept": "text/html"})
    assert answer.status_code == 404
    return answer.text


def test_a_page_is_made_once_of_the_same_and_anew_of_anything_else() -> None:
    pages = Pages([FOLDER])
    made = []

    def view(said: str, made_of: Hashable) -> View:
        def data() -> dict[str, object]:
            made.append(said)
            return {"books": [{"title": said}]}

        return View("library/books.html", data, None, made_of)

    here = Here("/library", lang="en")
    first = pages.shown(view("one", ("a", 1)), here)
    assert pages.shown(view("two", ("a", 1)), here) == first
    assert made == ["one"]
    assert pages.shown(view("three", ("a", 2)), here) != first
    assert pages.shown(view("four", ("a", 1)), Here("/library", lang="zh")) != first
    assert pages.shown(view("five", None), here) != first
    assert made == ["one", "three", "four", "five"]
