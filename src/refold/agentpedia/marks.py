"""Association marks: what suggests that two editors are one, from facts of the stream alone.

A mark is shown and exported. It is fed into no counter: counters merge by the alias table that an
operator passes in, and by nothing else (spec §9a, PRD §4.8, §5.4). A mark says what was pinned, not
who pinned it for whom: anybody can name another's stake, or write beside another in one block.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import msgspec

from refold.agentpedia.event import EDITOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from refold.agentpedia.corpus import AppliedRev, Corpus
    from refold.agentpedia.event import Event
    from refold.agentpedia.state import State

Kind = Literal["same-stake", "endorsement-ring", "alternating-edits"]
"""What a mark is made of."""

MIN_TURNS = 3
"""Turns that make alternating edits: A B A B in one block, say; two can happen by chance."""
MAX_EVIDENCE = 20
"""Pins listed of one mark: enough to look at, and a bound on what an export grows by."""


class Mark(msgspec.Struct, frozen=True, gc=False):
    """One association: at least two editors, sorted; how often; the first pins that show it.

    `count` is of registers that name the stake, of endorsements inside the ring, of turns. Pins
    stand in the order of the fold within an entry and among accepted registers; refused ones last.
    """

    kind: Kind
    editors: list[str]
    count: int
    evidence: list[str]


def association_marks(corpus: Corpus, events: Iterable[Event]) -> list[Mark]:
    """Give all marks, sorted by kind and editors. Cost: n log n in events."""
    marks = [
        *_same_stakes(corpus.state, events),
        *_endorsement_rings(corpus.state),
        *_alternating_edits(corpus),
    ]
    return sorted(marks, key=lambda mark: (mark.kind, mark.editors, mark.evidence))


def _mark(kind: Kind, editors: Iterable[str], evidence: list[str]) -> Mark:
    return Mark(kind, sorted(editors), len(evidence), evidence[:MAX_EVIDENCE])


def _same_stakes(state: State, events: Iterable[Event]) -> Iterator[Mark]:
    """Find stake transactions that several applicants name: accepted, or refused for just that."""
    refused = [grave.pin for grave in state.graveyard if grave.reason == "stake-reused"]
    named: dict[str, list[tuple[str, str]]] = {}
    for register in state.registers.values():
        if register.txid is not None:
            named.setdefault(register.txid, []).append((register.pin, register.editor))
    if refused:
        event_of = {event.pin: event for event in events if event.path == EDITOR}
        for pin in refused:
            stake = event_of[pin].payload.get("stake") if pin in event_of else None
            txid = stake.get("txid") if isinstance(stake, dict) else None
            if isinstance(txid, str):
                named.setdefault(txid, []).append((pin, event_of[pin].sender))
    for registers in named.values():
        editors = {editor for _, editor in registers}
        if len(editors) > 1:
            yield _mark("same-stake", editors, [pin for pin, _ in registers])


def _endorsement_rings(state: State) -> Iterator[Mark]:
    """Find editors who stand for each other in a circle: strongly connected endorsements."""
    endorsed: dict[str, list[str]] = {}
    for register in state.registers.values():
        for endorser in register.endorsers:
            endorsed.setdefault(endorser, []).append(register.editor)
    ring_of = _components(endorsed)
    inside: dict[int, list[str]] = {}
    members: dict[int, set[str]] = {}
    for register in state.registers.values():
        for endorser in register.endorsers:
            ring = ring_of[register.editor]
            if ring_of[endorser] == ring:
                inside.setdefault(ring, []).append(register.pin)
                members.setdefault(ring, set()).update((endorser, register.editor))
    for ring, pins in inside.items():
        yield _mark("endorsement-ring", members[ring], pins)


def _components(graph: Mapping[str, list[str]]) -> dict[str, int]:
    """Number the strongly connected components (Tarjan), without recursion: chains may be long."""
    component: dict[str, int] = {}
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_nodes: list[str] = []
    for root in graph:
        if root in order:
            continue
        path = [(root, iter(graph[root]))]
        order[root] = low[root] = len(order)
        open_nodes.append(root)
        while path:
            node, rest = path[-1]
            step = next(rest, None)
            if step is None:
                path.pop()
                if path:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == order[node]:
                    number = len(component)
                    while node not in component:
                        component[open_nodes.pop()] = number
            elif step not in order:
                order[step] = low[step] = len(order)
                open_nodes.append(step)
                path.append((step, iter(graph.get(step, ()))))
            elif step not in component:
                low[node] = min(low[node], order[step])
    return component


def _alternating_edits(corpus: Corpus) -> Iterator[Mark]:
    """Find pairs who take turns on one entry within one block, again and again."""
    turns: dict[tuple[str, str], list[str]] = {}
    for before, after in pairwise(corpus.by_history()):
        if _is_turn(before, after):
            one, other = sorted((before.event.sender, after.event.sender))
            turns.setdefault((one, other), []).append(after.event.pin)
    for editors, pins in turns.items():
        if len(pins) >= MIN_TURNS:
            yield _mark("alternating-edits", editors, pins)


def _is_turn(before: AppliedRev, after: AppliedRev) -> bool:
    return (
        before.record == after.record
        and before.event.height == after.event.height
        and before.event.sender != after.event.sender
    )
