"""Routes about refused pins, exports, signals, what is hidden, and how this node stands."""

from functools import partial

from refold.agentpedia.api.asked import (
    DigestAsked,
    GraveExportAsked,
    GravesAsked,
    PinAsked,
)
from refold.agentpedia.api.asking import Asking, paged
from refold.agentpedia.queries import export, judging, records
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import HiddenItem
from refold.agentpedia.queries.model_governance import (
    DigestShown,
    GraveItem,
    PackShown,
    PinFate,
    Status,
)
from refold.serving.answers import Answer, Lines, Page
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.operation import get

__all__ = ["RecordsApi"]

LINES = "application/jsonl"


class RecordsApi:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @get("/v1/agentpedia/status", summary="Say what this node holds")
    async def status(self, call: Call) -> Status:
        """Give heights, lag, digest and counts."""
        return await self._asking.in_thread(call, records.status_of)

    @get("/v1/agentpedia/digest", summary="Give the view digest", codes=("digest-unknown",))
    def digest(self, asked: DigestAsked, call: Call) -> Answer[DigestShown]:
        """Give the digest at a height, by default the last that was folded."""
        return self._asking.of_view(call, records.digest_at, asked.height)

    @get("/v1/agentpedia/graveyard", summary="List refused pins")
    def graveyard(self, asked: GravesAsked, call: Call) -> Answer[Page[GraveItem]]:
        """Give the refused pins, the newest first."""
        after = call.place(asked, tuple[int])

        def ask(look: Look) -> Page[GraveItem]:
            found = records.graveyard_of(look, asked.limit, after, reason=asked.reason)
            return paged(call, asked, found)

        return self._asking.of_view(call, ask)

    @get("/v1/agentpedia/graveyard.jsonl", summary="Export refused pins", media_type=LINES)
    def graveyard_lines(self, asked: GraveExportAsked) -> Lines:
        """Give all refused pins, a JSON line each, the newest first."""
        lines = partial(export.graveyard_lines, reason=asked.reason)
        return self._asking.stream(lines, "agentpedia-graveyard.jsonl")

    @get("/v1/agentpedia/audit.jsonl", summary="Export every record of the view", media_type=LINES)
    def audit_lines(self) -> Lines:
        """Give every record of the view with its hash: what the digest is made of."""
        return self._asking.stream(export.audit_lines, "agentpedia-audit.jsonl")

    @get("/v1/agentpedia/pins/{id}", summary="Say what became of a pin", codes=("pin-unknown",))
    def pin(self, asked: PinAsked) -> PinFate:
        """Give where a pin stands, and for a refused one the rule and the remedy."""
        return self._asking.inline(records.fate_of, asked.id)

    @get("/v1/agentpedia/rule-pack", summary="Say which rule pack judges here")
    def rule_pack(self, call: Call) -> Answer[PackShown]:
        """Give the pack's version and digest, and whether the constitution names another."""
        return self._asking.of_view(call, judging.pack_of)

    @get("/v1/agentpedia/hidden", summary="List what the operator hides")
    def hidden(self, asked: ListAsked, call: Call) -> Page[HiddenItem]:
        """Give what is withheld from answers, and why. No digest changes by it."""
        after = call.place(asked, tuple[str, str])

        def ask(look: Look) -> Page[HiddenItem]:
            rows = records.hidden_of_all(look, asked.limit + 1, after)
            return call.page(
                asked, rows, keyset=lambda row: (row.kind, row.name), item=records.hidden_item
            )

        return self._asking.inline(ask)
