"""What a copy of a pin does to the copy that is held. Pure: no table is read or written here.

A pin's id is a hash over all that was pinned, so path, author and first body never change, nor the
rest of the tuple. Its place can: blocks are replaced. What indexers add can, such as the status.
Therefore, in this order (agentpedia spec §2; facts: metaid §6):

1. A copy out of a block takes the place of a copy of the mempool, whatever that one said.
2. A copy that differs in what never changes is a conflict. The first stays; the other is kept as
   evidence. Its place counts all the same: indexers that disagree on an author would otherwise
   leave a pin where no block has it any more.
3. The later word on the place counts, but a copy of the mempool unseats no confirmed pin: indexers
   go on listing it for a while.
4. Of several indexers the word of the first counts that has a say and shows the pin in a block
   (`model.Rivals`): nobody moves a pin that stands by the word of one above him, nor takes one out
   of the block that another has it in.
5. What was not said before is filled in, what was said is never lost.
"""

from collections.abc import Mapping

import msgspec

from refold.kernel.canon import MAX_INTEGER
from refold.metaid.man.overlap import Place
from refold.metaid.man.rows import PIN_ID
from refold.metaid.pin import Pin
from refold.metaid.store.model import (
    NO_RIVALS,
    NOWHERE,
    Conflict,
    Held,
    Moved,
    Rivals,
    State,
    Written,
)

_UNCHANGING = (
    *("path", "sender", "operation", "encryption", "version", "content_type"),
    *("target", "host", "chain"),
)
"""Of the envelope. An indexer that leaves one out has "" or None there."""

_FOLDED = ("path", "sender", "operation", "encryption", "version", "content_type")
"""What a fold may read. Status, history and times are not of it: anybody can set those."""


class Batch:
    """Takes words of one kind one after the other, and collects what has to be written for them.

    `held` and `waiting` are what the store has of the ids: copies out of blocks, and of the
    mempool, none of both. Each word sees what those before it did. `changes` is the lowest height
    of each path at which a fold would read something else than before.
    """

    def __init__(
        self,
        held: Mapping[str, Held],
        waiting: Mapping[str, Held],
        source: str,
        rivals: Rivals = NO_RIVALS,
    ) -> None:
        self.added: dict[str, Held] = {}
        self.changed: dict[str, Held] = {}
        self.waiting_put: dict[str, Held] = {}
        self.waiting_gone: set[str] = set()
        self.moves: list[tuple[str, Moved]] = []
        self.conflicts: list[Conflict] = []
        self.changes: dict[str, int] = {}
        self._held = dict(held)
        self._waiting = dict(waiting)
        self._source = source
        self._rivals = rivals

    def take(self, pin: Pin, sha256: str) -> Written:
        """Take a copy; `sha256` is the hash of its body (hex)."""
        refused = out_of_bounds(pin)
        if refused:
            return Written(pin.id, "refused", None, None, refused)
        held = self._held.get(pin.id)
        if held is not None:
            return self._again(held, pin, sha256)
        waiting = self._waiting.get(pin.id)
        if pin.height is not None:
            return self._confirm(pin, sha256, waiting)
        if waiting is not None:
            return self._wait_on(waiting, pin, sha256)
        copy = msgspec.structs.replace(pin, tx_index=0)
        self._waits(Held(copy, sha256, len(pin.body), self._source, "mempool"))
        return Written(pin.id, "new", None, NOWHERE)

    def move(self, pin_id: str, after: Place) -> Written:
        """Take the word that a pin stands elsewhere, or in no block any more."""
        held = self._held.get(pin_id)
        if held is None:
            before = NOWHERE if pin_id in self._waiting else None
            return Written(pin_id, "unread", before, before)
        pin = _placed(held.pin, after)
        refused = out_of_bounds(pin)
        if refused:
            return Written(pin_id, "refused", held.place, held.place, refused)
        return self._settle(held, pin, "unconfirmed" if after.height is None else "confirmed")

    def vanish(self, pin_id: str) -> Written:
        """Take the word that nobody knows a pin any more."""
        held = self._held.get(pin_id)
        if held is not None:
            return self._settle(held, _placed(held.pin, NOWHERE), "vanished")
        if pin_id not in self._waiting:
            return Written(pin_id, "unread", None, None)
        self._waits_no_more(pin_id)
        return Written(pin_id, "moved", NOWHERE, None)

    def _again(self, held: Held, pin: Pin, sha256: str) -> Written:
        """Take a further copy of a pin that was read out of a block before."""
        differs = self._compare(held, pin, sha256)
        if pin.height is None:
            # Nothing but a sign that it is still known; it shows no more than the copy we have.
            written = (
                self._settle(held, held.pin, "unconfirmed")
                if held.state == "vanished"
                else Written(pin.id, "same", held.place, held.place)
            )
        else:
            kept = held.pin if differs else _amended(held.pin, pin)
            place = Place(pin.height, pin.tx_index)
            written = self._settle(held, _placed(kept, place), "confirmed")
        return _conflicting(written, differs)

    def _confirm(self, pin: Pin, sha256: str, waiting: Held | None) -> Written:
        """Take the first copy out of a block."""
        held = Held(pin, sha256, len(pin.body), self._source, "confirmed", placed_by=self._source)
        self._held[pin.id] = self.added[pin.id] = held
        self._note(held)
        if waiting is None:
            return Written(pin.id, "new", None, held.place)
        self._waits_no_more(pin.id)
        return Written(pin.id, "moved", NOWHERE, held.place)

    def _wait_on(self, waiting: Held, pin: Pin, sha256: str) -> Written:
        """Take a further copy of a pin that was only seen in the mempool."""
        differs = self._compare(waiting, pin, sha256)
        amended = waiting.pin if differs else _amended(waiting.pin, pin)
        if amended == waiting.pin:
            return _conflicting(Written(pin.id, "same", NOWHERE, NOWHERE), differs)
        self._waits(msgspec.structs.replace(waiting, pin=amended))
        return Written(pin.id, "amended", NOWHERE, NOWHERE)

    def _settle(self, held: Held, pin: Pin, state: State) -> Written:
        """Let a pin be and stand as given, if its place may be said; note what that changes."""
        told = Place(pin.height, pin.tx_index)
        is_heard = self._may_place(held, told)
        if not is_heard:
            pin, state = _placed(pin, held.place), held.state
        settled = msgspec.structs.replace(
            held, pin=pin, state=state, placed_by=self._owner(held, told, is_heard=is_heard)
        )
        if settled != held:
            self._held[pin.id] = self.changed[pin.id] = settled
        if settled.place != held.place:
            self.moves.append((pin.id, Moved(held.place, settled.place, self._source)))
            self._note(held)
            self._note(settled)
            return Written(pin.id, "moved", held.place, settled.place)
        if any(getattr(held.pin, name) != getattr(pin, name) for name in _FOLDED):
            self._note(held)
            self._note(settled)
        if not is_heard:
            return Written(pin.id, "elsewhere", held.place, held.place)
        is_same = settled.pin == held.pin and settled.state == held.state
        return Written(pin.id, "same" if is_same else "amended", held.place, held.place)

    def _may_place(self, held: Held, place: Place) -> bool:
        """Tell whether the word that a pin stands at a place counts (rule 4)."""
        if held.place in {place, NOWHERE} or held.placed_by == self._source:
            return True
        if held.placed_by in self._rivals.above:
            return False
        return place.height is not None or held.placed_by not in self._rivals.below

    def _owner(self, held: Held, place: Place, *, is_heard: bool) -> str:
        """Give on whose word a pin stands from now on.

        To say the same as another does takes his place only where somebody may speak in between.
        """
        if not is_heard or place.height is None:
            return held.placed_by
        is_other = self._rivals != NO_RIVALS and held.placed_by not in self._rivals.above
        return self._source if place != held.place or is_other else held.placed_by

    def _note(self, held: Held) -> None:
        """Note that a fold would read something else at the height of a pin."""
        height = held.pin.height
        if height is not None:
            path = held.pin.path
            self.changes[path] = min(height, self.changes.get(path, height))

    def _compare(self, held: Held, pin: Pin, sha256: str) -> tuple[str, ...]:
        """Give what differs that cannot change, and note it."""
        differs = tuple(name for name in _UNCHANGING if _differs(held.pin, pin, name))
        if sha256 != held.sha256:
            differs = (*differs, "body")
        if differs:
            self.conflicts.append(Conflict(pin, sha256, self._source, held.source, differs))
        return differs

    def _waits(self, waiting: Held) -> None:
        self._waiting[waiting.pin.id] = self.waiting_put[waiting.pin.id] = waiting

    def _waits_no_more(self, pin_id: str) -> None:
        del self._waiting[pin_id]
        self.waiting_put.pop(pin_id, None)
        self.waiting_gone.add(pin_id)


