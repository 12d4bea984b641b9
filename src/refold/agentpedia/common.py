"""The common view: the shape that the public engines share (spec §10)."""

from collections.abc import Iterable

from refold.agentpedia.editors import tier_of
from refold.agentpedia.rules import TENTHS
from refold.agentpedia.state import Editor, Entry, Proposal, State, Version

Json = dict[str, object]


def common_view(state: State, tip: int, pending: Iterable[str] = ()) -> Json:
    """Give the view in the shape of the public engines, tiers as they are at the tip."""
    return {
        "entries": {
            key: _entry(state, key, state.records[index]) for key, index in state.keys.items()
        },
        "graveyard": [{"pin": grave.pin, "reason": grave.reason} for grave in state.graveyard],
        "pending": sorted(pending),
        "editors": {name: _editor(state, e, tip) for name, e in state.editors.items()},
        "proposals": {pin: _proposal(p) for pin, p in state.proposals.items()},
        "params": dict(state.constitutions[-1].params) if state.constitutions else {},
        "founders": list(state.founders),
    }


def _entry(state: State, key: str, entry: Entry) -> Json:
    versions = (state.versions.get(name) for name in entry.history)
    plate = plate_of(state, key, entry)
    return {
        "head": entry.head,
        "status": entry.status,
        "history": list(entry.history),
        "disputed": list(entry.disputed),
        "contests": [
            {"pin": c.pin, "expected": c.expected, "declared": c.declared} for c in entry.contests
        ],
        "redirect": None if plate is None else {"to": plate},
        "frozenAt": entry.frozen_at,
        "baselineRev": entry.baseline_rev,
        "versions": {v.id: _version(v) for v in versions if v is not None},
    }


def plate_of(state: State, key: str, entry: Entry) -> str | None:
    """Give the slug on a key's redirect plate: of a transfer away, or of a redirect (spec §5)."""
    moved = state.plates.get(key)
    if moved is not None:
        return moved
    if state.rules.checked_redirects and entry.head != entry.redirect_pin:
        return None
    return entry.redirect


def _version(version: Version) -> Json:
    return {
        "contentHash": version.content_hash,
        "author": version.author,
        "parentRev": version.parent_rev,
        "entryKey": version.entry_key,
        "equivalentOf": version.equivalent_of,
    }


def _editor(state: State, editor: Editor, tip: int) -> Json:
    return {
        "status": status_of(editor),
        "tier": tier_of(editor, state.limits, tip),
        "reputation": shown(editor.reputation),
        "validRevs": editor.valid_revs,
        "registeredAt": editor.registered_at,
        "revoked": editor.revoked,
        "banned": editor.banned,
    }


def status_of(editor: Editor) -> str:
    """Give how far a registration came; it stays `active` when its rights are taken."""
    if editor.registered_at is not None:
        return "active"
    return "pending" if editor.registers else "none"


def shown(tenths: int) -> int | float:
    """Show tenths as a number."""
    return tenths // TENTHS if tenths % TENTHS == 0 else tenths / TENTHS


def _proposal(proposal: Proposal) -> Json:
    return {
        "state": proposal.state,
        "outcome": proposal.outcome,
        "approveCount": proposal.approve_count,
        "arbiters": list(proposal.arbiters),
        "entryKey": proposal.entry_key,
        "baselineRev": proposal.baseline_rev,
    }
