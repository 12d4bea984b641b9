"""What later posts depend on: who posted what on which trial, when trials close, which keys end.

`Standings.judge` is what the log asks before it appends, `Standings.fold` what it tells after, both
in the transaction of the append. Source: cold trials spec §§1, 3.
"""

from collections.abc import Sequence
from functools import cache, partial

from sqlalchemy import Connection, RootTransaction, bindparam, insert, select, update

from refold.kernel.utc import parse_utc
from refold.trials.codes import Fault
from refold.trials.leaf import accepted_text
from refold.trials.posts import Message as Plain
from refold.trials.posts import Post, Trial
from refold.trials.relations import KeyState, Standing, closing_time, key_faults, relation_faults
from refold.trials.store import keytables, tables
from refold.trials.store.keys import Keys
from refold.trials.store.model import Message, Posting

__all__ = ["Standings", "standing"]

MAX_STATES = 50_000
"""Keys whose state is kept: some 10 MB."""

_ROW = tables.messages.c
_STANDING = (
    select(_ROW.id, _ROW.kind, _ROW.public_key, _ROW.reply_to, keytables.closings.c.closes)
    .select_from(
        tables.messages.outerjoin(keytables.closings, keytables.closings.c.trial == _ROW.id)
    )
    .where(_ROW.id == bindparam("id"))
)


def standing(connection: Connection, message: int) -> Standing | None:
    """Give an accepted message as far as later ones depend on it, None if there is none."""
    row = connection.execute(_STANDING, {"id": message}).one_or_none()
    if row is None:
        return None
    trial = row.id if row.kind == "trial" else row.reply_to if row.kind == "run" else None
    closes = None if row.closes is None else accepted_text(row.closes)
    return Standing(row.id, row.kind, row.public_key, trial, closes)


class Standings:
    """Keeps the states of keys as long as no key changes, which each transaction looks up once.

    For one thread at a time.
    """

    def __init__(self) -> None:
        self._states: dict[str, KeyState] = {}
        self._changes = -1
        self._seen: RootTransaction | None = None

    def state(self, connection: Connection, public_key: str) -> KeyState:
        """Give what is known of a key, as of this transaction."""
        transaction = connection.get_transaction()
        if transaction is None or transaction is not self._seen:
            changes = Keys(connection).changes()
            if changes != self._changes:
                self._states.clear()
                self._changes = changes
            self._seen = transaction
        found = self._states.get(public_key)
        if found is None:
            if len(self._states) >= MAX_STATES:
                self._states.clear()
            found = self._states[public_key] = Keys(connection).state(public_key)
        return found

    def judge(self, connection: Connection, posting: Posting, now: int) -> Sequence[Fault]:
        """Give why a posting may not be appended now; `now` in Unix seconds."""
        message = posting.message
        faults = key_faults(self.state(connection, message.public_key))
        if message.reply_to is None and isinstance(posting.post, Plain):
            return faults  # it stands in relation to nothing
        return (
            *faults,
            *relation_faults(
                posting.post,
                message.public_key,
                message.reply_to,
                cache(partial(standing, connection)),  # a trial is asked for twice
                accepted_text(now),
            ),
        )

    def fold(self, connection: Connection, message: Message, post: Post) -> None:
        """Take a message that was just appended into account."""
        if isinstance(post, Trial):
            closes = parse_utc(closing_time(post, accepted_text(message.accepted_at)))
            row = {"trial": message.id, "closes": int(closes.timestamp())}
            connection.execute(insert(keytables.closings), row)
        elif post.kind == "withdraw":
            closing = keytables.closings.c
            which = (closing.trial == message.reply_to) & (closing.closes > message.accepted_at)
            closed = update(keytables.closings).where(which).values(closes=message.accepted_at)
            connection.execute(closed)
        elif post.kind == "revoke":
            Keys(connection).revoke(message.public_key, message.id)
            self._seen = None  # what follows in this transaction looks again
