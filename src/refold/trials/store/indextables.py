"""The tables of the indexes. All follow from the log: `refold trials rebuild` makes them anew.

Their rows are those of `refold.trials.indexes.rows`.
"""

from sqlalchemy import Boolean, Column, Index, Table

from refold.db import BYTES, INT64, METADATA, NAME

posts = Table(
    "trials_posts",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),
    Column("kind", NAME, nullable=False),
    Column("public_key", NAME, nullable=False),
    Column("run", INT64, nullable=False),
    Column("said", BYTES),
    Index(None, "public_key", "id"),
    Index(None, "run", "id"),
)
"""Format posts. A tombstone empties `said`."""

trials = Table(
    "trials_trials",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),
    Column("public_key", NAME, nullable=False),
    Column("service", NAME, nullable=False),
    Column("closes", INT64, nullable=False),
    Column("proven", Boolean, nullable=False),
    Index(None, "proven", "closes", "id"),
    Index(None, "public_key", "closes"),
    Index(None, "service", "id"),
)
"""Trials. Of a removed one `closes` is 0, and `service` empty."""

runs = Table(
    "trials_runs",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),
    Column("trial", INT64, nullable=False),
    Column("public_key", NAME, nullable=False),
    Column("publisher", NAME, nullable=False),
    Column("accepted_at", INT64, nullable=False),
    Column("cold", Boolean, nullable=False),
    Column("removed", Boolean, nullable=False),
    Column("service", NAME, nullable=False),
    Column("runtime", NAME, nullable=False),
    Column("outcome", NAME, nullable=False),
    Column("proof", NAME, nullable=False),
    Column("classes", NAME, nullable=False),
    Column("disposition", INT64, nullable=False),
    Column("status", NAME, nullable=False),
    Column("recheck", INT64, nullable=False),
    Column("rechecked", NAME, nullable=False),
    Column("owed_by", NAME),
    Column("awaits", NAME),
    Index(None, "trial", "id"),
    Index(None, "trial", "public_key", "id"),
    Index(None, "service", "id"),
    Index(None, "accepted_at", "id"),
    Index(None, "owed_by", "trial", "id"),
    Index(None, "awaits", "id"),
)
"""Runs. `owed_by` is the key that owes a recheck, `awaits` the one whose answer is missing."""

reviews = Table(
    "trials_reviews",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),
    Column("public_key", NAME, nullable=False),
    Column("tool", NAME, nullable=False),
    Column("accepted_at", INT64, nullable=False),
    Column("runtime", NAME, nullable=False),
    Column("classes", NAME, nullable=False),
    Index(None, "public_key", "tool", "id"),
    Index(None, "accepted_at", "id"),
)
"""Reviews that stand; the latest of each key and tool is counted."""

services = Table(
    "trials_services",
    METADATA,
    Column("service", NAME, primary_key=True),
    Column("trials", INT64, nullable=False),
    Column("proven", INT64, nullable=False),
    Column("unproven", Boolean, nullable=False),
    Index(None, "unproven", "service"),
)
"""Services. `unproven` is that none of its trials is proven."""

replies = Table(
    "trials_replies",
    METADATA,
    Column("public_key", NAME, primary_key=True),
    Column("id", INT64, primary_key=True, autoincrement=False),
)
"""Messages that answer one of a key, by other keys."""

cells = Table(
    "trials_cells",
    METADATA,
    Column("cell", NAME, primary_key=True),
    Column("ranked", NAME),
    Column("posts", INT64, nullable=False),
    Column("keys", INT64, nullable=False),
    Index(None, "ranked", "posts", "cell"),
)
"""What is counted: posts and distinct keys of each cell. `ranked` is the scope that it ranks in."""

marks = Table(
    "trials_marks",
    METADATA,
    Column("public_key", NAME, primary_key=True),
    Column("cell", NAME, primary_key=True),
    Column("posts", INT64, nullable=False),
    Index(None, "cell"),
)
"""Which keys are counted in a cell, and for how many posts."""
