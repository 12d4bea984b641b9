"""Texts behind a `contentRef`: which revs wait for one, and when readings of it make a fact.

A reading is what one source said of one file. Bytes with the expected hash verify a text, whoever
gave them. That it has other bytes is believed where it cannot be a lie or a fault of one server:
out of the raw transactions, whose ids are hashes, or from two servers at different origins that
gave the same wrong bytes. All else is `unavailable`: the rev stands, and is looked at again (spec
§7, AC-A6; docs/decisions/0008-facts.md).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from refold.agentpedia.schemas import check

FactState = Literal["verified", "mismatch", "unavailable"]

FIRST_PAUSE = 60
"""Seconds until what could not be had is tried again: an indexer may be a block behind."""
LAST_PAUSE = 24 * 60 * 60
"""Seconds between two tries in the end: what came after a year is then seen within a day."""

REASONS = {
    "": "the bytes have the expected hash",
    "not-asked": "nobody was asked yet",
    "no-source": "there is no source to ask",
    "unproven": "one server gives other bytes, and nobody else bears it out",
    "too-many-pieces": "the file is cut into more pieces than are asked for",
}
"""Reasons besides those of `refold.metaid.metafile` and the codes of errors."""

_REF = re.compile("metafile://[0-9a-f]{64}i[0-9]+")
_HASH = re.compile("[0-9a-f]{64}")


class WantedText(msgspec.Struct, frozen=True):
    """A text that a rev points to: its `metafile://` and the SHA-256 (hex) that it has to have."""

    uri: str
    expected: str


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one source said of one file.

    `by_chain`: out of raw transactions, as a proof. `origin` is the server's (scheme, host, port),
    `source` its name for people. `actual` is the SHA-256 of the whole, None when it was not had
    whole; `size` counts the bytes that were had.
    """

    source: str
    origin: str
    by_chain: bool
    state: FactState
    reason: str
    detail: str = ""
    actual: str | None = None
    size: int = 0


class Finding(msgspec.Struct, frozen=True):
    """What readings make together; `is_settled`: no further reading will change it."""

    state: FactState
    reason: str
    detail: str
    source: str
    actual: str | None
    size: int
    is_settled: bool


def wanted_text(payload: Mapping[str, object]) -> WantedText | None:
    """Give the text that the payload of a rev points to, None for one that points to none.

    A payload that its schema refuses points to none: it is in the graveyard whatever the text is.
    """
    uri, expected = payload.get("contentRef"), payload.get("contentHash")
    if not (isinstance(uri, str) and isinstance(expected, str)):
        return None
    if _REF.fullmatch(uri) is None or _HASH.fullmatch(expected) is None:
        return None
    return None if check("rev", dict(payload)) is not None else WantedText(uri, expected)


def judge(readings: Iterable[Reading]) -> Finding:
    """Give the fact that readings make together, in whatever order they came."""
    said = sorted(readings, key=_rank)
    for reading in said:
        if reading.state == "verified":
            return _found(reading, is_settled=True)
    for reading in said:
        if reading.by_chain and reading.state == "mismatch":
            return _found(reading, is_settled=True)
    claims = [r for r in said if r.state == "mismatch" and r.actual is not None]
    for index, claim in enumerate(claims):
        for other in claims[:index]:
            if claim.actual == other.actual and claim.origin != other.origin:
                both = f"{other.source} and {claim.source}"
                return msgspec.structs.replace(_found(claim, is_settled=False), source=both)
    unproven = next((reading for reading in said if reading.state == "mismatch"), None)
    if unproven is not None:
        told = f"{unproven.reason}: {unproven.actual or unproven.detail}"
        return Finding("unavailable", "unproven", told, unproven.source, None, 0, is_settled=False)
    if not said:
        return Finding("unavailable", "no-source", "", "", None, 0, is_settled=False)
    return _found(said[0], is_settled=False)


def _rank(reading: Reading) -> tuple[object, ...]:
    """Give an order of readings in which no two different ones are equal: proofs come first."""
    return (not reading.by_chain, reading.actual or "", *map(str, msgspec.structs.astuple(reading)))


def _found(reading: Reading, *, is_settled: bool) -> Finding:
    return Finding(
        reading.state,
        reading.reason,
        reading.detail,
        reading.source,
        reading.actual,
        reading.size,
        is_settled,
    )


def next_try(tries: int, now: int) -> int:
    """Give when to try again after so many tries, the last at `now` (Unix seconds).

    Pauses double, so that nothing is found later than twice its own delay; they end with
    `LAST_PAUSE`, and never stop: a text may be pinned years after the rev that points to it.
    """
    doublings = min(max(tries, 1) - 1, LAST_PAUSE.bit_length())
    return now + min(FIRST_PAUSE << doublings, LAST_PAUSE)
