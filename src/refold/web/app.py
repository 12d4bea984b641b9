"""Puts the parts that are switched on together, and gives the application to serve."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, cast

from refold.db import Database
from refold.db.migrate import is_latest
from refold.kernel.errors import UsageError
from refold.kernel.settings import Settings
from refold.serving.application import Application, application
from refold.serving.limits import POINT_SECONDS
from refold.serving.logs import Log
from refold.serving.mcpserver import is_installed, mcp_mount
from refold.serving.part import Part, Task
from refold.serving.settings import LOG_REQUESTS, PARTS, PROXIES
from refold.web.home import home_part

__all__ = ["AVAILABLE", "MakePart", "chosen_parts", "web_application"]


class MakePart(Protocol):
    """What a protocol's package has under the name `make_part`."""

    def __call__(self, database: Database, settings: Settings, writing: Database | None, /) -> Part:
        """Give a part that reads `database`, and writes to `writing` if it writes at all.

        Without one it only answers: what has to be written is refused.
        """


AVAILABLE: Mapping[str, str] = {
    "agentpedia": "refold.agentpedia.pages",
    "coverage": "refold.coverage.api",
    "trials": "refold.trials.api",
}
"""The parts that can be switched on, each with the module that has its `make_part`."""


def chosen_parts(
    settings: Settings, available: Mapping[str, str] = AVAILABLE
) -> Mapping[str, MakePart]:
    """Give the parts that the settings name, all when they name none, in their own order.

    Raises UsageError `server-parts` for a name that is none.
    """
    names = settings[PARTS] or tuple(available)
    unknown = [name for name in names if name not in available]
    if unknown:
        raise UsageError(
            "server-parts",
            f"there is no part {', '.join(unknown)}",
            f"name some of {', '.join(available) or 'none: this refold has no part to serve'}",
        )
    return {
        name: cast("MakePart", importlib.import_module(module).make_part)
        for name, module in available.items()
        if name in names
    }


def _with_tasks(parts: Sequence[Part], tasks: Mapping[str, Sequence[Task]]) -> Sequence[Part]:
    """Give parts with further tasks."""
    idle = sorted(set(tasks) - {part.name for part in parts})
    if idle:
        raise UsageError(
            "server-parts", f"{', '.join(idle)} has a task and does not run", "run that part too"
        )
    return [replace(part, tasks=(*part.tasks, *tasks.get(part.name, ()))) for part in parts]


def web_application(
    database: Database,
    settings: Settings,
    *,
    origin: str,
    log: Log,
    available: Mapping[str, str] = AVAILABLE,
    tasks: Mapping[str, Sequence[Task]] | None = None,
    writing: Database | None = None,
) -> Application:
    """Give the whole application. `database` is only read, `writing` is the same one to be written.

    `tasks` are further ones by part. Raises UsageError `server-parts` for those of a part that does
    not run, and what `application` raises.
    """
    makers = chosen_parts(settings, available)
    parts: Sequence[Part] = _with_tasks(
        [make(database, settings, writing) for make in makers.values()], tasks or {}
    )

    def reachable() -> None:
        # Not SELECT 1, which reads no file; and a newer refold may have changed the tables since.
        with database.read(seconds=POINT_SECONDS) as connection:
            is_latest(connection, database.shown)

    return application(
        [home_part(parts), *parts],
        log=log,
        origin=origin,
        proxies=settings[PROXIES],
        checks={"database": reachable},
        log_requests=settings[LOG_REQUESTS],
        mcp=mcp_mount(log) if is_installed() else None,
    )
