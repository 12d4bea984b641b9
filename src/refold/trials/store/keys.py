"""Keys written and read: admitted, revoked, blocked; challenges that were answered.

As long-lived as the transaction of its connection. Source: cold trials spec §2.
"""

from collections.abc import Iterable

import msgspec
from sqlalchemy import Connection, bindparam, delete, exists, select, update

from refold.db import insert_missing, one_of, put
from refold.trials.relations import KeyState
from refold.trials.store import keytables as tables

__all__ = ["AnsweredRow", "KeyRow", "Keys"]

_KEY = tables.keys.c
_BLOCKED = exists().where(tables.blocks.c.public_key == bindparam("key"))
_STATE = select(
    select(_KEY.public_key).where(_KEY.public_key == bindparam("key")).exists(),
    select(_KEY.public_key)
    .where(_KEY.public_key == bindparam("key"), _KEY.revoked_by.is_not(None))
    .exists(),
    _BLOCKED,
)


class KeyRow(msgspec.Struct, frozen=True):
    """A key that was admitted: its name, when (Unix seconds), and the message that ended it."""

    public_key: str
    name: str
    admitted_at: int
    revoked_by: int | None


class AnsweredRow(msgspec.Struct, frozen=True):
    """A challenge that was answered: the digest of the answer, and which tasks were wrong."""

    answer: str
    wrong: tuple[str, ...]


class Keys:
    """See the module."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def state(self, public_key: str) -> KeyState:
        """Give what is known of a key."""
        admitted, revoked, blocked = self._connection.execute(_STATE, {"key": public_key}).one()
        return KeyState(bool(admitted), bool(revoked), bool(blocked))

    def get(self, public_key: str) -> KeyRow | None:
        """Give a key that was admitted, None if it was not."""
        asked = select(*_KEY).where(_KEY.public_key == public_key)
        row = self._connection.execute(asked).one_or_none()
        return None if row is None else KeyRow(*row)

    def about(self, public_keys: Iterable[str]) -> dict[str, tuple[str | None, KeyState]]:
        """Give name and state of those of some keys that were admitted; hundreds at most."""
        block = tables.blocks.c.public_key
        asked = (
            select(_KEY.public_key, _KEY.name, _KEY.revoked_by, block)
            .select_from(tables.keys.outerjoin(tables.blocks, block == _KEY.public_key))
            .where(one_of(self._connection, _KEY.public_key, set(public_keys)))
        )
        return {
            key: (name, KeyState(admitted=True, revoked=ended is not None, blocked=bool(blocked)))
            for key, name, ended, blocked in self._connection.execute(asked)
        }

    def admit(self, public_key: str, name: str, now: int) -> KeyRow:
        """Admit a key, and give it; one that was admitted before stays what it is."""
        row = KeyRow(public_key, name, now, None)
        insert_missing(self._connection, tables.keys, [msgspec.structs.asdict(row)])
        self.count_change()
        return self.get(public_key) or row

    def revoke(self, public_key: str, message: int) -> None:
        """End a key by a message of its own; the first one counts."""
        which = (_KEY.public_key == public_key) & _KEY.revoked_by.is_(None)
        self._connection.execute(update(tables.keys).where(which).values(revoked_by=message))
        self.count_change()

    def answered(self, challenge: str) -> AnsweredRow | None:
        """Give how a challenge was answered, None if it was not."""
        row = tables.challenges.c
        asked = select(row.answer, row.wrong).where(row.id == challenge)
        found = self._connection.execute(asked).one_or_none()
        return None if found is None else AnsweredRow(found.answer, tuple(found.wrong.split()))

    def note_answer(self, challenge: str, expires: int, answered: AnsweredRow, now: int) -> None:
        """Keep how a challenge was answered until it expires; those that have are dropped."""
        row = tables.challenges
        self._connection.execute(delete(row).where(row.c.expires <= now))
        self._connection.execute(
            row.insert(),
            {
                "id": challenge,
                "answer": answered.answer,
                "wrong": " ".join(answered.wrong),
                "expires": expires,
            },
        )

    def changes(self) -> int:
        """Give how often a key was admitted, revoked, blocked or let go."""
        return self._connection.scalar(select(tables.changes.c.changes)) or 0

    def count_change(self) -> None:
        """Say that what is known of a key is another."""
        put(self._connection, tables.changes, [{"id": 1, "changes": self.changes() + 1}])
