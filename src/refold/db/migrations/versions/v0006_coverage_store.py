"""Step 0006, of coverage: stored receipts, their judgements, and the jobs that verify."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint, UniqueConstraint

from refold.db.types import BYTES, INT64, NAME, AnyText

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "coverage_records",
        Column("hash", NAME, nullable=False),
        Column("body", BYTES, nullable=False),
        PrimaryKeyConstraint("hash", name="pk_coverage_records"),
    )
    _make_receipts()
    op.create_table(
        "coverage_pins",
        Column("pin", NAME, nullable=False),
        Column("receipt", NAME, nullable=False),
        Column("writer", NAME, nullable=False),
        Column("height", INT64),
        PrimaryKeyConstraint("pin", name="pk_coverage_pins"),
    )
    _index("coverage_pins", "receipt", "height", "pin")
    _index("coverage_pins", "height", "pin")
    _index("coverage_pins", "writer", "receipt")
    op.create_table(
        "coverage_refused",
        Column("pin", NAME, nullable=False),
        Column("height", INT64, nullable=False),
        Column("indexer", AnyText, nullable=False),
        Column("version", NAME, nullable=False),
        Column("proved", INT64, nullable=False),
        Column("at", NAME, nullable=False),
        PrimaryKeyConstraint("pin", name="pk_coverage_refused"),
    )
    _index("coverage_refused", "at", "pin")
    op.create_table(
        "coverage_judgements",
        Column("receipt", NAME, nullable=False),
        Column("number", INT64, nullable=False, autoincrement=False),
        Column("judgement", NAME, nullable=False),
        Column("coverage", NAME, nullable=False),
        Column("reasons", NAME, nullable=False),
        Column("at", NAME, nullable=False),
        PrimaryKeyConstraint("receipt", "number", name="pk_coverage_judgements"),
    )
    op.create_table(
        "coverage_reports",
        Column("receipt", NAME, nullable=False),
        Column("body", BYTES, nullable=False),
        PrimaryKeyConstraint("receipt", name="pk_coverage_reports"),
    )
    op.create_table(
        "coverage_equivocations",
        Column("first", NAME, nullable=False),
        Column("second", NAME, nullable=False),
        Column("place", INT64, nullable=False, autoincrement=False),
        Column("operator", AnyText, nullable=False),
        Column("locator", AnyText, nullable=False),
        Column("frame", NAME, nullable=False),
        Column("first_digest", NAME, nullable=False),
        Column("second_digest", NAME, nullable=False),
        Column("found_at", NAME, nullable=False),
        PrimaryKeyConstraint("first", "second", "place", name="pk_coverage_equivocations"),
    )
    _index("coverage_equivocations", "second", "first", "place")
    _make_jobs()
    op.create_table(
        "coverage_totals",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("receipts", INT64, nullable=False),
        Column("bytes", INT64, nullable=False),
        PrimaryKeyConstraint("id", name="pk_coverage_totals"),
    )
    op.create_table(
        "coverage_hidden",
        Column("hash", NAME, nullable=False),
        Column("reason", AnyText, nullable=False),
        Column("since", NAME, nullable=False),
        PrimaryKeyConstraint("hash", name="pk_coverage_hidden"),
    )


def _make_receipts() -> None:
    op.create_table(
        "coverage_receipts",
        Column("hash", NAME, nullable=False),
        Column("number", INT64, nullable=False),
        Column("size", INT64, nullable=False),
        Column("stored_at", NAME, nullable=False),
        Column("origin", NAME, nullable=False),
        Column("claim", NAME, nullable=False),
        Column("kind", AnyText, nullable=False),
        Column("question", AnyText, nullable=False),
        Column("asked", NAME, nullable=False),
        Column("query_hash", NAME, nullable=False),
        Column("as_of", NAME, nullable=False),
        Column("valid_until", NAME, nullable=False),
        Column("supersedes", NAME, nullable=False),
        Column("signing_window", NAME, nullable=False),
        Column("judgement", NAME, nullable=False),
        Column("coverage", NAME, nullable=False),
        Column("judged_at", NAME, nullable=False),
        Column("checked_at", NAME, nullable=False),
        Column("failures", INT64, nullable=False),
        Column("due_at", NAME),
        PrimaryKeyConstraint("hash", name="pk_coverage_receipts"),
        UniqueConstraint("number", name="uq_coverage_receipts_number"),
    )
    for name in ("query_hash", "claim", "judgement", "kind", "supersedes", "signing_window"):
        _index("coverage_receipts", name, "number")
    _index("coverage_receipts", "due_at", "number")
    _index("coverage_receipts", "checked_at")


def _make_jobs() -> None:
    op.create_table(
        "coverage_jobs",
        Column("id", NAME, nullable=False),
        Column("number", INT64, nullable=False),
        Column("receipt", NAME, nullable=False),
        Column("running", NAME),
        Column("origin", NAME, nullable=False),
        Column("asker", NAME, nullable=False),
        Column("shared", INT64, nullable=False),
        Column("sources", INT64, nullable=False),
        Column("state", NAME, nullable=False),
        Column("cancel", INT64, nullable=False),
        Column("attempts", INT64, nullable=False),
        Column("made_at", NAME, nullable=False),
        Column("began_at", NAME, nullable=False),
        Column("ended_at", NAME, nullable=False),
        Column("unit", AnyText, nullable=False),
        Column("pages", INT64, nullable=False),
        Column("rows", INT64, nullable=False),
        Column("requests", INT64, nullable=False),
        Column("code", NAME, nullable=False),
        PrimaryKeyConstraint("id", name="pk_coverage_jobs"),
        UniqueConstraint("number", name="uq_coverage_jobs_number"),
        UniqueConstraint("running", name="uq_coverage_jobs_running"),
    )
    _index("coverage_jobs", "receipt", "number")
    _index("coverage_jobs", "state", "origin", "number")
    op.create_table(
        "coverage_job_reports",
        Column("job", NAME, nullable=False),
        Column("body", BYTES, nullable=False),
        PrimaryKeyConstraint("job", name="pk_coverage_job_reports"),
    )


def _index(table: str, *columns: str) -> None:
    op.create_index("_".join(("ix", table, *columns)), table, columns)
