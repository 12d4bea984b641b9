"""What pages show beside the answers of the API, as Structs (see `model`)."""

import msgspec

from refold.agentpedia.queries.model import Graph, Step, VersionItem, Withheld
from refold.agentpedia.queries.model_governance import (
    ChallengeItem,
    EditorDetail,
    PackShown,
    ParamProposalItem,
    ProposalItem,
    Signalled,
)
from refold.metaid.author import Verdict

Verdicts = dict[str, Verdict]
"""What was found about the authors of pins, by pin; nothing of those that nobody checked."""


class Freeze(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A freeze of an entry; `id` is the pin that brought it.

    It ends below `until_height`, or still goes on where that is null and `is_over` is false; where
    it is over and its end was not found, both say so. `ended_by` is the proposal that ended it.
    """

    id: str
    from_place: int
    from_height: int
    until_height: int | None
    is_over: bool
    baseline_rev: str | None
    ended_by: str | None


class HistoryDrawn(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Steps of an entry, the newest first, with their graph and the freezes among them.

    `earlier` is the place to ask with (`before`) for the steps before these, null for none;
    `unverified` are versions whose text stands in a file that this node has not seen verified.
    """

    id: str
    title: str | None
    status: str
    head: str
    display_head: str
    version_count: int
    steps: tuple[Step, ...]
    graph: Graph
    freezes: tuple[Freeze, ...]
    contests: dict[str, tuple[str, str]]
    unverified: tuple[str, ...]
    verdicts: Verdicts
    earlier: int | None


class Cast(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A vote with the pin that cast it; `comment` is null when there is none or it is withheld."""

    id: str
    editor: str
    height: int
    approve: bool
    counts: bool
    comment: str | None
    withheld: Withheld | None


class Said(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Words that came with a pin, null when there are none or they are withheld."""

    text: str | None
    withheld: Withheld | None


class ProposalShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A proposal for a ruling, why it was made, and the votes in order of arrival.

    `votes` are those that are found in its window, `quorum` the approvals that it needs under the
    constitution in force, `decided_at` the height of the vote that made it effective.
    """

    proposal: ProposalItem
    rationale: Said
    challenge: "ChallengeShown | None"
    votes: tuple[Cast, ...]
    quorum: int
    decided_at: int | None
    blocks_per_hour: int
    verdicts: Verdicts


class ParamProposalShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A proposal to change parameters, as `ProposalShown`; `present` are the values they have."""

    proposal: ParamProposalItem
    rationale: Said
    votes: tuple[Cast, ...]
    present: dict[str, int]
    decided_at: int | None
    blocks_per_hour: int
    verdicts: Verdicts


class ChallengeShown(ChallengeItem, frozen=True, rename="camel", kw_only=True):
    """A challenge with what it says; `proposed` is the outcome that it asks for."""

    height: int | None
    reason: str | None
    detail: Said
    proposed: str | None
    version: VersionItem | None


class ChallengePage(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A challenge and the proposals that it led to, the first ones."""

    challenge: ChallengeShown
    proposals: tuple[ProposalItem, ...]
    verdicts: Verdicts


class Registration(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A register of an applicant; `stake` is what was found about it, null when nobody looked."""

    id: str
    height: int
    txid: str | None
    amount_sat: int
    endorsers: tuple[str, ...]
    stake: str | None


class CaseItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A proposal that an editor has to do with.

    `is_about`: its outcome is about the editor. `is_drawn`: the editor is one of its arbiters, and
    `approve` the vote, null for none.
    """

    id: str
    outcome: str
    state: str
    entry_key: str
    opened_at: int
    expires_at: int
    is_about: bool
    is_opener: bool
    is_drawn: bool
    approve: bool | None


class Gain(msgspec.Struct, frozen=True, rename="camel"):
    """A change of a reputation at a height, in tenths."""

    height: int
    tenths: int
    cause: str
    pin: str


class ReputationLine(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How a reputation came about, as far as it is looked up; in tenths.

    `start` is what it was before the first of the `gains`: where all was found, 0.
    """

    from_height: int
    to_height: int
    start: int
    end: int
    gains: tuple[Gain, ...]
    is_whole: bool


class EditorShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An editor with what only the page shows."""

    editor: EditorDetail
    height: int
    registrations: tuple[Registration, ...]
    cases: tuple[CaseItem, ...]
    case_count: int
    cases_read: int
    reputation: ReputationLine
    needs: tuple["Need", ...]
    verdicts: Verdicts


class Need(msgspec.Struct, frozen=True, rename="camel"):
    """What lacks for a tier: blocks until its height, and valid revs; 0 for nothing."""

    tier: str
    blocks: int
    revs: int


class PackPage(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The rule pack with its rules, and what it says of the newest revs.

    Those are the newest revs of the entries that changed last, `entries_read` of them.
    """

    pack: PackShown
    rules: tuple["RuleShown", ...]
    newest: tuple[Signalled, ...]
    entries_read: int


class RuleShown(msgspec.Struct, frozen=True, rename="camel"):
    """A rule of the pack: its points, and what it says of a rev that it fires on."""

    id: str
    score: int
    says: str
