"""Answers in the shapes of the network's existing L2 service, so that its readers can switch.

Its faults are not repeated: a cursor past the end gives an empty page, equal times keep one order,
the entry has its text after a revert, backlinks are those of what is displayed, and what is wrong
has a status that says so. Lists that were never paged there are cut at `MAX_LISTED`, the newest
kept. Source: `docs/agentpedia-api.md`.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import select

from refold.agentpedia.common import shown
from refold.agentpedia.event import PREFIX
from refold.agentpedia.payload import decode_payload
from refold.agentpedia.queries import lists
from refold.agentpedia.queries.history import StoredEntry, stored_entry
from refold.agentpedia.queries.look import Look, withheld_of
from refold.agentpedia.queries.model import Json, Withheld
from refold.agentpedia.queries.texts import hidden_of, text_of
from refold.agentpedia.reviews import PASSING_SCORE
from refold.agentpedia.store import StoredStep, tables
from refold.agentpedia.store.rows import decode
from refold.db import one_of
from refold.kernel.errors import InputError
from refold.metaid.store.tables import pins

__all__ = [
    "MAX_LISTED",
    "OldEditor",
    "OldEntry",
    "OldList",
    "OldSync",
    "old_editor",
    "old_entry",
    "old_list",
    "old_sync",
]

MAX_LISTED = 500
"""Steps of a history, links and the like in one answer of these routes."""
RECENT = 20
REVIEWS_READ = 200

OldSort = Literal["updated", "featured"]
Place = tuple[Any, ...]


class OldHead(msgspec.Struct, frozen=True, rename="camel"):
    """The head with its text; `content` is null where it is withheld or not to be had."""

    pin: str
    author: str
    height: int
    content: str | None
    content_ref: str | None
    title: str | None


class OldStep(msgspec.Struct, frozen=True, rename="camel"):
    """A step of the history. `type` of what a ruling made is `ruling`."""

    pin: str
    author: str
    height: int
    tx_index: int
    type: str
    parent_rev: str | None
    based_on: str | None
    summary: str | None


class OldLink(msgspec.Struct, frozen=True, rename="camel"):
    """A link from the displayed text of another entry."""

    from_entry: str
    from_rev: str


class OldShare(msgspec.Struct, frozen=True):
    """How many versions are an editor's."""

    editor: str
    revisions: int


class OldPlate(msgspec.Struct, frozen=True):
    """A redirect."""

    to: str


class OldContest(msgspec.Struct, frozen=True):
    """A contested edit."""

    pin: str
    expected: str
    declared: str


class OldEntry(msgspec.Struct, frozen=True, rename="camel"):
    """An entry; `withheld` is there only when the operator hides the head's text."""

    entry_key: str
    head: OldHead
    status: str
    disputed: tuple[str, ...]
    featured: bool
    history: tuple[OldStep, ...]
    backlinks: tuple[OldLink, ...]
    editor_breakdown: tuple[OldShare, ...]
    contests: tuple[OldContest, ...]
    redirect: OldPlate | None
    last_reviewed_rev_id: str | None
    withheld: Withheld | UnsetType = UNSET


class OldItem(msgspec.Struct, frozen=True, rename="camel"):
    """An entry in the list; `updated_at` is the time of the head's pin in Unix seconds."""

    lang: str
    slug: str
    entry_key: str
    head: str
    status: str
    title: str | None
    featured: bool
    updated_at: int


class OldList(msgspec.Struct, frozen=True):
    """A page. `cursor` begins with the next offset and is "" on the last page."""

    total: int
    items: tuple[OldItem, ...]
    cursor: str
    sort: str


class OldRev(msgspec.Struct, frozen=True, rename="camel"):
    """A version by an editor."""

    pin: str
    entry_key: str
    height: int


class OldEditor(msgspec.Struct, frozen=True, rename="camel"):
    """An editor; the reputation in whole points, with tenths."""

    metaid: str
    status: str
    tier: str | None
    reputation: float
    valid_revs: int
    registered_at: int | None
    revoked: bool
    banned: bool
    recent_revs: tuple[OldRev, ...]
    endorsed_by: tuple[str, ...]


class OldSync(msgspec.Struct, frozen=True, rename="camel"):
    """How far the reading came: cursors by path, pins that were applied, pins that were folded."""

    last_cursor: dict[str, str]
    applied: int
    events: int


def old_entry(look: Look, key: str) -> OldEntry:
    """Give an entry. Raises InputError `entry-unknown`. Reads a whole history: for a thread."""
    entry = stored_entry(look, key)
    value = entry.value
    page = look.reading.history(entry.record, MAX_LISTED)
    steps = list(reversed(page.items))
    names = [step.name.partition("::")[0] for step in steps]
    held = look.store.pins.standing(names)
    bodies = look.store.pins.first_bodies(names)
    payloads = {pin: decode_payload(body) or {} for pin, body in bodies.items()}

    def step_of(step: StoredStep) -> OldStep:
        pin, _, made_by = step.name.partition("::")
        payload: Json = {} if made_by == "rev" else payloads.get(pin, {})
        version, place = step.version, held.get(pin)
        hidden = look.hidden.of([pin]) if version is None else hidden_of(look, version)
        return OldStep(
            pin=step.name,
            author=version.author if version else "" if place is None else place.sender,
            height=version.height if version else 0 if place is None else place.place.height or 0,
            tx_index=0 if place is None else place.place.tx_index,
            type="ruling" if made_by == "rev" else _text(payload, "type") or "",
            parent_rev=version.parent_rev if version else _text(payload, "parentRev"),
            based_on=_text(payload, "basedOn"),
            summary=None if hidden else _text(payload, "summary"),
        )

    head, withheld = _head(look, entry, payloads)
    return OldEntry(
        entry_key=key,
        head=head,
        status=value.status,
        disputed=tuple(value.disputed[:MAX_LISTED]),
        featured=value.quality == "featured",
        history=tuple(map(step_of, steps)),
        backlinks=old_backlinks(look, key),
        editor_breakdown=tuple(
            OldShare(one.editor, one.versions) for one in value.authors[:MAX_LISTED]
        ),
        contests=tuple(
            OldContest(one.pin, one.expected, one.declared) for one in value.contests[-MAX_LISTED:]
        ),
        redirect=None if value.redirect is None else OldPlate(value.redirect),
        last_reviewed_rev_id=_last_reviewed(look, entry),
        withheld=UNSET if withheld is None else withheld,
    )


