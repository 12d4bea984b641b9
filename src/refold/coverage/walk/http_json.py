"""Walks over HTTP_JSON: one list behind a URL, its pages joined by links or declared as a series.

A walk follows `rel="next"` within its origin until a page has none, then reads the first page once
more. It never takes a failure for an end. Source: coverage spec §5.5 R-3, R-5, R-6.
"""

from collections.abc import Sequence

from refold.coverage.ends import (
    HttpEvidence,
    http_ends,
    http_reasons,
    lies_beyond,
    starts_midway,
)
from refold.coverage.match import Criterion
from refold.coverage.record import Termination
from refold.coverage.unit import Traversal
from refold.coverage.walk.asking import Steps
from refold.coverage.walk.budget import Purse
from refold.coverage.walk.http_pages import HttpPages
from refold.coverage.walk.series import Series, gap_in
from refold.coverage.walk.walked import Listed, Walked
from refold.kernel.addresses import Url, join_url
from refold.kernel.errors import InputError

__all__ = ["http_list", "http_series"]

_EDGES = frozenset({"first", "prev", "previous", "last"})
_NO_NEXT = "link:next="


def http_list(source: Listed, criterion: Criterion, purse: Purse) -> Steps[Walked]:
    """Walk the pages of one unit to their end; returns what was seen."""
    pages = HttpPages(source, criterion, purse)
    first = url = pages.start
    asked = set[str]()
    ended = False
    while url is not None:
        asked.add(str(url))
        answered = yield from pages.read(url)
        if answered is None:
            break
        url = _next(pages, answered, asked)
        ended = url is None and not pages.is_broken
    ends: tuple[Termination, ...] = ()
    if ended:
        evidence = _evidence([pages], pages.sheet.distinct, series=False)
        ends = http_ends(evidence)
        _note_end(pages, evidence)
    _note_rows(pages, pages.sheet.distinct, pages.sheet.rows)
    if ended and first is not None and len(pages.sheet.pages) > 1:
        yield from pages.read_again(first)
    return _walked(pages, ends, pages.reasons)


def http_series(series: Series, criterion: Criterion, purse: Purse) -> Steps[tuple[Walked, ...]]:
    """Walk units that are the pages of one list; each is given what was seen of it.

    Links between them are not followed: the next unit is the next page. What is less than FULL of
    one of them is so of all.
    """
    units: list[HttpPages] = []
    for source in series.sources:
        pages = HttpPages(source, criterion, purse)
        units.append(pages)
        if pages.start is not None:
            yield from pages.read(pages.start)
    first, last = units[0], units[-1]
    ended = all(pages.sheet.pages for pages in units)
    rows = [pages.sheet.rows for pages in units]
    distinct = len(set[str]().union(*(pages.sheet.ids for pages in units)))
    ends: tuple[Termination, ...] = ()
    if ended:
        evidence = _evidence(units, distinct, series=True)
        ends = http_ends(evidence)
        _note_end(last, evidence)
        if starts_midway(series.url):  # by another parameter than the one that counts its pages
            last.note("starts_midway", "another parameter chooses where the list begins")
        gap = gap_in(series, rows)
        if gap:
            last.note("source_truncated", gap)
    for pages in units:
        _note_rows(pages, pages.sheet.distinct, pages.sheet.rows)
    _note_rows(last, distinct, sum(rows))
    if ended and first.start is not None:
        yield from first.read_again(first.start)
        first.note_ages([age for pages in units for age in pages.ages])
    reasons: dict[str, str] = {}
    for pages in units:
        reasons |= {reason: why for reason, why in pages.reasons.items() if reason not in reasons}
    return tuple(_walked(pages, ends, reasons) for pages in units)


def _next(pages: HttpPages, answered: Url, asked: set[str]) -> Url | None:
    """Give the URL of the page after the last one that was read; note what is wrong with it."""
    targets = pages.links.next
    if not targets:
        return None
    if len(targets) > 1:
        pages.note("source_truncated", f"{answered.shown}: two next pages")
        return None
    try:
        following = join_url(answered, targets[0])
    except InputError as error:
        pages.note("source_truncated", f"{answered.shown}: the next page: {error.message}")
        return None
    facts = pages.sheet.pages[-1]
    if following.origin != answered.origin:
        pages.note("redirected_off_source", f"{answered.shown}: goes on at {following.origin}")
    elif str(following) in asked:
        pages.note("page_loop", f"{answered.shown}: goes on where it was before")
    elif facts.rows and not facts.new:
        pages.note("page_loop", f"{answered.shown}: goes on without a new row")
    else:
        return following
    return None


def _evidence(units: Sequence[HttpPages], distinct: int, *, series: bool) -> HttpEvidence:
    """Give what ends are judged by, of pages that were all read."""
    facts = [fact for pages in units for fact in pages.sheet.pages]
    links = units[-1].links
    following = bool(links.next) or links.doubtful
    return HttpEvidence(
        url=units[0].url,
        pages=len(facts),
        rows=sum(fact.rows for fact in facts),
        distinct=distinct,
        last_rows=facts[-1].rows,
        has_next=following,
        edge_links=bool(links.relations & _EDGES) and not following,
        first=facts[0].signals,
        last=facts[-1].signals,
        totals=tuple(fact.signals.total for fact in facts),
        marked=(facts[0].marked, facts[-1].marked),
        series=series,
    )


def _note_end(pages: HttpPages, evidence: HttpEvidence) -> None:
    """Note what the end does not prove."""
    if evidence.has_next:
        pages.note("source_truncated", "the last page speaks of a next one that was not read")
    if any(lies_beyond(target, pages.answered) for target in pages.links.last):
        pages.note("source_truncated", "the last page names a later one as the last")
    for reason in http_reasons(evidence):
        pages.note(reason, f"{evidence.rows} rows, {evidence.distinct} distinct")


def _note_rows(pages: HttpPages, distinct: int, rows: int) -> None:
    """Note what the rows themselves are in the way of."""
    if pages.sheet.is_incomplete:
        pages.note("source_truncated", "a page says that it is not whole")
    if distinct < rows:
        pages.note("duplicate_ids", f"{rows} rows, {distinct} distinct")
    if pages.sheet.is_unaddressed:
        pages.note("criterion_field_never_seen", f"in none of {rows} rows")


def _walked(pages: HttpPages, ends: tuple[Termination, ...], reasons: dict[str, str]) -> Walked:
    sheet, spent = pages.sheet, pages.spent
    traversal = Traversal(
        unit=pages.source.id,
        pages=len(sheet.pages),
        rows=sheet.rows,
        ends=ends,
        reasons=tuple(reasons),
        matches=sheet.found(),
        set_hash=sheet.set_hash(),
        distinct=sheet.distinct,
        last_id=sheet.last_id,
        cursor=_NO_NEXT if ends and not pages.links.next else "",
        totals=sheet.totals,
        ids_only=sheet.is_ids_only,
        bytes=spent.bytes,
        requests=spent.requests,
        first_at=spent.first_at,
        last_at=spent.last_at,
        warnings=tuple(pages.warnings),
    )
    return Walked(traversal, dict(reasons), tuple(pages.proofs))
