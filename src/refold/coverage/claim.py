"""What may be claimed of what was seen, and the record that says it: never more than was seen.

Pure: takes the outcomes of walks, gives the record. Source: coverage spec §5.1a, §5.3 (V-1 to
V-11), §5.5 R-5, R-6.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from refold.coverage.codes import REASONS
from refold.coverage.hashes import EMPTY_SET, query_hash, result_hash
from refold.coverage.judge import UnitVerdict, judge, merged
from refold.coverage.plan import Plan
from refold.coverage.record import (
    MAX_BLINDSPOTS,
    MAX_WHY,
    VERSION,
    Blindspot,
    Claim,
    Manual,
    Match,
    MvcPins,
    receipt_of,
)
from refold.coverage.unit import Traversal
from refold.coverage.walk.walked import Listed, Walked
from refold.kernel.utc import later

__all__ = ["record_of"]

_SUBSET: Final = "no_match_in_declared_subset"
_ENDLESS: Final = frozenset(
    {"termination_not_proven", "round_count_without_end_signal", "starts_midway"}
)
"""Reasons that say no more than that a unit's end is not proved: the rest may be a subset."""
_LABELS: Final = (
    ("budget_exhausted", frozenset({"budget_exhausted"})),
    (
        "source_unreachable",
        frozenset({"source_unreachable", "detail_mismatch"})
        | {reason.id for reason in REASONS.values() if reason.effect == "BROKEN"},
    ),
    (
        "source_inconsistent",
        frozenset(
            {"moved_during_traversal", "duplicate_ids", "total_drift", "source_inconsistent"}
        ),
    ),
    ("source_truncated", frozenset({"source_truncated"})),
)
"""Labels of INCONCLUSIVE by the replay reasons that they stand for; the first that fits."""
_LAST: Final = "\ud7ff"
"""The last character that a member name may have where it is hashed (spec §5.4). An indexer that
names a status otherwise is left without its ledger, which is optional."""
_CLOSED: Final = re.compile(r"status 40[13]\b")
"""How the walks tell that a source wants credentials."""


def record_of(
    plan: Plan, sources: Sequence[Listed], walked: Sequence[Walked], as_of: str
) -> dict[str, Any]:
    """Give the record of a plan, its sources (pages of a list counted) and the walks over them.

    PRESENT if something matched. ABSENT if nothing did and every unit was read to an end that is
    proved; or, where the plan asks for it, as a declared subset if no more than the end of some
    units is missing. Else INCONCLUSIVE. What could not be checked becomes a blindspot. All times
    are taken from `as_of`, when the last walk ended.
    """
    traversals = [one.traversal for one in walked]
    matches = [Match(found.id, found.digest) for found in merged(traversals)[0].values()]
    units = [_unit(source, one) for source, one in zip(sources, traversals, strict=True)]
    draft = _record(plan, units, as_of, ("INCONCLUSIVE", ""))
    verdicts = judge(receipt_of(draft), traversals, as_of).units
    unread = [at for at, verdict in enumerate(verdicts) if verdict.coverage != "FULL"]
    claim = _claim(plan, walked, verdicts, found=bool(matches))
    if claim[1] == _SUBSET:
        for at in unread:
            units[at] = _unit(sources[at], traversals[at], proved=False)
    blind = [*plan.blindspots, *_without_bytes(matches)]
    blind += _not_read(
        [_blindspot(sources[at], walked[at], verdicts[at]) for at in unread],
        MAX_BLINDSPOTS - len(blind),
    )
    return _record(plan, units, as_of, claim, matches=matches, blindspots=blind)


def _record(
    plan: Plan,
    units: Sequence[dict[str, Any]],
    as_of: str,
    claim: tuple[Claim, str],
    *,
    matches: Sequence[Match] = (),
    blindspots: Sequence[Blindspot] = (),
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "v": VERSION,
        "claim": claim[0],
        "question": plan.question,
        "query": {"canon": plan.canon, "queryHash": query_hash(plan.canon)},
        "corpus": {"kind": plan.kind, "asOf": as_of, "units": list(units)},
        "result": {
            "matchCount": len(matches),
            "matches": msgspec.to_builtins(list(matches)),
            "resultHash": result_hash(matches),
        },
        "justification": claim[1],
        "validUntil": later(as_of, plan.valid_for),
        "blindspots": msgspec.to_builtins(list(blindspots)),
        "supersedes": plan.supersedes,
        "note": plan.note,
    }
    return {
        name: value
        for name, value in record.items()
        if value or name not in {"justification", "supersedes", "note"}
    }


