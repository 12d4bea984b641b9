"""What the store of coverage takes and gives: rows as Structs. Times are RFC 3339, UTC, Z."""

from typing import Literal

import msgspec

from refold.coverage.judge import Judgement
from refold.coverage.record import Claim, Coverage, Receipt

__all__ = [
    "ENDED",
    "Equivocal",
    "Hidden",
    "Job",
    "JobState",
    "Judged",
    "Link",
    "NewJob",
    "Origin",
    "OriginKind",
    "PinOf",
    "Stored",
    "StoredReceipt",
    "Totals",
    "Wanted",
]

OriginKind = Literal["posted", "chain", "own"]
"""How a receipt came first: sent to the API, read from a pin, or made by this node."""

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: frozenset[JobState] = frozenset({"done", "failed", "cancelled"})


class Origin(msgspec.Struct, frozen=True):
    """Where a receipt comes from.

    pin, writer, height: for one from the chain, the pin's id, who pinned it (globalMetaId or
    address, "" unknown) and its genesisHeight, None in the mempool.
    """

    kind: OriginKind
    pin: str = ""
    writer: str = ""
    height: int | None = None


class Stored(msgspec.Struct, frozen=True):
    """What storing gave: the name, whether it was not there before, and the receipt as read."""

    hash: str
    is_new: bool
    receipt: Receipt


class StoredReceipt(msgspec.Struct, frozen=True):
    """A stored receipt without its record, as lists show it.

    number: counts receipts as they came. size: bytes of the record. kind: the corpus' kind.
    supersedes: the pin that it names, "" for none. judgement and coverage are of the last check,
    "" before the first. judged_at: since when the judgement holds. checked_at, due_at: the last
    check and the next one, None for never. failures: checks in a row with a source away.
    """

    hash: str
    number: int
    size: int
    stored_at: str
    origin: OriginKind
    claim: Claim
    kind: str
    question: str
    query_hash: str
    as_of: str
    valid_until: str
    supersedes: str
    judgement: Judgement | Literal[""]
    coverage: Coverage | Literal[""]
    judged_at: str
    checked_at: str
    failures: int
    due_at: str | None


class Judged(msgspec.Struct, frozen=True):
    """One change of judgement: from `at` on it was this one, for these reasons (codes)."""

    number: int
    judgement: Judgement
    coverage: Coverage | Literal[""]
    reasons: tuple[str, ...]
    at: str


class PinOf(msgspec.Struct, frozen=True):
    """A pin that brought a receipt (see `Origin`)."""

    pin: str
    receipt: str
    writer: str
    height: int | None


class Link(msgspec.Struct, frozen=True):
    """One step of a supersedes chain: the pin that is named, and the receipt behind it.

    `receipt` is "" for a pin that this node does not have; `may` whether F-34 lets the later one
    supersede it, None where it is not here.
    """

    pin: str
    receipt: str
    may: bool | None


class Equivocal(msgspec.Struct, frozen=True):
    """Two receipts of one signing window that show one source with two digests (Y-5).

    `first` was stored before `second`. `same_writer`: whether the chain knows one writer of both;
    None where it does not know the writer of one of them.
    """

    first: str
    second: str
    operator: str
    locator: str
    frame: str
    digests: tuple[str, str]
    found_at: str
    same_writer: bool | None


class Job(msgspec.Struct, frozen=True):
    """One verification: see `tables.jobs`."""

    id: str
    number: int
    receipt: str
    origin: Literal["asked", "due"]
    shared: bool
    sources: bool
    state: JobState
    cancel: bool
    attempts: int
    made_at: str
    began_at: str
    ended_at: str
    unit: str
    pages: int
    rows: int
    requests: int
    code: str


class NewJob(msgspec.Struct, frozen=True):
    """A verification that is asked for: its id if it is a new one, and the receipt's name.

    asker: stands for whoever asks, and tells two of them apart. sources: whether those of the
    consensus block are read too. scheduled: whether the schedule asks.
    """

    id: str
    receipt: str
    asker: str
    sources: bool = False
    scheduled: bool = False


class Wanted(msgspec.Struct, frozen=True):
    """Which receipts a list is to give.

    text: stands in the question, compared as the criterion's caseFold compares. The others are
    equal, None for any; a judgement of "" is that of what was not checked yet.
    """

    text: str = ""
    kind: str | None = None
    query_hash: str | None = None
    claim: str | None = None
    judgement: str | None = None


class Totals(msgspec.Struct, frozen=True):
    """How much is stored: receipts, and bytes of their records."""

    receipts: int
    bytes: int


class Hidden(msgspec.Struct, frozen=True):
    """A receipt that the operator withholds, why, and since when."""

    hash: str
    reason: str
    since: str
