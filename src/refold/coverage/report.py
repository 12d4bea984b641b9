"""The report of a verifier: what R-10 lists, as one Struct that renders as JSON, text and SARIF.

It stands outside of the record, and is never written into it (P0-8).
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal
from unicodedata import unidata_version

import msgspec

from refold import __version__
from refold.coverage.checks import Validation
from refold.coverage.consensus import mode_of, observation_of
from refold.coverage.judge import Drift, Judgement, UnitVerdict, Verdict
from refold.coverage.record import (
    Claim,
    Coverage,
    MarkerKind,
    Mode,
    Receipt,
    ReplayKind,
    Termination,
    Unit,
)
from refold.coverage.unit import Traversal
from refold.kernel.errors import Problem

__all__ = [
    "FORMAT",
    "Basis",
    "Finding",
    "Recheck",
    "Report",
    "SourceReport",
    "UnitReport",
    "findings_of",
    "report_of",
    "report_unreplayed",
]

FORMAT: Final = "refold.coverage.report/1"
"""The name of the report's format; the published schema describes it."""

Basis = Literal["LIVE", "RECORDED", "NONE"]
"""Where the pages came from: the sources now, stored responses, or nowhere (nothing replayed)."""

Recheck = Literal["MATCH", "DRIFT", "UNREACHABLE", "NOT_RECHECKABLE"]
"""What reading a source of the consensus block again gave (Y-11)."""


class UnitReport(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """What the replay of one unit gave, beside what the record says of it.

    `bytes` are decoded body bytes. `termination_replayed` lists every end reached with authority.
    `weak_evidence` tells that the record's own endMarker cannot show a swap of rows. `why` gives
    the words in which a reason was met, by reason.
    """

    id: str
    kind: ReplayKind
    coverage: Coverage
    reasons: tuple[str, ...]
    why: dict[str, str]
    drift: Drift
    observed_recorded: int
    observed_replayed: int
    termination_recorded: Termination
    termination_replayed: tuple[Termination, ...]
    end_marker_kind: MarkerKind
    weak_evidence: bool
    pages: int
    bytes: int
    requests: int
    first_at: str
    last_at: str
    warnings: tuple[str, ...]


class Finding(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One error or warning of the validator: code, JSON pointer, message and remedy."""

    code: str
    pointer: str
    message: str
    remedy: str


class SourceReport(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What reading one source of the consensus block again gave, and why it gave no more."""

    operator: str
    locator: str
    recheck: Recheck
    why: str


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The whole report.

    `coverage` is None when nothing was replayed. `mode` is the recomputed consensus mode, "" for a
    record without the block. `origins` maps the origins of the record to those that were dialled.
    `sources` is empty unless the sources of the consensus block were read again; no verdict depends
    on it (Y-4).
    """

    format: Literal["refold.coverage.report/1"] = FORMAT
    judgement: Judgement
    coverage: Coverage | None
    reasons: tuple[str, ...]
    claim: Claim | Literal[""]
    question: str
    as_of: str
    valid_until: str
    now: str
    receipt_hash: str
    units: tuple[UnitReport, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    mode: Mode | Literal[""]
    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    basis: Basis
    origins: dict[str, str]
    sources: tuple[SourceReport, ...] = ()
    tool: str = f"refold {__version__}"
    unicode: str = unidata_version


def report_unreplayed(validation: Validation, now: str) -> Report:
    """Give the report of a record of which nothing was replayed.

    INVALID if a check failed; else INCONCLUSIVE, as for a version that is only validated.
    """
    return _report(validation, now, "INCONCLUSIVE" if validation.is_valid else "INVALID")


def report_of(
    validation: Validation,
    traversals: Sequence[Traversal],
    verdict: Verdict,
    now: str,
    *,
    basis: Basis = "LIVE",
    origins: Mapping[str, str] | None = None,
    why: Sequence[Mapping[str, str]] = (),
) -> Report:
    """Give the report of a valid record, its traversals and the verdict on them (`judge`).

    `origins` maps origins of the record to those that were asked in their place. `why` gives for
    each unit the words in which its reasons were met.
    """
    receipt = validation.receipt
    units = receipt.corpus.units if receipt else ()
    words = why or [{}] * len(units)
    told = zip(units, traversals, verdict.units, words, strict=True)
    return msgspec.structs.replace(
        _report(validation, now, verdict.judgement),
        coverage=verdict.coverage,
        reasons=verdict.reasons,
        units=tuple(_unit(*each) for each in told),
        added=verdict.added,
        removed=verdict.removed,
        basis=basis,
        origins=dict(origins or {}),
    )


def _report(validation: Validation, now: str, judgement: Judgement) -> Report:
    receipt = validation.receipt
    return Report(
        judgement=judgement,
        coverage=None,
        reasons=(),
        claim=receipt.claim if receipt else "",
        question=receipt.question if receipt else "",
        as_of=receipt.corpus.as_of if receipt else "",
        valid_until=receipt.valid_until if receipt else "",
        now=now,
        receipt_hash=validation.receipt_hash,
        units=(),
        added=(),
        removed=(),
        mode=_mode(receipt),
        errors=findings_of(validation.errors),
        warnings=findings_of(validation.warnings),
        basis="NONE",
        origins={},
    )


def _unit(
    unit: Unit, traversal: Traversal, verdict: UnitVerdict, words: Mapping[str, str]
) -> UnitReport:
    boundary = unit.boundary
    return UnitReport(
        id=unit.id,
        kind=unit.kind,
        coverage=verdict.coverage,
        reasons=verdict.reasons,
        why={reason: words[reason] for reason in verdict.reasons if reason in words},
        drift=verdict.drift,
        observed_recorded=boundary.observed,
        observed_replayed=traversal.rows,
        termination_recorded=boundary.termination,
        termination_replayed=traversal.ends,
        end_marker_kind=boundary.end_marker_kind,
        weak_evidence=boundary.end_marker_kind != "SET_HASH",
        pages=traversal.pages,
        bytes=traversal.bytes,
        requests=traversal.requests,
        first_at=traversal.first_at,
        last_at=traversal.last_at,
        warnings=traversal.warnings,
    )


def _mode(receipt: Receipt | None) -> Mode | Literal[""]:
    if receipt is None or receipt.consensus is None:
        return ""
    return mode_of(map(observation_of, receipt.consensus.source_set))


def findings_of(problems: Sequence[Problem]) -> tuple[Finding, ...]:
    """Give errors or warnings of the validator as a report lists them."""
    return tuple(Finding(each.code, each.pointer, each.message, each.hint) for each in problems)
