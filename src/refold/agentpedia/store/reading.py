"""The encyclopedia read page by page: plain questions over the tables, each on an index.

A page begins behind a cursor, the sort values of the last item before it, so a walk to the end
meets every item once that is there all the time and keeps its sort values, whoever writes between
two pages; each page may be a transaction of its own.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Table, func, literal, select, tuple_

from refold.agentpedia.store import tables
from refold.agentpedia.store.model import (
    Cursor,
    EntryRow,
    Link,
    Page,
    StoredStep,
    StoredValue,
    StoredVersion,
)
from refold.agentpedia.store.rows import SECTIONS, STEP, decode, indexed, lookup, step_at
from refold.kernel.errors import InputError

T = TypeVar("T")
Sort = Literal["updated", "featured", "title"]
Columns = Sequence[ColumnElement[Any]]

MAX_INTEGER = 2**63 - 1
ALIASES = ("", "::eq", "::rev")
"""What a version may be named without: the pin of a revert or ruling stands for what it made."""

_SORTS: dict[str, tuple[str, ...]] = {
    "updated": ("updated", "key"),
    "featured": ("featured", "updated", "key"),
    "title": ("title", "key"),
}
_ENTRY = ("key", "long_key", *EntryRow.__struct_fields__[1:])


class Reading:
    """Lists and look-ups; as long-lived as the transaction of `connection`.

    `limit` is at least 1. A cursor is one that a page of the same list gave; any other raises
    InputError `cursor-invalid`. A text that no table could hold raises InputError `name-invalid`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def entries(
        self, sort: Sort, limit: int, after: Cursor | None = None, *, lang: str | None = None
    ) -> Page[EntryRow]:
        """Give the entries, of a language or of all.

        `updated`: the last changed first. `featured`: the same, but featured ones before others.
        `title`: by title, by code point.
        """
        c = tables.entries.c
        asked = select(*(c[name] for name in _ENTRY))
        if lang is not None:
            asked = asked.where(c.lang == lookup(lang))
        order = [c[name] for name in _SORTS[sort]]
        return self._page(asked, order, after, limit, _entry_at, falling=sort != "title")

    def keys_of(self, record: int) -> list[str]:
        """Give the entry keys that name a record; none for a displaced one."""
        c = tables.entries.c
        asked = select(func.coalesce(c.long_key, c.key)).where(c.record == record)
        return sorted(self._connection.scalars(asked))

    def history(
        self, record: int, limit: int, after: Cursor | None = None, *, newest_first: bool = True
    ) -> Page[StoredStep]:
        """Give the steps of a history."""
        c = tables.history.c
        asked = select(*STEP).where(c.record == record)
        return self._page(asked, [c.place], after, limit, step_at, falling=newest_first)

    def version(self, name: str) -> StoredVersion | None:
        """Give the version that an id names; the pin of what made an equivalent names that."""
        names = [lookup(name) + alias for alias in ALIASES]
        asked = select(*STEP).where(tables.history.c.name.in_(names))
        found = {row[2]: step_at(row).version for row in self._connection.execute(asked)}
        return next((found[name] for name in names if found.get(name)), None)

    def revs_of(self, editor: str, limit: int, after: Cursor | None = None) -> Page[StoredVersion]:
        """Give the versions by an editor, the newest first."""
        c = tables.history.c
        asked = select(*STEP).where(c.author == indexed(lookup(editor)))
        order = [c.seq, c.record, c.place]
        page = self._page(asked, order, after, limit, step_at, falling=True)
        versions = [step.version for step in page.items if step.version is not None]
        return Page(versions, page.cursor)

    def editors(self, limit: int, after: Cursor | None = None) -> Page[StoredValue]:
        """Give the editors, those of the highest reputation first."""
        c = tables.editors.c
        return self._values("editor", [c.reputation, c.key], limit, after)

    def proposals(
        self,
        limit: int,
        after: Cursor | None = None,
        *,
        state: str | None = None,
        entry_key: str | None = None,
    ) -> Page[StoredValue]:
        """Give the proposals for rulings, the last opened first."""
        c = tables.proposals.c
        which = [] if state is None else [c.state == lookup(state)]
        if entry_key is not None:
            which.append(c.entry_key == indexed(lookup(entry_key)))
        return self._values("proposal", [c.opened_at, c.key], limit, after, which)

    def proposals_on(self, challenge: str) -> list[StoredValue]:
        """Give the proposals about a challenge, in the order of their opening."""
        c = tables.proposals.c
        which = [c.challenge == lookup(challenge)]
        asked = _values_in("proposal").where(*which).order_by(c.opened_at, c.key)
        return [_value_at("proposal", row) for row in self._connection.execute(asked)]

    def param_proposals(
        self, limit: int, after: Cursor | None = None, *, state: str | None = None
    ) -> Page[StoredValue]:
        """Give the proposals to change parameters, the last opened first."""
        c = tables.param_proposals.c
        which = [] if state is None else [c.state == lookup(state)]
        return self._values("param-proposal", [c.opened_at, c.key], limit, after, which)

    def challenges_of(
        self, record: int, limit: int, after: Cursor | None = None
    ) -> Page[StoredValue]:
        """Give the challenges of versions of a record, those of the newest version first."""
        c, h = tables.challenges.c, tables.history.c
        asked = _values_in("challenge").join(tables.history, h.name == c.target)
        order = [h.place, c.key]
        make = _valued("challenge")
        asked = asked.where(h.record == record)
        return self._page(asked, order, after, limit, make, falling=True)

    def reviews_of(
        self, version: str, limit: int, after: Cursor | None = None
    ) -> Page[StoredValue]:
        """Give the reviews of a version, by id."""
        c = tables.reviews.c
        which = [c.target == lookup(version)]
        return self._values("review", [c.key], limit, after, which, falling=False)

    def graves(
        self, limit: int, after: Cursor | None = None, *, reason: str | None = None
    ) -> Page[StoredValue]:
        """Give the refused pins, for one reason or all, the newest first."""
        c = tables.graves.c
        which = [] if reason is None else [c.reason == lookup(reason)]
        return self._values("grave", [c.position], limit, after, which)

    def section(self, section: str, limit: int, after: Cursor | None = None) -> Page[StoredValue]:
        """Give the values of any section, by key; without histories."""
        table = SECTIONS[section].table
        which = [table.c.section == section] if table is tables.others else []
        return self._values(section, [table.c.key], limit, after, which, falling=False)

    def count(self, section: str) -> int:
        """Count the values of a section. Reads an index: milliseconds for 100,000."""
        table = SECTIONS[section].table
        asked = select(func.count()).select_from(table)
        if table is tables.others:
            asked = asked.where(table.c.section == section)
        return self._connection.scalar(asked) or 0

    def backlinks(self, key: str, limit: int, after: Cursor | None = None) -> Page[Link]:
        """Give the entries whose displayed text links to an entry key, by key."""
        c, e = tables.links.c, tables.entries.c
        linking = tables.links.join(tables.entries, e.key == c.from_entry)
        source = func.coalesce(e.long_key, c.from_entry)
        asked = select(source, c.from_rev).select_from(linking)
        asked = asked.where(c.to_key == indexed(lookup(key)))
        return self._page(asked, [c.from_entry], after, limit, _link_at, falling=False)

    def _values(
        self,
        section: str,
        order: Columns,
        limit: int,
        after: Cursor | None,
        which: Columns = (),
        *,
        falling: bool = True,
    ) -> Page[StoredValue]:
        asked = _values_in(section).where(*which)
        return self._page(asked, order, after, limit, _valued(section), falling=falling)

    def _page(
        self,
        asked: Select[Any],
        order: Columns,
        after: Cursor | None,
        limit: int,
        make: Callable[[Sequence[Any]], T],
        *,
        falling: bool,
    ) -> Page[T]:
        """Give a page of the rows that are asked for, in the order of columns that fall or rise."""
        if after is not None:
            here, there = tuple_(*order), tuple_(*map(literal, _checked(after, order)))
            asked = asked.where(here < there if falling else here > there)
        sorted_by = [column.desc() for column in order] if falling else order
        # One more than is wanted says whether there is another page.
        asked = asked.add_columns(*order).order_by(*sorted_by).limit(limit + 1)
        rows = self._connection.execute(asked).all()
        items = [make(row[: -len(order)]) for row in rows[:limit]]
        cursor = tuple(rows[limit - 1][-len(order) :]) if len(rows) > limit else None
        return Page(items, cursor)


