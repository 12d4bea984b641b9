"""Files of pins, a line a pin (`pinline`): into a database and out of one, however large."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import BinaryIO

import msgspec

from refold.db import Database
from refold.kernel.errors import InputError, Problem, UsageError
from refold.metaid.pin import Pin
from refold.metaid.pinline import pin_line, pin_of_line
from refold.metaid.store import Written, open_store

__all__ = [
    "MAX_LINE_BYTES",
    "MAX_LISTED",
    "Disagreement",
    "Exported",
    "Imported",
    "export_pins",
    "import_pins",
]

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Of a line. A body takes four thirds of its bytes there, and no indexer gives one of 48 MiB."""
MAX_LISTED = 100
"""Lines that were refused, and copies that disagree, that are named; all are counted."""
BATCH_PINS = 500
BATCH_BYTES = 8 * 1024 * 1024
"""Pins, and bytes of lines, that are held and go into one transaction; a line may be larger."""

_BLANK = b" \t\r\n"


class Disagreement(msgspec.Struct, frozen=True):
    """A copy that differs from the one held in what nobody can change: where, and in what."""

    line: int
    pin: str
    differs: tuple[str, ...]


class Imported(msgspec.Struct, frozen=True, rename="camel"):
    """What became of the pins of a file, by outcome (`store.Outcome`).

    `refused` are lines that are no pin, or none that a store could keep; `problems` says why, of
    the first `MAX_LISTED`. `passed_over` are pins of other paths. `lowest` is the lowest height at
    which a pin came, went or was amended; None where that is so of none.
    """

    new: int
    moved: int
    amended: int
    same: int
    conflict: int
    refused: int
    passed_over: int
    lowest: int | None
    problems: tuple[Problem, ...]
    disagreements: tuple[Disagreement, ...]


class Exported(msgspec.Struct, frozen=True):
    """How many pins were written, and how many bytes."""

    confirmed: int
    pending: int
    bytes: int


def import_pins(
    database: Database,
    file: BinaryIO,
    source: str,
    *,
    paths: Collection[str] = (),
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Take the pins of a file, of all paths or of some, lot by lot, each in one transaction.

    A line that is no pin costs itself alone. Stopped at any moment it leaves whole lots, and to
    import the same again changes nothing, so whoever was stopped starts anew. `source` is who gave
    the pins, for moves and conflicts; `progress` is told the bytes that were read. Raises
    UsageError `file-unreadable`; SourceError of `refold.db.errors`.
    """
    tally = _Tally()
    for lot in _lots(_lines(file, tally, progress), tally, paths):
        with database.write() as connection:
            written = open_store(connection).pins.write([pin for _, pin in lot], source)
        for (number, _), one in zip(lot, written, strict=True):
            tally.add(number, one)
    return tally.imported()


def export_pins(
    database: Database,
    file: BinaryIO,
    *,
    paths: Collection[str] = (),
    pending: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write the pins of one state of the database, of all paths or of some.

    Those in blocks come first, in the total order, then by id those in none, without the vanished.
    `progress` is told pins, of how many. Raises OSError when the file cannot be written.
    """
    counts = [0, 0]
    size = 0
    with database.read() as connection:
        pins = open_store(connection).pins
        total = _total(pins.counts().confirmed, paths) if progress is not None else 0
        kinds = (pins.confirmed(paths=paths), pins.pending(paths=paths) if pending else ())
        for kind, found in enumerate(kinds):
            for pin in found:
                size += file.write(pin_line(pin))
                counts[kind] += 1
                if progress is not None and counts[kind] % BATCH_PINS == 0:
                    progress(counts[0], total)
    return Exported(counts[0], counts[1], size)


def _total(confirmed: dict[str, int], paths: Collection[str]) -> int:
    return sum(count for path, count in confirmed.items() if not paths or path in paths)


class _Tally:
    """Counts what becomes of lines."""

    def __init__(self) -> None:
        self.passed_over = 0
        self._outcomes: Counter[str] = Counter()
        self._problems: list[Problem] = []
        self._disagreements: list[Disagreement] = []
        self._lowest: int | None = None

    def refuse(self, number: int, problem: Problem) -> None:
        self._outcomes["refused"] += 1
        if len(self._problems) < MAX_LISTED:
            self._problems.append(msgspec.structs.replace(problem, line=number))

    def add(self, number: int, written: Written) -> None:
        if written.outcome == "refused":
            said = f"no store could keep pin {written.id}: {', '.join(written.differs)}"
            self.refuse(number, Problem("pin-refused", said, "get it anew"))
            return
        self._outcomes[written.outcome] += 1
        if written.outcome == "conflict" and len(self._disagreements) < MAX_LISTED:
            self._disagreements.append(Disagreement(number, written.id, written.differs))
        if written.outcome == "amended" or written.before != written.after:
            places = (written.before, written.after)
            heights = [place.height for place in places if place and place.height is not None]
            known = [] if self._lowest is None else [self._lowest]
            self._lowest = min(heights + known, default=None)

    def imported(self) -> Imported:
        return Imported(
            **{name: self._outcomes[name] for name in _OUTCOMES},
            passed_over=self.passed_over,
            lowest=self._lowest,
            problems=tuple(self._problems),
            disagreements=tuple(self._disagreements),
        )


_OUTCOMES = ("new", "moved", "amended", "same", "conflict", "refused")


def _lines(
    file: BinaryIO, tally: _Tally, progress: Callable[[int], None] | None
) -> Iterator[tuple[int, bytes]]:
    """Give the lines that hold something, with their numbers from 1; refuse those too long."""
    number = done = 0
    while line := _read(file):
        number += 1
        done += len(line)
        if len(line) > MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = _read(file)
                done += len(line)
            said = f"the line has more than {MAX_LINE_BYTES:,} bytes"
            tally.refuse(number, Problem("line-too-long", said, "one pin a line"))
        elif line.strip(_BLANK):
            yield number, line
        if progress is not None:
            progress(done)


def _read(file: BinaryIO) -> bytes:
    try:
        return file.readline(MAX_LINE_BYTES + 1)
    except OSError as error:
        raise UsageError(
            "file-unreadable", f"reading failed: {error.strerror or error}", "check the file"
        ) from error


def _lots(
    lines: Iterator[tuple[int, bytes]], tally: _Tally, paths: Collection[str]
) -> Iterator[list[tuple[int, Pin]]]:
    """Give the pins with the numbers of their lines, as many at a time as a transaction takes."""
    lot: list[tuple[int, Pin]] = []
    size = 0
    for number, line in lines:
        try:
            pin = pin_of_line(line)
        except InputError as error:
            tally.refuse(number, error.errors[0])
            continue
        if paths and pin.path not in paths:
            tally.passed_over += 1
            continue
        lot.append((number, pin))
        size += len(line)
        if len(lot) == BATCH_PINS or size >= BATCH_BYTES:
            yield lot
            lot, size = [], 0
    if lot:
        yield lot
