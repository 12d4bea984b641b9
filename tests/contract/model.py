"""The pins of a store once more, slow and obvious: two dictionaries and the rules, one by one."""

from dataclasses import dataclass, field, replace

import msgspec

from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store import NO_RIVALS, Rivals

NOWHERE = Place(None, 0)
LASTING = (
    *("path", "sender", "operation", "encryption", "version", "content_type"),
    *("target", "host", "chain", "body"),
)
FOLDED = ("path", "sender", "operation", "encryption", "version", "content_type")
"""What a fold reads of an envelope."""


@dataclass
class Copy:
    """A copy that is held."""

    pin: Pin
    source: str
    vanished: bool = False
    owner: str = ""


@dataclass
class Model:
    """What a store should hold."""

    blocks: dict[str, Copy] = field(default_factory=dict)
    mempool: dict[str, Copy] = field(default_factory=dict)
    moves: dict[str, list[tuple[Place, Place, str]]] = field(default_factory=dict)
    conflicts: list[tuple[tuple[object, ...], str, tuple[str, ...]]] = field(default_factory=list)
    readers: dict[str, tuple[frozenset[str], int | None]] = field(default_factory=dict)

    def copied(self) -> "Model":
        """Give a copy that nothing done to this one changes."""
        return Model(
            {key: replace(copy) for key, copy in self.blocks.items()},
            {key: replace(copy) for key, copy in self.mempool.items()},
            {key: list(steps) for key, steps in self.moves.items()},
            list(self.conflicts),
            dict(self.readers),
        )

    def read_by(self, reader: str, *paths: str) -> None:
        """Say what a reader reads."""
        if reader not in self.readers or self.readers[reader][0] != frozenset(paths):
            self.readers[reader] = (frozenset(paths), 0)

    def settle(self, reader: str) -> None:
        """Say that a reader has seen everything."""
        self.readers[reader] = (self.readers.get(reader, (frozenset(), 0))[0], None)

    def write(self, pin: Pin, source: str, rivals: Rivals = NO_RIVALS) -> None:
        """Take a copy."""
        in_mempool = pin.height is None
        if pin.id in self.blocks:
            copy = self.blocks[pin.id]
            clash = self._clash(copy, pin, source)
            if in_mempool:
                copy.vanished = False
                return
            self._stand(copy, place_of(pin), source, rivals)
            if not clash:
                before = copy.pin
                copy.pin = self._better(before, pin)
                if any(getattr(before, name) != getattr(copy.pin, name) for name in FOLDED):
                    self._note(before.path, before.height)
                    self._note(copy.pin.path, before.height)
        elif not in_mempool:
            self.mempool.pop(pin.id, None)
            self.blocks[pin.id] = Copy(pin, source, owner=source)
            self._note(pin.path, pin.height)
        elif pin.id in self.mempool:
            copy = self.mempool[pin.id]
            if not self._clash(copy, pin, source):
                first = copy.pin.timestamp
                copy.pin = msgspec.structs.replace(self._better(copy.pin, pin), timestamp=first)
        else:
            self.mempool[pin.id] = Copy(msgspec.structs.replace(pin, tx_index=0), source)

    def move(self, pin_id: str, place: Place, source: str, rivals: Rivals = NO_RIVALS) -> None:
        """Take a word on where a pin stands."""
        if pin_id in self.blocks:
            self._stand(self.blocks[pin_id], place, source, rivals)

    def vanish(self, pin_id: str, source: str, rivals: Rivals = NO_RIVALS) -> None:
        """Take the word that nobody knows a pin."""
        self.mempool.pop(pin_id, None)
        if pin_id in self.blocks:
            copy = self.blocks[pin_id]
            if self._stand(copy, NOWHERE, source, rivals):
                copy.vanished = True

    def roll_back(self, height: int, source: str) -> None:
        """Take pins out of blocks."""
        for copy in self.blocks.values():
            if copy.pin.height is not None and copy.pin.height > height:
                self._note(copy.pin.path, height + 1)
                self._stand(copy, NOWHERE, source)

    def confirmed(self) -> list[Pin]:
        """Give the pins in blocks, in order."""
        pins = [copy.pin for copy in self.blocks.values() if copy.pin.height is not None]
        return sorted(pins, key=lambda pin: (pin.height, pin.tx_index, pin.id))

    def pending(self) -> list[Pin]:
        """Give the pins in no block, by id."""
        waiting = [copy.pin for copy in self.mempool.values()]
        waiting += [
            copy.pin
            for copy in self.blocks.values()
            if copy.pin.height is None and not copy.vanished
        ]
        return sorted(waiting, key=lambda pin: pin.id)

    def place(self, pin_id: str) -> Place | None:
        """Give where a pin stands."""
        if pin_id in self.blocks:
            return place_of(self.blocks[pin_id].pin)
        return NOWHERE if pin_id in self.mempool else None

    def _stand(self, copy: Copy, place: Place, source: str, rivals: Rivals = NO_RIVALS) -> bool:
        """Let a pin stand elsewhere, unless somebody counts more; tell whether it was heard."""
        before = place_of(copy.pin)
        if before.height is not None and before != place and copy.owner != source:
            if copy.owner in rivals.above:
                return False
            if place.height is None and copy.owner in rivals.below:
                return False
        copy.vanished = False
        if place.height is not None:
            has_others = bool(rivals.above or rivals.below)
            if before != place or (has_others and copy.owner not in rivals.above):
                copy.owner = source
        if before != place:
            copy.pin = msgspec.structs.replace(
                copy.pin, height=place.height, tx_index=place.tx_index
            )
            self.moves.setdefault(copy.pin.id, []).append((before, place, source))
            self._note(copy.pin.path, before.height)
            self._note(copy.pin.path, place.height)
        return True

    def _note(self, path: str, height: int | None) -> None:
        """Note that a fold would read something else at a height of a path."""
        if height is None:
            return
        for name, (paths, lowest) in self.readers.items():
            if not paths or path in paths:
                self.readers[name] = (paths, height if lowest is None else min(lowest, height))

    def _clash(self, copy: Copy, pin: Pin, source: str) -> bool:
        differs = [name for name in LASTING if self._clashes(copy.pin, pin, name)]
        if not differs:
            return False
        told = (pin.id, source, *(getattr(pin, name) for name in LASTING))
        if told not in [met[0] for met in self.conflicts]:
            self.conflicts.append((told, copy.source, tuple(differs)))
        return True

    @staticmethod
    def _clashes(ours: Pin, theirs: Pin, name: str) -> bool:
        one, other = getattr(ours, name), getattr(theirs, name)
        if name == "body":
            return bool(one != other)
        return one not in {"", None} and other not in {"", None} and one != other

    @staticmethod
    def _better(ours: Pin, theirs: Pin) -> Pin:
        better = {}
        for name in LASTING:
            one = getattr(ours, name)
            better[name] = getattr(theirs, name) if one in {"", None} else one
        better["body"] = ours.body
        return msgspec.structs.replace(
            ours,
            **better,
            status=theirs.status,
            timestamp=theirs.timestamp,
            address=theirs.address or ours.address,
            history=theirs.history or ours.history,
        )


def place_of(pin: Pin) -> Place:
    """Give where a pin says that it stands."""
    return NOWHERE if pin.height is None else Place(pin.height, pin.tx_index)
