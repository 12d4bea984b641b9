"""`refold agentpedia signals|rulepack`: what the rule pack says of revs. It has no consequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from refold.cli.options import (
    genesis_of,
    genesis_option,
    profile_of,
    rules_option,
    schema_option,
)
from refold.cli.output import format_option, print_json, print_line, progress_bar, read_input
from refold.kernel.errors import Exit, one_line

if TYPE_CHECKING:
    from refold.agentpedia.signals import Report

MOST_REVS = 20
"""Scored revs that the text form shows, the highest first; `--format json` gives all."""


@click.command()
@click.argument("file", default="-")
@rules_option
@schema_option
@genesis_option
@format_option
def signals(file: str, rules: str | None, no_schema: bool, genesis: str | None, form: str) -> None:
    """Judge every applied rev in the stream of FILE by the rule pack, and mark associations.

    Signals are for eyes only: no rule of the fold reads them, and nobody is banned by them.
    """
    from refold.agentpedia.replay import fold_stream, prepare
    from refold.agentpedia.signals import signals as signals_of

    profile = profile_of(rules)
    stream = prepare(
        read_input(file), profile, schema=not no_schema, genesis_pin=genesis_of(genesis)
    )
    fold = fold_stream(stream, profile)
    with progress_bar("judging") as step:
        report = signals_of(fold.view(), stream.events, progress=step)
    if form == "json":
        print_json(report)
    else:
        _print_report(report)


def _print_report(report: Report) -> None:
    """Print the pack, the highest scores, how the rules have done, and the marks."""
    from rich.table import Table

    from refold.cli.tables import new_console, short, titled

    console = new_console()
    levels = ", ".join(f"{count:,} {level}" for level, count in report.levels.items())
    console.print(f"pack {report.pack.version} {report.pack.digest[:12]}…: {levels}")
    console.print(one_line(report.pack.note))
    scored = sorted((rev for rev in report.revs if rev.score), key=lambda rev: -rev.score)
    table = Table(box=None, pad_edge=False)
    for name in ("score", "level", "entry", "pin", "type", "rules"):
        table.add_column(name)
    for rev in scored[:MOST_REVS]:
        fired = ", ".join(one.rule for one in rev.fired)
        cells = (str(rev.score), rev.level, rev.entry_key, short(rev.pin), rev.type, fired)
        table.add_row(*map(one_line, cells))
    console.print(titled(f"Scored revs ({len(scored):,})", table, len(scored)))
    table = Table(box=None, pad_edge=False)
    for name in ("rule", "fired", "hits", "false alarms", "undecided", "unknown", "false ‰"):
        table.add_column(name, justify="left" if name == "rule" else "right")
    seen = [row for row in report.alarms if row.fired or row.unknown]
    for row in seen:
        numbers = (row.fired, row.hits, row.false_alarms, row.undecided, row.unknown)
        rate = "" if row.false_alarm_permille is None else f"{row.false_alarm_permille:,}"
        table.add_row(row.rule, *(f"{number:,}" for number in numbers), rate)
    console.print(titled("Rules, and how often they were wrong", table))
    table = Table(box=None, pad_edge=False)
    for name in ("mark", "count", "editors"):
        table.add_column(name)
    for mark in report.marks[:MOST_REVS]:
        table.add_row(mark.kind, f"{mark.count:,}", one_line(short(", ".join(mark.editors))))
    console.print(
        titled(f"Marks between editors ({len(report.marks):,})", table, len(report.marks))
    )
    console.print("Signals have no consequence: no rule of the fold reads them.")


@click.command()
@click.option("--vectors", "file", metavar="FILE", help="Run the pack's vectors in FILE.")
@format_option
def rulepack(file: str | None, form: str) -> int:
    """Show the rule pack with its version and digest, or run its vectors.

    Exit code 1 when a vector is not met.
    """
    from refold.agentpedia.rulepack import built_in_pack
    from refold.agentpedia.rulevectors import read_rule_vectors, run_rule_vector

    pack = built_in_pack()
    if file is None:
        if form == "json":
            print_json(pack)
        else:
            print_line(f"{pack.version} {pack.digest}")
            for rule in pack.rules:
                print_line(f"{rule.score:4}  {rule.id:24} {rule.says}")
        return Exit.DONE
    results = [
        run_rule_vector(vector, pack) for vector in read_rule_vectors(read_input(file)).vectors
    ]
    for result in results:
        if form == "json":
            print_json(result)
        else:
            mark = "ok  " if result.passed else "FAIL"
            print_line(
                f"{mark} {one_line(result.id)}  {one_line(result.difference or result.title)}"
            )
    passed = sum(result.passed for result in results)
    print_line(f"{passed}/{len(results)} rule vectors")
    return Exit.DONE if passed == len(results) else Exit.NO
