"""Routes about editors, proposals and constitutions."""

from refold.agentpedia.api.asked import (
    EditorAsked,
    OfEditorAsked,
    OfPinAsked,
    ParamProposalsAsked,
    PinAsked,
    ProposalsAsked,
)
from refold.agentpedia.api.asking import Asking, paged
from refold.agentpedia.queries import people, rulings
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import VersionItem
from refold.agentpedia.queries.model_governance import (
    ConstitutionItem,
    EditorDetail,
    EditorItem,
    ParamProposalItem,
    ProposalItem,
    Vote,
)
from refold.kernel.errors import InputError
from refold.serving.answers import Answer, Page
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.operation import get

__all__ = ["GovernanceApi"]

_UNKNOWN = ("proposal-unknown",)


class GovernanceApi:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @get("/v1/agentpedia/editors", summary="List editors", example={"limit": 3})
    def editors(self, asked: ListAsked, call: Call) -> Answer[Page[EditorItem]]:
        """Give the editors, those of the highest reputation first; in tenths."""
        after = call.place(asked, tuple[int, str])

        def ask(look: Look) -> Page[EditorItem]:
            return paged(call, asked, people.editors_of(look, asked.limit, after))

        return self._asking.of_view(call, ask)

    @get("/v1/agentpedia/editors/{id}", summary="Give an editor", codes=("editor-unknown",))
    async def editor(self, asked: EditorAsked, call: Call) -> EditorDetail:
        """Give an editor with the ladder of tiers, who stood for whom, and the newest revs."""
        return await self._asking.in_thread(call, people.editor_of, asked.id)

    @get("/v1/agentpedia/editors/{id}/revs", summary="List the versions by an editor")
    def revs(self, asked: OfEditorAsked, call: Call) -> Answer[Page[VersionItem]]:
        """Give the versions by an editor, the newest first."""
        after = call.place(asked, tuple[int, int, int])

        def ask(look: Look) -> Page[VersionItem]:
            return paged(call, asked, people.revs_of(look, asked.id, asked.limit, after))

        return self._asking.of_view(call, ask)

    @get("/v1/agentpedia/proposals", summary="List proposals for rulings")
    def proposals(self, asked: ProposalsAsked, call: Call) -> Answer[Page[ProposalItem]]:
        """Give the docket, the last opened first, with arbiters, votes and clock."""
        after = call.place(asked, tuple[int, str])

        def ask(look: Look) -> Page[ProposalItem]:
            found = rulings.proposals_of(
                look, asked.limit, after, state=asked.state, entry=asked.entry
            )
            return paged(call, asked, found)

        return self._asking.of_view(call, ask)

    @get("/v1/agentpedia/proposals/{id}", summary="Give a proposal for a ruling", codes=_UNKNOWN)
    def proposal(self, asked: PinAsked, call: Call) -> Answer[ProposalItem]:
        """Give a proposal with its snapshot of arbiters and its clock."""
        return self._asking.of_view(call, rulings.proposal_of, asked.id)

    @get("/v1/agentpedia/proposals/{id}/votes", summary="List votes on a ruling", codes=_UNKNOWN)
    def votes(self, asked: OfPinAsked, call: Call) -> Answer[Page[Vote]]:
        """Give all votes in order of arrival, those that do not count included."""
        return self._votes(asked, call, "proposal")

    @get("/v1/agentpedia/param-proposals", summary="List proposals to change parameters")
    def param_proposals(
        self, asked: ParamProposalsAsked, call: Call
    ) -> Answer[Page[ParamProposalItem]]:
        """Give the proposals to change the constitution's parameters, the last opened first."""
        after = call.place(asked, tuple[int, str])

        def ask(look: Look) -> Page[ParamProposalItem]:
            found = rulings.param_proposals_of(look, asked.limit, after, state=asked.state)
            return paged(call, asked, found)

        return self._asking.of_view(call, ask)

    @get(
        "/v1/agentpedia/param-proposals/{id}", summary="Give a proposal to change parameters",
        codes=_UNKNOWN,
    )  # fmt: skip
    def param_proposal(self, asked: PinAsked, call: Call) -> Answer[ParamProposalItem]:
        """Give a proposal with its voters and its clock."""
        return self._asking.of_view(call, rulings.param_proposal_of, asked.id)

    @get(
        "/v1/agentpedia/param-proposals/{id}/votes", summary="List votes on parameters",
        codes=_UNKNOWN,
    )  # fmt: skip
    def param_votes(self, asked: OfPinAsked, call: Call) -> Answer[Page[Vote]]:
        """Give all votes in order of arrival, those that do not count included."""
        return self._votes(asked, call, "param-proposal")

    def _votes(self, asked: OfPinAsked, call: Call, section: str) -> Answer[Page[Vote]]:
        after = call.place(asked, tuple[int])

        def ask(look: Look) -> Page[Vote]:
            start = 0 if after is None else after[0]
            found = rulings.votes_of(look, section, asked.id)
            rows = list(enumerate(found[start : start + asked.limit + 1], start + 1))
            return call.page(asked, rows, keyset=lambda row: (row[0],), item=lambda row: row[1])

        return self._asking.of_view(call, ask)

    @get(
        "/v1/agentpedia/constitution", summary="Give the constitution in force",
        codes=("constitution-unknown",),
    )  # fmt: skip
    def constitution(self, call: Call) -> Answer[ConstitutionItem]:
        """Give the parameters that hold now."""

        def ask(look: Look) -> ConstitutionItem:
            found = rulings.constitutions_of(look)
            if not found:
                raise InputError("constitution-unknown", "no constitution took effect yet")
            return found[-1]

        return self._asking.of_view(call, ask)

    @get("/v1/agentpedia/constitutions", summary="List all constitutions")
    def constitutions(self, asked: ListAsked, call: Call) -> Answer[Page[ConstitutionItem]]:
        """Give the constitutions that took effect, the first one first."""
        after = call.place(asked, tuple[int])

        def ask(look: Look) -> Page[ConstitutionItem]:
            start = 0 if after is None else after[0]
            found = rulings.constitutions_of(look)
            rows = list(enumerate(found[start : start + asked.limit + 1], start + 1))
            return call.page(asked, rows, keyset=lambda row: (row[0],), item=lambda row: row[1])

        return self._asking.of_view(call, ask)
