"""Step 0008, of trials: keys, admission, moderation."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint

from refold.db.types import INT64, NAME, AnyText

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "trials_keys",
        Column("public_key", NAME, nullable=False),
        Column("name", AnyText, nullable=False),
        Column("admitted_at", INT64, nullable=False),
        Column("revoked_by", INT64),
        PrimaryKeyConstraint("public_key", name="pk_trials_keys"),
    )
    op.create_table(
        "trials_challenges",
        Column("id", NAME, nullable=False),
        Column("answer", NAME, nullable=False),
        Column("wrong", NAME, nullable=False),
        Column("expires", INT64, nullable=False),
        PrimaryKeyConstraint("id", name="pk_trials_challenges"),
    )
    op.create_index("ix_trials_challenges_expires", "trials_challenges", ["expires"])
    op.create_table(
        "trials_closings",
        Column("trial", INT64, nullable=False, autoincrement=False),
        Column("closes", INT64, nullable=False),
        PrimaryKeyConstraint("trial", name="pk_trials_closings"),
    )
    op.create_table(
        "trials_blocks",
        Column("public_key", NAME, nullable=False),
        Column("since", INT64, nullable=False),
        PrimaryKeyConstraint("public_key", name="pk_trials_blocks"),
    )
    op.create_table(
        "trials_tombstones",
        Column("message", INT64, nullable=False, autoincrement=False),
        Column("since", INT64, nullable=False),
        PrimaryKeyConstraint("message", name="pk_trials_tombstones"),
    )
    op.create_table(
        "trials_moderation",
        Column("id", INT64, nullable=False),
        Column("action", NAME, nullable=False),
        Column("subject", NAME, nullable=False),
        Column("reason", AnyText, nullable=False),
        Column("at", INT64, nullable=False),
        PrimaryKeyConstraint("id", name="pk_trials_moderation"),
    )
    op.create_table(
        "trials_key_changes",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("changes", INT64, nullable=False),
        PrimaryKeyConstraint("id", name="pk_trials_key_changes"),
    )
