"""A second fold of Agentpedia, plain and slow, to compare the engine with.

It is written from the specification alone and shares no line with the engine. It keeps lists of
what happened and counts from them; nothing is indexed, nothing is cached.
"""

import json
from collections.abc import Sequence
from typing import Any

from reference.naive_editing import challenge, is_integer, rev, review
from reference.naive_registry import constitution, editor, param_proposal
from reference.naive_rulings import close_due, ruling
from reference.naive_state import PATHS, PREFIX, Json, Refused, World
from reference.naive_view import common_view

RULES = {
    "rev": rev,
    "challenge": challenge,
    "ruling": ruling,
    "review": review,
    "editor": editor,
    "constitution": constitution,
    "param-proposal": param_proposal,
}


def fold(events: Sequence[Json], options: Json, profile: str, tip: int | None = None) -> Json:
    """Folds events, in any order, into the common view of S 10.

    Takes events `{pin, path, height, txIndex, sender, payload}`, the options of the vectors, the
    profile `deployed` or `prd`, and the height of the view (default: last confirmed height + 1).
    Raises ValueError for copies of a pin that differ.
    """
    world, pending, tip = replay(events, options, profile, tip)
    return common_view(world, pending, tip)


def replay(
    events: Sequence[Json], options: Json, profile: str, tip: int | None = None
) -> tuple[World, list[str], int]:
    """Folds events; gives the world at the tip, the pending pins, and the tip."""
    confirmed, pending = arrange(events)
    world = World(options, profile)
    for position, event in enumerate(confirmed):
        world.position = position
        close_due(world, event["height"])
        apply(world, event)
    if tip is None:
        tip = confirmed[-1]["height"] + 1 if confirmed else 1
    close_due(world, tip)
    return world, pending, tip


# --- order (S 2) -------------------------------------------------------------------------------


def arrange(events: Sequence[Json]) -> tuple[list[Json], list[str]]:
    """Gives the confirmed events in chain order and the pins that are still pending."""
    confirmed: dict[str, Json] = {}
    pending: list[str] = []
    for event in events:
        pin = event["pin"]
        if event["height"] is None or event["height"] < 0:
            pending.append(pin)
        elif pin not in confirmed:
            confirmed[pin] = {**event, "payload": as_integers(event["payload"])}
        elif canonical({**event, "payload": as_integers(event["payload"])}) != canonical(
            confirmed[pin]
        ):
            raise ValueError(f"conflicting-pin {pin}")
    ordered = sorted(confirmed.values(), key=lambda e: (e["height"], e["txIndex"], e["pin"]))
    return ordered, sorted(set(pending) - set(confirmed))


def canonical(value: Any) -> str:
    """Writes a JSON value so that equal values are equal texts."""
    return json.dumps(value, sort_keys=True)


def as_integers(value: Any) -> Any:
    """Turns integral numbers into integers, at any depth (S 2)."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [as_integers(item) for item in value]
    if isinstance(value, dict):
        return {name: as_integers(item) for name, item in value.items()}
    return value


# --- gates (S 3) -------------------------------------------------------------------------------


def apply(world: World, event: Json) -> None:
    """Applies one event; a pin that fails a gate or a rule goes to the graveyard."""
    try:
        check(world, event)
        kind = event["path"].removeprefix(PREFIX)
        RULES[kind](world, event)
    except Refused as refusal:
        world.graveyard.append(
            {"pin": event["pin"], "reason": refusal.code, "payload": event["payload"]}
        )


def check(world: World, event: Json) -> None:
    """Runs the gates that stand before the rules of a path."""
    path, payload = event["path"], event["payload"]
    if not path.startswith(PREFIX) or path.removeprefix(PREFIX) not in PATHS:
        raise Refused("unknown-path")
    if not isinstance(payload, dict) or unwritable(payload):
        raise Refused("malformed-json")
    kind = path.removeprefix(PREFIX)
    if kind == "editor" and isinstance(payload.get("editor"), str):
        world.named.append(payload["editor"])
    if world.genesis is not None:
        return
    wanted = world.options.get("genesisPin")
    if kind != "constitution" or (wanted is not None and event["pin"] != wanted):
        raise Refused("no-genesis")
    if is_integer(payload.get("revision")) and payload["revision"] != 0:
        raise Refused("no-genesis")


def unwritable(value: Any) -> bool:
    """Tells whether a string inside has U+0000 or a lone surrogate (S 2)."""
    if isinstance(value, str):
        return any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, list):
        return any(unwritable(item) for item in value)
    if isinstance(value, dict):
        return any(unwritable(name) or unwritable(item) for name, item in value.items())
    return False
