"""The sources of a consensus block read again: whether they still show what the record says (Y-11).

No part of a verdict (Y-4). A source is walked by the recipes of the record's units, at its own
origin instead of theirs. Source: coverage spec §5.13.
"""

from collections.abc import Sequence

import msgspec

from refold.coverage.codes import REASONS
from refold.coverage.hashes import result_hash
from refold.coverage.judge import merged
from refold.coverage.match import Criterion
from refold.coverage.record import HttpJson, Match, MvcPins, Receipt, Replay, Source
from refold.coverage.report import Recheck, SourceReport
from refold.coverage.urls import normal_locator
from refold.coverage.walk.asking import Transport
from refold.coverage.walk.budget import Purse
from refold.coverage.walk.drive import Progress, walk_corpus
from refold.coverage.walk.walked import Listed, Walked, listed
from refold.kernel.addresses import parse_url

__all__ = ["recheck"]


def recheck(
    receipt: Receipt,
    walked: Sequence[Walked],
    criterion: Criterion,
    transport: Transport,
    *,
    purse: Purse,
    progress: Progress | None = None,
) -> tuple[SourceReport, ...]:
    """Read each source of a valid record again, and compare its digest; () without a block.

    `walked` are the walks over the record's own units, which serve for the source that they were
    at. What the reading takes comes out of the record's purse.
    """
    if receipt.consensus is None:
        return ()
    own = [
        (listed(unit), one)
        for unit, one in zip(receipt.corpus.units, walked, strict=True)
        if unit.kind != "MANUAL"
    ]
    reports = []
    for source in receipt.consensus.source_set:
        why = _unreadable(source, len(own))
        found: tuple[Recheck, str] = ("NOT_RECHECKABLE", why)
        if not why:
            origin = normal_locator(source.locator)
            there = [_moved(one, origin) for one, _ in own]
            if there == [one for one, _ in own]:
                seen = [one for _, one in own]
            else:
                corpus = walk_corpus(there, criterion, transport, purse=purse, progress=progress)
                seen = list(corpus)
            found = _compared(source, seen)
        reports.append(SourceReport(source.operator, source.locator, *found))
    return tuple(reports)


def _unreadable(source: Source, units: int) -> str:
    """Say why nobody else can compare what a source showed, "" if somebody can."""
    if source.role == "LOCAL_COPY":
        return "only its owner has a local copy"
    if source.outcome != "OBSERVED":
        return f"the record observed nothing there ({source.outcome})"
    if not units:
        return "no unit of the record can be walked"
    if units > 1 and source.digest_frame != "MATCH_LIST":
        return f"a {source.digest_frame} is that of one unit, and the record has {units}"
    return ""


def _moved(source: Listed, origin: str) -> Listed:
    """Give a source with the same recipe at another origin."""
    replay: Replay = source.replay
    if isinstance(replay, HttpJson):
        url = origin + parse_url(replay.url).target
        replay = msgspec.structs.replace(replay, url=url)
    elif isinstance(replay, MvcPins):
        replay = msgspec.structs.replace(replay, endpoint=origin)
    return msgspec.structs.replace(source, replay=replay)


def _compared(source: Source, walked: Sequence[Walked]) -> tuple[Recheck, str]:
    """Compare what a source shows with what the record says it showed."""
    unread = [one for one in walked if not one.traversal.pages]
    if unread:
        return "UNREACHABLE", next(iter(unread[0].why.values()), "no page could be read")
    if _digest(source, walked) == source.set_digest:
        return "MATCH", ""
    for one in walked:
        for reason in one.traversal.reasons:
            if REASONS[reason].effect != "NOTE":
                return "UNREACHABLE", f"not read to the end: {one.why.get(reason, reason)}"
    rows = sum(one.traversal.rows for one in walked)
    return "DRIFT", f"{rows} rows now, {source.observed} recorded"


def _digest(source: Source, walked: Sequence[Walked]) -> str:
    """Give the digest of a walk in the frame of a source, "" where it has none (F-45)."""
    if source.digest_frame == "MATCH_LIST":
        matches, _ = merged([one.traversal for one in walked])
        return result_hash(Match(found.id, found.digest) for found in matches.values())
    if source.digest_frame == "SEEN_SET":
        return walked[0].traversal.set_hash
    pages = [proof for proof in walked[0].proofs if proof.role == "page"]
    return pages[0].sha256 if len(pages) == 1 else ""
