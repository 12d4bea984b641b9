"""What a part of refold gives to the server: routes and everything around them, as data.

A protocol makes one in its api.py; `refold.web.app` puts those that are switched on together.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import msgspec

from refold.serving.codes import Code
from refold.serving.limits import Limit
from refold.serving.operation import Operation
from refold.serving.tools import Tool

__all__ = ["Gauge", "Nav", "Part", "Task"]


class Nav(msgspec.Struct, frozen=True):
    """A link of the menu. `label` is a message of the catalogue."""

    label: str
    path: str


class Gauge(msgspec.Struct, frozen=True):
    """A figure for /metrics: `name` is `refold_PART_…` in snake case, with its unit at the end."""

    name: str
    help: str
    value: float


@dataclass(frozen=True, slots=True)
class Task:
    """Work beside the answers, in a thread of its own: it ends soon after `stop` is set.

    What it raises is logged, and the server is no longer ready.
    """

    name: str
    run: Callable[[Event], None]


def _no_gauges() -> Iterable[Gauge]:
    return ()


@dataclass(frozen=True, slots=True)
class Part:
    """One part. `name` is its word in addresses (/v1/NAME/…) and in the setting `parts`.

    `checks` are asked by /ready, each in a thread: they return when all is well, else they raise an
    error of refold. `gauges` is asked by /metrics. `folder` holds `templates`, `static` and
    `locale` of the part, where it has pages.
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
