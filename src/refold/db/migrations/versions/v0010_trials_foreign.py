"""Step 0010, of trials: messages of other nodes."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint

from refold.db.types import INT64, NAME, AnyText

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "trials_origins",
        Column("origin", NAME, nullable=False),
        Column("verifier", NAME, nullable=False),
        Column("size", INT64, nullable=False),
        Column("target", INT64, nullable=False),
        Column("checkpoint", NAME, nullable=False),
        Column("imported_at", INT64, nullable=False),
        PrimaryKeyConstraint("origin", name="pk_trials_origins"),
    )
    op.create_table(
        "trials_foreign",
        Column("origin", NAME, nullable=False),
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("accepted_at", INT64, nullable=False),
        Column("digest", NAME, nullable=False),
        Column("room", AnyText, nullable=False),
        Column("reply_to", INT64),
        Column("public_key", NAME, nullable=False),
        Column("signature", NAME, nullable=False),
        Column("content", AnyText),
        PrimaryKeyConstraint("origin", "id", name="pk_trials_foreign"),
    )
