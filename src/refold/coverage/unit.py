"""The outcome of one traversal: what a walk must give, and all that judgement and builder know.

A walk (`refold.coverage.walk`) takes a unit and gives one `Traversal`. It never decides what the
outcome means: that is `refold.coverage.judge`, which reads nothing else of the world. Sources:
spec §5.3, §5.5.
"""

import msgspec

from refold.coverage.record import MarkerKind, Termination


class Found(msgspec.Struct, frozen=True, gc=False):
    """One item that the criterion matched.

    `id` as R-6 and R-7 name it. `digest` is the SHA-256 (64 lower hex) of the item's raw bytes,
    None where they could not be had; never set for HTTP_JSON (F-27). `block_time` is the time of
    the block, in Unix seconds, that confirmed *this* identity; None outside MVC_PINS, in the
    mempool, and where the walk knows only the time of the row that the identity hangs on (a modify
    pin under LIST_ONLY).
    """

    id: str
    digest: str | None = None
    block_time: int | None = None


class Traversal(msgspec.Struct, frozen=True, kw_only=True):
    """What one walk over one unit saw.

    unit: the unit's id, the key of the report.
    pages: pages that parsed, re-reads and details not counted; 0 when nothing could be read.
    rows: rows seen before filtering, duplicates included (what `observed` counts).
    ends: every termination of R-5 that this walk reached with authority, in the order of F-19;
        empty when it reached none. UNKNOWN is never in it. `refold.coverage.ends` finds them.
    reasons: why the unit is less than FULL, in the order they were met, each once; codes of
        `refold.coverage.codes.REASONS` whose effect is PARTIAL or BROKEN. The walk itself adds
        `criterion_field_never_seen` (`match.Scan.addressed`), and what `ends.http_reasons` and
        `ends.mvc_reasons` give.
    matches: what the criterion (and the filter, MVC_PINS) let pass, first occurrences in the order
        seen, ids distinct within the unit.
    set_hash: SET_HASH over the sorted distinct ids (`hashes.set_hash`); for MVC_PINS over the
        identities of R-7. "" when nothing parsed.
    distinct: how many distinct ids that were.
    last_id: the id of the last item seen; "" when there was none.
    cursor: the terminal cursor as an endMarker of kind CURSOR (`link:next=`, `nextCursor=`); ""
        when the walk ended otherwise.
    totals: the source's own totals on the last page as endMarkers of kind TOTAL_COUNT
        (`hits.total=39`), in the order met. When the record's boundary names a path, that one is
        among them if the last page still has it.
    ids_only: whether the criterion (and the filter) reads nothing but the item's id on every item
        of this walk; False for no items (spec §5.3 rule 2: an id cannot be edited in place).
        HTTP_JSON: every item got its id from the one field that is the criterion's only path
        (`match.Criterion.reads_only`). MVC_PINS: the only path is `chain.id`.
    lasting: MVC_PINS: whether the criterion and the filter read only what no later pin can change
        (`is_lasting`): an honest receipt must not be refuted by an edit.
    status_counts: rows by the text of their status, MVC_PINS only.
    bytes, requests: decoded body bytes and requests of this unit, retries and details included.
    first_at, last_at: when the first and the last answer came (RFC 3339, UTC, Z); "" for none.
    warnings: what a person should know and what changes nothing (a BOM was stripped), one line
        each.
    """

    unit: str
    pages: int = 0
    rows: int = 0
    ends: tuple[Termination, ...] = ()
    reasons: tuple[str, ...] = ()
    matches: tuple[Found, ...] = ()
    set_hash: str = ""
    distinct: int = 0
    last_id: str = ""
    cursor: str = ""
    totals: tuple[str, ...] = ()
    ids_only: bool = False
    lasting: bool = False
    status_counts: dict[str, int] | None = None
    bytes: int = 0
    requests: int = 0
    first_at: str = ""
    last_at: str = ""
    warnings: tuple[str, ...] = ()


LASTING_FIELDS = frozenset(
    {
        *("chain.id", "chain.path", "chain.originalPath", "chain.parentPath", "chain.host"),
        *("chain.operation", "chain.encryption", "chain.version", "chain.chainName"),
        *("chain.genesisTransaction", "chain.creator", "chain.createMetaId"),
        *("chain.createAddress",),
    }
)
"""Fields of a list row that stay what they were when the pin was confirmed. Status, history, owner,
number, and the summary and content type of a modified pin do not (facts: metaid §3.5)."""


def is_lasting(path: str) -> bool:
    """Tell whether a path of MVC_PINS (criterion or filter) reads what no later pin can change."""
    return path == "doc" or path.startswith("doc.") or path in LASTING_FIELDS


def reproduces_marker(traversal: Traversal, kind: MarkerKind, marker: str) -> bool:
    """Tell whether the walk gives the record's endMarker again; never for NONE (spec §5.1)."""
    match kind:
        case "SET_HASH":
            return traversal.pages > 0 and traversal.set_hash == marker
        case "ITEM_ID":
            return traversal.rows > 0 and traversal.last_id == marker
        case "TOTAL_COUNT":
            return marker in traversal.totals
        case "CURSOR":
            return traversal.cursor == marker != ""
        case "NONE":
            return False


def reproduces_end(traversal: Traversal, termination: Termination) -> bool:
    """Tell whether the walk ended as the record says; UNKNOWN comes again as no end at all."""
    if termination == "UNKNOWN":
        return traversal.pages > 0 and not traversal.ends
    return termination in traversal.ends
