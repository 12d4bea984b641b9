"""The rules for what an operator does: every block and tombstone has a reason, which is public."""

from typing import Final

from refold.kernel.errors import InputError

__all__ = ["MAX_REASON", "checked_reason"]

MAX_REASON: Final = 500
"""Code points of a reason: a sentence or two, on one line."""


def checked_reason(reason: str) -> str:
    """Give a reason without outer whitespace. Raises InputError `reason-form`."""
    found = reason.strip()
    if not found or len(found) > MAX_REASON or not found.isprintable():
        raise InputError(
            "reason-form",
            "the reason is public, and has to be there",
            f"say it in one line of 1 to {MAX_REASON} characters",
        )
    return found
