"""`refold coverage export`: a receipt as an in-toto statement, as SARIF, as Markdown to paste."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from refold.cli.coverage_report import read_bounded, whoever_reads
from refold.cli.coverage_walks import clock, moment_of, now_option
from refold.cli.output import print_problems, read_input
from refold.kernel.errors import Exit

if TYPE_CHECKING:
    from refold.coverage.export import Form


@click.command()
@click.argument("receipt", default="-")
@click.option(
    "--format",
    "form",
    type=click.Choice(("intoto", "sarif", "markdown")),
    default="markdown",
    show_default=True,
    help="An unsigned in-toto statement, a SARIF log, or Markdown to paste.",
)
@click.option(
    "--report",
    "report_file",
    metavar="FILE",
    help="What `verify --format json` printed: its verdict goes along.",
)
@now_option
def export(receipt: str, form: Form, report_file: str | None, moment: str | None) -> int:
    """Write RECEIPT for other programs, or for people.

    Exit code 1 when the record is not valid; as SARIF its errors are written all the same.
    """
    from refold.coverage import validate
    from refold.coverage.export import export as exported
    from refold.coverage.export import read_report

    now = clock(moment_of(moment))
    validation = validate(read_bounded(receipt), now)
    if not validation.is_valid and form != "sarif":
        print_problems(validation.errors, as_json=False)
        return Exit.NO
    report = None if report_file is None else read_report(read_input(report_file))
    named = "" if receipt == "-" else os.fsencode(receipt).decode(errors="backslashreplace")
    data = exported(
        form,
        validation,
        now,
        name=Path(named).name or "receipt",
        uri=quote(os.fsencode(receipt), safe="/") if named else "",
        report=report,
    )
    with whoever_reads():
        sys.stdout.buffer.write(data)
    return Exit.DONE if validation.is_valid else Exit.NO
