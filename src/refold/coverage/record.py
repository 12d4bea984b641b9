"""The record: what a coverage receipt says, field by field (spec §5.1a, §5.1).

`receipt_of` makes a `Receipt` of a value that `refold.coverage.checks` found no error in. Nothing
here checks anything; the bounds that the checks, the schemas and the walks share stand here.
"""

from typing import Any, Final, Literal

import msgspec

VERSION: Final = "1.2.1"
"""The version that refold writes."""
VERSIONS: Final = ("1.0.0", "1.1.0", "1.1.1", "1.2.0", "1.2.1")
"""The versions that the gate of F-1 knows; any other is unknown."""
WITHDRAWN: Final = "1.1.0"
"""The version whose records took modified pins for unconfirmed ones (F-1, B-9)."""
REPLAYABLE: Final = ("1.1.1", "1.2.0", "1.2.1")
"""The versions whose records can be walked again; 1.0.0 is only checked (spec §5.7)."""

Claim = Literal["ABSENT", "PRESENT", "INCONCLUSIVE"]
Coverage = Literal["BROKEN", "PARTIAL", "FULL"]
Termination = Literal["EXHAUSTED", "CURSOR_END", "SINGLE_PAGE", "COUNT_MATCHED", "UNKNOWN"]
MarkerKind = Literal["CURSOR", "ITEM_ID", "TOTAL_COUNT", "SET_HASH", "NONE"]
ReplayKind = Literal["HTTP_JSON", "MVC_PINS", "MANUAL"]
Fetch = Literal["LIST_ONLY", "LIST_PLUS_DETAIL"]
Dedupe = Literal["ID_MULTISET", "NONE"]
Mode = Literal["SINGLE", "SELF_CHECK", "AGREE", "INCOMPARABLE", "SPLIT"]
EpochBasis = Literal["UTC_DAY", "UTC_HOUR", "BLOCK_HEIGHT", "DECLARED"]
Role = Literal["THIRD_PARTY", "SELF_OPERATED", "LOCAL_COPY"]
Frame = Literal["SEEN_SET", "MATCH_LIST", "RAW_BYTES"]
Outcome = Literal["OBSERVED", "PARTIAL", "UNREACHABLE"]

JUSTIFICATIONS: Final[dict[str, tuple[str, ...]]] = {
    "ABSENT": ("no_match_in_full_coverage", "all_sources_empty", "no_match_in_declared_subset"),
    "INCONCLUSIVE": (
        "source_unreachable",
        "termination_not_proven",
        "source_truncated",
        "source_inconsistent",
        "access_restricted",
        "manual_source_only",
        "criterion_not_expressible",
        "budget_exhausted",
        "under_investigation",
    ),
}
"""The labels of F-29 that each claim may carry (V-11); PRESENT needs none."""

SKEW_SECONDS: Final = 300
"""How far asOf may lie after the reader's clock, and observedAt after asOf (tension 7)."""
MAX_RECORD_BYTES: Final = 1 << 20
"""Longest record that is read (E_TOO_LARGE)."""

MAX_QUESTION: Final = 280
MAX_KIND: Final = 64
MAX_UNITS: Final = 64
MAX_UNIT_ID: Final = 64
MAX_URL: Final = 512
MAX_PIN_PATH: Final = 128
MAX_INSTRUCTIONS: Final = 512
MAX_PAGE_SIZE: Final = 100
MAX_FILTER_KEYS: Final = 8
MAX_END_MARKER: Final = 512
MAX_MATCH_ID: Final = 256
MAX_BLINDSPOTS: Final = 8
MAX_WHAT: Final = 128
MAX_WHY: Final = 256
MAX_NOTE: Final = 256
MAX_EPOCH: Final = 64
MAX_SOURCES: Final = 16
MAX_OPERATOR: Final = 64
MAX_LOCATOR: Final = 256
"""Lengths in code points, counts in items (spec §5.1a; tension 11)."""


class HttpJson(msgspec.Struct, frozen=True, rename="camel", tag_field="kind", tag="HTTP_JSON"):
    """A list behind one https URL, its further pages behind RFC 8288 next links (F-14, F-15)."""

    url: str
    array_path: str


