"""Where the encyclopedia begins: what there is, what changed last, what was found good."""

import msgspec

from refold.agentpedia.api.asking import Asking
from refold.agentpedia.queries import lists, records
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import EntryItem
from refold.agentpedia.queries.model_governance import Status
from refold.serving.answers import View
from refold.serving.asked import PageAsked
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["Front", "HomePages", "front_of"]

NEWEST = 12
"""Entries that changed last."""
FEATURED = 6


class Front(msgspec.Struct, frozen=True, rename="camel"):
    """What the first page shows."""

    status: Status
    newest: tuple[EntryItem, ...]
    featured: tuple[EntryItem, ...]


class HomePages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @page("/agentpedia", summary="The encyclopedia")
    async def home(self, asked: PageAsked, call: Call) -> View:
        """Show figures, the newest changes and featured entries."""
        del asked
        front = await self._asking.in_thread(call, front_of)
        return View("agentpedia/home.html", {"front": front}, front)

    async def front(self, call: Call) -> View:
        """Give what the first page of the server shows of the encyclopedia."""
        front = await self._asking.in_thread(call, front_of)
        return View("agentpedia/front.html", {"front": front}, front)


def front_of(look: Look) -> Front:
    """Give what the first page shows. Counts rows: milliseconds, for a thread."""
    newest = lists.entries_page(look, "updated", NEWEST, None, None)
    featured = lists.entries_page(look, "featured", FEATURED, None, None)
    return Front(
        status=records.status_of(look),
        newest=tuple(lists.items_of(look, newest)),
        featured=tuple(
            item for item in lists.items_of(look, featured) if item.quality == "featured"
        ),
    )
