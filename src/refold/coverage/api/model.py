"""What the routes give. Names of records are receiptHashes; times are RFC 3339, UTC, Z."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from refold.coverage.judge import Judgement
from refold.coverage.record import Claim, Coverage
from refold.coverage.report import Finding
from refold.coverage.store.model import JobState, OriginKind

__all__ = [
    "CanonShown",
    "Checked",
    "CodeShown",
    "EquivocationShown",
    "HiddenShown",
    "JobShown",
    "JudgementShown",
    "LinkShown",
    "PinShown",
    "Reached",
    "ReceiptItem",
    "ReceiptShown",
    "Verification",
]

AnyReport = Annotated[
    msgspec.Raw, Meta(description="A report, or null: see /v1/coverage/schema/report.")
]


class Checked(msgspec.Struct, frozen=True, rename="camel"):
    """What the checks say of a record. `receiptHash` is "" for what has no canonical form."""

    valid: bool
    receipt_hash: str
    claim: Claim | None
    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]


class CanonShown(msgspec.Struct, frozen=True, rename="camel"):
    """The canonical form of a JSON value: the text that is hashed, as UTF-8."""

    canonical: str
    bytes: int
    sha256: str


class CodeShown(msgspec.Struct, frozen=True, rename="camel"):
    """An error or warning of a record, or a reason of a replay with the coverage it leaves."""

    id: str
    severity: Literal["error", "warning", "reason"]
    rules: tuple[str, ...]
    says: str
    remedy: str
    effect: Literal["PARTIAL", "BROKEN", "NOTE"] | None


class Reached(msgspec.Struct, frozen=True, rename="camel"):
    """How far a job is: the unit that it walks, and what it has taken of it."""

    unit: str
    pages: int
    rows: int
    requests: int


class JobShown(msgspec.Struct, frozen=True, rename="camel"):
    """A verification. `endedAt` is null until it ended; `code` says why one failed."""

    id: str
    receipt_hash: str
    state: JobState
    cancelled: bool
    sources: bool
    made_at: str
    began_at: str | None
    ended_at: str | None
    progress: Reached
    code: str | None
    report: AnyReport


class Verification(msgspec.Struct, frozen=True, rename="camel"):
    """A report when there is one, and the job that makes or made it (null for an invalid record).

    `judgement` is that of the report.
    """

    judgement: Judgement | None
    report: AnyReport
    job: JobShown | None


class ReceiptItem(msgspec.Struct, frozen=True, rename="camel"):
    """A stored receipt, with the judgement of its last check; `id` is its receiptHash.

    `since` is when the judgement became what it is, `dueAt` the next check, null for never.
    """

    id: str
    question: str
    claim: Claim
    kind: str
    query_hash: str
    as_of: str
    valid_until: str
    judgement: Judgement | None
    coverage: Coverage | None
    since: str | None
    checked_at: str | None
    due_at: str | None
    stored_at: str
    origin: OriginKind
    bytes: int


class JudgementShown(msgspec.Struct, frozen=True, rename="camel"):
    """From `at` on the judgement was this one, for these reasons; `id` counts the changes."""

    id: str
    judgement: Judgement
    coverage: Coverage | None
    reasons: tuple[str, ...]
    at: str


class PinShown(msgspec.Struct, frozen=True, rename="camel"):
    """A pin that brought the receipt; `genesisHeight` is null in the mempool."""

    id: str
    writer: str | None
    genesis_height: int | None


class LinkShown(msgspec.Struct, frozen=True, rename="camel"):
    """A step of a supersedes chain: the pin that is named, and the receipt at its other end.

    `receipt` is null for a pin that is not here, and `maySupersede` with it: whether the later one
    asks the same question and was walked later (F-34).
    """

    pin: str
    receipt: str | None
    may_supersede: bool | None


class EquivocationShown(msgspec.Struct, frozen=True, rename="camel"):
    """Another receipt of the same signing window that shows a source with another digest.

    `sameWriter` is null where the chain does not know who wrote one of the two: then it is one only
    if one person wrote both.
    """

    receipt: str
    operator: str
    locator: str
    frame: str
    digest: str
    other_digest: str
    same_writer: bool | None
    found_at: str


class ReceiptShown(msgspec.Struct, frozen=True, rename="camel"):
    """A stored receipt with its record, and all that is known of it.

    `judgements` are the last changes, the newest first. `supersedes` goes back in time, the next
    one first; `supersededBy` are those that name one of its pins. A receipt stays what it is
    whatever supersedes it.
    """

    receipt: ReceiptItem
    record: msgspec.Raw
    pins: tuple[PinShown, ...]
    judgements: tuple[JudgementShown, ...]
    supersedes: tuple[LinkShown, ...]
    superseded_by: tuple[LinkShown, ...]
    equivocations: tuple[EquivocationShown, ...]


class HiddenShown(msgspec.Struct, frozen=True, rename="camel"):
    """A receipt that the operator withholds from answers."""

    id: str
    reason: str
    since: str
