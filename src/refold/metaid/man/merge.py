"""Rows of many pages merged into pins, each id once (facts: metaid §3.4). No request is made here.

The later word on a pin's place counts, but a copy of the mempool never replaces a confirmed one:
indexers keep listing it for a while. Path, author and first body never change; copies that differ
in them are no copies, and the first one stands.
"""

from collections.abc import Callable, Iterable

import msgspec

from refold.kernel.errors import InputError
from refold.metaid.man.bodies import Missing
from refold.metaid.man.overlap import Place, place_of
from refold.metaid.man.report import Notes
from refold.metaid.pin import Pin, Row, is_modified, pin_of_row


class _Seen(msgspec.Struct):
    """Where a pin stood at the last sight; `print` is of what never changes, None if not yet read.

    It is Python's own hash, good within one process: 100,000 bodies are too many to keep.
    """

    place: Place
    print: int | None = None


class Merge:
    """The pins of one path so far. `holds` tells which rows' pins the caller has already."""

    def __init__(self, path: str, holds: Callable[[Row], bool], notes: Notes) -> None:
        self.missing: dict[str, Missing] = {}
        self.held: set[str] = set()
        self._path = path
        self._holds = holds
        self._notes = notes
        self._seen: dict[str, _Seen] = {}

    def __len__(self) -> int:
        return len(self._seen)

    def __contains__(self, pin_id: object) -> bool:
        return pin_id in self._seen

    @property
    def confirmed(self) -> int:
        """How many of the pins stand in a block."""
        return sum(seen.place.height is not None for seen in self._seen.values())

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        """Take the rows of a page; give those whose pins have to be read."""
        return [row for row in rows if self._is_to_read(row)]

    def _is_to_read(self, row: Row) -> bool:
        if row.path != self._path:
            self._notes.note("other-path", row.id)
            return False
        place = place_of(row)
        seen = self._seen.get(row.id)
        if seen is None:
            self._seen[row.id] = _Seen(place)
            if self._holds(row):
                self.held.add(row.id)
                return False
            return True
        if place == seen.place or place.height is None:
            self._notes.note("duplicate", row.id)
            self._compare(row, seen)
            missing = self.missing.get(row.id)
            return missing is not None and missing.code != "copies-differ"
        self._move(row.id, seen, place)
        return True

    def pin(self, pin: Pin) -> Pin | None:
        """Take a pin that was read; give it as the caller needs it, None where he does not.

        What was read later may say another place than the row did: that one counts, as above.
        """
        if pin.path != self._path:
            self._notes.note("other-path", pin.id)
            return None
        place = Place(pin.height, 0 if pin.height is None else pin.tx_index)
        seen = self._seen.setdefault(pin.id, _Seen(place))
        if place.height is None and seen.place.height is not None:
            place = seen.place
            pin = msgspec.structs.replace(pin, height=place.height, tx_index=place.tx_index)
        if seen.place != place:
            self._move(pin.id, seen, place)
        print_of_pin = _print(pin)
        if seen.print not in {None, print_of_pin}:
            self._differs(pin.id, place)
            return None
        seen.print = print_of_pin
        self.missing.pop(pin.id, None)
        return pin

    def miss(self, missing: Missing) -> None:
        """Take a pin that could not be read."""
        self._seen.setdefault(missing.id, _Seen(Place(missing.height, 0)))
        self.missing[missing.id] = missing

    def _move(self, pin_id: str, seen: _Seen, place: Place) -> None:
        is_confirmed = seen.place.height is None and place.height is not None
        self._notes.note("confirmed-meanwhile" if is_confirmed else "moved", pin_id)
        seen.place = place

    def _compare(self, row: Row, seen: _Seen) -> None:
        """Compare a further copy with the one that was read, as far as the row shows it."""
        if seen.print is None or is_modified(row):
            return
        try:
            pin = pin_of_row(row)
        except InputError:
            return
        if _print(pin) != seen.print:
            self._differs(row.id, seen.place)

    def _differs(self, pin_id: str, place: Place) -> None:
        self._notes.note("copies-differ", pin_id)
        self.missing[pin_id] = Missing(
            pin_id,
            place.height,
            "copies-differ",
            f"pin {pin_id} is listed twice with another path, author or body",
        )


def _print(pin: Pin) -> int:
    return hash((pin.path, pin.sender, pin.body))
