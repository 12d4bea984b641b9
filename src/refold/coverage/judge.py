"""Judgement: what a replay says of a receipt (spec §5.3).

Two pure steps. `judge` compares a valid receipt with the traversals of its units and writes down
what is so as named booleans (`Facts`); `rule` is the table over these, total and monotone: lower
coverage never turns anything into VERIFIED.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from refold.coverage.codes import REASONS
from refold.coverage.record import Claim, Coverage, Receipt, Unit, ceiling_of
from refold.coverage.sight import moment
from refold.coverage.unit import Found, Traversal, reproduces_end, reproduces_marker
from refold.kernel.utc import parse_utc

__all__ = [
    "Drift",
    "Facts",
    "Judgement",
    "UnitVerdict",
    "Verdict",
    "judge",
    "rule",
]

Judgement = Literal["VERIFIED", "STALE", "REFUTED", "INCONCLUSIVE", "INVALID"]
Drift = Literal["", "unit_unchanged", "grew", "shrank", "changed"]

CONFIRMED_BEFORE: Final = 7_200
"""Seconds that a block must lie before asOf to prove that its pins could be seen then: block times
may run two hours ahead."""

_ORDER: Final[tuple[Coverage, ...]] = ("BROKEN", "PARTIAL", "FULL")
"""Coverage from worst to best."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the judgement depends on, and nothing else.

    invalid: a check of the record failed.
    claim: the record's. coverage: the replay's.
    expired: now is after validUntil.
    found: the replay found a match.
    decided: the replay came to the proved end of every unit, whatever end the record states (a
        record that leaves a question open states none, which caps its coverage).
    extra: an item matches now that the record lacks.
    extra_proved: such an item is proved to have been there at asOf (rule 2a).
    unchanged: every unit is unchanged by the record's own evidence.
    missing: a recorded match was not found.
    ids_only: the criterion reads nothing but ids in every unit.
    digest_differs: a recorded digest of a pin is another one now.
    digest_lost: a recorded digest could not be compared.
    reordered: the matches that are in both came in another order.
    shrank: a unit has fewer rows than recorded.
    """

    invalid: bool = False
    claim: Claim
    coverage: Coverage
    expired: bool = False
    found: bool = False
    decided: bool = False
    extra: bool = False
    extra_proved: bool = False
    unchanged: bool = False
    missing: bool = False
    ids_only: bool = False
    digest_differs: bool = False
    digest_lost: bool = False
    reordered: bool = False
    shrank: bool = False


class UnitVerdict(msgspec.Struct, frozen=True, rename="camel"):
    """What the replay says of one unit: its coverage, why it is no better, and how it moved."""

    coverage: Coverage
    reasons: tuple[str, ...]
    drift: Drift


class Verdict(msgspec.Struct, frozen=True, rename="camel"):
    """What the replay says of a receipt.

    `reasons` are those of the judgement, `units` the verdicts in declared order. `added` are the
    ids that match now and are not recorded, `removed` those recorded that do not match now; under
    less than FULL coverage a removed one may stand where nobody could look. `weak` names the units
    whose own evidence could not have been refuted by a swap of rows: no SET_HASH.
    """

    judgement: Judgement
    coverage: Coverage
    reasons: tuple[str, ...]
    units: tuple[UnitVerdict, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    weak: tuple[str, ...]
    facts: Facts


def rule(facts: Facts) -> Judgement:
    """Give the judgement: the first rule of spec §5.3 that applies. Total."""
    full = facts.coverage == "FULL"
    if facts.invalid:
        return "INVALID"
    if facts.claim != "INCONCLUSIVE":
        if facts.extra and facts.extra_proved:
            return "REFUTED"
        if (
            full
            and facts.unchanged
            and (facts.digest_differs or (facts.missing and facts.ids_only))
        ):
            return "REFUTED"
    if facts.expired:
        return "STALE"
    if facts.claim == "INCONCLUSIVE":
        return "STALE" if _is_decidable(facts) else "INCONCLUSIVE"
    if facts.extra:
        return "STALE"
    again = not (facts.missing or facts.digest_differs or facts.digest_lost or facts.reordered)
    if full:
        shrank = facts.shrank and facts.claim == "ABSENT"
        return "VERIFIED" if again and not shrank else "STALE"
    if facts.coverage == "PARTIAL" and facts.claim == "PRESENT" and again:
        return "VERIFIED"
    return "INCONCLUSIVE"


def _is_decidable(facts: Facts) -> bool:
    """Rule 4: tell whether the replay answers what the record left open."""
    return facts.coverage == "FULL" or facts.decided or facts.found


def judge(receipt: Receipt, traversals: Sequence[Traversal], now: str) -> Verdict:
    """Judge a valid receipt by one traversal for each of its units, in declared order.

    MANUAL units have an empty traversal. Raises InputError `time-form` or `time-range` for a `now`
    that is no time (RFC 3339, UTC, Z), ValueError for another number of traversals.
    """
    parse_utc(now)  # times of one form compare as texts
    pairs = list(zip(receipt.corpus.units, traversals, strict=True))
    units = tuple(_unit_verdict(unit, traversal) for unit, traversal in pairs)
    matches, disputed = merged(traversals)
    units = tuple(
        _disputing(verdict) if any(found.id in disputed for found in traversal.matches) else verdict
        for verdict, traversal in zip(units, traversals, strict=True)
    )
    coverage = _record_coverage(units, pairs)
    facts = _facts(receipt, pairs, units, coverage, expired=now > receipt.valid_until)
    recorded = {match.id for match in receipt.result.matches}
    return Verdict(
        rule(facts),
        coverage,
        _reasons(facts, units),
        units,
        tuple(name for name in matches if name not in recorded),
        tuple(match.id for match in receipt.result.matches if match.id not in matches),
        tuple(
            unit.id for unit in receipt.corpus.units if unit.boundary.end_marker_kind != "SET_HASH"
        ),
        facts,
    )


def merged(traversals: Sequence[Traversal]) -> tuple[dict[str, Found], frozenset[str]]:
    """Merge the matches of the units (R-9); give also the ids that came with two digests.

    The order is that of first occurrence, units in declared order.
    """
    matches: dict[str, Found] = {}
    disputed: set[str] = set()
    for traversal in traversals:
        for found in traversal.matches:
            before = matches.setdefault(found.id, found)
            if before.digest is None:
                # A unit without digests doesn't hide what another one gives.
                matches[found.id] = msgspec.structs.replace(before, digest=found.digest)
            elif found.digest is not None and found.digest != before.digest:
                disputed.add(found.id)
    return matches, frozenset(disputed)


def _unit_verdict(unit: Unit, traversal: Traversal) -> UnitVerdict:
    """V-8: the worst of the record's ceiling, the effects of the reasons, and a missing end."""
    reasons = traversal.reasons
    coverage = ceiling_of(unit)
    if not traversal.ends:
        coverage = "PARTIAL"
        if not reasons and unit.kind != "MANUAL":
            reasons = ("termination_not_proven",)
    for reason in reasons:
        coverage = _worst(coverage, _effect_of(reason))
    return UnitVerdict(coverage, reasons, _drift(unit, traversal))


