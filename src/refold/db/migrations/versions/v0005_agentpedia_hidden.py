"""Step 0005, of agentpedia: what the operator hides."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint

from refold.db.types import INT64, NAME, AnyText

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "agentpedia_hidden",
        Column("kind", NAME, nullable=False),
        Column("name", NAME, nullable=False),
        Column("reason", AnyText, nullable=False),
        Column("since", INT64, nullable=False),
        PrimaryKeyConstraint("kind", "name", name="pk_agentpedia_hidden"),
    )
    op.create_table(
        "agentpedia_hidden_changes",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("changes", INT64, nullable=False),
        PrimaryKeyConstraint("id", name="pk_agentpedia_hidden_changes"),
    )
