"""The docket: proposals for rulings and for parameters, and the challenges behind them."""

from functools import partial
from typing import NamedTuple

import msgspec

from refold.agentpedia.api.asked import Key, PinId, ProposalState
from refold.agentpedia.api.asking import Asking, paged
from refold.agentpedia.queries import challenges, docket, history, rulings
from refold.agentpedia.queries.drawnhistory import verdicts_on
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model_governance import (
    Arbiter,
    ContestItem,
    ParamProposalItem,
    ProposalItem,
)
from refold.agentpedia.queries.model_reader import (
    Cast,
    ChallengePage,
    ChallengeShown,
    ParamProposalShown,
    ProposalShown,
    Verdicts,
)
from refold.serving.answers import Page, View
from refold.serving.asked import ListPageAsked, PageAsked
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["DocketPages"]

MAX_CONTESTS = 30
"""Contested edits of an entry that are shown under its challenges, the newest."""


class ProposalsPageAsked(ListPageAsked, kw_only=True, frozen=True, rename="camel"):
    """Proposals for rulings, perhaps in a state, or about an entry."""

    state: ProposalState | None = None
    entry: Key | None = None


class ParamProposalsPageAsked(ListPageAsked, kw_only=True, frozen=True, rename="camel"):
    """Proposals to change parameters, perhaps in a state."""

    state: ProposalState | None = None


class PinPageAsked(PageAsked, kw_only=True, frozen=True, rename="camel"):
    """One pin."""

    id: PinId


class ChallengesPageAsked(ListPageAsked, kw_only=True, frozen=True, rename="camel"):
    """The challenges of one entry."""

    key: Key


