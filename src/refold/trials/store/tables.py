"""The tables of the log. Hex and words were checked before; contents hold no NUL, no surrogate."""

from sqlalchemy import Column, ForeignKey, Index, Table

from refold.db import BYTES, INT64, METADATA, NAME

messages = Table(
    "trials_messages",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),
    Column("accepted_at", INT64, nullable=False),
    Column("digest", NAME, nullable=False, unique=True),
    Column("kind", NAME, nullable=False),
    Column("room", NAME, nullable=False),
    Column("reply_to", INT64),
    Column("thread", INT64, nullable=False),
    Column("public_key", NAME, nullable=False),
    Column("signature", NAME, nullable=False),
    Index(None, "room", "id"),
    Index(None, "thread", "id"),
    Index(None, "public_key", "id"),
)
"""Accepted messages. Rows are added and never changed: a leaf of the tree is made from one."""

texts = Table(
    "trials_texts",
    METADATA,
    Column("id", INT64, ForeignKey("trials_messages.id"), primary_key=True, autoincrement=False),
    Column("content", NAME, nullable=False),
)
"""Contents of messages. The operator's tombstone deletes a row here, and nothing else."""

tiles = Table(
    "trials_tiles",
    METADATA,
    Column("level", INT64, primary_key=True, autoincrement=False),
    Column("number", INT64, primary_key=True, autoincrement=False),
    Column("hashes", BYTES, nullable=False),
)
"""The tree: up to 256 hashes of 32 bytes a row; the last row of each level grows."""

checkpoints = Table(
    "trials_checkpoints",
    METADATA,
    Column("size", INT64, primary_key=True, autoincrement=False),
    Column("signed_at", INT64, nullable=False),
    Column("note", NAME, nullable=False),
)
"""Signed checkpoints: the newest, the one before it, and the last of every UTC day."""

log_keys = Table(
    "trials_log_keys",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),
    Column("name", NAME, nullable=False),
    Column("public_key", NAME, nullable=False, unique=True),
    Column("since", INT64, nullable=False),
    Column("since_size", INT64, nullable=False),
    Column("statement", NAME),
)
"""Keys that signed checkpoints, in order, each but the first with its rotation statement."""
