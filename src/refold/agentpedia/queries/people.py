"""Editors: the list by reputation, and one of them with his ladder and his liabilities."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, func, literal, select

from refold.agentpedia.constitution import limits_of
from refold.agentpedia.event import later
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import MAX_INLINE, Json, VersionItem, first
from refold.agentpedia.queries.model_governance import EditorDetail, EditorItem, Endorsed, Rung
from refold.agentpedia.queries.rulings import constitutions_of
from refold.agentpedia.queries.texts import item_of
from refold.agentpedia.state import Limits, Options
from refold.agentpedia.store import Cursor, Page, tables
from refold.agentpedia.store.rows import decode, indexed, lookup
from refold.db import BYTES, one_of
from refold.kernel.errors import InputError

__all__ = ["editor_of", "editors_of", "revs_of"]

RECENT_REVS = 20
"""Revs beside an editor; the list of them is paged."""


def editors_of(look: Look, limit: int, after: Cursor | None) -> Page[EditorItem]:
    """Give a page of the editors, those of the highest reputation first."""
    page = look.reading.editors(limit, after)
    return Page([_item(stored.value) for stored in page.items], page.cursor)


def _item(value: Json) -> EditorItem:
    return msgspec.convert(value, EditorItem)


def editor_of(look: Look, name: str) -> EditorDetail:
    """Give an editor. Raises InputError `editor-unknown`. Scans the registers: for a thread."""
    stored = look.values.stored("editor", name)
    if stored is None:
        raise InputError("editor-unknown", "there is no such editor", "list them", "/id")
    value: Json = stored.value
    members = {name: getattr(_item(value), name) for name in EditorItem.__struct_fields__}
    return EditorDetail(
        **members,
        suspended_until=value["suspendedUntil"],
        pool_suspended_until=value["poolSuspendedUntil"],
        half_signals=value["halfSignals"],
        ladder=_ladder(look, value),
        registers=first(value["registers"]),
        register_count=len(value["registers"]),
        endorsed_by=first(value["endorsedBy"]),
        endorsed=_endorsed(look, name),
        recent_revs=tuple(revs_of(look, name, RECENT_REVS, None).items),
    )


def revs_of(look: Look, name: str, limit: int, after: Cursor | None) -> Page[VersionItem]:
    """Give a page of the versions by an editor, the newest first."""
    page = look.reading.revs_of(name, limit, after)
    return Page([item_of(look, version) for version in page.items], page.cursor)


def _ladder(look: Look, value: Json) -> tuple[Rung, ...]:
    """Give the steps to T2 under the constitution in force (spec §4); none for a stranger."""
    constitutions = constitutions_of(look)
    registered, tip = value["registeredAt"], look.standing.tip
    if not constitutions or registered is None or tip is None:
        return ()
    limits = limits_of(constitutions[-1].params, Options(), constitutions[0].height)
    return tuple(
        Rung(
            tier,
            from_height,
            from_revs,
            is_reached=tip >= from_height and value["validRevs"] >= from_revs,
        )
        for tier, from_height, from_revs in _rungs(limits, registered)
    )


def _rungs(limits: Limits, registered: int) -> Sequence[tuple[str, int, int]]:
    t0_ends = later(registered, limits.t0_blocks)
    return (
        ("T0", registered, 0),
        ("T0+", t0_ends, 0),
        ("T1", t0_ends, limits.t1_revs),
        ("T2", later(registered, limits.t2_blocks), limits.t2_revs),
    )


def _endorsed(look: Look, name: str) -> tuple[Endorsed, ...]:
    """Give those an editor stood for (AC-D3), the first of them."""
    c = tables.others.c
    quoted = msgspec.json.encode(lookup(name))
    asked = (
        select(c.key, c.value)
        .where(c.section == "register", _holds(look, c.value, quoted))
        .order_by(c.key)
        .limit(2 * MAX_INLINE)
    )
    registers = [(key, decode(value)) for key, value in look.connection.execute(asked)]
    mine = [(key, value["editor"]) for key, value in registers if name in value["endorsers"]]
    editors = _editors_named(look, [editor for _, editor in mine[:MAX_INLINE]])
    return tuple(
        Endorsed(
            editor,
            key,
            editors[editor]["status"],
            editors[editor]["revoked"],
            editors[editor]["banned"],
        )
        for key, editor in mine[:MAX_INLINE]
        if editor in editors
    )


def _holds(look: Look, column: ColumnElement[Any], piece: bytes) -> ColumnElement[bool]:
    """Ask whether bytes stand in a column of bytes; a value that has them is then looked at."""
    wanted = literal(piece, BYTES)
    if look.connection.dialect.name == "sqlite":
        return func.instr(column, wanted) > 0
    return func.position(wanted.op("IN")(column)) > 0


def _editors_named(look: Look, names: Sequence[str]) -> dict[str, Json]:
    c = tables.editors.c
    keys = [indexed(name) for name in names]
    asked = select(c.value).where(one_of(look.connection, c.key, keys))
    values = [decode(value) for value in look.connection.scalars(asked)]
    return {value["id"]: value for value in values}
