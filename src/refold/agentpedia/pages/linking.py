"""Entries that link to one, with what a list shows of them: one statement, made once."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.questions import Question
from refold.agentpedia.store import tables
from refold.agentpedia.store.rows import indexed, lookup

__all__ = ["FROM_ENTRY", "FROM_REV", "Row", "linking"]

Row = Sequence[Any]
"""As `queries.lists.items_of` reads it, and behind that `FROM_REV` and `FROM_ENTRY`."""
FROM_REV, FROM_ENTRY = 8, 9

_L, _E = tables.links.c, tables.entries.c


@cache
def _question(*, is_next: bool) -> Question:
    def make(_: str) -> Select[Any]:
        asked = (
            select(
                *(func.coalesce(_E.long_key, _E.key), _E.lang, _E.title, _E.status, _E.quality),
                *(_E.head, _E.display_head, _E.updated, _L.from_rev, _L.from_entry),
            )
            .select_from(tables.links.join(tables.entries, _E.key == _L.from_entry))
            .where(_L.to_key == bindparam("key"))
        )
        if is_next:
            asked = asked.where(_L.from_entry > bindparam("after"))
        return asked.order_by(_L.from_entry).limit(bindparam("most"))

    return Question(make)


def linking(look: Look, key: str, limit: int, after: str | None = None) -> Sequence[Row]:
    """Give `limit` entries whose displayed text links to a key, by key, behind one of them."""
    values: dict[str, object] = {"key": indexed(lookup(key)), "most": limit}
    if after is not None:
        values["after"] = lookup(after)
    return _question(is_next=after is not None).rows(look.connection, **values)