def _checked(after: Cursor, order: Columns) -> Cursor:
    """Give a cursor if it may be one of a list; from outside it may be anything."""
    is_one = len(after) == len(order)
    for value, column in zip(after, order, strict=False):
        is_one = is_one and type(value) is column.type.python_type
        is_one = is_one and (not isinstance(value, int) or abs(value) <= MAX_INTEGER)
    if not is_one:
        raise InputError("cursor-invalid", "the cursor is none of this list", "begin without one")
    return tuple(lookup(value) if isinstance(value, str) else value for value in after)


def _values_in(section: str) -> Select[Any]:
    table = SECTIONS[section].table
    return select(table.c.key, table.c.long_key, table.c.sha256, table.c.value, *_record(table))


def _record(table: Table) -> Columns:
    return [table.c.record] if "record" in table.c else []


def _valued(section: str) -> Callable[[Sequence[Any]], StoredValue]:
    return lambda row: _value_at(section, row)


def _value_at(section: str, row: Sequence[Any]) -> StoredValue:
    key, long_key, hashed, value, *record = row
    return StoredValue(section, long_key or key, hashed, decode(value), *record)


def _entry_at(row: Sequence[Any]) -> EntryRow:
    key, long_key, *members = row
    return EntryRow(long_key or key, *members)


def _link_at(row: Sequence[Any]) -> Link:
    return Link(*row)
