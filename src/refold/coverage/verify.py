"""The verifier: the bytes of a receipt, a transport and the moment; out comes the report.

    with GuardedClient(policy_of(budgets)) as client:
        report = verify(data, Live(client), now="2030-01-03T00:00:00Z")

A pure function of these: whatever the bytes are, and whatever the sources answer, is in the report.
Source: coverage spec §5.5 R-1, §6 `verify`.
"""

from collections.abc import Mapping

import msgspec

from refold.coverage.checks import validate
from refold.coverage.judge import judge
from refold.coverage.match import compile_criterion
from refold.coverage.recheck import recheck
from refold.coverage.record import REPLAYABLE
from refold.coverage.report import Report, report_of, report_unreplayed
from refold.coverage.walk.asking import Transport
from refold.coverage.walk.budget import Budgets, Purse
from refold.coverage.walk.drive import Progress, walk_corpus
from refold.coverage.walk.walked import Walked, listed
from refold.kernel.addresses import parse_url
from refold.kernel.errors import InputError

__all__ = ["verify"]


def verify(
    data: bytes,
    transport: Transport,
    now: str,
    *,
    budgets: Budgets | None = None,
    origins: Mapping[str, str] | None = None,
    sources: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Check a record, walk its units again through `transport`, judge, and report.

    `now` is RFC 3339, UTC, Z. `origins` says which origins the transport asks in place of others,
    for the report alone. With `sources` those of the consensus block are read again too. A record
    that is not valid, or of a version that is only checked, is not walked.

    Raises InputError `time-form` or `time-range` for a `now` that is no time, and what the
    transport raises: a live one nothing, a folder `record-damaged`.
    """
    validation = validate(data, now)
    receipt = validation.receipt
    if receipt is None or receipt.v not in REPLAYABLE:
        return report_unreplayed(validation, now)
    criterion, purse = compile_criterion(receipt.query.canon), Purse(budgets)
    walked = tuple(
        walk_corpus(
            map(listed, receipt.corpus.units), criterion, transport, purse=purse, progress=progress
        )
    )
    traversals = [one.traversal for one in walked]
    report = report_of(
        validation,
        traversals,
        judge(receipt, traversals, now),
        now,
        basis=transport.basis,
        origins={**(origins or {}), **_dialled(walked)},
        why=[one.why for one in walked],
    )
    if sources:
        again = recheck(receipt, walked, criterion, transport, purse=purse, progress=progress)
        report = msgspec.structs.replace(report, sources=again)
    return report


def _dialled(walked: tuple[Walked, ...]) -> dict[str, str]:
    """Give the origins that others answered for, as the answers themselves say."""
    dialled: dict[str, str] = {}
    for proof in (proof for one in walked for proof in one.proofs if proof.mapped_to):
        try:
            dialled[parse_url(proof.url).origin] = proof.mapped_to
        except InputError:  # a folder of answers may say anything
            dialled[proof.url] = proof.mapped_to
    return dialled
