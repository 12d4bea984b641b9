"""Random streams whose pins were tampered with after they were made.

The streams of `streams` are made beside a model, so that what they do is mostly meant. Here
senders, heights, members, parameters and options are changed blindly: wrong types, numbers that
are too large, strange strings, values that belong elsewhere, a genesis that is none.
"""

import random
from typing import Any

from reference.naive_state import Json
from reference.streams import WRONG_VALUES, stream

IDS = ("E1", "E2", "E3", "E4", "E5", "X1", "X2", "X3")
VALUES: tuple[Any, ...] = (
    *WRONG_VALUES,
    2**53 - 1,
    -(2**53),
    2**63,
    10**30,
    1e300,
    -0.0,
    "\n\t",
    "é\u2028😀",
    "x" * 300,
    "E1",
)
PARAM_VALUES = (-1, 0, 1, 2, 7, 10**15, 2**53 - 1, 2**53)
OBJECTS = ("params", "stake", "claim", "algoVersions", "dimensions")


def hostile(seed: int, mode: str) -> tuple[list[Json], Json]:
    """Makes the stream of a seed and a mode and tampers with it; gives events and options."""
    rng = random.Random(f"hostile:{mode}:{seed}")
    made, options = stream(seed, mode)
    events = [dict(event) for event in made]
    events = list({event["pin"]: event for event in reversed(events)}.values())[::-1]
    share = rng.choice([0.02, 0.1, 0.3])
    seen: dict[str, list[Any]] = {}  # member -> the values it has in this stream
    for event in events:
        if isinstance(event["payload"], dict):
            for name, value in event["payload"].items():
                seen.setdefault(name, []).append(value)
    for event in events:
        is_constitution = event["path"].endswith("/constitution")
        if rng.random() < (share / 5 if is_constitution else share):
            tamper(rng, event, seen)
    if rng.random() < 0.2:
        tamper_genesis(rng, events)
    if rng.random() < 0.2:
        for arbiters in options["arbiterOverrides"].values():
            arbiters.append(rng.choice(["E1", "X9", arbiters[0]]))
    return [event for event in events if rng.random() < 0.99], options


def tamper(rng: random.Random, event: Json, seen: dict[str, list[Any]]) -> None:
    """Changes one thing in an event."""
    kind = rng.randrange(6)
    if kind == 0:
        event["sender"] = rng.choice(IDS)
        return
    if kind == 1 and event["height"] is not None:
        event["height"] += rng.choice([-3, -1, 1, 3, 10])
        return
    if not isinstance(event["payload"], dict):
        return
    payload = event["payload"] = dict(event["payload"])
    objects = [name for name in OBJECTS if isinstance(payload.get(name), dict) and payload[name]]
    if kind == 2 and objects:
        name = rng.choice(objects)
        inner = payload[name] = dict(payload[name])
        inner[rng.choice(sorted(inner))] = rng.choice(VALUES)
    elif kind == 3:
        name = rng.choice(sorted(seen))
        payload[name] = rng.choice(seen[name])
    elif kind == 4 and payload:
        name = rng.choice(sorted(payload))
        payload[name] = rng.choice(seen[name])
    elif payload:
        payload[rng.choice(sorted(payload))] = rng.choice(VALUES)


def tamper_genesis(rng: random.Random, events: list[Json]) -> None:
    """Changes founders and parameters of the first constitution that has some."""
    for event in events:
        payload = event["payload"]
        if not isinstance(payload, dict) or not isinstance(payload.get("params"), dict):
            continue
        params = dict(payload["params"])
        for name in rng.sample(sorted(params), min(2, len(params))):
            params[name] = rng.choice(PARAM_VALUES)
        founders = payload.get("founders")
        if isinstance(founders, list) and founders and rng.random() < 0.5:
            founders = [*founders, founders[0]]
        event["payload"] = {**payload, "params": params, "founders": founders}
        return