def _disputing(verdict: UnitVerdict) -> UnitVerdict:
    """Lower a unit that gave an item another digest than its neighbour (R-9)."""
    reason = "source_inconsistent"
    return msgspec.structs.replace(
        verdict,
        coverage=_worst(verdict.coverage, _effect_of(reason)),
        reasons=tuple(dict.fromkeys((*verdict.reasons, reason))),
    )


def _effect_of(reason: str) -> Coverage:
    """Give the best coverage that a reason leaves; of one that nobody knows, the worst."""
    known = REASONS.get(reason)
    if known is None:
        return "BROKEN"
    return "FULL" if known.effect == "NOTE" else known.effect


def _worst(first: Coverage, second: Coverage) -> Coverage:
    return min(first, second, key=_ORDER.index)


def _drift(unit: Unit, traversal: Traversal) -> Drift:
    """Compare the walk with the record's own evidence; "" where that shows nothing."""
    boundary = unit.boundary
    if unit.kind == "MANUAL" or not traversal.pages:
        return ""
    same_end = reproduces_end(traversal, boundary.termination)
    same_rows = traversal.rows == boundary.observed
    if same_end and same_rows and _same_marker(unit, traversal):
        return "unit_unchanged"
    if traversal.rows > boundary.observed:
        return "grew"
    if not traversal.ends:
        return ""  # what a walk without an end did not see may be there
    if not same_rows:
        return "shrank"
    return "" if same_end and boundary.end_marker_kind == "NONE" else "changed"


