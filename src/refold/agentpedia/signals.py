"""Signals: what the rule pack says of every applied rev, in a pass of its own.

The pass reads a view and the events behind it, and gives a report. It is no part of `apply`, it
changes nothing, and no rule of the fold reads it: a signal tells readers where to look, and whoever
wants a consequence opens a challenge (PRD §5.4, §5.7, X11; AC-C9). It is order-free: a rev's signal
depends on the rev, the state and the texts, not on the order in which revs are looked at.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from refold.agentpedia.corpus import Corpus
from refold.agentpedia.marks import Mark, association_marks
from refold.agentpedia.measure import measure
from refold.agentpedia.monitor import Alarms, monitor, verdicts
from refold.agentpedia.rulepack import LEVELS, Fired, Level, Pack, built_in_pack, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from refold.agentpedia.corpus import AppliedRev
    from refold.agentpedia.event import Event
    from refold.agentpedia.state import State
    from refold.agentpedia.view import View

Gate = Literal["schema", "unregistered", "rate"]
"""The three hard gates of the fold: all that `disallow` ever comes from (PRD §4.8, X11)."""

GATES: dict[str, Gate] = {
    "schema-invalid": "schema",
    "malformed-json": "schema",
    "unregistered": "unregistered",
    "rate-global": "rate",
    "rate-slug": "rate",
}
"""Reasons of the graveyard behind each hard gate."""
STEP = 1000
"""Revs between two calls of a progress function: two or three a second on texts of 2 KB."""
NAMES_PACK = "rulePack"
"""Member of a constitution's `algoVersions` that names a pack; no schema has it yet (§9a)."""


class Signal(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the pack says of one applied rev; `unknown` are rules that an unknown text left open."""

    pin: str
    entry_key: str
    author: str
    height: int
    type: str
    score: int
    level: Level
    fired: list[Fired]
    unknown: list[str]


class Disallowed(msgspec.Struct, frozen=True, gc=False):
    """A pin that one of the hard gates kept out. It has no score: none led there."""

    pin: str
    gate: Gate
    reason: str


class PackNote(msgspec.Struct, frozen=True, rename="camel"):
    """Which pack judged, and whether the constitution in force names that one.

    `named` is the version that `named_by`, the constitution in force, names; None when it names
    none, and `agrees` is None then too. `note` says it in a sentence.
    """

    version: str
    digest: str
    named: str | None
    named_by: str | None
    agrees: bool | None
    note: str


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """What the pass gives; revs and disallowed pins in the order of the fold."""

    rules: str
    tip: int
    pack: PackNote
    levels: dict[Level, int]
    revs: list[Signal]
    disallowed: list[Disallowed]
    alarms: list[Alarms]
    marks: list[Mark]


def signals(
    view: View,
    events: Iterable[Event],
    pack: Pack | None = None,
    fetched: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Judge every applied rev of a view by a pack, the built-in one when it is None.

    `events` are those folded into the view, in any order; `fetched` are texts behind contentRefs
    by rev. Where a text is not known, or longer than `measure.MAX_BYTES`, the rules that need it
    do not fire and stand under `unknown`. `progress(done, all)` is called every `STEP` revs.
    """
    pack = built_in_pack() if pack is None else pack
    events = list(events)
    corpus = Corpus(view.state, events, fetched)
    found: dict[str, Signal] = {}
    for rev in corpus.by_history():
        found[rev.event.pin] = signal_of(corpus, rev, pack)
        if progress is not None and (len(found) % STEP == 0 or len(found) == len(corpus.revs)):
            progress(len(found), len(corpus.revs))
    judged = [found[pin] for pin in corpus.revs]
    counts = Counter(signal.level for signal in judged)
    return Report(
        rules=view.state.rules.name,
        tip=view.tip,
        pack=pack_note(view.state, events, pack),
        levels={level: counts[level] for level in LEVELS},
        revs=judged,
        disallowed=disallowed(view.state),
        alarms=monitor(pack, judged, verdicts(corpus, view.tip)),
        marks=association_marks(corpus, events),
    )


def signal_of(corpus: Corpus, rev: AppliedRev, pack: Pack) -> Signal:
    """Judge one applied rev by a pack."""
    change = corpus.change(rev)
    judgement = judge(pack, measure(change, pack.phrases))
    return Signal(
        pin=rev.event.pin,
        entry_key=rev.entry_key,
        author=rev.event.sender,
        height=rev.event.height,
        type=change.type,
        score=judgement.score,
        level=judgement.level,
        fired=judgement.fired,
        unknown=judgement.unknown,
    )


def disallowed(state: State) -> list[Disallowed]:
    """List what the hard gates kept out, from the graveyard alone."""
    return [
        Disallowed(grave.pin, GATES[grave.reason], grave.reason)
        for grave in state.graveyard
        if grave.reason in GATES
    ]


def pack_note(state: State, events: Iterable[Event], pack: Pack) -> PackNote:
    """Say which pack this is, and whether the constitution in force names it.

    The published schema of a constitution has no member for a pack. Where a stream folded without
    schemas carries `algoVersions.rulePack`, it is compared; nothing else depends on it.
    """
    named: str | None = None
    pin = state.constitutions[-1].pin if state.constitutions else None
    for event in events:
        versions = event.payload.get("algoVersions") if event.pin == pin else None
        if isinstance(versions, dict):
            name = versions.get(NAMES_PACK)
            named = name if isinstance(name, str) else None
    return note_on(pack, named, pin)


def note_on(pack: Pack, named: str | None, pin: str | None) -> PackNote:
    """Say whether this is the pack that the constitution in force, `pin`, names, if it names one.

    `named` is the version that it names, None for none.
    """
    if named is None:
        note = f"judged by {pack.version}; the constitution names no rule pack"
    elif named == pack.version:
        note = f"judged by {pack.version}, as the constitution says"
    else:
        note = f"judged by {pack.version}, but the constitution names {named}"
    return PackNote(
        version=pack.version,
        digest=pack.digest,
        named=named,
        named_by=None if named is None else pin,
        agrees=None if named is None else named == pack.version,
        note=note,
    )
