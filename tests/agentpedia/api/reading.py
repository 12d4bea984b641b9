"""The pages of the encyclopedia for tests: asked for in a language, read as trees."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from agentpedia.api.served import ORIGIN, Served, served
from refold.agentpedia.pages import make_part
from refold.db import Database
from refold.kernel.settings import resolve
from refold.serving.part import Part
from serving.htmltree import Element, page_of

WIKI = "/agentpedia"


class Reader:
    """Reads pages of a server."""

    def __init__(self, server: Served) -> None:
        self.server = server

    def text(self, path: str, *, status: int = 200, lang: str = "en") -> str:
        answer = self.server.get(path, accept="text/html", accept_language=lang)
        assert answer.status_code == status, (
            path,
            answer.text[:2_000],
            self.server.log_lines()[-2:],
        )
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        return answer.text

    def page(self, path: str, *, status: int = 200, lang: str = "en") -> Element:
        return page_of(self.text(path, status=status, lang=lang))

    def main(self, path: str, *, status: int = 200, lang: str = "en") -> Element:
        return self.page(path, status=status, lang=lang).one("main")

    def data(self, path: str) -> Any:
        return self.server.json(path + ("&" if "?" in path else "?") + "format=json")

    def walk(self, path: str) -> Iterator[Element]:
        """Follow "Next page" to the end."""
        while path:
            main = self.main(path)
            yield main
            following = [link for link in main.all("a") if link.get("rel") == "next"]
            path = following[0]["href"] if following else ""


def entry_path(key: str, *more: str) -> str:
    return "/".join([f"{WIKI}/entries", quote(key, safe=":"), *more])


def with_pages(database: Database) -> Part:
    return make_part(database, resolve((), "", {}, {}))


@contextmanager
def reader_of(database: Database, *, origin: str | None = ORIGIN) -> Iterator[Reader]:
    """Serve the pages over a database while open."""
    with served(database, make=with_pages, origin=origin, has_home=True) as found:
        yield Reader(found)
