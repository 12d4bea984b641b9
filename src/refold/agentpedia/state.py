"""The state of a fold: what the events so far have made, in types that a snapshot can carry.

Everything here is data. Names are the protocol's; encoded as JSON they are its spelling too.
Objects refer to each other by pin id or key, never by reference, so that a snapshot is one
encoding of `State` and restoring is one decoding.
"""

from typing import Annotated, Literal

import msgspec

from refold.agentpedia.copying import copied
from refold.agentpedia.rules import Rules

Tier = Literal["T0", "T0+", "T1", "T2"]
Status = Literal["normal", "protected", "frozen"]
Verdict = Literal["open", "effective", "voided"]
StakeState = Literal["verified", "mismatch", "unavailable", "declared"]
Blocks = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Reputation = Annotated[int, msgspec.Meta(ge=-(10**12), le=10**12)]


class Options(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What the caller may set about a fold beside its rules (vectors README, spec §2–§4, §7).

    `content_facts` says by rev what a node learned of a text behind a contentRef, `stake_facts` by
    register what it learned of the stake; None: it has nobody to ask, and stakes count as declared.
    The last four are injections for tests; production replay leaves them empty.
    """

    blocks_per_hour: Blocks = 6
    blocks_per_day: Blocks = 144
    genesis_pin: str | None = None
    content_facts: dict[str, Literal["verified", "mismatch", "unavailable"]] = {}
    stake_facts: dict[str, Literal["verified", "mismatch", "unavailable"]] | None = None
    editors_rep: dict[str, Reputation] = {}
    cluster_aliases: dict[str, str] = {}
    arbiter_overrides: dict[str, list[str]] = {}
    frozen_arbiter_overrides: dict[str, list[str]] = {}


class Editor(msgspec.Struct, gc=False, rename="camel"):
    """An editor: registered, applying, or only named (spec §3, §4). Reputation is in tenths."""

    id: str
    reputation: int = 0
    valid_revs: int = 0
    registered_at: int | None = None
    founder: bool = False
    revoked: bool = False
    banned: bool = False
    suspended_until: int = 0
    pool_suspended_until: int = 0
    registers: list[str] = []
    endorsed_by: list[str] = []
    half_signals: int = 0
    valid_reviews: int = 0


class Rate(msgspec.Struct, gc=False):
    """Applied revs of one cluster root on its last active day, in all and by entry key."""

    day: int
    total: int
    by_key: dict[str, int]


class Version(msgspec.Struct, gc=False, rename="camel"):
    """A version of an entry: a create, an edit, or the equivalent of an older one (spec §5).

    `text_pin` is the rev that brought its text; `size` and `refs_found` are None when that text
    stands behind a `content_ref`.
    """

    id: str
    seq: int
    record: int
    entry_key: str
    author: str
    height: int
    content_hash: str
    parent_rev: str | None
    equivalent_of: str | None
    title: str
    size: int | None
    refs_found: int | None
    content_ref: str | None
    text_pin: str
    approved: bool = False
    condemned: bool = False


class Contest(msgspec.Struct, frozen=True, gc=False):
    """A rev that declared another base than the head it met (PRD §4.4)."""

    pin: str
    expected: str
    declared: str


class Weight(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One revert in an entry's war window, in tenths."""

    height: int
    tenths: int
    root: str
    fix: bool


class Entry(msgspec.Struct, gc=False, rename="camel"):
    """The record behind one entry key, or behind two after a transfer."""

    keys: list[str]
    head: str
    status: Status = "normal"
    history: list[str] = []
    disputed: dict[str, int] = {}
    contests: list[Contest] = []
    redirect: str | None = None
    redirect_pin: str | None = None
    frozen_at: str | None = None
    baseline_rev: str | None = None
    display_mode: Literal["lww", "reviewed"] = "lww"
    passed: str | None = None
    writers: list[str] = []
    weights: list[Weight] = []


class Review(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A recorded review.

    `by_t2`: its reviewer was T2 then and not of the author's cluster. `counted`: this review, or
    an earlier one by the same reviewer of the same version, was a valid one (spec §8).
    """

    pin: str
    seq: int
    sender: str
    target: str
    score: int | None
    by_t2: bool
    counted: bool


class Challenge(msgspec.Struct, gc=False, rename="camel"):
    """A dispute over one version, and what decided it."""

    pin: str
    sender: str
    target: str
    outcome: str | None = None
    open_proposal: str | None = None


class Params(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What a proposal's outcome needs to take effect (spec §3, ruling)."""

    revert_to: str | None = None
    from_entry: str | None = None
    to_entry: str | None = None
    editor: str | None = None
    protected: bool | None = None
    display_mode: str | None = None


class Proposal(msgspec.Struct, gc=False, rename="camel"):
    """A ruling proposal with the arbiters of its moment (PRD §4.5)."""

    pin: str
    sender: str
    challenge_pin: str
    outcome: str
    params: Params
    record: int
    entry_key: str
    baseline_rev: str | None
    during_freeze: str | None
    opened_at: int
    expires_at: int
    arbiters: list[str]
    votes: dict[str, bool] = {}
    approve_count: int = 0
    state: Verdict = "open"


class ParamProposal(msgspec.Struct, gc=False, rename="camel"):
    """A proposal to change the constitution's parameters (PRD §4.7)."""

    pin: str
    sender: str
    target_constitution: str | None
    changes: dict[str, int]
    opened_at: int
    expires_at: int
    needed: int | None
    voters: list[str] | None
    votes: dict[str, bool] = {}
    approve_count: int = 0
    state: Verdict = "open"
    used_by: str | None = None


class Case(msgspec.Struct, gc=False, rename="camel"):
    """A proof-of-capability case: who may answer until when, and the answer taken (PRD §4.6)."""

    pin: str
    editor: str
    sender: str
    height: int
    seq: int
    response_pins: dict[str, None] = {}


class Register(msgspec.Struct, gc=False, rename="camel"):
    """A staked register and those who endorsed it, in order (AC-D3)."""

    pin: str
    editor: str
    height: int
    txid: str | None
    amount_sat: int
    endorsers: list[str] = []


class Constitution(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One revision of the constitution."""

    pin: str
    revision: int
    sender: str
    height: int
    proposal_pin: str | None
    params: dict[str, int]


class Grave(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """A refused pin. `pointer` and `rule` for `schema-invalid`, key and title for an orphan."""

    pin: str
    reason: str
    pointer: str = ""
    rule: str = ""
    entry_key: str = ""
    title: str = ""


class Limits(msgspec.Struct, frozen=True, gc=False):
    """The constitution's parameters in blocks and tenths, worked out once a revision."""

    genesis: int
    vote_window: int
    param_window: int
    war_window: int
    war_threshold: int
    pool_k: int
    draw_n: int
    quorum: int
    stake_sat: int
    slug_daily: int
    global_daily: int
    protect_tenths: int
    featured_tenths: int
    featured_reviews: int
    t0_blocks: int
    t1_revs: int
    t2_blocks: int
    t2_revs: int
    bootstrap_end: int
    suspension: int
    poc_window: int


NO_LIMITS = Limits(*(0 for _ in Limits.__struct_fields__))
"""Before the genesis; no rule reads them then."""


class Credit(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The open signal of a create or edit, in halves (spec §8)."""

    seq: int
    author: str
    halves: int


class Due(msgspec.Struct, frozen=True, order=True, gc=False, array_like=True):
    """Something that happens by itself at a height: a proposal expires, a signal settles.

    `ref` is the proposal's pin or the version's id, `record` the record of a signal.
    """

    height: int
    seq: int
    kind: Literal["proposal", "param-proposal", "signal"]
    ref: str
    record: int = -1


class Touched(msgspec.Struct, gc=False):
    """The records of the view that changed since somebody looked: records by index, the rest by id.

    `everything` when nobody has looked yet, or a new constitution may have changed any of them;
    the sets then say nothing, and the fold empties them block by block. A roll-back touches what it
    undoes; it notes how short it made the graveyard, and histories by record.
    """

    records: set[int] = set()
    editors: set[str] = set()
    proposals: set[str] = set()
    param_proposals: set[str] = set()
    challenges: set[str] = set()
    reviews: set[str] = set()
    cases: set[str] = set()
    registers: set[str] = set()
    everything: bool = True
    graveyard: int | None = None
    histories: dict[int, int] = {}


Touchable = Literal[
    "records",
    "editors",
    "proposals",
    "param_proposals",
    "challenges",
    "reviews",
    "cases",
    "registers",
]
"""The parts of a state that records of the view are made of."""
Kept = Literal[Touchable, "versions", "keys", "rates", "reviews_of", "credits"]
"""The parts of a state that a block may change, and not only add to."""
Copies = dict[str, dict[str | int, object]]
"""Parts as they were before a block, by kind and name; None for what was not there."""


class State(msgspec.Struct, rename="camel"):
    """All that the fold knows after `seq` events, the last at `last`.

    `credits` are open for a week each, by record and version, in the order they were opened: what
    settles is found in a small place, however large the rest has become. `copies` are what the
    present block is undone with, None when nobody wants to (`refold.agentpedia.past`).
    """

    rules: Rules
    options: Options
    seq: int = 0
    roots: dict[str, str] = {}
    last: tuple[int, int, str] = (-1, -1, "")
    clock: int = -1
    founders: list[str] = []
    constitutions: list[Constitution] = []
    not_authoritative_from: str | None = None
    limits: Limits = NO_LIMITS
    editors: dict[str, Editor] = {}
    rates: dict[str, Rate] = {}
    keys: dict[str, int] = {}
    records: list[Entry] = []
    plates: dict[str, str] = {}
    versions: dict[str, Version] = {}
    aliases: dict[str, str] = {}
    reviews: dict[str, Review] = {}
    reviews_of: dict[str, dict[str, str]] = {}
    challenges: dict[str, Challenge] = {}
    proposals: dict[str, Proposal] = {}
    param_proposals: dict[str, ParamProposal] = {}
    cases: dict[str, Case] = {}
    registers: dict[str, Register] = {}
    stakes: dict[str, str] = {}
    graveyard: list[Grave] = []
    due: list[Due] = []
    credits: dict[int, dict[str, Credit]] = {}
    touched: Touched = msgspec.field(default_factory=Touched)
    copies: Copies | None = None

    def touch(self, kind: Touchable, name: str | int) -> None:
        """Mark a part that is about to change, or was just added."""
        getattr(self.touched, kind).add(name)
        if self.copies is not None:
            self.keep(kind, name)

    def keep(self, kind: Kept, name: str | int) -> None:
        """Copy a part that is about to change, once a block; what is not there yet is None."""
        if self.copies is None:
            return
        copies = self.copies.setdefault(kind, {})
        if name not in copies:
            if kind == "records" and isinstance(name, int):
                copies[name] = copied(self.records[name])
            else:
                copies[name] = copied(getattr(self, kind).get(name))
