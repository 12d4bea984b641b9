"""The home page: what the parts of this server show of themselves, and where programs begin.

With it come the addresses that browsers and crawlers look for by themselves.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import msgspec

from refold.serving.answers import Answer, View
from refold.serving.call import Call
from refold.serving.operation import get, operations, page
from refold.serving.pages import HERE
from refold.serving.part import Guide, Part

__all__ = ["Shown", "home_part"]

_DESCRIPTION = Guide("/openapi.json", "service-desc", "application/json", "")
XML_TYPE = "application/xml; charset=utf-8"
TEXT_TYPE = "text/plain; charset=utf-8"


class PartShown(msgspec.Struct, frozen=True):
    """A part of this server. `path` is where its pages begin, None where it has none."""

    name: str
    title: str
    summary: str
    path: str | None


class Shown(msgspec.Struct, frozen=True):
    """What the home page says; `guides` are where programs begin."""

    parts: tuple[PartShown, ...]
    guides: tuple[Guide, ...]


class Home:
    """The pages of the server itself."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        guides = tuple(guide for part in parts for guide in part.guides)
        self._shown = Shown(
            tuple(PartShown(part.name, part.title, part.summary, _path_of(part)) for part in parts),
            guides or (_DESCRIPTION,),
        )

    @page("/", summary="Home")
    async def home(self, call: Call) -> Answer[View]:
        """Show what each part has to show, and the addresses for programs, as links too."""
        guides = self._shown.guides
        links = (
            f'<{call.site.address(each.path)}>; rel="{each.rel}"; type="{each.media_type}"'
            for each in guides
        )
        headers = (("link", ", ".join(links)),)
        if call.wants_json:
            return Answer(View("web/home.html", {}, self._shown), headers=headers)
        fronts = [
            (part, await part.front(call) if part.front is not None else None)
            for part in self._parts
        ]
        data = {"fronts": fronts, "guides": [each for each in guides if each.says]}
        return Answer(View("web/home.html", data, self._shown), headers=headers)

    @get("/robots.txt", summary="Rules for crawlers", media_type=TEXT_TYPE, listed=False)
    def robots(self, call: Call) -> Answer[bytes]:
        """Keep crawlers to the pages and to what is public: searches and data have no end."""
        begin = [each.path for each in self._shown.guides if each.rel == "describedby"]
        lines = [f"# Programs begin at {call.site.address(path)}" for path in begin]
        lines += ["User-agent: *", "Allow: /v1/public/", "Disallow: /v1/", "Disallow: /api/"]
        lines += [f"Disallow: /*{end}" for end in ("/search", "/diff", "format=", "cursor=")]
        if any(part.sitemap for part in self._parts):
            lines += ["", f"Sitemap: {call.site.address('/sitemap.xml')}"]
        return Answer("".join(f"{line}\n" for line in lines).encode(), media_type=TEXT_TYPE)

    @get("/sitemap.xml", summary="The sitemaps", media_type=XML_TYPE, listed=False)
    def sitemap(self, call: Call) -> Answer[bytes]:
        """Name the sitemap of each part."""
        paths = [part.sitemap for part in self._parts if part.sitemap]
        body = (
            '<?xml version="1.0" encoding="utf-8"?>\n'
            '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            + "".join(
                f"<sitemap><loc>{escape(call.site.address(path))}</loc></sitemap>\n"
                for path in paths
            )
            + "</sitemapindex>\n"
        )
        return Answer(body.encode(), media_type=XML_TYPE)

    @get("/favicon.ico", summary="The mark", media_type="image/svg+xml", listed=False)
    def favicon(self) -> Answer[bytes]:
        """Give the mark to browsers that ask for it by this name."""
        mark = (HERE / "static/mark.svg").read_bytes()
        return Answer(mark, media_type="image/svg+xml", cache="public, max-age=86400")


def _path_of(part: Part) -> str | None:
    return part.nav[0].path if part.nav else None


def home_part(parts: Sequence[Part]) -> Part:
    """Give the home page of a server with these parts."""
    return Part(
        name="web",
        title="refold",
        summary="Pages of the server itself.",
        operations=operations(Home(parts)),
        folder=Path(__file__).parent,
    )
