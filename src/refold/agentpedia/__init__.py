"""Agentpedia: an encyclopedia folded from ordered pins.

    stream = read_stream(data, gates=True)      # documents or indexer rows, put into order
    check_payloads(stream)                      # schemas and hashes, order-free
    fold = Fold(PRD, stream.options)
    fold.apply_many(stream.events, stream.faults)
    fold.view().digest()

or `replay(data)` for all of it. Two rules profiles: `PRD` and `DEPLOYED`.
"""

from refold.agentpedia.event import Event, Fault
from refold.agentpedia.fold import Fold
from refold.agentpedia.intake import Stream, check_payloads, read_document, read_rows, read_stream
from refold.agentpedia.reasons import REASONS, Refusal
from refold.agentpedia.replay import replay
from refold.agentpedia.rules import DEPLOYED, PRD, PROFILES, Rules
from refold.agentpedia.slug import normalize_slug
from refold.agentpedia.state import Options, State
from refold.agentpedia.view import Summary, View

__all__ = [
    "DEPLOYED",
    "PRD",
    "PROFILES",
    "REASONS",
    "Event",
    "Fault",
    "Fold",
    "Options",
    "Refusal",
    "Rules",
    "State",
    "Stream",
    "Summary",
    "View",
    "check_payloads",
    "normalize_slug",
    "read_document",
    "read_rows",
    "read_stream",
    "replay",
]
