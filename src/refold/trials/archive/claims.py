"""What a check of an archive, a record or a checkpoint shows, and what it does not.

Printed with every result: who reads that something is verified must not read more into it than is
there. Source: cold trials spec §§4, 5; facts B1, C6; the format text, what the format cannot prove.
"""

from typing import Final, Literal

from refold.trials.rules import NOT_PROVEN as OF_THE_FORMAT

__all__ = ["NOT_PROVEN", "PROVEN", "Kind"]

Kind = Literal["archive", "record", "checkpoint"]

_KEY: Final = (
    "That the key which you gave is the node's: this check begins with it. Get it from somebody "
    "other than whoever gave you this file."
)
_TIME: Final = (
    "The times: they are the node's clock. They are in the tree, so they cannot be changed later, "
    "and they never go back."
)
_VIEW: Final = (
    "That the node shows everybody the same log: compare its checkpoint with one that somebody "
    "else holds."
)
_REMOVED: Final = (
    "Of a message whose text was removed: its key, kind, room, place and closing time. Its id, "
    "time, digest and signature are in the tree."
)
_STATED: Final = (
    "Names of keys, when they were admitted, what the operator did and when, when checkpoints were "
    "signed, when the first key of the log began: they are the node's word."
)
_UNDER: Final = (
    "Which messages are under the root: an archive, a record or the proof of a message shows that."
)

PROVEN: Final[dict[Kind, str]] = {
    "archive": "Every text was signed by its key, every message is in the tree that the node signed"
    " at its id, in this order, and none is missing up to that size.",
    "record": "Every text was signed by this key, and every post is in the tree that the node"
    " signed, at its id and with its time.",
    "checkpoint": "The key signed this size and this root.",
}
"""What was shown, if nothing was wrong."""

NOT_PROVEN: Final[dict[Kind, tuple[str, ...]]] = {
    "archive": (
        _KEY,
        _TIME,
        _VIEW,
        _STATED,
        _REMOVED,
        OF_THE_FORMAT,
    ),
    "record": (
        _KEY,
        _TIME,
        _VIEW,
        "That the record is complete: a node can leave posts out of it. Its archive cannot.",
        "Everything that it says beside the signed texts: names, counts, states of rechecks.",
        _REMOVED,
        OF_THE_FORMAT,
    ),
    "checkpoint": (
        _KEY,
        _VIEW,
        _UNDER,
        "When it was signed.",
    ),
}
"""What was not shown, by what was checked."""
