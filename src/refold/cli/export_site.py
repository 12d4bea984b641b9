"""`refold agentpedia export-site`: the pages of the encyclopedia as files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from refold.cli.options import database_option, open_database
from refold.cli.output import format_option, print_json, print_line, progress_bar
from refold.cli.settings import current_settings

PROGRESS_FROM = 50
"""Pages below which no progress bar is worth its flicker."""


@click.command("export-site")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@database_option
@click.option(
    "--lang",
    "languages",
    multiple=True,
    metavar="LANGUAGE",
    help="A language of the pages: en, zh; default: both. The first stands at the top of DIR.",
)
@click.option(
    "--base",
    default="",
    metavar="URL",
    help="Where DIR will stand, with a slash at the end: then there is a sitemap.",
)
@click.option(
    "--records/--no-records",
    default=True,
    show_default=True,
    help="Also a page for each version, each difference and each pin.",
)
@format_option
def export_site(
    folder: Path,
    database: str | None,
    languages: tuple[str, ...],
    base: str,
    records: bool,
    form: str,
) -> None:
    """Copy the pages into DIR as files that need no server: open DIR/index.html.

    Run again, it writes what changed and removes what is gone. DIR must be new, empty, or one that
    this command wrote. `manifest.json` lists all files with their hashes, and says of which view
    they are: the same view gives the same bytes.
    """
    from refold.serving.language import LANGUAGES
    from refold.serving.logs import make_log
    from refold.web.app import web_application
    from refold.web.copy.copying import Wanted, copy_site

    wanted = Wanted(languages or LANGUAGES, base, records)
    settings = current_settings(parts=["agentpedia"], log_requests=False)
    started = time.monotonic()
    with (
        open_database(database, readonly=True) as opened,
        Path(os.devnull).open("wb") as nowhere,
        progress_bar("copying", PROGRESS_FROM) as step,
    ):
        app = web_application(opened, settings, origin="", log=make_log(nowhere))
        copied = copy_site(app, folder, wanted, step)
    seconds = max(time.monotonic() - started, 0.001)
    written = copied.written
    if form == "json":
        said = {**copied._asdict(), "written": written._asdict(), "seconds": round(seconds, 3)}
        print_json(said)
        return
    view = (
        "of a view that is empty"
        if copied.height is None
        else f"as of block {copied.height:,}, view digest {copied.digest}"
    )
    print_line(
        f"{copied.pages:,} pages in {' and '.join(copied.languages)}, {view}: {written.files:,}"
        f" files, {written.bytes / 1e6:,.1f} MB"
    )
    again = f", begun {copied.starts} times as the view moved" if copied.starts > 1 else ""
    print_line(
        f"{written.changed:,} written, {written.removed:,} removed in {seconds:,.1f} s:"
        f" {copied.pages / seconds:,.0f} pages/s{again}"
    )
    print_line(f"open {folder / 'index.html'}")
