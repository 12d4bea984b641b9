"""The tables of the chain side. Each text that a stranger may have written is `AnyText`."""

from sqlalchemy import Boolean, CheckConstraint, Column, ForeignKey, Index, Table

from refold.db import BYTES, INT64, METADATA, NAME, AnyText


def _envelope() -> tuple[Column[object], ...]:
    """Give the columns of a copy of a pin, beside its id and its place."""
    return (
        Column("path", AnyText, nullable=False),
        Column("sender", AnyText, nullable=False),
        Column("operation", AnyText, nullable=False),
        Column("encryption", AnyText, nullable=False),
        Column("version", AnyText, nullable=False),
        Column("content_type", AnyText),
        Column("timestamp", INT64, nullable=False),
        Column("status", INT64, nullable=False),
        Column("history", AnyText, nullable=False),  # "", or a JSON array of ids
        Column("target", AnyText, nullable=False),
        Column("host", AnyText, nullable=False),
        Column("address", AnyText, nullable=False),
        Column("chain", AnyText, nullable=False),
        Column("sha256", NAME, ForeignKey("metaid_bodies.sha256"), nullable=False),
        Column("size", INT64, nullable=False),
        Column("source", AnyText, nullable=False),
    )


bodies = Table(
    "metaid_bodies",
    METADATA,
    Column("sha256", NAME, primary_key=True),
    Column("size", INT64, nullable=False),  # before the bytes, so that it is read without them
    Column("body", BYTES, nullable=False),
)

pins = Table(
    "metaid_pins",
    METADATA,
    Column("pin", NAME, primary_key=True),
    Column("height", INT64),
    Column("tx_index", INT64),
    Column("state", NAME, nullable=False),
    Column("author", NAME),
    Column("placed_by", AnyText),  # null where it is `source`
    *_envelope(),
    CheckConstraint(
        "(state = 'confirmed' AND height IS NOT NULL AND tx_index IS NOT NULL)"
        " OR (state IN ('unconfirmed', 'vanished') AND height IS NULL AND tx_index IS NULL)",
        name="place",
    ),
    Index(None, "height", "tx_index", "pin"),
)
"""Copies that were read out of blocks. None is ever deleted."""

mempool = Table("metaid_mempool", METADATA, Column("pin", NAME, primary_key=True), *_envelope())
"""Copies that nobody has seen in a block. No id is both here and in `pins`."""

moves = Table(
    "metaid_moves",
    METADATA,
    Column("id", INT64, primary_key=True),
    Column("pin", NAME, ForeignKey("metaid_pins.pin"), nullable=False, index=True),
    Column("before_height", INT64),
    Column("before_tx_index", INT64),
    Column("after_height", INT64),
    Column("after_tx_index", INT64),
    Column("source", AnyText, nullable=False),
)
"""The way of each pin that stood at more than one place."""

conflicts = Table(
    "metaid_conflicts",
    METADATA,
    Column("id", INT64, primary_key=True),
    Column("print", NAME, nullable=False, unique=True),
    Column("pin", NAME, nullable=False, index=True),
    Column("height", INT64),
    Column("tx_index", INT64),
    Column("kept_source", AnyText, nullable=False),
    Column("differs", NAME, nullable=False),
    *_envelope(),
)
"""Copies that differ from the one that is held, once each."""

cursors = Table(
    "metaid_cursors",
    METADATA,
    Column("indexer", AnyText, primary_key=True),
    Column("path", AnyText, primary_key=True),
    Column("cursor", AnyText, nullable=False),
    Column("height", INT64),
    Column("is_complete", Boolean, nullable=False),
    Column("began", INT64),
    Column("floor", INT64),
    Column("full_at", INT64),
)

gaps = Table(
    "metaid_gaps",
    METADATA,
    Column("indexer", AnyText, primary_key=True),
    Column("pin", NAME, primary_key=True),
    Column("path", AnyText, nullable=False),
    Column("height", INT64),
    Column("code", AnyText, nullable=False),
    Column("message", AnyText, nullable=False),
    Column("tries", INT64, nullable=False),
    Column("first", INT64, nullable=False),
    Column("last", INT64, nullable=False),
    Index(None, "pin"),
)
"""Pins that an indexer lists and that nobody could read yet. No pin is here and in `pins`."""

indexers = Table(
    "metaid_indexers",
    METADATA,
    Column("indexer", AnyText, primary_key=True),
    Column("height", INT64),
    Column("answered", INT64),
    Column("current", INT64),
    Column("pins", INT64),
)

readers = Table(
    "metaid_readers",
    METADATA,
    Column("reader", NAME, primary_key=True),
    Column("paths", NAME, nullable=False),  # "" for all, or a JSON array
    Column("changed_from", INT64),
)

anchors = Table(
    "metaid_anchors",
    METADATA,
    Column("source", AnyText, primary_key=True),
    Column("height", INT64, primary_key=True, autoincrement=False),
    Column("kind", NAME, nullable=False),
    Column("hash", AnyText, nullable=False),
)


def _fact() -> tuple[Column[object], ...]:
    return (
        Column("state", NAME, nullable=False),
        Column("reason", AnyText, nullable=False),
        Column("detail", AnyText, nullable=False),
        Column("source", AnyText, nullable=False),
        Column("tries", INT64, nullable=False),
        Column("next_try", INT64, index=True),
    )


content_facts = Table(
    "metaid_content_facts",
    METADATA,
    Column("pin", NAME, primary_key=True),
    Column("uri", AnyText, nullable=False),
    Column("expected", AnyText, nullable=False),
    Column("sha256", NAME),
    Column("length", INT64, nullable=False),
    *_fact(),
)

stake_facts = Table(
    "metaid_stake_facts",
    METADATA,
    Column("pin", NAME, primary_key=True),
    Column("txid", AnyText, nullable=False),
    Column("amount", INT64, nullable=False),
    Column("found", INT64),
    *_fact(),
)
