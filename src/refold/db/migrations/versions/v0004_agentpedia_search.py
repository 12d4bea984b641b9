"""Step 0004, of agentpedia: the search index."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint

from refold.db.types import BYTES, INT64, NAME

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "agentpedia_search_documents",
        Column("number", INT64, nullable=False, autoincrement=False),
        Column("key", NAME, nullable=False),
        Column("lang", NAME, nullable=False),
        Column("stream", BYTES, nullable=False),
        PrimaryKeyConstraint("number", name="pk_agentpedia_search_documents"),
    )
    op.create_index(
        "ix_agentpedia_search_documents_key", "agentpedia_search_documents", ["key"], unique=True
    )
    op.create_table(
        "agentpedia_search_terms",
        Column("term", NAME, nullable=False),
        Column("documents", INT64, nullable=False),
        Column("head", BYTES, nullable=False),
        PrimaryKeyConstraint("term", name="pk_agentpedia_search_terms"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "agentpedia_search_blocks",
        Column("term", NAME, nullable=False),
        Column("first", INT64, nullable=False, autoincrement=False),
        Column("block", BYTES, nullable=False),
        PrimaryKeyConstraint("term", "first", name="pk_agentpedia_search_blocks"),
        sqlite_with_rowid=False,
    )
