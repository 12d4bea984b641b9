"""The sitemap: the entries that changed last. What is older is reached through the list."""

from html import escape

from refold.agentpedia.api.asking import Asking
from refold.agentpedia.queries import lists
from refold.agentpedia.queries.look import Look
from refold.serving.answers import Answer
from refold.serving.call import Call
from refold.serving.here import joined
from refold.serving.operation import get

__all__ = ["MAX_LISTED", "SitemapPages"]

MAX_LISTED = 10_000
"""Entries of the sitemap, a megabyte: a crawler that wants more walks the list."""
XML_TYPE = "application/xml; charset=utf-8"
_PAGES = ("", "/entries", "/editors", "/proposals", "/graveyard", "/constitution", "/status")


class SitemapPages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @get("/agentpedia/sitemap.xml", summary="The sitemap", media_type=XML_TYPE, listed=False)
    async def sitemap(self, call: Call) -> Answer[bytes]:
        """Give the addresses of the first pages and of entries."""

        def ask(look: Look) -> list[str]:
            rows = lists.entries_page(look, "updated", MAX_LISTED, None, None)
            return [joined("/agentpedia/entries", row[0]) for row in rows]

        entries = await self._asking.in_thread(call, ask)
        paths = [*(f"/agentpedia{name}" for name in _PAGES), *entries]
        lines = (f"<url><loc>{escape(call.site.origin + path)}</loc></url>\n" for path in paths)
        body = (
            '<?xml version="1.0" encoding="utf-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{''.join(lines)}</urlset>\n"
        )
        return Answer(body.encode(), media_type=XML_TYPE)
