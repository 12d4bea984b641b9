"""`refold agentpedia`: the commands of the encyclopedia."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from refold.agentpedia.event import MAX_INTEGER
from refold.agentpedia.rules import DEPLOYED, PRD
from refold.cli.export_site import export_site
from refold.cli.hiding import hidden, hide, unhide
from refold.cli.options import (
    genesis_of,
    genesis_option,
    profile_of,
    rules_option,
    schema_option,
)
from refold.cli.output import (
    error_body,
    format_option,
    print_json,
    print_line,
    progress_bar,
    read_input,
    standard_input,
)
from refold.cli.pins import export, import_
from refold.cli.registry import registry
from refold.cli.signals import rulepack, signals
from refold.cli.sync import check, sync
from refold.kernel.errors import Exit, RefoldError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from refold.agentpedia.view import View

VIEWS = ("common", "full", "digest", "summary")


@click.group("agentpedia")
def group() -> None:
    """Fold, check and explain the encyclopedia of bots."""


@group.command()
@click.argument("file")
@rules_option
@format_option
def vectors(file: str, rules: str | None, form: str) -> int:
    """Run the network's replay vectors in FILE, a line a vector.

    Exit code 1 when one of them is not met.
    """
    from refold.agentpedia.vectors import read_vectors, run_vector

    published = read_vectors(read_input(file))
    profile = profile_of(rules)
    tallies = []
    all_passed = True
    for label, batch in (
        ("pipeline", published.vectors),
        ("supplementary", published.supplementary),
    ):
        results = [run_vector(vector, published, profile) for vector in batch]
        passed = sum(result.passed for result in results)
        all_passed = all_passed and passed == len(results)
        tallies.append(f"{passed}/{len(results)} {label}")
        for result in results:
            if form == "json":
                print_json(result)
            else:
                mark = "ok  " if result.passed else "FAIL"
                said = one_line(result.difference or result.title)
                print_line(f"{mark} {one_line(result.id):4} {said}")
    print_line(", ".join(tallies))
    return Exit.DONE if all_passed else Exit.NO


@group.command()
@click.argument("file", default="-")
@rules_option
@schema_option
@click.option(
    "--view",
    "shown",
    type=click.Choice(VIEWS),
    default="summary",
    show_default=True,
    help="What to print: JSON of a view, its digest, or a table.",
)
@click.option(
    "--batch", is_flag=True, help="FILE holds one document a line; print a line for each."
)
@genesis_option
@click.option(
    "--tip", type=click.IntRange(0, MAX_INTEGER), help="Height of the view; default: last + 1."
)
@format_option
def replay(
    file: str,
    rules: str | None,
    no_schema: bool,
    shown: str,
    batch: bool,
    genesis: str | None,
    tip: int | None,
    form: str,
) -> None:
    """Fold FILE (- for standard input) and print the view at its tip.

    FILE is one JSON document {events, options}, or pins as JSON lines as an indexer lists them.
    """
    from refold.agentpedia.replay import replay as replay_bytes

    profile, genesis_pin = profile_of(rules), genesis_of(genesis)

    def fold(data: bytes) -> View:
        return replay_bytes(
            data,
            profile,
            schema=not no_schema,
            genesis_pin=genesis_pin,
            tip=tip,
            progress=step,
        )

    with progress_bar("folding") as step:
        if batch:
            for line in _lines(file):
                _print_one(fold, line, shown)
            return
        view = fold(read_input(file))
    if shown == "summary" and form == "text":
        from refold.cli.tables import print_summary

        print_summary(view.summary())
    else:
        _print_view(view, shown)


def _lines(file: str) -> Iterable[bytes]:
    """Give the lines of a batch that hold something."""
    source = standard_input() if file == "-" else read_input(file).split(b"\n")
    return (line for line in source if line.strip())


def _print_one(fold: Callable[[bytes], View], line: bytes, shown: str) -> None:
    """Print the view of one document of a batch; what is wrong with it costs only its line."""
    try:
        view = fold(line)
    except RefoldError as error:
        print_json(error_body(error.errors))
    else:
        _print_view(view, shown)
    sys.stdout.flush()  # whoever feeds documents one by one waits for each result


def _print_view(view: View, shown: str) -> None:
    if shown == "digest":
        print_line(view.digest())
    elif shown == "full":
        from refold.agentpedia.rulepack import built_in_pack

        pack = built_in_pack()
        print_json({**view.full(), "rulePack": {"version": pack.version, "digest": pack.digest}})
    else:
        print_json({"common": view.common, "summary": view.summary}[shown]())


@group.command()
@click.argument("pin")
@click.argument("file", default="-")
@rules_option
@schema_option
@genesis_option
@format_option
def explain(
    pin: str, file: str, rules: str | None, no_schema: bool, genesis: str | None, form: str
) -> None:
    """Explain what happened to PIN in the stream of FILE: the rule, the values, what would pass."""
    from refold.agentpedia.explain import explain as explain_pin
    from refold.agentpedia.replay import prepare

    profile = profile_of(rules)
    stream = prepare(
        read_input(file), profile, schema=not no_schema, genesis_pin=genesis_of(genesis)
    )
    explanation = explain_pin(stream, pin, profile)
    if form == "json":
        print_json(explanation)
    else:
        from refold.cli.tables import print_explanation

        print_explanation(explanation)


@group.command()
@click.argument("file", default="-")
@schema_option
@genesis_option
@format_option
def diff(file: str, no_schema: bool, genesis: str | None, form: str) -> int:
    """Show where the two rules profiles give different views of the stream in FILE, and why.

    Exit code 1 when they differ.
    """
    from refold.agentpedia.compare import compare
    from refold.agentpedia.replay import prepare

    data, genesis_pin = read_input(file), genesis_of(genesis)
    ungated = prepare(data, DEPLOYED, genesis_pin=genesis_pin)
    gated = prepare(data, PRD, schema=not no_schema, genesis_pin=genesis_pin)
    comparison = compare(ungated, gated)
    if form == "json":
        print_json(comparison)
    else:
        from refold.cli.tables import print_comparison

        print_comparison(comparison)
    return Exit.NO if comparison.differences or comparison.outcomes else Exit.DONE


@group.command()
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Same seed, same bytes.",
)
def demo(seed: int) -> None:
    """Print the demo wiki as a document: sixty days of bots who write, quarrel and rule."""
    from refold.agentpedia.demo import demo_document

    print_json(demo_document(seed))


for command in (
    *(signals, rulepack, registry, import_, export, sync, check),
    *(hide, unhide, hidden, export_site),
):
    group.add_command(command)
