"""A server over loopback with a sample part, a client that follows nothing, and its log."""

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx2

from refold.serving.application import Application, application
from refold.serving.logs import make_log
from refold.serving.part import Part
from refold.serving.server import listen, serving
from serving.library import Library, library_part

PROBLEM = "application/problem+json"


class Served:
    """A running server."""

    def __init__(self, url: str, app: Application, library: Library, log: io.BytesIO) -> None:
        self.url = url
        self.app = app
        self.library = library
        self._log = log
        self.http = httpx2.Client(base_url=url, trust_env=False, timeout=20)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.get(path, headers=names)

    def problem(self, path: str, status: int, **headers: str) -> dict[str, Any]:
        """Ask for what must fail, and give the problem."""
        return problem_in(self.get(path, **headers), status)

    def walk(self, path: str) -> tuple[list[dict[str, Any]], int]:
        """Follow next links to the end; give all items, and how many pages there were."""
        items: list[dict[str, Any]] = []
        pages = 0
        while path:
            answer = self.get(path)
            assert answer.status_code == 200, answer.text
            page = answer.json()
            assert set(page) == {"items", "nextCursor"}
            items += page["items"]
            pages += 1
            path = answer.links.get("next", {}).get("url", "")
            assert bool(path) == (page["nextCursor"] is not None)
            if path:
                assert path.startswith("http://library.test/")
                path = path.removeprefix("http://library.test")
                assert page["items"]
        return items, pages

    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.getvalue().splitlines()]


def problem_in(answer: httpx2.Response, status: int) -> dict[str, Any]:
    """Check the one shape of a problem, and give it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM
    problem: dict[str, Any] = answer.json()
    assert list(problem) == [
        "type",
        "title",
        "status",
        "code",
        "detail",
        "hint",
        "pointer",
        "errors",
    ]
    assert problem["status"] == status
    assert problem["type"].endswith(f"/v1/errors/{problem['code']}")
    assert problem["errors"][0]["code"]
    return problem


@contextmanager
def served(
    library: Library | None = None,
    *,
    parts: Sequence[Part] | None = None,
    origin: str = "http://library.test",
    **options: Any,
) -> Iterator[Served]:
    """Serve a library (or other parts) while open."""
    library = library or Library()
    out = io.BytesIO()
    log = make_log(out)
    app = application(
        [library_part(library)] if parts is None else parts, log=log, origin=origin, **options
    )
    with serving(app, listen("127.0.0.1", 0), log) as url:
        found = Served(url, app, library, out)
        with found.http:
            yield found
