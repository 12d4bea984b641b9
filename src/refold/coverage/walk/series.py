"""Series: consecutive units that are the pages of one list, by a page or offset parameter.

Sources without links between their pages are declared as a unit a page, the last one empty. Whether
the pages leave gaps is judged here, all else about them in `http_json`. Source: coverage spec §5.5
R-6.
"""

import re
from collections.abc import Sequence

import msgspec

from refold.coverage.record import HttpJson
from refold.coverage.urls import parameters_of
from refold.coverage.walk.walked import Listed

__all__ = ["Series", "gap_in", "series_of"]

_PAGES = frozenset({"page"})
_OFFSETS = frozenset({"offset", "start", "skip"})
_SIZES = frozenset(
    {
        *("per_page", "pagesize", "page_size", "size", "limit", "count", "first"),
        *("max_results", "maxresults"),
    }
)
_STARTS = (0, 1)
_NUMBER = re.compile("0|[1-9][0-9]{0,8}")
_PARAMETER = re.compile("([?&;])([^=&;]*)=([^&;]*)")


class Series(msgspec.Struct, frozen=True):
    """Some consecutive sources; more than one is a list in pages.

    `step` is by how much the parameter grows; `counts_rows` tells whether it counts rows (offset)
    or pages. `url` is that of the first one without the parameter's value.
    """

    sources: tuple[Listed, ...]
    step: int = 0
    counts_rows: bool = False
    url: str = ""


class _Place(msgspec.Struct, frozen=True):
    """A URL with one number taken out: what is left, the parameter's name, the number."""

    rest: tuple[str, str, str]
    name: str
    number: int


def series_of(sources: Sequence[Listed]) -> list[Series]:
    """Divide sources into series, in their order; most are one source alone.

    A page parameter goes up by one and an offset by any step, from 0 or 1; of pages that are left
    out nothing could be known.
    """
    found: list[Series] = []
    at = 0
    while at < len(sources):
        series = max(
            (
                _series_from(sources[at:], place)
                for place in _places(sources[at])
                if place.number in _STARTS
            ),
            key=lambda series: len(series.sources),
            default=Series((sources[at],)),
        )
        found.append(series)
        at += len(series.sources)
    return found


def gap_in(series: Series, rows: Sequence[int]) -> str:
    """Say why rows between the pages of a series may never have been given, "" if none may.

    `rows` are those of each page. A page that holds fewer rows than the offset grows by leaves a
    gap, unless nothing but empty pages comes behind it; so does a page size below the step.
    """
    if not series.counts_rows:
        return ""
    sizes = [
        int(value)
        for name, value in parameters_of(_url(series.sources[0]))
        if name in _SIZES and _NUMBER.fullmatch(value)
    ]
    if any(size < series.step for size in sizes):
        return f"the page size is below the step of {series.step}"
    filled = [number for number, count in enumerate(rows) if count]
    if any(rows[number] < series.step for number in range(max(filled, default=0))):
        return f"a page between others has fewer rows than the step of {series.step}"
    return ""


def _series_from(sources: Sequence[Listed], first: _Place) -> Series:
    """Give the longest series that begins with the first of `sources` at `first`."""
    taken, step, number = [sources[0]], 0, first.number
    counts_rows = first.name in _OFFSETS
    for source in sources[1:]:
        place = next((place for place in _places(source) if place.rest == first.rest), None)
        if place is None or not _same_recipe(source, sources[0]):
            break
        grown = place.number - number
        if grown < 1 or (step and grown != step) or (not counts_rows and grown != 1):
            break
        step, number = grown, place.number
        taken.append(source)
    url = first.rest[0] + first.rest[1]
    return Series(tuple(taken), step, counts_rows and len(taken) > 1, url)


def _same_recipe(one: Listed, other: Listed) -> bool:
    return (
        isinstance(one.replay, HttpJson)
        and isinstance(other.replay, HttpJson)
        and one.replay.array_path == other.replay.array_path
    )


def _places(source: Listed) -> list[_Place]:
    """Give the ways to read a source as one page of a list."""
    places = []
    for match in _PARAMETER.finditer(_url(source)):
        name, value = match[2].lower(), match[3]
        if name in _PAGES | _OFFSETS and _NUMBER.fullmatch(value):
            url = _url(source)
            rest = (url[: match.start(3)], url[match.end(3) :], name)
            places.append(_Place(rest, name, int(value)))
    return places


def _url(source: Listed) -> str:
    return source.replay.url if isinstance(source.replay, HttpJson) else ""
