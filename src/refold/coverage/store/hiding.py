"""Receipts that the operator withholds from answers; what is hidden, and why, is public."""

import re

from sqlalchemy import Connection, delete, select

from refold.coverage.store.model import Hidden
from refold.coverage.store.tables import hidden
from refold.db import put
from refold.kernel.errors import InputError, one_line

__all__ = ["MAX_REASON", "SqlHiding"]

MAX_REASON = 500
"""Characters of a reason: a sentence or two, which stand in every answer that withholds."""
_HASH = re.compile("[0-9a-f]{64}")


class SqlHiding:
    """See `interface.Hiding`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def hide(self, name: str, reason: str, now: str) -> bool:
        """See the interface. A receipt need not be here to be hidden."""
        if not _HASH.fullmatch(name):
            raise InputError(
                "hidden-name",
                f"{one_line(name)} is no receiptHash",
                "give 64 lower-case hex digits",
            )
        if not reason.strip() or len(reason) > MAX_REASON:
            raise InputError(
                "hidden-reason",
                "the reason is public, and has to be there",
                f"say it in 1 to {MAX_REASON} characters",
            )
        was = self.of(name)
        since = now if was is None else was.since
        put(self._connection, hidden, [{"hash": name, "reason": reason.strip(), "since": since}])
        return was is None

    def unhide(self, name: str) -> bool:
        """See the interface."""
        gone = self._connection.execute(delete(hidden).where(hidden.c.hash == name)).rowcount
        return bool(gone)

    def of(self, name: str) -> Hidden | None:
        """See the interface."""
        row = self._connection.execute(select(*hidden.c).where(hidden.c.hash == name)).first()
        return None if row is None else Hidden(*row)

    def page(self, limit: int, after: str | None = None) -> list[Hidden]:
        """See the interface."""
        asked = select(*hidden.c).order_by(hidden.c.hash).limit(limit)
        if after is not None:
            asked = asked.where(hidden.c.hash > after)
        return [Hidden(*row) for row in self._connection.execute(asked)]
