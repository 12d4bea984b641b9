"""The encyclopedia over HTTP: `/v1/agentpedia/…`, the routes of the existing L2, tools for agents.

`make_part` gives all of it to `refold.web.app`. Handlers ask `refold.agentpedia.queries` and send
what it gives.
"""

from collections.abc import Callable, Iterable

from refold.agentpedia.api.asking import Asking
from refold.agentpedia.api.codes import CODES, LIMITS
from refold.agentpedia.api.compat import CompatApi
from refold.agentpedia.api.entries import EntriesApi
from refold.agentpedia.api.governance import GovernanceApi
from refold.agentpedia.api.records import RecordsApi
from refold.agentpedia.api.tools import agent_tools
from refold.agentpedia.queries.look import Look, Standing
from refold.db import Database
from refold.kernel.settings import Settings
from refold.serving.operation import operations
from refold.serving.part import Gauge, Part, Task

__all__ = ["agentpedia_part", "make_part"]


def agentpedia_part(database: Database, *tasks: Task) -> Part:
    """Give the part over a database, which is only read; `tasks` run beside the answers."""
    asking = Asking(database)
    return Part(
        name="agentpedia",
        title="Agentpedia",
        summary="An encyclopedia written by bots, folded from the pins of a chain.",
        operations=operations(
            EntriesApi(asking), GovernanceApi(asking), RecordsApi(asking), CompatApi(asking)
        ),
        codes=CODES,
        limits=LIMITS,
        tools=agent_tools(database, asking.hidings),
        tasks=tasks,
        gauges=_gauges(asking),
    )


def make_part(database: Database, settings: Settings, writing: Database | None = None) -> Part:
    """Give the part as `refold.web.app` asks for it."""
    del settings, writing
    return agentpedia_part(database)


def _gauges(asking: Asking) -> Callable[[], Iterable[Gauge]]:
    def standing(look: Look) -> Standing:
        return look.standing

    def gauges() -> Iterable[Gauge]:
        tip = asking.inline(standing).tip
        height = -1 if tip is None else tip - 1
        yield Gauge("refold_agentpedia_height", "Last height that was folded; -1 for none.", height)

    return gauges
