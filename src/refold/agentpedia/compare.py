"""Compare: where the two rules profiles give different views of one stream, and why.

The why is measured, not argued: each difference between the profiles is a flag of `Rules`, and a
flag is a cause of a differing member when switching it alone, in either profile, changes that
member.
"""

from collections.abc import Iterator
from typing import cast

import msgspec

from refold.agentpedia.common import Json
from refold.agentpedia.fold import Fold
from refold.agentpedia.intake import Stream
from refold.agentpedia.rules import DEPLOYED, FLAGS, PRD, Rules


class Outcome(msgspec.Struct, frozen=True):
    """A pin that the profiles judge differently: `applied`, or the reason code."""

    pin: str
    deployed: str
    prd: str


class Difference(msgspec.Struct, frozen=True):
    """A member of what readers see in which the profiles differ, and the flags that cause it.

    `path` has the names from the view's top; no cause alone means that it takes several at once.
    """

    path: tuple[str, ...]
    deployed: object
    prd: object
    causes: list[str]


class Comparison(msgspec.Struct, frozen=True):
    """All that differs between the profiles on one stream; `says` explains the flags named."""

    outcomes: list[Outcome]
    differences: list[Difference]
    says: dict[str, str]


def compare(ungated: Stream, gated: Stream) -> Comparison:
    """Fold a stream under both profiles, and under each flag of either switched alone.

    `ungated` and `gated` are the same pins, read without and with the gates of intake.
    """
    streams = {False: ungated, True: gated}
    deployed_ends, deployed = _folded(streams, DEPLOYED)
    prd_ends, prd = _folded(streams, PRD)
    outcomes = [
        Outcome(pin, end, prd_ends[pin])
        for pin, end in deployed_ends.items()
        if end != prd_ends[pin]
    ]
    paths = {path: (a, b) for path, a, b in _differences(deployed, prd, ())}
    causes: dict[tuple[str, ...], list[str]] = {path: [] for path in paths}
    if paths:
        for flag in FLAGS:
            for rules, base in ((DEPLOYED, deployed), (PRD, prd)):
                _, turned = _folded(streams, _switched(rules, flag))
                for path, _, _ in _differences(base, turned, ()):
                    if flag not in causes.get(path, [flag]):
                        causes[path].append(flag)
    differences = [Difference(path, a, b, causes[path]) for path, (a, b) in paths.items()]
    named = {flag for difference in differences for flag in difference.causes}
    return Comparison(outcomes, differences, {flag: FLAGS[flag] for flag in FLAGS if flag in named})


def _switched(rules: Rules, flag: str) -> Rules:
    flags = {name: getattr(rules, name) for name in FLAGS}
    return Rules(rules.name, **{**flags, flag: not flags[flag]})


def _folded(streams: dict[bool, Stream], rules: Rules) -> tuple[dict[str, str], Json]:
    """Give how every pin ended, and what readers see at the tip."""
    stream = streams[rules.gates]
    fold = Fold(rules, stream.options)
    ends: dict[str, str] = {}
    for event in stream.events:
        refusal = fold.apply(event, stream.faults.get(event.pin))
        ends[event.pin] = "applied" if refusal is None else refusal.reason
    view = fold.view(pending=stream.pending)
    return ends, {**_by_name(view.common()), **_beside(view.full())}


def _by_name(view: Json) -> Json:
    """Give a common view whose graveyard is read by pin: one grave more moves all that follow."""
    graveyard = cast("list[dict[str, str]]", view["graveyard"])
    return {**view, "graveyard": {grave["pin"]: grave["reason"] for grave in graveyard}}


def _beside(full: Json) -> Json:
    """Give what readers see and the common view lacks: what is displayed, votes on parameters."""
    entries = cast("dict[str, Json]", full.get("entry", {}))
    changes = cast("dict[str, Json]", full.get("param-proposal", {}))
    shown = ("displayHead", "displayMode", "quality")
    return {
        "display": {key: {name: e[name] for name in shown} for key, e in entries.items()},
        "paramProposals": {
            pin: {name: p[name] for name in ("state", "approveCount")} for pin, p in changes.items()
        },
    }


def _differences(
    one: object, other: object, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """Give each innermost member in which two views differ; what one lacks is None there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            yield from _differences(one.get(name), other.get(name), (*path, name))
    elif one != other:
        yield path, one, other
