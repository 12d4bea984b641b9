"""Step 0001, of metaid: pins, bodies, moves, conflicts, cursors, anchors, facts."""

from alembic import op
from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    PrimaryKeyConstraint,
    UniqueConstraint,
)

from refold.db.types import BYTES, INT64, NAME, AnyText

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "metaid_bodies",
        Column("sha256", NAME, nullable=False),
        Column("size", INT64, nullable=False),
        Column("body", BYTES, nullable=False),
        PrimaryKeyConstraint("sha256", name="pk_metaid_bodies"),
    )
    op.create_table(
        "metaid_pins",
        Column("pin", NAME, nullable=False),
        Column("height", INT64),
        Column("tx_index", INT64),
        Column("state", NAME, nullable=False),
        Column("author", NAME),
        *_envelope("metaid_pins"),
        PrimaryKeyConstraint("pin", name="pk_metaid_pins"),
        CheckConstraint(
            "(state = 'confirmed' AND height IS NOT NULL AND tx_index IS NOT NULL)"
            " OR (state IN ('unconfirmed', 'vanished') AND height IS NULL AND tx_index IS NULL)",
            name=op.f("ck_metaid_pins_place"),
        ),
    )
    op.create_index(
        "ix_metaid_pins_height_tx_index_pin", "metaid_pins", ["height", "tx_index", "pin"]
    )
    op.create_table(
        "metaid_mempool",
        Column("pin", NAME, nullable=False),
        *_envelope("metaid_mempool"),
        PrimaryKeyConstraint("pin", name="pk_metaid_mempool"),
    )
    op.create_table(
        "metaid_moves",
        Column("id", INT64, nullable=False),
        Column("pin", NAME, nullable=False),
        Column("before_height", INT64),
        Column("before_tx_index", INT64),
        Column("after_height", INT64),
        Column("after_tx_index", INT64),
        Column("source", AnyText, nullable=False),
        PrimaryKeyConstraint("id", name="pk_metaid_moves"),
        ForeignKeyConstraint(["pin"], ["metaid_pins.pin"], name="fk_metaid_moves_pin"),
    )
    op.create_index("ix_metaid_moves_pin", "metaid_moves", ["pin"])
    op.create_table(
        "metaid_conflicts",
        Column("id", INT64, nullable=False),
        Column("print", NAME, nullable=False),
        Column("pin", NAME, nullable=False),
        Column("height", INT64),
        Column("tx_index", INT64),
        Column("kept_source", AnyText, nullable=False),
        Column("differs", NAME, nullable=False),
        *_envelope("metaid_conflicts"),
        PrimaryKeyConstraint("id", name="pk_metaid_conflicts"),
        UniqueConstraint("print", name="uq_metaid_conflicts_print"),
    )
    op.create_index("ix_metaid_conflicts_pin", "metaid_conflicts", ["pin"])
    op.create_table(
        "metaid_cursors",
        Column("indexer", AnyText, nullable=False),
        Column("path", AnyText, nullable=False),
        Column("cursor", AnyText, nullable=False),
        Column("height", INT64),
        Column("is_complete", Boolean, nullable=False),
        PrimaryKeyConstraint("indexer", "path", name="pk_metaid_cursors"),
    )
    op.create_table(
        "metaid_anchors",
        Column("source", AnyText, nullable=False),
        Column("height", INT64, nullable=False, autoincrement=False),
        Column("kind", NAME, nullable=False),
        Column("hash", AnyText, nullable=False),
        PrimaryKeyConstraint("source", "height", name="pk_metaid_anchors"),
    )
    _facts()


def _envelope(table: str) -> tuple[Column[object] | ForeignKeyConstraint, ...]:
    return (
        Column("path", AnyText, nullable=False),
        Column("sender", AnyText, nullable=False),
        Column("operation", AnyText, nullable=False),
        Column("encryption", AnyText, nullable=False),
        Column("version", AnyText, nullable=False),
        Column("content_type", AnyText),
        Column("timestamp", INT64, nullable=False),
        Column("status", INT64, nullable=False),
        Column("history", AnyText, nullable=False),
        Column("target", AnyText, nullable=False),
        Column("host", AnyText, nullable=False),
        Column("address", AnyText, nullable=False),
        Column("chain", AnyText, nullable=False),
        Column("sha256", NAME, nullable=False),
        Column("size", INT64, nullable=False),
        Column("source", AnyText, nullable=False),
        ForeignKeyConstraint(["sha256"], ["metaid_bodies.sha256"], name=f"fk_{table}_sha256"),
    )


def _facts() -> None:
    op.create_table(
        "metaid_content_facts",
        Column("pin", NAME, nullable=False),
        Column("uri", AnyText, nullable=False),
        Column("expected", AnyText, nullable=False),
        Column("sha256", NAME),
        Column("length", INT64, nullable=False),
        *_fact(),
        PrimaryKeyConstraint("pin", name="pk_metaid_content_facts"),
    )
    op.create_index("ix_metaid_content_facts_next_try", "metaid_content_facts", ["next_try"])
    op.create_table(
        "metaid_stake_facts",
        Column("pin", NAME, nullable=False),
        Column("txid", AnyText, nullable=False),
        Column("amount", INT64, nullable=False),
        Column("found", INT64),
        *_fact(),
        PrimaryKeyConstraint("pin", name="pk_metaid_stake_facts"),
    )
    op.create_index("ix_metaid_stake_facts_next_try", "metaid_stake_facts", ["next_try"])


def _fact() -> tuple[Column[object], ...]:
    return (
        Column("state", NAME, nullable=False),
        Column("reason", AnyText, nullable=False),
        Column("detail", AnyText, nullable=False),
        Column("source", AnyText, nullable=False),
        Column("tries", INT64, nullable=False),
        Column("next_try", INT64),
    )
