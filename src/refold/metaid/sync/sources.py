"""The indexers that a sync reads, and what each of them says of itself."""

from typing import NamedTuple

from refold.kernel.errors import SourceError
from refold.metaid.man.bodies import Bodies
from refold.metaid.man.client import ManClient
from refold.metaid.man.rows import NoRouteError
from refold.metaid.rawtx import RawTxs
from refold.metaid.sync.report import Traffic


class Source:
    """An indexer, and a source of raw transactions where there is one for first bodies.

    Each has a transport of its own, or its traffic is counted as that of all who share it.
    """

    def __init__(self, man: ManClient, txs: RawTxs | None = None) -> None:
        self.name = man.base
        self.man = man
        self.txs = txs

    def bodies(self) -> Bodies:
        """Give a reader of whole pins, which collects what is doubtful."""
        return Bodies(self.man, self.txs)

    def traffic(self) -> Traffic:
        """Give what went through the transport so far."""
        lists, polls = self.man.lists, self.man.polls
        transport = self.man.transport
        return Traffic(
            lists=lists,
            details=transport.requests - lists - polls,
            polls=polls,
            bytes=transport.bytes_received,
        )


class Polled(NamedTuple):
    """What an indexer says: the height it has come to, and how many pins it counts.

    Each is None where it does not say. `error` is why it did not answer.
    """

    height: int | None
    pins: int | None
    error: SourceError | None = None


def poll(source: Source, chain: str) -> Polled:
    """Ask an indexer for its height and its count; two requests."""
    try:
        height = source.man.heights().get(chain)
    except NoRouteError:
        height = None
    except SourceError as error:
        return Polled(None, None, error)
    try:
        counts = source.man.counts() or {}
    except SourceError:
        counts = {}  # only a hint: without it a round is taken for needed
    return Polled(height, counts.get("pin"))


def spent(since: Traffic, now: Traffic) -> Traffic:
    """Give the traffic between two moments."""
    return Traffic(
        lists=now.lists - since.lists,
        details=now.details - since.details,
        polls=now.polls - since.polls,
        transactions=now.transactions - since.transactions,
        bytes=now.bytes - since.bytes,
    )
