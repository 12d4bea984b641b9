"""Proposals, votes, challenges, reviews and constitutions."""

from collections.abc import Sequence

from refold.agentpedia.queries.history import stored_entry
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Json
from refold.agentpedia.queries.model_governance import (
    Arbiter,
    ChallengeItem,
    ConstitutionItem,
    ParamProposalItem,
    ProposalItem,
    ReviewItem,
    Vote,
)
from refold.agentpedia.queries.texts import named_version
from refold.agentpedia.store import Cursor, Page, StoredValue
from refold.kernel.errors import InputError

__all__ = [
    "challenges_of",
    "constitutions_of",
    "param_proposal_of",
    "param_proposals_of",
    "proposal_item",
    "proposal_of",
    "proposals_of",
    "reviews_of",
    "votes_of",
]

MAX_CONSTITUTIONS = 1_000
"""Constitutions that are read: each needs two thirds of the voters."""


def proposals_of(
    look: Look, limit: int, after: Cursor | None, *, state: str | None, entry: str | None
) -> Page[ProposalItem]:
    """Give a page of the proposals for rulings, the last opened first."""
    page = look.reading.proposals(limit, after, state=state, entry_key=entry)
    return Page([proposal_item(look, value) for value in _values(page)], page.cursor)


def proposal_of(look: Look, pin: str) -> ProposalItem:
    """Give a proposal for a ruling. Raises InputError `proposal-unknown`."""
    return proposal_item(look, _named(look, "proposal", pin).value)


def param_proposals_of(
    look: Look, limit: int, after: Cursor | None, *, state: str | None
) -> Page[ParamProposalItem]:
    """Give a page of the proposals to change parameters, the last opened first."""
    page = look.reading.param_proposals(limit, after, state=state)
    return Page([_param_proposal(look, value) for value in _values(page)], page.cursor)


def param_proposal_of(look: Look, pin: str) -> ParamProposalItem:
    """Give a proposal to change parameters. Raises InputError `proposal-unknown`."""
    return _param_proposal(look, _named(look, "param-proposal", pin).value)


def votes_of(look: Look, section: str, pin: str) -> list[Vote]:
    """Give all votes on a proposal, those that do not count included, in order of arrival.

    Raises InputError `proposal-unknown`.
    """
    value: Json = _named(look, section, pin).value
    voters = value["arbiters"] if section == "proposal" else value["voters"]
    return [
        Vote(
            vote["editor"],
            vote["approve"],
            vote["approve"] and (voters is None or vote["editor"] in voters),
        )
        for vote in value["votes"]
    ]


def _named(look: Look, section: str, pin: str) -> StoredValue:
    stored = look.values.stored(section, pin)
    if stored is None:
        raise InputError("proposal-unknown", "there is no such proposal", "list them", "/id")
    return stored


def proposal_item(look: Look, value: Json) -> ProposalItem:
    """Give a proposal for a ruling, of its value in the view."""
    return ProposalItem(
        id=value["pin"],
        sender=value["sender"],
        challenge_pin=value["challengePin"],
        outcome=value["outcome"],
        params=value["params"],
        entry_key=value["entryKey"],
        baseline_rev=value["baselineRev"],
        during_freeze=value["duringFreeze"],
        opened_at=value["openedAt"],
        expires_at=value["expiresAt"],
        blocks_left=_blocks_left(look, value),
        arbiters=_voting(value["arbiters"], value),
        approve_count=value["approveCount"],
        vote_count=len(value["votes"]),
        state=value["state"],
    )


def _param_proposal(look: Look, value: Json) -> ParamProposalItem:
    return ParamProposalItem(
        id=value["pin"],
        sender=value["sender"],
        target_constitution=value["targetConstitution"],
        changes=tuple(value["changes"]),
        opened_at=value["openedAt"],
        expires_at=value["expiresAt"],
        blocks_left=_blocks_left(look, value),
        needed=value["needed"],
        voters=None if value["voters"] is None else _voting(value["voters"], value),
        approve_count=value["approveCount"],
        vote_count=len(value["votes"]),
        state=value["state"],
        used_by=value["usedBy"],
    )


def _blocks_left(look: Look, value: Json) -> int | None:
    """Give the blocks in which a vote still counts: those from the tip on to the last before it."""
    tip = look.standing.tip
    if value["state"] != "open" or tip is None:
        return None
    return max(0, int(value["expiresAt"]) - tip)


def _voting(names: Sequence[str], value: Json) -> tuple[Arbiter, ...]:
    votes = {vote["editor"]: vote["approve"] for vote in value["votes"]}
    return tuple(Arbiter(name, votes.get(name)) for name in names)


def challenges_of(look: Look, key: str, limit: int, after: Cursor | None) -> Page[ChallengeItem]:
    """Give a page of the challenges of an entry's versions, those of the newest version first.

    Raises InputError `entry-unknown`.
    """
    page = look.reading.challenges_of(stored_entry(look, key).record, limit, after)
    items = [ChallengeItem(v["pin"], v["sender"], v["target"], v["outcome"]) for v in _values(page)]
    return Page(items, page.cursor)


def reviews_of(look: Look, name: str, limit: int, after: Cursor | None) -> Page[ReviewItem]:
    """Give a page of the reviews of a version, by id. Raises InputError `version-unknown`."""
    version = named_version(look, name)
    page = look.reading.reviews_of(version.id, limit, after)
    items = [
        ReviewItem(v["pin"], v["sender"], v["target"], v["score"], v["byT2"]) for v in _values(page)
    ]
    return Page(items, page.cursor)


def constitutions_of(look: Look) -> list[ConstitutionItem]:
    """Give the constitutions that took effect, the first one first; the last one is in force."""
    page = look.reading.section("constitution", MAX_CONSTITUTIONS)
    values = sorted(_values(page), key=_in_order)
    return [
        ConstitutionItem(
            value["pin"],
            value["revision"],
            value["sender"],
            value["height"],
            value["proposalPin"],
            value["params"],
            is_in_force=number == len(values) - 1,
        )
        for number, value in enumerate(values)
    ]


def _in_order(value: Json) -> tuple[int, int]:
    return int(value["height"]), int(value["revision"])


def _values(page: Page[StoredValue]) -> list[Json]:
    return [stored.value for stored in page.items]
