"""Tables for people, drawn with rich.

Whatever a pin brings (ids, slugs, titles, values) goes through `one_line`, and no console here
reads markup or emoji codes: a stranger's text is shown as the text it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from rich.columns import Columns
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from refold.kernel.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from refold.agentpedia.compare import Comparison, Difference
    from refold.agentpedia.explain import Explanation
    from refold.agentpedia.view import EntryLine, Summary

MOST_ROWS = 20
"""Rows of a table in a summary, so that it fits a screen; a line below says how many more."""
LEAST = 80
"""Columns below which a table would lose some of its own."""
NARROW = 100
"""Columns of a table that goes to a file or a pipe."""
KEY_CHARS = 40
"""Characters of an entry key that a table shows; the longest has 105."""
PIN_CHARS = 12
"""Characters of a long id that a table shows: enough to tell two apart."""
VALUE_CHARS = 20
"""Characters of a value that a table shows beside another; `--format json` gives all of it."""
CAUSE_CHARS = 24
"""Columns for the names of flags."""
_LONG_ID = re.compile(r"[0-9a-z]{40,}")
_STYLES = {"frozen": "cyan", "protected": "yellow", "normal": ""}


class _Console(Console):
    """A console that leaves broken pipes to `refold.cli.main`; rich would end with exit code 1."""

    def on_broken_pipe(self) -> None:
        """Pass on what the write met."""
        raise BrokenPipeError


def new_console() -> Console:
    """Give a console for strangers' texts, `NARROW` columns wide where no terminal is."""
    console = _Console(highlight=False, markup=False, emoji=False)
    # On a narrow terminal lines wrap: rich would leave whole columns out without a word.
    console.width = max(console.width, LEAST) if console.is_terminal else NARROW
    return console


def print_summary(summary: Summary) -> None:
    """Print what a fold has made: entries, editors, proposals, graveyard, digest."""
    console = new_console()
    mempool = f", {summary.pending:,} in the mempool" if summary.pending else ""
    console.print(
        Text.assemble(
            (f"{summary.events:,}", "bold"),
            " events folded under ",
            (summary.rules, "bold"),
            f" rules, view at height {summary.tip:,}{mempool}",
        )
    )
    if summary.genesis is None:
        nothing = " nothing counts before a genesis constitution"
        console.print(Text.assemble(("no genesis:", "yellow"), nothing))
    if summary.not_authoritative_from is not None:
        console.print(
            Text.assemble(
                ("not authoritative", "red"),
                f" from pin {one_line(summary.not_authoritative_from)} on:"
                " it names an algorithm this release does not know",
            )
        )
    console.print(_entries(summary.entries))
    console.print(
        Columns(
            (
                _counts("Editors", "tier", summary.editors),
                _counts("Proposals", "outcome and state", summary.proposals),
                _counts("Graveyard", "reason", summary.graveyard),
            ),
            padding=(0, 2),
        )
    )
    console.print(Text.assemble("digest ", (summary.digest, "bold green")), soft_wrap=True)


def titled(title: str, table: Table, rows: int = 0) -> Group:
    """Put a title above a table, and below it how many of all `rows` it leaves out."""
    more = rows - MOST_ROWS
    left_out = (Text(f"… and {more:,} more", style="dim"),) if more > 0 else ()
    return Group(Text(title, style="italic"), table, *left_out)


def _entries(entries: list[EntryLine]) -> Group:
    """Show entries: first those out of the ordinary, then those with most versions."""
    table = Table(box=None, pad_edge=False)
    table.add_column("entry", max_width=KEY_CHARS, overflow="ellipsis", no_wrap=True)
    for name in ("status", "quality", "display head"):
        table.add_column(name, no_wrap=True)
    for name in ("versions", "disputed"):
        table.add_column(name, justify="right")
    shown = sorted(entries, key=lambda e: (e.status == "normal", not e.disputed, -e.versions))
    for entry in shown[:MOST_ROWS]:
        table.add_row(
            one_line(entry.key),
            entry.status,
            entry.quality,
            one_line(short(entry.display_head)),
            f"{entry.versions:,}",
            f"{entry.disputed:,}" if entry.disputed else "",
            style=_STYLES[entry.status],
        )
    return titled(f"Entries ({len(entries):,})", table, len(entries))


