"""The view digest kept up with a growing fold: a block costs what it changed (spec §10).

The fold marks what each event touches; here only those records are encoded again, and whoever keeps
a copy of the view is told of those that changed. Two things change without being touched, and are
watched here: a tier that comes with time alone, and a quality level that comes with the reputation
of those who reviewed a head.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Self

import msgspec

from refold.agentpedia.changes import History, Sink, Step, Value
from refold.agentpedia.fold import Fold
from refold.agentpedia.full import (
    SECTIONS,
    Record,
    constitution_records,
    digest_line,
    digest_of_lines,
    fold_record,
    graves,
    hash_in,
    history_names,
    history_records,
    quality_of,
    touched_records,
    undone_names,
)
from refold.agentpedia.state import Editor, Entry, Limits, State, Touched

Name = tuple[str, str]
"""Section and key."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of the digest, as a copy of the view gives it back."""

    section: str
    key: str
    sha256: str
    record: int | None = None


class LiveDigest:
    """The digest of a fold that goes on; it takes the fold's marks, so keep one for each fold."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self.tip = -1
        self._line_of: dict[Name, bytes] = {}
        self._lines: list[bytes] = []
        self._names: dict[int, list[Name]] = {}
        self._lengths: dict[int, int] = {}
        self._graves: list[str] = []
        self._praised: dict[str, set[int]] = defaultdict(set)
        self._weights: dict[str, int] = {}
        self._quality: dict[int, str] = {}
        self._ripening: list[tuple[int, str]] = []
        self._digest: str | None = None
        self._is_elsewhere = False
        fold.state.touched = Touched()

    @classmethod
    def resume(
        cls, fold: Fold, lines: Iterable[Line], tip: int, changed_from: int | None = None
    ) -> Self:
        """Go on where another one was: `lines` are its lines at `tip`.

        The fold stands at `tip` as well; or else, with `changed_from`, it went another way from
        that height on, and stands anywhere on it: the next look finds all that differs.
        """
        live = cls(fold)
        state = fold.state
        for line in lines:
            name = (line.section, line.key)
            live._line_of[name] = f"{line.section}\t{line.key}\t{line.sha256}\n".encode()
            if line.record is not None:
                live._names.setdefault(line.record, []).append(name)
            if line.section == "grave":
                live._graves.append(line.key)
        live._lines = sorted(live._line_of.values())
        live._lengths = dict.fromkeys(live._names, 1)  # at least; told anew if it went another way
        for index, entry in enumerate(state.records):
            live._lengths[index] = len(entry.history)
        live.tip = tip
        if changed_from is None:
            live._graves = [grave.pin for grave in state.graveyard]
            live._watch(state, tip)
            state.touched = Touched(everything=False)
        else:
            live._is_elsewhere = True
            state.touched.graveyard = 0
            state.touched.histories = dict.fromkeys(live._names, 0)
            for index, entry in enumerate(state.records):
                state.touched.histories[index] = _steps_below(state, entry, changed_from)
        return live

    def at(self, tip: int, sink: Sink | None = None) -> str:
        """Close what is due at `tip` and give the digest there: no event below it will come.

        Equal to `fold.view(tip).digest()`. A `sink` is told what changed since the last look: give
        one to every look, or to none. Raises `UsageError` as `Fold.view` does.
        """
        self._fold.advance(tip)
        state = self._fold.view(tip).state
        touched, state.touched = state.touched, Touched(everything=False)
        if not self._line_of and sink is not None:
            sink.forget()
        if touched.everything:
            self._touch_all(state, touched)
            self._watch(state, tip)
        elif tip < self.tip:
            touched.editors.update(self._unripe(state, tip))
            self._watch(state, tip)
        self.tip = tip
        self._mark_followers(state, tip, touched)
        renamed = self._drop_undone(state, touched, sink)
        changed = self._put_all(state, tip, touched, renamed, sink)
        if sink is not None:
            self._tell_histories(state, touched, changed, sink)
        self._is_elsewhere = False
        if self._digest is None:
            self._digest = digest_of_lines(self._lines)
        return self._digest

    @property
    def line_count(self) -> int:
        """The number of lines, one a record of the full view."""
        return len(self._lines)

    def _touch_all(self, state: State, touched: Touched) -> None:
        """Touch all there is and was."""
        for kind in SECTIONS.values():
            getattr(touched, kind).update(getattr(state, kind))
        touched.records.update(range(len(state.records)), self._names)
        for section, key in self._line_of:
            if section in SECTIONS:
                getattr(touched, SECTIONS[section]).add(key)

    def _watch(self, state: State, tip: int) -> None:
        """Note what may change without being touched."""
        self._praised.clear()
        self._weights = {name: max(e.reputation, 0) for name, e in state.editors.items()}
        for pin in state.reviews:
            self._note_praise(state, pin)
        self._quality = {
            index: quality_of(state, entry) for index, entry in enumerate(state.records)
        }
        self._ripening = [
            (height, editor.id)
            for editor in state.editors.values()
            if (height := ripens(editor, state.limits, tip)) is not None
        ]
        heapify(self._ripening)

    def _unripe(self, state: State, tip: int) -> Iterator[str]:
        """Give the editors whose tier may have changed between a tip and the later one before."""
        for editor in state.editors.values():
            height = ripens(editor, state.limits, tip)
            if height is not None and height <= self.tip:
                yield editor.id

    def _mark_followers(self, state: State, tip: int, touched: Touched) -> None:
        """Touch what changes with what was touched, and with time."""
        for pin in touched.reviews:
            if pin in state.reviews:
                self._note_praise(state, pin)
        while self._ripening and self._ripening[0][0] <= tip:
            touched.editors.add(heappop(self._ripening)[1])
        for name in touched.editors:
            if name in state.editors:
                height = ripens(state.editors[name], state.limits, tip)
                if height is not None:
                    heappush(self._ripening, (height, name))
            if not self._is_weighed_anew(state, name):
                continue
            for index in self._praised.get(name, ()):
                if index < len(state.records) and quality_of(
                    state, state.records[index]
                ) != self._quality.get(index):
                    touched.records.add(index)
        for index in touched.records:
            if index < len(state.records):
                self._quality[index] = quality_of(state, state.records[index])

    def _is_weighed_anew(self, state: State, name: str) -> bool:
        """Tell whether an editor's reputation is another than at the last look (spec §9)."""
        editor = state.editors.get(name)
        weight = 0 if editor is None else max(editor.reputation, 0)
        before, self._weights[name] = self._weights.get(name), weight
        return weight != before

    def _drop_undone(self, state: State, touched: Touched, sink: Sink | None) -> set[Name]:
        """Take out the lines of what is no more; give the names that stand for another record."""
        gone = set(undone_names(state, touched))
        taken: set[Name] = set()
        renamed: set[Name] = set()
        for index in touched.records:
            before = self._names.pop(index, [])
            names = history_names(state, index)
            if names:
                self._names[index] = names
            gone.update(before)
            taken.update(names)
            renamed.update(name for name in names if name not in before)
        if touched.everything:
            gone.update(name for name in self._line_of if name[0] == "constitution")
            taken.update(("constitution", c.pin) for c in state.constitutions)
        if touched.graveyard is not None:
            gone.update(("grave", pin) for pin in self._graves[touched.graveyard :])
            del self._graves[touched.graveyard :]
        for name in sorted(gone - taken):
            old = self._line_of.pop(name, None)
            if old is not None:
                del self._lines[bisect_left(self._lines, old)]
                self._digest = None
                if sink is not None:
                    sink.drop(*name)
        return renamed

    def _put_all(
        self, state: State, tip: int, touched: Touched, renamed: set[Name], sink: Sink | None
    ) -> set[int]:
        """Put the lines of what was touched, of new graves, and of the fold itself.

        Gives the records whose line is another.
        """
        new: list[bytes] | None = None if self._lines else []
        changed: set[int] = set()

        def put(record: Record, index: int | None = None) -> None:
            section, key, value = record
            name, line = (section, key), digest_line(record)
            old = self._line_of.get(name)
            if old == line and name not in renamed:
                return
            self._line_of[name] = line
            self._digest = None
            if index is not None:
                changed.add(index)
            if new is not None:
                new.append(line)  # sorted once: a million insertions would take minutes
            else:
                if old is not None:
                    del self._lines[bisect_left(self._lines, old)]
                insort(self._lines, line)
            if sink is not None:
                sink.put(Value(section, key, value, hash_in(line), index))

        put(fold_record(state))
        if touched.everything:
            for record in constitution_records(state):
                put(record)
        for index in sorted(touched.records):
            for record in history_records(state, index):
                put(record, index)
        for record in touched_records(state, tip, touched):
            put(record)
        for record in graves(state, len(self._graves)):
            self._graves.append(record[1])
            put(record)
        if new is not None:
            self._lines = sorted(new)
        return changed

    def _tell_histories(
        self, state: State, touched: Touched, changed: set[int], sink: Sink
    ) -> None:
        """Tell how the histories of touched records go on.

        Where the lines are of another chain, nobody knows how long the histories there are.
        """
        for index in sorted(touched.records):
            known = self._lengths.pop(index, 0)
            names = state.records[index].history if index < len(state.records) else []
            kept = min(known, touched.histories.get(index, known))
            if names:
                self._lengths[index] = len(names)
            is_unsure = self._is_elsewhere and index in changed
            if kept != known or kept != len(names) or is_unsure:
                steps = [Step(name, state.versions.get(name)) for name in names[kept:]]
                sink.history(History(index, kept, steps))

    def _note_praise(self, state: State, pin: str) -> None:
        """Remember whose reputation counts for the quality of which record."""
        review = state.reviews[pin]
        if review.by_t2:
            self._praised[review.sender].add(state.versions[review.target].record)


def _steps_below(state: State, entry: Entry, height: int) -> int:
    """Give how many steps of a history were surely made below a height."""
    for number, name in reversed(list(enumerate(entry.history, 1))):
        version = state.versions.get(name)
        if version is not None and version.height < height:
            return number
    return 0


def ripens(editor: Editor, limits: Limits, height: int) -> int | None:
    """Give the next height above this one at which an editor's tier may change by itself."""
    registered = editor.registered_at
    if registered is None:
        return None
    moments = (
        editor.suspended_until,
        limits.bootstrap_end,
        registered + limits.t0_blocks,
        registered + limits.t2_blocks,
    )
    return min((moment for moment in moments if moment > height), default=None)