class MvcPins(msgspec.Struct, frozen=True, rename="camel", tag_field="kind", tag="MVC_PINS"):
    """The pins at one path of one MAN indexer (F-16 to F-17)."""

    endpoint: str
    path: str
    page_size: int
    fetch: Fetch
    dedupe: Dedupe = "ID_MULTISET"
    filter: dict[str, str] = {}


class Manual(msgspec.Struct, frozen=True, tag_field="kind", tag="MANUAL"):
    """A source that only a person can look at; never replayed, never FULL (F-13, R-8)."""

    instructions: str = ""


Replay = HttpJson | MvcPins | Manual


class Boundary(msgspec.Struct, frozen=True, rename="camel"):
    """Where the writer's traversal stopped, and the proof of it (F-18 to F-22).

    `observed` counts rows, duplicates included, before any filter. `status_counts` is None when the
    record has none.
    """

    termination: Termination
    observed: int
    end_marker_kind: MarkerKind
    end_marker: str
    status_counts: dict[str, int] | None = None


class Unit(msgspec.Struct, frozen=True):
    """One source unit: how to walk it, and where the writer's walk ended (F-11 to F-22)."""

    id: str
    replay: Replay
    boundary: Boundary

    @property
    def kind(self) -> ReplayKind:
        """Its replay kind (F-13)."""
        return kind_of(self.replay)


class Query(msgspec.Struct, frozen=True, rename="camel"):
    """The criterion as it stands in the record, and its hash (F-4 to F-6).

    `refold.coverage.match.compile_criterion` makes it something that can be asked.
    """

    canon: dict[str, Any]
    query_hash: str


class Corpus(msgspec.Struct, frozen=True, rename="camel"):
    """What was searched, and when the traversal ended (F-7 to F-10)."""

    kind: str
    as_of: str
    units: tuple[Unit, ...]


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
    """One match: its id, and the SHA-256 of its raw bytes where those could be had (F-26, F-27)."""

    id: str
    digest: str | None = None


class Result(msgspec.Struct, frozen=True, rename="camel"):
    """The matches in the order seen (F-23 to F-28)."""

    match_count: int
    matches: tuple[Match, ...]
    result_hash: str


class Blindspot(msgspec.Struct, frozen=True):
    """One thing that could not be checked, and why (F-31 to F-33)."""

    what: str
    why: str


class Source(msgspec.Struct, frozen=True, rename="camel"):
    """One observation of one source (F-42 to F-49)."""

    operator: str
    locator: str
    role: Role
    digest_frame: Frame
    set_digest: str
    observed: int
    observed_at: str
    outcome: Outcome


class Consensus(msgspec.Struct, frozen=True, rename="camel"):
    """What the writer says of how its sources compare (F-37 to F-41)."""

    mode: Mode
    epoch: str
    epoch_basis: EpochBasis
    source_set: tuple[Source, ...]


class Receipt(msgspec.Struct, frozen=True, rename="camel"):
    """One coverage receipt (spec §5.1a)."""

    v: str
    claim: Claim
    question: str
    query: Query
    corpus: Corpus
    result: Result
    valid_until: str
    blindspots: tuple[Blindspot, ...]
    justification: str = ""
    supersedes: str = ""
    note: str = ""
    consensus: Consensus | None = None


def kind_of(replay: Replay) -> ReplayKind:
    """Give the replay kind of F-13."""
    match replay:
        case HttpJson():
            return "HTTP_JSON"
        case MvcPins():
            return "MVC_PINS"
        case Manual():
            return "MANUAL"


def receipt_of(value: object) -> Receipt:
    """Give the receipt that a checked JSON value spells; ignored members are left out.

    Raises `msgspec.ValidationError` for a value that the checks would have refused by its shape.
    """
    return msgspec.convert(value, Receipt)


def ceiling_of(unit: Unit) -> Coverage:
    """Give the best coverage that the record alone allows a unit (V-8): FULL or PARTIAL."""
    boundary = unit.boundary
    return ceiling(unit.kind, boundary.termination, boundary.end_marker_kind)


def ceiling(kind: object, termination: object, marker: object) -> Coverage:
    """Give the ceiling of V-8 by the three members that decide it."""
    weak = kind == "MANUAL" or termination == "UNKNOWN" or marker == "NONE"
    return "PARTIAL" if weak else "FULL"
