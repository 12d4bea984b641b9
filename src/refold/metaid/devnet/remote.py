"""Orders to a chain that another process serves: what the command line gives them through."""

from collections.abc import Mapping
from typing import Self

import httpx2
import msgspec

from refold.kernel.errors import RefoldError, SourceError, UsageError

Json = dict[str, object]

DEFAULT_URL = "http://127.0.0.1:8480"
"""Where `refold devnet serve` is unless told otherwise."""
SECONDS = 120
"""How long an order may take: thousands of blocks, or a rescan."""

_PREFIX = "/devnet/admin"


class Remote:
    """The orders of a served chain; each gives the JSON that the server answers.

    Members of bodies are those of `refold.metaid.devnet.admin_routes`. Raises `UsageError` with the
    server's code for a refused order, `SourceError` `devnet-away` when nobody answers.
    """

    def __init__(self, url: str = DEFAULT_URL) -> None:
        self._url = url
        self._client = httpx2.Client(base_url=url, timeout=SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def status(self) -> Json:
        """Say where chain and indexer stand: `Status`."""
        return self._ask("GET", "status", None)

    def switches(self) -> Json:
        """Give the quirks in force, and all switches with their help."""
        return self._ask("GET", "quirks", None)

    def order(self, verb: str, body: Mapping[str, object] | None = None) -> Json:
        """Give an order: mine, reorg, quirks, faults, key, pin, rescan."""
        return self._ask("POST", verb, body or {})

    def _ask(self, method: str, verb: str, body: Mapping[str, object] | None) -> Json:
        try:
            answer = self._client.request(method, f"{_PREFIX}/{verb}", json=body)
        except httpx2.HTTPError as error:
            raise SourceError(
                "devnet-away",
                f"no local chain answers at {self._url}: {error}",
                "start one with refold devnet serve, or name its URL",
            ) from error
        try:
            told = msgspec.json.decode(answer.content, type=Json)
        except msgspec.MsgspecError as error:
            raise SourceError(
                "devnet-answer", f"{self._url} answers with no JSON object", "name a local chain"
            ) from error
        if answer.is_success:
            return told
        raise _refusal(told)


def _refusal(problem: Json) -> RefoldError:
    code, detail, hint = (str(problem.get(name, "")) for name in ("code", "detail", "hint"))
    return UsageError(code or "devnet-refused", detail or "the order was refused", hint)
