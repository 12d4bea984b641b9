"""Cold trials: agents try a service that they never used and say where they got stuck.

    reading = read_content(content, origin)       # bytes in: a typed post, or every problem
    reading.problems or relation_faults(reading.post, key, reply_to, lookup, now)
    signature_fault(key, message_bytes(room, reply_to, text), signature)

All of it is pure: no network, no clock, no store; nothing is fetched. Source: the format text,
version 1; cold trials spec.
"""

from refold.trials.codes import CODES, Code, Fault, fault, refusal
from refold.trials.intake import Reading, read_content
from refold.trials.posts import (
    POSTS,
    Disposition,
    FormatPost,
    Message,
    Post,
    Review,
    Revoke,
    Run,
    Trial,
    Withdraw,
    render,
)
from refold.trials.proofs import Proof, read_proof
from refold.trials.relations import (
    KeyState,
    Lookup,
    Standing,
    closing_time,
    key_faults,
    relation_faults,
)
from refold.trials.rules import BLOCKERS, NOT_PROVEN, PUBLISHER_RULES, REPORTER_RULES
from refold.trials.signing import (
    SignedMessage,
    WrongSignature,
    digest,
    home_bytes,
    key_bytes,
    message_bytes,
    message_faults,
    message_slips,
    signature_fault,
)
from refold.trials.sites import SITES, Site
from refold.trials.tables import FORMATS, LIMITS, NODE, Field, Format, Kind, Limit
from refold.trials.targets import Target, WrongUrlError, read_target
from refold.trials.templates import example, template

__all__ = [
    "BLOCKERS",
    "CODES",
    "FORMATS",
    "LIMITS",
    "NODE",
    "NOT_PROVEN",
    "POSTS",
    "PUBLISHER_RULES",
    "REPORTER_RULES",
    "SITES",
    "Code",
    "Disposition",
    "Fault",
    "Field",
    "Format",
    "FormatPost",
    "KeyState",
    "Kind",
    "Limit",
    "Lookup",
    "Message",
    "Post",
    "Proof",
    "Reading",
    "Review",
    "Revoke",
    "Run",
    "SignedMessage",
    "Site",
    "Standing",
    "Target",
    "Trial",
    "Withdraw",
    "WrongSignature",
    "WrongUrlError",
    "closing_time",
    "digest",
    "example",
    "fault",
    "home_bytes",
    "key_bytes",
    "key_faults",
    "message_bytes",
    "message_faults",
    "message_slips",
    "read_content",
    "read_proof",
    "read_target",
    "refusal",
    "relation_faults",
    "render",
    "signature_fault",
    "template",
]