def short(text: str) -> str:
    """Shorten the pin ids and editor ids in a text to what tells them apart."""
    return _LONG_ID.sub(lambda found: found[0][:PIN_CHARS] + "…", text)


def _counts(title: str, label: str, counts: dict[str, int]) -> Group:
    table = Table(box=None, pad_edge=False)
    table.add_column(label, no_wrap=True)
    table.add_column("count", justify="right")
    for name, count in list(counts.items())[:MOST_ROWS]:
        table.add_row(name, f"{count:,}")
    return titled(f"{title} ({sum(counts.values()):,})", table, len(counts))


def print_explanation(explanation: Explanation) -> None:
    """Print what happened to a pin: verdict first, then values, state before, changes, standing."""
    console = new_console()
    style = "bold green" if explanation.outcome == "applied" else "bold red"
    verdict = (explanation.outcome, style)
    console.print(Text.assemble(verdict, "  ", one_line(explanation.pin)), soft_wrap=True)
    if explanation.position is not None:
        height, tx_index = explanation.position
        console.print(f"{one_line(explanation.path)} at height {height:,}, index {tx_index:,}")
    source = (f" ({explanation.source}, {explanation.rules} rules)", "dim")
    console.print(Text.assemble(explanation.says, source))
    if explanation.remedy:
        console.print(Text.assemble(("To pass:", "bold"), " ", explanation.remedy))
    _print_members(console, "The rule compared", explanation.values)
    _print_members(console, "The sender before", explanation.sender)
    _print_members(console, "The entry before", explanation.entry or {})
    if explanation.changes:
        console.print("Changed", style="bold")
    for change in explanation.changes:
        where = one_line(f"{change.section} {change.key} {change.member}")
        console.print(f"  {where}: {_change(change.before, change.after)}", soft_wrap=True)
    for section, value in explanation.standing.items():
        _print_members(console, f"At the tip, {section}", value)


def _print_members(console: Console, title: str, values: Mapping[str, object]) -> None:
    """Print a titled block of names and values, nothing when there are none."""
    if values:
        console.print(title, style="bold")
    for name, value in values.items():
        console.print(f"  {name}: {_value(value)}", soft_wrap=True)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _value(value: object) -> str:
    """Give a value as compact JSON on one line."""
    return one_line(_json(value))


def _change(before: object, after: object) -> str:
    """Give a change; of a list that only grew, what came to it."""
    if isinstance(before, list) and isinstance(after, list) and after[: len(before)] == before:
        return "+ " + ", ".join(_value(item) for item in after[len(before) :])
    return _value(after) if before is None else f"{_value(before)} → {_value(after)}"


def print_comparison(comparison: Comparison) -> None:
    """Print where the profiles part: pins judged differently, members that differ, the causes."""
    console = new_console()
    if not comparison.outcomes and not comparison.differences:
        console.print("the two profiles give the same view", style="green")
        return
    if comparison.outcomes:
        pins = Table(box=None, pad_edge=False)
        for name in ("pin", "deployed", "prd"):
            pins.add_column(name)
        for outcome in comparison.outcomes:
            pins.add_row(one_line(short(outcome.pin)), outcome.deployed, outcome.prd)
        console.print(titled(f"Pins judged differently ({len(comparison.outcomes):,})", pins))
    if comparison.differences:
        title = f"Members that differ ({len(comparison.differences):,})"
        console.print(titled(title, _members(comparison.differences)))
    if comparison.says:
        console.print("What the PRD says there", style="bold")
    for flag, says in comparison.says.items():
        console.print(f"  {flag}: {says}")


def _members(differences: list[Difference]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("member", overflow="fold")
    for name in ("deployed", "prd"):
        table.add_column(name, max_width=VALUE_CHARS, no_wrap=True, overflow="ellipsis")
    table.add_column("because of", max_width=CAUSE_CHARS)
    for difference in differences:
        table.add_row(
            one_line(short(" ".join(difference.path))),
            one_line(short(_json(difference.deployed))),
            one_line(short(_json(difference.prd))),
            ", ".join(difference.causes) or "several at once",
        )
    return table
