"""Step 0007, of trials: the log of accepted messages."""

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables."""
