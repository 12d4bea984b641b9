"""Explain: what happened to one pin, by which rule, with which values, and what it changed."""

from collections.abc import Iterable
from typing import cast

import msgspec

from refold.agentpedia.common import Json, shown
from refold.agentpedia.editors import tier_at
from refold.agentpedia.entries import entry_at
from refold.agentpedia.event import Event
from refold.agentpedia.fold import Fold
from refold.agentpedia.full import records
from refold.agentpedia.intake import Stream
from refold.agentpedia.reasons import APPLIED, REASONS
from refold.agentpedia.rules import Rules
from refold.agentpedia.state import State
from refold.kernel.errors import InputError


class Change(msgspec.Struct, frozen=True, rename="camel"):
    """One member of one record of the full view that a pin changed."""

    section: str
    key: str
    member: str
    before: object
    after: object


class Explanation(msgspec.Struct, frozen=True, rename="camel"):
    """What happened to a pin.

    `outcome` is `applied`, `pending` or a reason code; `source` and `says` are the rule behind it,
    `remedy` what would have made a refused pin pass, and `values` what its rule compared. `sender`
    and `entry` are the state before the pin, closings due at its height included; `changes` is
    what it did, and `standing` what the view at the tip holds under its id.
    """

    pin: str
    rules: str
    path: str
    position: tuple[int, int] | None
    outcome: str
    source: str
    says: str
    remedy: str
    values: Json
    sender: Json
    entry: Json | None
    changes: list[Change]
    standing: dict[str, Json]


def explain(stream: Stream, pin: str, rules: Rules) -> Explanation:
    """Fold a stream and explain one of its pins. Raises `InputError` (`pin-unknown`)."""
    if pin in stream.pending:
        return _pending(pin, rules)
    place = next((i for i, event in enumerate(stream.events) if event.pin == pin), None)
    if place is None:
        raise InputError("pin-unknown", f"no pin {pin} in this stream", "give one of its pin ids")
    event = stream.events[place]
    fold = Fold(rules, stream.options)
    fold.apply_many(stream.events[:place], stream.faults)
    fold.advance(event.height)
    before = _snapshot(fold.state, event.height)
    sender, entry = _sender(fold.state, event), _entry(fold.state, event)
    refusal = fold.apply(event, stream.faults.get(pin))
    changes = list(_changes(before, _snapshot(fold.state, event.height)))
    fold.apply_many(stream.events[place + 1 :], stream.faults)
    reason = APPLIED[event.path] if refusal is None else REASONS[refusal.reason]
    return Explanation(
        pin=pin,
        rules=rules.name,
        path=event.path,
        position=(event.height, event.tx_index),
        outcome="applied" if refusal is None else refusal.reason,
        source=reason.source,
        says=reason.says,
        remedy=reason.remedy,
        values={} if refusal is None else refusal.values,
        sender=sender,
        entry=entry,
        changes=[change for change in changes if change.section != "grave"],
        standing=_standing(fold, pin),
    )


def _pending(pin: str, rules: Rules) -> Explanation:
    return Explanation(
        pin=pin,
        rules=rules.name,
        path="",
        position=None,
        outcome="pending",
        source="PRD §4.1",
        says="The pin is in the mempool; only confirmed pins are folded.",
        remedy="Wait for a block.",
        values={},
        sender={},
        entry=None,
        changes=[],
        standing={},
    )


Records = dict[tuple[str, str], Json]


def _snapshot(state: State, tip: int) -> Records:
    """Give every record of the full view, detached from the state."""
    return {
        (section, key): msgspec.to_builtins(value) for section, key, value in records(state, tip)
    }


def _changes(before: Records, after: Records) -> Iterable[Change]:
    for (section, key), value in after.items():
        old = before.get((section, key), {})
        for member, new in value.items():
            if member not in old or old[member] != new:
                yield Change(section, key, member, old.get(member), new)


def _sender(state: State, event: Event) -> Json:
    """Give who the sender was before the pin."""
    editor = state.editors.get(event.sender)
    if editor is None:
        return {"id": event.sender, "tier": None}
    return {
        "id": editor.id,
        "tier": tier_at(state, editor.id, event.height),
        "reputation": shown(editor.reputation),
        "validRevs": editor.valid_revs,
        "registeredAt": editor.registered_at,
    }


def _entry(state: State, event: Event) -> Json | None:
    """Give the entry that the pin speaks of, before the pin; None when it names none."""
    key = _key(state, event)
    entry = None if key is None else entry_at(state, key)
    if entry is None:
        return None
    return {
        "key": key,
        "head": entry.head,
        "status": entry.status,
        "frozenAt": entry.frozen_at,
        "baselineRev": entry.baseline_rev,
        "disputed": sorted(entry.disputed),
    }


def _key(state: State, event: Event) -> str | None:
    """Find the entry key behind a pin: its own, or that of the version or challenge it names."""
    payload = event.payload
    lang, slug = payload.get("lang"), payload.get("slug")
    if isinstance(lang, str) and isinstance(slug, str):
        return f"{lang}:{slug}"
    named = payload.get("targetRev")
    challenge = state.challenges.get(str(payload.get("challengePin")))
    if challenge is not None:
        named = challenge.target
    proposal = state.proposals.get(str(payload.get("proposalPin")))
    if proposal is not None:
        return proposal.entry_key
    version = state.versions.get(named) if isinstance(named, str) else None
    return None if version is None else version.entry_key


def _standing(fold: Fold, pin: str) -> dict[str, Json]:
    """Give the records of the view at the tip that bear this id, and its version's entry."""
    view = fold.view()
    standing: dict[str, Json] = {}
    for section, key, value in records(view.state, view.tip):
        if key == pin and section != "entry":
            standing[section] = value
        elif section in {"entry", "displaced"}:
            for version in cast("list[Json]", value["versions"]):
                if pin in {version["id"], version["equivalentOf"]}:
                    standing["version"] = version
                    standing[section] = {
                        "key": key,
                        "status": value["status"],
                        "isHead": value["head"] == version["id"],
                        "isDisplayed": value["displayHead"] == version["id"],
                    }
    return standing
