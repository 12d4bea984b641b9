"""What a sync shows: a bar while it works, and afterwards how things stand and what it took."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from refold.cli.output import print_json, print_line
from refold.kernel.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress as Drawn

    from refold.agentpedia.indexer import CaughtUp, Step, Turn
    from refold.metaid.sync import Progress, Report

MEGABYTE = 1_000_000
MAX_SHOWN = 20
"""Disagreements, gaps and the like that are named on a terminal; JSON has all."""
PAGE = 100


class Bar:
    """One line on a terminal that says what goes on; nothing elsewhere."""

    def __init__(self, drawn: Drawn | None) -> None:
        self._drawn = drawn
        self._task = None if drawn is None else drawn.add_task("", visible=False)

    @classmethod
    @contextmanager
    def drawn(cls) -> Iterator[Bar]:
        """Give a bar, which is gone at the end."""
        if not sys.stderr.isatty():
            yield cls(None)
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
            yield cls(drawn)

    def sync(self, progress: Progress) -> None:
        """Show how far a round is."""
        where = progress.path.rpartition("/")[2] or progress.indexer
        counts = f"{progress.rows:,} rows, {progress.pins:,} new pins" if progress.rows else ""
        self._show(f"{progress.phase} {where} {counts}", progress.rows, progress.total)

    def fold(self, step: Step) -> None:
        """Show how far the fold is."""
        self._show(f"fold up to {step.height:,} of {step.top:,}", step.height, step.top + 1)

    def clear(self) -> None:
        """Show nothing, until there is something again."""
        if self._drawn is not None and self._task is not None:
            self._drawn.update(self._task, visible=False)

    def _show(self, text: str, done: int, total: int | None) -> None:
        if self._drawn is not None and self._task is not None:
            self._drawn.update(
                self._task,
                description=one_line(text),
                completed=done,
                total=None if total is None else max(total, done),
                visible=True,
            )


class Said(msgspec.Struct):
    """How turns are printed. `is_warned`: that no genesis was named has been said."""

    form: str
    measure: bool
    genesis: str | None
    is_warned: bool = False


def print_turn(turn: Turn, seconds: float, said: Said) -> None:
    """Print how things stand after a round, and what it took, timed from its beginning."""
    if said.form == "json":
        members = msgspec.to_builtins(turn) | {"lag": turn.lag, "seconds": round(seconds, 3)}
        print_json(members)
        return
    print_line(_standing(turn))
    print_line(_cost(turn.report, seconds))
    for line in _remarks(turn):
        print_line(f"  {line}")
    if said.genesis is None and not said.is_warned:
        said.is_warned = True
        print_line(
            "  no genesis is named, so the first valid one counts, whoever pinned it: --genesis PIN"
        )
    if said.measure:
        for line in _measured(turn.report, seconds):
            print_line(line)


def print_passed(view: CaughtUp | None, said: Said) -> None:
    """Print how things stand after blocks without pins; nothing when there were none."""
    if view is None or view.height is None:
        return
    if said.form == "json":
        print_json({"view": msgspec.to_builtins(view)})
    else:
        print_line(f"height {view.height - 1:,}  digest {view.digest}  (blocks without pins)")


def _standing(turn: Turn) -> str:
    """Give the status line: height, lag, digest."""
    view = turn.view
    if view is None:
        return "nothing folded: the lists were not read to their ends"
    if view.height is None:
        return "no view yet: no pins"
    lag = "unknown" if turn.lag is None else f"{turn.lag:,}"
    back = "" if view.rolled_back_to is None else f", folded again from {view.rolled_back_to + 1:,}"
    return (
        f"height {view.height - 1:,}  lag {lag}  digest {view.digest}"
        f"  {view.total:,} pins folded, {view.events:,} of them now{back}"
    )


def _cost(report: Report, seconds: float) -> str:
    pins, traffic = report.pins, report.traffic
    new = pins.new + pins.waiting_new
    return (
        f"  {new:,} new pins, {pins.confirmed:,} confirmed, {pins.moved:,} moved,"
        f" {pins.waiting:,} in no block any more; {traffic.lists:,} list requests,"
        f" {traffic.details:,} details, {traffic.polls:,} polls,"
        f" {traffic.bytes / MEGABYTE:,.1f} MB;"
        f" {seconds:.1f} s, {new / max(seconds, 0.001):,.0f} pins/s"
    )


def _remarks(turn: Turn) -> Iterator[str]:
    """Give what an operator has to know, a line each."""
    report = turn.report
    for one in report.indexers:
        if one.code:
            yield f"{one.indexer}: {one.code}: {one_line(one.message)}; what it has is not complete"
        if one.fell_from is not None:
            yield f"{one.indexer}: its height fell from {one.fell_from:,} to {one.height:,}"
        if one.differs_from is not None:
            yield f"{one.indexer}: blocks are others from height {one.differs_from:,} on"
    for gap in report.gaps[:MAX_SHOWN]:
        yield f"pin {gap.pin} is listed and cannot be read ({gap.code}), tried {gap.tries:,} times"
    for two in report.disagreements[:MAX_SHOWN]:
        about = ", ".join(two.about)
        yield f"pin {two.pin}: {two.indexer} against {two.against}: {about}"
    more = len(report.gaps[MAX_SHOWN:]) + report.disagreement_count
    more -= len(report.disagreements[:MAX_SHOWN])
    if more > 0:
        yield f"and {more:,} more gaps and disagreements: --format json names them"
    if report.doubtful:
        yield f"{len(report.doubtful):,} pins have a first body that only the indexer vouches for"
    if report.authors is not None:
        yield f"authors: {report.authors.unproven:,} unproven of those checked now"
    if turn.view is not None and turn.view.damaged:
        yield f"damaged snapshots passed over at {', '.join(map(str, turn.view.damaged))}"
    yield from _looked_up(turn)


def _looked_up(turn: Turn) -> Iterator[str]:
    found = turn.facts
    for name, tally in () if found is None else (("texts", found.texts), ("stakes", found.stakes)):
        if tally.asked:
            yield (
                f"{name}: {tally.verified:,} verified, {tally.mismatch:,} other than claimed,"
                f" {tally.unavailable:,} not to be had"
            )


def _measured(report: Report, seconds: float) -> Iterator[str]:
    """Give the figures of AC-E3 and D-1, with what they are to be held against.

    Only a round that found nothing stored measures what all pins take.
    """
    traffic, new = report.traffic, report.pins.new + report.pins.waiting_new
    walks = [walk for one in report.indexers for path in one.paths for walk in path.walks]
    is_first = new > 0 and report.is_covered and not any(walk.held for walk in walks)
    scale = new / 100_000
    lists, megabytes = f"{traffic.lists:,} list requests", f"{traffic.bytes / MEGABYTE:,.1f} MB"
    if is_first:
        yield f"AC-E3 {lists} for {new:,} pins (limit {1_200 * scale:,.0f}: 1,200 for 100,000)"
        yield f"AC-E3 {megabytes} (limit {720 * scale:,.1f}: 720 for 100,000)"
        hours = seconds / 3_600 / scale
        yield f"D-1 a whole rebuild: {hours:,.2f} h for 100,000 pins at this rate (fails above 24)"
    else:
        yield f"AC-E3 {lists} and {megabytes} for {new:,} new pins"
        minutes = seconds / 60
        yield f"D-1 an incremental round: {minutes:,.2f} min (fails above 5)"
    yield "times are of the indexers that were asked; those of loopback say nothing of the network"
