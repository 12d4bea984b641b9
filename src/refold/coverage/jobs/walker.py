"""Walking for a job: one guarded client for each, all at one pace.

The client refuses private addresses but those that the operator allows, and so does each redirect
and each new connection; nothing else goes out. Source: coverage spec §5.5 R-2.
"""

import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from refold import __version__
from refold.coverage.jobs.limits import BUDGETS
from refold.coverage.jobs.pace import Pace
from refold.coverage.report import Report
from refold.coverage.transport.live import Live, policy_of
from refold.coverage.verify import verify
from refold.coverage.walk.budget import Budgets
from refold.coverage.walk.drive import Progress
from refold.kernel import utc
from refold.kernel.dial import connect_socket
from refold.kernel.fetch import GuardedClient

__all__ = ["THREADS", "Walk", "Walker"]


THREADS = "refold coverage"
"""How the names of threads begin that walk for jobs."""


class _Quiet(logging.Filter):
    """Drops a line for each retry: it is in the report, and strangers choose who fails."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.threadName or "").startswith(THREADS)


logging.getLogger("stamina").addFilter(_Quiet())


class Walk(Protocol):
    """What a worker walks with."""

    def __call__(self, data: bytes, now: str, progress: Progress, *, sources: bool) -> Report:
        """Verify the bytes of a record at the moment `now`."""


class Walker:
    """Asks the network. `origins` says which origins are asked in place of others.

    `networks` are those that may be asked although they are private (CIDR). `retry_wait` and `now`
    are for tests. Raises UsageError `fetch-policy` at once for networks or origins that are none.
    """

    def __init__(
        self,
        *,
        networks: Sequence[str] = (),
        origins: Mapping[str, str] | None = None,
        budgets: Budgets = BUDGETS,
        pace: Pace | None = None,
        retry_wait: float | None = None,
        now: Callable[[], datetime] = utc.now,
    ) -> None:
        self._origins = origins if origins is not None else {}
        self._budgets = budgets
        self._pace = pace or Pace()
        self._now = now
        policy = policy_of(
            budgets, allowed_networks=networks, user_agent=f"refold/{__version__} (coverage)"
        )
        if retry_wait is not None:
            policy = msgspec.structs.replace(policy, retry_wait=retry_wait)
        self._policy = policy
        self._client().close()

    def __call__(self, data: bytes, now: str, progress: Progress, *, sources: bool) -> Report:
        """See `Walk`."""
        # Those that the record names: the others are none of its reader's business.
        named = {
            public: there for public, there in self._origins.items() if public.encode() in data
        }
        with self._client() as client:
            return verify(
                data,
                Live(client, pace=self._pace, now=self._now),
                now,
                budgets=self._budgets,
                origins=named,
                sources=sources,
                progress=progress,
            )

    def _client(self) -> GuardedClient:
        policy = msgspec.structs.replace(self._policy, origin_map=dict(self._origins))
        return GuardedClient(policy, connect=self._connect)

    def _connect(self, address: str, port: int, seconds: float) -> socket.socket:
        """Connect at the pace of the address: many names may stand for it."""
        self._pace.take(f"[{address}]")
        return connect_socket(address, port, seconds)
