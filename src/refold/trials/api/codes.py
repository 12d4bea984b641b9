"""What the routes of cold trials may answer with, and their limits."""

from refold.serving.codes import Code
from refold.serving.limits import Limit
from refold.trials.admission import ADMISSION_CODES, CHALLENGE_SECONDS, MAX_NAME
from refold.trials.api.feed import MAX_OF_NETWORK
from refold.trials.codes import CODES as POST_CODES
from refold.trials.node import Node
from refold.trials.posting import MAX_BODY
from refold.trials.tables import LIMITS as FORMAT_LIMITS

__all__ = ["ADMISSION", "CODES", "POSTING", "limits_of"]

POSTING = tuple(code for code, row in POST_CODES.items() if not row.warning)
"""Codes that a post may be refused with."""
ADMISSION = (*ADMISSION_CODES, "key_form", "key_unsafe", "signature_wrong")
"""Codes that an answer to a challenge may be refused with."""

CODES: tuple[Code, ...] = (
    Code("room-unknown", 404, "No such room", "This node has no room of this name."),
    Code("trials-closed", 503, "Not open for posts", "This process has not the node's key, only"
         " reads, or is being stopped. Reading works.", told=False),
    *(
        Code(code, 422, row.says.rstrip("."), f"{row.says} {row.remedy}")
        for code, row in (POST_CODES | ADMISSION_CODES).items()
    ),
)  # fmt: skip


def limits_of(node: Node, rates: tuple[Limit, ...]) -> tuple[Limit, ...]:
    """Give all limits of a node for the list of the server."""
    fixed = tuple(
        Limit(f"trials.format.{number}", each.value, each.unit, f"{each.says}: {each.reason}")
        for number, each in enumerate(FORMAT_LIMITS, 1)
    )
    return (
        *rates,
        *fixed,
        Limit("trials.body", MAX_BODY, "bytes", "a post; the content's limit leaves room"),
        Limit("trials.name", MAX_NAME, "code points", "the name of a key"),
        Limit("trials.challenge", CHALLENGE_SECONDS, "seconds", "from its start to its answer"),
        Limit("trials.listeners", MAX_OF_NETWORK, "live feeds", "of one network at once"),
        Limit("trials.work", node.bits, "bits", "of the proof of work at admission"),
    )
