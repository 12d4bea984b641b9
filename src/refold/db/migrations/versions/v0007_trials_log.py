"""Step 0007, of trials: the log of accepted messages."""

from alembic import op
from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    PrimaryKeyConstraint,
    UniqueConstraint,
)

from refold.db.types import BYTES, INT64, NAME

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables."""
    _messages()
    op.create_table(
        "trials_tiles",
        Column("level", INT64, nullable=False, autoincrement=False),
        Column("number", INT64, nullable=False, autoincrement=False),
        Column("hashes", BYTES, nullable=False),
        PrimaryKeyConstraint("level", "number", name="pk_trials_tiles"),
    )
    op.create_table(
        "trials_checkpoints",
        Column("size", INT64, nullable=False, autoincrement=False),
        Column("signed_at", INT64, nullable=False),
        Column("note", NAME, nullable=False),
        PrimaryKeyConstraint("size", name="pk_trials_checkpoints"),
    )
    op.create_table(
        "trials_log_keys",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("name", NAME, nullable=False),
        Column("public_key", NAME, nullable=False),
        Column("since", INT64, nullable=False),
        Column("since_size", INT64, nullable=False),
        Column("statement", NAME),
        PrimaryKeyConstraint("id", name="pk_trials_log_keys"),
        UniqueConstraint("public_key", name="uq_trials_log_keys_public_key"),
    )


def _messages() -> None:
    op.create_table(
        "trials_messages",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("accepted_at", INT64, nullable=False),
        Column("digest", NAME, nullable=False),
        Column("kind", NAME, nullable=False),
        Column("room", NAME, nullable=False),
        Column("reply_to", INT64),
        Column("thread", INT64, nullable=False),
        Column("public_key", NAME, nullable=False),
        Column("signature", NAME, nullable=False),
        PrimaryKeyConstraint("id", name="pk_trials_messages"),
        UniqueConstraint("digest", name="uq_trials_messages_digest"),
    )
    for column in ("room", "thread", "public_key"):
        op.create_index(f"ix_trials_messages_{column}_id", "trials_messages", [column, "id"])
    op.create_table(
        "trials_texts",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("content", NAME, nullable=False),
        PrimaryKeyConstraint("id", name="pk_trials_texts"),
        ForeignKeyConstraint(["id"], ["trials_messages.id"], name="fk_trials_texts_id"),
    )
