"""The home page and the menus of servers with no part, with one, and with several."""

from refold.serving.menu import Nav
from refold.serving.part import Part
from refold.web.home import home_part
from serving.htmltree import Element, page_of
from serving.library import Library, library_part
from serving.served import Served, served


def page(server: Served, path: str) -> Element:
    answer = server.get(path)
    assert answer.status_code == 200
    return page_of(answer.text)


def test_a_server_without_pages_has_no_menu() -> None:
    bare = Part(name="bare", title="Library", summary="Library")
    for parts in ([], [bare]):
        with served(parts=[home_part(parts), *parts]) as server:
            home = page(server, "/")
            assert home.all("nav") == []
            assert len(home.one("main").all("dt")) == len(parts)
            assert server.get("/robots.txt").text.count("Sitemap") == 0


def test_one_part_has_its_menu_everywhere_and_several_only_on_their_pages() -> None:
    library = library_part(Library())
    other = Part(name="other", title="Library", summary="Library", nav=(Nav("Library", "/other"),))
    with served(parts=[home_part([library]), library]) as server:
        for path in ("/", "/library"):
            assert [link["href"] for link in page(server, path).one("nav").all("a")] == ["/library"]
    parts = [library, other]
    with served(parts=[home_part(parts), *parts]) as server:
        (nav,) = page(server, "/").all("nav")
        assert [link["href"] for link in nav.all("a")] == ["/library", "/other"]
        all_parts, own = page(server, "/library").all("nav")
        assert [link.get("aria-current") for link in all_parts.all("a")] == ["true", ""]
        assert [link.get("aria-current") for link in own.all("a")] == ["page"]
