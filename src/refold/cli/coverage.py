"""`refold coverage`: receipts of what a search found or did not find, made and walked again."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from refold.cli.coverage_build import build, init
from refold.cli.coverage_chain import draft, import_, publish
from refold.cli.coverage_demo import demo
from refold.cli.coverage_export import export
from refold.cli.coverage_facts import canon, explain, hash_, schema
from refold.cli.coverage_hiding import hidden, hide, unhide
from refold.cli.coverage_report import (
    FORMATS,
    note,
    print_comparison,
    print_validation,
    read_bounded,
    validation_json,
    whoever_reads,
)
from refold.cli.coverage_self import self_
from refold.cli.coverage_walks import (
    WalkOptions,
    budgets_of,
    clock,
    moment_of,
    now_option,
    transport_of,
    walk_options,
    walk_progress,
)
from refold.cli.output import format_option, print_json, print_problems
from refold.kernel.errors import Exit, InputError, SourceError, UsageError

if TYPE_CHECKING:
    from typing import Any

    from refold.coverage import Receipt, Report

REFUTED, STALE, INCONCLUSIVE = 3, 4, 5
"""Exit codes of this group alone."""
JUDGED = {
    "VERIFIED": int(Exit.DONE),
    "INVALID": int(Exit.NO),
    "REFUTED": REFUTED,
    "STALE": STALE,
    "INCONCLUSIVE": INCONCLUSIVE,
}
"""Exit codes by judgement: zero means one thing (spec §6)."""
_COVERAGES = ("BROKEN", "PARTIAL", "FULL")

any_format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to print the result: for people, for programs, for code hosts.",
)


class _Group(click.Group):
    """Commands whose exit codes 3 and 4 are judgements: what is wrong with their use is 2."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        try:
            return super().invoke(ctx)
        except (InputError, SourceError) as error:
            raise UsageError.of(error.errors) from error


@click.group("coverage", cls=_Group)
def group() -> None:
    """Build receipts of what a search found or did not find, and walk them again.

    Exit codes: 0 verified, valid, or ABSENT or PRESENT written; 1 invalid; 3 refuted; 4 stale; 5
    inconclusive; 2 wrong usage, 70 a defect of refold, 130 interrupted.
    """


for _command in (
    *(build, init, canon, explain, hash_, schema),
    *(draft, publish, import_, export, self_, demo),
    *(hide, unhide, hidden),
):
    group.add_command(_command)


@group.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@now_option
@any_format_option
def validate(files: tuple[str, ...], moment: str | None, form: str) -> int:
    """Check the records in FILEs, offline: every error with its place and remedy.

    With json, an object a line and file. Exit code 1 when one is not valid.
    """
    from refold.coverage import report_unreplayed, sarif
    from refold.coverage import validate as check

    now = clock(moment_of(moment))
    code = Exit.DONE
    runs = []
    for name in files:
        validation = check(read_bounded(name), now)
        code = code if validation.is_valid else Exit.NO
        with whoever_reads():
            if form == "text":
                print_validation(name, validation)
            elif form == "json":
                print_json(validation_json(name, validation))
            else:
                runs.append(sarif(report_unreplayed(validation, now), _uri(name)))
    with whoever_reads():
        if runs:
            print_json({**runs[0], "runs": [run for log in runs for run in log["runs"]]})
    return code


@group.command()
@click.argument("file", default="-")
@click.option(
    "--require-coverage",
    type=click.Choice(_COVERAGES[1:]),
    help="Exit 5 instead of 0 below this coverage.",
)
@click.option(
    "--accept-recorded",
    is_flag=True,
    help="Let answers of --from count as those of the sources: you kept them yourself.",
)
@click.option("--sources", is_flag=True, help="Read the sources of its consensus block again too.")
@walk_options
@any_format_option
def verify(
    file: str,
    require_coverage: str | None,
    *,
    accept_recorded: bool,
    sources: bool,
    walking: WalkOptions,
    form: str,
) -> int:
    """Walk the receipt in FILE again, judge it, and say what would change the verdict.

    Exit codes: 0 verified, 1 invalid, 3 refuted, 4 stale, 5 inconclusive.
    """
    from refold.coverage import render, sarif
    from refold.coverage import verify as walk_again

    data = read_bounded(file)
    with transport_of(walking) as transport, walk_progress() as progress:
        report = walk_again(
            data,
            transport,
            clock(walking.moment),
            budgets=budgets_of(walking),
            origins={} if walking.stored else walking.origins,
            sources=sources,
            progress=progress,
        )
    with whoever_reads():
        if form == "text":
            sys.stdout.buffer.write(render(report).encode(errors="backslashreplace"))
        else:
            print_json(report if form == "json" else sarif(report, _uri(file)))
    return _exit_code(report, require_coverage, accept_recorded=accept_recorded)


@group.command()
@click.argument("first")
@click.argument("second")
@click.option("--first-pin", metavar="PIN", default="", help="The pin id that FIRST has on chain.")
@now_option
@format_option
def compare(first: str, second: str, first_pin: str, moment: str | None, form: str) -> int:
    """Compare two receipts: may SECOND supersede FIRST, and did their writer equivocate.

    Exit code 3 for equivocation, or when SECOND names FIRST and may not; 1 when one is not valid.
    """
    from refold.coverage import compare as compared

    now = clock(moment_of(moment))
    receipts = [_receipt(name, now, form) for name in (first, second)]
    earlier, later = receipts
    if earlier is None or later is None:
        return Exit.NO
    comparison = compared(earlier, later, first_pin)
    with whoever_reads():
        if form == "json":
            print_json(comparison)
        else:
            print_comparison(comparison, (first, second))
    return Exit.DONE if comparison.is_clean else REFUTED


def _exit_code(report: Report, required: str | None, *, accept_recorded: bool) -> int:
    """Give the exit code of a judgement; say why VERIFIED is not enough where it is not."""
    code = JUDGED[report.judgement]
    if code != Exit.DONE:
        return code
    if report.basis == "RECORDED" and not accept_recorded:
        note(
            "recorded-not-accepted",
            "stored answers may be the writer's own; --accept-recorded if you kept them yourself",
        )
        return INCONCLUSIVE
    if required and _COVERAGES.index(report.coverage or "BROKEN") < _COVERAGES.index(required):
        note("coverage-too-low", f"{required} is required, and it is {report.coverage}")
        return INCONCLUSIVE
    return code


def _receipt(name: str, now: str, form: str) -> Receipt | None:
    """Give the receipt of a file; None where it is not valid, which is said."""
    from refold.coverage import validate as check

    validation = check(read_bounded(name), now)
    if validation.receipt is None:
        print_problems(validation.errors, as_json=form == "json")
    return validation.receipt


def _uri(name: str) -> str:
    """Give the URI reference of a file, for SARIF; "" for standard input."""
    from urllib.parse import quote

    return "" if name == "-" else quote(os.fsencode(name), safe="/")
