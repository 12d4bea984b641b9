"""A sync beside a server: in a thread of the server's process, told by its log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from refold.kernel.errors import SourceError, one_line
from refold.metaid.sync import Done, Failed, Looked, Loop
from refold.serving.part import Task

if TYPE_CHECKING:
    from threading import Event

    from refold.agentpedia.indexer import Follower
    from refold.metaid.sync import Happening, Sync
    from refold.serving.logs import Log

__all__ = ["follow_task"]


def follow_task(chain: Sync, follower: Follower, log: Log) -> Task:
    """Give the task: it takes rounds as they are needed, and brings the view up to date.

    What an indexer or the database does not do is logged and tried again; only a defect ends it.
    """

    def run(stop: Event) -> None:
        def tell(happening: Happening) -> None:
            if isinstance(happening, Looked):
                _log_errors(happening, log)
                _pass_blocks(follower, happening, log)
            elif isinstance(happening, Failed):
                _warn(log, happening.code, happening.message)
            elif isinstance(happening, Done):
                try:
                    turn = follower.follow(happening.report, int(time.time()), stop=stop)
                except SourceError as error:
                    _warn(log, error.code, error.message)
                    return
                view = turn.view
                height = None if view is None or view.height is None else view.height - 1
                log.info(
                    "synced",
                    height=height,
                    lag=turn.lag,
                    digest=None if view is None else view.digest,
                    new=happening.report.pins.new,
                )

        Loop(chain, tell=tell, stop=stop).run()

    return Task("sync", run)


def _pass_blocks(follower: Follower, looked: Looked, log: Log) -> None:
    try:
        follower.look(looked)
    except SourceError as error:
        _warn(log, error.code, error.message)


def _log_errors(looked: Looked, log: Log) -> None:
    for polled in looked.polled.values():
        if polled.error is not None:
            _warn(log, polled.error.code, polled.error.message)


def _warn(log: Log, code: str, message: str) -> None:
    log.warning("sync-failed", code=code, detail=one_line(message))
