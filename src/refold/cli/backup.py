"""`refold backup` and `refold restore`: all that is stored, to one file and back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.options import database_option, open_database
from refold.cli.output import format_option, print_json, print_line, progress_bar
from refold.cli.parts import HOLDS, import_tables
from refold.kernel.errors import one_line

if TYPE_CHECKING:
    from refold.db.backupfile import Backup, Progress

KIB = 1024


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@database_option
@click.option("--force", is_flag=True, help="Write over FILE if it is there.")
@format_option
def backup(file: Path, database: str | None, force: bool, form: str) -> None:
    """Write all that is stored to FILE, as it is at one moment; syncs and servers go on meanwhile.

    FILE gets its name when it is whole and on the disk.
    """
    from refold.db.backup import backup as back_up

    import_tables()
    started = time.monotonic()
    with open_database(database, readonly=True) as opened, progress_bar("reading") as step:
        written = back_up(opened, file, force=force, progress=step)
        shown = opened.shown
    _print(written, f"{shown} is in {file}", started, form)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@database_option
@click.option("--check", "only_check", is_flag=True, help="Only look whether FILE is whole.")
@format_option
def restore(file: Path, database: str | None, only_check: bool, form: str) -> None:
    """Fill an empty database from FILE, a backup of a database of either kind.

    FILE is checked to its end before anything is written.
    """
    from refold.db.backup import open_backup
    from refold.db.backup import restore as fill

    import_tables()
    started = time.monotonic()
    with open_backup(file) as opened:
        with progress_bar("checking") as step:
            read = opened.check(_in_kib(step))
        if only_check:
            _print(read, f"{file} is whole", started, form)
            return
        with (
            open_database(database, durability="full") as filled,
            progress_bar("writing") as step,
        ):
            read = fill(filled, opened, holds=HOLDS, progress=_in_kib(step))
            shown = filled.shown
    _print(read, f"{file} is in {shown}", started, form)


def _in_kib(step: Progress) -> Progress:
    """Count in steps that are worth a bar when there are many of them."""
    return lambda done, total: step(done // KIB, total // KIB)


def _print(found: Backup, said: str, started: float, form: str) -> None:
    """Say what a backup holds, and what it took."""
    seconds = time.monotonic() - started
    if form == "json":
        print_json({**msgspec.to_builtins(found), "seconds": round(seconds, 3)})
        return
    for table in found.tables:
        if table.rows:
            print_line(f"{table.rows:12,} rows of {table.table}")
    rate = f"{found.rows / max(seconds, 0.001):,.0f} rows/s"
    print_line(f"{found.rows:,} rows of step {found.step} in {seconds:.1f} s, {rate}")
    print_line(f"{found.row_bytes:,} bytes, {found.file_bytes:,} in the file")
    print_line(f"{one_line(said)}; sha256 {found.sha256}")
