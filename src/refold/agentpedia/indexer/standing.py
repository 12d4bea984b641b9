"""A fold in memory that stands where the stored view stands, or is brought there."""

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from refold.agentpedia.digest import LiveDigest
from refold.agentpedia.event import PATHS, Event, Fault
from refold.agentpedia.fold import SNAPSHOT_FORMAT, Fold
from refold.agentpedia.intake import read_pin
from refold.agentpedia.rules import Rules
from refold.agentpedia.state import Options
from refold.agentpedia.store import Folded, Views, options_fingerprint
from refold.metaid.store import Pins, Position, Store

REMEMBERED_BLOCKS = 288
"""Heights that a fold in memory can undo: two days, twelve times the window that a sync compares.
Deeper roll-backs begin from a snapshot."""

Checked = tuple[Event, Fault | None]


class Standing:
    """A fold, its live digest, and how far the stored view that they are of has come.

    `folded` is None when nothing is stored. `snapshot` is the height of the newest snapshot, and
    how many events were in the last one that was used or made. `damaged` are the heights of those
    that could not be used.
    """

    def __init__(self, rules: Rules, options: Options) -> None:
        self.rules = rules
        self.fingerprint = options_fingerprint(rules, options, SNAPSHOT_FORMAT)
        self.folded: Folded | None = None
        self.snapshot = (-1, 0)
        self.damaged: list[int] = []
        self._options = options
        self._begin()

    @property
    def position(self) -> Position:
        """The position of the last event that was folded."""
        return Position(*self.fold.state.last)

    def open(self, store: Store, views: Views, changed: int | None) -> None:
        """Bring the fold to where the stored view is, or below the height that `changed`.

        A view made with other rules or options is forgotten.
        """
        folded = views.marks.folded()
        if folded is not None and folded.options != self.fingerprint:
            views.marks.forget_folded()
            views.snapshots.drop(-1)
            folded = None
        self.folded = folded
        if folded is None:
            self._begin()
            self.refresh(store)
            return
        sound = changed is None or changed >= folded.height
        below = folded.height if sound or changed is None else changed
        self._restore(views, below - 1)
        self.refresh(store)
        self._refold(store.pins, below - 1)
        if not sound or self.position != folded.last:
            self._go_another_way(views, folded, 0 if sound else below)
            return
        self.fold.advance(folded.height)
        self.live = LiveDigest.resume(self.fold, views.values.lines(), folded.height)

    def roll_back(self, store: Store, views: Views, height: int) -> None:
        """Undo all that happened above a height, in the fold; the view learns of it at a look."""
        folded = self.folded
        if folded is None or self.fold.roll_back(height):
            return
        self._restore(views, height)
        self.refresh(store)
        self._refold(store.pins, height)
        self._go_another_way(views, folded, height + 1)

    def remember(self) -> None:
        """From here on be able to undo blocks: near the tip, since it costs."""
        self.fold.remember(REMEMBERED_BLOCKS)
        self.remembers = True

    def refresh(self, store: Store) -> None:
        """Take over what is known of texts by now, and of stakes if anybody looks them up."""
        facts = store.facts
        self.fold.state.options = msgspec.structs.replace(
            self._options,
            content_facts=facts.content_states(),
            stake_facts=None if self._options.stake_facts is None else facts.stake_states(),
        )

    def events(self, pins: Pins, until: int, after: Position | None = None) -> Iterator[Checked]:
        """Give the events behind a position, by default that of the fold, up to a height."""
        gates = self.rules.gates
        behind = after or self.position
        for pin in pins.confirmed(behind, until=until, paths=PATHS):
            yield read_pin(pin, gates=gates)

    def _begin(self) -> None:
        self.fold = Fold(self.rules, self._options)
        self.remembers = False
        self.live = LiveDigest(self.fold)

    def _restore(self, views: Views, below: int) -> None:
        """Begin from a snapshot that leaves blocks to be remembered, or from any, or from none."""
        for height in (below - REMEMBERED_BLOCKS, below):
            found = views.snapshots.newest(height, SNAPSHOT_FORMAT, self.fingerprint)
            self.damaged += [one for one in found.damaged if one not in self.damaged]
            if found.snapshot is not None:
                self.fold = Fold.restore(found.snapshot.data)
                newest = views.snapshots.newest_height(below, SNAPSHOT_FORMAT, self.fingerprint)
                self.snapshot = (newest or found.snapshot.height, self.fold.state.seq)
                return
        self.snapshot = (-1, 0)
        self.fold = Fold(self.rules, self._options)

    def _refold(self, pins: Pins, until: int) -> None:
        """Fold what is between the snapshot and where the view stands or is to stand."""
        self.remembers = False
        for event, fault in self.events(pins, until):
            if not self.remembers and event.height > until - REMEMBERED_BLOCKS:
                self.remember()
            self.fold.apply(event, fault)

    def _go_another_way(self, views: Views, folded: Folded, height: int) -> None:
        """Let the next look compare everything: what is stored is of another chain from there."""
        lines = views.values.lines()
        self.live = LiveDigest.resume(self.fold, lines, folded.height, changed_from=height)


def by_height(events: Iterator[Checked], most: int) -> Iterator[list[Checked]]:
    """Give whole blocks of events, until they are `most` or more in all."""
    given = 0
    block: list[Checked] = []
    for event, fault in events:
        if block and block[0][0].height != event.height:
            yield block
            given += len(block)
            block = []
            if given >= most:
                return
        block.append((event, fault))
    if block:
        yield block


def numbered(
    blocks: Iterable[list[Checked]], first: int, top: int
) -> Iterator[tuple[int, list[Checked]]]:
    """Give every height from `first` to `top` with its block, empty ones included."""
    height = first
    for block in chain(blocks, [[]]):
        end = block[0][0].height if block else top + 1
        yield from ((empty, []) for empty in range(height, end))
        if block:
            yield end, block
        height = end + 1
