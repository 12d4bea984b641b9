"""What the routes are asked: members of paths and queries, with their bounds."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from refold.coverage.api.limits import SHORT_SECONDS
from refold.coverage.record import MAX_KIND, MAX_QUESTION, Claim
from refold.serving.asked import ListAsked

_HASH = "^[0-9a-f]{64}$"
EXAMPLE = "408db5dd37415710a2e7c99104373be5c49759533b82ab5426f84852688c7244"

Hash = Annotated[str, Meta(pattern=_HASH, description="A receiptHash.", examples=[EXAMPLE])]
JobId = Annotated[str, Meta(pattern="^[0-9a-f]{32}$", description="The id of a job.")]


class ReceiptAsked(msgspec.Struct, frozen=True):
    """One receipt."""

    hash: Hash


class JobAsked(msgspec.Struct, frozen=True):
    """One job."""

    id: JobId


class SchemaAsked(msgspec.Struct, frozen=True):
    """One schema."""

    name: Literal["record", "report"]


class CodeAsked(msgspec.Struct, frozen=True):
    """One code."""

    id: Annotated[str, Meta(pattern="^[A-Za-z_0-9]{1,60}$", examples=["E_MATCH_SHAPE"])]


class VerifyAsked(msgspec.Struct, frozen=True):
    """How a receipt is verified."""

    sources: Annotated[
        bool, Meta(description="Read the sources of its consensus block again too.")
    ] = False
    wait: Annotated[
        int, Meta(ge=0, le=SHORT_SECONDS, description="Seconds to wait for a short one.")
    ] = SHORT_SECONDS


class ReceiptsAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """Stored receipts, the last stored first."""

    question: Annotated[
        str,
        Meta(
            max_length=MAX_QUESTION,
            description="A text that the question holds: any part of it, upper and lower case and"
            " canonically equivalent spellings alike, no words, no wildcards.",
        ),
    ] = ""
    kind: (
        Annotated[str, Meta(max_length=MAX_KIND, description="The corpus' kind, exactly.")] | None
    ) = None
    query_hash: (
        Annotated[str, Meta(pattern=_HASH, description="The queryHash of the criterion.")] | None
    ) = None
    claim: Claim | None = None
    judgement: (
        Annotated[
            Literal["VERIFIED", "STALE", "REFUTED", "INCONCLUSIVE", "NONE"],
            Meta(description="That of the last check; NONE for what was not checked yet."),
        ]
        | None
    ) = None


class OfReceiptAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """A list of one receipt."""

    hash: Hash
