"""The sync: pins a second into SQLite, requests and bytes of 100,000 pins and of single days.

The server is a process of its own (`indexer`). The baseline reads the same pages in the same run
with httpx2 and decodes their JSON, and does nothing else: nothing is checked or stored, and bodies
that the pages cut stay cut. Times are loopback, not the live network.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2

from harness import Figure, arguments
from indexer import A_DAY, BLOCKS_A_DAY, PATHS, serving
from refold.db import Database
from refold.kernel.fetch import GuardedClient
from refold.kernel.policy import FetchPolicy
from refold.metaid.man.client import ManClient
from refold.metaid.sync import Report, Source, Sync

PINS, QUICK = 100_000, 10_000
LABEL = "loopback, not the live network"
MAX_LISTS, MAX_MEGABYTES = 1_200, 720
MAX_DAY_LISTS, MAX_IDLE_LISTS = 40, 9


def read_bare(url: str) -> int:
    """Read the pages of all paths with httpx2 and decode them; give the rows."""
    rows = 0
    with httpx2.Client() as client:
        for path in PATHS:
            cursor = ""
            while True:
                query = {"path": path, "size": "100"} | ({"cursor": cursor} if cursor else {})
                data = client.get(f"{url}/api/pin/path/list", params=query).json()["data"]
                cursor = data["nextCursor"]
                if not cursor:
                    break
                rows += len(data["list"])
    return rows


def whole(report: Report, pins: int) -> Report:
    """Give a report of a round that got every pin; end with what it lacks otherwise."""
    if not report.is_covered or report.pins.new != pins or report.gaps:
        sys.exit(f"the round got {report.pins.new} of {pins} pins: {report.indexers}")
    return report


def figures(folder: Path, pins: int) -> Iterator[Figure]:
    """Measure a first sync, a day with pins, and one without."""
    with (
        serving(pins) as indexer,
        Database.open(f"sqlite:///{folder / 'sync.db'}", durability="normal") as database,
        GuardedClient(FetchPolicy(allowed_networks=("127.0.0.0/8",))) as transport,
    ):
        sync = Sync(database, [Source(ManClient(transport, indexer.url))], PATHS)
        start = time.perf_counter()
        rows = read_bare(indexer.url)
        bare = time.perf_counter() - start
        now = int(time.time())
        start, cpu = time.perf_counter(), time.process_time()
        first = whole(sync.round(now), pins)
        ours, cpu = time.perf_counter() - start, time.process_time() - cpu
        traffic = first.traffic
        yield Figure("sync.requests", traffic.lists, "list requests", goal=f"≤ {MAX_LISTS:,}")
        yield Figure("sync.details", traffic.details, "requests for single pins")
        megabytes = traffic.bytes / 1_000_000
        yield Figure("sync.megabytes", megabytes, "MB", goal=f"≤ {MAX_MEGABYTES}")
        baseline = f"{rows / bare:,.0f} rows/s by httpx2 and json alone; {LABEL}"
        yield Figure("sync.pins_per_s", pins / ours, "pins/s", baseline, "≥ 10,000")
        yield Figure("sync.pins_per_cpu_s", pins / cpu, "pins/CPU s", "the reader's own process")
        indexer.grow(A_DAY, BLOCKS_A_DAY)
        day = whole(sync.round(now + 86_400), A_DAY)
        base = f"{A_DAY:,} pins taken up in one round"
        yield Figure("sync.day_requests", day.traffic.lists, "list requests", base, "≤ 40")
        indexer.grow(0, BLOCKS_A_DAY)
        idle = whole(sync.round(now + 2 * 86_400), 0)
        base = f"one round; {idle.traffic.polls} polls beside"
        yield Figure("sync.idle_day_requests", idle.traffic.lists, "list requests", base, "≤ 9")


def main() -> None:
    """Print every figure."""
    options = arguments("The sync of pins, over loopback.")
    with tempfile.TemporaryDirectory() as folder:
        for figure in figures(Path(folder), QUICK if options.quick else PINS):
            figure.print(as_json=options.json)


if __name__ == "__main__":
    main()
