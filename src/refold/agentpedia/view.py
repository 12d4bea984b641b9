"""A view: the state of a fold at a tip height, in the forms that people and indexers want."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from refold.agentpedia.common import Json, common_view
from refold.agentpedia.editors import tier_of
from refold.agentpedia.full import (
    display_head_of,
    full_view,
    quality_of,
    unverified,
    unverified_stakes,
    view_digest,
)
from refold.agentpedia.state import State


class EntryLine(msgspec.Struct, frozen=True, rename="camel"):
    """One entry in a summary."""

    key: str
    status: str
    quality: str
    display_head: str
    versions: int
    disputed: int


class Summary(msgspec.Struct, frozen=True, rename="camel"):
    """What a person wants to know of a folded stream at a glance."""

    rules: str
    tip: int
    genesis: str | None
    not_authoritative_from: str | None
    events: int
    entries: list[EntryLine]
    editors: dict[str, int]
    proposals: dict[str, int]
    graveyard: dict[str, int]
    pending: int
    digest: str


class View(msgspec.Struct, frozen=True):
    """The state at `tip`, closings due there included; `pending` are mempool pins, by id."""

    state: State
    tip: int
    pending: list[str]

    def common(self) -> Json:
        """Give the view in the shape of the public engines (spec §10)."""
        return common_view(self.state, self.tip, self.pending)

    def full(self) -> Json:
        """Give the full view by sections, its digest, and what stands outside the digest."""
        return {
            "tip": self.tip,
            "digest": self.digest(),
            "pending": self.pending,
            "unverified": unverified(self.state),
            "unverifiedStakes": unverified_stakes(self.state),
            **full_view(self.state, self.tip),
        }

    def digest(self) -> str:
        """Give the view digest in lower-case hex (docs/agentpedia-view.md)."""
        return view_digest(self.state, self.tip)

    def summary(self) -> Summary:
        """Count what there is, entries in the order of their keys."""
        state = self.state
        tiers = (tier_of(e, state.limits, self.tip) for e in state.editors.values())
        proposals = [f"{p.outcome} {p.state}" for p in state.proposals.values()]
        proposals += [f"params {p.state}" for p in state.param_proposals.values()]
        return Summary(
            rules=state.rules.name,
            tip=self.tip,
            genesis=state.constitutions[0].pin if state.constitutions else None,
            not_authoritative_from=state.not_authoritative_from,
            events=state.seq,
            entries=[_entry_line(state, key) for key in sorted(state.keys)],
            editors=_counted(tier or "no tier" for tier in tiers),
            proposals=_counted(proposals),
            graveyard=_counted(grave.reason for grave in state.graveyard),
            pending=len(self.pending),
            digest=self.digest(),
        )


def _entry_line(state: State, key: str) -> EntryLine:
    entry = state.records[state.keys[key]]
    return EntryLine(
        key=key,
        status=entry.status,
        quality=quality_of(state, entry),
        display_head=display_head_of(state, entry),
        versions=sum(name in state.versions for name in entry.history),
        disputed=len(entry.disputed),
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Count names, the most frequent first, ties by name."""
    counts = Counter(names)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
