"""What of the pages is copied, and under which ending.

Left out is what has no end, or no sense in files: the search, differences other than from one
version to the next, two filters of the docket at once, the state of a server, routes for programs.
Links to those become text.
"""

import re
from dataclasses import dataclass

from refold.web.copy.names import Address

__all__ = ["DATA", "FEED", "PAGE", "Scope"]

PAGE = ".html"
FEED = ".xml"
DATA = ".json"

_DIFF = "/agentpedia/diff"
_FILES = (
    (re.compile(r"/agentpedia/(?:(?:entries|editors)/[^/]+/)?feed"), FEED),
    (re.compile(r"/v1/agentpedia/versions/[^/]+/text"), ".txt"),
    (re.compile(r"/v1/agentpedia/entries/[^/]+/composition"), DATA),
    (re.compile(r"/v1/agentpedia/(?:audit|graveyard)\.jsonl"), ".jsonl"),
    (re.compile(r"/v1/(?:limits|errors)"), DATA),
)
"""Besides pages; without a query each."""
_NEVER = re.compile(
    r"/(?:v1|api|mcp)/.*|/(?:openapi\.json|health|ready|metrics)|/agentpedia/search"
)
_RECORDS = re.compile(r"/agentpedia/(?:versions/.*|pins/.*|diff)")


@dataclass(frozen=True, slots=True)
class Scope:
    """How much is copied. `records`: also a page for each version, difference and pin."""

    records: bool = True

    def ending(self, address: Address, seen_from: Address | None = None) -> str | None:
        """Give the ending of the file for an address, None where it is not copied.

        `seen_from` is the page with the link: a difference leads to no other difference.
        """
        path, query = address
        for pattern, ending in _FILES:
            if pattern.fullmatch(path):
                return None if query else ending
        if _NEVER.fullmatch(path) or (not self.records and _RECORDS.fullmatch(path)):
            return None
        names = {piece.partition("=")[0] for piece in query.split("&")}
        if path == _DIFF:
            is_onward = seen_from is None or seen_from.path != _DIFF or seen_from == address
            return PAGE if names == {"before", "after"} and is_onward else None
        if path == "/agentpedia/proposals" and names >= {"entry", "state"}:
            return None
        return PAGE
