"""The addresses of the reader: each page at least once, with members from the demo wiki."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from agentpedia.api.reading import WIKI, entry_path
from agentpedia.api.served import Stored

PROBLEMS = (f"{WIKI}/entries/en:never", f"{WIKI}/versions/nothing", "/nowhere")
"""Pages that say that there is nothing."""


SHORT = 10
"""Items of a list: more of the same only take time."""


class Addresses:
    """Addresses by the kind of their page: the path of its route, for those that have one."""

    def __init__(self, wiki: Stored) -> None:
        self._view = wiki.view
        self.frozen = self._entry(lambda value: value["status"] == "frozen")
        self.awaiting = self._entry(lambda value: value["awaitingReview"])
        self.redirect = self._entry(lambda value: value["redirect"])
        self.featured = self._entry(lambda value: value["quality"] == "featured")
        self.chinese = self._entry(
            lambda value: value["quality"] == "featured", lambda key: key.startswith("zh:")
        )
        self.pages = self._pages()

    def _first(self, section: str, fits: Callable[[Any], object] = bool) -> str:
        """Give the key of a record that fits."""
        return next(key for (kind, key), v in self._view.items() if kind == section and fits(v))

    def _entry(self, fits: Callable[[Any], object], named: Callable[[str], bool] = bool) -> str:
        return next(
            key
            for (kind, key), v in self._view.items()
            if kind == "entry" and named(key) and fits(v)
        )

    def _pages(self) -> dict[str, list[str]]:
        entry: dict[str, Any] = self._view["entry", self.featured]
        versions = [version["id"] for version in entry["versions"]]
        grave = self._first("grave")
        open_one = self._first("proposal", lambda value: value["state"] == "open")
        ended = self._first("proposal", lambda value: value["state"] == "effective")
        challenge = self._view["proposal", open_one]["challengePin"]
        banned = self._first("editor", lambda value: value["banned"])
        arbiter = self._first("editor", lambda value: value["tier"] == "T2")
        diff = f"{WIKI}/diff?before={versions[0]}&after={versions[-1]}"
        entries = (self.featured, self.chinese, self.frozen, self.awaiting, self.redirect)
        found: dict[str, list[str]] = {
            "/": ["/"],
            WIKI: [WIKI],
            f"{WIKI}/entries": [
                f"{WIKI}/entries?limit={SHORT}",
                f"{WIKI}/entries?in=zh&sort=featured&limit=5",
            ],
            f"{WIKI}/search": [f"{WIKI}/search?q=tide", f"{WIKI}/search?q={quote('潮')}"],
            f"{WIKI}/entries/{{key}}": [entry_path(key) for key in entries],
            f"{WIKI}/versions/{{id}}": [f"{WIKI}/versions/{quote(versions[0])}"],
            f"{WIKI}/versions/{{id}}/reviews": [f"{WIKI}/versions/{quote(versions[-1])}/reviews"],
            f"{WIKI}/diff": [diff, f"{diff}&view=side"],
            f"{WIKI}/proposals/{{id}}": [f"{WIKI}/proposals/{one}" for one in (open_one, ended)],
            f"{WIKI}/challenges/{{id}}": [f"{WIKI}/challenges/{challenge}"],
            f"{WIKI}/editors/{{id}}": [f"{WIKI}/editors/{one}" for one in (banned, arbiter)],
            f"{WIKI}/editors/{{id}}/revs": [f"{WIKI}/editors/{arbiter}/revs"],
            f"{WIKI}/pins/{{id}}": [f"{WIKI}/pins/{one}" for one in (grave, versions[0])],
            f"{WIKI}/param-proposals/{{id}}": [
                f"{WIKI}/param-proposals/{self._first('param-proposal')}"
            ],
        }
        for name in ("challenges", "signals", "backlinks"):
            found[f"{WIKI}/entries/{{key}}/{name}"] = [entry_path(self.featured, name)]
        histories = (entry_path(self.featured, "history"), entry_path(self.frozen, "history"))
        found[f"{WIKI}/entries/{{key}}/history"] = [f"{path}?limit={SHORT}" for path in histories]
        for name in (
            *("editors", "proposals", "param-proposals", "challenges", "graveyard", "rule-pack"),
            *("status", "hidden", "about", "constitution"),
        ):
            found[f"{WIKI}/{name}"] = [f"{WIKI}/{name}"]
        for name in ("editors", "graveyard", "challenges"):
            found[f"{WIKI}/{name}"] = [f"{WIKI}/{name}?limit={SHORT}"]
        return found

    @property
    def all(self) -> list[str]:
        """All of them."""
        return [path for paths in self.pages.values() for path in paths]
