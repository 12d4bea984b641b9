"""Rows of the log written. Only `refold.trials.log` appends; a tombstone takes a text away."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, delete, insert, update

from refold.metaid.store.bulk import insert_rows
from refold.trials.store import tables
from refold.trials.store.model import Message
from refold.trials.store.tree import KeyRow, SignedCheckpoint

__all__ = [
    "drop_text",
    "grow_tiles",
    "insert_key",
    "insert_messages",
    "insert_tiles",
    "put_checkpoint",
]

# Statements are built once: the library takes longer to build one than the database to run it.
_GROW_TILE = (
    update(tables.tiles)
    .where(tables.tiles.c.level == bindparam("of_level"))
    .where(tables.tiles.c.number == bindparam("of_number"))
    .values(hashes=bindparam("hashes"))
)
_INSERT_CHECKPOINT = insert(tables.checkpoints)
_REPLACE_CHECKPOINT = (
    update(tables.checkpoints)
    .where(tables.checkpoints.c.size == bindparam("replaced"))
    .values(size=bindparam("size"), signed_at=bindparam("signed_at"), note=bindparam("note"))
)


def insert_messages(connection: Connection, messages: Sequence[Message]) -> None:
    """Add messages, none of whose ids and digests may be there, with their texts."""
    insert_rows(
        connection,
        tables.messages,
        [
            {
                "id": each.id,
                "accepted_at": each.accepted_at,
                "digest": each.digest,
                "kind": each.kind,
                "room": each.room,
                "reply_to": each.reply_to,
                "thread": each.thread,
                "public_key": each.public_key,
                "signature": each.signature,
            }
            for each in messages
        ],
    )
    texts = [
        {"id": each.id, "content": each.content} for each in messages if each.content is not None
    ]
    insert_rows(connection, tables.texts, texts)


def drop_text(connection: Connection, message: int) -> bool:
    """Delete the text of a message for good; tell whether there was one. Its leaf stays."""
    if connection.dialect.name == "sqlite":
        # Else its bytes stay in free pages of the file until something else is written there.
        connection.exec_driver_sql("PRAGMA secure_delete = ON")
    gone = connection.execute(delete(tables.texts).where(tables.texts.c.id == message))
    return gone.rowcount > 0


def insert_tiles(connection: Connection, tiles: Mapping[tuple[int, int], bytes]) -> None:
    """Add tiles, by level and number."""
    rows = [
        {"level": level, "number": number, "hashes": hashes}
        for (level, number), hashes in tiles.items()
    ]
    insert_rows(connection, tables.tiles, rows)


def grow_tiles(connection: Connection, tiles: Mapping[tuple[int, int], bytes]) -> None:
    """Write tiles, by level and number, in place of what there is of them."""
    if tiles:
        connection.execute(
            _GROW_TILE,
            [
                {"of_level": level, "of_number": number, "hashes": hashes}
                for (level, number), hashes in tiles.items()
            ],
        )


def put_checkpoint(
    connection: Connection, checkpoint: SignedCheckpoint, replaced: int | None
) -> None:
    """Write a checkpoint, in place of the one of the size `replaced` if that is not None."""
    row = {
        "size": checkpoint.size,
        "signed_at": checkpoint.signed_at,
        "note": checkpoint.note,
    }
    if replaced is None:
        connection.execute(_INSERT_CHECKPOINT, row)
    else:
        connection.execute(_REPLACE_CHECKPOINT, {**row, "replaced": replaced})


def insert_key(connection: Connection, key: KeyRow) -> None:
    """Add a key of the log."""
    connection.execute(
        insert(tables.log_keys),
        {
            "id": key.id,
            "name": key.name,
            "public_key": key.public_key,
            "since": key.since,
            "since_size": key.since_size,
            "statement": key.statement,
        },
    )
