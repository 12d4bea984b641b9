"""Tables for people, drawn with rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from refold.kernel.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from refold.agentpedia.compare import Comparison
    from refold.agentpedia.explain import Explanation
    from refold.agentpedia.view import EntryLine, Summary

MOST_ENTRIES = 20
"""Entries a summary shows, so that it fits a screen; the line below them says how many more."""
NARROW = 100
"""Columns of a table that goes to a file or a pipe."""
PIN_CHARS = 12
"""Characters of a pin id that a table shows: enough to tell two apart."""


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=NARROW, highlight=False)


def print_summary(summary: Summary) -> None:
    """Print what a fold has made: entries, editors, proposals, graveyard, digest."""
    console = _console()
    console.print(
        f"[bold]{summary.events:,}[/] events folded under [bold]{summary.rules}[/] rules,"
        f" view at height {summary.tip:,}"
        + (f", {summary.pending} in the mempool" if summary.pending else "")
    )
    if summary.genesis is None:
        console.print("[yellow]no genesis:[/] nothing counts before a genesis constitution")
    if summary.not_authoritative_from is not None:
        console.print(
            f"[red]not authoritative[/] from pin {summary.not_authoritative_from} on:"
            " it names an algorithm this release does not know"
        )
    console.print(_entries(summary.entries))
    more = len(summary.entries) - MOST_ENTRIES
    if more > 0:
        console.print(f"  … and {more:,} more; --view full prints all")
    console.print(_counts("Editors", "tier", summary.editors))
    console.print(_counts("Proposals", "outcome and state", summary.proposals))
    console.print(_counts("Graveyard", "reason", summary.graveyard))
    console.print(f"digest [bold green]{summary.digest}[/]", soft_wrap=True)


def _entries(entries: list[EntryLine]) -> Table:
    table = Table(title=f"Entries ({len(entries):,})", title_justify="left", box=None)
    table.add_column("entry", max_width=40, overflow="ellipsis", no_wrap=True)
    for name in ("status", "quality", "display head"):
        table.add_column(name, no_wrap=True)
    for name in ("versions", "disputed"):
        table.add_column(name, justify="right")
    styles = {"frozen": "cyan", "protected": "yellow", "normal": ""}
    for entry in entries[:MOST_ENTRIES]:
        table.add_row(
            escape(one_line(entry.key)),
            entry.status,
            entry.quality,
            escape(_short(entry.display_head)),
            str(entry.versions),
            str(entry.disputed or ""),
            style=styles[entry.status],
        )
    return table


def _short(version: str) -> str:
    """Shorten a version id to what tells it apart, its suffix kept."""
    pin, colons, suffix = one_line(version).partition("::")
    return (pin if len(pin) <= PIN_CHARS else pin[:PIN_CHARS] + "…") + colons + suffix


def _counts(title: str, label: str, counts: dict[str, int]) -> Table:
    total = sum(counts.values())
    table = Table(title=f"{title} ({total:,})", title_justify="left", box=None)
    table.add_column(label)
    table.add_column("count", justify="right")
    for name, count in counts.items():
        table.add_row(escape(name), f"{count:,}")
    return table


def print_explanation(explanation: Explanation) -> None:
    """Print what happened to a pin: verdict first, then values, state before, changes, standing."""
    console = _console()
    applied = explanation.outcome == "applied"
    style = "bold green" if applied else "bold red"
    console.print(f"[{style}]{escape(explanation.outcome)}[/]  {escape(explanation.pin)}")
    if explanation.position is not None:
        height, tx_index = explanation.position
        console.print(
            f"{escape(one_line(explanation.path))} at height {height:,}, index {tx_index}"
        )
    console.print(f"{explanation.says} [dim]({explanation.source}, {explanation.rules} rules)[/]")
    if explanation.remedy:
        console.print(f"[bold]To pass:[/] {explanation.remedy}")
    _print_members(console, "The rule compared", explanation.values)
    _print_members(console, "The sender before", explanation.sender)
    _print_members(console, "The entry before", explanation.entry or {})
    if explanation.changes:
        console.print("[bold]Changed[/]")
    for change in explanation.changes:
        where = escape(one_line(f"{change.section} {change.key} {change.member}"))
        console.print(f"  {where}: {_change(change.before, change.after)}")
    for section, value in explanation.standing.items():
        _print_members(console, f"At the tip, {section}", value)


def _print_members(console: Console, title: str, values: Mapping[str, object]) -> None:
    """Print a titled block of names and values, nothing when there are none."""
    if values:
        console.print(f"[bold]{escape(title)}[/]")
    for name, value in values.items():
        console.print(f"  {escape(name)}: {_value(value)}")


def _value(value: object) -> str:
    """Give a value as compact JSON on one line."""
    return escape(one_line(msgspec.json.encode(value).decode()))


def _change(before: object, after: object) -> str:
    """Give a change; of a list that only grew, what came to it."""
    if isinstance(before, list) and isinstance(after, list) and after[: len(before)] == before:
        return "+ " + ", ".join(_value(item) for item in after[len(before) :])
    return _value(after) if before is None else f"{_value(before)} → {_value(after)}"


def print_comparison(comparison: Comparison) -> None:
    """Print where the profiles part: pins judged differently, members that differ, the causes."""
    console = _console()
    if not comparison.outcomes and not comparison.differences:
        console.print("[green]the two profiles give the same view[/]")
        return
    pins = Table(title=f"Pins judged differently ({len(comparison.outcomes):,})", box=None)
    for name in ("pin", "deployed", "prd"):
        pins.add_column(name)
    for outcome in comparison.outcomes:
        pins.add_row(escape(_short(outcome.pin)), outcome.deployed, outcome.prd)
    members = Table(title=f"Members that differ ({len(comparison.differences):,})", box=None)
    for name in ("member", "deployed", "prd", "because of"):
        members.add_column(name, overflow="fold")
    for difference in comparison.differences:
        members.add_row(
            escape(one_line(".".join(map(_short, difference.path)))),
            _value(difference.deployed),
            _value(difference.prd),
            ", ".join(difference.causes) or "several at once",
        )
    for table in (pins, members):
        table.title_justify = "left"
        console.print(table)
    console.print("[bold]What the PRD says there[/]")
    for flag, says in comparison.says.items():
        console.print(f"  {flag}: {escape(says)}")
