"""The graveyard, with what each reason means, and the signals of the rule pack."""

from refold.agentpedia.api.asked import Key, Reason
from refold.agentpedia.api.asking import Asking, paged
from refold.agentpedia.queries import judging, records
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model_governance import GraveItem, Signalled
from refold.agentpedia.queries.model_reader import PackPage, RuleShown
from refold.agentpedia.reasons import REASONS
from refold.agentpedia.rulepack import built_in_pack
from refold.serving.answers import Page, View
from refold.serving.asked import ListPageAsked, PageAsked
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["GravePages"]


class GravesPageAsked(ListPageAsked, kw_only=True, frozen=True, rename="camel"):
    """Refused pins, perhaps for one reason."""

    reason: Reason | None = None


class SignalsPageAsked(ListPageAsked, kw_only=True, frozen=True, rename="camel"):
    """The signals of one entry."""

    key: Key


class GravePages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @page("/agentpedia/graveyard", summary="The graveyard")
    async def graveyard(self, asked: GravesPageAsked, call: Call) -> View:
        """Show the refused pins, the newest first, each with its reason."""
        after = call.place(asked, tuple[int])

        def ask(look: Look) -> Page[GraveItem]:
            found = records.graveyard_of(look, asked.limit, after, reason=asked.reason)
            return paged(call, asked, found)

        found = await self._asking.in_thread(call, ask)
        shown = {
            "graves": found.items,
            "reason": asked.reason,
            "reasons": REASONS,
            "next": call.next_of(found),
        }
        return View("agentpedia/graveyard.html", shown, found)

    @page("/agentpedia/rule-pack", summary="Signals")
    async def rule_pack(self, asked: PageAsked, call: Call) -> View:
        """Show the rules that judge revs, and what they say of the newest."""
        del asked
        found = await self._asking.in_thread(call, pack_page)
        return View("agentpedia/rulepack.html", {"found": found, "says": rules_say()}, found)

    @page(
        "/agentpedia/entries/{key}/signals", summary="The signals of an entry",
        codes=("entry-unknown",),
    )  # fmt: skip
    async def signals(self, asked: SignalsPageAsked, call: Call) -> View:
        """Show what the rule pack says of the revs of an entry, the newest first."""
        after = call.place(asked, tuple[int])

        def ask(look: Look) -> Page[Signalled]:
            return paged(call, asked, judging.signals_of(look, asked.key, asked.limit, after))

        found = await self._asking.in_thread(call, ask)
        shown = {
            "key": asked.key,
            "signals": found.items,
            "says": rules_say(),
            "next": call.next_of(found),
        }
        return View("agentpedia/signals.html", shown, found)


def rules_say() -> dict[str, str]:
    """Give what each rule of the pack says."""
    return {rule.id: rule.says for rule in built_in_pack().rules}


def pack_page(look: Look) -> PackPage:
    """Give the pack, and the signals of the newest revs, most points first. For a thread."""
    return PackPage(
        pack=judging.pack_of(look),
        rules=tuple(RuleShown(rule.id, rule.score, rule.says) for rule in built_in_pack().rules),
        newest=tuple(sorted(judging.newest_signals(look), key=lambda one: -one.score)),
        entries_read=judging.NEWEST,
    )
