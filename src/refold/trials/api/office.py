"""What the routes share: the node, its database and log, clocks, what was used of limits."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from refold.db import Database
from refold.kernel.errors import Problem, SourceError
from refold.serving.limits import Limit
from refold.serving.problem import DetailedError
from refold.trials.admission import secret_of
from refold.trials.checkpoint import Signer, log_name
from refold.trials.limits import Excess, Rates, network_of
from refold.trials.log.writer import Log
from refold.trials.node import Node
from refold.trials.store.foreign import require_restored
from refold.trials.store.indexes import Indexes
from refold.trials.store.model import Fold
from refold.trials.store.standings import Standings

__all__ = ["Clocks", "Office", "Writing", "open_writing", "too_many"]


@dataclass(frozen=True, slots=True)
class Clocks:
    """Where the time is read: of the world (Unix seconds), one that never jumps, and chance."""

    unix: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    chance: Callable[[int], bytes] = secrets.token_bytes


@dataclass(frozen=True, slots=True)
class Writing:
    """What a node needs to take posts: its log, the relations in it, the secret of challenges."""

    database: Database
    log: Log
    standings: Standings
    secret: bytes


@dataclass(slots=True)
class Office:
    """See the module. `writing` is None where nothing can be posted."""

    node: Node
    database: Database
    writing: Writing | None = None
    clocks: Clocks = field(default_factory=Clocks)
    rates: Rates = field(init=False)

    def __post_init__(self) -> None:
        self.rates = Rates(self.node.counts)

    @property
    def docs(self) -> str:
        """The address below which codes are described."""
        return self.address("/v1/errors")

    def open(self) -> Writing:
        """Give what takes posts. Raises SourceError `trials-closed`."""
        if self.writing is None:
            raise SourceError("trials-closed", "there is no key of the node", "refold trials init")
        return self.writing

    def address(self, path: str) -> str:
        """Give the whole address of a path of the node."""
        return self.node.origin + path

    def unix(self) -> int:
        """Give the time in whole Unix seconds."""
        return int(self.clocks.unix())

    def take(self, *ids: str, who: str) -> Excess | None:
        """Take one of each limit; give the one that was reached, if any."""
        return self.rates.take(ids, who, self.clocks.steady())

    def give_back(self, *ids: str, who: str) -> None:
        """Put back what was taken."""
        self.rates.give_back(ids, who)

    def reached(self, id_: str, address: str) -> Excess | None:
        """Give a limit of networks if it is reached; takes nothing."""
        return self.rates.excess(id_, network_of(address), self.clocks.steady())

    def require(self, id_: str, address: str) -> None:
        """Take one of a limit of networks. Raises DetailedError `too-many`."""
        excess = self.take(id_, who=network_of(address))
        if excess is not None:
            raise too_many(excess)

    def published(self) -> tuple[Limit, ...]:
        """Give the limits on how often, for the list of the server."""
        return tuple(
            Limit(
                f"trials.{rate.id}",
                rate.count,
                f"in {rate.seconds} s",
                f"{rate.says} by one {rate.who}; {rate.reason}",
            )
            for rate in self.rates.rates.values()
        )


def too_many(excess: Excess) -> DetailedError:
    """Give the error that a limit was reached: its name, its value, and when to come back."""
    rate = excess.rate
    message = f"the limit {rate.id} is {rate.shown} ({rate.says})"
    hint = f"wait {excess.seconds} seconds; trying before makes nobody wait longer"
    shown = {
        "id": rate.id,
        "count": rate.count,
        "seconds": rate.seconds,
        "per": rate.who,
    }
    members = {"limit": shown, "retryAfter": excess.seconds}
    return DetailedError.of([Problem("too-many", message, hint)]).detailed(
        members, (("retry-after", str(excess.seconds)),)
    )


def open_writing(
    database: Database,
    node: Node,
    seed: bytes,
    folds: tuple[Fold, ...] = (),
    clock: Callable[[], float] = time.time,
) -> Writing:
    """Open the log for posts, by a database that is written.

    `folds` are further tables that follow from it, `clock` gives Unix seconds. Raises what `Log`
    raises, InputError `log-origin`, and SourceError `log-restoring`.
    """
    with database.read() as connection:
        require_restored(connection, node.host)
    standings = Standings()
    signer = Signer(log_name(node.origin), seed)
    indexes = Indexes(node.sites)
    log = Log(database, signer, (standings.fold, indexes.fold, *folds), clock=clock)
    return Writing(database, log, standings, secret_of(seed))
