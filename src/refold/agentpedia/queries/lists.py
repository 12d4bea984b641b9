"""The list of entries, page by page: statements made once, as it is asked for often.

Other lists are those of `store.reading`, which puts a statement together each time.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, get_args

from sqlalchemy import Select, bindparam, func, select, tuple_

from refold.agentpedia.queries.look import STANDING, Look, standing_at
from refold.agentpedia.queries.model import EntryItem
from refold.agentpedia.queries.questions import Question
from refold.agentpedia.queries.texts import hidden_of, versions_named
from refold.agentpedia.store import tables
from refold.agentpedia.store.rows import lookup

__all__ = [
    "PLACES",
    "SORTS",
    "EntrySort",
    "Row",
    "count_entries",
    "entries_page",
    "items_of",
    "place_of",
]

EntrySort = Literal["updated", "featured", "title"]
SORTS: tuple[EntrySort, ...] = get_args(EntrySort)

Row = Sequence[Any]
_C = tables.entries.c
_ORDERS = {
    "updated": (_C.updated, _C.key),
    "featured": (_C.featured, _C.updated, _C.key),
    "title": (_C.title, _C.key),
}
_STANDING = len(STANDING)
PLACES: dict[EntrySort, type[tuple[int | str, ...]]] = {
    "updated": tuple[int, str],
    "featured": tuple[int, int, str],
    "title": tuple[str, str],
}
"""What a place in a list is made of."""
_KEYSETS = {"updated": (7, 8), "featured": (9, 7, 8), "title": (2, 8)}
"""Where in a row, behind how the view stands, its sort values are."""


@cache
def _question(sort: EntrySort, *, in_lang: bool, is_next: bool) -> Question:
    def make(_: str) -> Select[Any]:
        order = _ORDERS[sort]
        asked = select(
            *STANDING,
            *(func.coalesce(_C.long_key, _C.key), _C.lang, _C.title, _C.status, _C.quality),
            *(_C.head, _C.display_head, _C.updated, _C.key, _C.featured),
        ).select_from(tables.entries.outerjoin(tables.folded, tables.folded.c.id == 1))
        if in_lang:
            asked = asked.where(_C.lang == bindparam("lang"))
        if is_next:
            here = tuple_(*order)
            there = tuple_(*(bindparam(f"k{n}", type_=c.type) for n, c in enumerate(order)))
            asked = asked.where(here > there if sort == "title" else here < there)
        by = order if sort == "title" else [column.desc() for column in order]
        return asked.order_by(*by).limit(bindparam("most")).offset(bindparam("skip"))

    return Question(make)


def entries_page(
    look: Look,
    sort: EntrySort,
    limit: int,
    after: Sequence[object] | None,
    lang: str | None,
    *,
    skip: int = 0,
) -> list[Row]:
    """Give `limit` rows of entries, of a language or of all, behind the place `after`.

    `skip` passes over so many first, which takes time with their number.

    `updated`: the last changed first. `featured`: the same, but featured ones before others.
    `title`: by title, by code point.
    """
    values: dict[str, object] = {f"k{n}": value for n, value in enumerate(after or ())}
    if lang is not None:
        values["lang"] = lookup(lang)
    question = _question(sort, in_lang=lang is not None, is_next=after is not None)
    rows = question.rows(look.connection, most=limit, skip=skip, **values)
    if rows:
        look.standing = standing_at(*rows[0][:_STANDING])
    return [row[_STANDING:] for row in rows]


def place_of(sort: EntrySort, row: Row) -> tuple[Any, ...]:
    """Give the place of a row in its list: what `entries_page` takes as `after`."""
    return tuple(row[at] for at in _KEYSETS[sort])


def items_of(look: Look, rows: Sequence[Row]) -> list[EntryItem]:
    """Give rows as readers see them, without the titles that are hidden."""
    concealed = _concealed(look, rows)
    items = []
    for key, lang, title, status, quality, head, display_head, updated, *_ in rows:
        items.append(
            EntryItem(
                id=key,
                lang=lang,
                slug=key.partition(":")[2],
                title=None if key in concealed else title,
                status=status,
                quality=quality,
                head=head,
                display_head=display_head,
                updated_at=updated,
            )
        )
    return items


def _concealed(look: Look, rows: Sequence[Row]) -> set[str]:
    """Give the keys of entries whose displayed version the operator hides."""
    if not look.hidden:
        return set()
    versions = versions_named(look, [row[6] for row in rows])
    found = {name for name, version in versions.items() if hidden_of(look, version)}
    # Of a redirect's pin the title in the list is that of the version before: it is looked up.
    concealed = {row[0] for row in rows if row[6] in found}
    for row in rows:
        if row[6] not in versions and _last_is_hidden(look, row[0]):
            concealed.add(row[0])
    return concealed


def _last_is_hidden(look: Look, key: str) -> bool:
    stored = look.values.stored("entry", key)
    if stored is None or stored.record is None:
        return False
    after = None
    while True:
        page = look.reading.history(stored.record, 10, after)
        for step in page.items:
            if step.version is not None:
                return hidden_of(look, step.version) is not None
        if page.cursor is None:
            return False
        after = page.cursor


def count_entries(look: Look, lang: str | None) -> int:
    """Count the entries, of a language or of all: milliseconds for 100,000."""
    asked = select(func.count()).select_from(tables.entries)
    if lang is not None:
        asked = asked.where(_C.lang == lookup(lang))
    return look.connection.scalar(asked) or 0
