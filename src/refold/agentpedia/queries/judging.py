"""What the rule pack says of a rev, worked out from the store.

It is what `refold.agentpedia.signals` says of the rev in a whole stream; a test holds the two
together.
"""

from typing import Any

from sqlalchemy import func, select

from refold.agentpedia.corpus import claim_of
from refold.agentpedia.event import REV
from refold.agentpedia.measure import Change, measure
from refold.agentpedia.payload import decode_payload
from refold.agentpedia.queries.history import stored_entry
from refold.agentpedia.queries.lists import entries_page
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model_governance import PackShown, Signalled
from refold.agentpedia.queries.rulings import constitutions_of
from refold.agentpedia.queries.texts import text_of
from refold.agentpedia.rulepack import built_in_pack, judge
from refold.agentpedia.signals import NAMES_PACK, note_on
from refold.agentpedia.store import Cursor, Page, StoredStep, StoredVersion, tables
from refold.agentpedia.store.rows import STEP, decode, lookup, step_at
from refold.kernel.errors import InputError

__all__ = ["NEWEST", "newest_signals", "pack_of", "signal_of", "signals_of"]

NEWEST = 20
"""Entries, those changed last, whose newest rev is judged for an overview: each costs a millisecond
or two."""

_H = tables.history.c


def pack_of(look: Look) -> PackShown:
    """Say which pack judges here, and whether the constitution in force names it."""
    pack = built_in_pack()
    constitutions = constitutions_of(look)
    pin = constitutions[-1].id if constitutions else None
    named: str | None = None
    if pin is not None:
        payload = decode_payload(look.store.pins.first_bodies([pin]).get(pin, b"")) or {}
        versions = payload.get("algoVersions")
        name = versions.get(NAMES_PACK) if isinstance(versions, dict) else None
        named = name if isinstance(name, str) else None
    note = note_on(pack, named, pin)
    return PackShown(
        version=pack.version,
        digest=pack.digest,
        tag=pack.levels.tag,
        warn=pack.levels.warn,
        named=note.named,
        named_by=note.named_by,
        agrees=note.agrees,
        note=note.note,
    )


def signal_of(look: Look, name: str) -> Signalled:
    """Give the signal of a rev, named by its pin or by the version it made.

    Raises InputError `rev-unknown` for what is no applied rev.
    """
    pin = name.partition("::")[0]
    asked = select(*STEP).where(_H.name.in_([lookup(pin), f"{pin}::eq"]))
    row = look.connection.execute(asked).first()
    if row is None:
        raise InputError("rev-unknown", "there is no such applied rev", "see the history", "/id")
    return _signal(look, row[0], step_at(row))


def signals_of(look: Look, key: str, limit: int, after: Cursor | None) -> Page[Signalled]:
    """Give a page of the signals of an entry's revs, the newest first; rulings have none.

    Raises InputError `entry-unknown`. Each costs a millisecond or two: for a thread.
    """
    record = stored_entry(look, key).record
    found: list[Signalled] = []
    cursor = after
    while True:
        page = look.reading.history(record, limit - len(found), cursor)
        found += [
            _signal(look, record, step) for step in page.items if not step.name.endswith("::rev")
        ]
        cursor = page.cursor
        if cursor is None or len(found) == limit:
            return Page(found, cursor)


def newest_signals(look: Look) -> list[Signalled]:
    """Give the signals of the newest revs of the entries that changed last. For a thread."""
    rows = entries_page(look, "updated", NEWEST, None, None)
    found = [signals_of(look, str(row[0]), 1, None).items for row in rows]
    return [signal for signals in found for signal in signals]


