"""What became of pins, what is refused, what is hidden, and how this node stands."""

import re
from urllib.parse import urlsplit

import refold
from refold.agentpedia.event import PATHS
from refold.agentpedia.indexer.indexer import READER
from refold.agentpedia.queries.lists import count_entries
from refold.agentpedia.queries.look import Look, withheld_of
from refold.agentpedia.queries.model import HiddenItem, Json, utc_of
from refold.agentpedia.queries.model_governance import (
    DigestShown,
    GraveItem,
    IndexerShown,
    PinFate,
    Status,
)
from refold.agentpedia.reasons import APPLIED, REASONS, Reason
from refold.agentpedia.store import Cursor, Page, SqlShown, open_views
from refold.agentpedia.store.hidden import HiddenRow, SqlHidden
from refold.kernel.errors import InputError

__all__ = ["digest_at", "fate_of", "grave_item", "graveyard_of", "hidden_of_all", "status_of"]

COUNTED = {
    "editors": "editor",
    "proposals": "proposal",
    "paramProposals": "param-proposal",
    "challenges": "challenge",
    "reviews": "review",
    "refused": "grave",
}
"""Sections that a status counts, by their names there."""

_UNKNOWN = Reason("", "This release does not know the reason.", "Look it up in a newer one.")
_WAITS = Reason("PRD §4.1", "The pin is in no block; only confirmed pins are folded.", "Wait.")
_NOT_OURS = Reason("PRD §4.3", "The pin is at a path that the protocol does not have.", "")
_NOT_YET = Reason("spec §10", "The view has not come to this pin yet.", "Ask again later.")
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{1,260}")


def graveyard_of(
    look: Look, limit: int, after: Cursor | None, *, reason: str | None
) -> Page[GraveItem]:
    """Give a page of the refused pins, for one reason or all, the newest first."""
    page = look.reading.graves(limit, after, reason=reason)
    return Page([grave_item(look, stored.value) for stored in page.items], page.cursor)


def grave_item(look: Look, value: Json) -> GraveItem:
    """Give a refused pin without the title, if it is hidden."""
    hidden = look.hidden.of([value["pin"]])
    if hidden is None and look.hidden and value["title"] is not None:
        held = look.store.pins.read(value["pin"])
        hidden = None if held is None else look.hidden.of([], "", [held.pin.sender])
    return GraveItem(
        id=value["pin"],
        reason=value["reason"],
        entry_key=value["entryKey"],
        title=None if hidden else value["title"],
        withheld=withheld_of(hidden),
    )


def fate_of(look: Look, pin: str) -> PinFate:
    """Say what became of a pin, and by which rule. Raises InputError `pin-unknown`."""
    held = look.store.pins.read(pin)
    if held is None:
        raise InputError("pin-unknown", "this node has no such pin", "check the id", "/id")
    place, path = held.place, held.pin.path
    outcome, reason = "applied", APPLIED.get(path, _NOT_OURS)
    grave = look.values.stored("grave", pin)
    folded, tip = look.values.stored("fold", "fold"), look.standing.tip
    if place.height is None:
        outcome, reason = "pending", _WAITS
    elif path not in PATHS:
        outcome = "not-folded"
    elif grave is not None:
        outcome = str(grave.value["reason"])
        reason = REASONS.get(outcome, _UNKNOWN)
    elif folded is None or tip is None or place.height >= tip:
        outcome, reason = "not-folded", _NOT_YET
    version = look.reading.version(pin) if outcome == "applied" else None
    return PinFate(
        id=pin,
        path=path,
        sender=held.pin.sender,
        height=place.height,
        tx_index=None if place.height is None else place.tx_index,
        state=held.state,
        outcome=outcome,
        source=reason.source,
        says=reason.says,
        remedy=reason.remedy,
        version=None if version is None else version.id,
    )


def hidden_of_all(look: Look, limit: int, after: tuple[str, str] | None) -> list[HiddenRow]:
    """Give what the operator hides, by kind and name."""
    return SqlHidden(look.connection).page(limit, after)


def hidden_item(row: HiddenRow) -> HiddenItem:
    """Give a row of that list as it is shown."""
    return HiddenItem(f"{row.kind}:{row.name}", row.kind, row.name, row.reason, utc_of(row.since))


def digest_at(look: Look, height: int | None) -> DigestShown:
    """Give the digest at a height, by default the last. Raises InputError `digest-unknown`."""
    tip = look.standing.tip
    asked = height if height is not None else None if tip is None else tip - 1
    kept = None if asked is None else open_views(look.connection).marks.digest(asked)
    if kept is None:
        raise InputError(
            "digest-unknown",
            "no digest of this height is kept",
            "those of the last 1,000 heights are, and of every 144th before",
            "/height",
        )
    return DigestShown(kept.height, kept.digest, kept.events, kept.lines)


def status_of(look: Look) -> Status:
    """Say what this node holds and how far it came. Counts rows: milliseconds, for a thread."""
    standing = look.standing
    stored = look.values.stored("fold", "fold")
    fold: Json = {} if stored is None else stored.value
    marks = look.store.marks
    indexed = marks.indexers()
    said = [one.height for one in indexed if one.height is not None]
    chain = max(said, default=None)
    height = None if standing.tip is None else standing.tip - 1
    counts = {name: look.reading.count(section) for name, section in COUNTED.items()}
    return Status(
        version=refold.__version__,
        rules=standing.rules or None,
        genesis=fold.get("genesis"),
        not_authoritative_from=fold.get("notAuthoritativeFrom"),
        height=height,
        chain_height=chain,
        lag=None if chain is None or height is None else max(0, chain - height),
        digest=standing.digest or None,
        is_behind=marks.changed_from(READER) is not None,
        is_text_behind=SqlShown(look.connection).is_behind(),
        counts={"entries": count_entries(look, None), **counts},
        indexers=tuple(
            IndexerShown(
                _host_of(one.indexer),
                one.height,
                None if one.answered is None else utc_of(one.answered),
            )
            for one in indexed
        ),
        hidden=SqlHidden(look.connection).count(),
    )


def _host_of(url: str) -> str:
    """Give the host of an indexer's URL: the rest may hold what is nobody's business."""
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""
    return host if _HOST.fullmatch(host) else ""
