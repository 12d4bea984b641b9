"""Import: the receipts that are pinned on a chain, read through an indexer into the store.

    with database as opened, GuardedClient(policy) as transport:
        imported = import_receipts(opened, ManClient(transport, url), utc_now)

A round walks the whole list at the path, reads only what is new or stands elsewhere, and asks for
each known pin that the list lacks, as an empty answer proves nothing. Pins that are no receipts are
remembered for a while. Stopped at any moment it leaves whole lots; the next round goes on.
Source: coverage spec P0-9; facts: metaid §3.4.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from refold import __version__
from refold.coverage.chainpin import PATH, Pinned, Refused, chain_order, read_pin
from refold.coverage.checks import validate
from refold.coverage.store import Origin, open_store
from refold.coverage.store.onchain import OnChain
from refold.coverage.store.refusals import REFUSED_SECONDS, Reader, Refusals
from refold.db import Database
from refold.kernel.errors import InputError, RefoldError
from refold.kernel.utc import later
from refold.metaid.man.bodies import Bodies, Missing
from refold.metaid.man.client import ManClient
from refold.metaid.man.report import WalkReport
from refold.metaid.man.rows import ListPage
from refold.metaid.man.walk import Limits, Walk
from refold.metaid.pin import MEMPOOL_HEIGHT, Pin, Row, pin_of_row
from refold.metaid.rawtx import RawTxs

__all__ = ["LOT_BYTES", "MAX_LISTED", "Imported", "import_receipts"]

LOT_BYTES = 32 * 1024 * 1024
"""Bytes of records that are held, to be stored in the order of the chain; lists run backwards."""
MAX_LISTED = 100
"""Pins that were refused, or not got, that are named; all are counted."""

_ANY_TIME = "9999-12-31T23:59:59Z"
_OF_THE_MOMENT = frozenset({"pin-altered", "pin-unproved", "E_ASOF_FUTURE"})
"""Codes that another indexer, or another moment, may not give."""


class Imported(msgspec.Struct, frozen=True, rename="camel"):
    """What a round brought.

    `new` receipts, pins that brought one `again`, pins that `moved` to another block or out of it,
    and those that `vanished`. `refused` are pins that are no receipts, `missing` those that could
    not be read; the first `MAX_LISTED` of each are told. `known` pins were passed over, and so were
    those that were `refused_before`.
    """

    new: int
    again: int
    moved: int
    vanished: int
    known: int
    refused: int
    refused_before: int
    missing: int
    refusals: tuple[Refused, ...]
    misses: tuple[Missing, ...]
    walk: WalkReport

    @property
    def is_complete(self) -> bool:
        """Whether the list was read to its end, and every pin on it."""
        return self.walk.is_complete and not self.missing


def import_receipts(
    database: Database,
    man: ManClient,
    now: str,
    *,
    txs: RawTxs | None = None,
    limits: Limits | None = None,
    on_lot: Callable[[int], object] = lambda _pins: None,
) -> Imported:
    """Take one round of the pins at `PATH`; `now` is RFC 3339, UTC, Z.

    `txs` gives raw transactions: with them each byte of a pin is held against the transaction that
    its id names. `on_lot` is told how many pins were read. What the indexer does not give is in
    what comes back; raises what the database raises.
    """
    return _Round(database, man, now, txs).run(limits, on_lot)


class _Round:
    def __init__(self, database: Database, man: ManClient, now: str, txs: RawTxs | None) -> None:
        self._database = database
        self._man = man
        self._now = now
        self._txs = txs
        self._reader = Reader(man.base, __version__, txs is not None)
        self._since = later(now, -REFUSED_SECONDS)
        self._known: dict[str, int | None] = {}
        self._spam: dict[str, int] = {}
        self._to_remember: list[tuple[str, int]] = []
        self._listed: set[str] = set()
        self._passed: set[str] = set()
        self._gone: list[str] = []
        self._tally: Counter[str] = Counter()
        self._refusals: list[Refused] = []
        self._misses: list[Missing] = []

    def run(self, limits: Limits | None, on_lot: Callable[[int], object]) -> Imported:
        with self._database.read() as connection:
            before = OnChain(connection).ids()
        walk = Walk(
            self._man,
            PATH,
            bodies=Bodies(self._man, self._txs),
            holds=self._holds,
            ahead=self._look_up,
            limits=limits,
        )
        lot: list[Pinned] = []
        size = 0
        for page in walk:
            for missing in page.missing:
                self._miss(missing)
            for pin in page.pins:
                found = self._read(pin)
                if found is not None:
                    lot.append(found)
                    size += len(found.body)
            if size > LOT_BYTES:
                self._store(lot)
                lot, size = [], 0
            on_lot(self._tally["read"])
        report = walk.report()
        if report.is_ended:
            lot += self._look_for(sorted(set(before) - self._listed))
        self._store(lot)
        self._forget()
        self._tally["known"] = len(self._passed - self._spam.keys())
        self._tally["refused_before"] = len(self._passed & self._spam.keys())
        return Imported(
            **{name: self._tally[name] for name in _COUNTED},
            refusals=tuple(self._refusals),
            misses=tuple(self._misses),
            walk=report,
        )

    def _look_up(self, page: ListPage) -> None:
        ids = [row.id for row in page.rows]
        self._listed.update(ids)
        self._listed.update(entry.id for entry in page.broken if entry.id)
        with self._database.read() as connection:
            self._known |= {pin: known.height for pin, known in OnChain(connection).of(ids).items()}
            self._spam |= Refusals(connection).of(ids, self._reader, self._since, self._now)

    def _holds(self, row: Row) -> bool:
        places = self._known if row.id in self._known else self._spam
        held = row.id in places and places[row.id] == _height_of(row)
        if held:
            self._passed.add(row.id)
        return held

    def _read(self, pin: Pin) -> Pinned | None:
        """Give the receipt in a pin; None for what is told as refused or missing."""
        self._tally["read"] += 1
        try:
            raw = None if self._txs is None else self._txs.raw(pin.id.partition("i")[0])
        except RefoldError as error:
            self._miss(Missing(pin.id, pin.height, error.code, error.message))
            return None
        if self._txs is not None and raw is None:
            self._miss(Missing(pin.id, pin.height, "tx-unknown", "its transaction is not known"))
            return None
        found = read_pin(pin, self._now, raw)
        if isinstance(found, Refused):
            self._refuse(found)
            lasts = _OF_THE_MOMENT.isdisjoint(problem.code for problem in found.errors)
            if lasts and found.height is not None:
                self._to_remember.append((found.pin_id, found.height))
            return None
        return found

    def _store(self, lot: Sequence[Pinned]) -> None:
        """Store receipts in the order of the chain, in one transaction."""
        with self._database.write() as connection:
            receipts, refusals = open_store(connection).receipts, Refusals(connection)
            refusals.remember(self._to_remember, self._reader, self._now)
            refusals.forget([found.pin_id for found in lot])
            refusals.prune(self._since)
            self._to_remember.clear()
            for found in sorted(lot, key=chain_order):
                origin = Origin("chain", found.pin_id, found.author, found.height)
                try:
                    # `read_pin` judged its asOf, by the time of its block.
                    valid = validate(found.body, _ANY_TIME)
                    stored = receipts.put_valid(valid, found.body, self._now, origin)
                except InputError as error:
                    self._refuse(Refused(found.pin_id, found.height, found.author, error.errors))
                    continue
                moved = found.pin_id in self._known
                self._tally["moved" if moved else "new" if stored.is_new else "again"] += 1

    def _look_for(self, ids: Sequence[str]) -> list[Pinned]:
        """Ask for pins that were not listed; forget those that the indexer does not know."""
        found: list[Pinned] = []
        for pin_id in ids:
            try:
                row = self._man.pin(pin_id)
                pin = None if row is None else pin_of_row(row)
            except RefoldError as error:
                self._miss(Missing(pin_id, None, error.code, error.message))
                continue
            if pin is None:
                self._gone.append(pin_id)
                continue
            with self._database.read() as connection:
                known = OnChain(connection).of([pin_id])
            self._known |= {name: one.height for name, one in known.items()}
            if self._known.get(pin_id) != pin.height and (again := self._read(pin)) is not None:
                found.append(again)
        return found

    def _forget(self) -> None:
        if self._gone:
            with self._database.write() as connection:
                self._tally["vanished"] = OnChain(connection).forget(self._gone)

    def _refuse(self, refused: Refused) -> None:
        self._tally["refused"] += 1
        if refused.pin_id in self._known:  # it was one where it stood before
            self._gone.append(refused.pin_id)
        if len(self._refusals) < MAX_LISTED:
            self._refusals.append(refused)

    def _miss(self, missing: Missing) -> None:
        self._tally["missing"] += 1
        if len(self._misses) < MAX_LISTED:
            self._misses.append(missing)


_COUNTED = (
    *("new", "again", "moved", "vanished", "known", "refused", "refused_before"),
    "missing",
)


def _height_of(row: Row) -> int | None:
    return None if row.genesis_height <= MEMPOOL_HEIGHT else row.genesis_height