def _head(
    look: Look, entry: StoredEntry, payloads: dict[str, Json]
) -> tuple[OldHead, Withheld | None]:
    name = entry.value.head
    version = look.reading.version(name)
    if version is not None:
        hidden = hidden_of(look, version)
        text = None if hidden else text_of(look, version)[0]
        title = None if hidden else version.title
        ref = version.content_ref
        head = OldHead(name, version.author, version.height, text, ref, title)
        return head, withheld_of(hidden)
    standing = look.store.pins.standing([name]).get(name)
    hidden = look.hidden.of([name], "", [] if standing is None else [standing.sender])
    sender = "" if standing is None else standing.sender
    height = 0 if standing is None else standing.place.height or 0
    title = None if hidden else _text(payloads.get(name, {}), "title")
    return OldHead(name, sender, height, None, None, title), withheld_of(hidden)


def _last_reviewed(look: Look, entry: StoredEntry) -> str | None:
    """Give the newest version that a T2 editor found good."""
    r, h = tables.reviews.c, tables.history.c
    asked = (
        select(r.value, h.name)
        .select_from(tables.reviews.join(tables.history, h.name == r.target))
        .where(h.record == entry.record)
        .order_by(h.place.desc(), r.key)
        .limit(REVIEWS_READ)
    )
    for raw, name in look.connection.execute(asked):
        review = decode(raw)
        if review["byT2"] and (review["score"] or 0) >= PASSING_SCORE:
            return str(name)
    return None


def old_backlinks(look: Look, key: str) -> tuple[OldLink, ...]:
    """Give what links to an entry key."""
    page = look.reading.backlinks(key, MAX_LISTED)
    return tuple(OldLink(link.from_entry, link.from_rev) for link in page.items)


def old_list(
    look: Look,
    sort: OldSort,
    limit: int,
    place: tuple[int, Place | None],
    lang: str | None,
) -> tuple[tuple[OldItem, ...], Place | None]:
    """Give the items of a page, and the place behind which the next one begins, None for none.

    `place` is the offset, and the place in the list where it is known: then that counts.
    """
    offset, after = place
    skip = offset if after is None else 0
    rows = lists.entries_page(look, sort, limit + 1, after, lang, skip=skip)
    given = rows[:limit]
    times = _times(look, [row[5] for row in given])
    items = tuple(
        OldItem(
            item.lang,
            item.slug,
            item.id,
            item.head,
            item.status,
            item.title,
            item.quality == "featured",
            times.get(item.head.partition("::")[0], 0),
        )
        for item in lists.items_of(look, given)
    )
    return items, lists.place_of(sort, given[-1]) if len(rows) > limit else None


def _times(look: Look, names: Sequence[str]) -> dict[str, int]:
    """Give the times of pins."""
    ids = sorted({name.partition("::")[0] for name in names})
    asked = select(pins.c.pin, pins.c.timestamp)
    rows = look.connection.execute(asked.where(one_of(look.connection, pins.c.pin, ids)))
    return {row[0]: row[1] for row in rows}


def old_editor(look: Look, name: str) -> OldEditor:
    """Give an editor. Raises InputError `editor-unknown`."""
    stored = look.values.stored("editor", name)
    if stored is None:
        raise InputError("editor-unknown", "there is no such editor", "check the id", "/metaid")
    value: Json = stored.value
    revs = look.reading.revs_of(name, RECENT).items
    return OldEditor(
        metaid=name,
        status=value["status"],
        tier=value["tier"],
        reputation=shown(value["reputation"]),
        valid_revs=value["validRevs"],
        registered_at=value["registeredAt"],
        revoked=value["revoked"],
        banned=value["banned"],
        recent_revs=tuple(OldRev(rev.id, rev.entry_key, rev.height) for rev in revs),
        endorsed_by=tuple(value["endorsedBy"][:MAX_LISTED]),
    )


def old_sync(look: Look) -> OldSync:
    """Say how far the reading came. Counts the refused pins: for a thread."""
    tip = look.standing.tip
    digest = None
    if tip is not None:
        asked = select(tables.digests.c.events).where(tables.digests.c.height == tip - 1)
        digest = look.connection.scalar(asked)
    events = digest or 0
    cursors: dict[str, str] = {}
    for cursor in look.store.marks.cursors():
        if cursor.path.startswith(PREFIX):
            cursors.setdefault(cursor.path, cursor.cursor)
    return OldSync(cursors, max(0, events - look.reading.count("grave")), events)


def _text(payload: Json, member: str) -> str | None:
    value = payload.get(member)
    return value if isinstance(value, str) else None