def out_of_bounds(pin: Pin) -> tuple[str, ...]:
    """Name what of a pin no store could keep: an id that is none, numbers beyond ±(2^53 - 1)."""
    if PIN_ID.fullmatch(pin.id) is None:
        return ("id",)
    if (
        0 <= pin.tx_index <= MAX_INTEGER
        and 0 <= (pin.height or 0) <= MAX_INTEGER
        and -MAX_INTEGER <= pin.timestamp <= MAX_INTEGER
        and -MAX_INTEGER <= pin.status <= MAX_INTEGER
    ):
        return ()  # as nearly every pin; the rest says what is wrong with the others
    within = (
        ("height", pin.height is None or 0 <= pin.height <= MAX_INTEGER),
        ("tx_index", pin.height is None or 0 <= pin.tx_index <= MAX_INTEGER),
        ("timestamp", -MAX_INTEGER <= pin.timestamp <= MAX_INTEGER),
        ("status", -MAX_INTEGER <= pin.status <= MAX_INTEGER),
    )
    return tuple(name for name, is_within in within if not is_within)


def _differs(held: Pin, pin: Pin, name: str) -> bool:
    """Tell whether both say something, and not the same."""
    ours, theirs = getattr(held, name), getattr(pin, name)
    return bool(ours and theirs and ours != theirs)


def _amended(held: Pin, pin: Pin) -> Pin:
    """Give the held copy with what may change as `pin` has it, and with what was not said."""
    said = {name: getattr(held, name) or getattr(pin, name) for name in _UNCHANGING}
    return msgspec.structs.replace(
        held,
        **said,
        status=pin.status,
        history=pin.history or held.history,
        address=pin.address or held.address,
        # In the mempool it is when the indexer first saw it, which each says otherwise.
        timestamp=held.timestamp if pin.height is None else pin.timestamp,
    )


def _placed(pin: Pin, place: Place) -> Pin:
    return msgspec.structs.replace(pin, height=place.height, tx_index=place.tx_index)


def _conflicting(written: Written, differs: tuple[str, ...]) -> Written:
    if not differs:
        return written
    return msgspec.structs.replace(written, outcome="conflict", differs=differs)
