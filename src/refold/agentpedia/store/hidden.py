"""What the operator hides: texts by pin, by hash, or by editor, each with a reason.

Nothing else changes: no pin, no view, no digest. Who shows texts asks `Hidden.of` before. Source:
architecture.md, Conventions (operator's duty).
"""

import re
from collections.abc import Iterable
from typing import Literal, get_args

import msgspec
from sqlalchemy import Column, Connection, Table, delete, func, select, tuple_

from refold.db import INT64, METADATA, NAME, AnyText, put
from refold.kernel.errors import InputError, one_line

MAX_REASON = 500
"""Characters of a reason: a sentence or two, which stand in every answer that withholds."""

Kind = Literal["pin", "hash", "editor"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_FORMS = {
    "pin": re.compile(r"[0-9a-f]{64}i[0-9]{1,10}"),
    "hash": re.compile(r"[0-9a-f]{64}"),
    "editor": re.compile(r"[!-~]{1,128}"),
}
_WANTED = {
    "pin": "a pin id (64 hex digits, i, a number)",
    "hash": "the SHA-256 of a text, 64 hex digits",
    "editor": "the globalMetaId of an editor",
}

hidden = Table(
    "agentpedia_hidden",
    METADATA,
    Column("kind", NAME, primary_key=True),
    Column("name", NAME, primary_key=True),
    Column("reason", AnyText, nullable=False),
    Column("since", INT64, nullable=False),
)

changes = Table(
    "agentpedia_hidden_changes",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),  # always 1
    Column("changes", INT64, nullable=False),
)
"""How often something was hidden or shown again: whoever keeps a copy compares one number."""


class HiddenRow(msgspec.Struct, frozen=True, gc=False):
    """One thing that is hidden; `since` is in Unix seconds."""

    kind: Kind
    name: str
    reason: str
    since: int


class Hidden:
    """All that is hidden at a moment, in memory: it is asked for every text."""

    def __init__(self, rows: Iterable[HiddenRow] = ()) -> None:
        self._rows = {(row.kind, row.name): row for row in rows}

    def __bool__(self) -> bool:
        return bool(self._rows)

    def of(
        self, pins: Iterable[str], text_hash: str = "", editors: Iterable[str] = ()
    ) -> HiddenRow | None:
        """Give why a text is hidden: by a pin that brought it, its hash, or who wrote it; or None.

        A version that a revert or a ruling made is named as `<pin>::eq`; its pin counts.
        """
        if not self._rows:
            return None
        names: list[tuple[Kind, str]] = [("pin", pin.partition("::")[0]) for pin in pins]
        names += [("hash", text_hash), *(("editor", editor) for editor in editors)]
        return next((self._rows[name] for name in names if name in self._rows), None)


class SqlHidden:
    """As long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def hide(self, kind: Kind, name: str, reason: str, now: int) -> bool:
        """Hide; tell whether it was shown before. What is hidden already gets the new reason.

        `now` is in Unix seconds. Raises InputError `hidden-name`, `hidden-reason`.
        """
        if not _FORMS[kind].fullmatch(name):
            raise InputError(
                "hidden-name", f"{one_line(name)} is no {kind}", f"give {_WANTED[kind]}"
            )
        if not reason.strip() or len(reason) > MAX_REASON:
            raise InputError(
                "hidden-reason",
                "the reason is public, and has to be there",
                f"say it in 1 to {MAX_REASON} characters",
            )
        was = self._row(kind, name)
        since = now if was is None else was.since
        row = {"kind": kind, "name": name, "reason": reason.strip(), "since": since}
        put(self._connection, hidden, [row])
        self._count()
        return was is None

    def unhide(self, kind: Kind, name: str) -> bool:
        """Show again; tell whether it was hidden."""
        which = (hidden.c.kind == kind) & (hidden.c.name == name)
        gone = self._connection.execute(delete(hidden).where(which)).rowcount
        if gone:
            self._count()
        return bool(gone)

    def page(self, limit: int, after: tuple[str, str] | None = None) -> list[HiddenRow]:
        """Give what is hidden, by kind and name, from behind `after`."""
        order = (hidden.c.kind, hidden.c.name)
        asked = select(*hidden.c).order_by(*order).limit(limit)
        if after is not None:
            asked = asked.where(tuple_(*order) > after)
        return [HiddenRow(*row) for row in self._connection.execute(asked)]

    def all(self) -> Hidden:
        """Give all of it, to ask for every text."""
        return Hidden(HiddenRow(*row) for row in self._connection.execute(select(*hidden.c)))

    def count(self) -> int:
        """Count what is hidden."""
        return self._connection.scalar(select(func.count()).select_from(hidden)) or 0

    def changes(self) -> int:
        """Give how often it changed."""
        return self._connection.scalar(select(changes.c.changes)) or 0

    def _count(self) -> None:
        put(self._connection, changes, [{"id": 1, "changes": self.changes() + 1}])

    def _row(self, kind: str, name: str) -> HiddenRow | None:
        which = (hidden.c.kind == kind) & (hidden.c.name == name)
        row = self._connection.execute(select(*hidden.c).where(which)).first()
        return None if row is None else HiddenRow(*row)
