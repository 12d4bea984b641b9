"""The ends table: which terminations a walk reached with authority, and what is in the way.

Pure functions over what a walk has counted (spec §5.5 R-5). A walk over a series of units hands in
one evidence for the whole series.
"""

import re

import msgspec

from refold.coverage.record import Termination
from refold.coverage.signals import Signals
from refold.coverage.urls import parameters_of

__all__ = [
    "PAGING_PARAMETERS",
    "ROUND_NUMBERS",
    "HttpEvidence",
    "MvcEvidence",
    "http_ends",
    "http_reasons",
    "is_paged",
    "lies_beyond",
    "mvc_ends",
    "mvc_reasons",
    "starts_midway",
]

PAGING_PARAMETERS = frozenset(
    {
        *("page", "per_page", "pagesize", "page_size", "size", "limit", "offset", "cursor"),
        *("after", "before", "start", "skip", "count", "first", "max_results", "maxresults"),
        *("page_token", "pagetoken"),
    }
)
"""Query parameters, in lower case, by which a client chooses a part of a list."""
ROUND_NUMBERS = frozenset(
    {10, 12, 15, 20, 24, 25, 40, 30, 50, 100, 200, 250, 500, 1000, 5000, 10000}
)
"""Row counts at which page sizes cut."""

_NUMBERED_STARTS = {"page": 1, "offset": 0, "start": 0, "skip": 0}
"""Parameters that say where a list begins, and the largest value that is its beginning."""
_NUMBER = re.compile("[0-9]{1,18}")
_CURSORS = frozenset({"cursor", "after", "before", "page_token", "pagetoken"})
_SIZES = PAGING_PARAMETERS - _CURSORS - set(_NUMBERED_STARTS)


class HttpEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a walk over HTTP_JSON pages counted, at the moment it stopped by itself.

    url: where it started; for a series the first unit's.
    pages: pages that parsed. last_rows: rows of the last of them. rows, distinct: over all pages.
    has_next: whether the last page names a next page (that was not followed).
    edge_links: whether the last page's Link header names first, prev or last, and no next.
    first, last: the signals of the first and of the last page (the same for one page).
    totals: the largest total of each page, None where a page has none.
    marked: the boundary's own total on the first and on the last page, as endMarkers
        (`signals.total_at`), "" where it is missing or another kind is declared.
    series: whether several units make one list by a page or offset parameter.
    """

    url: str
    pages: int
    rows: int
    distinct: int
    last_rows: int
    has_next: bool
    edge_links: bool
    first: Signals
    last: Signals
    totals: tuple[int | None, ...]
    marked: tuple[str, str] = ("", "")
    series: bool = False


class MvcEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a walk over MVC_PINS pages counted: pages that parsed, rows and cursor of the last."""

    pages: int
    last_rows: int
    next_cursor: str


def http_ends(evidence: HttpEvidence) -> tuple[Termination, ...]:
    """Give every termination that the walk reached with authority, in the order of F-19.

    EXHAUSTED needs a page that was followed to, as its row in R-5 says: one empty answer to a
    request that chooses a part of a list is no end, and a request for no rows (`limit=0`) never
    comes to one. COUNT_MATCHED is judged by the declared path (`marked`) or, where none is
    declared, by the totals that all pages gave alike. A series is one only if its last page is
    empty (R-6), so a total alone does not end it.
    """
    ends: list[Termination] = []
    if evidence.pages == 0 or _asks_for_nothing(evidence.url):
        return ()
    stopped = not evidence.has_next
    if stopped and evidence.pages > 1:
        if evidence.last_rows == 0:
            ends.append("EXHAUSTED")
        if not evidence.series:
            ends.append("CURSOR_END")
    if stopped and evidence.pages == 1 and not evidence.last.more:
        whole = not is_paged(evidence.url) and evidence.last_rows not in ROUND_NUMBERS
        if _is_flagged(evidence) or whole:
            ends.append("SINGLE_PAGE")
    if _is_counted(evidence) and not (evidence.series and evidence.last_rows):
        ends.append("COUNT_MATCHED")
    return tuple(ends)


