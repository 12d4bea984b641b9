"""Whose word on the places of pins counts, when indexers disagree. Pure.

A pin stands where the first indexer, in the order that the caller gives, shows it in a block. An
indexer that has not answered, or was far behind the others, for longer than `PATIENCE` has no say:
it may only add pins, and place those that nobody else places. So one that lags, or is down for an
hour, moves nothing to and fro: what it said stands until it says something else, and what others
say of pins that stand by its word is reported and not done.
"""

from collections.abc import Mapping, Sequence

import msgspec

from refold.metaid.store import Indexed, Rivals

LAG = 6
"""Blocks behind the highest indexer from which on one counts as late: an hour of blocks."""
PATIENCE = 2 * 3_600
"""Seconds for which the word of an indexer counts that is late or does not answer."""


def heard(before: Indexed, height: int | None, pins: int | None, now: int) -> Indexed:
    """Give what is known of an indexer that has answered; `updated` says whether it is late."""
    return msgspec.structs.replace(before, height=height, answered=now, pins=pins)


def updated(known: Mapping[str, Indexed], now: int) -> dict[str, Indexed]:
    """Note for those that answered now whether they are up with the highest of them."""
    highest = max(
        (one.height for one in known.values() if one.answered == now and one.height is not None),
        default=None,
    )
    return {
        name: msgspec.structs.replace(one, current=now)
        if one.answered == now and not _is_late(one, highest)
        else one
        for name, one in known.items()
    }


def has_say(one: Indexed, now: int) -> bool:
    """Tell whether the word of an indexer on places counts."""
    return one.current is not None and now - one.current <= PATIENCE


def rivals_of(name: str, order: Sequence[str], known: Mapping[str, Indexed], now: int) -> Rivals:
    """Give whose words count beside that of an indexer, more and less."""
    others = [other for other in order if other != name and has_say(known[other], now)]
    if not has_say(known[name], now):
        return Rivals(above=frozenset(others))
    rank = order.index(name)
    above = frozenset(other for other in others if order.index(other) < rank)
    return Rivals(above, frozenset(others) - above)


def _is_late(one: Indexed, highest: int | None) -> bool:
    return highest is not None and one.height is not None and highest - one.height > LAG
