"""A sync to be killed. Run by `test_sync`.

python syncing.py DATABASE INDEXER PATH...    takes rounds for ever, and prints each page
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from refold.db import Database
from refold.kernel.addresses import LOOPBACK
from refold.kernel.fetch import GuardedClient
from refold.kernel.policy import FetchPolicy
from refold.metaid.man.client import ManClient
from refold.metaid.sync import Settings, Source, Sync, walker


def main(url: str, indexer: str, *paths: str) -> None:
    """Take rounds until killed."""
    walker.STORED_PAGES = 2  # so that there are many moments between transactions
    with (
        Database.open(url) as database,
        GuardedClient(FetchPolicy(allowed_networks=LOOPBACK)) as transport,
    ):
        sync = Sync(
            database,
            [Source(ManClient(transport, indexer))],
            paths,
            settings=Settings(size=3),
            tell=lambda progress: print(progress.phase, progress.pages, flush=True),
        )
        for number in range(10**6):
            sync.round(1_790_000_000 + number * 600)
            print("round", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
