"""The monitor: how often each rule was right, judged by what became of the revs (PRD §5.7).

A rule that fired on a rev was right when the rev was overturned or ruled against, and gave a false
alarm when the rev stood for the week in which its credit settles, or was confirmed good faith.
Until either has happened the alarm is undecided. All of it follows from versions and rulings, the
same way under both profiles: reputation, which only `prd` settles, is not asked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from refold.agentpedia.reputation import SETTLE_DAYS
from refold.agentpedia.rules import RULING_DELTAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from refold.agentpedia.corpus import Corpus
    from refold.agentpedia.rulepack import Pack
    from refold.agentpedia.signals import Signal
    from refold.agentpedia.state import Entry, Proposal

Verdict = Literal["hit", "false-alarm", "undecided"]
"""What became of a rev, seen from an alarm about it."""

PERMILLE = 1000


class Alarms(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How one rule has done. `false_alarm_permille` is of the decided ones, None without any."""

    rule: str
    fired: int
    hits: int
    false_alarms: int
    undecided: int
    unknown: int
    false_alarm_permille: int | None


def monitor(
    pack: Pack, judged: Iterable[Signal], verdict_of: Mapping[str, Verdict]
) -> list[Alarms]:
    """Count by rule, in the order of the pack; rules that never fired are there with zeros."""
    counts: dict[str, Counter[str]] = {rule.id: Counter() for rule in pack.rules}
    for signal in judged:
        for fired in signal.fired:
            counts[fired.rule][verdict_of[signal.pin]] += 1
        for rule in signal.unknown:
            counts[rule]["unknown"] += 1
    return [_alarms(rule, count) for rule, count in counts.items()]


def _alarms(rule: str, count: Counter[str]) -> Alarms:
    hits, false, undecided = count["hit"], count["false-alarm"], count["undecided"]
    decided = hits + false
    return Alarms(
        rule=rule,
        fired=decided + undecided,
        hits=hits,
        false_alarms=false,
        undecided=undecided,
        unknown=count["unknown"],
        false_alarm_permille=false * PERMILLE // decided if decided else None,
    )


def verdicts(corpus: Corpus, tip: int) -> dict[str, Verdict]:
    """Say of every applied rev, by pin, what became of it by the tip.

    A ruling on the rev goes before what time says, and one against it before one for it.
    """
    against, good_faith = _rulings(corpus)
    overturned = _overturned(corpus)
    week = _week(corpus)
    found: dict[str, Verdict] = {}
    for pin, rev in corpus.revs.items():
        if rev.name in against:
            found[pin] = "hit"
        elif rev.name in good_faith:
            found[pin] = "false-alarm"
        elif rev.name in overturned:
            found[pin] = "hit"
        elif tip >= rev.event.height + week:
            found[pin] = "false-alarm"
        else:
            found[pin] = "undecided"
    return found


def _week(corpus: Corpus) -> int:
    return SETTLE_DAYS * corpus.state.options.blocks_per_day


def _rulings(corpus: Corpus) -> tuple[set[str], set[str]]:
    """Give the versions that effective rulings spoke against, and those confirmed good faith.

    A ruling speaks of the version that its challenge names: a personal one when it is about the
    author of that version, a revert-to when it goes back behind it. Dismissals, protection and
    transfers are no word on an author's faith.
    """
    state = corpus.state
    against: set[str] = set()
    good_faith: set[str] = set()
    for proposal in state.proposals.values():
        target = state.challenges[proposal.challenge_pin].target
        if proposal.state != "effective":
            continue
        if proposal.outcome == "revert-to":
            if _goes_behind(corpus, proposal, target):
                against.add(target)
        elif proposal.params.editor == state.versions[target].author:
            delta = RULING_DELTAS.get(proposal.outcome, 0)
            if delta:
                (against if delta < 0 else good_faith).add(target)
    return against, good_faith


def _goes_behind(corpus: Corpus, proposal: Proposal, target: str) -> bool:
    restored = corpus.named(proposal.params.revert_to or "")
    return restored is not None and restored.seq < corpus.state.versions[target].seq


def _overturned(corpus: Corpus) -> set[str]:
    """Give the names in histories that somebody else took away within their week (spec §8)."""
    found: set[str] = set()
    for entry in corpus.state.records:
        found |= _overturned_in(corpus, entry)
    return found


def _overturned_in(corpus: Corpus, entry: Entry) -> set[str]:
    """Sweep one history: each return to an older version covers a stretch of it.

    A name is overturned when its stretches are the work of anybody but its author. Counting who
    covers the present place takes constant time a step, whoever reverts however often.
    """
    history = entry.history
    authors, heights = _authors_and_heights(corpus, history)
    week = _week(corpus)
    begins: list[list[str]] = [[] for _ in history]
    ends: list[list[str]] = [[] for _ in history]
    for index, name in enumerate(history):
        target = _returned_to(corpus, name)
        if target is None:
            continue
        start = max(target + 1, bisect_right(heights, heights[index] - week))
        if start < index:
            begins[start].append(authors[index])
            ends[index].append(authors[index])
    found: set[str] = set()
    active: Counter[str] = Counter()
    for index, name in enumerate(history):
        active.update(begins[index])
        for author in ends[index]:
            active[author] -= 1
            if not active[author]:
                del active[author]
        if len(active) > 1 or (active and authors[index] not in active):
            found.add(name)
    return found


def _authors_and_heights(corpus: Corpus, history: list[str]) -> tuple[list[str], list[int]]:
    """Give author and height of each name; of redirects the state knows neither, their pins do."""
    authors: list[str] = []
    heights: list[int] = []
    for name in history:
        version = corpus.state.versions.get(name)
        if version is not None:
            author, height = version.author, version.height
        elif name in corpus.revs:
            event = corpus.revs[name].event
            author, height = event.sender, event.height
        else:
            author, height = "", heights[-1]
        authors.append(author)
        heights.append(height)
    return authors, heights


def _returned_to(corpus: Corpus, name: str) -> int | None:
    """Give the place of the version that a name in a history brought back, None for others."""
    version = corpus.state.versions.get(name)
    if version is None or version.equivalent_of is None:
        return None
    proposal = corpus.state.proposals.get(version.equivalent_of)
    rev = corpus.revs.get(version.equivalent_of)
    named: object = None
    if proposal is not None:
        named = proposal.params.revert_to
    elif rev is not None:
        named = rev.event.payload.get("revertTo")
    target = corpus.named(named) if isinstance(named, str) else None
    return None if target is None else corpus.places[target.id][1]
