"""Coverage receipts over HTTP: `/v1/coverage/…`, and the work beside the answers.

`make_part` gives all of it to `refold.web.app`. Answers read one database; what is stored, and the
jobs, go through another handle of the same one. See `refold.coverage.jobs` for the work.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from refold.coverage.api.checking import CheckingApi
from refold.coverage.api.codes import CODES
from refold.coverage.api.desk import USUAL, Desk, Share
from refold.coverage.api.exports import ExportsApi
from refold.coverage.api.limits import LIMITS
from refold.coverage.api.receipts import ReceiptsApi
from refold.coverage.api.tools import coverage_tools
from refold.coverage.api.verifying import VerifyingApi
from refold.coverage.jobs.crew import Crew
from refold.coverage.jobs.limits import WORKERS as USUAL_WORKERS
from refold.coverage.jobs.walker import Walk, Walker
from refold.coverage.settings import NETWORKS, ORIGINS, WORKERS, origin_map
from refold.coverage.store import Store
from refold.db import Database
from refold.kernel import utc
from refold.kernel.settings import Settings
from refold.serving.operation import operations
from refold.serving.part import Gauge, Part, Task

__all__ = ["coverage_part", "make_part"]


def coverage_part(
    database: Database,
    writing: Database | None = None,
    walk: Walk | None = None,
    *,
    workers: int = USUAL_WORKERS,
    now: Callable[[], datetime] = utc.now,
    share: Share = USUAL,
) -> Part:
    """Give the part over a database, which is only read.

    `writing` is the same database, to be written; without it nothing is stored or verified, and
    with no `workers` it is left to other processes. `walk` is what verifications walk with, by
    default the network. `share` is what a client may have, `now` is for tests.
    """
    crew = None
    if writing is not None and workers:
        crew = Crew(writing, walk or Walker(), workers=workers, now=now)
    desk = Desk(database, writing, crew, now=now, share=share)
    return Part(
        name="coverage",
        title="Coverage receipts",
        summary="Receipts of what a search found or did not find, walked again and judged.",
        operations=operations(
            CheckingApi(desk), VerifyingApi(desk), ReceiptsApi(desk), ExportsApi(desk)
        ),
        codes=CODES,
        limits=LIMITS,
        tools=coverage_tools(desk, walk=None if writing is not None else walk or Walker()),
        tasks=() if crew is None else (Task("verify", crew.run),),
        gauges=_gauges(desk),
    )


def make_part(database: Database, settings: Settings, writing: Database | None = None) -> Part:
    """Give the part as `refold.web.app` asks for it.

    Raises UsageError `fetch-policy` for networks or origins of the settings that are none.
    """
    walker = Walker(networks=settings[NETWORKS], origins=origin_map(settings[ORIGINS]))
    return coverage_part(database, writing, walker, workers=max(0, settings[WORKERS]))


def _gauges(desk: Desk) -> Callable[[], Iterable[Gauge]]:
    def count(store: Store) -> tuple[int, int]:
        return store.receipts.totals().receipts, store.jobs.count()

    def gauges() -> Iterable[Gauge]:
        receipts, jobs = desk.inline(count)
        yield Gauge("refold_coverage_receipts", "Receipts that are stored.", receipts)
        yield Gauge("refold_coverage_jobs", "Verifications that have not ended.", jobs)

    return gauges
