"""Step 0002, of metaid: walks in progress, gaps, indexers, readers, and who placed a pin."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint

from refold.db.types import INT64, NAME, AnyText

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add columns and tables."""
    op.add_column("metaid_pins", Column("placed_by", AnyText))
    for name in ("began", "floor", "full_at"):
        op.add_column("metaid_cursors", Column(name, INT64))
    op.create_table(
        "metaid_gaps",
        Column("indexer", AnyText, nullable=False),
        Column("pin", NAME, nullable=False),
        Column("path", AnyText, nullable=False),
        Column("height", INT64),
        Column("code", AnyText, nullable=False),
        Column("message", AnyText, nullable=False),
        Column("tries", INT64, nullable=False),
        Column("first", INT64, nullable=False),
        Column("last", INT64, nullable=False),
        PrimaryKeyConstraint("indexer", "pin", name="pk_metaid_gaps"),
    )
    op.create_index("ix_metaid_gaps_pin", "metaid_gaps", ["pin"])
    op.create_table(
        "metaid_indexers",
        Column("indexer", AnyText, nullable=False),
        Column("height", INT64),
        Column("answered", INT64),
        Column("current", INT64),
        Column("pins", INT64),
        PrimaryKeyConstraint("indexer", name="pk_metaid_indexers"),
    )
    op.create_table(
        "metaid_readers",
        Column("reader", NAME, nullable=False),
        Column("paths", NAME, nullable=False),
        Column("changed_from", INT64),
        PrimaryKeyConstraint("reader", name="pk_metaid_readers"),
    )
