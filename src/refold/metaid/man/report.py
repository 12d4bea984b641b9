"""What a walk over a list of pins says of itself: why it ended, what it lacks, what was odd."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from refold.metaid.man.bodies import Missing
from refold.metaid.man.client import Generation
from refold.metaid.man.rows import BrokenRow

MAX_BARREN_PAGES = 50
"""Pages in a row without a pin that was not listed before: then the list leads nowhere.

Copies of mempool rows that were never cleared fill a page or two; this would be 5,000 rows.
"""

EndReason = Literal[
    "exhausted",
    "cursor-end",
    "stopped",
    "cursor-loop",
    "barren",
    "page-limit",
    "request-limit",
    "byte-limit",
    "failed",
]
END_REASONS: Mapping[EndReason, str] = MappingProxyType(
    {
        "exhausted": "an empty page without a cursor, twice: the end of the list",
        "cursor-end": "a page with rows and without a cursor, twice: the end of a tidy list",
        "stopped": "the caller had enough",
        "cursor-loop": "the cursor of the next page is one that was asked for before, twice",
        "barren": f"{MAX_BARREN_PAGES} pages in a row without a new pin",
        "page-limit": "the limit of pages",
        "request-limit": "the limit of requests",
        "byte-limit": "the limit of bytes",
        "failed": "a page could not be read",
    }
)

ANOMALIES: Mapping[str, str] = MappingProxyType(
    {
        "duplicate": "a pin listed again at its place, or again in the mempool",
        "confirmed-meanwhile": "a pin seen in the mempool and then in a block",
        "moved": "a pin seen at one place and then at another",
        "copies-differ": "two copies of a pin differ in what no event can change",
        "row-unreadable": "an entry that is no row of a pin",
        "other-path": "a row of another path, passed over",
        "rows-hidden": "confirmed rows that an indexer of the first generation left out",
        "oversized-page": "a page of more rows than asked for",
        "short-page": "a page of fewer rows than asked for, and rows behind it",
        "empty-page": "a page without rows, but with a cursor",
        "false-end": "a page that seemed to be the last, and asked for again was not",
        "out-of-order": "a page that holds a higher row than the page before",
        "total-drift": "a larger total than on the page before",
        "total-shrank": "a smaller total than on the page before",
        "total-above": "at the end, a total above the confirmed pins that were listed",
    }
)
"""What a walk counts. A total is a stale statistic of the indexer: a sign, never a target."""

ENDS = frozenset({"exhausted", "cursor-end"})
"""Reasons that say that the list was read to its end."""
_LOSSES = frozenset({"copies-differ", "rows-hidden"})


class End(msgspec.Struct, frozen=True, rename="camel"):
    """Why a walk ended. `cursor` is where another one would go on, "" at the front or nowhere.

    `code` and `message` are those of the error that it failed with.
    """

    reason: EndReason
    cursor: str = ""
    code: str = ""
    message: str = ""


class Anomaly(msgspec.Struct, frozen=True, rename="camel"):
    """How often one of `ANOMALIES` was met, and the first pin, cursor or number that it was."""

    kind: str
    count: int
    first: str


class Notes:
    """Counts anomalies."""

    def __init__(self) -> None:
        self._met: dict[str, Anomaly] = {}

    def note(self, kind: str, which: str, count: int = 1) -> None:
        """Count one of `ANOMALIES`."""
        met = self._met.get(kind) or Anomaly(kind, 0, which)
        self._met[kind] = msgspec.structs.replace(met, count=met.count + count)

    def listed(self) -> tuple[Anomaly, ...]:
        """Give what was counted, in the order of `ANOMALIES`."""
        return tuple(self._met[kind] for kind in ANOMALIES if kind in self._met)


class WalkReport(msgspec.Struct, frozen=True, rename="camel"):
    """What a walk got, and what it could not get.

    `rows` counts the entries of all pages. `pins` are distinct, at the place where they were seen
    last: `confirmed` or `mempool`; `held` of them the caller had already. `missing` are listed but
    could not be read, `broken` not even named, `doubtful` given with a first body that nobody but
    the indexer vouches for. `heights` are what the indexer had come to before
    the first page and after the last one, None where it does not say: pins above the first may be
    missing. `first_total` and `last_total` are its stale word. `requests` and `bytes` are all that
    went through the transport meanwhile.
    """

    base: str
    path: str
    generation: Generation | None
    size: int
    end: End
    pages: int
    rows: int
    pins: int
    confirmed: int
    mempool: int
    held: int
    requests: int
    bytes: int
    heights: tuple[int | None, int | None]
    first_total: int | None
    last_total: int | None
    missing: tuple[Missing, ...]
    broken: tuple[BrokenRow, ...]
    doubtful: tuple[str, ...]
    anomalies: tuple[Anomaly, ...]

    @property
    def is_ended(self) -> bool:
        """Whether the walk came to the end of the list."""
        return self.end.reason in ENDS

    @property
    def is_complete(self) -> bool:
        """Whether the walk came to the end of the list and got every pin on it.

        What the indexer itself lacks or leaves out, no walk can say.
        """
        lost = _LOSSES & {anomaly.kind for anomaly in self.anomalies}
        return self.is_ended and not (self.missing or self.broken or lost)
