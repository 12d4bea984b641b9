"""The answers about editors, rulings, refused pins and this node, as Structs (see `model`)."""

import msgspec

from refold.agentpedia.queries.model import Json, VersionItem, Withheld
from refold.agentpedia.rulepack import Fired, Level


class EditorItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An editor in the list."""

    id: str
    status: str
    tier: str | None
    reputation: int
    valid_revs: int
    valid_reviews: int
    registered_at: int | None
    founder: bool
    revoked: bool
    banned: bool


class Rung(msgspec.Struct, frozen=True, rename="camel"):
    """A step of the ladder of tiers: from which height on, and with how many valid revs."""

    tier: str
    from_height: int | None
    from_revs: int
    is_reached: bool


class Endorsed(msgspec.Struct, frozen=True, rename="camel"):
    """Somebody an editor stood for, with what became of him."""

    editor: str
    register: str
    status: str
    revoked: bool
    banned: bool


class EditorDetail(EditorItem, frozen=True, rename="camel", kw_only=True):
    """An editor: where he stands on the ladder, and who is liable for whom."""

    suspended_until: int
    pool_suspended_until: int
    half_signals: int
    ladder: tuple[Rung, ...]
    registers: tuple[str, ...]
    register_count: int
    endorsed_by: tuple[str, ...]
    endorsed: tuple[Endorsed, ...]
    recent_revs: tuple[VersionItem, ...]


class Arbiter(msgspec.Struct, frozen=True):
    """A drawn arbiter and the vote, null as long as there is none."""

    editor: str
    approve: bool | None


class Vote(msgspec.Struct, frozen=True, rename="camel"):
    """A vote on a proposal, in order of arrival; only those of its arbiters or voters count."""

    id: str
    approve: bool
    counts: bool


class ProposalItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A proposal for a ruling, with its snapshot of arbiters and its clock.

    `blocks_left` are those in which a vote still counts, null when it is open no more.
    """

    id: str
    sender: str
    challenge_pin: str
    outcome: str
    params: Json
    entry_key: str
    baseline_rev: str | None
    during_freeze: str | None
    opened_at: int
    expires_at: int
    blocks_left: int | None
    arbiters: tuple[Arbiter, ...]
    approve_count: int
    vote_count: int
    state: str


class ParamProposalItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A proposal to change parameters; `voters` is null under `deployed`."""

    id: str
    sender: str
    target_constitution: str
    changes: tuple[Json, ...]
    opened_at: int
    expires_at: int
    blocks_left: int | None
    needed: int | None
    voters: tuple[Arbiter, ...] | None
    approve_count: int
    vote_count: int
    state: str
    used_by: str | None


class ChallengeItem(msgspec.Struct, frozen=True, rename="camel"):
    """A challenge of a version; `outcome` is that of the ruling that decided it."""

    id: str
    sender: str
    target: str
    outcome: str | None


class ContestItem(msgspec.Struct, frozen=True):
    """An edit that declared another head than the one it met."""

    id: str
    expected: str
    declared: str


class ReviewItem(msgspec.Struct, frozen=True, rename="camel"):
    """A review of a version."""

    id: str
    sender: str
    target: str
    score: int | None
    by_t2: bool = msgspec.field(name="byT2")


class ConstitutionItem(msgspec.Struct, frozen=True, rename="camel"):
    """A constitution that took effect, with the parameters that it was enacted with."""

    id: str
    revision: int
    sender: str
    height: int
    proposal_pin: str | None
    params: Json
    is_in_force: bool


class GraveItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A refused pin. Entry key and title are those of a `duplicate-create`."""

    id: str
    reason: str
    entry_key: str | None
    title: str | None
    withheld: Withheld | None


class PinFate(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What became of a pin: where it stands, and for a refused one by which rule.

    `outcome` is `applied`, `pending`, `not-folded` or a reason code.
    """

    id: str
    path: str
    sender: str
    height: int | None
    tx_index: int | None
    state: str
    outcome: str
    source: str
    says: str
    remedy: str
    version: str | None


class Signalled(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What the rule pack says of a rev; `unknown` are rules that an unknown text left open."""

    id: str
    entry_key: str
    author: str
    height: int
    type: str
    score: int
    level: Level
    fired: tuple[Fired, ...]
    unknown: tuple[str, ...]


class PackShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The rule pack that judges here, and whether the constitution in force names that one."""

    version: str
    digest: str
    tag: int
    warn: int
    named: str | None
    named_by: str | None
    agrees: bool | None
    note: str


class Status(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What this node holds, and how far it came.

    `height` is the last height that was folded, `chain_height` the highest that an indexer has come
    to, `lag` the blocks between; null where they are not known. `is_behind`: the pins say something
    that the view has not seen yet. `is_text_behind`: texts are still to be indexed for search and
    links.
    """

    version: str
    rules: str | None
    genesis: str | None
    not_authoritative_from: str | None
    height: int | None
    chain_height: int | None
    lag: int | None
    digest: str | None
    is_behind: bool
    is_text_behind: bool
    counts: dict[str, int]
    indexers: tuple["IndexerShown", ...]
    hidden: int


class IndexerShown(msgspec.Struct, frozen=True, rename="camel"):
    """An indexer that was read: its host, its height, and when it answered last."""

    host: str
    height: int | None
    answered_at: str | None


class DigestShown(msgspec.Struct, frozen=True):
    """The view digest at a height, with the events folded and the lines hashed there."""

    height: int
    digest: str
    events: int
    lines: int
