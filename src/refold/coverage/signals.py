"""What a page says of its own end: more-signals, end flags and totals (spec §5.5 R-5).

The lists are closed, so that two verifiers come to the same coverage. A signal can only lower it.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

__all__ = ["Signals", "read_signals", "total_at"]

_MORE_IF_TRUE = (
    *("incomplete_results", "truncated", "is_truncated", "isTruncated", "partial", "timed_out"),
    *("has_more", "hasMore", "more", "hasNextPage"),
)
_CURSORS = (
    *("next", "next_url", "nextPage", "nextCursor", "next_cursor", "next_page_token"),
    *("nextPageToken", "LastEvaluatedKey", "@odata.nextLink"),
)
_END_IF_FALSE = (
    *("has_more", "hasMore", "more", "truncated", "is_truncated", "isTruncated", "hasNextPage"),
)
_PAGE_COUNTS = ("last_page", "totalPages")
_TOTALS = (
    *("total_count", "totalCount", "total", "total_results", "totalResults", "totalItems"),
    *("totalElements", "count", "numFound", "hits.total", "total.value"),
)
_ASIDE = ("links", "_links", "meta", "page", "paging", "pagination", "pageInfo", "total")
"""Members of an object on the way that are looked into as well."""
_LINK_LISTS = ("links", "_links")
"""Those that may be lists of links with a `rel`, too."""

_CAP = 2**53
"""Where totals stop counting: beyond, they are larger than any walk all the same."""


class Signals(msgspec.Struct, frozen=True):
    """What one page says of its end.

    `more` names the members that say there is more, `end` those that say there is not. `total` is
    the largest of its totals, None for none (at most 2^53); `totals` are all of them as endMarkers
    (`hits.total=39`), by path. `last_page` is the largest number of pages that it states.
    """

    more: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    total: int | None = None
    totals: tuple[str, ...] = ()
    last_page: int | None = None


def read_signals(page: object, array_path: str) -> Signals:
    """Read what a page says, in every object from its root to the parent of the array.

    `page` is the parsed body, `array_path` the dot path of F-15. Never raises; a page that is no
    object says nothing.
    """
    more: list[str] = []
    end: list[str] = []
    totals: dict[str, int] = {}
    last_page: int | None = None
    for path, members in _objects(page, array_path):
        prefix = f"{path}." if path else ""
        more += [prefix + name for name in _more(members)]
        if path.rpartition(".")[2] == "total" and members.get("relation") == "gte":
            more.append(f"{prefix}relation")
        end += [prefix + name for name in _ends(members)]
        for name in _TOTALS:
            number = _number(_at(members, name.split(".")))
            if number is not None:
                totals.setdefault(prefix + name, number)
        for name in _PAGE_COUNTS:
            count = _number(members.get(name))
            if count is not None:
                last_page = max(count, last_page or 0)
    return Signals(
        tuple(more),
        tuple(end),
        max(totals.values(), default=None),
        tuple(f"{path}={number}" for path, number in totals.items()),
        last_page,
    )


def total_at(page: object, path: str) -> str:
    """Give the endMarker `PATH=INTEGER` of the total at a dot path of a page, "" for none."""
    number = _number(_at(page, path.split(".")))
    return "" if number is None else f"{path}={number}"


def _objects(page: object, array_path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give each object to look into with its path: those on the way, and their asides."""
    steps = array_path.split(".") if array_path else []
    found: list[str] = []
    for step in steps or [""]:
        if not isinstance(page, Mapping):
            return
        yield ".".join(found), page
        for name in _ASIDE:
            aside = page.get(name)
            # One that is on the way comes by itself.
            if isinstance(aside, Mapping) and not (name == step and len(found) + 1 < len(steps)):
                yield ".".join((*found, name)), aside
        found.append(step)
        page = page.get(step)


def _more(members: Mapping[str, Any]) -> Iterator[str]:
    for name in (*_MORE_IF_TRUE, *_CURSORS):
        if _is_set(members.get(name)):
            yield name
    if members.get("last") is False:
        yield "last"
    yield from (f"{name}.next" for name in _LINK_LISTS if _leads_on(members.get(name)))
    errors = members.get("errors")
    if isinstance(errors, list) and errors:
        yield "errors"
    shards = members.get("_shards")
    if isinstance(shards, Mapping):
        total, successful, failed = (
            _number(shards.get(name)) for name in ("total", "successful", "failed")
        )
        if failed:
            yield "_shards.failed"
        if successful is not None and total is not None and successful < total:
            yield "_shards.successful"


def _leads_on(links: object) -> bool:
    """Tell whether a list of links, as `[{"rel": "next", …}]`, has one to a next page."""
    if not isinstance(links, list):
        return False
    relations = (link.get("rel") for link in links if isinstance(link, Mapping))
    return any(
        "next" in relation.lower().split() if isinstance(relation, str) else relation == ["next"]
        for relation in relations
    )


def _ends(members: Mapping[str, Any]) -> Iterator[str]:
    for name in _END_IF_FALSE:
        if members.get(name) is False:
            yield name
    if members.get("last") is True:
        yield "last"
    for name in _CURSORS:
        if name in members:
            value = members[name]
            if value is None or (isinstance(value, (str, Mapping, list)) and not value):
                yield name


def _is_set(value: object) -> bool:
    """Tell whether a signal's value is true or not empty: numbers other than 0 are."""
    return bool(value)


def _number(value: object) -> int | None:
    """Give a whole number from 0 on, at most `_CAP`; None for anything else."""
    if type(value) is int:
        return min(value, _CAP) if value >= 0 else None
    if type(value) is Decimal and value >= 0:
        capped = min(value, Decimal(_CAP))
        return int(capped) if capped == int(capped) else None
    return None


def _at(value: object, steps: Sequence[str]) -> object:
    for step in steps:
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value
