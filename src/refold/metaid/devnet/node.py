"""The chain and its indexer as one object: blocks, mempool, reorganisations, quirks and faults."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Self

import msgspec
from sqlalchemy import Connection

from refold.kernel.errors import UsageError
from refold.metaid.devnet import chain, indexer, mempool, purse, reorg
from refold.metaid.devnet.clock import Clock, SimulatedClock, simulated_start
from refold.metaid.devnet.faults import FaultPlan, Faults, faults_of
from refold.metaid.devnet.listing import Totals
from refold.metaid.devnet.mempool import Accepted
from refold.metaid.devnet.mint import BlockInfo, Miner, before_all
from refold.metaid.devnet.ordering import ORDERS, Order
from refold.metaid.devnet.quirks import Profile, Quirks, changed
from refold.metaid.devnet.reorg import Fate, Plan, Reorganised
from refold.metaid.devnet.rules import MAX_MEMPOOL_DEPTH
from refold.metaid.devnet.store import Store, get_meta, put_meta
from refold.metaid.devnet.truth import TruePin, true_pins

FAUCET = "faucet"
"""Name of the key that all blocks pay to."""


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """Where chain and indexer stand; `quirks` and `faults` are those not at their default."""

    tip: BlockInfo
    index_height: int
    mempool: int
    keys: dict[str, str]
    quirks: dict[str, object]
    faults: dict[str, object]


class Node:
    """What `refold.metaid.devnet.net.Devnet` is without its wallet; made in the same way."""

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        seed: str | None = None,
        base_height: int | None = None,
        clock: Clock | None = None,
        max_depth: int = MAX_MEMPOOL_DEPTH,
    ) -> None:
        self._store = Store(None if path is None else Path(path))
        self._clock: Clock = SimulatedClock() if clock is None else clock
        self._max_depth = max_depth
        self.plan = FaultPlan(Faults())
        """What goes wrong with the next requests."""
        self.totals = Totals()
        """Counts that the lists give as `total`."""
        base = None if base_height is None else str(base_height)
        try:
            with self._store.transaction() as connection:
                self.seed = _settled(connection, "seed", seed, "")
                self._faucet = purse.throwaway_key(FAUCET, self.seed)
                self._begin(connection, int(_settled(connection, "base_height", base, "0")))
                self._quirks = _stored_quirks(connection)
        except UsageError:
            self.close()
            raise

    def _begin(self, connection: Connection, height: int) -> None:
        if get_meta(connection, "index_height") is None:
            purse.remember(connection, FAUCET, self._faucet)
            start = before_all(height, simulated_start(height))
            chain.connect(connection, start, start.time, [], self._miner(connection))
            put_meta(connection, "index_height", str(height))

    def close(self) -> None:
        """Close the file and let others have it."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def transaction(self) -> AbstractContextManager[Connection]:
        """Give the database in a transaction, for readers of the tables."""
        return self._store.transaction()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make all changes inside one transaction: faster, and all of them or none.

        Requests to the served chain wait until it ends, so make none inside.
        """
        with self._store.transaction():
            yield

    # the chain

    def send(self, raw: bytes) -> str:
        """Take a raw transaction into the mempool; give its txid.

        Raises `InputError` with a code of `rules.REJECTIONS`.
        """
        with self._store.transaction() as connection:
            return self._accept(connection, raw).txid

    def _accept(self, connection: Connection, raw: bytes) -> Accepted:
        now = chain.moment(connection)
        time = self._clock.arrival(now.time, now.since + 1)
        accepted = mempool.accept(
            connection,
            raw,
            height=now.height + 1,
            time=time,
            arrival=now.arrival + 1,
            max_depth=self._max_depth,
        )
        indexer.saw(connection, accepted, time, self._quirks)
        return accepted

    def mine(
        self, count: int = 1, *, order: Order = "arrival", limit: int | None = None
    ) -> BlockInfo:
        """Mine blocks out of the mempool; give the last one.

        `limit`: transactions in a block, besides the coinbase. Raises `UsageError`: `mine-count`,
        `mine-order`.
        """
        if count < 1:
            raise UsageError("mine-count", f"{count} blocks", "mine 1 or more")
        _check_order(order)
        block = self._mine_one(order, limit)
        while count > 1 and self.count_waiting():
            block, count = self._mine_one(order, limit), count - 1
        return block if count == 1 else self._mine_empty(count - 1)

    def _mine_one(self, order: Order, limit: int | None) -> BlockInfo:
        with self._store.transaction() as connection:
            now = chain.moment(connection)
            txids = chain.chosen(connection, order, f"{self.seed} {now.height + 1}", limit)
            time = self._clock.block(now.time)
            block = chain.connect(connection, now, time, txids, self._miner(connection))
            if limit is not None:
                mempool.measure_depths(connection)
            indexer.follow(connection, block.height, self._quirks)
            return block

    def _mine_empty(self, count: int) -> BlockInfo:
        """Mine blocks while nothing waits, in one go: long silences are common in stories."""
        with self._store.transaction() as connection:
            now = chain.moment(connection)
            times = self._times(now.time, count)
            block = chain.connect_empty(connection, now, times, self._miner(connection))
            indexer.follow(connection, block.height, self._quirks)
            return block

    def _times(self, before: int, count: int) -> list[int]:
        """Give the times of so many new blocks."""
        times = [before]
        for _ in range(count):
            times.append(self._clock.block(times[-1]))
        return times[1:]

    def _miner(self, connection: Connection) -> Miner:
        return Miner(self._faucet.script, get_meta(connection, "branch") or "0")

    def reorg(
        self,
        depth: int = 1,
        *,
        blocks: int | None = None,
        order: Order | None = None,
        drop: Sequence[str] = (),
        fate: Fate = "mempool",
        shift: int = 0,
    ) -> Reorganised:
        """Replace the last blocks by a longer branch, as `reorg.Plan` says.

        Raises `UsageError`: `reorg-depth`, `reorg-length`, `reorg-drop`, `mine-order`.
        """
        if order is not None:
            _check_order(order)
        plan = Plan(depth, blocks, order, tuple(drop), fate, shift)
        with self._store.transaction() as connection:
            reorg.check(connection, plan)
            branch = int(self._miner(connection).branch) + 1
            put_meta(connection, "branch", str(branch))
            start = chain.time_at(connection, chain.moment(connection).height - depth)
            times = self._times(start, reorg.length_of(plan))
            done = reorg.reorganise(connection, plan, times, self._miner(connection))
            top = done.fork + len(done.new)
            indexer.follow_reorg(connection, done.fork, top, times[-1], self._quirks)
            return done

    @property
    def height(self) -> int:
        """The height of the last block."""
        with self._store.transaction() as connection:
            return chain.moment(connection).height

    @property
    def tip(self) -> BlockInfo:
        """The last block."""
        with self._store.transaction() as connection:
            return chain.tip(connection)

    def count_waiting(self) -> int:
        """Give how many transactions are in the mempool."""
        with self._store.transaction() as connection:
            return mempool.count_waiting(connection)

    def raw_tx(self, txid: str) -> bytes | None:
        """Give the bytes of a transaction, None for none of this chain and mempool."""
        with self._store.transaction() as connection:
            return chain.raw_tx(connection, txid)

    def raw_block(self, height: int) -> bytes | None:
        """Give the bytes of a block, None for none of this chain."""
        with self._store.transaction() as connection:
            return chain.raw_block(connection, height)

    def pins(self, path: str | None = None, *, unlisted: bool = False) -> list[TruePin]:
        """Give the confirmed pins in the order of the chain, whatever the indexer says.

        `path` chooses one path; `unlisted`: those too that no indexer lists.
        """
        with self._store.transaction() as connection:
            return true_pins(connection, path, mempool=False, unlisted=unlisted)

    def waiting(self, path: str | None = None, *, unlisted: bool = False) -> list[TruePin]:
        """Give the pins in the mempool, as they came."""
        with self._store.transaction() as connection:
            return true_pins(connection, path, mempool=True, unlisted=unlisted)

    # the indexer

    def quirks(self, profile: Profile | None = None, **changes: object) -> Quirks:
        """Change quirks, or take those of a profile with changes; give those in force.

        They stay with the file. An indexer that is no longer stuck catches up at once. Raises
        `UsageError`: `quirk-profile`, `quirk-name`, `quirk-value`.
        """
        if profile is not None or changes:
            quirks = changed(self._quirks, profile, changes)
            with self._store.transaction() as connection:
                put_meta(connection, "quirks", msgspec.json.encode(quirks).decode())
                indexer.follow(connection, chain.moment(connection).height, quirks)
                self._quirks = quirks
        return self._quirks

    def faults(self, **rates: object) -> Faults:
        """Set what goes wrong with requests, all else not at all; none given: nothing does.

        Rates are `faults.Rate`: a float for a chance, an int for so many next requests. They are
        not kept in the file. Raises `UsageError`: `fault-name`, `fault-value`.
        """
        self.plan = FaultPlan(faults_of(rates))
        return self.plan.faults

    def rescan(self) -> None:
        """Let the indexer read the whole chain anew: what it skipped or kept wrongly is mended."""
        with self._store.transaction() as connection:
            indexer.rebuild(connection, self._quirks)

    def status(self) -> Status:
        """Give a summary."""
        with self._store.transaction() as connection:
            return Status(
                tip=chain.tip(connection),
                index_height=indexer.height_of(connection),
                mempool=mempool.count_waiting(connection),
                keys=purse.names(connection),
                quirks=_not_default(self._quirks),
                faults=_not_default(self.plan.faults),
            )


def _check_order(order: str) -> None:
    if order not in ORDERS:
        raise UsageError("mine-order", f"no order is {order}", f"one of {', '.join(ORDERS)}")


def _settled(connection: Connection, name: str, given: str | None, default: str) -> str:
    """Give a setting of the file, stored when the file is new."""
    stored = get_meta(connection, name)
    if stored is None:
        stored = default if given is None else given
        put_meta(connection, name, stored)
    if given not in {None, stored}:
        raise UsageError(
            "devnet-settings",
            f"the file was made with {name} {stored!r}, not {given!r}",
            "leave the setting away, or begin another file",
        )
    return stored


def _stored_quirks(connection: Connection) -> Quirks:
    stored = get_meta(connection, "quirks")
    return Quirks() if stored is None else msgspec.json.decode(stored, type=Quirks)


def _not_default(struct: Quirks | Faults) -> dict[str, object]:
    defaults = msgspec.to_builtins(type(struct)())
    values = msgspec.to_builtins(struct)
    return {name: value for name, value in values.items() if value != defaults[name]}
