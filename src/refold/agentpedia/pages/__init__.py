"""The pages of the encyclopedia, for people: each stands at the path of the API without `/v1`.

A page asks the same questions as the API and shows their answers, so `?format=json` gives what the
API gives. Source: spec §12 (Reader), docs/reader.md.
"""

from dataclasses import replace
from pathlib import Path

from refold.agentpedia.api import agentpedia_part
from refold.agentpedia.api.asking import Asking
from refold.agentpedia.pages.article import Reader
from refold.agentpedia.pages.constitution import ConstitutionPages
from refold.agentpedia.pages.docket import DocketPages
from refold.agentpedia.pages.entries import EntriesPages
from refold.agentpedia.pages.entry import EntryPages
from refold.agentpedia.pages.feeds import FeedPages
from refold.agentpedia.pages.graves import GravePages
from refold.agentpedia.pages.history import HistoryPages
from refold.agentpedia.pages.home import HomePages
from refold.agentpedia.pages.node import NodePages
from refold.agentpedia.pages.people import EditorPages
from refold.agentpedia.pages.sitemap import MAX_LISTED, SitemapPages
from refold.db import Database
from refold.kernel.settings import Settings
from refold.serving.codes import Code
from refold.serving.limits import Limit
from refold.serving.operation import Operation, operations
from refold.serving.part import Nav, Part

__all__ = ["FOLDER", "NAV", "make_part", "page_operations"]

FOLDER = Path(__file__).parents[1]
"""Has `templates/agentpedia`, `static` and `locale`."""

CODES = (Code("part-unknown", 404, "No such part", "The text ends before this character."),)
LIMITS = (Limit("agentpedia.sitemap", MAX_LISTED, "entries", "in the sitemap, those changed last"),)

NAV = (
    Nav("Encyclopedia", "/agentpedia"),
    Nav("Entries", "/agentpedia/entries"),
    Nav("Editors", "/agentpedia/editors"),
    Nav("Docket", "/agentpedia/proposals"),
    Nav("Graveyard", "/agentpedia/graveyard"),
    Nav("Constitution", "/agentpedia/constitution"),
    Nav("Status", "/agentpedia/status"),
)


def page_operations(asking: Asking, home: HomePages) -> tuple[Operation, ...]:
    """Give the routes of all pages."""
    reader = Reader(asking)
    return operations(
        home,
        EntriesPages(asking),
        EntryPages(asking, reader),
        ConstitutionPages(asking),
        NodePages(asking, reader),
        FeedPages(asking),
        SitemapPages(asking),
        HistoryPages(asking),
        DocketPages(asking),
        EditorPages(asking),
        GravePages(asking),
    )


def make_part(database: Database, settings: Settings, writing: Database | None = None) -> Part:
    """Give API and pages as `refold.web.app` asks for them."""
    del settings, writing
    part = agentpedia_part(database)
    asking = Asking(database)
    home = HomePages(asking)
    return replace(
        part,
        operations=(*part.operations, *page_operations(asking, home)),
        codes=(*part.codes, *CODES),
        nav=NAV,
        folder=FOLDER,
        front=home.front,
        sitemap="/agentpedia/sitemap.xml",
        limits=(*part.limits, *LIMITS),
    )