class EntryChallenges(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The challenges of an entry, and its newest contested edits."""

    id: str
    challenges: Page[ChallengeShown]
    contests: tuple[ContestItem, ...]
    contest_count: int
    verdicts: Verdicts


class Seat(NamedTuple):
    """Somebody who may vote, and the vote: `cast` is its pin where that was found."""

    editor: str
    approve: bool | None
    cast: Cast | None


class DocketPages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @page("/agentpedia/proposals", summary="The docket")
    async def proposals(self, asked: ProposalsPageAsked, call: Call) -> View:
        """Show the proposals for rulings, the last opened first."""
        after = call.place(asked, tuple[int, str])

        def ask(look: Look) -> tuple[Page[ProposalItem], int, Verdicts]:
            found = rulings.proposals_of(
                look, asked.limit, after, state=asked.state, entry=asked.entry
            )
            verdicts = verdicts_on(look, [one.id for one in found.items])
            return paged(call, asked, found), _quorum(look), verdicts

        found, quorum, verdicts = await self._asking.in_thread(call, ask)
        shown = {
            "proposals": found.items,
            "quorum": quorum,
            "verdicts": verdicts,
            "state": asked.state,
            "entry": asked.entry,
            "next": call.next_of(found),
        }
        return View("agentpedia/proposals.html", shown, found)

    @page(
        "/agentpedia/proposals/{id}", summary="A proposal for a ruling", codes=("proposal-unknown",)
    )
    async def proposal(self, asked: PinPageAsked, call: Call) -> View:
        """Show a proposal with its clock, its arbiters, and who voted when."""
        found: ProposalShown = await self._asking.in_thread(call, docket.proposal_shown, asked.id)
        seats, others = seats_of(found.proposal.arbiters, found.votes)
        shown = {"found": found, "seats": seats, "others": others}
        return View("agentpedia/proposal.html", shown, found)

    @page("/agentpedia/param-proposals", summary="Proposals to change parameters")
    async def param_proposals(self, asked: ParamProposalsPageAsked, call: Call) -> View:
        """Show the proposals to change the constitution, the last opened first."""
        after = call.place(asked, tuple[int, str])

        def ask(look: Look) -> tuple[Page[ParamProposalItem], Verdicts]:
            found = rulings.param_proposals_of(look, asked.limit, after, state=asked.state)
            return paged(call, asked, found), verdicts_on(look, [one.id for one in found.items])

        found, verdicts = await self._asking.in_thread(call, ask)
        shown = {
            "proposals": found.items,
            "state": asked.state,
            "verdicts": verdicts,
            "next": call.next_of(found),
        }
        return View("agentpedia/paramproposals.html", shown, found)

    @page(
        "/agentpedia/param-proposals/{id}", summary="A proposal to change parameters",
        codes=("proposal-unknown",),
    )  # fmt: skip
    async def param_proposal(self, asked: PinPageAsked, call: Call) -> View:
        """Show what is to change, with clock, voters, and who voted when."""
        found: ParamProposalShown = await self._asking.in_thread(
            call, docket.param_proposal_shown, asked.id
        )
        seats, others = seats_of(found.proposal.voters or (), found.votes)
        shown = {"found": found, "seats": seats, "others": others}
        return View("agentpedia/paramproposal.html", shown, found)

    @page("/agentpedia/challenges", summary="The newest challenges")
    async def challenges(self, asked: ListPageAsked, call: Call) -> View:
        """Show challenges of all entries, the newest first."""
        after = call.place(asked, tuple[int, int, str])
        looked = await self._asking.in_thread(
            call, challenges.newest_challenges, asked.limit, after
        )
        found = call.page_to(asked, looked.items, looked.following)
        shown = {
            "challenges": found.items,
            "verdicts": looked.verdicts,
            "looked": challenges.MAX_LOOKED,
            "next": call.next_of(found),
        }
        return View("agentpedia/challenges.html", shown, found)

    @page("/agentpedia/challenges/{id}", summary="A challenge", codes=("challenge-unknown",))
    async def challenge(self, asked: PinPageAsked, call: Call) -> View:
        """Show what a challenge says, and what came of it."""
        found: ChallengePage = await self._asking.in_thread(call, challenges.challenge_of, asked.id)
        return View("agentpedia/challenge.html", {"found": found}, found)

    @page(
        "/agentpedia/entries/{key}/challenges", summary="The challenges of an entry",
        codes=("entry-unknown",),
    )  # fmt: skip
    async def of_entry(self, asked: ChallengesPageAsked, call: Call) -> View:
        """Show the challenges of an entry's versions, and its contested edits."""
        after = call.place(asked, tuple[int, str])
        found = await self._asking.in_thread(
            call, partial(_of_entry, asked=asked, call=call, after=after)
        )
        shown = {"found": found, "next": call.next_of(found.challenges)}
        return View("agentpedia/entrychallenges.html", shown, found)


def seats_of(
    members: tuple[Arbiter, ...], casts: tuple[Cast, ...]
) -> tuple[list[Seat], list[Cast]]:
    """Give the members in draw order with their votes, and the votes of others."""
    by_editor = {cast.editor: cast for cast in casts}
    seats = [Seat(one.editor, one.approve, by_editor.pop(one.editor, None)) for one in members]
    return seats, list(by_editor.values())


def _quorum(look: Look) -> int:
    constitutions = rulings.constitutions_of(look)
    return int(constitutions[-1].params["rulingQuorum"]) if constitutions else 0


def _of_entry(
    look: Look, asked: ChallengesPageAsked, call: Call, after: tuple[int, str] | None
) -> EntryChallenges:
    record, value = history.stored_entry(look, asked.key)
    stored = look.reading.challenges_of(record, asked.limit, after)
    items = challenges.challenges_shown(look, [one.value for one in stored.items])
    newest = value.contests[: -MAX_CONTESTS - 1 : -1]
    return EntryChallenges(
        id=asked.key,
        challenges=call.page_to(asked, items, stored.cursor),
        contests=tuple(ContestItem(one.pin, one.expected, one.declared) for one in newest),
        contest_count=len(value.contests),
        verdicts=verdicts_on(look, [item.id for item in items]),
    )
