"""The fold: one ordered event after the other, from the log to the state of the encyclopedia.

The path of an event: `Fold.apply` moves the clock, which closes what was due; `_judge` passes the
event through the gates that every path shares, then to the rule of its path (`_RULES`); a rule
either changes the state and gives None, or changes nothing and gives a `Refusal`; a refused pin
goes to the graveyard with its reason. Pure: no I/O, no clock but height, no randomness (spec §11).
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from heapq import heappop
from typing import Self

import msgspec

from refold.agentpedia.constitution import apply_constitution, apply_param_proposal, expire_params
from refold.agentpedia.editors import apply_editor, editor_named
from refold.agentpedia.event import (
    CHALLENGE,
    CONSTITUTION,
    EDITOR,
    PARAM_PROPOSAL,
    REV,
    REVIEW,
    RULING,
    Event,
    Fault,
    is_global_meta_id,
    position,
)
from refold.agentpedia.past import Past
from refold.agentpedia.reasons import Refusal, refuse, refuse_fault
from refold.agentpedia.reputation import settle
from refold.agentpedia.reviews import apply_challenge, apply_review
from refold.agentpedia.revs import apply_rev
from refold.agentpedia.rules import PRD, Rules
from refold.agentpedia.rulings import apply_ruling, expire
from refold.agentpedia.state import Due, Grave, Options, State, Touched
from refold.agentpedia.view import View
from refold.kernel.errors import InputError, UsageError

_RULES: dict[str, Callable[[State, Event], Refusal | None]] = {
    REV: apply_rev,
    CHALLENGE: apply_challenge,
    RULING: apply_ruling,
    REVIEW: apply_review,
    EDITOR: apply_editor,
    CONSTITUTION: apply_constitution,
    PARAM_PROPOSAL: apply_param_proposal,
}
_CLOSINGS: dict[str, Callable[[State, Due], None]] = {
    "proposal": expire,
    "param-proposal": expire_params,
    "signal": settle,
}
SNAPSHOT_FORMAT = 3
"""Raised whenever `State` or the meaning of one of its fields changes."""


class _Snapshot(msgspec.Struct, frozen=True):
    format: int
    state: State


class Fold:
    """A fold in progress: give it events in ascending order, take views at any height."""

    def __init__(self, rules: Rules = PRD, options: Options | None = None) -> None:
        options = options or Options()
        self.state = State(rules, options, roots=_roots(options.cluster_aliases))
        self._past: Past | None = None

    @property
    def rules(self) -> Rules:
        """The rules profile of this fold."""
        return self.state.rules

    def apply(self, event: Event, fault: Fault | None = None) -> Refusal | None:
        """Fold one confirmed event; `fault` is what an order-free check found wrong with it.

        Events come from intake, which lets no text through that cannot be stored (NUL, lone
        surrogates), no payload that is no object, and each pin once.
        Gives None when the event was applied, else why it was refused. The event of the last call
        given again is no event. Raises `UsageError` (`order-descending`) for an event at or below
        the position of the last one, or below a height already closed by `advance`.
        """
        state = self.state
        here = position(event)
        if here <= state.last or event.height < state.clock:
            if here == state.last:
                return None
            raise UsageError(
                "order-descending",
                f"{event.pin} at {here[:2]} comes after {state.last[2]} at {state.last[:2]}",
                "sort events by (height, txIndex, pin id), or fold again from a snapshot below",
            )
        due = state.due
        if event.height > state.clock or (due and due[0].height <= event.height):
            self.advance(event.height)
        state.last = here
        state.seq += 1
        refusal = _judge(state, event, fault)
        if refusal is not None:
            _bury(state, event, refusal)
        return refusal

    def apply_many(
        self, events: Iterable[Event], faults: Mapping[str, Fault] | None = None
    ) -> None:
        """Fold events in ascending order; `faults` by pin id.

        Python's cyclic collector rests meanwhile, in all threads of the process.
        """
        apply, fault_of = self.apply, (faults or {}).get
        with _collector_at_rest():
            for event in events:
                apply(event, fault_of(event.pin))

    def advance(self, height: int) -> None:
        """Close what is due at a height: no event below it will come.

        Proposals expire and signals settle in order of (due height, opening position) (§6, §8).
        """
        state = self.state
        touched = state.touched
        if touched.everything:  # nobody looks: let no marks pile up
            state.touched = Touched(graveyard=touched.graveyard, histories=touched.histories)
        if self._past is not None and height > state.clock:
            self._past.begin(state, height)
        due = state.due
        while due and due[0].height <= height:
            closing = heappop(due)
            _CLOSINGS[closing.kind](state, closing)
        state.clock = max(state.clock, height)

    @property
    def tip(self) -> int:
        """The height of the compared view: one above the last event's (facts page)."""
        return max(self.state.last[0] + 1, self.state.clock)

    def view(self, tip: int | None = None, pending: Iterable[str] = ()) -> View:
        """Give the view at a tip height, `self.tip` when it is None; this fold stays as it is.

        Raises `UsageError` (`tip-below-events`) for a tip below the last event or closing.
        """
        tip = self.tip if tip is None else tip
        if tip < self.state.clock:
            raise UsageError(
                "tip-below-events",
                f"a view at {tip} is below {self.state.clock}, up to which this fold has gone",
                "fold fewer events, or restore a snapshot from below that height",
            )
        fold = self
        if self.state.due and self.state.due[0].height <= tip:
            fold = Fold.restore(self.snapshot())
            fold.advance(tip)
        return View(fold.state, tip, sorted(pending))

    def snapshot(self) -> bytes:
        """Give the whole fold as bytes; `restore` and the remaining events give the same view."""
        state = msgspec.structs.replace(self.state, touched=Touched(), copies=None)
        return msgspec.msgpack.encode(_Snapshot(SNAPSHOT_FORMAT, state))

    @classmethod
    def restore(cls, data: bytes) -> Self:
        """Give the fold of a snapshot. Raises `InputError` (`snapshot-unreadable`)."""
        try:
            snapshot = msgspec.msgpack.decode(data, type=_Snapshot)
        except msgspec.MsgspecError as error:
            raise InputError(
                "snapshot-unreadable", f"not a fold snapshot: {error}", "fold the pins again"
            ) from error
        if snapshot.format != SNAPSHOT_FORMAT:
            raise InputError(
                "snapshot-unreadable",
                f"snapshot format {snapshot.format}, this release reads {SNAPSHOT_FORMAT}",
                "fold the pins again",
            )
        fold = cls(snapshot.state.rules)
        fold.state = snapshot.state
        return fold

    def remember(self, blocks: int) -> None:
        """From here on be able to undo what happens at the last so many heights where it does.

        With 0, nothing of it any more: it takes a third of the time of a fold.
        """
        self._past = Past(blocks) if blocks else None
        self.state.copies = None

    def roll_back(self, height: int) -> bool:
        """Undo all that happened above a height; False, and nothing is done, if it is too long ago.

        Everything undone is marked as touched. Closings that were due up to `height` may be undone
        as well; `advance` closes them again.
        """
        if self.state.clock <= height:
            return True
        if self._past is None or not self._past.reaches(height):
            return False
        self._past.roll_back(self.state, height)
        return True


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the cyclic collector from walking a state that holds no cycles.

    The larger the state, the more it walks in vain: a seventh of the time at 400,000 events.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _roots(aliases: Mapping[str, str]) -> dict[str, str]:
    """Follow aliases of aliases to the end; in a loop the smallest id is the root."""
    roots: dict[str, str] = {}
    for name in aliases:
        chain = [name]
        while chain[-1] in aliases and aliases[chain[-1]] not in chain:
            chain.append(aliases[chain[-1]])
        last = chain[-1]
        loop = chain[chain.index(aliases[last]) :] if last in aliases else [last]
        roots[name] = min(loop)
    return roots


