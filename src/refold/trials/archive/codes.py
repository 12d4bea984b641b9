"""What can be wrong with something that was exported, and the exit code of each.

The last part of a code is the question that was answered with no. Source: cold trials spec §3;
docs/trials-exchange.md.
"""

from typing import Final

import msgspec

from refold.kernel.errors import InputError, Problem

__all__ = ["WRONGS", "Wrong", "exit_of", "wrong"]


class Wrong(msgspec.Struct, frozen=True):
    """One way to be wrong: the exit code of a command that meets it, what it says, the remedy."""

    exit: int
    says: str
    remedy: str


WRONGS: Final = {
    "archive-damaged": Wrong(
        10,
        "It is not what was written: a line is no line of the format, or its hash does not fit.",
        "fetch it again",
    ),
    "archive-cut": Wrong(11, "It ends too early.", "fetch the rest, and run the command again"),
    "archive-size": Wrong(
        12, "A size, an id or an index is no number that fits there.", "do not trust it"
    ),
    "archive-key": Wrong(
        13, "The key that was given has not signed it.", "do not trust it; ask its node for the key"
    ),
    "archive-signature": Wrong(
        14, "A message is not what its key signed.", "do not trust it"
    ),
    "archive-tree": Wrong(
        15, "It is not what the log's key signed: another leaf, order or root.", "do not trust it"
    ),
    "archive-refused": Wrong(
        16, "A message breaks a rule of this node, at the time that it was taken.", "see the codes"
    ),
    "archive-diverges": Wrong(
        17, "It tells otherwise what is stored here already.", "find out which of both is true"
    ),
}  # fmt: skip
"""Every code, in the order in which an archive is looked at."""


def wrong(code: str, message: str, line: int | None = None) -> InputError:
    """Give the error with one of these codes; `line` counts from 1."""
    return InputError.of([Problem(code, message, WRONGS[code].remedy, line=line)])


def exit_of(error: InputError) -> int:
    """Give the exit code of an error: its own, or that of invalid input."""
    found = WRONGS.get(error.code)
    return int(error.exit_code) if found is None else found.exit
