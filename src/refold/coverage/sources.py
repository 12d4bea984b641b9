"""The checks of the consensus block: C-22 and C-23, and of supersedes no more than its form."""

import re
from typing import Any, Final, get_args

from refold.coverage.consensus import Observation, identity_of, mode_of, normal_operator, repeated
from refold.coverage.record import MAX_LOCATOR, MAX_OPERATOR, SKEW_SECONDS, Frame, Outcome, Role
from refold.coverage.shape import Path, Report
from refold.coverage.sight import Sight, moment, object_of, text_of
from refold.coverage.urls import normal_locator

__all__ = ["check"]

_DIGITS: Final = re.compile("[0-9]+")
_HASH: Final = re.compile("[0-9a-f]{64}")
_WORDS: Final = ("role", "outcome", "digestFrame")
_ROLES: Final = get_args(Role)
_OUTCOMES: Final = get_args(Outcome)
_FRAMES: Final = get_args(Frame)
_EPOCH_LENGTH: Final = {"UTC_DAY": 10, "UTC_HOUR": 13}
"""How many characters of an observedAt the epoch repeats (Y-5)."""


def check(sight: Sight, report: Report) -> None:
    """Report what does not fit together in the consensus block of a record, if it has one."""
    if not sight.has_consensus:
        return
    block = sight.consensus
    _epoch(sight, report)
    sources = sight.sources
    for index, value in enumerate(sources):
        path = ("consensus", "sourceSet", index)
        source = object_of(value)
        _locator(source, path, report)
        _digest(source, path, report)
        _observed_at(source, sight, path, report)
    _identities(sources, report)
    _mode(block.get("mode"), sources, report)


def _epoch(sight: Sight, report: Report) -> None:
    """C-22: what the basis asks of epoch and note."""
    basis, epoch = sight.consensus.get("epochBasis"), text_of(sight.consensus.get("epoch"))
    if basis == "DECLARED" and not (sight.note or "").strip():
        report("E_CONSENSUS_FIELDS", ("note",), "DECLARED needs a note that says what it counts")
    if basis == "BLOCK_HEIGHT" and epoch is not None and _DIGITS.fullmatch(epoch) is None:
        report("E_CONSENSUS_FIELDS", ("consensus", "epoch"), "BLOCK_HEIGHT takes digits")


def _locator(source: dict[str, Any], path: Path, report: Report) -> None:
    """C-23: F-43 and F-44."""
    locator, role = text_of(source.get("locator")), source.get("role")
    if locator is None or len(locator) > MAX_LOCATOR:
        return
    if not normal_locator(locator):
        report("E_SOURCE_LOCATOR", (*path, "locator"), "neither an origin nor a label")
    if role in _ROLES and locator.startswith("local:") != (role == "LOCAL_COPY"):
        report("E_SOURCE_ROLE", (*path, "role"), f"{role} with this locator")


def _digest(source: dict[str, Any], path: Path, report: Report) -> None:
    """C-23: F-46."""
    digest, outcome = text_of(source.get("setDigest")), source.get("outcome")
    if digest is None or outcome not in _OUTCOMES:
        return
    if outcome == "OBSERVED" and _HASH.fullmatch(digest) is None:
        report("E_SOURCE_DIGEST", (*path, "setDigest"), "OBSERVED needs 64 lower-case hex digits")
    if outcome != "OBSERVED" and digest:
        report("E_SOURCE_DIGEST", (*path, "setDigest"), f"{outcome} has none")


def _observed_at(source: dict[str, Any], sight: Sight, path: Path, report: Report) -> None:
    """C-23: F-48 and Y-5."""
    text = text_of(source.get("observedAt"))
    if text is None:
        return
    place = (*path, "observedAt")
    seconds = moment(text)
    if seconds is None:
        report("E_TIME_FORMAT", place, "no such day or time of day")
        return
    length = _EPOCH_LENGTH.get(str(sight.consensus.get("epochBasis")))
    epoch = text_of(sight.consensus.get("epoch"))
    if length is not None and epoch is not None and text[:length] != epoch:
        report("E_SOURCE_EPOCH", place, "not in the epoch")
    as_of = sight.as_of_seconds
    if as_of is not None and seconds - as_of > SKEW_SECONDS:
        report("E_SOURCE_EPOCH", place, f"{seconds - as_of} seconds after asOf")


def _identities(sources: list[Any], report: Report) -> None:
    """C-23: Y-6 and Y-7."""
    named = []
    for index, value in enumerate(sources):
        source = object_of(value)
        operator, locator = text_of(source.get("operator")), text_of(source.get("locator"))
        short = len(operator or "") <= MAX_OPERATOR and len(locator or "") <= MAX_LOCATOR
        if operator is not None and locator is not None and short:
            named.append((index, identity_of(operator, locator)))
    for place in repeated([identity for _, identity in named]):
        path = ("consensus", "sourceSet", named[place][0])
        report("E_DUPLICATE_SOURCE", path, "an earlier source has this locator")


def _mode(mode: object, sources: list[Any], report: Report) -> None:
    """C-23: Y-12, where every source can be read."""
    observations = []
    for value in sources:
        source = object_of(value)
        operator, digest = text_of(source.get("operator")), text_of(source.get("setDigest"))
        if operator is None or digest is None or len(operator) > MAX_OPERATOR:
            return
        role, outcome, frame = (source.get(name) for name in _WORDS)
        if not (role in _ROLES and outcome in _OUTCOMES and frame in _FRAMES):
            return
        observations.append(
            Observation(normal_operator(operator), str(role), str(outcome), str(frame), digest)
        )
    recomputed = mode_of(observations)
    if type(mode) is str and sources and mode != recomputed:
        report("E_CONSENSUS_MODE", ("consensus", "mode"), f"it recomputes to {recomputed}")
