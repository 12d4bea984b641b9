"""Editors: the list by reputation, and one of them."""

from refold.agentpedia.api.asked import EditorId
from refold.agentpedia.api.asking import Asking, paged
from refold.agentpedia.pages.curve import HEIGHT, WIDTH, curve_of, told_of
from refold.agentpedia.queries import people
from refold.agentpedia.queries.drawnhistory import verdicts_on
from refold.agentpedia.queries.editorpage import editor_shown
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import VersionItem
from refold.agentpedia.queries.model_governance import EditorItem
from refold.agentpedia.queries.model_reader import EditorShown, Verdicts
from refold.serving.answers import Page, View
from refold.serving.asked import ListPageAsked, PageAsked
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["EditorPages"]


class EditorPageAsked(PageAsked, kw_only=True, frozen=True, rename="camel"):
    """One editor."""

    id: EditorId


class EditorRevsAsked(ListPageAsked, kw_only=True, frozen=True, rename="camel"):
    """The versions by an editor."""

    id: EditorId


class EditorPages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @page("/agentpedia/editors", summary="Editors by reputation")
    async def editors(self, asked: ListPageAsked, call: Call) -> View:
        """Show the editors, those of the highest reputation first."""
        after = call.place(asked, tuple[int, str])

        def ask(look: Look) -> Page[EditorItem]:
            return paged(call, asked, people.editors_of(look, asked.limit, after))

        found = await self._asking.in_thread(call, ask)
        shown = {"editors": found.items, "next": call.next_of(found), "is_first": after is None}
        return View("agentpedia/editors.html", shown, found)

    @page("/agentpedia/editors/{id}", summary="An editor", codes=("editor-unknown",))
    async def editor(self, asked: EditorPageAsked, call: Call) -> View:
        """Show an editor: ladder, line of reputation, who stood for whom, what is on file."""
        found: EditorShown = await self._asking.in_thread(call, editor_shown, asked.id)
        shown = {
            "found": found,
            "curve": curve_of(found.reputation),
            "told": told_of(found.reputation.gains),
            "size": (WIDTH, HEIGHT),
        }
        return View("agentpedia/editor.html", shown, found)

    @page("/agentpedia/editors/{id}/revs", summary="The versions by an editor")
    async def revs(self, asked: EditorRevsAsked, call: Call) -> View:
        """Show the versions by an editor, the newest first."""
        after = call.place(asked, tuple[int, int, int])

        def ask(look: Look) -> tuple[Page[VersionItem], Verdicts]:
            found = people.revs_of(look, asked.id, asked.limit, after)
            pins = [version.id.partition("::")[0] for version in found.items]
            return paged(call, asked, found), verdicts_on(look, pins)

        found, verdicts = await self._asking.in_thread(call, ask)
        shown = {
            "id": asked.id,
            "revs": found.items,
            "verdicts": verdicts,
            "next": call.next_of(found),
        }
        return View("agentpedia/revs.html", shown, found)
