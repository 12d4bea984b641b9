"""The tables beside the log: keys, challenges, when trials close, what the operator did."""

from sqlalchemy import Column, Index, Table

from refold.db import INT64, METADATA, NAME, AnyText

keys = Table(
    "trials_keys",
    METADATA,
    Column("public_key", NAME, primary_key=True),
    Column("name", AnyText, nullable=False),
    Column("admitted_at", INT64, nullable=False),
    Column("revoked_by", INT64),
    Index(None, "admitted_at"),
)
"""Keys that were admitted. `revoked_by` is the message that ended it."""

challenges = Table(
    "trials_challenges",
    METADATA,
    Column("id", NAME, primary_key=True),
    Column("answer", NAME, nullable=False),
    Column("wrong", NAME, nullable=False),
    Column("expires", INT64, nullable=False),
    Index(None, "expires"),
)
"""Challenges that were answered, until they expire. `answer` is the digest of the whole answer,
`wrong` the ids of tasks with a wrong result, with spaces between; empty for whoever passed."""

closings = Table(
    "trials_closings",
    METADATA,
    Column("trial", INT64, primary_key=True, autoincrement=False),
    Column("closes", INT64, nullable=False),
)
"""When each trial takes no more runs: its own time, or when it was withdrawn or removed."""

blocks = Table(
    "trials_blocks",
    METADATA,
    Column("public_key", NAME, primary_key=True),
    Column("since", INT64, nullable=False),
)
"""Keys that may not post now, by the operator's word."""

tombstones = Table(
    "trials_tombstones",
    METADATA,
    Column("message", INT64, primary_key=True, autoincrement=False),
    Column("since", INT64, nullable=False),
)
"""Messages whose text the operator removed."""

moderation = Table(
    "trials_moderation",
    METADATA,
    Column("id", INT64, primary_key=True),
    Column("action", NAME, nullable=False),
    Column("subject", NAME, nullable=False),
    Column("reason", AnyText, nullable=False),
    Column("at", INT64, nullable=False),
)
"""All that the operator did, in order: rows are added and never changed. It is public."""

changes = Table(
    "trials_key_changes",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),  # always 1
    Column("changes", INT64, nullable=False),
)
"""How often a key was revoked, blocked or let go: whoever keeps states compares one number."""
