"""What the operator does, written and read: blocks of keys, tombstones of messages, their list.

A block stops a key; its posts stand. A tombstone takes the text of a message away: its id, leaf,
kind and key stay, it is counted nowhere, proofs hold. Each is in a public list, with its reason.
Source: cold trials spec §1 (operator).
"""

from typing import Literal

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from refold.db import insert_missing
from refold.kernel.errors import InputError
from refold.kernel.keys import parse_public
from refold.trials.moderation import checked_reason
from refold.trials.store import keytables as tables
from refold.trials.store.indexes import Indexes
from refold.trials.store.keys import Keys
from refold.trials.store.reading import Messages
from refold.trials.store.writing import drop_text

__all__ = ["Moderated", "Moderation"]

Action = Literal["block", "unblock", "tombstone"]

_ROW = tables.moderation.c


class Moderated(msgspec.Struct, frozen=True):
    """One thing that the operator did, at a time in Unix seconds; ids count up.

    `subject` is a key in hex or the id of a message.
    """

    id: int
    action: Action
    subject: str
    reason: str
    at: int


class Moderation:
    """As long-lived as the transaction of its connection. Reasons are public."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def block(self, public_key: str, reason: str, now: int) -> bool:
        """Stop a key; tell whether it was not stopped before. It need not be admitted yet.

        Raises InputError `key-…` for what is no key, `reason-form`.
        """
        parse_public(public_key)
        reason = checked_reason(reason)
        is_new = not Keys(self._connection).state(public_key).blocked
        row = {"public_key": public_key, "since": now}
        insert_missing(self._connection, tables.blocks, [row])
        self.note("block", public_key, reason, now)
        return is_new

    def unblock(self, public_key: str, reason: str, now: int) -> bool:
        """Let a key post again; tell whether it was stopped. Raises InputError `reason-form`."""
        reason = checked_reason(reason)
        which = tables.blocks.c.public_key == public_key
        gone = self._connection.execute(delete(tables.blocks).where(which)).rowcount > 0
        if gone:
            self.note("unblock", public_key, reason, now)
        return gone

    def tombstone(self, message: int, reason: str, now: int) -> bool:
        """Take the text of a message away for good; tell whether it was there.

        A trial is closed by it. Raises InputError `message-unknown`, `reason-form`.
        """
        reason = checked_reason(reason)
        found = Messages(self._connection).get(message)
        if found is None:
            raise InputError("message-unknown", f"there is no message {message}", "look it up")
        is_new = drop_text(self._connection, message)
        if is_new:
            Indexes().remove(self._connection, found)
        insert_missing(self._connection, tables.tombstones, [{"message": message, "since": now}])
        closing = tables.closings.c
        which = (closing.trial == message) & (closing.closes > now)
        self._connection.execute(update(tables.closings).where(which).values(closes=now))
        self.note("tombstone", str(message), reason, now)
        return is_new

    def tombstoned(self, messages: list[int]) -> dict[int, int]:
        """Give when the texts of those of some messages were taken away that were."""
        row = tables.tombstones.c
        asked = select(row.message, row.since).where(row.message.in_(messages))
        return {found.message: found.since for found in self._connection.execute(asked)}

    def page(self, after: int, limit: int) -> list[Moderated]:
        """Give what was done, in order, after an id."""
        asked = select(*_ROW).where(_ROW.id > after).order_by(_ROW.id).limit(limit)
        return [Moderated(*row) for row in self._connection.execute(asked)]

    def note(self, action: Action, subject: str, reason: str, now: int) -> None:
        """Add to the list; `reason` was checked."""
        row = {"action": action, "subject": subject, "reason": reason, "at": now}
        self._connection.execute(insert(tables.moderation), row)
        Keys(self._connection).count_change()
