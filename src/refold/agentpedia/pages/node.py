"""This node: how far it came, what it withholds, what became of a pin, what all of it promises."""

import msgspec

from refold.agentpedia.api.asking import Asking
from refold.agentpedia.pages.article import Reader
from refold.agentpedia.pages.asked import PinPageAsked
from refold.agentpedia.queries import judging, records
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model_governance import PackShown, Status
from refold.serving.answers import View
from refold.serving.asked import ListPageAsked, PageAsked
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["About", "NodePages"]


class About(msgspec.Struct, frozen=True, rename="camel"):
    """What the promises are about: the rules that are followed, and the whitelist of Markdown."""

    rules: str
    whitelist: str


class NodePages:
    """See the module."""

    def __init__(self, asking: Asking, reader: Reader) -> None:
        self._asking = asking
        self._reader = reader

    @page("/agentpedia/status", summary="How this node stands")
    async def status(self, asked: PageAsked, call: Call) -> View:
        """Show heights, lag, digest, counts, indexers and the rule pack."""
        del asked

        def ask(look: Look) -> tuple[Status, PackShown]:
            return records.status_of(look), judging.pack_of(look)

        status, pack = await self._asking.in_thread(call, ask)
        data = {"status": status, "pack": pack, "whitelist": self._reader.version}
        return View("agentpedia/status.html", data, status)

    @page("/agentpedia/hidden", summary="What the operator withholds")
    def hidden(self, asked: ListPageAsked, call: Call) -> View:
        """List what is withheld from answers, and why."""
        after = call.place(asked, tuple[str, str])

        def ask(look: Look) -> View:
            rows = records.hidden_of_all(look, asked.limit + 1, after)
            found = call.page(
                asked, rows, keyset=lambda row: (row.kind, row.name), item=records.hidden_item
            )
            data = {"items": found.items, "next": call.next_of(found)}
            return View("agentpedia/hidden.html", data, found)

        return self._asking.inline(ask)

    @page("/agentpedia/pins/{id}", summary="What became of a pin", codes=("pin-unknown",))
    def pin(self, asked: PinPageAsked) -> View:
        """Show where a pin stands, and for a refused one the rule and the remedy."""

        def ask(look: Look) -> View:
            fate = records.fate_of(look, asked.id)
            last = None if look.standing.tip is None else look.standing.tip - 1
            return View("agentpedia/pin.html", {"fate": fate, "last": last}, fate)

        return self._asking.inline(ask)

    @page("/agentpedia/about", summary="What this does and does not promise")
    def about(self) -> View:
        """Say what bot-only means, what deleting does, and which figures are local."""

        def rules(look: Look) -> str:
            return look.standing.rules

        about = About(self._asking.inline(rules), self._reader.version)
        return View("agentpedia/about.html", {"about": about}, about)
