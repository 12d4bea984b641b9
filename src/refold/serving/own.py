"""The server's own routes, which need no part: health, figures, limits, codes, static files."""

import time
from collections.abc import Callable, Mapping
from typing import Annotated

import anyio
import msgspec
from msgspec import Meta

import refold
from refold.kernel.errors import InputError, Problem, RefoldError, SourceError
from refold.serving.answers import FOREVER, NO_STORE, Answer, Page
from refold.serving.asked import ListAsked
from refold.serving.assets import Assets
from refold.serving.call import Call
from refold.serving.codes import Code, Codes
from refold.serving.limits import Limit
from refold.serving.metrics import METRICS_TYPE, Metrics
from refold.serving.operation import get
from refold.serving.reading import Threads

__all__ = ["Health", "OwnApi", "Readiness", "Ready"]

READY_SECONDS = 1.0
"""How long an answer of /ready holds: whoever asks it more often does not ask the database more."""
CHECK_SECONDS = 3.0
"""How long one check may take."""


class Health(msgspec.Struct, frozen=True):
    """The process answers."""

    alive: bool
    version: str
    parts: tuple[str, ...]


class Ready(msgspec.Struct, frozen=True):
    """All checks are well; when one is not, the answer is the problem `not-ready`."""

    ready: bool
    checks: tuple[str, ...]


class CodeAsked(msgspec.Struct, frozen=True):
    """One code."""

    id: Annotated[str, Meta(pattern="^[A-Za-z0-9_.-]{1,100}$", examples=["query-value"])]


class AssetAsked(msgspec.Struct, frozen=True):
    """One static file."""

    name: Annotated[str, Meta(max_length=200)]


class Readiness:
    """Asks each check, in a thread, at most once a second."""

    def __init__(self, checks: Mapping[str, Callable[[], None]]) -> None:
        self.checks = dict(checks)
        self._threads = Threads(max(1, len(self.checks)))
        self._problems: list[Problem] = []
        self._good_until = 0.0

    async def problems(self) -> list[Problem]:
        """Give what is not well."""
        if time.monotonic() >= self._good_until:
            found = [await self._ask(name, check) for name, check in self.checks.items()]
            self._problems = [problem for problem in found if problem is not None]
            self._good_until = time.monotonic() + READY_SECONDS
        return self._problems

    async def _ask(self, name: str, check: Callable[[], None]) -> Problem | None:
        """Ask one; strangers learn its name and code only."""
        try:
            with anyio.fail_after(CHECK_SECONDS):
                await self._threads.run(check)
        except RefoldError as error:
            return Problem(error.code, f"{name} is not ready")
        except Exception:  # noqa: BLE001 (whatever a check raises, the server is not ready)
            return Problem("not-ready", f"{name} is not ready")
        return None


class OwnApi:
    """See the module."""

    def __init__(
        self,
        *,
        parts: tuple[str, ...],
        limits: tuple[Limit, ...],
        codes: Codes,
        metrics: Metrics,
        readiness: Readiness,
        assets: Assets,
    ) -> None:
        self._health = Health(alive=True, version=refold.__version__, parts=parts)
        self._limits = sorted(limits, key=lambda limit: limit.id)
        self._codes = codes
        self._metrics = metrics
        self._readiness = readiness
        self._assets = assets

    @get("/health", summary="Tell whether the process answers", cache=NO_STORE)
    def health(self) -> Health:
        """Give the version and the parts that are switched on."""
        return self._health

    @get(
        "/ready", summary="Tell whether requests can be answered", cache=NO_STORE,
        codes=("not-ready",),
    )  # fmt: skip
    async def ready(self) -> Ready:
        """Ask the database and each part; the problem `not-ready` lists what is not well."""
        problems = await self._readiness.problems()
        if problems:
            first = Problem("not-ready", "the server cannot answer everything now")
            raise SourceError.of([first, *problems])
        return Ready(ready=True, checks=tuple(self._readiness.checks))

    @get("/metrics", summary="Give figures for Prometheus", cache=NO_STORE, media_type=METRICS_TYPE)
    def metrics(self) -> Answer[bytes]:
        """Count requests by route and status, their time, and what the parts count."""
        return Answer(self._metrics.text(), media_type=METRICS_TYPE)

    @get("/v1/limits", summary="List all limits of this server")
    def limits(self, asked: ListAsked, call: Call) -> Page[Limit]:
        """Give each limit with its unit and its reason, those of the parts included."""
        after = call.place(asked, tuple[str])
        rows = [limit for limit in self._limits if after is None or limit.id > after[0]]
        return call.page(asked, rows, keyset=lambda row: (row.id,), item=lambda row: row)

    @get("/v1/errors", summary="List all codes that this server may answer with")
    def errors(self, asked: ListAsked, call: Call) -> Page[Code]:
        """Give each code with its status and what it means."""
        after = call.place(asked, tuple[str])
        rows = [code for code in self._codes if after is None or code.id > after[0]]
        return call.page(asked, rows, keyset=lambda row: (row.id,), item=lambda row: row)

    @get(
        "/v1/errors/{id}", summary="Say what one code means", codes=("error-unknown",),
        example={"id": "query-value"},
    )  # fmt: skip
    def error(self, asked: CodeAsked) -> Code:
        """Give one code: this is the address that `type` of a problem names."""
        row = self._codes.get(asked.id)
        if row is None:
            raise InputError("error-unknown", "there is no such code", "see /v1/errors", "/id")
        return row

    @get("/static/{name}", summary="Give a static file", cache=FOREVER, listed=False)
    def static(self, asked: AssetAsked) -> Answer[bytes]:
        """Give a file under the name that holds its digest, to be kept for ever."""
        asset = self._assets.get(asked.name)
        if asset is None:
            raise InputError("route-unknown", "there is no such file")
        return Answer(asset.body, media_type=asset.media_type)
