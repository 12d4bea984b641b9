"""What the pin behind a version says of it: its type, summary and claim, when, and by whom.

Source: spec §3 (rev), §7 (claim.refs), docs/operators.md (authors).
"""

from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from refold.agentpedia.payload import decode_payload
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import VersionItem
from refold.agentpedia.queries.questions import Question
from refold.metaid.store.tables import bodies, pins

__all__ = ["Origin", "origin_of"]

_ORIGIN = Question(
    lambda _: (
        select(pins.c.author, pins.c.timestamp, bodies.c.body)
        .select_from(pins.join(bodies, bodies.c.sha256 == pins.c.sha256))
        .where(pins.c.pin == bindparam("pin"))
    )
)


class Origin(msgspec.Struct, frozen=True):
    """What a pin says. `type` is "ruling" for a version that a ruling made.

    `verdict` is what the signatures of the raw transaction say of the author, None while nobody
    looked; `refs` and `change` are the editor's own claim, None without one.
    """

    type: str | None = None
    summary: str | None = None
    change: str | None = None
    refs: int | None = None
    verdict: str | None = None
    timestamp: int | None = None


def origin_of(look: Look, version: VersionItem) -> Origin:
    """Give what the pin of a version says, without the summary of one that is withheld."""
    pin, _, made_by = version.id.partition("::")
    row = _ORIGIN.first(look.connection, pin=pin)
    if row is None:
        return Origin()
    verdict, timestamp, body = row
    if made_by == "rev":
        return Origin(type="ruling", verdict=verdict, timestamp=timestamp)
    payload: dict[str, Any] = decode_payload(body) or {}
    claim = payload.get("claim")
    claimed: dict[str, Any] = claim if isinstance(claim, dict) else {}
    refs = claimed.get("refs")
    return Origin(
        type=_text(payload.get("type")),
        summary=None if version.withheld else _text(payload.get("summary")),
        change=_text(claimed.get("changeType")),
        refs=refs if isinstance(refs, int) and not isinstance(refs, bool) else None,
        verdict=verdict,
        timestamp=timestamp,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