def _signal(look: Look, record: int, step: StoredStep) -> Signalled:
    pack = built_in_pack()
    pin = step.name.partition("::")[0]
    held = look.store.pins.read(pin)
    if held is None or held.pin.path != REV:
        raise InputError("rev-unknown", "there is no such applied rev", "see the history", "/id")
    payload = decode_payload(held.pin.body) or {}
    change = _change(look, record, step, held.pin.sender, payload)
    judged = judge(pack, measure(change, pack.phrases))
    return Signalled(
        id=pin,
        entry_key=f"{payload.get('lang')}:{payload.get('slug')}",
        author=held.pin.sender,
        height=held.pin.height or 0,
        type=change.type,
        score=judged.score,
        level=judged.level,
        fired=tuple(judged.fired),
        unknown=tuple(judged.unknown),
    )


def _change(
    look: Look, record: int, step: StoredStep, sender: str, payload: dict[str, Any]
) -> Change:
    """Give what a rev did, as `corpus.Corpus.change` has it."""
    claim, refs = claim_of(payload.get("claim"))
    replaced = _replaced(look, record, step, payload)
    version, kind = step.version, str(payload.get("type"))
    own_before = replaced is not None and replaced.author == sender
    if version is None or kind == "revert":
        return Change(kind, claim, refs, own_before=own_before)
    same = replaced is not None and replaced.content_hash == version.content_hash
    return Change(
        type=kind,
        claim=claim,
        claim_refs=refs,
        before="" if replaced is None else _text(look, replaced),
        after=_text(look, version),
        unchanged=same,
        restores=not same and _first_seq(look, version) < version.seq,
        own_before=own_before,
    )


def _replaced(
    look: Look, record: int, step: StoredStep, payload: dict[str, Any]
) -> StoredVersion | None:
    """Give the version that was the head when a rev came; None for a create."""
    if step.place == 0:
        return None
    met = _met(look, record, step.name.partition("::")[0])
    if met is None and step.version is not None and step.version.equivalent_of is not None:
        met = step.version.parent_rev
    elif met is None and isinstance(payload.get("basedOn"), str):
        met = payload["basedOn"]
    place = None if met is None else _place(look, met)
    return _standing(look, *(place or (record, step.place - 1)))


def _met(look: Look, record: int, pin: str) -> str | None:
    """Give the head that a contested rev met."""
    for table in (tables.entries, tables.displaced):
        asked = select(table.c.value).where(table.c.record == record).limit(1)
        value = look.connection.scalar(asked)
        if value is not None:
            contests = decode(value)["contests"]
            return next((str(one["expected"]) for one in contests if one["pin"] == pin), None)
    return None


def _place(look: Look, name: str) -> tuple[int, int] | None:
    """Give record and place of what an id, or a pin that stands for one, names."""
    names = [lookup(name), f"{name}::eq", f"{name}::rev"]
    asked = select(_H.name, _H.record, _H.place).where(_H.name.in_(names))
    found = {row[0]: (row[1], row[2]) for row in look.connection.execute(asked)}
    return next((found[one] for one in names if one in found), None)


def _standing(look: Look, record: int, place: int) -> StoredVersion | None:
    """Give the version that stood at a place: of a redirect the one before it."""
    asked = (
        select(*STEP)
        .where(_H.record == record, _H.place <= place, _H.height.is_not(None))
        .order_by(_H.place.desc())
        .limit(1)
    )
    row = look.connection.execute(asked).first()
    return None if row is None else step_at(row).version


def _first_seq(look: Look, version: StoredVersion) -> int:
    asked = select(func.min(_H.seq)).where(
        _H.record == version.record, _H.content_hash == version.content_hash
    )
    first = look.connection.scalar(asked)
    return version.seq if first is None else int(first)


def _text(look: Look, version: StoredVersion) -> str | None:
    """Give a version's text, its own or one of the same hash in the record; None for none."""
    text, _ = text_of(look, version)
    if text is not None:
        return text
    asked = (
        select(*STEP)
        .where(_H.record == version.record, _H.content_hash == version.content_hash)
        .order_by(_H.place)
    )
    for row in look.connection.execute(asked.limit(10)):
        other = step_at(row).version
        text = None if other is None else text_of(look, other)[0]
        if text is not None:
            return text
    return None
