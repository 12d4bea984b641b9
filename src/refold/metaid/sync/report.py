"""What a round says of itself, while it runs and at its end."""

from typing import Literal

import msgspec

from refold.metaid.man.bodies import Missing
from refold.metaid.man.overlap import Place
from refold.metaid.man.report import WalkReport
from refold.metaid.store import Gap

MAX_NAMED = 1_000
"""Disagreements that a report names; the others it counts."""

Phase = Literal["poll", "gaps", "walk", "checks", "authors"]
"""`poll`: heights and counts. `gaps`: pins that could not be read before. `walk`: a list. `checks`:
pins that were not listed, one by one. `authors`: raw transactions."""


class Progress(msgspec.Struct, frozen=True):
    """How far a round is: told when a phase begins, and after each page or batch of it.

    `path` is "" where a phase is about none. `pages`, `rows` and `pins` (read and stored) are of
    this phase of this path, `requests` and `bytes` of the round so far. `total` is the indexer's
    stale word on the length of the list, for a bar; None if it gives none.
    """

    phase: Phase
    indexer: str
    path: str = ""
    pages: int = 0
    rows: int = 0
    pins: int = 0
    requests: int = 0
    bytes: int = 0
    total: int | None = None


class Traffic(msgspec.Struct, frozen=True):
    """Requests by kind, those that failed included, and bytes received."""

    lists: int = 0
    details: int = 0
    polls: int = 0
    transactions: int = 0
    bytes: int = 0

    @property
    def requests(self) -> int:
        """All of them."""
        return self.lists + self.details + self.polls + self.transactions

    def __add__(self, other: "Traffic") -> "Traffic":
        """Give the sum."""
        return Traffic(
            self.lists + other.lists,
            self.details + other.details,
            self.polls + other.polls,
            self.transactions + other.transactions,
            self.bytes + other.bytes,
        )


class Tally(msgspec.Struct):
    """How many pins became what.

    `new` were read for the first time, in a block, and `waiting_new` in the mempool. `confirmed`
    stand in a block and stood in none before, `waiting` stand in none any more, `moved` in another
    one or at another place of it; `vanished` pins of the mempool are gone. `amended` say more than
    before, `refused` no store could keep. `lowest` is the lowest height at which a pin that was in
    a block was moved from or to: from there on the chain is another than before.
    """

    new: int = 0
    waiting_new: int = 0
    confirmed: int = 0
    moved: int = 0
    waiting: int = 0
    vanished: int = 0
    amended: int = 0
    refused: int = 0
    lowest: int | None = None


class Disagreement(msgspec.Struct, frozen=True, rename="camel"):
    """A pin of which an indexer says something else than what is held, and by whose word that is.

    `about` names what: `place`; `unlisted` (it does not list the pin, though its height is beyond);
    or members of the pin, such as `path`, `sender`, `body`. `said` and `held` are places.
    """

    pin: str
    path: str
    indexer: str
    against: str
    about: tuple[str, ...]
    said: Place | None
    held: Place | None


class PathReport(msgspec.Struct, frozen=True, rename="camel"):
    """What was read of one path of one indexer.

    `walks` in their order. `is_covered`: all of them came to their ends, so that everything up to
    the indexer's height was read. `asked` pins were not listed and asked for one by one; of those,
    `unchecked` could not be asked. `height` is the height up to which the path is complete now.
    """

    path: str
    walks: tuple[WalkReport, ...]
    is_covered: bool
    asked: int
    unchecked: tuple[Missing, ...]
    height: int | None


class IndexerReport(msgspec.Struct, frozen=True, rename="camel"):
    """What was read of one indexer.

    `height` is the one that it said before the walks, `pins` its own count of pins of all paths;
    None if it said none. `is_answering`: whether it answered at all; `has_say`: whether its word on
    places counts (`say`). `fell_from` is its height in an earlier round, where that was higher.
    `differs_from` is the lowest height of the window whose pins, as it lists them, are others than
    in the round before: a reorganisation, or pins that it lists late. `code` and `message` are
    those of the error that ended its part.
    """

    indexer: str
    height: int | None
    pins: int | None
    is_answering: bool
    has_say: bool
    fell_from: int | None
    differs_from: int | None
    traffic: Traffic
    paths: tuple[PathReport, ...]
    code: str = ""
    message: str = ""

    @property
    def is_covered(self) -> bool:
        """Whether every path was read to where it had to be."""
        return not self.code and all(path.is_covered for path in self.paths)


class AuthorTally(msgspec.Struct, frozen=True, rename="camel"):
    """How many authors were verified with which verdict, and how many could not be."""

    proven: int = 0
    co_signed: int = 0
    signed_key: int = 0
    unproven: int = 0
    unchecked: int = 0
    left: bool = False


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """What a round did.

    `height` is the one up to which the pins are complete, as far as the indexers know them: the
    lowest of the heights that those in use said before the walks, or had said before the last
    walks that came to their ends. None when one of them says none, or no walk came to its end yet.
    In use is who answers and has a say. Pins above `height` may be in the store. `waiting` pins
    stand in no block. `gaps` are listed pins that could not be read yet, at any height; `doubtful`
    were given with a first body that nobody but the indexer vouches for. `disagreements` names the
    first `MAX_NAMED` of `disagreement_count`.
    """

    now: int
    height: int | None
    indexers: tuple[IndexerReport, ...]
    traffic: Traffic
    pins: Tally
    waiting: int
    gaps: tuple[Gap, ...]
    doubtful: tuple[str, ...]
    disagreements: tuple[Disagreement, ...]
    disagreement_count: int
    authors: AuthorTally | None = None

    @property
    def is_covered(self) -> bool:
        """Whether all indexers answered, and every path was read to where it had to be."""
        return all(one.is_answering and one.is_covered for one in self.indexers)

    @property
    def reorganised_from(self) -> int | None:
        """Give the lowest height at which a pin left its place; None when none did."""
        return self.pins.lowest
