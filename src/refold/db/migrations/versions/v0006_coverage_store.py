"""Step 0006, of coverage: stored receipts, jobs, judgements."""

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables."""
