"""Tables for people, drawn with rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from refold.kernel.errors import one_line

if TYPE_CHECKING:
    from refold.agentpedia.view import EntryLine, Summary

MOST_ENTRIES = 20
"""Entries a summary shows, so that it fits a screen; the line below them says how many more."""
NARROW = 100
"""Columns of a table that goes to a file or a pipe."""
PIN_CHARS = 12
"""Characters of a pin id that a table shows: enough to tell two apart."""


def print_summary(summary: Summary) -> None:
    """Print what a fold has made: entries, editors, proposals, graveyard, digest."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=NARROW)
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
