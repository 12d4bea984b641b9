"""The key of the log: the first one, the one that signs now, and how one gives way to another."""

from collections.abc import Sequence
from typing import NoReturn

from sqlalchemy import Connection

from refold.db import Database
from refold.kernel.errors import UsageError
from refold.trials.checkpoint import Checkpoint, LogKey, Rotation, Signer, signed_note
from refold.trials.leaf import accepted_text
from refold.trials.log.state import State, load_state
from refold.trials.log.turn import sign
from refold.trials.store.tree import KeyRow, Tree
from refold.trials.store.writing import insert_key

__all__ = ["begin_log", "known_keys", "require_key", "rotate"]


def begin_log(connection: Connection, signer: Signer, now: int) -> State:
    """Give the end of the log, and check it. An empty database gets its key and a checkpoint.

    Raises SourceError `log-damaged`; UsageError `log-key`, `log-name` for another's.
    """
    rows = Tree(connection).keys()
    if not rows:
        first = KeyRow(1, signer.key.name, signer.key.public.hex(), now, 0, None)
        insert_key(connection, first)
        rows = [first]
    require_key(known_keys(rows)[-1], signer)
    state = load_state(connection, known_keys(rows))
    if state.checkpoints:
        return state
    checkpoint = Checkpoint(signer.key.name, state.size, state.frontier.root())
    sign(connection, (), checkpoint, [signer], now)
    return load_state(connection, known_keys(rows))


def require_key(key: LogKey, signer: Signer) -> None:
    """Return if `signer` has the key that signs now; raises UsageError `log-key`, `log-name`."""
    if key.name != signer.key.name:
        _refuse_name(key.name, signer)
    if key.public != signer.key.public:
        raise UsageError(
            "log-key",
            f"the log is signed by the key {key.public.hex()[:16]}…, not by this one",
            "give the seed of that key, or change the key with both",
        )


def rotate(database: Database, old: Signer, new: Signer, now: int) -> KeyRow:
    """Let `old` give way to `new`, at Unix seconds `now`; give the row with the statement.

    The statement names the size and the root at which it happened, and both keys sign it; the
    checkpoint of this size is signed anew, by both too. Processes that still append with the old
    key are refused from then on. Raises UsageError `log-key`, `log-name`, `log-key-used`, and as
    `begin_log`.
    """
    with database.write() as connection:
        state = begin_log(connection, old, now)
        rows = Tree(connection).keys()
        if new.key.public.hex() in {row.public_key for row in rows}:
            raise UsageError(
                "log-key-used", "the log had this key before", "make a new one and rotate to it"
            )
        if new.key.name != old.key.name:
            _refuse_name(old.key.name, new)
        statement = Rotation(
            name=old.key.name,
            old=old.key.public,
            new=new.key.public,
            size=state.size,
            root=state.frontier.root(),
            at=accepted_text(now),
        )
        note = signed_note(statement.text, [old, new])
        row = KeyRow(rows[-1].id + 1, new.key.name, new.key.public.hex(), now, state.size, note)
        insert_key(connection, row)
        checkpoint = Checkpoint(new.key.name, state.size, statement.root)
        sign(connection, state.checkpoints, checkpoint, [new, old], now)
        return row


def known_keys(rows: Sequence[KeyRow]) -> list[LogKey]:
    """Give the keys that rows say."""
    return [LogKey(row.name, bytes.fromhex(row.public_key)) for row in rows]


def _refuse_name(name: str, signer: Signer) -> NoReturn:
    raise UsageError(
        "log-name",
        f"the log is that of {name}, not of {signer.key.name}",
        "give the node the origin that it had, or begin a new database",
    )
