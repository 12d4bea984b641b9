"""The network as a transport: every question goes through the guarded client.

    with GuardedClient(policy_of(budgets, origin_map)) as client:
        outcome = walk_source(…, Live(client), …)

Source: coverage spec §5.5 R-2 to R-4.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from types import MappingProxyType

from refold.coverage.walk.asking import Answer, Ask, Basis, Batch, Failure
from refold.coverage.walk.budget import Budgets
from refold.kernel import utc
from refold.kernel.dial import Clock
from refold.kernel.errors import InputError, SourceError
from refold.kernel.fetch import GuardedClient
from refold.kernel.policy import FetchPolicy

__all__ = ["HEADERS", "PARALLEL", "Live", "policy_of"]

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


class Live:
    """Asks the network through `client`. `clock` and `now` are for tests."""

    basis: Basis = "LIVE"

    def __init__(
        self,
        client: GuardedClient,
        *,
        clock: Clock = time.monotonic,
        now: Callable[[], datetime] = utc.now,
    ) -> None:
        self._client = client
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
            with ThreadPoolExecutor(PARALLEL) as pool:
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
            fetched = self._client.get(
                ask.url, headers=HEADERS, max_bytes=ask.max_bytes, max_seconds=ask.max_seconds
            )
        except (InputError, SourceError) as error:
            return Failure(ask.url, error.code, error.message)
        return Answer(
            fetched.url,
            fetched.status,
            fetched.headers,
            fetched.body,
            fetched.redirects,
            fetched.mapped_to,
        )
