"""What a fold was like some heights ago, so that replaced blocks can be undone (spec §11).

Most of a state is only added to, in order: that is undone by cutting it to the length it had. What
a block changes, the rules announce to `State.touch` or `State.keep` before they change it, and it
is copied once a block. So a block of 50 pins costs some 50 copies, and undoing it the same, however
large the state is; a snapshot of a million events takes seconds.
"""

from collections import deque
from typing import cast

import msgspec

from refold.agentpedia.state import Copies, Due, Entry, State

_SCALARS = ("seq", "last", "clock", "founders", "not_authoritative_from", "limits")
"""Replaced, never changed in place."""
_LISTS = ("constitutions", "records", "graveyard")
_DICTS = (
    *("editors", "rates", "keys", "versions", "aliases", "reviews", "reviews_of", "challenges"),
    *("proposals", "param_proposals", "cases", "registers", "stakes"),
)
"""Only added to, apart from what `Copies` holds."""
_MARKED = frozenset(
    {"editors", "proposals", "param_proposals", "challenges", "reviews", "cases", "registers"}
)
"""Those of them that records of the view are made of, by their own names."""


class Moment(msgspec.Struct, frozen=True, gc=False):
    """What a state was like before anything happened at `height`."""

    height: int
    scalars: tuple[object, ...]
    lengths: dict[str, int]
    due: list[Due]
    plates: dict[str, str]
    copies: Copies


class Past:
    """The last `blocks` heights at which something happened, each able to be undone."""

    def __init__(self, blocks: int) -> None:
        self._moments: deque[Moment] = deque(maxlen=blocks)

    def begin(self, state: State, height: int) -> None:
        """Remember a state to which something is about to happen at a height above its clock."""
        state.copies = {}
        moment = Moment(
            height,
            tuple(getattr(state, name) for name in _SCALARS),
            {name: len(getattr(state, name)) for name in (*_LISTS, *_DICTS)},
            state.due.copy(),
            state.plates.copy(),
            state.copies,
        )
        self._moments.append(moment)

    def reaches(self, height: int) -> bool:
        """Tell whether all that happened above a height can be undone."""
        return bool(self._moments) and self._moments[0].height <= height + 1

    def roll_back(self, state: State, height: int) -> None:
        """Undo all that happened above a height that this `reaches`; mark what that changes."""
        while self._moments and self._moments[-1].height > height:
            _undo(state, self._moments.pop())
        state.copies = self._moments[-1].copies if self._moments else None


def _undo(state: State, moment: Moment) -> None:
    """Bring a state back to a moment, the last one before what is undone."""
    touched = state.touched
    for name, value in zip(_SCALARS, moment.scalars, strict=True):
        setattr(state, name, value)
    lengths = moment.lengths
    if len(state.constitutions) > lengths["constitutions"]:
        touched.everything = True
    buried = lengths["graveyard"]
    touched.graveyard = min(buried, buried if touched.graveyard is None else touched.graveyard)
    for record in range(lengths["records"], len(state.records)):
        touched.records.add(record)
        touched.histories[record] = 0
    for kind in _LISTS:
        del getattr(state, kind)[lengths[kind] :]
    for kind in _DICTS:
        parts = getattr(state, kind)
        marks = getattr(touched, kind) if kind in _MARKED else None
        while len(parts) > lengths[kind]:
            name, _ = parts.popitem()
            if marks is not None:
                marks.add(name)
    state.due, state.plates = moment.due, moment.plates
    _put_back(state, moment.copies)


def _put_back(state: State, copies: Copies) -> None:
    """Put the copies in place of what became of them; what was added since is gone already."""
    touched = state.touched
    for kind, parts in copies.items():
        now = getattr(state, kind)
        marks = getattr(touched, kind, None)
        for name, before in parts.items():
            if marks is not None:
                marks.add(name)
            if kind == "records":
                _put_back_record(state, cast("int", name), cast("Entry", before))
            elif kind == "credits" and before is None:
                now.pop(name, None)
            elif kind == "credits" or name in now:
                now[name] = before


def _put_back_record(state: State, index: int, before: Entry) -> None:
    if index < len(state.records):
        shortest = state.touched.histories.get(index, len(before.history))
        state.touched.histories[index] = min(shortest, len(before.history))
        state.records[index] = before
