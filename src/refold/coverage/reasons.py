"""Replay reasons: why a unit is less than FULL, and what a verifier noticed (spec §5.5, §5.7)."""

from typing import Literal

import msgspec

__all__ = ["REASONS", "Effect", "Reason"]

Effect = Literal["PARTIAL", "BROKEN", "NOTE"]


class Reason(msgspec.Struct, frozen=True):
    """A replay reason: never an error of the record.

    `effect` is the best coverage that a unit with it can have: PARTIAL where the source could not
    be read to a sure end, BROKEN where the recipe does not work, NOTE where it changes no coverage.
    """

    id: str
    rules: tuple[str, ...]
    says: str
    remedy: str
    effect: Effect


def _reasons(*reasons: Reason) -> dict[str, Reason]:
    return {reason.id: reason for reason in reasons}


REASONS: dict[str, Reason] = _reasons(
    # the source could not be read to a sure end
    Reason(
        "source_unreachable",
        ("R-4",),
        "The source gave no whole answer after all retries.",
        "Verify again when it answers.",
        "PARTIAL",
    ),
    Reason(
        "source_truncated",
        ("R-5",),
        "The source itself says that there is more, or that its answer is incomplete.",
        "Narrow the query until the source gives everything, or declare more units.",
        "PARTIAL",
    ),
    Reason(
        "termination_not_proven",
        ("R-5", "P0-6"),
        "Nothing proves that the last row read is the last one there is.",
        "Use a source that marks its end: a next link, an end flag, a total.",
        "PARTIAL",
    ),
    Reason(
        "round_count_without_end_signal",
        ("R-5",),
        "One page with a round number of rows, as a page size cuts it, and no sign of an end.",
        "Use a source that marks its end, or declare its pages as a series of units.",
        "PARTIAL",
    ),
    Reason(
        "starts_midway",
        ("R-5",),
        "The URL begins after the first page, so what stands before was not read.",
        "Begin at the first page.",
        "PARTIAL",
    ),
    Reason(
        "duplicate_ids",
        ("R-6",),
        "A row came twice; where pages shift, another row then came never.",
        "Walk again while the source rests, or ask for a stable order.",
        "PARTIAL",
    ),
    Reason(
        "total_drift",
        ("5.3", "R-5"),
        "The source's total changed from page to page or is below the rows it gave.",
        "Walk again while the source rests.",
        "PARTIAL",
    ),
    Reason(
        "moved_during_traversal",
        ("R-6",),
        "The first page was another one when it was read again at the end.",
        "Walk again while the source rests.",
        "PARTIAL",
    ),
    Reason(
        "source_inconsistent",
        ("R-9",),
        "The same item came with two digests.",
        "Ask the source's operator which bytes are right.",
        "PARTIAL",
    ),
    Reason(
        "criterion_field_never_seen",
        ("5.2",),
        "No item has the fields that the criterion reads, so it could not have matched any.",
        "Compare the criterion's field names with an item of the source.",
        "PARTIAL",
    ),
    Reason(
        "doc_unparsable",
        ("R-7",),
        "The body of a pin is no JSON, so the doc. paths could not be read from it.",
        "Look at the pin; a blindspot can name it.",
        "PARTIAL",
    ),
    Reason(
        "detail_mismatch",
        ("R-7",),
        "The source gave no whole detail of a pin that it lists.",
        "Verify again later, or ask another indexer.",
        "PARTIAL",
    ),
    Reason(
        "budget_exhausted",
        ("R-3",),
        "A limit of pages, rows, bytes, time or requests was reached before the end.",
        "Raise the budget, or narrow the query.",
        "PARTIAL",
    ),
    # the recipe does not work
    Reason(
        "redirected_off_source",
        ("R-2", "R-6"),
        "The source led to another origin; nothing was asked there.",
        "Declare the origin that answers, if it is the source.",
        "BROKEN",
    ),
    Reason(
        "address_refused",
        ("R-2",),
        "The host has a private, loopback or otherwise special address.",
        "Allow it explicitly if it is yours.",
        "BROKEN",
    ),
    Reason(
        "http_status",
        ("5.3",),
        "The source answered with a status that is no success.",
        "Check the URL; a source that needs credentials is MANUAL.",
        "BROKEN",
    ),
    Reason(
        "source_error",
        ("R-7",),
        "The indexer answered with an error of its own.",
        "Verify again later; an error is never an empty list.",
        "BROKEN",
    ),
    Reason(
        "not_json",
        ("R-3",),
        "A page is not JSON.",
        "Check the URL: this may be a page for people.",
        "BROKEN",
    ),
    Reason(
        "json_ambiguous",
        ("5.4",),
        "A page is JSON that parsers read differently.",
        "Ask the source's operator to write plain JSON.",
        "BROKEN",
    ),
    Reason(
        "array_path_missing",
        ("R-6",),
        "There is no array at arrayPath.",
        "Compare arrayPath with an answer of the source; null is no empty list.",
        "BROKEN",
    ),
    Reason(
        "item_without_id",
        ("R-6",),
        "An item has none of the members that name it.",
        "Use a list whose items have an id.",
        "BROKEN",
    ),
    Reason(
        "page_loop",
        ("R-6", "R-7"),
        "The pages lead in a circle.",
        "Ask the source's operator to mend its links.",
        "BROKEN",
    ),
    Reason(
        "page_size_violation",
        ("R-7",),
        "A page has more rows than were asked for.",
        "Ask another indexer.",
        "BROKEN",
    ),
    # what the verifier noticed; no coverage depends on it
    Reason(
        "unit_unchanged",
        ("5.3",),
        "End, number of rows and endMarker of the record all came again.",
        "Nothing to do.",
        "NOTE",
    ),
    Reason("grew", ("5.3",), "The source has more rows than recorded.", "Walk again.", "NOTE"),
    Reason("shrank", ("5.3",), "The source has fewer rows than recorded.", "Walk again.", "NOTE"),
    Reason(
        "changed",
        ("5.3",),
        "As many rows as recorded, but another end or endMarker.",
        "Walk again.",
        "NOTE",
    ),
    Reason("expired", ("V-5",), "validUntil has passed.", "Walk again and supersede it.", "NOTE"),
    Reason(
        "result_drift",
        ("5.3",),
        "The matches are not those of the record.",
        "Walk again and supersede it.",
        "NOTE",
    ),
    Reason(
        "order_drift",
        ("5.3",),
        "The matches came in another order.",
        "Walk again and supersede it.",
        "NOTE",
    ),
    Reason(
        "now_decidable",
        ("5.3",),
        "The question that the record left open can be answered now.",
        "Walk again and claim ABSENT or PRESENT.",
        "NOTE",
    ),
)
"""Replay reasons by id."""