def _same_marker(unit: Unit, traversal: Traversal) -> bool:
    boundary = unit.boundary
    return reproduces_marker(traversal, boundary.end_marker_kind, boundary.end_marker)


def _record_coverage(
    units: Sequence[UnitVerdict], pairs: Sequence[tuple[Unit, Traversal]]
) -> Coverage:
    """V-8: the worst unit's; BROKEN where no unit that can be replayed gave a parsed page."""
    if not any(traversal.pages for unit, traversal in pairs if unit.kind != "MANUAL"):
        return "BROKEN"
    return min((unit.coverage for unit in units), key=_ORDER.index)


def _facts(
    receipt: Receipt,
    pairs: Sequence[tuple[Unit, Traversal]],
    units: Sequence[UnitVerdict],
    coverage: Coverage,
    *,
    expired: bool,
) -> Facts:
    matches, _ = merged([traversal for _, traversal in pairs])
    recorded = {match.id: match.digest for match in receipt.result.matches}
    again = [name for name in matches if name in recorded]
    digests = [(recorded[name], matches[name].digest) for name in again if recorded[name]]
    # On no items, a criterion reads nothing at all.
    ids_only = all(traversal.ids_only or not traversal.rows for _, traversal in pairs)
    return Facts(
        claim=receipt.claim,
        coverage=coverage,
        expired=expired,
        found=bool(matches),
        decided=all(_is_decided(*pair) for pair in zip(pairs, units, strict=True)),
        extra=any(name not in recorded for name in matches),
        extra_proved=_is_proved(receipt, pairs, units, recorded),
        unchanged=all(unit.drift == "unit_unchanged" for unit in units),
        missing=any(name not in matches for name in recorded),
        ids_only=ids_only,
        digest_differs=any(now is not None and now != then for then, now in digests),
        digest_lost=any(now is None for _, now in digests),
        reordered=again != [name for name in recorded if name in matches],
        shrank=any(unit.drift == "shrank" for unit in units),
    )


def _is_decided(pair: tuple[Unit, Traversal], verdict: UnitVerdict) -> bool:
    """Tell whether the replay of a unit alone, without the record's ceiling, is FULL."""
    unit, traversal = pair
    whole = unit.kind != "MANUAL" and bool(traversal.ends)
    return whole and all(_effect_of(reason) == "FULL" for reason in verdict.reasons)


def _is_proved(
    receipt: Receipt,
    pairs: Sequence[tuple[Unit, Traversal]],
    units: Sequence[UnitVerdict],
    recorded: Mapping[str, str | None],
) -> bool:
    """Rule 2a: tell whether a match that the record lacks is proved to have been there at asOf."""
    latest = (moment(receipt.corpus.as_of) or 0) - CONFIRMED_BEFORE
    for (_, traversal), verdict in zip(pairs, units, strict=True):
        by_id = verdict.drift == "unit_unchanged" and traversal.ids_only
        for found in traversal.matches:
            if found.id in recorded:
                continue
            confirmed = found.block_time is not None and found.block_time <= latest
            if by_id or (confirmed and traversal.lasting):
                return True
    return False


def _reasons(facts: Facts, units: Sequence[UnitVerdict]) -> tuple[str, ...]:
    """Give the reasons of the judgement, so far as they are not those of the units."""
    reasons = []
    if facts.expired:
        reasons.append("expired")
    if facts.claim == "INCONCLUSIVE":
        if _is_decidable(facts):
            reasons.append("now_decidable")
        return tuple(reasons)
    # A match that is missing or out of order says nothing where some unit could not be read.
    full = facts.coverage == "FULL"
    other_digest = facts.digest_differs or (full and facts.digest_lost)
    if facts.extra or other_digest or (full and facts.missing):
        reasons.append("result_drift")
    if facts.extra and any(unit.drift == "unit_unchanged" for unit in units):
        reasons.append("unit_unchanged")
    if full and facts.reordered:
        reasons.append("order_drift")
    if full and facts.shrank and facts.claim == "ABSENT":
        reasons.append("shrank")
    return tuple(reasons)
