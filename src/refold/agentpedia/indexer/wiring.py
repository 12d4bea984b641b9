"""Everything that keeps a database in step with a chain, put together from addresses.

with wired(database, Wiring(indexers=("https://manapi.metaid.io",))) as (sync, follower):
    follower.follow(sync.round(now), now)
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import msgspec

from refold.agentpedia.event import PATHS
from refold.agentpedia.facts import FactFinder
from refold.agentpedia.indexer.following import Follower
from refold.agentpedia.indexer.indexer import indexing
from refold.agentpedia.rules import PRD, Rules
from refold.agentpedia.sources import Sources
from refold.agentpedia.state import Options
from refold.db import Database
from refold.kernel.errors import UsageError
from refold.kernel.fetch import GuardedClient
from refold.kernel.policy import FetchPolicy
from refold.metaid.fileserver import FileServer
from refold.metaid.man.client import ManClient
from refold.metaid.rawtx import RawTxs
from refold.metaid.sync import Progress, Source, Sync


class Wiring(msgspec.Struct, frozen=True, kw_only=True):
    """Where to read, and how: URLs, and private networks (CIDR) that they may lead to.

    `transactions` is a source of raw ones, "" for none: with it first bodies are proved and stakes
    looked up, and with `verify_authors` authors checked. `files` are metafile indexers. `genesis`
    is the only pin to take for it, "" for the first valid one.
    """

    indexers: tuple[str, ...]
    files: tuple[str, ...] = ()
    transactions: str = ""
    verify_authors: bool = False
    networks: tuple[str, ...] = ()
    genesis: str = ""
    rules: Rules = PRD

    @property
    def options(self) -> Options:
        """The options of the fold."""
        stakes: dict[str, str] | None = {} if self.transactions else None
        return Options(genesis_pin=self.genesis or None, stake_facts=stakes)  # type: ignore[arg-type]


@contextmanager
def wired(
    database: Database, wiring: Wiring, tell: Callable[[Progress], object] = lambda _progress: None
) -> Iterator[tuple[Sync, Follower]]:
    """Give a sync and what follows its rounds; holds the database's name for the one indexer.

    `tell` is told how far a round is. Raises UsageError `sync-transactions` when authors shall be
    verified without transactions; what `Sync`, `indexing` and the clients raise.
    """
    if wiring.verify_authors and not wiring.transactions:
        raise UsageError(
            "sync-transactions", "no raw transactions to verify authors with", "name a source"
        )
    with ExitStack() as stack:

        def client() -> GuardedClient:
            # One each, so that the traffic of each is counted by itself.
            return stack.enter_context(GuardedClient(FetchPolicy(allowed_networks=wiring.networks)))

        transport = client()
        txs = RawTxs(client(), wiring.transactions) if wiring.transactions else None
        sources = [Source(ManClient(client(), url), txs) for url in wiring.indexers]
        authors = txs if wiring.verify_authors else None
        sync = Sync(database, sources, PATHS, authors=authors, tell=tell)
        finder = FactFinder(
            database,
            Sources(
                transport,
                mans=tuple(ManClient(transport, url) for url in wiring.indexers),
                servers=tuple(FileServer(transport, url) for url in wiring.files),
                txs=() if txs is None else (txs,),
            ),
        )
        indexer = stack.enter_context(indexing(database, wiring.rules, wiring.options))
        yield sync, Follower(indexer, finder)
