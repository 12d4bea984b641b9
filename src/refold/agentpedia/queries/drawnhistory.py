"""A stretch of a history with all that its picture shows: steps, graph, contests, freezes."""

from collections.abc import Iterator, Sequence

from sqlalchemy import select

from refold.agentpedia.queries.casting import casts_of, decided_at
from refold.agentpedia.queries.entry import EntryValue
from refold.agentpedia.queries.history import StoredEntry, graph_of, history_of, stored_entry
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Json, Step
from refold.agentpedia.queries.model_reader import Freeze, HistoryDrawn, Verdicts
from refold.agentpedia.queries.texts import item_of
from refold.agentpedia.store import tables
from refold.agentpedia.store.rows import STEP, lookup, step_at

__all__ = ["MAX_RULED", "drawn_history_of", "freezes_of", "verdicts_on"]

MAX_RULED = 30
"""Proposals about an entry, the newest, that are looked through for freezes that are over."""
_ENDING = {"protect", "unprotect", "unfreeze", "revert-to"}
"""Outcomes that end a freeze when they take effect (spec §6)."""

_H = tables.history.c


def drawn_history_of(look: Look, key: str, limit: int, before: int | None) -> HistoryDrawn:
    """Give the newest steps of an entry, or those before a place. Raises `entry-unknown`."""
    entry = stored_entry(look, key)
    after = None if before is None else (before,)
    page = history_of(look, key, limit, after, newest_first=True)
    value = entry.value
    displayed = look.reading.version(value.display_head)
    pins = [step.id.partition("::")[0] for step in page.items]
    shown = set(pins)
    return HistoryDrawn(
        id=key,
        title=None if displayed is None else item_of(look, displayed).title,
        status=value.status,
        head=value.head,
        display_head=value.display_head,
        version_count=sum(one.versions for one in value.authors),
        steps=tuple(page.items),
        graph=graph_of(look, key, before, limit),
        freezes=tuple(freezes_of(look, key, entry)),
        contests={
            one.pin: (one.expected, one.declared) for one in value.contests if one.pin in shown
        },
        unverified=tuple(_unverified(look, page.items)),
        verdicts=verdicts_on(look, pins),
        earlier=page.items[-1].place if page.cursor is not None else None,
    )


def verdicts_on(look: Look, pins: Sequence[str]) -> Verdicts:
    """Give what was found about the authors of pins, of those that anybody checked."""
    return look.store.pins.authors(list(dict.fromkeys(pins)))


def _unverified(look: Look, steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        if step.version is not None and step.version.content_ref is not None:
            fact = look.store.facts.content(step.version.text_pin)
            if fact is None or fact.state != "verified":
                yield step.id


def freezes_of(look: Look, key: str, entry: StoredEntry) -> list[Freeze]:
    """Give the freezes of an entry, the newest first: the present one, and those that were ruled.

    Only a proposal opened during a freeze ends it, so each that is over has one, under `prd`.
    """
    value = entry.value
    found: dict[str, Freeze] = {}
    if value.status == "frozen" and value.frozen_at is not None:
        present = _freeze(look, entry.record, value.frozen_at, value.baseline_rev)
        if present is not None:
            found[present.id] = present
    page = look.reading.proposals(MAX_RULED, None, entry_key=key)
    proposals: list[Json] = [stored.value for stored in page.items]
    for proposal in proposals:
        name = proposal["duringFreeze"]
        if name is None or name == _frozen_at(value) or _is_ended(found.get(name)):
            continue
        over = _freeze(look, entry.record, name, proposal["baselineRev"], proposal)
        if over is not None:
            found[name] = over
    return sorted(found.values(), key=lambda freeze: -freeze.from_place)


def _frozen_at(value: EntryValue) -> str | None:
    return value.frozen_at if value.status == "frozen" else None


def _is_ended(freeze: Freeze | None) -> bool:
    return freeze is not None and freeze.ended_by is not None


def _freeze(
    look: Look, record: int, name: str, baseline: str | None, proposal: Json | None = None
) -> Freeze | None:
    """Give the freeze that a pin brought; with a proposal opened in it, one that is over."""
    asked = select(*STEP).where(_H.record == record, _H.name.in_([f"{name}::eq", lookup(name)]))
    row = look.connection.execute(asked).first()
    step = None if row is None else step_at(row)
    if step is None or step.version is None:
        return None
    until = None if proposal is None else _end_by(look, proposal)
    return Freeze(
        id=name,
        from_place=step.place,
        from_height=step.version.height,
        until_height=until,
        is_over=proposal is not None,
        baseline_rev=baseline,
        ended_by=None if until is None or proposal is None else str(proposal["pin"]),
    )


def _end_by(look: Look, proposal: Json) -> int | None:
    """Give the height at which a proposal ended the freeze it was opened in; None for not."""
    if proposal["state"] == "voided":
        return int(proposal["expiresAt"])
    if proposal["outcome"] not in _ENDING:
        return None
    return decided_at(proposal, casts_of(look, "proposal", proposal))
