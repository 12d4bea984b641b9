"""The network as a transport: every question goes through the guarded client.

    with GuardedClient(policy_of(budgets, origin_map)) as client:
        outcome = walk_source(…, Live(client), …)

Source: coverage spec §5.5 R-2 to R-4.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import current_thread
from types import MappingProxyType
from typing import Protocol

from refold.coverage.walk.asking import Answer, Ask, Basis, Batch, Failure
from refold.coverage.walk.budget import Budgets
from refold.kernel import utc
from refold.kernel.addresses import parse_url
from refold.kernel.dial import Clock, TransientError
from refold.kernel.errors import InputError, SourceError
from refold.kernel.fetch import Fetched, GuardedClient
from refold.kernel.headers import Headers
from refold.kernel.policy import FetchPolicy

__all__ = ["HEADERS", "PARALLEL", "Live", "Pacing", "policy_of"]

HEADERS: Mapping[str, str] = MappingProxyType(
    {"Accept": "application/json", "Cache-Control": "no-cache"}
)
"""What every request says, beside the client's own `Accept-Encoding: identity`: R-2."""
PARALLEL = 4
"""Questions of a batch that are asked at a time: as many as the network's own collectors do."""


def policy_of(
    budgets: Budgets,
    *,
    origin_map: Mapping[str, str] | None = None,
    allowed_networks: Sequence[str] = (),
    user_agent: str = "refold",
) -> FetchPolicy:
    """Give the policy of a client for walks within `budgets`.

    `origin_map` says where a public origin is asked instead
    (`{"https://a.test": "http://127.0.0.1:8000"}`); receipts keep the public names.
    """
    return FetchPolicy(
        origin_map=origin_map or {},
        allowed_networks=tuple(allowed_networks),
        user_agent=user_agent,
        max_bytes=budgets.page_bytes,
        max_seconds_attempt=budgets.request_seconds,
    )


class Pacing(Protocol):
    """What makes questions wait, so that no host is asked too often."""

    def take(self, host: str, /) -> None:
        """Return when the host may be asked."""

    def spend(self, host: str, requests: int, /) -> None:
        """Count further requests that the host got: retries and redirects."""


class Live:
    """Asks the network through `client`, at the pace that `pace` allows.

    `clock` and `now` are for tests.
    """

    basis: Basis = "LIVE"

    def __init__(
        self,
        client: GuardedClient,
        *,
        pace: Pacing | None = None,
        clock: Clock = time.monotonic,
        now: Callable[[], datetime] = utc.now,
    ) -> None:
        self._client = client
        self._pace = pace
        self._clock = clock
        self._now = now

    def ask(self, asks: Sequence[Ask]) -> Batch:
        """Give the replies to `asks`, `PARALLEL` at a time."""
        client = self._client
        requests, received, began = client.requests, client.bytes_received, self._clock()
        replies: tuple[Answer | Failure, ...]
        if len(asks) == 1:
            replies = (self._reply(asks[0]),)
        else:
            with ThreadPoolExecutor(PARALLEL, thread_name_prefix=current_thread().name) as pool:
                replies = tuple(pool.map(self._reply, asks))
        return Batch(
            replies,
            client.requests - requests,
            client.bytes_received - received,
            began,
            self._clock(),
            utc.format_utc(self._now()),
        )

    def _reply(self, ask: Ask) -> Answer | Failure:
        try:
            fetched = self._get(ask)
        except (InputError, SourceError) as error:
            return Failure(ask.url, error.code, error.message)
        return Answer(
            fetched.url,
            fetched.status,
            _as_public(fetched),
            fetched.body,
            fetched.redirects,
            fetched.mapped_to,
        )

    def _get(self, ask: Ask) -> Fetched:
        pace, more = self._pace, 0
        host = parse_url(ask.url).host
        if pace is not None:
            pace.take(host)
        try:
            fetched = self._client.get(
                ask.url, headers=HEADERS, max_bytes=ask.max_bytes, max_seconds=ask.max_seconds
            )
            more = fetched.requests - 1
        except TransientError:  # does not say how often it was tried
            more = self._client.policy.retries
            raise
        finally:
            if pace is not None and more:
                pace.spend(host, more)
        return fetched


def _as_public(fetched: Fetched) -> Headers:
    """Give the headers of an answer, its links under the origin that was asked for.

    A source that is asked at another origin than its public one may know itself by that one alone.
    """
    if not fetched.mapped_to:
        return fetched.headers
    own, public = f"<{fetched.mapped_to}/", f"<{parse_url(fetched.url).origin}/"
    return tuple(
        (name, value.replace(own, public) if name == "link" else value)
        for name, value in fetched.headers
    )
