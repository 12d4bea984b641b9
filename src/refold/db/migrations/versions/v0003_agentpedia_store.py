"""Step 0003, of agentpedia: values, histories, links, digests, how far the fold came, snapshots."""

from alembic import op
from sqlalchemy import Boolean, Column, PrimaryKeyConstraint, UniqueConstraint

from refold.db.types import BYTES, INT64, NAME

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables."""
    _records()
    _rulings()
    _disputes()
    _others()
    _histories()
    _fold()


def _line(table: str, *columns: Column[object]) -> None:
    op.create_table(
        table,
        Column("key", NAME, nullable=False),
        Column("long_key", NAME),
        Column("sha256", NAME, nullable=False),
        *columns,
        Column("value", BYTES, nullable=False),
        PrimaryKeyConstraint("key", name=f"pk_{table}"),
    )


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns))


def _records() -> None:
    _line(
        "agentpedia_entries",
        Column("record", INT64, nullable=False),
        Column("lang", NAME, nullable=False),
        Column("title", NAME, nullable=False),
        Column("status", NAME, nullable=False),
        Column("quality", NAME, nullable=False),
        Column("featured", INT64, nullable=False),
        Column("head", NAME, nullable=False),
        Column("display_head", NAME, nullable=False),
        Column("updated", INT64, nullable=False),
    )
    _index("agentpedia_entries", "record")
    for first in ((), ("lang",)):
        _index("agentpedia_entries", *first, "updated", "key")
        _index("agentpedia_entries", *first, "featured", "updated", "key")
        _index("agentpedia_entries", *first, "title", "key")
    _line("agentpedia_displaced", Column("record", INT64, nullable=False))
    _index("agentpedia_displaced", "record")
    _line("agentpedia_editors", Column("reputation", INT64, nullable=False))
    _index("agentpedia_editors", "reputation", "key")


def _rulings() -> None:
    _line(
        "agentpedia_proposals",
        Column("state", NAME, nullable=False),
        Column("opened_at", INT64, nullable=False),
        Column("expires_at", INT64, nullable=False),
        Column("sender", NAME, nullable=False),
        Column("entry_key", NAME, nullable=False),
        Column("challenge", NAME, nullable=False),
    )
    _index("agentpedia_proposals", "challenge")
    _index("agentpedia_proposals", "opened_at", "key")
    _index("agentpedia_proposals", "state", "opened_at", "key")
    _index("agentpedia_proposals", "entry_key", "opened_at", "key")
    _line(
        "agentpedia_param_proposals",
        Column("state", NAME, nullable=False),
        Column("opened_at", INT64, nullable=False),
        Column("expires_at", INT64, nullable=False),
        Column("sender", NAME, nullable=False),
    )
    _index("agentpedia_param_proposals", "opened_at", "key")
    _index("agentpedia_param_proposals", "state", "opened_at", "key")


def _disputes() -> None:
    for table in ("agentpedia_challenges", "agentpedia_reviews"):
        _line(table, Column("target", NAME, nullable=False))
        _index(table, "target", "key")


def _others() -> None:
    op.create_table(
        "agentpedia_graves",
        Column("key", NAME, nullable=False),
        Column("long_key", NAME),
        Column("sha256", NAME, nullable=False),
        Column("reason", NAME, nullable=False),
        Column("position", INT64, nullable=False),
        Column("value", BYTES, nullable=False),
        PrimaryKeyConstraint("key", name="pk_agentpedia_graves"),
        UniqueConstraint("position", name="uq_agentpedia_graves_position"),
    )
    _index("agentpedia_graves", "reason", "position")
    op.create_table(
        "agentpedia_others",
        Column("key", NAME, nullable=False),
        Column("long_key", NAME),
        Column("sha256", NAME, nullable=False),
        Column("section", NAME, nullable=False),
        Column("value", BYTES, nullable=False),
        PrimaryKeyConstraint("key", "section", name="pk_agentpedia_others"),
    )
    _index("agentpedia_others", "section", "key")


def _histories() -> None:
    op.create_table(
        "agentpedia_history",
        Column("record", INT64, nullable=False, autoincrement=False),
        Column("place", INT64, nullable=False, autoincrement=False),
        Column("name", NAME, nullable=False),
        Column("seq", INT64),
        Column("height", INT64),
        Column("author", NAME),
        Column("long_author", NAME),
        Column("content_hash", NAME),
        Column("parent_rev", NAME),
        Column("entry_key", NAME),
        Column("equivalent_of", NAME),
        Column("title", NAME),
        Column("size", INT64),
        Column("refs_found", INT64),
        Column("content_ref", NAME),
        Column("text_pin", NAME),
        PrimaryKeyConstraint("record", "place", name="pk_agentpedia_history"),
        UniqueConstraint("name", name="uq_agentpedia_history_name"),
        sqlite_with_rowid=False,
    )
    _index("agentpedia_history", "author", "seq", "record", "place")
    op.create_table(
        "agentpedia_links",
        Column("from_entry", NAME, nullable=False),
        Column("to_key", NAME, nullable=False),
        Column("from_rev", NAME, nullable=False),
        PrimaryKeyConstraint("from_entry", "to_key", name="pk_agentpedia_links"),
        sqlite_with_rowid=False,
    )
    _index("agentpedia_links", "to_key", "from_entry")
    op.create_table(
        "agentpedia_shown",
        Column("key", NAME, nullable=False),
        Column("rev", NAME, nullable=False),
        Column("waits_for", NAME, nullable=False),
        Column("is_stale", Boolean, nullable=False),
        PrimaryKeyConstraint("key", name="pk_agentpedia_shown"),
    )
    _index("agentpedia_shown", "waits_for")
    _index("agentpedia_shown", "is_stale", "key")


def _fold() -> None:
    op.create_table(
        "agentpedia_digests",
        Column("height", INT64, nullable=False, autoincrement=False),
        Column("digest", NAME, nullable=False),
        Column("events", INT64, nullable=False),
        Column("lines", INT64, nullable=False),
        PrimaryKeyConstraint("height", name="pk_agentpedia_digests"),
    )
    op.create_table(
        "agentpedia_folded",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("rules", NAME, nullable=False),
        Column("options", NAME, nullable=False),
        Column("height", INT64, nullable=False),
        Column("event_height", INT64, nullable=False),
        Column("event_tx_index", INT64, nullable=False),
        Column("event_pin", NAME, nullable=False),
        Column("digest", NAME, nullable=False),
        PrimaryKeyConstraint("id", name="pk_agentpedia_folded"),
    )
    op.create_table(
        "agentpedia_snapshots",
        Column("height", INT64, nullable=False, autoincrement=False),
        Column("format", INT64, nullable=False),
        Column("options", NAME, nullable=False),
        Column("sha256", NAME, nullable=False),
        Column("size", INT64, nullable=False),
        Column("chunks", INT64, nullable=False),
        PrimaryKeyConstraint("height", name="pk_agentpedia_snapshots"),
    )
    op.create_table(
        "agentpedia_chunks",
        Column("height", INT64, nullable=False, autoincrement=False),
        Column("number", INT64, nullable=False, autoincrement=False),
        Column("bytes", BYTES, nullable=False),
        PrimaryKeyConstraint("height", "number", name="pk_agentpedia_chunks"),
    )
