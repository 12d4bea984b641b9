"""Consensus: who the sources are, and what mode their observations give (spec §5.13).

Never an input to judgement (Y-4).
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from unicodedata import normalize

import msgspec

from refold.coverage.record import Mode, Source
from refold.coverage.urls import normal_locator

__all__ = [
    "Identity",
    "Observation",
    "identity_of",
    "mode_of",
    "normal_operator",
    "observation_of",
    "repeated",
]

Identity = tuple[str, str]
"""A source: normal operator and normal locator (Y-1, Y-6)."""

_SPACES = re.compile(r"\s+")


class Observation(msgspec.Struct, frozen=True, gc=False):
    """What the mode depends on of one source: its normal operator, and members of its record."""

    operator: str
    role: str
    outcome: str
    frame: str
    digest: str


def observation_of(source: Source) -> Observation:
    """Give what the mode depends on of a source."""
    return Observation(
        normal_operator(source.operator),
        source.role,
        source.outcome,
        source.digest_frame,
        source.set_digest,
    )


def normal_operator(operator: str) -> str:
    """Give an operator's name as it is compared: NFKC, folded, spaces collapsed (Y-6)."""
    once = normalize("NFKC", normalize("NFKC", operator).casefold())
    return _SPACES.sub(" ", once).strip()


def identity_of(operator: str, locator: str) -> Identity:
    """Give the identity of a source; a locator that F-43 does not allow stands for itself."""
    return normal_operator(operator), normal_locator(locator) or locator


def repeated(identities: Sequence[Identity]) -> list[int]:
    """Give the places of sources whose locator stood before, under any operator (Y-7)."""
    seen: set[str] = set()
    places = []
    for place, (_, locator) in enumerate(identities):
        if locator in seen:
            places.append(place)
        seen.add(locator)
    return places


def mode_of(observations: Iterable[Observation]) -> Mode:
    """Give the mode of Y-12, for any set of observations in any order.

    Only OBSERVED ones count. Only digests over the same frame are compared.
    """
    observed = [each for each in observations if each.outcome == "OBSERVED"]
    if len(observed) <= 1:
        return "SINGLE"
    ordered = sorted(observed, key=lambda each: each.frame)
    frames = [list(group) for _, group in groupby(ordered, key=lambda each: each.frame)]
    aligned = [group for group in frames if len(group) > 1]
    if not aligned:
        return "INCOMPARABLE"
    if any(len({each.digest for each in group}) > 1 for group in aligned):
        return "SPLIT"
    if any(_third_parties(group) > 1 for group in aligned):
        return "AGREE"
    return "SELF_CHECK"


def _third_parties(group: Iterable[Observation]) -> int:
    return len({each.operator for each in group if each.role == "THIRD_PARTY"})
