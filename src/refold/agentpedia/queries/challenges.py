"""Challenges with what they say: one, and the newest of all entries."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import literal, select, tuple_

from refold.agentpedia.event import CHALLENGE
from refold.agentpedia.payload import decode_payload
from refold.agentpedia.queries.casting import said_by
from refold.agentpedia.queries.drawnhistory import verdicts_on
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Json
from refold.agentpedia.queries.model_reader import ChallengePage, ChallengeShown, Verdicts
from refold.agentpedia.queries.rulings import proposal_item
from refold.agentpedia.queries.texts import item_of, versions_named
from refold.agentpedia.store import tables
from refold.agentpedia.store.rows import decode, lookup
from refold.db import one_of
from refold.kernel.errors import InputError
from refold.metaid.store.tables import pins

__all__ = ["MAX_LOOKED", "Looked", "challenge_of", "challenges_shown", "newest_challenges"]

MAX_LOOKED = 5_000
"""Pins that one page of challenges looks through: they stand among all others, by height."""
MAX_PROPOSALS = 20
"""Proposals about one challenge that are shown: one may be open at a time."""

Place = tuple[int, int, str]


class Looked(NamedTuple):
    """Challenges, the newest first, and behind which pin to look on; None when all were seen."""

    items: tuple[ChallengeShown, ...]
    following: Place | None
    verdicts: Verdicts


def challenge_of(look: Look, pin: str) -> ChallengePage:
    """Give a challenge with its proposals. Raises InputError `challenge-unknown`."""
    stored = look.values.stored("challenge", pin)
    if stored is None:
        raise InputError("challenge-unknown", "there is no such challenge", "list them", "/id")
    (shown,) = challenges_shown(look, [stored.value])
    c = tables.proposals.c
    asked = select(c.value).where(c.challenge == lookup(pin)).order_by(c.opened_at.desc(), c.key)
    values = [decode(value) for value in look.connection.scalars(asked.limit(MAX_PROPOSALS))]
    proposals = tuple(proposal_item(look, value) for value in values)
    return ChallengePage(
        challenge=shown,
        proposals=proposals,
        verdicts=verdicts_on(look, [pin, *(one.id for one in proposals)]),
    )


def challenges_shown(look: Look, values: Sequence[Json]) -> list[ChallengeShown]:
    """Give challenges (their values in the view) with what their pins say."""
    names = [value["pin"] for value in values]
    bodies = look.store.pins.first_bodies(names)
    standing = look.store.pins.standing(names)
    versions = versions_named(look, [value["target"] for value in values])
    shown = []
    for value in values:
        pin, target = value["pin"], versions.get(value["target"])
        payload = decode_payload(bodies.get(pin, b"")) or {}
        place = standing[pin].place if pin in standing else None
        shown.append(
            ChallengeShown(
                id=pin,
                sender=value["sender"],
                target=value["target"],
                outcome=value["outcome"],
                height=None if place is None else place.height,
                reason=_text(payload.get("reason")),
                detail=said_by(look, pin, value["sender"], payload.get("detail")),
                proposed=_proposed(payload.get("proposed")),
                version=None if target is None else item_of(look, target),
            )
        )
    return shown


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _proposed(value: object) -> str | None:
    return _text(value.get("outcome")) if isinstance(value, Mapping) else None


def newest_challenges(look: Look, limit: int, after: Place | None) -> Looked:
    """Give the newest challenges, or those before a pin, among `MAX_LOOKED` pins at most."""
    c = pins.c
    order = (c.height, c.tx_index, c.pin)
    asked = select(c.pin, c.path, *order[:2]).where(c.height.is_not(None))
    if after is not None:
        asked = asked.where(tuple_(*order) < tuple_(*map(literal, after)))
    looked = asked.order_by(*(column.desc() for column in order)).limit(MAX_LOOKED)
    rows = look.connection.execute(looked).all()
    known = _values_of(look, [row[0] for row in rows if row[1] == CHALLENGE], limit)
    items = tuple(challenges_shown(look, list(known.values())))
    stop = rows[-1] if len(rows) == MAX_LOOKED else None
    if len(known) == limit:
        stop = next(row for row in reversed(rows) if row[0] in known)
    following = None if stop is None else (stop[2], stop[3], stop[0])
    return Looked(items, following, verdicts_on(look, list(known)))


def _values_of(look: Look, names: Sequence[str], limit: int) -> dict[str, Json]:
    """Give the challenges of these pins that are in the view, in this order, the first ones."""
    c = tables.challenges.c
    asked = select(c.key).where(one_of(look.connection, c.key, names))
    there = set(look.connection.scalars(asked))
    first = [name for name in names if name in there][:limit]
    values = select(c.key, c.value).where(one_of(look.connection, c.key, first))
    found = {key: decode(value) for key, value in look.connection.execute(values)}
    return {name: found[name] for name in first}
