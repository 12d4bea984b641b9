"""The stage of the story: blocks, pins, a fold that says who may do what, and scenes in turn.

A scene is a generator. It does something at the height where it stands, then yields the height at
which it wants to go on; `World.play` lets the scenes take turns. Every pin goes through the real
gates and the real fold at once, so a scene may ask what the wiki looks like now, and a story that
contradicts the rules fails while it is told.
"""

from __future__ import annotations

from collections.abc import Generator
from hashlib import sha256
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Protocol

import msgspec

from refold.agentpedia.demo.articles import articles
from refold.agentpedia.demo.cast import DEMO_NAMES, id_of
from refold.agentpedia.demo.dice import Dice
from refold.agentpedia.editors import tier_at
from refold.agentpedia.entries import resolve
from refold.agentpedia.event import PATHS, PREFIX, Event
from refold.agentpedia.fold import Fold
from refold.agentpedia.intake import MEMPOOL, check_payload
from refold.agentpedia.rules import PRD

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from refold.agentpedia.demo.articles import Draft
    from refold.agentpedia.state import Entry, Proposal, State, Tier, Version

Payload = dict[str, object]
Scene = Generator[int, None, None]
"""What takes turns: it yields the height at which it wants to go on."""

GENESIS_HEIGHT = 184_320
"""Height of the genesis: a chain that has run for a few years."""
BLOCKS_PER_HOUR = 6
BLOCKS_PER_DAY = 144
EVE = 9
"""Blocks before the genesis at which the story begins."""
DAYS = 60
"""Days of the story, from the genesis to the tip."""


class Stage(Protocol):
    """Where pins are put: it gives them their ids."""

    def put(self, name: str, path: str, payload: Payload, height: int | None) -> tuple[str, int]:
        """Put a pin of a bot into the block of a height, None for the mempool; heights never fall.

        Gives pin id and index in the block.
        """


