"""Votes with the pins that cast them: when each came, what it says, and which one decided.

The view keeps who voted and how. The pins are found among those of the vote's window, which is as
long as the constitution allows, whatever the log holds.
"""

from collections.abc import Sequence

from sqlalchemy import select

from refold.agentpedia.event import PARAM_PROPOSAL, RULING
from refold.agentpedia.payload import decode_payload
from refold.agentpedia.queries.look import Look, withheld_of
from refold.agentpedia.queries.model import MAX_INLINE, Json
from refold.agentpedia.queries.model_reader import Cast, Said
from refold.agentpedia.store import tables
from refold.metaid.store.tables import bodies, pins

__all__ = ["MAX_CASTS", "casts_of", "decided_at", "said_by"]

MAX_CASTS = 1_000
"""Pins of voters in a window that are looked at: each may vote in every case that is open."""
_PATHS = {"proposal": RULING, "param-proposal": PARAM_PROPOSAL}


def casts_of(look: Look, section: str, value: Json) -> list[Cast]:
    """Give the votes on a proposal (its value in the view) with their pins, in order of arrival.

    Of more than `MAX_INLINE` voters only the first are looked up. `section` is `proposal` or
    `param-proposal`.
    """
    voted = {vote["editor"]: vote["approve"] for vote in value["votes"][:MAX_INLINE]}
    members = value["arbiters"] if section == "proposal" else value["voters"]
    found: dict[str, Cast] = {}
    for pin, sender, height, payload in _pins_by(look, section, value, list(voted)):
        approve = voted.get(sender)
        is_one = payload.get("proposalPin") == value["pin"] and payload.get("approve") is approve
        if approve is None or not is_one or sender in found:
            continue
        said = said_by(look, pin, sender, payload.get("comment"))
        found[sender] = Cast(
            id=pin,
            editor=sender,
            height=height,
            approve=approve,
            counts=approve and (members is None or sender in members),
            comment=said.text,
            withheld=said.withheld,
        )
    return list(found.values())


def _pins_by(
    look: Look, section: str, value: Json, senders: Sequence[str]
) -> list[tuple[str, str, int, dict[str, object]]]:
    """Give the pins of some senders in the window of a proposal, in the total order."""
    if not senders:
        return []
    c = pins.c
    asked = (
        select(c.pin, c.sender, c.height, bodies.c.body)
        .select_from(
            pins.join(bodies, bodies.c.sha256 == c.sha256).outerjoin(
                tables.graves, tables.graves.c.key == c.pin
            )
        )
        .where(tables.graves.c.key.is_(None))
        .where(c.height >= value["openedAt"], c.height < value["expiresAt"])
        .where(c.path == _PATHS[section], c.sender.in_(senders))
        .order_by(c.height, c.tx_index, c.pin)
        .limit(MAX_CASTS)
    )
    return [
        (pin, sender, height, decode_payload(body) or {})
        for pin, sender, height, body in look.connection.execute(asked)
    ]


def decided_at(value: Json, casts: Sequence[Cast]) -> int | None:
    """Give the height of the vote that made a proposal effective; None when it is not found."""
    if value["state"] != "effective":
        return None
    counted = [cast.height for cast in casts if cast.counts]
    return counted[-1] if len(counted) == value["approveCount"] else None


def said_by(look: Look, pin: str, sender: str, text: object) -> Said:
    """Give words of a pin, unless the operator hides them."""
    if not isinstance(text, str) or not text:
        return Said(text=None, withheld=None)
    hidden = look.hidden.of([pin], "", [sender])
    return Said(text=None if hidden else text, withheld=withheld_of(hidden))
