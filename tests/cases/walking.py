"""Walks over scripted servers, through the guarded client, under public names."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from cases.scripts import Case
from cases.servers import BASE, Scripted, scripted
from refold.coverage.codes import REASONS
from refold.coverage.match import compile_criterion
from refold.coverage.record import Replay
from refold.coverage.transport.live import Live, policy_of
from refold.coverage.walk.asking import Transport
from refold.coverage.walk.budget import Budgets
from refold.coverage.walk.drive import walk_corpus
from refold.coverage.walk.walked import Listed, Walked
from refold.kernel.fetch import GuardedClient

ORDER = ("FULL", "PARTIAL", "BROKEN")


def sources_of(case: Case) -> list[Listed]:
    recipes = [case.pins] if case.pins else [http(url, case.array) for url in case.urls]
    return [
        Listed(f"unit {number}", msgspec.convert(recipe, Replay), case.total)
        for number, recipe in enumerate(recipes)
    ]


def http(url: str, array: str) -> dict[str, Any]:
    return {"kind": "HTTP_JSON", "url": BASE + url, "arrayPath": array}


@contextmanager
def live(origin: str, budgets: Budgets | None = None, **options: Any) -> Iterator[Live]:
    """Give a transport that asks `origin` under the public name, without waits before retries."""
    policy = policy_of(budgets or Budgets(), origin_map={BASE: origin})
    quick = msgspec.structs.replace(policy, retry_wait=0.0, max_seconds_idle=5.0)
    with GuardedClient(quick) as client:
        yield Live(client, **options)


def walk(case: Case, transport: Transport, budgets: Budgets | None = None) -> list[Walked]:
    criterion = compile_criterion(case.canon)
    return list(walk_corpus(sources_of(case), criterion, transport, budgets=budgets))


@contextmanager
def walking(case: Case) -> Iterator[tuple[Live, Scripted]]:
    """Serve a case, and give a transport for it and what was asked."""
    with scripted({"routes": case.routes}) as (server, answers), live(server.origin) as transport:
        yield transport, answers


def coverage_of(walked: Sequence[Walked]) -> str:
    """Give the worst coverage that reasons and ends leave."""
    effects = ["FULL"]
    for unit in walked:
        effects += [REASONS[reason].effect for reason in unit.traversal.reasons]
        effects += [] if unit.traversal.ends else ["PARTIAL"]
    return max(effects, key=ORDER.index)
