"""Which text of each entry is indexed, for links and search, and which entries are to be looked at.

What is indexed may be behind the view and never ahead (decision 0007): the transaction that changes
an entry marks it here, and later ones make up for it, entry by entry.
"""

from collections.abc import Collection, Iterable

import msgspec
from sqlalchemy import Boolean, Column, Connection, Index, Table, delete, func, select

from refold.agentpedia.store import tables
from refold.agentpedia.store.bulk import put_rows
from refold.agentpedia.store.rows import indexed
from refold.db import METADATA, NAME, one_of
from refold.metaid.store.tables import content_facts

KEYS = 500
"""Keys that one statement names."""

shown = Table(
    "agentpedia_shown",
    METADATA,
    Column("key", NAME, primary_key=True),
    Column("rev", NAME, nullable=False),
    Column("waits_for", NAME, nullable=False, index=True),
    Column("is_stale", Boolean, nullable=False),
    Index(None, "is_stale", "key"),
)
"""`rev` is the version whose text is indexed, "" for none; `waits_for` the pin of the rev whose
text nobody has seen verified yet, "" for none.
"""


class Due(msgspec.Struct, frozen=True):
    """An entry to be looked at: what it displays now, and what is indexed of it.

    `display_head` is None when the entry is no more; `title`, `text_pin` and `content_ref` are
    those of the version displayed, `text_pin` None when it is none, as a redirect's pin.
    """

    key: str
    display_head: str | None
    rev: str
    waits_for: str
    title: str = ""
    text_pin: str | None = None
    content_ref: str | None = None


class SqlShown:
    """As long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def mark(self, keys: Iterable[str]) -> None:
        """Mark entries to be looked at; what is indexed of them stays."""
        names = sorted({indexed(key) for key in keys})
        for start in range(0, len(names), KEYS):
            batch = names[start : start + KEYS]
            known = self._known(batch)
            rows = [(name, *known.get(name, ("", "")), True) for name in batch]
            put_rows(self._connection, shown, rows)

    def mark_all(self) -> None:
        """Mark everything, as what was indexed is gone with the view that it was of."""
        self._connection.execute(shown.update().values(rev="", waits_for="", is_stale=True))

    def mark_verified(self) -> int:
        """Mark the entries whose text was verified meanwhile; give how many."""
        verified = select(content_facts.c.pin).where(content_facts.c.state == "verified")
        waiting = shown.c.waits_for.in_(verified) & (shown.c.waits_for != "")
        return self._connection.execute(
            shown.update().where(waiting & ~shown.c.is_stale).values(is_stale=True)
        ).rowcount

    def due(self, limit: int) -> list[Due]:
        """Give entries to be looked at, by key."""
        e, h = tables.entries.c, tables.history.c
        joined = shown.outerjoin(tables.entries, e.key == shown.c.key)
        # A version has a height; its text is its own pin's where it names no other.
        displayed = (h.name == e.display_head) & h.height.is_not(None)
        asked = (
            select(
                func.coalesce(e.long_key, shown.c.key),
                *(e.display_head, shown.c.rev, shown.c.waits_for),
                *(func.coalesce(h.title, ""), func.coalesce(h.text_pin, h.name), h.content_ref),
            )
            .select_from(joined.outerjoin(tables.history, displayed))
            .where(shown.c.is_stale)
            .order_by(shown.c.key)
            .limit(limit)
        )
        return [Due(*row) for row in self._connection.execute(asked)]

    def settle(self, looked_at: Iterable[Due]) -> None:
        """Note what is indexed now; those without `display_head` are forgotten."""
        rows: list[tuple[object, ...]] = []
        for due in looked_at:
            if due.display_head is None:
                gone = shown.c.key == indexed(due.key)
                self._connection.execute(delete(shown).where(gone))
            else:
                rows.append((indexed(due.key), due.rev, due.waits_for, False))
        put_rows(self._connection, shown, rows)

    def is_behind(self) -> bool:
        """Tell whether any entry is to be looked at."""
        asked = select(shown.c.key).where(shown.c.is_stale).limit(1)
        return self._connection.execute(asked).first() is not None

    def _known(self, names: Collection[str]) -> dict[str, tuple[str, str]]:
        asked = select(shown.c.key, shown.c.rev, shown.c.waits_for)
        rows = self._connection.execute(asked.where(one_of(self._connection, shown.c.key, names)))
        return {key: (rev, waits_for) for key, rev, waits_for in rows}
