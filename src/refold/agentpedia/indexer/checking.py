"""The stored view held against a fold from scratch over the stored pins: what differs, by name."""

from collections.abc import Callable, Iterator

import msgspec

from refold.agentpedia.digest import Line, LiveDigest
from refold.agentpedia.event import PATHS
from refold.agentpedia.fold import SNAPSHOT_FORMAT, Fold
from refold.agentpedia.full import digest_line, hash_in, records
from refold.agentpedia.indexer.indexer import READER
from refold.agentpedia.intake import read_pin
from refold.agentpedia.rules import Rules
from refold.agentpedia.state import Options
from refold.agentpedia.store import Folded, Views, open_views, options_fingerprint
from refold.agentpedia.store.retention import keeps_digest
from refold.db import Database
from refold.metaid.pin import Pin
from refold.metaid.store import Store, open_store

MAX_NAMED = 1_000
"""Differences that are named; the others are counted."""
STEP = 10_000
"""Pins between two calls of a progress function."""


class Difference(msgspec.Struct, frozen=True):
    """A value of the view that is stored otherwise than it was folded.

    Hashes in hex; `stored` is None for one that is not there, `folded` for one that should not be.
    `damaged`: its line is right, but what is stored does not hash to it.
    """

    section: str
    key: str
    stored: str | None
    folded: str | None

    @property
    def is_damaged(self) -> bool:
        """Whether the stored value is not what its own line says."""
        return self.stored is not None and self.stored == self.folded


class Checked(msgspec.Struct, frozen=True, rename="camel"):
    """What a check found. `height` is the tip of the stored view, `pending` what it has not seen.

    `differences` names the first `MAX_NAMED` of `difference_count`; `heights` are those whose kept
    digest is another one, lowest first. `stored` and `folded` are the view digests. `is_same_kind`:
    the stored view was made with these rules and options, by a release that folds as this one.
    """

    height: int
    events: int
    stored: str
    folded: str
    differences: tuple[Difference, ...]
    difference_count: int
    heights: tuple[int, ...]
    is_same_kind: bool
    is_same_position: bool
    is_behind: bool

    @property
    def is_right(self) -> bool:
        """Whether the stored view is that of the stored pins, in every value and digest."""
        same = self.stored == self.folded and self.is_same_kind and self.is_same_position
        return same and not self.difference_count and not self.heights


def check_view(
    database: Database,
    rules: Rules,
    options: Options,
    progress: Callable[[int, int], None] | None = None,
) -> Checked | None:
    """Fold all stored pins again, up to the height of the stored view; None when there is no view.

    Reads one state of the database, and writes nothing. The view is checked with the rules and
    options given: one that was made with others differs. Whether stakes are looked up is not asked
    of the caller, who gives None: it is taken from the stored view.
    """
    with database.read() as connection:
        store, views = open_store(connection), open_views(connection)
        folded = views.marks.folded()
        if folded is None:
            return None
        return _Check(store, views, folded, rules, options).run(progress)


class _Check:
    def __init__(
        self, store: Store, views: Views, folded: Folded, rules: Rules, options: Options
    ) -> None:
        self._store = store
        self._views = views
        self._folded = folded
        facts = store.facts
        with_stakes = msgspec.structs.replace(options, stake_facts={})
        kinds = [options_fingerprint(rules, one, SNAPSHOT_FORMAT) for one in (with_stakes, options)]
        looked_up = options.stake_facts is not None or folded.options == kinds[0]
        stakes = facts.stake_states() if looked_up else None
        known = msgspec.structs.replace(
            options, content_facts=facts.content_states(), stake_facts=stakes
        )
        self._is_same_kind = folded.options in kinds
        self._fold = Fold(rules, known)
        self._live = LiveDigest(self._fold)

    def run(self, progress: Callable[[int, int], None] | None) -> Checked:
        """Fold, then compare."""
        heights = self._refold(progress)
        digest = self._live.at(self._folded.height)
        found = list(self._differences())
        last = self._fold.state.last
        return Checked(
            height=self._folded.height,
            events=self._fold.state.seq,
            stored=self._folded.digest,
            folded=digest,
            differences=tuple(found[:MAX_NAMED]),
            difference_count=len(found),
            heights=tuple(heights),
            is_same_kind=self._is_same_kind,
            is_same_position=last == self._folded.last,
            is_behind=self._store.marks.changed_from(READER) is not None,
        )

    def _refold(self, progress: Callable[[int, int], None] | None) -> list[int]:
        """Fold all pins; give the heights whose kept digest is another."""
        top = self._folded.height - 1
        total = sum(self._store.pins.counts().confirmed.get(path, 0) for path in PATHS)
        wrong: list[int] = []
        height: int | None = None
        for done, pin in enumerate(self._pins(top), 1):
            here = pin.height or 0
            if height is None:
                height = here
            while height < here:
                wrong += self._wrong_at(height, top)
                height += 1
            event, fault = read_pin(pin, gates=self._fold.rules.gates)
            self._fold.apply(event, fault)
            if progress is not None and done % STEP == 0:
                progress(done, total)
        for left in range(top if height is None else height, top + 1):
            wrong += self._wrong_at(left, top)
        return wrong

    def _pins(self, top: int) -> Iterator[Pin]:
        return self._store.pins.confirmed(until=top, paths=PATHS)

    def _wrong_at(self, height: int, top: int) -> list[int]:
        if not keeps_digest(height, top):
            return []
        kept = self._views.marks.digest(height)
        if kept is None or kept.digest == self._live.at(height + 1):
            return []
        return [height]

    def _differences(self) -> Iterator[Difference]:
        view = self._fold.view(self._folded.height)
        folded = {
            (section, key): hash_in(digest_line((section, key, value)))
            for section, key, value in records(view.state, view.tip)
        }
        stored: dict[tuple[str, str], Line] = {}
        for line in self._views.values.lines():
            stored[line.section, line.key] = line
        for name in sorted(folded.keys() | stored.keys()):
            ours = stored.get(name)
            said, right = ours.sha256 if ours else None, folded.get(name)
            if said != right:
                yield Difference(*name, said, right)
        for line in self._views.values.wrong():
            if folded.get((line.section, line.key)) == line.sha256:
                yield Difference(line.section, line.key, line.sha256, line.sha256)
