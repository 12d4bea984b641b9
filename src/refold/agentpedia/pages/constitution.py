"""The constitution in force, and those before it. Source: PRD §4.7, §6."""

from collections.abc import Mapping
from itertools import pairwise

import msgspec

from refold.agentpedia.api.asking import Asking
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model_governance import ConstitutionItem
from refold.agentpedia.queries.rulings import constitutions_of
from refold.serving.answers import Answer, Page, View
from refold.serving.asked import ListPageAsked
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["Changed", "ConstitutionPages", "changes_of"]

Value = object


class Changed(msgspec.Struct, frozen=True):
    """A parameter that a revision changed; `before` is None where it was not there."""

    param: str
    before: Value
    after: Value


class ConstitutionPages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @page("/agentpedia/constitution", summary="The constitution, with its history")
    def constitution(self, asked: ListPageAsked, call: Call) -> Answer[View]:
        """Show the parameters in force, and what each revision changed, the newest first."""
        after = call.place(asked, tuple[int])

        def ask(look: Look) -> View:
            found = constitutions_of(look)
            start = 0 if after is None else after[0]
            newest = list(enumerate(reversed(found), 1))
            listed: Page[ConstitutionItem] = call.page(
                asked,
                newest[start : start + asked.limit + 1],
                keyset=lambda row: (row[0],),
                item=lambda row: row[1],
            )
            before = {one.id: earlier for earlier, one in pairwise(found)}
            data = {
                "now": found[-1] if found else None,
                "revisions": [
                    (one, changes_of(before[one.id].params if one.id in before else {}, one.params))
                    for one in listed.items
                ],
                "next": call.next_of(listed),
                "last": (look.standing.tip or 0) - 1,
            }
            return View("agentpedia/constitution.html", data, listed)

        return self._asking.of_view(call, ask)


def changes_of(before: Mapping[str, Value], after: Mapping[str, Value]) -> list[Changed]:
    """Give what differs between the parameters of two constitutions; nothing before the first."""
    if not before:
        return []
    names = sorted({*before, *after})
    return [
        Changed(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    ]