def _unit(source: Listed, seen: Traversal, *, proved: bool = True) -> dict[str, Any]:
    """Give a unit with the strongest evidence that the walk over it allows.

    Unless its end is `proved` none is stated. Pins take SET_HASH even of nothing (C-11).
    """
    pins = isinstance(source.replay, MvcPins)
    ends = seen.ends if proved else ()
    sets = [end for end in ends if end != "COUNT_MATCHED"]
    termination, kind, marker, observed = "UNKNOWN", "NONE", "", seen.rows
    if seen.pages:
        kind, marker = "SET_HASH", seen.set_hash
        if sets:
            termination = sets[0]
        elif ends:
            # A total goes with no other marker (C-12). It is the largest one, of a whole series.
            termination, kind = ends[0], "TOTAL_COUNT"
            marker = max(seen.totals, key=lambda total: int(total.rpartition("=")[2]))
    elif pins:
        kind, marker, observed = "SET_HASH", EMPTY_SET, 0
    boundary: dict[str, Any] = {
        "termination": termination,
        "observed": observed,
        "endMarkerKind": kind,
        "endMarker": marker,
    }
    counts = seen.status_counts
    if pins and seen.pages and counts is not None and max("".join(counts), default="") <= _LAST:
        boundary["statusCounts"] = dict(sorted(counts.items()))
    return {"id": source.id, "replay": _replay(source), "boundary": boundary}


def _replay(source: Listed) -> dict[str, Any]:
    """Give the recipe as the record spells it; an empty filter or instruction is left out."""
    replay: dict[str, Any] = msgspec.to_builtins(source.replay)
    optional = {"filter", "instructions"}
    return {name: value for name, value in replay.items() if value or name not in optional}


def _claim(
    plan: Plan, walked: Sequence[Walked], verdicts: Sequence[UnitVerdict], *, found: bool
) -> tuple[Claim, str]:
    """Give the claim and its justification (V-1 to V-4, V-11), "" for PRESENT."""
    if found:
        return "PRESENT", ""
    partial = [
        (one, verdict)
        for one, verdict in zip(walked, verdicts, strict=True)
        if verdict.coverage != "FULL"
    ]
    if not partial:
        empty = not any(one.traversal.rows for one in walked)
        return "ABSENT", "all_sources_empty" if empty else "no_match_in_full_coverage"
    read = any(one.traversal.pages for one in walked)
    if plan.subset and read and all(set(verdict.reasons) <= _ENDLESS for _, verdict in partial):
        return "ABSENT", _SUBSET
    return "INCONCLUSIVE", _open_label(plan, partial)


def _open_label(plan: Plan, partial: Sequence[tuple[Walked, UnitVerdict]]) -> str:
    """Give the label that says best why the question stays open."""
    if all(isinstance(unit.replay, Manual) for unit in plan.units):
        return "manual_source_only"
    if any(_CLOSED.search(one.why.get("http_status", "")) for one, _ in partial):
        return "access_restricted"
    reasons = {reason for _, verdict in partial for reason in verdict.reasons}
    for label, signs in _LABELS:
        if reasons & signs:
            return label
    ended = all(one.traversal.ends for one, _ in partial)
    return "under_investigation" if ended else "termination_not_proven"


def _without_bytes(matches: Sequence[Match]) -> list[Blindspot]:
    """Give the blindspot of matches without a digest (F-27), if there are any."""
    count = sum(match.digest is None for match in matches)
    if not count:
        return []
    what = f"the raw bytes of {count} of {len(matches)} matches"
    return [Blindspot(what, "the list does not show them, so these matches have no digest")]


def _blindspot(source: Listed, walked: Walked, verdict: UnitVerdict) -> Blindspot:
    """Say of a unit that is less than FULL what of it could not be checked, and why."""
    if isinstance(source.replay, Manual):
        return Blindspot(f"unit {source.id}", "only a person can look; nothing was walked")
    told = (
        f"{reason} ({walked.why.get(reason, REASONS[reason].says)})" for reason in verdict.reasons
    )
    return Blindspot(f"unit {source.id}", "; ".join(told)[:MAX_WHY])


def _not_read(blindspots: Sequence[Blindspot], room: int) -> list[Blindspot]:
    """Give as many blindspots as there is room for; the last one counts the others."""
    if len(blindspots) <= room:
        return list(blindspots)
    kept = list(blindspots[: room - 1])
    rest = len(blindspots) - len(kept)
    return [*kept, Blindspot(f"{rest} more units", "none of them was read to a proved end")]
