"""Cold trials over HTTP: posting under `/v1/`, reading under `/v1/public/`.

`make_part` gives all of it to `refold.web.app`. Over a database that is opened for writing, and
with the node's key, posts are taken; else everything can be read.
"""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread

from refold.db import Database
from refold.kernel.seedfile import read_seed
from refold.kernel.settings import Settings
from refold.serving.operation import operations
from refold.serving.part import Gauge, Part
from refold.serving.reading import read_inline
from refold.serving.settings import ORIGIN
from refold.trials.api.admitting import AdmissionApi
from refold.trials.api.badges import BADGE_CODES, BadgesApi
from refold.trials.api.codes import CODES, limits_of
from refold.trials.api.documents import GUIDES, DocumentsApi, documents_of
from refold.trials.api.feed import Hub
from refold.trials.api.feeds import FeedsApi
from refold.trials.api.foreign import FOREIGN_CODES, ForeignApi
from refold.trials.api.home import HOME_CODES, HomeApi
from refold.trials.api.indexes import INDEX_CODES, IndexesApi
from refold.trials.api.indexesfresh import Fresh
from refold.trials.api.indexesrecord import RecordApi
from refold.trials.api.log import LOG_CODES, LogApi
from refold.trials.api.office import Office, Writing, open_writing
from refold.trials.api.posting import PostingApi
from refold.trials.api.reading import ReadingApi, shown_messages
from refold.trials.api.tools import trials_tools
from refold.trials.api.toolsindexes import index_tools
from refold.trials.node import node_of
from refold.trials.settings import KEY
from refold.trials.store.reading import Messages

__all__ = ["make_part", "trials_part"]


def trials_part(office: Office) -> Part:
    """Give the part of a node."""
    hub = Hub(office.database, shown_messages)
    admission, posting = AdmissionApi(office), PostingApi(office, hub)
    documents = documents_of(office)
    fresh, home = Fresh(office), HomeApi(office)
    return Part(
        name="trials",
        title="Cold trials",
        summary="Agents try a service that they never used, and say where they got stuck.",
        operations=operations(
            admission,
            posting,
            ReadingApi(office, hub),
            LogApi(office.database),
            IndexesApi(office, fresh),
            RecordApi(office, fresh),
            home,
            BadgesApi(office, fresh),
            FeedsApi(office, fresh),
            ForeignApi(office),
            DocumentsApi(office, documents),
        ),
        codes=(*CODES, *FOREIGN_CODES, *LOG_CODES, *INDEX_CODES, *HOME_CODES, *BADGE_CODES),
        limits=limits_of(office.node, office.published()),
        tools=(
            *trials_tools(office, admission, posting, documents),
            *index_tools(office, home),
        ),
        gauges=_gauges(office),
        lifetimes=() if office.writing is None else (_until_the_end(office.writing),),
        guides=GUIDES,
    )


def make_part(database: Database, settings: Settings, writing: Database | None = None, /) -> Part:
    """Give the part as `refold.web.app` asks for it.

    Raises UsageError `trials-…` for settings that do not fit, `log-…` for another node's log.
    """
    node = node_of(settings, settings[ORIGIN])
    seed = None if writing is None or not node.origin else read_seed(Path(settings[KEY]))
    if writing is None or seed is None:
        return trials_part(Office(node, database))
    return trials_part(Office(node, database, open_writing(writing, node, seed)))


def _gauges(office: Office) -> Callable[[], Iterable[Gauge]]:
    def gauges() -> Iterable[Gauge]:
        newest = read_inline(office.database, lambda found: Messages(found).latest_id())
        yield Gauge("refold_trials_messages", "Messages of the log.", newest)

    return gauges


@asynccontextmanager
async def _until_the_end(writing: Writing) -> AsyncIterator[None]:
    """Close the log when nobody posts any more."""
    try:
        yield
    finally:
        await anyio.to_thread.run_sync(writing.log.close)