class World:
    """The chain and the wiki while the story is told; `height` is the block now filled.

    Without a `stage` the pins have made-up ids.
    """

    def __init__(self, seed: int, stage: Stage | None = None) -> None:
        self.dice = Dice(seed)
        self._stage = stage or _Paper(seed)
        self.fold = Fold(PRD)
        self.events: list[Event] = []
        self.height = GENESIS_HEIGHT - EVE
        self.articles = dict(articles())
        self.first_pins: dict[str, str] = {}
        self.content_facts: dict[str, str] = {}
        self.reserved: set[str] = set()
        self._seed = seed
        self._drafts: dict[str, Draft] = {}
        self._agenda: list[tuple[int, int, Scene]] = []
        self._wakes = 0

    # scenes and time

    def at(self, day: int, hour: int = 0) -> int:
        """Give the height of an hour of a day, both counted from the genesis."""
        return GENESIS_HEIGHT + day * BLOCKS_PER_DAY + hour * BLOCKS_PER_HOUR

    def after(self, low: int, high: int | None = None) -> int:
        """Give a height so many blocks on, drawn from `low` to `high`."""
        return self.height + (low if high is None else self.dice.between(low, high))

    def start(self, scene: Scene) -> None:
        """Let a scene begin in the present block, as soon as the running one rests."""
        self._wake(scene, self.height)

    def _wake(self, scene: Scene, height: int) -> None:
        self._wakes += 1
        heappush(self._agenda, (max(height, self.height), self._wakes, scene))

    def play(self, scenes: Iterable[Scene]) -> None:
        """Play all scenes, and those they start, up to the end of the last day."""
        for scene in scenes:
            self.start(scene)
        end = self.at(DAYS)
        while self._agenda and self._agenda[0][0] <= end:
            height, _, scene = heappop(self._agenda)
            self._move_to(height)
            wake = next(scene, None)
            if wake is not None:
                self._wake(scene, wake)

    def _move_to(self, height: int) -> None:
        self.height = max(self.height, height)
        self.fold.advance(height)  # so that a scene sees what has expired by now

    # pins

    def pin(self, name: str, path: str, payload: Payload, *, refused: str = "") -> str:
        """Pin a payload in the present block; give its pin id.

        `refused` is the reason for which the story wants it refused, "" when it is to be applied.
        Raises `RuntimeError` when the fold sees it otherwise: a defect of the story.
        """
        pin, tx_index = self._stage.put(name, path, payload, self.height)
        event = Event(pin, path, self.height, tx_index, id_of(name), payload)
        kind = path.removeprefix(PREFIX)
        fault = check_payload(kind, payload) if path in PATHS else None
        refusal = self.fold.apply(event, fault)
        reason = "" if refusal is None else refusal.reason
        if reason != refused:
            values = None if refusal is None else refusal.values
            raise RuntimeError(
                f"at {self.height} {name} pins {kind}: {reason or 'applied'},"
                f" not {refused or 'applied'}; {values}"
            )
        self.events.append(event)
        return event.pin

    def pin_unmined(self, name: str, path: str, payload: Payload) -> None:
        """Leave a pin in the mempool."""
        pin, _ = self._stage.put(name, path, payload, None)
        self.events.append(Event(pin, path, MEMPOOL, 0, id_of(name), payload))

    def number(self, *words: object) -> str:
        """Give 64 hex digits made of the seed and some words: a transaction id, a nonce."""
        return made_up(self._seed, *words)

    # what the wiki looks like now

    @property
    def state(self) -> State:
        """The state of the fold."""
        return self.fold.state

    def tier(self, name: str) -> Tier | None:
        """Give the tier of a bot now."""
        return tier_at(self.state, id_of(name), self.height)

    def entry(self, key: str) -> Entry:
        """Give the record of an entry that exists."""
        return self.state.records[self.state.keys[key]]

    def head(self, key: str) -> Version:
        """Give the version that is the head of an entry, the last one before a redirect."""
        entry = self.entry(key)
        names = [entry.head, *reversed(entry.history)]
        return next(version for name in names if (version := resolve(self.state, name)))

    def proposal(self, pin: str) -> Proposal:
        """Give an applied proposal."""
        return self.state.proposals[pin]

    def draft(self, version: Version) -> Draft:
        """Give the draft behind a version."""
        return self._drafts[version.content_hash]

    def text_of(self, key: str, draft: Draft) -> str:
        """Write a draft of an entry out, and remember which draft the text stands for."""
        text = self.articles[key].render(draft, self.first_pins)
        self.remember(text, draft)
        return text

    def remember(self, text: str, draft: Draft) -> None:
        """Remember which draft a text stands for."""
        self._drafts[sha256(text.encode()).hexdigest()] = draft

    def may_write(self, name: str, key: str) -> bool:
        """Tell whether an edit of this bot on this entry would pass the gates now."""
        tier = self.tier(name)
        if tier is None or tier == "T0":
            return False
        state, limits, editor = self.state, self.state.limits, id_of(name)
        if key in state.keys:
            status = self.entry(key).status
            trusted = tier == "T2" and state.editors[editor].reputation >= limits.protect_tenths
            if status == "frozen" or (status == "protected" and not trusted):
                return False
        rate = state.rates.get(editor)
        if rate is None or rate.day != (self.height - GENESIS_HEIGHT) // BLOCKS_PER_DAY:
            return True
        return rate.total < limits.global_daily and rate.by_key.get(key, 0) < limits.slug_daily

    def trusted(self, *, but: Container[str] = ()) -> list[str]:
        """Give the T2 bots by reputation, the highest first, without those in `but`."""
        ranks = [
            (-editor.reputation, DEMO_NAMES[editor.id])
            for editor in self.state.editors.values()
            if DEMO_NAMES[editor.id] not in but and self.tier(DEMO_NAMES[editor.id]) == "T2"
        ]
        return [name for _, name in sorted(ranks)]

    def move_article(self, old: str, new: str) -> None:
        """Let an article go on under a new key, as a transfer-slug has made it."""
        self.articles[new] = msgspec.structs.replace(self.articles[old], slug=new.partition(":")[2])


class _Paper:
    """The stage of a story that is only written down."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._gaps = Dice(seed)
        self._count = self._height = self._tx_index = 0

    def put(self, _name: str, _path: str, _payload: Payload, height: int | None) -> tuple[str, int]:
        """Give the next made-up id, and an index with room for other people's transactions."""
        pin = made_up(self._seed, "pin", self._count) + "i0"
        self._count += 1
        if height != self._height:
            self._height, self._tx_index = height or 0, 0
        self._tx_index += self._gaps.between(1, 7)
        return pin, self._tx_index


def made_up(seed: int, *words: object) -> str:
    """Give 64 hex digits made of a seed and some words."""
    return sha256(" ".join(map(str, ("refold demo", seed, *words))).encode()).hexdigest()


def name_of_version(version: str) -> str:
    """Give the pin id that names a version on the chain: that of the revert or ruling behind it."""
    return version.partition("::")[0]
