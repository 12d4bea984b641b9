"""Step 0008, of trials: keys, admission, moderation."""

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the tables."""
