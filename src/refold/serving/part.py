"""What a part of refold gives to the server: routes and everything around them, as data.

A protocol makes one in its api.py; `refold.web.app` puts those that are switched on together.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import msgspec

from refold.serving.answers import View
from refold.serving.call import Call
from refold.serving.codes import Code
from refold.serving.limits import Limit
from refold.serving.menu import Nav
from refold.serving.operation import Operation
from refold.serving.tools import Tool

__all__ = ["Front", "Gauge", "Guide", "Nav", "Part", "Task"]


class Gauge(msgspec.Struct, frozen=True):
    """A figure for /metrics: `name` is `refold_PART_…` in snake case, with its unit at the end."""

    name: str
    help: str
    value: float


class Guide(msgspec.Struct, frozen=True, rename="camel"):
    """A document by which programs find their way, for the first page of the server.

    `rel` is its relation to the server (a registered link relation), `says` a message for people.
    """

    path: str
    rel: str
    media_type: str
    says: str


@dataclass(frozen=True, slots=True)
class Task:
    """Work beside the answers, in a thread of its own: it ends soon after `stop` is set.

    What it raises is logged, and the server is no longer ready.
    """

    name: str
    run: Callable[[Event], None]


Front = Callable[[Call], Awaitable[View]]
"""Gives what the first page of the server shows of a part. Its template is included there, and
finds its data under the name `front`."""


def _no_gauges() -> Iterable[Gauge]:
    return ()


@dataclass(frozen=True, slots=True)
class Part:
    """One part. `name` is its word in addresses (/v1/NAME/…) and in the setting `parts`.

    `checks` are asked by /ready, each in a thread: they return when all is well, else they raise an
    error of refold. `gauges` is asked by /metrics. `folder` holds `templates`, `static` and
    `locale` of the part, where it has pages. `lifetimes` are entered before the first answer, and
    left after the last one. `front` is for the home page, `sitemap` the path of a part's sitemap;
    the home page names the `guides`.
    """

    name: str
    title: str
    summary: str
    operations: tuple[Operation, ...] = ()
    codes: tuple[Code, ...] = ()
    limits: tuple[Limit, ...] = ()
    tools: tuple[Tool, ...] = ()
    nav: tuple[Nav, ...] = ()
    tasks: tuple[Task, ...] = ()
    checks: dict[str, Callable[[], None]] = field(default_factory=dict)
    gauges: Callable[[], Iterable[Gauge]] = _no_gauges
    folder: Path | None = None
    lifetimes: tuple[AbstractAsyncContextManager[None], ...] = ()
    front: Front | None = None
    sitemap: str = ""
    guides: tuple[Guide, ...] = ()
