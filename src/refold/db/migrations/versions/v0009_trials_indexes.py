"""Step 0009, of trials: the indexes."""

from alembic import op
from sqlalchemy import Boolean, Column, PrimaryKeyConstraint

from refold.db.types import BYTES, INT64, NAME

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Make the tables."""
    _posts()
    _runs()
    op.create_table(
        "trials_services",
        Column("service", NAME, nullable=False),
        Column("trials", INT64, nullable=False),
        Column("proven", INT64, nullable=False),
        Column("unproven", Boolean, nullable=False),
        PrimaryKeyConstraint("service", name="pk_trials_services"),
    )
    op.create_table(
        "trials_replies",
        Column("public_key", NAME, nullable=False),
        Column("id", INT64, nullable=False, autoincrement=False),
        PrimaryKeyConstraint("public_key", "id", name="pk_trials_replies"),
    )
    op.create_table(
        "trials_cells",
        Column("cell", NAME, nullable=False),
        Column("ranked", NAME),
        Column("posts", INT64, nullable=False),
        Column("keys", INT64, nullable=False),
        PrimaryKeyConstraint("cell", name="pk_trials_cells"),
    )
    op.create_table(
        "trials_marks",
        Column("public_key", NAME, nullable=False),
        Column("cell", NAME, nullable=False),
        Column("posts", INT64, nullable=False),
        PrimaryKeyConstraint("public_key", "cell", name="pk_trials_marks"),
    )
    _index("services", "unproven", "service")
    _index("cells", "ranked", "posts", "cell")
    _index("marks", "cell")
    _index("keys", "admitted_at")


def _posts() -> None:
    op.create_table(
        "trials_posts",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("kind", NAME, nullable=False),
        Column("public_key", NAME, nullable=False),
        Column("run", INT64, nullable=False),
        Column("said", BYTES),
        PrimaryKeyConstraint("id", name="pk_trials_posts"),
    )
    op.create_table(
        "trials_trials",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("public_key", NAME, nullable=False),
        Column("service", NAME, nullable=False),
        Column("closes", INT64, nullable=False),
        Column("proven", Boolean, nullable=False),
        PrimaryKeyConstraint("id", name="pk_trials_trials"),
    )
    _index("posts", "public_key", "id")
    _index("posts", "run", "id")
    _index("trials", "proven", "closes", "id")
    _index("trials", "public_key", "closes")
    _index("trials", "service", "id")


def _runs() -> None:
    op.create_table(
        "trials_runs",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("trial", INT64, nullable=False),
        Column("public_key", NAME, nullable=False),
        Column("publisher", NAME, nullable=False),
        Column("accepted_at", INT64, nullable=False),
        Column("cold", Boolean, nullable=False),
        Column("removed", Boolean, nullable=False),
        Column("service", NAME, nullable=False),
        Column("runtime", NAME, nullable=False),
        Column("outcome", NAME, nullable=False),
        Column("proof", NAME, nullable=False),
        Column("classes", NAME, nullable=False),
        Column("disposition", INT64, nullable=False),
        Column("status", NAME, nullable=False),
        Column("recheck", INT64, nullable=False),
        Column("rechecked", NAME, nullable=False),
        Column("owed_by", NAME),
        Column("awaits", NAME),
        PrimaryKeyConstraint("id", name="pk_trials_runs"),
    )
    op.create_table(
        "trials_reviews",
        Column("id", INT64, nullable=False, autoincrement=False),
        Column("public_key", NAME, nullable=False),
        Column("tool", NAME, nullable=False),
        Column("accepted_at", INT64, nullable=False),
        Column("runtime", NAME, nullable=False),
        Column("classes", NAME, nullable=False),
        PrimaryKeyConstraint("id", name="pk_trials_reviews"),
    )
    _index("runs", "trial", "id")
    _index("runs", "trial", "public_key", "id")
    _index("runs", "service", "id")
    _index("runs", "accepted_at", "id")
    _index("runs", "owed_by", "trial", "id")
    _index("runs", "awaits", "id")
    _index("reviews", "public_key", "tool", "id")
    _index("reviews", "accepted_at", "id")


def _index(table: str, *columns: str) -> None:
    name = f"trials_{table}"
    op.create_index(f"ix_{name}_{'_'.join(columns)}", name, list(columns))