def http_reasons(evidence: HttpEvidence) -> tuple[str, ...]:
    """Give why this walk is not FULL as far as ends, totals and signals tell; () if nothing is.

    Duplicate ids, re-reads and failures are the walk's own to report. One page with a round number
    of rows, or just as many as were asked for, and no end flag is never FULL, even when a total
    agrees: there are totals that count the page (B3).
    """
    reasons: list[str] = []
    if not evidence.series and starts_midway(evidence.url):
        reasons.append("starts_midway")
    if _is_truncated(evidence):
        reasons.append("source_truncated")
    if _drifted(evidence):
        reasons.append("total_drift")
    if evidence.pages == 1 and _is_full(evidence) and not _is_flagged(evidence):
        reasons.append("round_count_without_end_signal")
    elif not http_ends(evidence):
        reasons.append("termination_not_proven")
    return tuple(reasons)


def mvc_ends(evidence: MvcEvidence) -> tuple[Termination, ...]:
    """Give the termination that a walk over pins reached with authority, () for none.

    A short or an empty page that still has a cursor is no end (R-7, A5).
    """
    if evidence.pages == 0 or evidence.next_cursor:
        return ()
    return ("CURSOR_END",) if evidence.last_rows else ("EXHAUSTED",)


def mvc_reasons(evidence: MvcEvidence) -> tuple[str, ...]:
    """Give `termination_not_proven` for a walk over pins without an end, else ()."""
    return () if mvc_ends(evidence) else ("termination_not_proven",)


def is_paged(url: str) -> bool:
    """Tell whether a URL chooses a part of a list by a parameter of `PAGING_PARAMETERS`."""
    return any(name in PAGING_PARAMETERS for name, _ in parameters_of(url))


def starts_midway(url: str) -> bool:
    """Tell whether a start URL begins after the first row: page > 1, offset > 0, or a cursor."""
    for name, value in parameters_of(url):
        if not value:
            continue
        first = _NUMBERED_STARTS.get(name)
        # What is no number may be any place.
        if first is not None and not (value.isascii() and value.isdigit() and int(value) <= first):
            return True
        if name in _CURSORS:
            return True
    return False


def lies_beyond(url: str, other: str) -> bool:
    """Tell whether a URL names a later page than another one, by a page number or an offset."""
    places = dict(parameters_of(other))
    for name, value in parameters_of(url):
        first = _NUMBERED_STARTS.get(name)
        here = places.get(name) or str(first)
        if first is not None and _is_number(value) and _is_number(here) and int(value) > int(here):
            return True
    return False


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _asks_for_nothing(url: str) -> bool:
    """Tell whether a URL asks for pages of no rows, which any list answers empty."""
    sizes = (value for name, value in parameters_of(url) if name in _SIZES)
    return any(value and not value.strip("0") for value in sizes)


def _is_full(evidence: HttpEvidence) -> bool:
    """Tell whether the last page has as many rows as pages have: a round number, or those asked."""
    asked = (value for name, value in parameters_of(evidence.url) if name in _SIZES)
    rows = evidence.last_rows
    return rows in ROUND_NUMBERS or (rows > 0 and str(rows) in asked)


def _is_flagged(evidence: HttpEvidence) -> bool:
    """Tell whether the last page says that it is the last, by a flag or by its Link header."""
    return bool(evidence.last.end) or evidence.edge_links


def _is_counted(evidence: HttpEvidence) -> bool:
    """Tell whether a total on the first and the last page is the number of distinct rows."""
    first, last = evidence.marked
    if first or last:
        return first == last and last.rpartition("=")[2] == str(evidence.distinct)
    return bool(evidence.totals) and set(evidence.totals) == {evidence.distinct}


def _is_truncated(evidence: HttpEvidence) -> bool:
    """Tell whether the last page says that there is more than was read.

    Some sources state totals on their first page alone: the last one that was stated counts.
    """
    last = evidence.last
    if last.more:
        return True
    totals = [total for total in (*evidence.totals, last.total) if total is not None]
    if any(stated[-1] > evidence.distinct for stated in (totals, _declared(evidence)) if stated):
        return True
    last_page = evidence.first.last_page if last.last_page is None else last.last_page
    return last_page is not None and last_page > evidence.pages


def _drifted(evidence: HttpEvidence) -> bool:
    """Tell whether totals differ from page to page, or one is below the distinct rows."""
    totals = {total for total in evidence.totals if total is not None}
    declared = set(_declared(evidence))
    below = any(total < evidence.distinct for total in totals | declared)
    return len(totals) > 1 or len(declared) > 1 or below


def _declared(evidence: HttpEvidence) -> list[int]:
    """Give what stands at the record's own total path, on the first and on the last page."""
    return [int(total.rpartition("=")[2]) for total in evidence.marked if total]