def _judge(state: State, event: Event, fault: Fault | None) -> Refusal | None:
    """Pass an event through the gates that all paths share, then to the rule of its path (§3)."""
    path = event.path
    rule = _RULES.get(path)
    if rule is None:
        return refuse("unknown-path", path=path)
    if fault is not None and not fault.late:
        _name_editor(state, event, checked=True)
        return refuse_fault(fault)
    if not state.constitutions and path != CONSTITUTION:
        _name_editor(state, event, checked=False)
        return refuse("no-genesis")
    if path == REV:
        return apply_rev(state, event, fault)
    return rule(state, event)


def _name_editor(state: State, event: Event, *, checked: bool) -> None:
    """List the applicant of a refused editor pin all the same (spec §3, the one exception)."""
    if event.path == EDITOR:
        name = event.payload.get("editor")
        if type(name) is str and (not checked or is_global_meta_id(name)):
            editor_named(state, name)


def _bury(state: State, event: Event, refusal: Refusal) -> None:
    """Put a refused pin into the graveyard, with what an audit needs (spec §10)."""
    values = refusal.values

    def text(name: str) -> str:
        value = values.get(name, "")
        return value if type(value) is str else ""

    if refusal.reason == "schema-invalid":
        grave = Grave(event.pin, refusal.reason, pointer=text("pointer"), rule=text("rule"))
    elif refusal.reason == "duplicate-create":
        grave = Grave(event.pin, refusal.reason, entry_key=text("entryKey"), title=text("title"))
    else:
        grave = Grave(event.pin, refusal.reason)
    state.graveyard.append(grave)
