"""Step 0009, of trials: the indexes."""

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Make the tables."""
