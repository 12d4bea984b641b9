"""The builder: a plan and a transport; out comes a receipt that claims what was seen, and no more.

    built = build(read_plan(data), Live(client), now, settle=lambda: time.sleep(5))
    Path("receipt.json").write_bytes(built.data)

Absence takes two passes over the same rows. Pure but for `settle`, which is called between them.
Source: coverage spec §6 `build`.
"""

from collections.abc import Callable

import msgspec

from refold.coverage.checks import validate
from refold.coverage.claim import record_of
from refold.coverage.judge import judge
from refold.coverage.match import compile_criterion
from refold.coverage.plan import Plan
from refold.coverage.record import MAX_UNITS, Receipt
from refold.coverage.report import Report, report_of
from refold.coverage.series_pages import expanded
from refold.coverage.walk.asking import Transport
from refold.coverage.walk.budget import Budgets, Purse
from refold.coverage.walk.drive import Progress
from refold.coverage.walk.passes import walk_settled
from refold.coverage.walk.walked import Listed
from refold.kernel.errors import InputError, Problem

__all__ = ["Built", "build"]


class Built(msgspec.Struct, frozen=True):
    """A receipt: its bytes, the record, and the report that its own walks give on it.

    `report` judges the receipt by what it was written from: ABSENT as VERIFIED, PRESENT as VERIFIED
    unless some other unit could not be read at all.
    """

    data: bytes
    receipt: Receipt
    report: Report

    @property
    def open_reasons(self) -> tuple[str, ...]:
        """Why the claim is INCONCLUSIVE: a line for each unit that is in the way, else ()."""
        if self.receipt.claim != "INCONCLUSIVE":
            return ()
        return tuple(
            f"unit {unit.id} is {unit.coverage}: "
            + ("; ".join(_told(unit.why, unit.reasons)) or "only a person can look")
            for unit in self.report.units
            if unit.coverage != "FULL"
        )


def build(
    plan: Plan,
    transport: Transport,
    now: str,
    *,
    settle: Callable[[], object] = lambda: None,
    budgets: Budgets | None = None,
    progress: Progress | None = None,
) -> Built:
    """Walk the units of a plan and write down what may be claimed of them.

    asOf is when the last answer came, or `now` (RFC 3339, UTC, Z) where none did. What goes wrong
    with a source is in the receipt. Raises InputError `receipt-impossible` with every error, where
    what the sources gave has no place in a record: ids too long, more than 1 MiB of matches.
    """
    criterion = compile_criterion(plan.canon)
    sources = _sources(plan, transport, budgets)
    walked = walk_settled(
        sources, criterion, transport, settle=settle, budgets=budgets, progress=progress
    )
    as_of = max((one.traversal.last_at for one in walked), default="") or now
    record = record_of(plan, sources, walked, as_of)
    data = msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
    validation = validate(data, as_of)
    receipt = validation.receipt
    if receipt is None:
        raise InputError.of(
            [
                msgspec.structs.replace(error, code="receipt-impossible", message=_named(error))
                for error in validation.errors
            ]
        )
    traversals = [one.traversal for one in walked]
    report = report_of(
        validation,
        traversals,
        judge(receipt, traversals, as_of),
        as_of,
        basis=transport.basis,
        why=[one.why for one in walked],
    )
    return Built(data, receipt, report)


def _sources(plan: Plan, transport: Transport, budgets: Budgets | None) -> tuple[Listed, ...]:
    """Give the sources of a plan; pages that are to be counted are."""
    sources: list[Listed] = []
    purse = Purse(budgets)
    for place, unit in enumerate(plan.units):
        source = Listed(unit.id, unit.replay)
        if not unit.pages_by:
            sources.append(source)
            continue
        most = MAX_UNITS - len(sources) - (len(plan.units) - place - 1)
        sources += expanded(
            source, unit.pages_by, unit.step, most=most, transport=transport, purse=purse
        )
    return tuple(sources)


def _told(why: dict[str, str], reasons: tuple[str, ...]) -> list[str]:
    return [f"{reason} ({why[reason]})" if reason in why else reason for reason in reasons]


def _named(error: Problem) -> str:
    return f"the receipt would not be valid: {error.code}: {error.message}"
